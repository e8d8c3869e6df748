/*
 * sampler_list - the samplers and their own parameters: one row each.
 *
 * These rows make enum sampler_kind, the table of sampler.c, the choices and the help of
 * sample.sampler, and for each parameter a setting sample.<name>, which has an effect with the
 * samplers that its row names. No other file names a sampler or a parameter
 * (tests/tree/samplers_test.sh): whoever wants to know something of a sampler reads it in struct
 * sampler (sampler.h).
 *
 * ROW(number, name, help): the number in this program and the name in sample.sampler. <name>_row is
 * in <name>_sampler.c, that of the neighbour sampler in sampler.c.
 */
#ifndef STAGES_SAMPLING_SAMPLER_LIST_H
#define STAGES_SAMPLING_SAMPLER_LIST_H

#include <stdint.h>

/* clang-format off */
#define SAMPLER_LIST(ROW)                                                                          \
    ROW(SAMPLER_NEIGHBOR, neighbor,                                                                \
        "sample.fanouts neighbours of each node, each as likely as the others, none twice "        \
        "(GraphSAGE)")                                                                             \
    ROW(SAMPLER_WEIGHTED_NEIGHBOR, weighted_neighbor,                                              \
        "sample.fanouts neighbours of each node, with the weights of the edges as chances, "       \
        "none twice; an edge of weight 0 is kept only if there are too few others")                \
    ROW(SAMPLER_NEIGHBOR_WITH_REPLACEMENT, neighbor_with_replacement,                              \
        "sample.fanouts draws from all neighbours of each node, so some come several times; "      \
        "a node with no more neighbours than the fan-out keeps all")                               \
    ROW(SAMPLER_TEMPORAL_NEIGHBOR, temporal_neighbor,                                              \
        "sample.fanouts neighbours of each node by edges that are not later than the seed, "       \
        "for each seed apart")                                                                     \
    ROW(SAMPLER_FASTGCN, fastgcn,                                                                  \
        "for each layer sample.fanouts nodes of the whole graph, by importance (Chen et al. "      \
        "2018)")                                                                                   \
    ROW(SAMPLER_LADIES, ladies,                                                                    \
        "for each layer sample.fanouts nodes among the neighbours of the layer above, by "         \
        "importance (Zou et al. 2019)")                                                            \
    ROW(SAMPLER_GRAPHSAINT_NODE, graphsaint_node,                                                  \
        "the subgraph of sample.batch_size nodes, drawn by degree (Zeng et al. 2020, as "          \
        "their program and PyG do)")                                                               \
    ROW(SAMPLER_GRAPHSAINT_EDGE, graphsaint_edge,                                                  \
        "the subgraph of the ends of sample.batch_size edges")                                     \
    ROW(SAMPLER_GRAPHSAINT_WALK, graphsaint_walk, "the subgraph of walks from the seeds")          \
    ROW(SAMPLER_CLUSTER_GCN, cluster_gcn,                                                          \
        "the subgraph of sample.clusters parts of the partition (Chiang et al. 2019)")             \
    ROW(SAMPLER_SHADOW, shadow, "around each seed a subgraph of its own (Zeng et al. 2021)")

/* INT(name, samplers that have it, default, least, most, help), CHOICE(name, samplers, default,
 * names, help), WORDS(name, samplers, bytes, help): the field `name` of struct sampler_options.
 * Ids of runs are hashes of settings in this order: a new row goes to the end. */
#define SAMPLER_OPTION_LIST(INT, CHOICE, WORDS)                                                    \
    CHOICE(temporal_strategy, "temporal_neighbor", "uniform", temporal_strategy_names,             \
        "which of the edges that are not later than the seed are kept: uniform or last")           \
    CHOICE(seed_time, "temporal_neighbor", "last_edge", seed_time_names,                           \
        "the time of a seed node: that of its last_edge or first_edge, or that of the node "       \
        "in ingest.node_times")                                                                    \
    INT(walk_length, "graphsaint_walk", "2", 1, 1000, "steps of a walk")                           \
    INT(sample_coverage, "graphsaint_walk", "50", 0, 10000,                                        \
        "how often a node is drawn on average to count chances for the normalisation; 0: "         \
        "none")                                                                                    \
    INT(clusters, "cluster_gcn", "1", 1, 65535, "parts of the partition in a mini-batch")          \
    INT(depth, "shadow", "2", 1, 16, "hops of a subgraph, whatever the number of layers")          \
    INT(num_neighbors, "shadow", "10", -1, 1e6, "neighbours kept of each of its nodes; -1: all")  \
    WORDS(metapath, "graphsaint_walk", 512,                                                        \
        "relations: those that a walk goes along, as messages travel, in [rev_writes, "            \
        "writes]; it begins at the last, and goes round; empty: any")
/* clang-format on */

#define SAMPLER_NUMBER(number, name, help) number,
enum sampler_kind { SAMPLER_LIST(SAMPLER_NUMBER) SAMPLER_COUNT };
#undef SAMPLER_NUMBER

/* The first row is the default. It needs nothing of the graph. */
#define SAMPLER_DEFAULT      ((enum sampler_kind)0)
#define SAMPLER_DEFAULT_NAME "neighbor"

#define SAMPLER_INT(name, samplers, value, least, most, help) int64_t name;
#define SAMPLER_CHOICE(name, samplers, value, names, help)    int64_t name;
#define SAMPLER_WORDS(name, samplers, size, help)             char name[size];
struct sampler_options {
    SAMPLER_OPTION_LIST(SAMPLER_INT, SAMPLER_CHOICE, SAMPLER_WORDS)
};
#undef SAMPLER_INT
#undef SAMPLER_CHOICE
#undef SAMPLER_WORDS

enum temporal_strategy { TEMPORAL_UNIFORM, TEMPORAL_LAST };
/* The words of choices, in the file that reads them; each list ends with NULL. */
extern const char *const temporal_strategy_names[], *const seed_time_names[];

#endif
