/* Every kind of file is recognised by its first bytes, tables are not mistaken for one, and a
 * refusal names what reads the file. */
#include "common/formats/bytes/file_kind.h"
#include "common/formats/text/line_reader.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

struct sample {
    const char *name; /* name of the kind; NULL: a table */
    size_t size;
    const char *data;
};
#define BYTES(text) sizeof(text) - 1, text

static const struct sample samples[] = {
    {"a bzip2 file", BYTES("BZh91AY&SY\x12\x34")},
    {"an xz file", BYTES("\xfd"
                         "7zXZ\0\0\4")},
    {"an lzma file", BYTES("\x5d\0\0\x80\0\xff")},
    {"an lz4 file", BYTES("\x04\x22\x4d\x18\x64")},
    {"a 7z archive", BYTES("7z\xbc\xaf\x27\x1c\0\4")},
    {"an Excel file", BYTES("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0")},
    {"a zip archive", BYTES("PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0a.csv")},
    {"an archive of NumPy arrays (npz)",
     BYTES("PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\10\0\0\0data.npy")},
    {"an Excel file",
     BYTES("PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\23\0\0\0[Content_Types].xml")},
    {"a file of torch",
     BYTES("PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\20\0\0\0archive/data.pkl")},
    {"a NumPy array (npy)", BYTES("\223NUMPY\1\0v\0{'descr'")},
    {"a Parquet file", BYTES("PAR1\x15\x04\x15\x20")},
    {"an Arrow file (Feather)", BYTES("ARROW1\0\0\xff\xff")},
    {"a stream of Arrow", BYTES("\xff\xff\xff\xff\x10\1\0\0")},
    {"an ORC file", BYTES("ORC\x0a\x03\0\0\0")},
    {"an Avro file", BYTES("Obj\1\4\x16")},
    {"a MATLAB file of version 7.3 (HDF5)", BYTES("MATLAB 7.3 MAT-file, Platform: GLNXA64")},
    {"a MATLAB file", BYTES("MATLAB 5.0 MAT-file Platform: posix")},
    {"an HDF5 file", BYTES("\x89HDF\r\n\x1a\n\0\0")},
    {"a SQLite database", BYTES("SQLite format 3\0\x10\0")},
    {"a graph file of DGL", BYTES("\x28\xa1\xb4\xf6\xf0\x60\x2e\xdd\1\0")},
    {"a file of safetensors", BYTES("\x40\0\0\0\0\0\0\0{\"a\":{\"dtype\"")},
    {"a file of R", BYTES("RDX3\nX\n\0\0\0\3")},
    {"a file of R", BYTES("X\n\0\0\0\3\0\4")},
    {"a pickle of Python", BYTES("\x80\4\x95\x10\0\0\0\0\0\0\0}\x94.")},
    {"a pickle of Python", BYTES("\x80\2}q\0X\1\0\0\0aq\1K\1s.")},
    {"a pickle of Python", BYTES("}q\0(X\1\0\0\0aq\1K\1u.")},
    {"a pickle of Python", BYTES("(dp0\nVa\np1\nI1\ns.")},
    {"a pickle of Python", BYTES("ccopy_reg\n_reconstructor\np0\n(cnetworkx")},
    {"a pickle of Python", BYTES("cnumpy.core.multiarray\n_reconstruct\np0\n")},
    {"a PDF document", BYTES("%PDF-1.7\n")},
    {"text in UTF-16", BYTES("\xff\xfe"
                             "1\0,\0002\0\n\0")},
    {"text in UTF-16", BYTES("1\0,\0002\0\n\0001\0,\0003\0\n\0")},
    {"a MatrixMarket file", BYTES("%%MatrixMarket matrix coordinate real general\n3 3 1\n")},
    {"GraphML", BYTES("<?xml version='1.0'?>\n<graphml xmlns=\"http://graphml\">")},
    {"GEXF", BYTES("\xef\xbb\xbf<?xml version=\"1.0\"?>\n<gexf xmlns=\"http://gexf.net/1.3\">")},
    {"RDF/XML", BYTES("<?xml version=\"1.0\"?>\n<rdf:RDF xmlns:rdf=\"http://www.w3.org/\">")},
    {"a page of HTML", BYTES("<!DOCTYPE html>\n<html><head>")},
    {"XML", BYTES("<edges><edge a=\"1\" b=\"2\"/></edges>")},
    {"N-Triples", BYTES("# rdf\n<http://a/1> <http://a/knows> <http://a/2> .\n")},
    {"N-Triples", BYTES("_:b0 <http://a/name> \"a \\\" quote\"@en .\n")},
    {"N-Quads", BYTES("<http://a/1> <http://a/knows> <http://a/2> <http://a/g> .\n")},
    {"Turtle", BYTES("@prefix a: <http://a/> .\na:1 a:knows a:2 .\n")},
    {"Turtle", BYTES("PREFIX a: <http://a/>\na:1 a:knows a:2 .\n")},
    {"Turtle", BYTES("<http://a/1> <http://a/knows> <http://a/2> ;\n  <http://a/n> \"x\" .\n")},
    {"JSON lines", BYTES("{\"source\": \"a\", \"target\": \"b\"}\n{\"source\": \"b\"}\n")},
    {"JSON lines", BYTES("[\"a\", \"b\"]\n[\"b\", \"c\"]\n")},
    {"JSON", BYTES("{\n  \"nodes\": [{\"id\": 1}]\n}\n")},
    {"JSON", BYTES("[\n [1, 2],\n [2, 3]\n]\n")},
    {"GML", BYTES("Creator \"networkx\"\ngraph [\n  node [\n")},
    {"GML", BYTES("graph\n[\n  directed 0\n")},
    {"a graph of Graphviz (DOT)", BYTES("digraph G {\n a -> b;\n}\n")},
    {"a graph of Graphviz (DOT)", BYTES("strict graph\n{\n a -- b;\n}\n")},
    {"a Pajek network", BYTES("*Vertices 3\n1 \"a\"\n")},
    {"a DIMACS graph", BYTES("c made by hand\np edge 3 2\ne 1 2\ne 2 3\n")},
    {"an ARFF file", BYTES("% iris\n@RELATION iris\n@ATTRIBUTE a NUMERIC\n")},
    {"an SVMlight file (column:value)", BYTES("1 3:0.5 7:1\n-1 2:1 9:2e-3\n")},
    {"a graph of GUESS (GDF)", BYTES("nodedef>name VARCHAR\na\nedgedef>node1,node2\n")},
    {"graph6", BYTES(">>graph6<<A_\n")},
    {"a dump of SQL", BYTES("-- MySQL dump 10.13\nCREATE TABLE `edges` (\n")},
    {"a dump of SQL", BYTES("INSERT INTO edges VALUES (1,2),(2,3);\n")},
    /* tables, some of which look like one of these kinds */
    {NULL, BYTES("")},
    {NULL, BYTES("1,2\n2,3\n")},
    {NULL, BYTES("source\ttarget\nPAR1\tORCL\n")},
    {NULL, BYTES("PAR1,RDX3\nORC,FEA1\n")},
    {NULL, BYTES("graph edge\na b\n")},
    {NULL, BYTES("graph\tnode\n1\t2\n")},
    {NULL, BYTES("digraphs,trees\n1,2\n")},
    {NULL, BYTES("c 1\np 2\n")},
    {NULL, BYTES("p a\nq b\n")},
    {NULL, BYTES("# comment\n<a> <b>\n<b> <c>\n")},
    {NULL, BYTES("[source],[target]\n1,2\n")},
    {NULL, BYTES("{source},{target}\n1,2\n")},
    {NULL, BYTES("\"a, b\",c\n")},
    {NULL, BYTES("prefix,count\nun,3\n")},
    {NULL, BYTES("Creator,Work\nBach,Fugue\n")},
    {NULL, BYTES("% asym positive\n1 2 5\n")},
    {NULL, BYTES("1 2:3\n2 3:4\n")},
    {NULL, BYTES("cora\nciteseer\n")},
    {NULL, BYTES("-1,2\n-- 3,4\n")},
    {NULL, BYTES("X\n1\n2\n")},
    {NULL, BYTES("M\xc3\xbcller,\xc3\x84rzte\n")},
};

static void every_kind_is_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct sample *sample = &samples[i];
        const struct kind_of_file *kind = file_kind_find(sample->data, sample->size);
        const char *found = kind ? kind->name : "a table", *name = sample->name;
        if (strcmp(found, name ? name : "a table") != 0)
            fail_msg("sample %zu is %s, found %s", i, name ? name : "a table", found);
    }
}

/* A file that is no table is refused with the name of its kind, compressed or not, and with a
 * command that converts it to a table. */
static void what_is_refused_says_what_reads_it(void **state)
{
    static const char json[] = "{\"source\": \"a\"}\n{\"source\": \"b\"}\n";
    static const char market[] = "%%MatrixMarket matrix coordinate pattern symmetric\n";
    struct error err = {0};
    (void)state;
    assert_int_equal(file_kind_check_table("/data/g.jsonl", json, sizeof json - 1, "edges", &err),
                     ERROR_INPUT);
    assert_string_equal(err.message,
                        "/data/g.jsonl: expected a table of edges, found JSON lines: python3 -c "
                        "\"import pandas; pandas.read_json('g.jsonl', "
                        "lines=True).to_csv('g.jsonl.csv', index=False)\" makes a table of it");
    assert_int_equal(file_kind_check_table("g.mtx", market, sizeof market - 1, "labels", &err),
                     ERROR_INPUT);
    assert_non_null(strstr(err.message, "found a MatrixMarket file, which `format: matrix_market` "
                                        "reads as a graph; "));
    assert_int_equal(file_kind_check_table("t.csv", "1,2\n", 4, "edges", &err), ERROR_NONE);
}

/* All readers of text open files here, so no setting bypasses the check. */
static void lines_are_not_read_from_what_is_no_text(void **state)
{
    struct error err = {0};
    struct line_reader *reader = NULL;
    (void)state;
    assert_int_equal(line_reader_open_memory("e.parquet", "PAR1\x15\4", 6, &reader, &err),
                     ERROR_INPUT);
    assert_non_null(strstr(err.message, "e.parquet: expected a table of text, found a Parquet"));
    assert_null(reader);
    /* MatrixMarket consists of lines, which its own reader reads */
    assert_int_equal(line_reader_open_memory("m.mtx", "%%MatrixMarket matrix\n", 22, &reader, &err),
                     ERROR_NONE);
    line_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_known),
        cmocka_unit_test(what_is_refused_says_what_reads_it),
        cmocka_unit_test(lines_are_not_read_from_what_is_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
