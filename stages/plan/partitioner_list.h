/*
 * partitioner_list - the ways to cut a graph into parts: one row each.
 *
 * ROW(number, name, help): the number in this program, the name in partition.method; <name>_partitioner in
 * stages/partition/methods/<name>_partitioner.c. The help becomes that of the setting.
 */
#ifndef STAGES_PLAN_PARTITIONER_LIST_H
#define STAGES_PLAN_PARTITIONER_LIST_H

/* clang-format off */
#define PARTITIONER_LIST(ROW)                                                                      \
    ROW(PARTITION_METIS, metis, "few cut edges, with the graph in memory")                         \
    ROW(PARTITION_HASH, hash, "a hash of the node; most edges are cut")                            \
    ROW(PARTITION_FILE, file, "as partition.assignment says")                                      \
    ROW(PARTITION_RANGE, range, "equal ranges of nodes in the order of the input")                 \
    ROW(PARTITION_LDG, ldg, "linear deterministic greedy, in streams of nodes; needs a few bytes a node")\
    ROW(PARTITION_FENNEL, fennel, "the same by Fennel's rule")                                     \
    ROW(PARTITION_LABEL_PROPAGATION, label_propagation, "from nodes at random, each goes where most of its neighbours are")\
    ROW(PARTITION_SPECTRAL, spectral, "k-means of eigenvectors of the graph's Laplacian")          \
    ROW(PARTITION_RANDOM_WALK, random_walk, "k-means of an embedding learnt from random walks")    \
    ROW(PARTITION_DBH, dbh, "vertex cut: an edge goes by the hash of its end with fewer edges")     \
    ROW(PARTITION_HDRF, hdrf, "vertex cut: an edge goes where its ends are already, hubs are cut first")\
    ROW(PARTITION_TWO_PHASE, two_phase, "vertex cut by 2PS-L: nodes in clusters, edges where these are")\
    ROW(PARTITION_TWO_PHASE_HDRF, two_phase_hdrf, "vertex cut: fennel, then hdrf for the edges between its parts")\
    ROW(PARTITION_AUTO, auto, "metis where --memory holds it, else fennel")
/* clang-format on */

#define PARTITIONER_NUMBER(number, name, help) number,
enum partition_method { PARTITIONER_LIST(PARTITIONER_NUMBER) PARTITION_METHOD_COUNT };
#undef PARTITIONER_NUMBER

#endif
