#include "stages/infer/outputs/output_ranges.h"

#include "common/base/memory.h"
#include "common/files/checksum.h"
#include "common/files/file.h"
#include "common/parallel/first_failure.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Each row begins with the hash of the rest, and its node. */
enum { HEAD_BYTES = sizeof(uint64_t) + sizeof(uint32_t) };

struct output_ranges {
    struct output_ranges_config config;
    uint32_t range_count;
    size_t record_bytes;
    /* Buffers: [threads, buffer_count, capacity] records. There is one for each range or, if
     * memory is short, one of a single record for all ranges, which is written at once. */
    char *buffer, *own; /* `own`: allocated here */
    uint32_t buffer_count;
    size_t capacity;
    uint32_t *filled;       /* [threads, buffer_count]: records in each buffer */
    atomic_uint *written;   /* [range_count]: records of each range in the file */
    uint32_t piece_records; /* records in config.piece */
    int fd_plus_one;
    char path[FILE_PATH_SIZE];
    /* The range that is being read. */
    uint32_t range;
    output_ranges_taker take;
    void *take_context;
    struct first_failure failure;
};

size_t output_ranges_piece_least(size_t row_bytes)
{
    return HEAD_BYTES + row_bytes;
}

static size_t thread_count(const struct output_ranges *r)
{
    return (size_t)thread_pool_size(r->config.pool);
}

static enum error_code find_buffers(struct output_ranges *r, struct error *err)
{
    const size_t all = r->config.memory_bytes / r->record_bytes;
    r->capacity = all / thread_count(r) / r->range_count;
    r->buffer_count = r->capacity ? r->range_count : 1;
    r->capacity = r->capacity ? r->capacity : 1;
    r->buffer = r->config.memory;
    if (all >= thread_count(r))
        return ERROR_NONE;
    const enum error_code rc =
        memory_new(&r->own, thread_count(r) * r->record_bytes, "rows of the outputs", err);
    r->buffer = r->own;
    return rc;
}

static enum error_code allocate(struct output_ranges *r, struct error *err)
{
    enum error_code rc = find_buffers(r, err);
    if (rc == ERROR_NONE)
        rc =
            memory_new(&r->filled, thread_count(r) * r->buffer_count, "ranges of the outputs", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&r->written, r->range_count, "ranges of the outputs", err);
    return rc;
}

static enum error_code create(struct output_ranges *r, struct error *err)
{
    char wanted[FILE_PATH_SIZE];
    int fd = -1;
    enum error_code rc = file_path(wanted, err, "%s/rows", r->config.folder);
    if (rc == ERROR_NONE)
        rc = file_create_temporary(wanted, r->path, &fd, err);
    if (rc != ERROR_NONE)
        return rc;
    r->fd_plus_one = fd + 1;
    return unlink(r->path) == 0 ? ERROR_NONE
                                : error_set_errno(err, ERROR_IO, "%s cannot be removed", r->path);
}

enum error_code output_ranges_new(const struct output_ranges_config *config,
                                  struct output_ranges **out, struct error *err)
{
    struct output_ranges *r = NULL;
    enum error_code rc = memory_new(&r, 1, "ranges of the outputs", err);
    if (rc != ERROR_NONE)
        return rc;
    r->config = *config;
    r->record_bytes = output_ranges_piece_least(config->row_bytes);
    r->piece_records = (uint32_t)(config->piece_bytes / r->record_bytes);
    must(r->piece_records > 0);
    r->range_count = (config->node_count - 1) / config->range_nodes + 1;
    rc = allocate(r, err);
    if (rc == ERROR_NONE)
        rc = create(r, err);
    if (rc != ERROR_NONE) {
        output_ranges_free(r);
        return rc;
    }
    *out = r;
    return ERROR_NONE;
}

void output_ranges_free(struct output_ranges *ranges)
{
    if (!ranges)
        return;
    if (ranges->fd_plus_one)
        (void)close(ranges->fd_plus_one - 1);
    memory_free(ranges->own);
    memory_free(ranges->filled);
    memory_free(ranges->written);
    memory_free(ranges);
}

/* --- writing --- */

static size_t buffer_of(const struct output_ranges *r, int thread, uint32_t range)
{
    return (size_t)thread * r->buffer_count + (r->buffer_count > 1 ? range : 0);
}

static char *record_of(const struct output_ranges *r, size_t buffer)
{
    return r->buffer + (buffer * r->capacity + r->filled[buffer]) * r->record_bytes;
}

static enum error_code flush(struct output_ranges *r, size_t buffer, uint32_t range,
                             struct error *err)
{
    const uint32_t count = r->filled[buffer];
    const uint64_t at =
        (uint64_t)range * r->config.range_nodes + atomic_fetch_add(&r->written[range], count);
    r->filled[buffer] = 0;
    return file_write_at(r->fd_plus_one - 1, r->buffer + buffer * r->capacity * r->record_bytes,
                         count * r->record_bytes, at * r->record_bytes, r->path, err);
}

char *output_ranges_row(struct output_ranges *ranges, int thread, uint32_t node)
{
    must(node < ranges->config.node_count);
    return record_of(ranges, buffer_of(ranges, thread, node / ranges->config.range_nodes)) +
           HEAD_BYTES;
}

static uint64_t sum_of(const struct output_ranges *r, const char *record)
{
    return checksum_64(record + sizeof(uint64_t), r->record_bytes - sizeof(uint64_t));
}

enum error_code output_ranges_add(struct output_ranges *ranges, int thread, uint32_t node,
                                  struct error *err)
{
    const uint32_t range = node / ranges->config.range_nodes;
    const size_t buffer = buffer_of(ranges, thread, range);
    char *record = record_of(ranges, buffer);
    memcpy(record + sizeof(uint64_t), &node, sizeof node);
    const uint64_t sum = sum_of(ranges, record);
    memcpy(record, &sum, sizeof sum);
    return ++ranges->filled[buffer] == ranges->capacity ? flush(ranges, buffer, range, err)
                                                        : ERROR_NONE;
}

static void flush_buffer(void *context, int64_t buffer, int thread)
{
    struct output_ranges *r = context;
    struct error err = {0};
    (void)thread;
    const enum error_code rc =
        r->filled[buffer] ? flush(r, (size_t)buffer, (uint32_t)(buffer % r->range_count), &err)
                          : ERROR_NONE;
    first_failure_keep(&r->failure, rc, buffer, &err);
}

static enum error_code run(struct output_ranges *r, int64_t count, thread_pool_body body,
                           struct error *err)
{
    first_failure_init(&r->failure);
    thread_pool_run(r->config.pool, count, body, r);
    return first_failure_end(&r->failure, err);
}

enum error_code output_ranges_end(struct output_ranges *ranges, struct error *err)
{
    return run(ranges, (int64_t)(thread_count(ranges) * ranges->buffer_count), flush_buffer, err);
}

/* --- reading --- */

static uint32_t nodes_of(const struct output_ranges *r, uint32_t range)
{
    const uint32_t left = r->config.node_count - range * r->config.range_nodes;
    return left < r->config.range_nodes ? left : r->config.range_nodes;
}

static enum error_code take_record(const struct output_ranges *r, const char *record,
                                   struct error *err)
{
    uint64_t sum = 0;
    uint32_t node = 0;
    memcpy(&sum, record, sizeof sum);
    memcpy(&node, record + sizeof sum, sizeof node);
    if (sum != sum_of(r, record) || node / r->config.range_nodes != r->range)
        return error_set(err, ERROR_CORRUPT, "%s: a row is not what was written there", r->path);
    r->take(r->take_context, node, record + HEAD_BYTES);
    return ERROR_NONE;
}

static void read_piece(void *context, int64_t piece, int thread)
{
    struct output_ranges *r = context;
    struct error err = {0};
    const uint32_t first = (uint32_t)piece * r->piece_records;
    const uint32_t left = nodes_of(r, r->range) - first;
    const uint32_t count = left < r->piece_records ? left : r->piece_records;
    const uint64_t at = (uint64_t)r->range * r->config.range_nodes + first;
    char *records = r->config.piece + (size_t)thread * r->config.piece_bytes;
    enum error_code rc = file_read_at(r->fd_plus_one - 1, records, count * r->record_bytes,
                                      at * r->record_bytes, r->path, &err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        rc = take_record(r, records + i * r->record_bytes, &err);
    first_failure_keep(&r->failure, rc, piece, &err);
}

enum error_code output_ranges_read(struct output_ranges *ranges, uint32_t range,
                                   output_ranges_taker take, void *context, struct error *err)
{
    struct output_ranges *r = ranges;
    const uint32_t count = nodes_of(r, range);
    must(atomic_load(&r->written[range]) == count);
    r->range = range;
    r->take = take;
    r->take_context = context;
    return run(r, ((int64_t)count - 1) / r->piece_records + 1, read_piece, err);
}
