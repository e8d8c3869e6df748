#include "stages/train-step/embedding_input.h"

#include "common/base/key_sort.h"
#include "stages/plan/run_model.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { BUDGET_SHARE = 4, TILE_ROWS_COPIED = 512 };

static uint64_t all_rows_bytes(const struct stage_context *context)
{
    const uint64_t nodes = context->book->node_count;
    const uint64_t width = (uint64_t)context->settings->train_step.embedding;
    return nodes * (width + width % 2) * sizeof(float) + nodes / 8 + 64;
}

uint64_t embedding_input_budget(const struct stage_context *context)
{
    const uint64_t share = context->memory_bytes / BUDGET_SHARE, all = all_rows_bytes(context);
    if (context->settings->train_step.embedding == 0)
        return 0;
    return all < share ? all : share;
}

enum error_code embedding_input_open(const struct stage_context *context,
                                     struct embedding_input *out, struct error *err)
{
    const struct pipeline_settings *settings = context->settings;
    *out = (struct embedding_input){0};
    if (settings->train_step.embedding == 0)
        return ERROR_NONE;
    const struct embedding_table_config table = {.store = context->store,
                                                 .node_count = context->book->node_count,
                                                 .width = (uint32_t)settings->train_step.embedding,
                                                 .rule = SPARSE_SGD, /* values alone */
                                                 .seed = context->schedule->seed,
                                                 .budget_bytes = embedding_input_budget(context)};
    out->feature_dim = run_model_feature_dim(settings, context->book);
    out->width = table.width;
    return embedding_state_open(&table, context->schedule, context->run_id, &out->state, err);
}

void embedding_input_close(struct embedding_input *input)
{
    embedding_state_close(&input->state);
    *input = (struct embedding_input){0};
}

/* --- forward --- */

struct copy_job {
    const struct input_rows *rows;
    size_t dim, stride;
    uint32_t count;
    float *out;
};

static void copy_tile(void *context, int64_t tile, int thread)
{
    const struct copy_job *job = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS_COPIED);
    const uint32_t end =
        job->count - first < TILE_ROWS_COPIED ? job->count : first + TILE_ROWS_COPIED;
    (void)thread;
    for (uint32_t i = first; i < end; i++) {
        const size_t row = job->rows->row_index ? job->rows->row_index[i] : i;
        memcpy(job->out + i * job->stride, (const float *)job->rows->base + row * job->rows->stride,
               job->dim * sizeof *job->out);
    }
}

enum error_code embedding_input_join(const struct stage_context *context,
                                     struct embedding_input *input, int64_t version,
                                     const uint32_t *node, uint32_t count, struct arena *arena,
                                     struct input_rows *rows, struct error *err)
{
    const size_t dim = input->feature_dim + (size_t)input->width;
    float *joined = NULL;
    enum error_code rc = embedding_state_advance_all(&input->state, version, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &joined, count * dim, "input rows", err);
    if (rc != ERROR_NONE)
        return rc;
    struct copy_job job = {rows, input->feature_dim, dim, count, joined};
    if (input->feature_dim)
        thread_pool_run(context->pool, (count + TILE_ROWS_COPIED - 1) / TILE_ROWS_COPIED, copy_tile,
                        &job);
    rc = embedding_table_values(input->state.table, node, count, joined + input->feature_dim, dim,
                                context->pool, err);
    *rows = (struct input_rows){.base = joined, .stride = dim};
    return rc;
}

/* --- backward --- */

struct gather_job {
    const uint64_t *key;   /* [entries]: node << 32 | place */
    const uint64_t *start; /* [count + 1]: of row i, the first key */
    const float *from;
    size_t from_stride, width;
    uint32_t count;
    float *out;
};

/* A node that stands at several places, as in the subgraphs of a shadow batch, has the sum over them, in their order. */
static void gather_tile(void *context, int64_t tile, int thread)
{
    const struct gather_job *job = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS_COPIED);
    const uint32_t end =
        job->count - first < TILE_ROWS_COPIED ? job->count : first + TILE_ROWS_COPIED;
    (void)thread;
    for (uint32_t i = first; i < end; i++) {
        float *out = job->out + i * job->width;
        memcpy(out, job->from + (uint32_t)job->key[job->start[i]] * job->from_stride,
               job->width * sizeof *out);
        for (uint64_t e = job->start[i] + 1; e < job->start[i + 1]; e++) {
            const float *row = job->from + (uint32_t)job->key[e] * job->from_stride;
            for (size_t c = 0; c < job->width; c++)
                out[c] += row[c];
        }
    }
}

/* Distinct nodes of sorted keys [count] into node, and where each begins; how many there are. */
static uint32_t group(const uint64_t *key, uint32_t count, uint32_t *node, uint64_t *start)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t of_key = (uint32_t)(key[i] >> 32);
        if (i > 0 && node[rows - 1] == of_key)
            continue;
        start[rows] = i;
        node[rows++] = of_key;
    }
    start[rows] = count;
    return rows;
}

/* What the two functions take. */
static enum error_code new_gradient(uint32_t width, uint32_t count, struct arena *arena,
                                    uint64_t **key, uint64_t **scratch, uint32_t **node,
                                    float **row, struct error *err)
{
    static const char what[] = "the gradient of embeddings";
    enum error_code rc = arena_new(arena, key, count, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, scratch, (size_t)count + 1, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, node, count, what, err);
    return rc == ERROR_NONE ? arena_new(arena, row, count * (size_t)width, what, err) : rc;
}

static enum error_code check_finite(const struct gradient *g, struct error *err)
{
    for (uint64_t i = 0; i < g->row_count * g->row_width; i++)
        if (!isfinite(g->row_gradient[i]))
            return error_set(err, ERROR_INPUT,
                             "the gradient of the embedding of partition node %" PRIu32 " is %g",
                             g->row_node[i / g->row_width], (double)g->row_gradient[i]);
    return ERROR_NONE;
}

enum error_code embedding_input_gradient(const struct stage_context *context,
                                         const struct embedding_input *input, const uint32_t *node,
                                         uint32_t count, const float *input_gradient,
                                         struct arena *arena, struct gradient *out,
                                         struct error *err)
{
    uint64_t *key = NULL, *scratch = NULL;
    uint32_t *sorted = NULL;
    float *row = NULL;
    const enum error_code rc =
        new_gradient(input->width, count, arena, &key, &scratch, &sorted, &row, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t i = 0; i < count; i++)
        key[i] = (uint64_t)node[i] << 32 | i;
    key_sort(key, scratch, count);
    const uint32_t row_count = group(key, count, sorted, scratch);
    struct gather_job job = {.key = key,
                             .start = scratch,
                             .from = input_gradient + input->feature_dim,
                             .from_stride = input->feature_dim + (size_t)input->width,
                             .width = input->width,
                             .count = row_count,
                             .out = row};
    thread_pool_run(context->pool, (row_count + TILE_ROWS_COPIED - 1) / TILE_ROWS_COPIED,
                    gather_tile, &job);
    out->row_count = row_count;
    out->row_width = input->width;
    out->row_node = sorted;
    out->row_gradient = row;
    return check_finite(out, err);
}

enum error_code embedding_input_count(uint32_t input_dim, uint32_t width, uint32_t count,
                                      bool trains, struct arena *arena, struct error *err)
{
    uint64_t *key = NULL, *scratch = NULL;
    uint32_t *node = NULL;
    float *row = NULL;
    const enum error_code rc = arena_new(arena, &row, count * (size_t)input_dim, "input rows", err);
    return rc == ERROR_NONE && trains
               ? new_gradient(width, count, arena, &key, &scratch, &node, &row, err)
               : rc;
}
