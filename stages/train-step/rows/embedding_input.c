#include "stages/train-step/rows/embedding_input.h"

#include "common/math/vector.h"
#include "common/numbers/cpu_kernel.h"
#include "common/numbers/key_sort.h"
#include "store/records/parameter_values.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

enum { BUDGET_SHARE = 2, TILE_ROWS_COPIED = 512, ROWS_AHEAD = 8 };

static enum sparse_rule rule_of(const struct stage_context *context)
{
    return (enum sparse_rule)context->settings->aggregate.embedding_optimizer;
}

uint64_t embedding_input_budget(const struct stage_context *context)
{
    const uint64_t share = context->memory_bytes / BUDGET_SHARE;
    const uint64_t all =
        embedding_state_bytes(&context->schedule->embeddings, context->book, rule_of(context));
    return all < share ? all : share;
}

enum error_code embedding_input_open(const struct stage_context *context,
                                     struct embedding_input *out, struct error *err)
{
    const struct embedding_tensors *tensors = &context->schedule->embeddings;
    *out = (struct embedding_input){0};
    if (tensors->count == 0)
        return ERROR_NONE;
    const struct embedding_state_config state = {.store = context->store,
                                                 .run_id = context->run_id,
                                                 .schedule = context->schedule,
                                                 .book = context->book,
                                                 .pool = context->pool,
                                                 .rule = rule_of(context),
                                                 .budget_bytes = embedding_input_budget(context)};
    for (int i = 0; i < tensors->count; i++)
        out->width += tensors->tensor[i].width;
    return embedding_state_open(&state, &out->state, err);
}

void embedding_input_close(struct embedding_input *input)
{
    embedding_state_close(&input->state);
    *input = (struct embedding_input){0};
}

uint32_t embedding_input_width(const struct stage_context *context, uint32_t type)
{
    const struct embedding_tensor *tensor =
        embedding_tensor_of(&context->schedule->embeddings, type);
    return tensor ? tensor->width : 0;
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
                                     const struct embedding_input *input,
                                     const struct embedding_nodes *nodes, struct arena *arena,
                                     struct input_rows *rows, struct error *err)
{
    const struct embedding_tensors *tensors = &context->schedule->embeddings;
    const struct embedding_tensor *tensor = embedding_tensor_of(tensors, nodes->type);
    struct embedding_table *table = input->state.table[tensor - tensors->tensor];
    const size_t dim = nodes->feature_dim + (size_t)tensor->width;
    const uint32_t count = nodes->count;
    float *joined = NULL;
    if (nodes->feature_dim == 0 && embedding_table_is_resident(table)) {
        *rows = (struct input_rows){.row_index = nodes->node};
        rows->base = embedding_table_rows(table, nodes->node, count, &rows->stride, context->pool);
        return ERROR_NONE;
    }
    const enum error_code rc = arena_new(arena, &joined, count * dim, "input rows", err);
    if (rc != ERROR_NONE)
        return rc;
    struct copy_job job = {rows, nodes->feature_dim, dim, count, joined};
    if (nodes->feature_dim)
        thread_pool_run(context->pool, (count + TILE_ROWS_COPIED - 1) / TILE_ROWS_COPIED, copy_tile,
                        &job);
    *rows = (struct input_rows){.base = joined, .stride = dim};
    return embedding_table_values(table, nodes->node, count, joined + nodes->feature_dim, dim,
                                  context->pool, err);
}

/* --- backward --- */

struct gather_job {
    const uint64_t *key;   /* [entries]: node << 32 | place */
    const uint64_t *start; /* [count + 1]: first key of row i */
    const float *from;
    size_t from_stride, width;
    uint32_t count;
    float *out;
    atomic_bool has_bad; /* a number is not finite */
};

CPU_INLINE const float *row_at(const struct gather_job *job, uint64_t entry)
{
    return job->from + (uint32_t)job->key[entry] * job->from_stride;
}

/* Adds up the rows of a node that stands at several places, as in a disjoint batch, in the order
 * of the places. */
static void gather_tile(void *context, int64_t tile, int thread)
{
    struct gather_job *job = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS_COPIED);
    const uint32_t end =
        job->count - first < TILE_ROWS_COPIED ? job->count : first + TILE_ROWS_COPIED;
    (void)thread;
    for (uint32_t i = first; i < end; i++) {
        float *out = job->out + i * job->width;
        if (end - i > ROWS_AHEAD)
            vector_prefetch(row_at(job, job->start[i + ROWS_AHEAD]), job->width * sizeof *out);
        memcpy(out, row_at(job, job->start[i]), job->width * sizeof *out);
        for (uint64_t e = job->start[i] + 1; e < job->start[i + 1]; e++) {
            const float *row = row_at(job, e);
            for (size_t c = 0; c < job->width; c++)
                out[c] += row[c];
        }
    }
    const size_t values = (end - first) * job->width;
    if (parameter_values_first_bad(job->out + first * job->width, values) < values)
        atomic_store(&job->has_bad, true);
}

/* The memory for a gradient. The arrays of all types lie one after the other. */
struct gradient_room {
    uint64_t *key, *scratch; /* for one type at a time */
    uint32_t *node;
    float *row;
};

/* Writes the keys node << 32 | place of distinct nodes, ascending. Marks each node in a bit set
 * and counts the bits below it, which is faster than a sort. Returns false if a node stands
 * twice, or if the set would have more words than there are nodes. scratch [count], before
 * [count]. */
static bool order_by_bits(const uint32_t *node, uint32_t count, uint64_t *key, uint64_t *scratch,
                          uint32_t *before)
{
    uint32_t last = 0, marked = 0;
    for (uint32_t i = 0; i < count; i++)
        last = node[i] > last ? node[i] : last;
    const uint32_t words = last / 64 + 1;
    if (words > count)
        return false;
    memset(scratch, 0, words * sizeof *scratch);
    for (uint32_t i = 0; i < count; i++)
        scratch[node[i] / 64] |= (uint64_t)1 << (node[i] % 64);
    for (uint32_t w = 0; w < words; w++) {
        before[w] = marked;
        marked += (uint32_t)__builtin_popcountll(scratch[w]);
    }
    for (uint32_t i = 0; i < count && marked == count; i++) {
        const uint64_t lower = ((uint64_t)1 << (node[i] % 64)) - 1;
        const uint32_t at =
            before[node[i] / 64] + (uint32_t)__builtin_popcountll(scratch[node[i] / 64] & lower);
        key[at] = (uint64_t)node[i] << 32 | i;
    }
    return marked == count;
}

/* Writes the same keys for any nodes. The places of a node that stands several times are in
 * ascending order. */
static void order_nodes(const struct embedding_nodes *nodes, const struct gradient_room *room)
{
    if (order_by_bits(nodes->node, nodes->count, room->key, room->scratch, room->node))
        return;
    for (uint32_t i = 0; i < nodes->count; i++)
        room->key[i] = (uint64_t)nodes->node[i] << 32 | i;
    key_sort(room->key, room->scratch, nodes->count);
}

/* Writes the distinct nodes of the sorted keys [count] to node, and the first key of each to
 * start. Returns their number. */
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

/* Allocates for `count` nodes in all, at most `most` of one type, and `values` numbers in all. */
static enum error_code new_gradient(size_t count, size_t most, size_t values, struct arena *arena,
                                    struct arena *kept, struct gradient_room *out,
                                    struct error *err)
{
    static const char what[] = "the gradient of embeddings";
    enum error_code rc = arena_new(arena, &out->key, most, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &out->scratch, most + 1, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(kept, &out->node, count, what, err);
    return rc == ERROR_NONE ? arena_new(kept, &out->row, values, what, err) : rc;
}

static enum error_code tell_bad(const struct stage_context *context,
                                const struct gradient_rows *rows, struct error *err)
{
    const struct partition_book *book = context->book;
    must(rows->width > 0);
    const size_t bad = parameter_values_first_bad(rows->gradient, rows->count * rows->width);
    return error_set(err, ERROR_INPUT, "the gradient of the embedding of %s node %" PRIu32 " is %g",
                     book->type_name ? book->type_name[rows->type] : "partition",
                     rows->node[bad / rows->width], (double)rows->gradient[bad]);
}

/* Gathers the gradient of the nodes of one type into the room. */
static enum error_code gather_type(const struct stage_context *context,
                                   const struct embedding_nodes *nodes, uint32_t width,
                                   const struct gradient_room *room, struct gradient_rows *out,
                                   struct error *err)
{
    order_nodes(nodes, room);
    const uint32_t row_count = group(room->key, nodes->count, room->node, room->scratch);
    struct gather_job job = {.key = room->key,
                             .start = room->scratch,
                             .from = nodes->input_gradient + nodes->feature_dim,
                             .from_stride = nodes->feature_dim + (size_t)width,
                             .width = width,
                             .count = row_count,
                             .out = room->row};
    thread_pool_run(context->pool, (row_count + TILE_ROWS_COPIED - 1) / TILE_ROWS_COPIED,
                    gather_tile, &job);
    *out = (struct gradient_rows){.type = nodes->type,
                                  .width = width,
                                  .count = row_count,
                                  .node = room->node,
                                  .gradient = room->row};
    return atomic_load(&job.has_bad) ? tell_bad(context, out, err) : ERROR_NONE;
}

enum error_code embedding_input_gradient(const struct stage_context *context,
                                         const struct embedding_nodes *nodes, int type_count,
                                         struct arena *arena, struct arena *kept,
                                         struct gradient *out, struct error *err)
{
    struct gradient_room room = {0};
    size_t count = 0, most = 0, values = 0;
    for (int t = 0; t < type_count; t++) {
        count += nodes[t].count;
        most = nodes[t].count > most ? nodes[t].count : most;
        values += nodes[t].count * (size_t)embedding_input_width(context, nodes[t].type);
    }
    enum error_code rc = new_gradient(count, most, values, arena, kept, &room, err);
    for (int t = 0; t < type_count && rc == ERROR_NONE; t++) {
        if (nodes[t].count == 0)
            continue;
        struct gradient_rows *rows = &out->group[out->group_count++];
        rc = gather_type(context, &nodes[t], embedding_input_width(context, nodes[t].type), &room,
                         rows, err);
        room.node += rows->count;
        room.row += rows->count * rows->width;
    }
    return rc;
}

enum error_code embedding_input_count(uint32_t input_dim, uint32_t width, uint32_t count,
                                      bool trains, struct arena *arena, struct error *err)
{
    struct gradient_room room;
    float *row = NULL;
    const enum error_code rc = arena_new(arena, &row, count * (size_t)input_dim, "input rows", err);
    return rc == ERROR_NONE && trains
               ? new_gradient(count, count, count * (size_t)width, arena, arena, &room, err)
               : rc;
}
