#include "stages/sampling/rows/batch_ends.h"

#include "stages/sampling/rows/neighbor_ends.h"

#include <string.h>

/* The edges of a relation that end in a node, without loops, and the sum of all their weights. */
struct end_sums {
    uint32_t edges, loops;
    double weights;
};

static float weight_of(const struct graph_row *row, uint32_t k)
{
    float value = 0;
    memcpy(&value, topology_column(row->part, EDGE_WEIGHT, row->start + k), sizeof value);
    return value;
}

/* Sums up what the seed of a node sees of its row. The node is number `local` of its type. */
static enum error_code look_back(struct batch_builder *b, const struct neighbor_request *request,
                                 uint32_t relation, uint32_t local, bool has_weights,
                                 struct end_sums *out, struct error *err)
{
    const uint32_t type = b->lists->relation[relation].target;
    const uint32_t target = b->lists->node[type].data[local];
    const uint32_t seed = b->lists->seed_of[type].data[local];
    struct graph_row row;
    enum error_code rc = graph_row_of_relation(b->topology, relation, target, &row, err);
    for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++) {
        const int64_t time = graph_row_time(b->topology, &row, k);
        uint32_t node = 0;
        if (!time_limits_allow(&request->times, seed, time))
            continue;
        rc = graph_row_neighbor(b->topology, &row, k, &node, err);
        if (rc != ERROR_NONE ||
            time_limits_leave_out(&request->times, seed, relation, node, target, time))
            continue;
        out->edges++;
        out->loops += node == target;
        out->weights += has_weights ? (double)weight_of(&row, k) : 0;
    }
    return rc;
}

/* Sums up row number `row` of a relation in the batch, which is that of node `local`. */
static void sum_row(const struct batch_builder *b, const struct relation_rows *rows, uint32_t row,
                    uint32_t local, const float *weight, struct end_sums *out)
{
    const uint32_t first = sampled_lists_begin(b->lists, rows, row);
    const uint32_t end = sampled_lists_begin(b->lists, rows, row + 1);
    out->edges = end - first;
    for (uint32_t e = first; e < end; e++) {
        out->loops += rows->source == rows->target && rows->neighbor.data[e] == local;
        out->weights += weight ? (double)weight[e] : 0;
    }
}

enum error_code batch_ends_fill_rows(struct batch_builder *b,
                                     const struct neighbor_request *request, bool is_alone,
                                     struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < b->lists->relation_count; r++) {
        struct relation_rows *rows = &b->lists->relation[r];
        rc = growing_array_reserve(&rows->degree, b->budget, (size_t)rows->row_count + 1, 0,
                                   "the degrees of a mini-batch", err);
        for (uint32_t i = 0; rc == ERROR_NONE && i < rows->row_count; i++) {
            const uint32_t local = rows->row.data[i];
            struct end_sums seen = {0};
            struct graph_row row = {0};
            if (is_alone)
                sum_row(b, rows, i, local, NULL, &seen);
            else if (b->seed_time)
                rc = look_back(b, request, r, local, false, &seen, err);
            else
                rc = graph_row_of_relation(b->topology, r, b->lists->node[rows->target].data[local],
                                           &row, err);
            rows->degree.data[i] = seen.edges + row.length;
        }
    }
    return rc;
}

/* A batch wants these of the ends of edges. */
struct wanted_ends {
    bool is_alone, degrees, sums;
    const float *weight; /* of the batch's edges, if sums are wanted */
};

/* Sums up a relation for all nodes of its target type, behind `at` others; its edges are those of
 * the batch from `first_edge` on. A node without an edge to itself counts one of weight 1, as
 * topology_weight_sum() has it, if the relation could have one. */
static enum error_code sum_relation(struct batch_builder *b, const struct neighbor_request *request,
                                    const struct wanted_ends *wanted, uint32_t relation,
                                    uint32_t first_edge, size_t at, struct error *err)
{
    const struct relation_rows *rows = &b->lists->relation[relation];
    struct neighbor_sampler *s = b->sampler;
    enum error_code rc = ERROR_NONE;
    uint32_t row = 0;
    for (uint32_t i = 0; rc == ERROR_NONE && i < b->lists->count[rows->target]; i++) {
        const bool has_row =
            !b->lists->lists_rows || (row < rows->row_count && rows->row.data[row] == i);
        struct end_sums seen = {0};
        if (!wanted->is_alone)
            rc = look_back(b, request, relation, i, wanted->sums, &seen, err);
        else if (has_row)
            sum_row(b, rows, row, i, wanted->sums ? wanted->weight + first_edge : NULL, &seen);
        row += has_row;
        const bool adds_loop = rows->source == rows->target && seen.loops == 0;
        const float all = (float)(seen.weights + (adds_loop ? 1 : 0));
        if (wanted->degrees)
            s->degree.data[at + i] = seen.edges - seen.loops;
        if (wanted->sums)
            memcpy(&s->weight_sum.data[at + i], &all, sizeof all);
    }
    return rc;
}

enum error_code batch_ends_look_up(struct batch_builder *b, const struct neighbor_request *request,
                                   bool is_alone, struct mini_batch *out, struct error *err)
{
    const struct wanted_ends wanted = {
        .is_alone = is_alone,
        .degrees =
            b->lists->lists_rows ? request->wants_ends : request->wants_degree || b->has_factors,
        .sums = request->wants_weight_sum && b->topology->width.of[EDGE_WEIGHT],
        .weight = out->columns.data[EDGE_WEIGHT]};
    const bool is_whole = !is_alone && !b->seed_time;
    size_t at = 0;
    must(!wanted.sums || request->edge_columns >> EDGE_WEIGHT & 1);
    enum error_code rc = is_whole
                             ? neighbor_ends_look_up(b->sampler, wanted.degrees, wanted.sums, err)
                             : neighbor_ends_reserve(b->sampler, wanted.degrees, wanted.sums, err);
    for (uint32_t r = 0; rc == ERROR_NONE && !is_whole && (wanted.degrees || wanted.sums) &&
                         r < b->lists->relation_count;
         r++) {
        rc = sum_relation(b, request, &wanted, r, mini_batch_edge_begin(out, r), at, err);
        at += b->lists->count[b->lists->relation[r].target];
    }
    if (rc == ERROR_NONE)
        neighbor_ends_give(b->sampler, wanted.degrees, wanted.sums, out);
    return rc;
}
