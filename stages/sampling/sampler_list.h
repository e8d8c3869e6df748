/*
 * sampler_list - the ways to draw a mini-batch: one row each.
 *
 * ROW(number, name, help): the number in this program, the name in sample.sampler; <name>_row in <name>_sampler.c
 * (that of the neighbour sampler itself is in sampler.c). The help becomes that of the setting.
 */
#ifndef STAGES_SAMPLING_SAMPLER_LIST_H
#define STAGES_SAMPLING_SAMPLER_LIST_H

/* clang-format off */
#define SAMPLER_LIST(ROW)                                                                          \
    ROW(SAMPLER_NEIGHBOR, neighbor, "each as likely as the others, none twice")                    \
    ROW(SAMPLER_WEIGHTED_NEIGHBOR, weighted_neighbor, "by the weight of the edge, none twice")     \
    ROW(SAMPLER_NEIGHBOR_WITH_REPLACEMENT, neighbor_with_replacement, "each as likely at every draw, some several times")\
    ROW(SAMPLER_TEMPORAL_NEIGHBOR, temporal_neighbor, "those whose edges are not later than the seed")\
    ROW(SAMPLER_FASTGCN, fastgcn, "for each layer nodes of the whole graph by importance; fan-outs are of layers")\
    ROW(SAMPLER_LADIES, ladies, "the same among the neighbours of the layer above")                \
    ROW(SAMPLER_GRAPHSAINT_NODE, graphsaint_node, "the subgraph of sample.batch_size nodes drawn by degree")\
    ROW(SAMPLER_GRAPHSAINT_EDGE, graphsaint_edge, "the subgraph of sample.batch_size edges")       \
    ROW(SAMPLER_GRAPHSAINT_WALK, graphsaint_walk, "the subgraph of walks from the seeds")          \
    ROW(SAMPLER_CLUSTER_GCN, cluster_gcn, "the subgraph of sample.clusters parts")                 \
    ROW(SAMPLER_SHADOW, shadow, "a subgraph of its own around each seed")
/* clang-format on */

#define SAMPLER_NUMBER(number, name, help) number,
enum sampler_kind { SAMPLER_LIST(SAMPLER_NUMBER) SAMPLER_COUNT };
#undef SAMPLER_NUMBER

#endif
