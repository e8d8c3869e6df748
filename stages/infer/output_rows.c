#include "stages/infer/output_rows.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/parallel/first_failure.h"

#include <inttypes.h>
#include <string.h>

static enum error_code find_blocks(struct output_rows *rows, struct error *err)
{
    const struct feature_source *source = rows->source[OUTPUT_LOGITS];
    const uint32_t node_count = rows->permutation->node_count;
    uint32_t widest = 0, at = 0;
    for (uint32_t node = 0; node < node_count; rows->block_count++) {
        const uint32_t end = feature_source_block_end(source, node);
        widest = end - node > widest ? end - node : widest;
        node = end;
    }
    enum error_code rc = memory_new(&rows->block_start, (size_t)rows->block_count + 1,
                                    "the blocks of the outputs", err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < node_count;) {
        node = feature_source_block_end(source, node);
        rows->block_start[++at] = node;
    }
    for (int t = 0; t < OUTPUT_TENSOR_COUNT; t++)
        if (rows->row_bytes[t] * widest > rows->block_bytes)
            rows->block_bytes = rows->row_bytes[t] * widest;
    if (rc == ERROR_NONE)
        rc = memory_new(&rows->block, (size_t)thread_pool_size(rows->pool) * rows->block_bytes,
                        "blocks of the outputs", err);
    return rc;
}

static enum error_code find_room(struct output_rows *rows, uint32_t piece, uint64_t budget_bytes,
                                 struct error *err)
{
    const uint32_t node_count = rows->permutation->node_count;
    size_t row_bytes = 0;
    for (int t = 0; t < OUTPUT_TENSOR_COUNT; t++)
        row_bytes += rows->row_bytes[t];
    must(row_bytes); /* there are logits */
    const uint64_t fit = budget_bytes / row_bytes;
    const uint32_t least = piece < node_count ? piece : node_count;
    must(piece > 0);
    char wanted[32], budget[32];
    if (fit < least)
        return error_set(err, ERROR_NO_MEMORY,
                         "the outputs of %" PRIu32 " nodes want %s, the budget is %s; give more "
                         "--memory",
                         least, text_size((uint64_t)least * row_bytes, wanted),
                         text_size(budget_bytes, budget));
    rows->room = fit >= node_count ? node_count : (uint32_t)fit / piece * piece;
    rows->memory_bytes = rows->room * row_bytes;
    rows->memory = memory_map(rows->memory_bytes);
    if (!rows->memory)
        return error_set(err, ERROR_NO_MEMORY, "no memory for rows of the outputs: %zu bytes",
                         rows->memory_bytes);
    char *at = rows->memory;
    for (int t = 0; t < OUTPUT_TENSOR_COUNT; at += rows->room * rows->row_bytes[t++])
        rows->row[t] = at;
    return ERROR_NONE;
}

enum error_code output_rows_init(struct output_rows *rows, uint32_t piece, uint64_t budget_bytes,
                                 struct error *err)
{
    for (int t = 0; t < OUTPUT_TENSOR_COUNT; t++)
        rows->row_bytes[t] = rows->source[t] ? feature_source_row_bytes(rows->source[t]) : 0;
    const enum error_code rc = find_blocks(rows, err);
    const uint64_t blocks = (uint64_t)thread_pool_size(rows->pool) * rows->block_bytes +
                            ((uint64_t)rows->block_count + 1) * sizeof *rows->block_start;
    return rc == ERROR_NONE
               ? find_room(rows, piece, budget_bytes > blocks ? budget_bytes - blocks : 0, err)
               : rc;
}

void output_rows_release(struct output_rows *rows)
{
    memory_unmap(rows->memory, rows->memory_bytes);
    memory_free(rows->block);
    memory_free(rows->block_start);
    *rows = (struct output_rows){0};
}

struct read_job {
    struct output_rows *rows;
    struct first_failure failure;
};

/* Copies the rows of the range that stand in the nodes first .. end - 1 of the partition. */
static enum error_code read_rows(struct output_rows *rows, enum output_tensor tensor,
                                 uint32_t first, uint32_t end, char *block, struct error *err)
{
    const size_t bytes = rows->row_bytes[tensor];
    const enum error_code rc = feature_source_read(rows->source[tensor], first, end, block, err);
    for (uint32_t node = first; rc == ERROR_NONE && node < end; node++) {
        const uint32_t at = rows->permutation->to_dataset[node];
        if (at >= rows->first && at < rows->end)
            memcpy(rows->row[tensor] + (at - rows->first) * bytes, block + (node - first) * bytes,
                   bytes);
    }
    return rc;
}

static void read_block(void *context, int64_t block, int thread)
{
    struct read_job *job = context;
    struct output_rows *rows = job->rows;
    const uint32_t *to_dataset = rows->permutation->to_dataset;
    uint32_t first = rows->block_start[block], end = rows->block_start[block + 1];
    char *room = rows->block + (size_t)thread * rows->block_bytes;
    struct error err = {0};
    enum error_code rc = ERROR_NONE;
    /* The rows of the range and those between them. */
    while (first < end && (to_dataset[first] < rows->first || to_dataset[first] >= rows->end))
        first++;
    while (first < end && (to_dataset[end - 1] < rows->first || to_dataset[end - 1] >= rows->end))
        end--;
    for (int t = 0; rc == ERROR_NONE && first < end && t < OUTPUT_TENSOR_COUNT; t++)
        if (rows->source[t])
            rc = read_rows(rows, (enum output_tensor)t, first, end, room, &err);
    first_failure_keep(&job->failure, rc, block, &err);
}

enum error_code output_rows_read(struct output_rows *rows, uint32_t first, uint32_t end,
                                 struct error *err)
{
    struct read_job job = {.rows = rows};
    must(first <= end && end - first <= rows->room);
    rows->first = first;
    rows->end = end;
    first_failure_init(&job.failure);
    thread_pool_run(rows->pool, rows->block_count, read_block, &job);
    return first_failure_end(&job.failure, err);
}
