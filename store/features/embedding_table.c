#include "store/features/embedding_table.h"

#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/math/vector.h"
#include "common/parallel/first_failure.h"
#include "store/features/row_file.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_AT_ONCE = 256, ROWS_AHEAD = 3, VALUES_AHEAD = 8 };

struct embedding_table {
    struct embedding_table_config config;
    size_t row_size; /* floats */
    /* For a table in memory: */
    float *row;          /* [node_count, row_size] */
    uint64_t *is_stored; /* one bit for each node */
    /* one bit for each node: `row` got its initial values, perhaps before it was stored */
    _Atomic uint64_t *has_first;
    /* For a table on disk, in a scratch folder: */
    struct row_file *file;
    char folder[FILE_PATH_SIZE];
    int64_t generation; /* number of the current file in the folder */
};

/* --- opening --- */

/* Returns the floats of a row, rounded up to an even number so that the bits after the rows are
 * aligned. */
static size_t row_size_of(const struct embedding_table_config *config)
{
    const size_t size = config->width * (size_t)(1 + sparse_rule_moments(config->rule)) +
                        sparse_rule_counts_updates(config->rule);
    return size + size % 2;
}

static uint64_t words_of(const struct embedding_table_config *config)
{
    return (uint64_t)config->node_count / 64 + 1;
}

uint64_t embedding_table_resident_bytes(const struct embedding_table_config *config)
{
    return (uint64_t)config->node_count * row_size_of(config) * sizeof(float) +
           2 * words_of(config) * sizeof(uint64_t);
}

static uint64_t resident_bytes(const struct embedding_table *table)
{
    return embedding_table_resident_bytes(&table->config);
}

static enum error_code open_resident(struct embedding_table *table, struct error *err)
{
    const uint64_t bytes = resident_bytes(table);
    table->row = memory_map((size_t)bytes);
    if (!table->row)
        return error_set(err, ERROR_NO_MEMORY,
                         "no memory for the rows of embeddings: %" PRIu64 " bytes", bytes);
    const size_t words = (size_t)words_of(&table->config);
    char *bits = (char *)table->row + (bytes - 2 * words * sizeof(uint64_t));
    table->is_stored = (uint64_t *)(void *)bits;
    table->has_first = (_Atomic uint64_t *)(void *)(bits + words * sizeof(uint64_t));
    return ERROR_NONE;
}

static enum error_code open_file(struct embedding_table *table, struct error *err)
{
    char path[FILE_PATH_SIZE + 32];
    (void)snprintf(path, sizeof path, "%s/rows-%" PRId64, table->folder, table->generation++);
    return row_file_new(path, table->row_size * sizeof(float), table->config.node_count,
                        &table->file, err);
}

enum error_code embedding_table_open(const struct embedding_table_config *config,
                                     struct embedding_table **out, struct error *err)
{
    struct embedding_table *table = NULL;
    *out = NULL;
    enum error_code rc = memory_new(&table, 1, "a table of embeddings", err);
    if (rc != ERROR_NONE)
        return rc;
    table->config = *config;
    table->row_size = row_size_of(config);
    if (resident_bytes(table) <= config->budget_bytes) {
        rc = open_resident(table, err);
    } else {
        rc = store_scratch(config->store, table->folder, err);
        if (rc == ERROR_NONE)
            rc = open_file(table, err);
    }
    if (rc != ERROR_NONE)
        embedding_table_close(table);
    else
        *out = table;
    return rc;
}

void embedding_table_close(struct embedding_table *table)
{
    if (!table)
        return;
    if (table->row)
        memory_unmap(table->row, (size_t)resident_bytes(table));
    row_file_close(table->file);
    if (table->folder[0]) /* else it is swept with the scratch of this process */
        error_ignore(file_remove_all(table->folder, NULL));
    memory_free(table);
}

bool embedding_table_is_resident(const struct embedding_table *table)
{
    return table->row != NULL;
}

uint64_t embedding_table_bytes(const struct embedding_table *table)
{
    return table->row ? resident_bytes(table) : table->config.budget_bytes;
}

size_t embedding_table_row_size(const struct embedding_table *table)
{
    return table->row_size;
}

enum error_code embedding_table_clear(struct embedding_table *table, struct error *err)
{
    if (table->row) {
        memset(table->is_stored, 0, 2 * (size_t)words_of(&table->config) * sizeof(uint64_t));
        return ERROR_NONE;
    }
    row_file_close(table->file);
    table->file = NULL;
    enum error_code rc = file_remove_all(table->folder, err);
    table->folder[0] = '\0';
    if (rc == ERROR_NONE)
        rc = store_scratch(table->config.store, table->folder, err);
    return rc == ERROR_NONE ? open_file(table, err) : rc;
}

/* --- reading --- */

struct read_job {
    const struct embedding_table *table;
    const uint32_t *node;
    size_t count, stride;
    float *out;
    struct first_failure failure;
};

static bool is_stored(const struct embedding_table *table, uint32_t node)
{
    return table->is_stored[node / 64] >> (node % 64) & 1;
}

/* Writes the initial values of a row that was never stored, and zeros for the rest. */
static void first_row(const struct embedding_table *table, uint32_t node, size_t size, float *out)
{
    const size_t width = table->config.width;
    sparse_first_values(table->config.seed, table->config.type, node, width, out);
    if (size > width)
        memset(out + width, 0, (size - width) * sizeof *out);
}

static void read_resident(const struct read_job *job, size_t at, size_t end)
{
    const struct embedding_table *table = job->table;
    const size_t width = table->config.width;
    for (size_t i = at; i < end; i++) {
        const uint32_t node = job->node[i];
        float *out = job->out + i * job->stride;
        if (end - i > VALUES_AHEAD)
            vector_prefetch(table->row + (size_t)job->node[i + VALUES_AHEAD] * table->row_size,
                            width * sizeof *out);
        if (is_stored(table, node))
            memcpy(out, table->row + (size_t)node * table->row_size, width * sizeof *out);
        else
            first_row(table, node, width, out);
    }
}

/* Copies only the values of the rows, not the optimizer state, to their destinations. */
static enum error_code read_stored(const struct read_job *job, size_t at, size_t end,
                                   struct error *err)
{
    const struct embedding_table *table = job->table;
    const size_t row_bytes = table->row_size * sizeof(float), width = table->config.width;
    bool found[ROWS_AT_ONCE];
    char *room = memory_alloc(end - at, row_bytes);
    if (!room)
        return error_set(err, ERROR_NO_MEMORY, "no memory for rows of embeddings");
    const enum error_code rc =
        row_file_get(table->file, job->node + at, end - at, room, row_bytes, found, err);
    for (size_t i = at; rc == ERROR_NONE && i < end; i++) {
        float *out = job->out + i * job->stride;
        if (found[i - at])
            memcpy(out, room + (i - at) * row_bytes, width * sizeof *out);
        else
            first_row(table, job->node[i], width, out);
    }
    memory_free(room);
    return rc;
}

static void read_tile(void *context, int64_t tile, int thread)
{
    struct read_job *job = context;
    struct error error = {0};
    const size_t at = (size_t)tile * ROWS_AT_ONCE;
    const size_t end = job->count - at < ROWS_AT_ONCE ? job->count : at + ROWS_AT_ONCE;
    (void)thread;
    if (job->table->row)
        read_resident(job, at, end);
    else
        first_failure_keep(&job->failure, read_stored(job, at, end, &error), tile, &error);
}

enum error_code embedding_table_values(const struct embedding_table *table, const uint32_t *node,
                                       size_t count, float *out, size_t stride,
                                       struct thread_pool *pool, struct error *err)
{
    struct read_job job = {.table = table, .node = node, .count = count, .stride = stride};
    job.out = out;
    first_failure_init(&job.failure);
    thread_pool_run(pool, (int64_t)((count + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE), read_tile, &job);
    return first_failure_end(&job.failure, err);
}

/* Writes the initial values of rows that were neither stored nor initialised. Threads may share a
 * node, so the one that sets its bit writes the row. */
static void give_first_values(void *context, int64_t tile, int thread)
{
    const struct read_job *job = context;
    const struct embedding_table *table = job->table;
    const size_t at = (size_t)tile * ROWS_AT_ONCE;
    const size_t end = job->count - at < ROWS_AT_ONCE ? job->count : at + ROWS_AT_ONCE;
    (void)thread;
    for (size_t i = at; i < end; i++) {
        const uint32_t node = job->node[i];
        const uint64_t bit = (uint64_t)1 << (node % 64);
        if (!is_stored(table, node) && !(atomic_load(&table->has_first[node / 64]) & bit) &&
            !(atomic_fetch_or(&table->has_first[node / 64], bit) & bit))
            first_row(table, node, table->config.width,
                      table->row + (size_t)node * table->row_size);
    }
}

const float *embedding_table_rows(struct embedding_table *table, const uint32_t *node, size_t count,
                                  size_t *stride, struct thread_pool *pool)
{
    struct read_job job = {.table = table, .node = node, .count = count};
    *stride = table->row_size;
    if (table->row)
        thread_pool_run(pool, (int64_t)((count + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE),
                        give_first_values, &job);
    return table->row;
}

/* --- writing --- */

static enum error_code check_rows(const struct embedding_table *table,
                                  const struct embedding_rows *rows, struct error *err)
{
    const int moments = sparse_rule_moments(table->config.rule);
    if (rows->width != table->config.width)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: rows of %" PRIu32 " values, expected %" PRIu32, rows->view.key,
                         rows->width, table->config.width);
    if (rows->count && rows->node[rows->count - 1] >= table->config.node_count)
        return error_set(err, ERROR_CORRUPT, "record %s: node %" PRIu32 ", expected below %" PRIu32,
                         rows->view.key, rows->node[rows->count - 1], table->config.node_count);
    if ((moments >= 1 && !rows->first) || (moments == 2 && !rows->second) ||
        (sparse_rule_counts_updates(table->config.rule) && !rows->updates))
        return error_set(err, ERROR_CORRUPT,
                         "record %s lacks the optimizer state of aggregate.embedding_optimizer",
                         rows->view.key);
    return ERROR_NONE;
}

/* Converts row `i` of the record to the form of the table. */
static void row_of_record(const struct embedding_table *table, const struct embedding_rows *rows,
                          uint64_t i, float *out)
{
    const size_t width = table->config.width;
    const int moments = sparse_rule_moments(table->config.rule);
    memset(out, 0, table->row_size * sizeof *out);
    memcpy(out, rows->value + i * width, width * sizeof *out);
    if (moments >= 1)
        memcpy(out + width, rows->first + i * width, width * sizeof *out);
    if (moments == 2)
        memcpy(out + 2 * width, rows->second + i * width, width * sizeof *out);
    if (sparse_rule_counts_updates(table->config.rule))
        memcpy(out + (size_t)(1 + moments) * width, &rows->updates[i], sizeof *out);
}

static enum error_code apply_stored(struct embedding_table *table,
                                    const struct embedding_rows *rows, struct error *err)
{
    float *room = memory_alloc(ROWS_AT_ONCE, table->row_size * sizeof *room);
    enum error_code rc = ERROR_NONE;
    if (!room)
        return error_set(err, ERROR_NO_MEMORY, "no memory for rows of embeddings");
    for (uint64_t at = 0, n = 0; at < rows->count && rc == ERROR_NONE; at += n) {
        n = rows->count - at < ROWS_AT_ONCE ? rows->count - at : ROWS_AT_ONCE;
        for (uint64_t i = 0; i < n; i++)
            row_of_record(table, rows, at + i, room + i * table->row_size);
        rc = row_file_put(table->file, rows->node + at, n, (const char *)room, err);
    }
    memory_free(room);
    if (rc == ERROR_NONE)
        row_file_mark(table->file, rows->node, rows->count);
    return rc;
}

static void mark_resident(struct embedding_table *table, const uint32_t *node, size_t count)
{
    for (size_t i = 0; i < count; i++)
        table->is_stored[node[i] / 64] |= (uint64_t)1 << (node[i] % 64);
}

struct apply_job {
    struct embedding_table *table;
    const struct embedding_rows *rows;
};

static void apply_tile(void *context, int64_t tile, int thread)
{
    const struct apply_job *job = context;
    const struct embedding_table *table = job->table;
    const uint64_t at = (uint64_t)tile * ROWS_AT_ONCE, left = job->rows->count - at;
    (void)thread;
    for (uint64_t i = at; i < at + (left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE); i++)
        row_of_record(table, job->rows, i,
                      table->row + (size_t)job->rows->node[i] * table->row_size);
}

enum error_code embedding_table_apply(struct embedding_table *table,
                                      const struct embedding_rows *rows, struct error *err)
{
    const enum error_code rc = check_rows(table, rows, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!table->row)
        return apply_stored(table, rows, err);
    struct apply_job job = {table, rows};
    thread_pool_run(table->config.pool, (int64_t)((rows->count + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE),
                    apply_tile, &job);
    mark_resident(table, rows->node, rows->count);
    return ERROR_NONE;
}

/* --- changing what is there --- */

struct change_job {
    const struct embedding_table *table;
    const uint32_t *node;
    size_t count;
    const struct embedding_change *change;
    struct first_failure failure;
};

/* Changes the rows of a tile. Rows that were never stored first get their initial values. */
static enum error_code change_resident(const struct change_job *job, size_t at, size_t end,
                                       int thread, struct error *err)
{
    const struct embedding_table *table = job->table;
    const size_t size = table->row_size;
    enum error_code rc = ERROR_NONE;
    for (size_t i = at; rc == ERROR_NONE && i < end; i++) {
        float *row = table->row + (size_t)job->node[i] * size;
        if (end - i > ROWS_AHEAD)
            vector_prefetch(table->row + (size_t)job->node[i + ROWS_AHEAD] * size,
                            size * sizeof *row);
        if (!is_stored(table, job->node[i]))
            first_row(table, job->node[i], size, row);
        rc = job->change->row(job->change->context, i, row, thread, err);
    }
    return rc;
}

static enum error_code change_stored(const struct change_job *job, size_t at, size_t end,
                                     int thread, struct error *err)
{
    const struct embedding_table *table = job->table;
    const size_t size = table->row_size, row_bytes = size * sizeof(float);
    bool found[ROWS_AT_ONCE];
    float *room = memory_alloc(end - at, row_bytes);
    if (!room)
        return error_set(err, ERROR_NO_MEMORY, "no memory for rows of embeddings");
    enum error_code rc =
        row_file_get(table->file, job->node + at, end - at, (char *)room, row_bytes, found, err);
    for (size_t i = at; rc == ERROR_NONE && i < end; i++) {
        float *row = room + (i - at) * size;
        if (!found[i - at])
            first_row(table, job->node[i], size, row);
        rc = job->change->row(job->change->context, i, row, thread, err);
    }
    if (rc == ERROR_NONE)
        rc = row_file_put(table->file, job->node + at, end - at, (const char *)room, err);
    memory_free(room);
    return rc;
}

static void change_tile(void *context, int64_t tile, int thread)
{
    struct change_job *job = context;
    struct error error = {0};
    const size_t at = (size_t)tile * ROWS_AT_ONCE;
    const size_t end = job->count - at < ROWS_AT_ONCE ? job->count : at + ROWS_AT_ONCE;
    const enum error_code rc =
        (job->table->row ? change_resident : change_stored)(job, at, end, thread, &error);
    first_failure_keep(&job->failure, rc, tile, &error);
}

enum error_code embedding_table_change(struct embedding_table *table, const uint32_t *node,
                                       size_t count, const struct embedding_change *change,
                                       struct error *err)
{
    struct change_job job = {.table = table, .node = node, .count = count, .change = change};
    first_failure_init(&job.failure);
    thread_pool_run(table->config.pool, (int64_t)((count + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE),
                    change_tile, &job);
    const enum error_code rc = first_failure_end(&job.failure, err);
    if (rc == ERROR_NONE && table->row)
        mark_resident(table, node, count);
    else if (rc == ERROR_NONE)
        row_file_mark(table->file, node, count);
    return rc;
}

/* --- stored rows --- */

struct scan {
    embedding_visitor visit;
    void *context;
    float *row; /* aligned */
    size_t bytes;
};

static enum error_code visit_row(void *context, uint32_t id, const char *row, struct error *err)
{
    const struct scan *scan = context;
    memcpy(scan->row, row, scan->bytes);
    return scan->visit(scan->context, id, scan->row, err);
}

static enum error_code scan_stored(const struct embedding_table *table, uint32_t first,
                                   uint32_t end, embedding_visitor visit, void *context,
                                   struct error *err)
{
    struct scan scan = {
        .visit = visit, .context = context, .bytes = table->row_size * sizeof(float)};
    enum error_code rc = memory_new(&scan.row, table->row_size, "a row of embeddings", err);
    if (rc == ERROR_NONE)
        rc = row_file_scan(table->file, first, end, visit_row, &scan, err);
    memory_free(scan.row);
    return rc;
}

enum error_code embedding_table_scan(const struct embedding_table *table, uint32_t first,
                                     uint32_t end, embedding_visitor visit, void *context,
                                     struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (!table->row)
        return scan_stored(table, first, end, visit, context, err);
    for (uint32_t node = first; node < end && rc == ERROR_NONE; node++)
        if (is_stored(table, node))
            rc = visit(context, node, table->row + (size_t)node * table->row_size, err);
    return rc;
}
