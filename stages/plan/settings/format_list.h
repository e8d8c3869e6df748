/*
 * format_list - the input formats, one row each.
 *
 *   ROW(name, init, text, fields of struct dataset_format)
 *
 * A new format is a row here, one file in stages/ingest/formats/ that defines `const struct
 * input_format NAME_format` with its reader (input_format.h), and its text in "Input formats" of
 * pipelines/guide/formats.md. Nothing else names it. tests/tree/input_formats_test.sh checks that,
 * and that the format has a test and a fuzz target.
 *
 * `init` is LOOKED_AT if `graphmill init` reads such an input, with NAME_facts_find() of
 * pipelines/draft/input_facts.c, and NOT_LOOKED_AT otherwise. `text` describes the format in --help and
 * the reference. Messages list formats in the order of the rows. Only the two tables of formats and
 * input_facts.c include this header, so that a new row compiles only these again.
 */
#ifndef STAGES_PLAN_SETTINGS_FORMAT_LIST_H
#define STAGES_PLAN_SETTINGS_FORMAT_LIST_H

/* The settings that name the files with labels, features and splits of nodes. */
#define NODE_FILES                                                                                 \
    "labels feature_ids train valid test id_column label_columns time_column feature_columns "     \
    "missing_values missing_words column_encoding"

/* clang-format off */
#define FORMAT_LIST(ROW) \
    ROW(folder, LOOKED_AT, "a folder of plain files", .sign = "meta.json", \
        .traits = FORMAT_HAS_GRAPHS) \
    ROW(ogb, LOOKED_AT, "a folder of the Open Graph Benchmark", .sign = "raw", \
        .sign_text = "a folder raw", .settings = "split_name", \
        .traits = FORMAT_HAS_GRAPHS | FORMAT_HOLDS_OUT_EDGES | FORMAT_HAS_NEGATIVES) \
    ROW(edge_list, NOT_LOOKED_AT, "a table of edges, in one file or several", \
        .settings = NODE_FILES " edge_columns id_type edge_features", \
        .traits = FORMAT_IS_TABLE | FORMAT_HAS_NODE_FILES) \
    ROW(generated, NOT_LOOKED_AT, "planted communities, drawn by the seed", \
        .traits = FORMAT_IS_GENERATED, \
        .settings = "nodes average_degree degree_exponent classes homophily feature_dim " \
                    "feature_noise label_noise train_share valid_share") \
    ROW(tu, LOOKED_AT, "a folder of the TU Dortmund collection, which has many graphs", \
        .sign = "*_A.txt", .sign_text = "a file NAME_A.txt", \
        .traits = FORMAT_HAS_GRAPHS | FORMAT_IS_OF_GRAPHS) \
    ROW(matrix_market, LOOKED_AT, "a sparse matrix", .endings = {".mtx", ".mtx.gz", ".mtx.zst"}, \
        .settings = NODE_FILES, .traits = FORMAT_HAS_NODE_FILES) \
    ROW(metis, LOOKED_AT, "a graph for METIS or Chaco", .endings = {".graph", ".metis"}, \
        .settings = NODE_FILES, .traits = FORMAT_HAS_NODE_FILES) \
    ROW(npz, LOOKED_AT, \
        "an archive of NumPy arrays: a scipy matrix, or a graph of PyG's citation archives", \
        .settings = "split_name") \
    ROW(graphsaint, LOOKED_AT, "a folder of GraphSAINT's authors", .sign = "adj_full.npz") \
    ROW(graphbolt, LOOKED_AT, "a folder of DGL's GraphBolt", .sign = "metadata.yaml", \
        .settings = "split_name") \
    ROW(distdgl, LOOKED_AT, "a folder of DGL's distributed partitioning", .sign = "metadata.json") \
    ROW(dgl_csv, LOOKED_AT, "a folder of DGL's CSVDataset", .sign = "meta.yaml") \
    ROW(graphml, LOOKED_AT, "a GraphML file", .endings = {".graphml", ".graphml.gz", \
        ".graphml.zst"}, \
        .settings = "label_columns feature_columns", .traits = FORMAT_HAS_COLUMNS) \
    ROW(linqs, LOOKED_AT, "a folder of the LINQS group", .sign = "*.content") \
    ROW(hgb, LOOKED_AT, "a folder of the Heterogeneous Graph Benchmark", .sign = "node.dat", \
        .traits = FORMAT_HOLDS_OUT_EDGES) \
    ROW(openke, LOOKED_AT, "a folder of OpenKE", .sign = "train2id.txt", \
        .traits = FORMAT_HOLDS_OUT_EDGES) \
    ROW(ntriples, LOOKED_AT, "triples of RDF", .endings = {".nt", ".nt.gz", ".nt.zst"}) \
    ROW(sif, LOOKED_AT, "a network of Cytoscape", .endings = {".sif", ".sif.gz", ".sif.zst"})
/* clang-format on */

#endif
