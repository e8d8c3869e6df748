#include "stages/sampling/rows/neighbor_ends.h"

#include "stages/sampling/rows/neighbor_rows.h"
#include "store/topology/topology_ahead.h"

#include <inttypes.h>
#include <string.h>

enum error_code neighbor_rows_bad(const struct sampled_row *row, uint64_t end, struct error *err)
{
    return error_set(err, ERROR_CORRUPT,
                     "topology: the row of node %" PRIu64 " is %" PRIu64 " to %" PRIu64
                     ", expected ascending, at most %" PRIu64 ", and below 2^32 long",
                     (uint64_t)row->part->first_node + row->index, row->start, end,
                     row->part->edge_count);
}

void neighbor_rows_block(const struct neighbor_sampler *s, uint32_t first, uint32_t end,
                         struct row_block *block)
{
    block->first = first;
    block->count = end - first < BLOCK_ROWS ? end - first : BLOCK_ROWS;
    for (uint32_t i = 0; i < block->count; i++) {
        neighbor_rows_locate(s, neighbor_rows_node(s, first + i), &block->row[i]);
        neighbor_rows_prefetch(&block->row[i]);
    }
    for (uint32_t i = 0; s->topology->is_at_random && i < block->count; i++)
        topology_ask_row_start(block->row[i].part, block->row[i].index);
}

/* Writes the degrees of the nodes of the current relation's target type into out [count]. */
static enum error_code look_up_degrees(struct neighbor_sampler *s, uint32_t count, uint32_t *out,
                                       struct error *err)
{
    enum error_code rc = ERROR_NONE;
    struct row_block *block = &s->block[0];
    const bool has_loops = s->has_self_loops && s->rows->source == s->rows->target;
    for (uint32_t at = 0; at < count; at += block->count) {
        neighbor_rows_block(s, at, count, block);
        for (uint32_t i = 0; i < block->count; i++) {
            struct sampled_row *row = &block->row[i];
            const uint32_t node = neighbor_rows_node(s, at + i);
            rc = neighbor_rows_read(row, err);
            if (rc != ERROR_NONE)
                return rc;
            out[at + i] =
                row->length -
                (has_loops ? topology_self_loops(row->part, row->start, row->length, node) : 0);
        }
    }
    return ERROR_NONE;
}

/* Writes the sums of weights of the same nodes, as the topology has them. */
static void look_up_weight_sums(struct neighbor_sampler *s, uint32_t count, uint32_t *out)
{
    struct row_block *block = &s->block[0];
    for (uint32_t at = 0; at < count; at += block->count) {
        const float *sum[BLOCK_ROWS];
        neighbor_rows_block(s, at, count, block);
        for (uint32_t i = 0; i < block->count; i++) {
            sum[i] = topology_weight_sum(block->row[i].part, block->row[i].index);
            __builtin_prefetch(sum[i], 0, 2);
        }
        for (uint32_t i = 0; i < block->count; i++)
            memcpy(&out[at + i], sum[i], sizeof *sum[i]);
    }
}

/* Writes the sums of weights of a relation between two types. They are added up here because the
 * topology's sums include a self-loop of weight 1, which edges between two types do not have. */
static enum error_code add_up_weights(struct neighbor_sampler *s, uint32_t count, uint32_t *out,
                                      struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        struct sampled_row row = {0};
        double sum = 0;
        neighbor_rows_locate(s, neighbor_rows_node(s, i), &row);
        rc = neighbor_rows_read(&row, err);
        for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++)
            sum += (double)*(const float *)topology_column(row.part, EDGE_WEIGHT, row.start + k);
        const float rounded = (float)sum;
        memcpy(&out[i], &rounded, sizeof rounded);
    }
    return rc;
}

/* Looks up the degrees and sums of a relation's target type into the arrays, from element `at`
 * on. */
static enum error_code look_up_relation(struct neighbor_sampler *s, uint32_t relation, size_t at,
                                        bool degrees, bool sums, struct error *err)
{
    s->relation = relation;
    s->rows = &s->lists.relation[relation];
    const uint32_t count = s->lists.count[s->rows->target];
    const enum error_code rc =
        degrees ? look_up_degrees(s, count, s->degree.data + at, err) : ERROR_NONE;
    if (rc != ERROR_NONE || !sums)
        return rc;
    if (s->rows->source != s->rows->target)
        return add_up_weights(s, count, s->weight_sum.data + at, err);
    look_up_weight_sums(s, count, s->weight_sum.data + at);
    return ERROR_NONE;
}

enum error_code neighbor_ends_reserve(struct neighbor_sampler *s, bool degrees, bool sums,
                                      struct error *err)
{
    size_t all = 0;
    for (uint32_t r = 0; r < s->lists.relation_count; r++)
        all += s->lists.count[s->lists.relation[r].target];
    enum error_code rc = ERROR_NONE;
    if (degrees)
        rc = growing_array_reserve(&s->degree, &s->budget, all + 1, 0,
                                   "the degrees of a mini-batch", err);
    if (rc == ERROR_NONE && sums)
        rc = growing_array_reserve(&s->weight_sum, &s->budget, all + 1, 0,
                                   "the sums of weights of a mini-batch", err);
    return rc;
}

enum error_code neighbor_ends_look_up(struct neighbor_sampler *s, bool degrees, bool sums,
                                      struct error *err)
{
    size_t at = 0;
    enum error_code rc = neighbor_ends_reserve(s, degrees, sums, err);
    for (uint32_t r = 0; rc == ERROR_NONE && (degrees || sums) && r < s->lists.relation_count;
         r++) {
        rc = look_up_relation(s, r, at, degrees, sums, err);
        at += s->lists.count[s->lists.relation[r].target];
    }
    s->relation = 0;
    s->rows = s->lists.relation;
    return rc;
}

void neighbor_ends_give(const struct neighbor_sampler *s, bool degrees, bool sums,
                        struct mini_batch *out)
{
    if (degrees && s->lists.lists_rows) {
        out->back = s->back;
        out->end_degree = s->degree.data;
    } else if (degrees) {
        out->degree = s->degree.data;
    }
    if (sums)
        out->weight_sum = (const float *)(const void *)s->weight_sum.data;
}
