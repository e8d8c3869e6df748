#include "stages/ingest/formats/mending.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The form of each format, as far as most mistakes go. */
static const char *const form_of[] = {
    [FORMAT_FOLDER] = "mend it so that meta.json has num_nodes and directed, edges.csv a header "
                      "src,dst and an edge a line, and other files a line a node, or are .npy",
    [FORMAT_OGB] = "mend it so that raw/ has edge.csv, num-node-list.csv, num-edge-list.csv and "
                   "node-label.csv "
                   "without headers (or .gz), or data.npz, and split/<name>/ train, valid and test",
    [FORMAT_EDGE_LIST] =
        "mend it so that a table has a row an edge or node, all of as many columns as its first, "
        "separated by commas, tabs or blanks, and may be packed by gzip or zstd",
    [FORMAT_GENERATED] = "change the settings below `ingest:`",
    [FORMAT_TU] = "mend it so that NAME_A.txt has a pair of nodes a line, NAME_graph_indicator.txt "
                  "the graph of each "
                  "node, NAME_graph_labels.txt the class of each graph, all numbered from 1",
    [FORMAT_MATRIX_MARKET] =
        "mend it so that behind the header and comments stand rows, columns and entries, then "
        "an entry a line: row, column and, where there are any, a value",
    [FORMAT_METIS] = "mend it so that behind the line of nodes and edges stands a line a node with "
                     "its neighbours, "
                     "numbered from 1; each edge is in two lines",
    [FORMAT_NPZ] = "save the arrays with numpy.savez() or scipy.sparse.save_npz() again",
    [FORMAT_GRAPHSAINT] =
        "mend it so that the folder has adj_full.npz of scipy, feats.npy with a row a node, "
        "class_map.json and role.json",
    [FORMAT_GRAPHBOLT] =
        "mend it so that metadata.yaml lists nodes, edges, features and the sets of a task with "
        "their csv and numpy files, as OnDiskDataset takes them",
    [FORMAT_DISTDGL] =
        "mend it so that metadata.json lists types, chunks and their csv and numpy files, as DGL's "
        "chunk_graph writes them",
    [FORMAT_DGL_CSV] = "mend it so that meta.yaml lists files with headers, of nodes with node_id "
                       "and of edges with "
                       "src_id and dst_id, as CSVDataset takes them",
    [FORMAT_GRAPHML] =
        "mend it so that it is GraphML of one graph, as networkx.write_graphml() makes it",
    [FORMAT_LINQS] = "mend it so that NAME.content has id, numbers and class of a paper a line, "
                     "NAME.cites the cited "
                     "and the citing one",
};

/* Mistakes that are mended alike in each format, by words of their messages. */
static const struct {
    const char *words, *advice;
} alike[] = {
    {"found the end of the file", "copy the file again, or add what lacks"},
    {"found damaged", "copy the file again, or pack it anew"},
    {"'s magic", "rename the file without .gz or .zst, or pack it"},
    {"that are not gzip", "copy the file again, or pack it anew"},
    {"NUL byte", "save the file as text in UTF-8"},
    {"finite number", "write a number there"},
    {"is out of range", "write the id of a node that there is, or correct the number of nodes"},
    {"has no label", "give it one, or remove it from the split"},
    {"is in no other file", "write the id of a node that has an edge, or remove the line"},
    {"another split", "remove it from one of them"},
    {"in the valid split", "remove it from one of them"},
    {"another time", "remove one of the lines"},
    {"found both", "remove one of them"},
    {"them in both", "remove one of them"},
    {" columns, found ",
     "give each line as many columns as the first has, with quotes around a field that "
     "has a separator"},
    {" columns as ",
     "give each line as many columns as the first has, with quotes around a field that "
     "has a separator"},
    {"in the header", "write the name as the header has it, or add the column"},
};

/* Whether a clause of the message begins with what to do. */
static bool says_what_to_do(const char *message)
{
    static const char *const clauses[] = {": ", "; ", ", or ", " (", ", "};
    static const char *const verbs[] = {"write ",      "give ",   "remove ", "add ",   "close ",
                                        "save ",       "rename ", "leave ",  "make ",  "keep ",
                                        "name ",       "set ",    "raise ",  "are ",   "start ",
                                        "in Python, ", "change ", "use ",    "unpack "};
    char start[32];
    for (size_t c = 0; c < sizeof clauses / sizeof *clauses; c++)
        for (size_t v = 0; v < sizeof verbs / sizeof *verbs; v++) {
            (void)snprintf(start, sizeof start, "%s%s", clauses[c], verbs[v]);
            if (strstr(message, start))
                return true;
        }
    return false;
}

enum error_code mending_add(enum ingest_format format, enum error_code rc, struct error *err)
{
    if ((rc != ERROR_INPUT && rc != ERROR_NOT_FOUND) || !err ||
        (size_t)format >= sizeof form_of / sizeof *form_of || !form_of[format] ||
        says_what_to_do(err->message))
        return rc;
    const size_t size = strlen(err->message);
    const char *advice = form_of[format];
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        if (strstr(err->message, alike[i].words)) {
            advice = alike[i].advice;
            break;
        }
    (void)snprintf(err->message + size, sizeof err->message - size, ": %s", advice);
    return rc;
}
