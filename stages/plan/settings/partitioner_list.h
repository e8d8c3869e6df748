/*
 * partitioner_list - the methods that cut a graph into parts, one row each.
 *
 * ROW(number, name, help): the number in this program, and the name in partition.method. The method
 * is <name>_partitioner in stages/partition/methods/<name>_partitioner.c. The help is the text of
 * the setting's choice.
 */
#ifndef STAGES_PLAN_SETTINGS_PARTITIONER_LIST_H
#define STAGES_PLAN_SETTINGS_PARTITIONER_LIST_H

/* clang-format off */
#define PARTITIONER_LIST(ROW)                                                                      \
    ROW(PARTITION_METIS, metis,                                                                    \
        "METIS, k-way and multilevel: the fewest cut edges of these methods. Memory: the "         \
        "graph, about 80 bytes an edge and direction")                                             \
    ROW(PARTITION_HASH, hash,                                                                      \
        "a hash of the node's id and the seed; nearly all edges are cut. Memory: none")            \
    ROW(PARTITION_FILE, file,                                                                      \
        "the parts in the file partition.assignment. Memory: none")                                \
    ROW(PARTITION_RANGE, range,                                                                    \
        "equal ranges of nodes, in the order of the input. Memory: a few words a node")            \
    ROW(PARTITION_LDG, ldg,                                                                        \
        "streams the nodes: each goes where it has neighbours, by linear deterministic "           \
        "greedy (Stanton and Kliot 2012). Memory: a few words a node")                             \
    ROW(PARTITION_FENNEL, fennel,                                                                  \
        "streams the nodes: each goes where it has neighbours, less Fennel's price of a full "     \
        "part (Tsourakakis et al. 2014). Memory: a few words a node")                              \
    ROW(PARTITION_LABEL_PROPAGATION, label_propagation,                                            \
        "begins with random parts; then each node goes where most of its neighbours are and "      \
        "there is room. Memory: a few words a node")                                               \
    ROW(PARTITION_SPECTRAL, spectral,                                                              \
        "k-means on the eigenvectors of the normalised Laplacian (Ng et al. 2002, "                \
        "regularised), then streams by the rule of ldg. For a graph of more than 131,072 "         \
        "nodes the eigenvectors are those of a smaller graph, made of clusters of its "            \
        "nodes. Memory: the graph (a large one three times), and "                                 \
        "up to 88 numbers of 8 bytes a node")                                                      \
    ROW(PARTITION_RANDOM_WALK, random_walk,                                                        \
        "k-means on an embedding that skip-gram learns from node2vec's walks, then streams "       \
        "by the rule of ldg. Memory: the graph, and about 100 numbers of 4 bytes a node")          \
    ROW(PARTITION_DBH, dbh,                                                                        \
        "vertex cut: the part of an edge is a hash of its end with fewer edges (Xie et al. "       \
        "2014). Memory: 2 bytes an edge and direction")                                            \
    ROW(PARTITION_HDRF, hdrf,                                                                      \
        "vertex cut: an edge goes where its ends already are, and hubs are cut first "             \
        "(Petroni et al. 2015). Memory: 6 bytes an edge and direction")                            \
    ROW(PARTITION_TWO_PHASE, two_phase,                                                            \
        "vertex cut by 2PS-L: nodes form clusters, then edges go to the parts of these "           \
        "(Mayer et al. 2022). Memory: 6 bytes an edge and direction, and 30 bytes a node")         \
    ROW(PARTITION_TWO_PHASE_HDRF, two_phase_hdrf,                                                  \
        "vertex cut: fennel, then hdrf for the edges between its parts. Memory: 6 bytes an "       \
        "edge and direction")                                                                      \
    ROW(PARTITION_AUTO, auto,                                                                      \
        "metis if --memory and its 32-bit numbers hold the graph, otherwise fennel; the log "      \
        "and the report say which")
/* clang-format on */

#define PARTITIONER_NUMBER(number, name, help) number,
enum partition_method { PARTITIONER_LIST(PARTITIONER_NUMBER) PARTITION_METHOD_COUNT };
#undef PARTITIONER_NUMBER

#endif
