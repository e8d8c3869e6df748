#include "store/records/batch_form.h"

#include "common/base/cpu_kernel.h"

#include <inttypes.h>
#include <stdbool.h>

/* Where the rows of a hop begin. Below 2^32 in a batch that is sound. */
static uint64_t first_row(const struct mini_batch *batch, int hop)
{
    uint64_t first = 0;
    for (int h = 0; batch->form == BATCH_LAYERED && h < hop; h++)
        first += batch->hop_end[h];
    return first;
}

uint64_t batch_form_rows(const struct mini_batch *batch)
{
    if (batch->hop_count == 0)
        return 0;
    if (batch->form == BATCH_LAYERED)
        return first_row(batch, batch->hop_count);
    return batch->hop_end[batch->form == BATCH_SUBGRAPH ? batch->hop_count : batch->hop_count - 1];
}

uint32_t batch_form_node_of_row(const struct mini_batch *batch, uint32_t row)
{
    for (int hop = 0; batch->form == BATCH_LAYERED && row >= batch->hop_end[hop]; hop++)
        row -= batch->hop_end[hop];
    return row;
}

struct message_block mini_batch_block(const struct mini_batch *batch, int layer)
{
    const int hop = batch->hop_count - 1 - layer;
    if (hop < 0)
        return (struct message_block){0};
    return (struct message_block){
        .destination_count = batch->hop_end[hop],
        .source_count = batch->hop_end[hop + 1],
        .row_start = batch->row_start + first_row(batch, hop),
        .neighbor = batch->neighbor,
        .degree = batch->degree,
        .edge_value = batch->columns.data[EDGE_WEIGHT],
        .edge_factor = batch->edge_factor,
        .value_sum = batch->weight_sum,
        .edge_feature = batch->columns.data[EDGE_FEATURE],
        .edge_feature_dim = batch->columns.width.of[EDGE_FEATURE],
    };
}

enum error_code batch_form_check_hops(const struct mini_batch *batch, struct error *err)
{
    if (batch->hop_end[0] == 0)
        return error_set(err, ERROR_CORRUPT,
                         "hop_end[0]: expected at least one seed node, found 0");
    for (int i = 0; i < batch->hop_count; i++) {
        if (batch->hop_end[i + 1] < batch->hop_end[i])
            return error_set(err, ERROR_CORRUPT,
                             "hop_end[%d]: expected at least hop_end[%d] = %" PRIu32
                             ", found %" PRIu32,
                             i + 1, i, batch->hop_end[i], batch->hop_end[i + 1]);
        if (batch->form == BATCH_SUBGRAPH && batch->hop_end[i + 1] != batch->hop_end[1])
            return error_set(err, ERROR_CORRUPT,
                             "hop_end[%d]: expected all %" PRIu32
                             " nodes, as hop_end[1] has, found %" PRIu32,
                             i + 1, batch->hop_end[1], batch->hop_end[i + 1]);
    }
    if (batch_form_rows(batch) > UINT32_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "hop_end: expected at most %" PRIu32 " rows, found %" PRIu64, UINT32_MAX,
                         batch_form_rows(batch));
    return ERROR_NONE;
}

CPU_KERNEL_OF(uint32_t, largest_source, (const uint32_t *value, uint32_t count), (value, count))
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++)
        largest = value[i] > largest ? value[i] : largest;
    return largest;
}

enum error_code batch_form_check_neighbors(const struct mini_batch *batch, struct error *err)
{
    const bool is_nested = batch->form == BATCH_NESTED;
    for (int hop = 0; hop < batch->hop_count; hop++) {
        const uint64_t base = first_row(batch, hop);
        const uint32_t rows =
            batch->form == BATCH_SUBGRAPH ? batch->node_count : batch->hop_end[hop];
        const uint32_t limit = batch->hop_end[hop + 1];
        const uint32_t first =
            batch->row_start[is_nested ? (hop ? batch->hop_end[hop - 1] : 0) : base];
        const uint32_t last = batch->row_start[base + rows];
        const bool is_wrong =
            first < last && largest_source(batch->neighbor + first, last - first) >= limit;
        for (uint32_t e = first; is_wrong && e < last; e++)
            if (batch->neighbor[e] >= limit)
                return error_set(err, ERROR_CORRUPT,
                                 "neighbor[%" PRIu32 "]: expected below hop_end[%d] = %" PRIu32
                                 ", found %" PRIu32,
                                 e, hop + 1, limit, batch->neighbor[e]);
        if (batch->form == BATCH_SUBGRAPH)
            break;
    }
    return ERROR_NONE;
}

static enum error_code check_rows_of_hop(const struct mini_batch *batch, uint64_t base,
                                         uint32_t rows, struct error *err)
{
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t e = batch->row_start[base + i]; e < batch->row_start[base + i + 1]; e++)
            if (batch->seed_of[batch->neighbor[e]] != batch->seed_of[i])
                return error_set(err, ERROR_CORRUPT,
                                 "neighbor[%" PRIu32 "]: expected a node of seed %" PRIu32
                                 ", found one of seed %" PRIu32,
                                 e, batch->seed_of[i], batch->seed_of[batch->neighbor[e]]);
    return ERROR_NONE;
}

enum error_code batch_form_check_disjoint(const struct mini_batch *batch, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; i < batch->node_count; i++)
        if (i < batch->seed_count ? batch->seed_of[i] != i : batch->seed_of[i] >= batch->seed_count)
            return error_set(err, ERROR_CORRUPT,
                             "seed_of[%" PRIu32 "]: expected %s of %" PRIu32
                             " seeds, found %" PRIu32,
                             i, i < batch->seed_count ? "itself, one" : "one", batch->seed_count,
                             batch->seed_of[i]);
    if (batch->form != BATCH_LAYERED)
        return check_rows_of_hop(batch, 0, batch->row_count, err);
    for (int hop = 0; rc == ERROR_NONE && hop < batch->hop_count; hop++)
        rc = check_rows_of_hop(batch, first_row(batch, hop), batch->hop_end[hop], err);
    return rc;
}
