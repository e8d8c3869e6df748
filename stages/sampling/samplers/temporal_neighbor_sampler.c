/*
 * temporal_neighbor_sampler - a neighbourhood in which nothing is later than its seed, as PyG's
 * NeighborLoader with `time_attr`.
 *
 * An edge is taken only if its time, and that of its source if nodes have times, is at most the
 * seed's, or below it if the request says only_earlier (struct time_limits). The limit of a node
 * that was reached is the seed's time and not that of the edge that led to it (PyG's disjoint
 * temporal sampling): the seed asks what was known at its time, and all of that was. So two seeds
 * that reach one node see it in two states, and a batch is disjoint: a node is there once for each
 * seed that reaches it. Degrees and sums of weights are those of that time, too.
 *
 * If the seeds are the ends of edges to learn, the edge of a seed is in none of its rows.
 *
 * Every relation has times. A node is expanded once for a seed, at the hop where it first appears,
 * in every relation that ends in its type, each with a fan-out of its own, as neighbor_sampler.h
 * does.
 *
 * A hop keeps its fan-out of the edges that are early enough: each as likely as the others, none
 * twice; or the latest ones, of equal times those behind in the row (PyG's temporal_strategy
 * "uniform" and "last").
 */
#include "stages/sampling/rows/distinct_positions.h"
#include "stages/sampling/samplers/sampler.h"
#include "stages/sampling/samplers/subgraph.h"

#include <stdlib.h>
#include <string.h>

enum { CANDIDATES, POSITIONS, BITS };

const char *const temporal_strategy_names[] = {
    [TEMPORAL_UNIFORM] = "uniform", [TEMPORAL_LAST] = "last", NULL};

struct candidate {
    int64_t time;
    uint32_t position, unused;
};
enum { CANDIDATE_WORDS = sizeof(struct candidate) / sizeof(uint32_t) };

static int latest_first(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    return (x->position < y->position) - (x->position > y->position);
}

static int by_position(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return (x->position > y->position) - (x->position < y->position);
}

/* Lists the edges of a row of the relation that are early enough. */
static enum error_code find_candidates(struct batch_builder *b,
                                       const struct neighbor_request *request, uint32_t relation,
                                       const struct graph_row *row, uint32_t seed,
                                       struct candidate **out, uint32_t *count, struct error *err)
{
    const uint32_t target = row->part->first_node + row->index;
    void *data = NULL;
    enum error_code rc = batch_builder_scratch(b, CANDIDATES, (size_t)row->length + 1,
                                               CANDIDATE_WORDS, 0, &data, err);
    *out = data;
    *count = 0;
    for (uint32_t k = 0; rc == ERROR_NONE && k < row->length; k++) {
        const int64_t own = graph_row_time(b->topology, row, k);
        uint32_t source = 0;
        if (!time_limits_allow(&request->times, seed, own))
            continue;
        rc = graph_row_neighbor(b->topology, row, k, &source, err);
        if (rc == ERROR_NONE &&
            !time_limits_leave_out(&request->times, seed, relation, source, target, own))
            (*out)[(*count)++] = (struct candidate){.time = own, .position = k};
    }
    return rc;
}

/* Leaves `kept` of them, in the order of the row. */
static enum error_code choose(struct batch_builder *b, const struct random_stream *stream,
                              uint32_t node, int64_t strategy, struct candidate *candidate,
                              uint32_t early, uint32_t kept, struct error *err)
{
    void *positions = NULL, *bits = NULL;
    const size_t scratch = distinct_positions_scratch(early, kept);
    if (strategy == TEMPORAL_LAST) {
        qsort(candidate, early, sizeof *candidate, latest_first);
        qsort(candidate, kept, sizeof *candidate, by_position);
        return ERROR_NONE;
    }
    enum error_code rc = batch_builder_scratch(b, POSITIONS, kept, 1, 0, &positions, err);
    if (rc == ERROR_NONE)
        rc = batch_builder_scratch(b, BITS, scratch + 1, 2, 0, &bits, err);
    if (rc != ERROR_NONE)
        return rc;
    memset(bits, 0, scratch * sizeof(uint64_t));
    distinct_positions_draw(stream, node, early, kept, bits, positions);
    for (uint32_t i = 0; i < kept; i++) /* they ascend, so none is overwritten before it is read */
        candidate[i] = candidate[((const uint32_t *)positions)[i]];
    return ERROR_NONE;
}

/* The node of the seed, found or made. */
static enum error_code enter(struct batch_builder *b, uint32_t seed, uint32_t node, uint32_t *local,
                             struct error *err)
{
    *local = pair_table_find(&b->pairs, seed, node);
    if (*local != PAIR_TABLE_NONE)
        return ERROR_NONE;
    const enum error_code rc = batch_builder_add_node(b, node, seed, local, err);
    return rc == ERROR_NONE ? pair_table_add(&b->pairs, b->budget, seed, node, *local, err) : rc;
}

/* Adds the row of node `index` of the relation's target type. */
static enum error_code expand(struct batch_builder *b, const struct neighbor_request *request,
                              uint32_t relation, int hop, uint32_t index, struct error *err)
{
    const int64_t fanout = request->fanout[relation * (size_t)request->hop_count + (size_t)hop];
    const uint32_t type = b->lists->relation[relation].target;
    const uint32_t seed = b->lists->seed_of[type].data[index];
    const uint32_t node = b->lists->node[type].data[index];
    struct graph_row row;
    struct candidate *candidate = NULL;
    uint32_t count = 0;
    enum error_code rc = graph_row_of_relation(b->topology, relation, node, &row, err);
    if (rc == ERROR_NONE)
        rc = find_candidates(b, request, relation, &row, seed, &candidate, &count, err);
    if (rc == ERROR_NONE && fanout != FANOUT_ALL && fanout < count) {
        const struct random_stream stream =
            subgraph_seed_stream(request, seed, relation, (uint32_t)hop);
        if (fanout > 0)
            rc = choose(b, &stream, node, request->options->temporal_strategy, candidate, count,
                        (uint32_t)fanout, err);
        count = (uint32_t)fanout;
    }
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        uint32_t source = 0, local = 0;
        rc = graph_row_neighbor(b->topology, &row, candidate[i].position, &source, err);
        if (rc == ERROR_NONE)
            rc = enter(b, seed, source, &local, err);
        if (rc == ERROR_NONE)
            rc = batch_builder_add_edge(b, relation, local,
                                        graph_row_place(&row, candidate[i].position), 1, err);
    }
    return rc == ERROR_NONE ? batch_builder_end_row(b, relation, index, err) : rc;
}

/* Expands what was found at the hop before. */
static enum error_code expand_hop(struct batch_builder *b, const struct neighbor_request *request,
                                  int hop, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < b->lists->relation_count; r++) {
        const uint32_t type = b->lists->relation[r].target;
        const uint32_t end = *batch_builder_known(b, type, hop);
        for (uint32_t i = hop ? *batch_builder_known(b, type, hop - 1) : 0;
             rc == ERROR_NONE && i < end; i++)
            rc = expand(b, request, r, hop, i, err);
    }
    batch_builder_end_hop(b, hop + 1);
    return rc;
}

/* Adds the seeds, which stand type by type: number i of the request is number i of the batch. */
static enum error_code add_seeds(struct batch_builder *b, const struct neighbor_request *request,
                                 struct error *err)
{
    uint32_t type = 0, local = 0;
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < request->seed_count; i++) {
        const uint32_t node = request->seed_node[i], before = type;
        rc = batch_builder_add_node(b, node, i, &local, err);
        if (rc == ERROR_NONE)
            type = batch_builder_type(b, node);
        must(type >= before);
        if (rc == ERROR_NONE)
            rc = pair_table_add(&b->pairs, b->budget, i, node, local, err);
    }
    batch_builder_end_hop(b, 0);
    return rc;
}

static enum error_code draw(struct neighbor_sampler *sampler,
                            const struct neighbor_request *request, struct mini_batch *out,
                            struct error *err)
{
    struct batch_builder *b = NULL;
    must(request->times.seed_time || request->seed_count == 0);
    enum error_code rc = neighbor_sampler_builder(sampler, &b, err);
    if (rc == ERROR_NONE)
        rc = batch_builder_begin(b, request, err);
    if (rc != ERROR_NONE)
        return rc;
    b->is_disjoint = true;
    b->seed_time = request->times.seed_time;
    rc = add_seeds(b, request, err);
    for (int hop = 0; rc == ERROR_NONE && hop < request->hop_count; hop++)
        rc = expand_hop(b, request, hop, err);
    return rc == ERROR_NONE ? batch_builder_finish(b, request, BATCH_NESTED, out, err) : rc;
}

static const char *asks_node_times(const struct sampler_options *options)
{
    return options->seed_time == SEED_TIME_NODE ? "sample.seed_time is node" : NULL;
}

const struct sampler temporal_neighbor_row = {.name = "temporal_neighbor",
                                              .needs = 1U << EDGE_TIME,
                                              .has_neighborhoods = true,
                                              .is_disjoint = true,
                                              .takes_pairs = true,
                                              .asks_node_times = asks_node_times,
                                              .draw = draw};
