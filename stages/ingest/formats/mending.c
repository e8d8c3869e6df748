#include "stages/ingest/formats/mending.h"

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

enum error_code mending_add(enum ingest_format format, enum error_code rc, struct error *err)
{
    if ((rc != ERROR_INPUT && rc != ERROR_NOT_FOUND) || !err ||
        (size_t)format >= sizeof form_of / sizeof *form_of || !form_of[format] ||
        *error_advice(err))
        return rc;
    return error_add(err, rc, ": " ADVICE "%s", form_of[format]);
}
