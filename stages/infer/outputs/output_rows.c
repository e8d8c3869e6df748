#include "stages/infer/outputs/output_rows.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/parallel/first_failure.h"

#include <inttypes.h>
#include <string.h>

static size_t bytes_of_row(const struct output_rows *rows)
{
    size_t bytes = 0;
    for (int t = 0; t < OUTPUT_TENSOR_COUNT; t++)
        bytes += rows->row_bytes[t];
    return bytes;
}

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
    const size_t least = output_ranges_piece_least(bytes_of_row(rows));
    rows->block_bytes = bytes_of_row(rows) * widest;
    rows->block_bytes = rows->block_bytes < least ? least : rows->block_bytes;
    if (rc == ERROR_NONE)
        rc = memory_new(&rows->block, (size_t)thread_pool_size(rows->pool) * rows->block_bytes,
                        "blocks of the outputs", err);
    return rc;
}

enum error_code output_rows_reserve(struct output_rows *rows, uint32_t node_count, uint32_t piece,
                                    uint64_t budget_bytes, struct error *err)
{
    const size_t row_bytes = bytes_of_row(rows);
    must(row_bytes); /* because there are always logits */
    const uint64_t fit = budget_bytes / row_bytes;
    const uint32_t least = piece < node_count ? piece : node_count;
    must(piece > 0);
    char wanted[32], budget[32];
    if (fit < least)
        return error_set(
            err, ERROR_NO_MEMORY,
            "the outputs of %" PRIu32 " nodes want %s, the budget is %s; " ADVICE "give more "
            "--memory",
            least, text_size((uint64_t)least * row_bytes, wanted), text_size(budget_bytes, budget));
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
               ? output_rows_reserve(rows, rows->permutation->node_count, piece,
                                     budget_bytes > blocks ? budget_bytes - blocks : 0, err)
               : rc;
}

void output_rows_release(struct output_rows *rows)
{
    output_ranges_free(rows->ranges);
    memory_unmap(rows->memory, rows->memory_bytes);
    memory_free(rows->block);
    memory_free(rows->block_start);
    *rows = (struct output_rows){0};
}

struct read_job {
    struct output_rows *rows;
    struct first_failure failure;
};

/* Places the next row of a block. row[t] points at its bytes of tensor t, or is NULL. */
typedef enum error_code (*row_placer)(struct output_rows *rows, int thread, uint32_t node,
                                      const char *const row[OUTPUT_TENSOR_COUNT],
                                      struct error *err);

static enum error_code place_row(struct output_rows *rows, int thread, uint32_t node,
                                 const char *const row[OUTPUT_TENSOR_COUNT], struct error *err)
{
    (void)thread;
    (void)err;
    for (int t = 0; t < OUTPUT_TENSOR_COUNT; t++)
        if (row[t])
            memcpy(rows->row[t] + node * rows->row_bytes[t], row[t], rows->row_bytes[t]);
    return ERROR_NONE;
}

static enum error_code send_row(struct output_rows *rows, int thread, uint32_t node,
                                const char *const row[OUTPUT_TENSOR_COUNT], struct error *err)
{
    char *to = output_ranges_row(rows->ranges, thread, node);
    for (int t = 0; t < OUTPUT_TENSOR_COUNT; t++)
        if (row[t]) {
            memcpy(to, row[t], rows->row_bytes[t]);
            to += rows->row_bytes[t];
        }
    return output_ranges_add(rows->ranges, thread, node, err);
}

/* Reads a block, the rows of the partition nodes first .. end - 1, and passes each to `place`. */
static enum error_code read_rows(struct output_rows *rows, uint32_t first, uint32_t end, int thread,
                                 row_placer place, struct error *err)
{
    char *room = rows->block + (size_t)thread * rows->block_bytes;
    const char *row[OUTPUT_TENSOR_COUNT] = {NULL};
    enum error_code rc = ERROR_NONE;
    for (int t = 0; rc == ERROR_NONE && t < OUTPUT_TENSOR_COUNT; t++) {
        if (!rows->source[t])
            continue;
        rc = feature_source_read(rows->source[t], first, end, room, err);
        row[t] = room;
        room += (end - first) * rows->row_bytes[t];
    }
    for (uint32_t node = first; rc == ERROR_NONE && node < end; node++) {
        rc = place(rows, thread, rows->permutation->to_dataset[node], row, err);
        for (int t = 0; t < OUTPUT_TENSOR_COUNT; t++)
            row[t] = row[t] ? row[t] + rows->row_bytes[t] : NULL;
    }
    return rc;
}

static void read_block(void *context, int64_t block, int thread)
{
    struct read_job *job = context;
    struct output_rows *rows = job->rows;
    struct error err = {0};
    const enum error_code rc =
        read_rows(rows, rows->block_start[block], rows->block_start[block + 1], thread,
                  rows->ranges ? send_row : place_row, &err);
    first_failure_keep(&job->failure, rc, block, &err);
}

static enum error_code read_all(struct output_rows *rows, struct error *err)
{
    struct read_job job = {.rows = rows};
    first_failure_init(&job.failure);
    thread_pool_run(rows->pool, rows->block_count, read_block, &job);
    return first_failure_end(&job.failure, err);
}

static enum error_code send_all(struct output_rows *rows, struct error *err)
{
    const struct output_ranges_config config = {.folder = rows->folder,
                                                .node_count = rows->permutation->node_count,
                                                .range_nodes = rows->room,
                                                .row_bytes = bytes_of_row(rows),
                                                .pool = rows->pool,
                                                .memory = rows->memory,
                                                .memory_bytes = rows->memory_bytes,
                                                .piece = rows->block,
                                                .piece_bytes = rows->block_bytes};
    enum error_code rc = output_ranges_new(&config, &rows->ranges, err);
    if (rc == ERROR_NONE)
        rc = read_all(rows, err);
    return rc == ERROR_NONE ? output_ranges_end(rows->ranges, err) : rc;
}

static void take_row(void *context, uint32_t node, const char *row)
{
    struct output_rows *rows = context;
    for (int t = 0; t < OUTPUT_TENSOR_COUNT; row += rows->row_bytes[t++])
        memcpy(rows->row[t] + (node - rows->first) * rows->row_bytes[t], row, rows->row_bytes[t]);
}

enum error_code output_rows_read(struct output_rows *rows, uint32_t first, struct error *err)
{
    const uint32_t node_count = rows->permutation->node_count;
    must(first == rows->end && first < node_count);
    rows->first = first;
    rows->end = node_count - first < rows->room ? node_count : first + rows->room;
    if (rows->room == node_count)
        return read_all(rows, err);
    const enum error_code rc = rows->ranges ? ERROR_NONE : send_all(rows, err);
    return rc == ERROR_NONE
               ? output_ranges_read(rows->ranges, first / rows->room, take_row, rows, err)
               : rc;
}
