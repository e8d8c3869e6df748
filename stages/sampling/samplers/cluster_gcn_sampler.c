/*
 * cluster_gcn_sampler - draws some clusters of the graph with all edges among them (Chiang et al.,
 * "Cluster-GCN", KDD 2019).
 *
 * The clusters are the parts of the partition, which METIS made for few edges between them. The
 * schedule chooses the clusters of a mini-batch, each once an epoch. Edges between the chosen
 * clusters count, too (the paper's stochastic multiple partitions). The subgraph has the edges of
 * all relations and is a graph of its own: degrees are those in the subgraph. Clusters without a
 * training node make a mini-batch that teaches nothing (subgraph_stand_in()).
 */
#include "stages/sampling/samplers/sampler.h"
#include "stages/sampling/samplers/subgraph.h"

#include <inttypes.h>

static enum error_code enter_clusters(struct batch_builder *b,
                                      const struct neighbor_request *request, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t c = 0; rc == ERROR_NONE && c < request->part_count; c++) {
        const uint32_t part = request->part[c];
        must(part < (uint32_t)b->topology->part_count);
        for (uint32_t node = b->topology->book[part], local = 0;
             rc == ERROR_NONE && node < b->topology->book[part + 1]; node++)
            rc = batch_builder_enter(b, node, &local, err);
    }
    return rc;
}

static enum error_code draw(struct neighbor_sampler *sampler,
                            const struct neighbor_request *request, struct mini_batch *out,
                            struct error *err)
{
    struct batch_builder *b = NULL;
    uint32_t seeds = 0;
    enum error_code rc = neighbor_sampler_builder(sampler, &b, err);
    if (rc == ERROR_NONE)
        rc = batch_builder_begin(b, request, err);
    if (rc == ERROR_NONE)
        rc = enter_clusters(b, request, err);
    if (rc == ERROR_NONE)
        rc = subgraph_order(b, request, &seeds, err);
    if (rc == ERROR_NONE && seeds == 0)
        rc = subgraph_stand_in(b, request, err);
    if (rc == ERROR_NONE)
        rc = batch_builder_induce(b, err);
    return rc == ERROR_NONE ? batch_builder_finish(b, request, BATCH_SUBGRAPH, out, err) : rc;
}

static int64_t parts_of_batch(const struct sampler_options *options)
{
    return options->clusters;
}

static double most_nodes(const struct subgraph_limits *limits)
{
    return limits->largest_part * (double)limits->options->clusters;
}

static enum error_code check(const struct sampler_options *options, int64_t parts,
                             struct error *err)
{
    return options->clusters <= parts
               ? ERROR_NONE
               : error_set(err, ERROR_INVALID,
                           "sample.clusters is %" PRId64 ", expected at most the %" PRId64
                           " of partition.parts, which are the clusters",
                           options->clusters, parts);
}

const struct sampler cluster_gcn_row = {.name = "cluster_gcn",
                                        .form = BATCH_SUBGRAPH,
                                        .unit = SAMPLER_OF_CLUSTERS,
                                        .knows_training = true,
                                        .parts_of_batch = parts_of_batch,
                                        .most_nodes = most_nodes,
                                        .check = check,
                                        .advice_on_seeds =
                                            "a smaller partition.parts or a larger sample.clusters",
                                        .draw = draw};
