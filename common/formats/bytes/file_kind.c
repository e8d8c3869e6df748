#include "common/formats/bytes/file_kind.h"

#include "common/formats/bytes/byte_source.h"
#include "common/formats/bytes/text_kind.h"

#include <stdio.h>
#include <string.h>

enum { MAGIC_SIZE_MAX = 20, ZIP_NAME_AT = 30, SHOWN_PATH_MAX = 200 };

/* A kind is recognised by bytes at an offset, by a test, or by both. */
struct row {
    struct kind_of_file kind;
    size_t at;         /* offset of the bytes */
    size_t magic_size; /* 0: only the test counts */
    char magic[MAGIC_SIZE_MAX];
    bool (*test)(const char *data, size_t size); /* NULL: only the bytes count */
};

/* Returns whether the name of the first member of a zip archive is `part`, or ends in it. */
static bool zip_begins_with(const char *data, size_t size, const char *part)
{
    const size_t length = strlen(part);
    const size_t name_size =
        size > ZIP_NAME_AT ? (unsigned char)data[26] + 256U * (unsigned char)data[27] : 0;
    for (size_t i = 0; i + length <= name_size && ZIP_NAME_AT + i + length <= size; i++)
        if (memcmp(data + ZIP_NAME_AT + i, part, length) == 0)
            return true;
    return false;
}

static bool is_torch_zip(const char *data, size_t size)
{
    return zip_begins_with(data, size, "data.pkl") || zip_begins_with(data, size, "/.format");
}

static bool is_npz(const char *data, size_t size)
{
    return zip_begins_with(data, size, ".npy");
}

static bool is_excel_zip(const char *data, size_t size)
{
    return zip_begins_with(data, size, "[Content_Types].xml") || zip_begins_with(data, size, "xl/");
}

/* Returns whether there are bytes that no text has. A name at the start of a table may look like
 * the magic of some of these kinds. */
static bool is_binary(const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)data[i] < '\t')
            return true;
    return false;
}

static bool is_bzip2(const char *data, size_t size)
{
    return size > 10 && memcmp(data + 4, "1AY&SY", 6) == 0;
}

static bool is_safetensors(const char *data, size_t size)
{
    return size > 10 && memcmp(data + 4, "\0\0\0\0{\"", 6) == 0;
}

static bool is_pickle(const char *data, size_t size)
{
    return size > 2 && data[0] == '\x80' && data[1] >= 2 && data[1] <= 5;
}

#define PANDAS(reader)                                                                             \
    "python3 -c \"import pandas; pandas." reader "('FILE').to_csv('FILE.csv', index=False)\" "     \
    "makes a table of it"
#define NETWORKX(reader)                                                                           \
    "python3 -c \"import networkx as nx; nx.write_graphml(nx." reader                              \
    "('FILE'), 'FILE.graphml')\" makes GraphML of it, which is read"
#define UNPACK(command) command " unpacks it: name a file that comes out"
#define MAGIC(text)     sizeof(text) - 1, text
#define NO_MAGIC        0, ""
#define JSON_GRAPH                                                                                 \
    "python3 -c \"import json; g = json.load(open('FILE')); [print(e['source'], e['target'], "     \
    "sep=',') for e in g.get('links') or g['edges']]\" > FILE.csv makes a table of a graph, and "  \
    "pandas.read_json('FILE').to_csv('FILE.csv', index=False) one of rows"

/* clang-format off */
static const struct row rows[] = {
    /* compressed, but not by gzip or zstd */
    {{"a bzip2 file", NULL, UNPACK("bzip2 -dk FILE"), false}, 0, MAGIC("BZh"), is_bzip2},
    {{"an xz file", NULL, UNPACK("xz -dk FILE"), false}, 0, MAGIC("\xfd""7zXZ\0"), NULL},
    {{"an lzma file", NULL,
      UNPACK("xz -dk --format=lzma FILE"), false}, 0, MAGIC("\x5d\0\0"), NULL},
    {{"an lz4 file", NULL, UNPACK("lz4 -dk FILE"), false}, 0, MAGIC("\x04\x22\x4d\x18"), NULL},
    {{"a compress file (.Z)", NULL, UNPACK("gzip -dk FILE"), false}, 0, MAGIC("\x1f\x9d"), NULL},
    {{"a gzip file inside a packed file", NULL,
      UNPACK("gzip -dk FILE"), false}, 0, MAGIC("\x1f\x8b"), NULL},
    {{"a zstd file inside a packed file", NULL,
      UNPACK("zstd -dk FILE"), false}, 0, MAGIC("\x28\xb5\x2f\xfd"), NULL},
    {{"a 7z archive", NULL, UNPACK("7z x FILE"), false}, 0, MAGIC("7z\xbc\xaf\x27\x1c"), NULL},
    {{"a rar archive", NULL, UNPACK("unrar x FILE"), false}, 0, MAGIC("Rar!\x1a\x07"), NULL},
    {{"a tar archive", NULL,
      "tar xf FILE unpacks it: name a file or folder that comes out",
      false}, 257, MAGIC("ustar"), NULL},
    {{"an Excel file", NULL, PANDAS("read_excel"), false}, 0, MAGIC("PK\003\004"), is_excel_zip},
    {{"an Excel file", NULL,
      PANDAS("read_excel"), false}, 0, MAGIC("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), NULL},
    {{"a file of torch", NULL,
      "python3 -c \"import torch, numpy; numpy.save('edges.npy', torch.load('FILE', "
      "weights_only=False).edge_index.numpy())\" makes edges of a PyG graph for the format folder",
      false}, 0, MAGIC("PK\003\004"), is_torch_zip},
    {{"an archive of NumPy arrays (npz)", "npz",
      "python3 -c \"import numpy; a = numpy.load('FILE'); numpy.savetxt('FILE.csv', a[a.files[0]], "
      "'%g', ',')\" makes a table of its first array", false}, 0, MAGIC("PK\003\004"), is_npz},
    {{"a zip archive", NULL, UNPACK("unzip FILE"), false}, 0, MAGIC("PK\003\004"), NULL},
    {{"an empty zip archive", NULL, "name a file of text", false}, 0, MAGIC("PK\005\006"), NULL},
    /* arrays and tables that are not text */
    {{"a NumPy array (npy)", NULL,
      "as features its name ends in .npy; edges are edges.npy beside meta.json in a folder (format "
      "folder)", false}, 0, MAGIC("\223NUMPY"), NULL},
    {{"a Parquet file", NULL, PANDAS("read_parquet"), false}, 0, MAGIC("PAR1"), is_binary},
    {{"an Arrow file (Feather)", NULL,
      PANDAS("read_feather"), false}, 0, MAGIC("ARROW1"), is_binary},
    {{"a Feather file", NULL, PANDAS("read_feather"), false}, 0, MAGIC("FEA1"), is_binary},
    {{"a stream of Arrow", NULL,
      "python3 -c \"import pyarrow as pa; "
      "pa.ipc.open_stream('FILE').read_pandas().to_csv('FILE.csv', index=False)\" makes a table of "
      "it", false}, 0, MAGIC("\xff\xff\xff\xff"), NULL},
    {{"an ORC file", NULL, PANDAS("read_orc"), false}, 0, MAGIC("ORC"), is_binary},
    {{"an Avro file", NULL,
      "python3 -c \"import fastavro, pandas; pandas.DataFrame(fastavro.reader(open('FILE', "
      "'rb'))).to_csv('FILE.csv', index=False)\" makes a table of it",
      false}, 0, MAGIC("Obj\x01"), NULL},
    {{"a MATLAB file of version 7.3 (HDF5)", NULL,
      "python3 -c \"import h5py, numpy; f = h5py.File('FILE'); print(list(f)); "
      "numpy.savetxt('FILE.csv', f['NAME'][()].T, '%g', ',')\" makes a table of its array NAME",
      false}, 0, MAGIC("MATLAB 7.3"), NULL},
    {{"a MATLAB file", NULL,
      "python3 -c \"import scipy.io, scipy.sparse as s; m = scipy.io.loadmat('FILE'); "
      "print(m.keys()); s.save_npz('FILE.npz', s.csr_matrix(m['NAME']))\" makes an npz of its "
      "matrix NAME, which is read as edges", false}, 0, MAGIC("MATLAB 5.0"), NULL},
    {{"an HDF5 file", NULL,
      "python3 -c \"import h5py, numpy; f = h5py.File('FILE'); print(list(f)); "
      "numpy.savetxt('FILE.csv', f['NAME'][()], '%g', ',')\" makes a table of its array NAME, and "
      "pandas.read_hdf reads one of pandas", false}, 0, MAGIC("\x89HDF\r\n\x1a\n"), NULL},
    {{"a SQLite database", NULL,
      "sqlite3 -header -csv FILE 'select * from NAME' > NAME.csv makes a table of its table NAME",
      false}, 0, MAGIC("SQLite format 3"), NULL},
    {{"a graph file of DGL", NULL,
      "python3 -c \"import dgl, torch; g = dgl.load_graphs('FILE')[0][0]; [print(int(u), int(v), "
      "sep=',') for u, v in zip(*g.edges())]\" > FILE.csv makes a table of its edges",
      false}, 0, MAGIC("\x28\xa1\xb4\xf6\xf0\x60\x2e\xdd"), NULL},
    {{"a file of safetensors", NULL,
      "python3 -c \"from safetensors.numpy import load_file; import numpy; numpy.save('edges.npy', "
      "load_file('FILE')['NAME'])\" makes an .npy of its tensor NAME",
      false}, 0, NO_MAGIC, is_safetensors},
    {{"a file of R", NULL,
      "Rscript -e 'write.csv(readRDS(\"FILE\"), \"FILE.csv\", row.names = FALSE)' makes a table of "
      "it (load() in the place of readRDS() reads .RData)", false}, 0, MAGIC("RDX"), is_binary},
    {{"a file of R", NULL,
      "Rscript -e 'write.csv(readRDS(\"FILE\"), \"FILE.csv\", row.names = FALSE)' makes a table of "
      "it", false}, 0, MAGIC("X\n\0\0\0"), NULL},
    {{"a pickle of Python", NULL,
      "no code of a pickle is run here: pandas.read_pickle('FILE').to_csv('FILE.csv', index=False) "
      "makes a table of a data frame, networkx.write_graphml(pickle.load(open('FILE', 'rb')), "
      "'FILE.graphml') GraphML of a networkx graph", false}, 0, NO_MAGIC, is_pickle},
    {{"a pickle of Python", NULL,
      "no code of a pickle is run here: pandas.read_pickle('FILE').to_csv('FILE.csv', index=False) "
      "makes a table of a data frame, networkx.write_graphml(pickle.load(open('FILE', 'rb')), "
      "'FILE.graphml') GraphML of a networkx graph", false}, 0, NO_MAGIC, text_is_old_pickle},
    {{"a PDF document", NULL, "name a file of text", false}, 0, MAGIC("%PDF-"), NULL},
    {{"text in UTF-16", NULL,
      "iconv -f UTF-16 -t UTF-8 FILE > FILE.csv makes UTF-8 of it",
      false}, 0, NO_MAGIC, text_is_utf16},
    /* text that is not a table */
    {{"a MatrixMarket file", "matrix_market",
      "python3 -c \"import scipy.io, numpy; numpy.savetxt('FILE.csv', "
      "scipy.io.mmread('FILE').toarray(), '%g', ',')\" makes a table of it",
      true}, 0, MAGIC("%%MatrixMarket"), NULL},
    {{"GraphML", "graphml",
      "python3 -c \"import networkx as nx; nx.write_edgelist(nx.read_graphml('FILE'), 'FILE.csv', "
      "',', False)\" makes a table of its edges", false}, 0, NO_MAGIC, text_is_graphml},
    {{"GEXF", NULL, NETWORKX("read_gexf"), false}, 0, NO_MAGIC, text_is_gexf},
    {{"RDF/XML", NULL,
      "python3 -c \"import rdflib; rdflib.Graph().parse('FILE', format='xml').serialize('FILE.nt', "
      "format='nt')\" makes N-Triples of it, which are read", false}, 0, NO_MAGIC, text_is_rdf_xml},
    {{"a page of HTML", NULL,
      "a page stands where a file was to be downloaded: download the file itself",
      false}, 0, NO_MAGIC, text_is_html},
    {{"a pointer of Git LFS", NULL,
      "the file itself is not here: `git lfs pull` fetches it",
      false}, 0, MAGIC("version https:"), NULL},
    {{"XML", NULL, PANDAS("read_xml"), false}, 0, NO_MAGIC, text_is_xml},
    {{"N-Triples", "ntriples",
      "a table has a line `head,relation,tail` for each", true}, 0, NO_MAGIC, text_is_ntriples},
    {{"N-Quads", NULL,
      "sed -E 's/ <[^>]*> *\\.$/ ./' FILE > FILE.nt makes N-Triples of it, which are read",
      false}, 0, NO_MAGIC, text_is_nquads},
    {{"Turtle", NULL,
      "python3 -c \"import rdflib; rdflib.Graph().parse('FILE', "
      "format='turtle').serialize('FILE.nt', format='nt')\" makes N-Triples of it, which are read",
      false}, 0, NO_MAGIC, text_is_turtle},
    {{"JSON lines", NULL,
      "python3 -c \"import pandas; pandas.read_json('FILE', lines=True).to_csv('FILE.csv', "
      "index=False)\" makes a table of it", true}, 0, NO_MAGIC, text_is_json_lines},
    {{"JSON", NULL, JSON_GRAPH, true}, 0, NO_MAGIC, text_is_json},
    {{"GML", NULL, NETWORKX("read_gml"), false}, 0, NO_MAGIC, text_is_gml},
    {{"a graph of Graphviz (DOT)", NULL,
      NETWORKX("nx_pydot.read_dot"), false}, 0, NO_MAGIC, text_is_dot},
    {{"a Pajek network", NULL, NETWORKX("read_pajek"), false}, 0, NO_MAGIC, text_is_pajek},
    {{"a DIMACS graph", NULL,
      "awk '/^[ea] /{print $2 \",\" $3}' FILE > FILE.csv makes a table of its edges",
      false}, 0, NO_MAGIC, text_is_dimacs},
    {{"a graph of LEDA", NULL, NETWORKX("read_leda"), false}, 0, MAGIC("LEDA.GRAPH"), NULL},
    {{"graph6", NULL, NETWORKX("read_graph6"), false}, 0, MAGIC(">>graph6<<"), NULL},
    {{"sparse6", NULL, NETWORKX("read_sparse6"), false}, 0, MAGIC(">>sparse6<<"), NULL},
    {{"a graph of GUESS (GDF)", NULL,
      "sed '1,/^edgedef>/d' FILE > FILE.csv makes a table of its edges",
      false}, 0, MAGIC("nodedef>"), NULL},
    {{"an ARFF file", NULL,
      "python3 -c \"import pandas, scipy.io.arff as a; "
      "pandas.DataFrame(a.loadarff('FILE')[0]).to_csv('FILE.csv', index=False)\" makes a table of "
      "it", false}, 0, NO_MAGIC, text_is_arff},
    {{"an SVMlight file (column:value)", NULL,
      "python3 -c \"from sklearn.datasets import load_svmlight_file as l; import numpy; "
      "numpy.save('FILE.npy', l('FILE')[0].toarray())\" makes features of it",
      false}, 0, NO_MAGIC, text_is_libsvm},
    {{"a dump of SQL", NULL,
      "load it into a database, and write a table of it as csv", false}, 0, NO_MAGIC, text_is_sql},
};
/* clang-format on */

static bool is_kind(const struct row *row, const char *data, size_t size)
{
    if (row->magic_size && (size < row->at + row->magic_size ||
                            memcmp(data + row->at, row->magic, row->magic_size) != 0))
        return false;
    return !row->test || row->test(data, size);
}

bool file_kind_is_known(const char *format)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind.format && strcmp(rows[i].kind.format, format) == 0)
            return true;
    return false;
}

const struct kind_of_file *file_kind_find(const void *data, size_t size)
{
    for (size_t i = 0; size && i < sizeof rows / sizeof *rows; i++)
        if (is_kind(&rows[i], data, size))
            return &rows[i].kind;
    return NULL;
}

enum error_code file_kind_peek(const char *path, const void *data, size_t size, char *out,
                               size_t limit, size_t *got, struct error *err)
{
    struct byte_source *source = NULL;
    size_t more = 1;
    *got = 0;
    enum error_code rc = data ? byte_source_open_memory(path, data, size, &source, err)
                              : byte_source_open(path, &source, err);
    if (rc != ERROR_NONE)
        return rc;
    byte_source_keep_quiet(source);
    while (rc == ERROR_NONE && more && *got < limit) {
        rc = byte_source_read(source, out + *got, limit - *got, &more, err);
        *got += rc == ERROR_NONE ? more : 0;
    }
    byte_source_close(source);
    return rc;
}

/* Writes `text` into `out` [limit] with the path in place of FILE. If the path is too long, FILE
 * stays. */
static void name_file(const char *text, const char *path, char *out, size_t limit)
{
    static const char word[] = "FILE";
    const bool fits = strlen(path) <= SHOWN_PATH_MAX / 4;
    size_t size = 0;
    while (*text && size + 1 < limit) {
        const bool is_word = fits && strncmp(text, word, sizeof word - 1) == 0;
        const char one[2] = {*text, '\0'};
        const int wrote = snprintf(out + size, limit - size, "%s", is_word ? path : one);
        size += (size_t)wrote < limit - size ? (size_t)wrote : limit - size - 1;
        text += is_word ? sizeof word - 1 : 1;
    }
    out[size < limit ? size : limit - 1] = '\0';
}

enum error_code file_kind_refuse(const struct kind_of_file *kind, const char *path,
                                 const char *what, struct error *err)
{
    char way_out[512];
    const char *base = strrchr(path, '/');
    name_file(kind->way_out, base ? base + 1 : path, way_out, sizeof way_out);
    if (kind->format)
        return error_set(err, ERROR_INPUT,
                         "%.*s: expected a table of %s, found %s, which `format: %s` reads as a "
                         "graph; " ADVICE "%s",
                         SHOWN_PATH_MAX, path, what, kind->name, kind->format, way_out);
    return error_set(err, ERROR_INPUT, "%.*s: expected a table of %s, found %s: " ADVICE "%s",
                     SHOWN_PATH_MAX, path, what, kind->name, way_out);
}

enum error_code file_kind_check_table(const char *path, const void *data, size_t size,
                                      const char *what, struct error *err)
{
    char first[FILE_KIND_BYTES];
    size_t got = 0;
    const enum error_code rc = file_kind_peek(path, data, size, first, sizeof first, &got, err);
    const struct kind_of_file *kind = rc == ERROR_NONE ? file_kind_find(first, got) : NULL;
    return kind ? file_kind_refuse(kind, path, what, err) : rc;
}
