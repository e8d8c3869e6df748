#include "common/nn/layers/attention/relation_attention.h"

#include "common/math/vector.h"
#include "common/math/vector_exp.h"
#include "common/nn/layers/attention/attention.h"
#include "common/nn/operators/edge_score.h"
#include "common/nn/operators/slot_aggregation.h"
#include "common/nn/typed/relation_rows.h"

static const char what[] = "attention over relations"; /* user of the memory, for messages */

/* --- room --- */

static enum error_code new_slots(const struct relation_edges *edges, uint32_t heads,
                                 uint32_t channels, bool drops, struct arena *arena,
                                 struct relation_slots **out, struct error *err)
{
    struct relation_slots *made = NULL;
    enum error_code rc = arena_new(arena, &made, 1, what, err);
    *out = made;
    if (rc != ERROR_NONE)
        return rc;
    *made = (struct relation_slots){
        .shape = {.block = edges->block, .heads = heads, .channels = channels}, .row = edges->row};
    const size_t count = (size_t)message_block_edges(&edges->block) * heads;
    rc = arena_new(arena, &made->share, count, what, err);
    made->weight = made->share;
    if (rc == ERROR_NONE && drops)
        rc = arena_new(arena, &made->weight, count, what, err);
    return rc;
}

enum error_code relation_attention_new(const struct typed_pass *pass, uint32_t heads,
                                       uint32_t channels, bool drops, struct arena *arena,
                                       struct relation_attention **out, struct error *err)
{
    struct relation_attention *made = NULL;
    uint64_t first_slot = 0;
    enum error_code rc = arena_new(arena, &made, 1, what, err);
    *out = made;
    if (rc != ERROR_NONE)
        return rc;
    *made = (struct relation_attention){.pass = pass};
    rc = arena_new_bytes(arena, (void **)&made->slots, pass->schema->relation_count, sizeof(void *),
                         what, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < pass->schema->relation_count; r++) {
        made->slots[r] = NULL;
        if (pass->edges[r].block.destination_count == 0)
            continue;
        rc = new_slots(&pass->edges[r], heads, channels, drops && pass->slot_dropout.drop_below > 0,
                       arena, &made->slots[r], err);
        if (rc == ERROR_NONE)
            made->slots[r]->first_slot = first_slot;
        first_slot += message_block_edges(&pass->edges[r].block);
    }
    return rc;
}

enum error_code relation_attention_find_gradients(struct relation_attention *attention,
                                                  struct arena *arena, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < attention->pass->schema->relation_count; r++) {
        struct relation_slots *slots = attention->slots[r];
        if (!slots)
            continue;
        const struct message_block *block = &slots->shape.block;
        rc = arena_new(arena, &slots->gradient,
                       (size_t)message_block_edges(block) * slots->shape.heads, what, err);
        if (rc == ERROR_NONE)
            rc = transposed_edges_number(block, false, arena, &slots->transposed, err);
    }
    return rc;
}

/* --- softmax over relations --- */

/* The rows of one relation whose destinations are in a tile. */
struct part {
    const struct relation_slots *slots;
    uint32_t from, to, first; /* range of rows, and the tile's first destination */
};

CPU_KERNEL(find_most, (const struct part *part, float *restrict most), (part, most))
{
    const struct relation_slots *slots = part->slots;
    const size_t heads = slots->shape.heads;
    for (uint32_t k = part->from; k < part->to; k++) {
        float *own = most + (slots->row[k] - part->first) * heads;
        for (size_t at = edge_slot(&slots->shape.block, k);
             at < edge_slot(&slots->shape.block, k + 1); at++)
            for (size_t h = 0; h < heads; h++) {
                const float score = slots->share[at * heads + h];
                own[h] = score > own[h] ? score : own[h];
            }
    }
}

/* Replaces scores by exponentials of the scores minus the maximum, and adds these up. */
CPU_KERNEL(take_exponentials,
           (const struct part *part, const float *restrict most, float *restrict sum),
           (part, most, sum))
{
    const struct relation_slots *slots = part->slots;
    const struct message_block *block = &slots->shape.block;
    const size_t heads = slots->shape.heads;
    const size_t begin = edge_slot(block, part->from), end = edge_slot(block, part->to);
    for (uint32_t k = part->from; k < part->to; k++) {
        const float *own = most + (slots->row[k] - part->first) * heads;
        for (size_t at = edge_slot(block, k); at < edge_slot(block, k + 1); at++)
            for (size_t h = 0; h < heads; h++)
                slots->share[at * heads + h] -= own[h];
    }
    vector_exp(slots->share + begin * heads, (end - begin) * heads);
    for (uint32_t k = part->from; k < part->to; k++)
        for (size_t at = edge_slot(block, k); at < edge_slot(block, k + 1); at++)
            vector_add(sum + (slots->row[k] - part->first) * heads, slots->share + at * heads,
                       heads);
}

CPU_KERNEL(take_shares, (const struct part *part, const float *restrict sum), (part, sum))
{
    const struct relation_slots *slots = part->slots;
    const size_t heads = slots->shape.heads;
    for (uint32_t k = part->from; k < part->to; k++) {
        const float *own = sum + (slots->row[k] - part->first) * heads;
        for (size_t at = edge_slot(&slots->shape.block, k);
             at < edge_slot(&slots->shape.block, k + 1); at++)
            for (size_t h = 0; h < heads; h++)
                slots->share[at * heads + h] /= own[h];
    }
}

CPU_KERNEL(sum_share_gradients, (const struct part *part, float *restrict sum), (part, sum))
{
    const struct relation_slots *slots = part->slots;
    const size_t heads = slots->shape.heads;
    for (uint32_t k = part->from; k < part->to; k++) {
        float *own = sum + (slots->row[k] - part->first) * heads;
        for (size_t at = edge_slot(&slots->shape.block, k) * heads;
             at < edge_slot(&slots->shape.block, k + 1) * heads; at += heads)
            for (size_t h = 0; h < heads; h++)
                own[h] = vector_multiply_add(slots->share[at + h], slots->gradient[at + h], own[h]);
    }
}

CPU_KERNEL(take_score_gradients, (const struct part *part, const float *restrict sum), (part, sum))
{
    const struct relation_slots *slots = part->slots;
    const size_t heads = slots->shape.heads;
    for (uint32_t k = part->from; k < part->to; k++) {
        const float *own = sum + (slots->row[k] - part->first) * heads;
        for (size_t at = edge_slot(&slots->shape.block, k) * heads;
             at < edge_slot(&slots->shape.block, k + 1) * heads; at += heads)
            for (size_t h = 0; h < heads; h++)
                slots->gradient[at + h] = slots->share[at + h] * (slots->gradient[at + h] - own[h]);
    }
}

static void drop(const struct relation_attention *attention, const struct part *part, float *value)
{
    const struct relation_slots *slots = part->slots;
    const struct message_block *block = &slots->shape.block;
    attention_drop_slots(&attention->pass->slot_dropout, slots->first_slot, slots->shape.heads,
                         edge_slot(block, part->from), edge_slot(block, part->to), value);
}

struct weigh_job {
    const struct relation_attention *attention;
    uint32_t type;
    bool back;
    float *scratch; /* [threads, 2 * TILE_ROWS * heads]: maxima, and sums */
    size_t heads;
};

static bool part_of(const struct weigh_job *job, uint32_t relation, uint32_t first, uint32_t end,
                    struct part *out)
{
    const struct typed_pass *pass = job->attention->pass;
    const struct relation_slots *slots = job->attention->slots[relation];
    if (!slots || pass->schema->relation[relation].target_type != job->type)
        return false;
    *out = (struct part){slots, relation_rows_from(&pass->edges[relation], first),
                         relation_rows_from(&pass->edges[relation], end), first};
    return out->from < out->to;
}

static void weigh_rows(const struct weigh_job *job, uint32_t first, uint32_t end, float *scratch)
{
    const uint32_t relations = job->attention->pass->schema->relation_count;
    const size_t count = (end - first) * job->heads;
    float *most = scratch, *sum = scratch + TILE_ROWS * job->heads;
    struct part part;
    for (size_t i = 0; i < count; i++) {
        most[i] = -__builtin_inff();
        sum[i] = 0;
    }
    for (uint32_t r = 0; r < relations; r++)
        if (part_of(job, r, first, end, &part))
            find_most(&part, most);
    for (uint32_t r = 0; r < relations; r++)
        if (part_of(job, r, first, end, &part))
            take_exponentials(&part, most, sum);
    for (uint32_t r = 0; r < relations; r++) {
        if (!part_of(job, r, first, end, &part))
            continue;
        const struct relation_slots *slots = part.slots;
        const size_t from = edge_slot(&slots->shape.block, part.from) * job->heads;
        const size_t to = edge_slot(&slots->shape.block, part.to) * job->heads;
        take_shares(&part, sum);
        if (slots->weight == slots->share)
            continue;
        vector_copy(slots->weight + from, slots->share + from, to - from);
        drop(job->attention, &part, slots->weight);
    }
}

static void weigh_rows_back(const struct weigh_job *job, uint32_t first, uint32_t end, float *sum)
{
    const uint32_t relations = job->attention->pass->schema->relation_count;
    struct part part;
    for (size_t i = 0; i < (end - first) * job->heads; i++)
        sum[i] = 0;
    for (uint32_t r = 0; r < relations; r++)
        if (part_of(job, r, first, end, &part)) {
            if (part.slots->weight != part.slots->share)
                drop(job->attention, &part, part.slots->gradient);
            sum_share_gradients(&part, sum);
        }
    for (uint32_t r = 0; r < relations; r++)
        if (part_of(job, r, first, end, &part))
            take_score_gradients(&part, sum);
}

static void weigh_tile(void *context, int64_t tile, int thread)
{
    const struct weigh_job *job = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end =
        layer_pass_tile_end(first, job->attention->pass->destination_count[job->type]);
    (job->back ? weigh_rows_back : weigh_rows)(
        job, first, end, job->scratch + (size_t)thread * 2 * TILE_ROWS * job->heads);
}

static enum error_code weigh(const struct relation_attention *attention, bool back,
                             const struct model_workspace *workspace, struct error *err)
{
    const struct typed_pass *pass = attention->pass;
    struct weigh_job job = {
        .attention = attention, .back = back, .heads = (size_t)pass->layer->config.option.heads};
    const enum error_code rc =
        arena_new(workspace->arena, &job.scratch,
                  (size_t)thread_pool_size(workspace->pool) * 2 * TILE_ROWS * job.heads, what, err);
    if (rc != ERROR_NONE || workspace->arena->counts)
        return rc;
    for (job.type = 0; job.type < pass->schema->type_count; job.type++)
        thread_pool_run(workspace->pool, layer_pass_tiles(pass->destination_count[job.type]),
                        weigh_tile, &job);
    return ERROR_NONE;
}

enum error_code relation_attention_weigh(const struct relation_attention *attention,
                                         const struct model_workspace *workspace, struct error *err)
{
    return weigh(attention, false, workspace, err);
}

enum error_code relation_attention_weigh_back(const struct relation_attention *attention,
                                              const struct model_workspace *workspace,
                                              struct error *err)
{
    return weigh(attention, true, workspace, err);
}

/* --- over the rows of one relation --- */

struct slots_job {
    const struct relation_slots *slots;
    const float *weight, *p, *q;
    float *out, *scratch;
};

static size_t width_of(const struct relation_slots *slots)
{
    return (size_t)slots->shape.heads * slots->shape.channels;
}

static void sum_tile(void *context, int64_t tile, int thread)
{
    const struct slots_job *job = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    (void)thread;
    slot_aggregation_forward(&job->slots->shape, job->weight, job->p, first,
                             layer_pass_tile_end(first, job->slots->shape.block.destination_count),
                             job->out + first * width_of(job->slots));
}

/* Threads write the results. NOLINTBEGIN(readability-non-const-parameter) */
void relation_slots_sum(const struct relation_slots *slots, const float *weight, const float *p,
                        float *a, struct thread_pool *pool)
{
    struct slots_job job = {.slots = slots, .weight = weight, .p = p, .out = a};
    thread_pool_run(pool, layer_pass_tiles(slots->shape.block.destination_count), sum_tile, &job);
}
/* NOLINTEND(readability-non-const-parameter) */

static void dot_tile(void *context, int64_t tile, int thread)
{
    const struct slots_job *job = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    (void)thread;
    edge_score_dot(&job->slots->shape, job->q, job->p, first,
                   layer_pass_tile_end(first, job->slots->shape.block.destination_count), job->out);
}

/* Threads write the results. NOLINTBEGIN(readability-non-const-parameter) */
void relation_slots_dot(const struct relation_slots *slots, const float *q, const float *p,
                        float *score, struct thread_pool *pool)
{
    struct slots_job job = {.slots = slots, .p = p, .q = q, .out = score};
    thread_pool_run(pool, layer_pass_tiles(slots->shape.block.destination_count), dot_tile, &job);
}
/* NOLINTEND(readability-non-const-parameter) */

CPU_KERNEL(add_rows_to, (float *restrict rows, const float *restrict more, size_t count),
           (rows, more, count))
{
    vector_add(rows, more, count);
}

static void transposed_tile(void *context, int64_t tile, int thread)
{
    const struct slots_job *job = context;
    const size_t width = width_of(job->slots);
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, job->slots->shape.block.source_count);
    float *scratch = job->scratch + (size_t)thread * TILE_ROWS * width;
    slot_aggregation_backward(&job->slots->shape, &job->slots->transposed, job->weight, job->p,
                              first, end, scratch);
    add_rows_to(job->out + first * width, scratch, (end - first) * width);
}

/* Threads write the results. NOLINTBEGIN(readability-non-const-parameter) */
void relation_slots_add_transposed(const struct relation_slots *slots, const float *weight,
                                   const float *da, float *dp, float *scratch,
                                   struct thread_pool *pool)
{
    struct slots_job job = {
        .slots = slots, .weight = weight, .p = da, .out = dp, .scratch = scratch};
    thread_pool_run(pool, layer_pass_tiles(slots->shape.block.source_count), transposed_tile, &job);
}
/* NOLINTEND(readability-non-const-parameter) */

/* --- between destinations and rows --- */

struct join_job {
    const struct typed_pass *pass;
    float *const *rows;
    float *y;
    uint32_t type;
    size_t dim;
};

CPU_KERNEL(add_rows_of_relation,
           (float *restrict y, const float *restrict rows, const uint32_t *row, uint32_t first,
            size_t dim, size_t count),
           (y, rows, row, first, dim, count))
{
    for (size_t k = 0; k < count; k++)
        vector_add(y + (row[k] - first) * dim, rows + k * dim, dim);
}

static void join_tile(void *context, int64_t tile, int thread)
{
    const struct join_job *job = context;
    const struct typed_pass *pass = job->pass;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->destination_count[job->type]);
    float *y = job->y + first * job->dim;
    (void)thread;
    for (size_t i = 0; i < (end - first) * job->dim; i++)
        y[i] = 0;
    for (uint32_t r = 0; r < pass->schema->relation_count; r++) {
        if (pass->schema->relation[r].target_type != job->type ||
            pass->edges[r].block.destination_count == 0)
            continue;
        const uint32_t from = relation_rows_from(&pass->edges[r], first);
        const uint32_t to = relation_rows_from(&pass->edges[r], end);
        if (from < to)
            add_rows_of_relation(y, job->rows[r] + from * job->dim, pass->edges[r].row + from,
                                 first, job->dim, to - from);
    }
}

void relation_rows_join(const struct typed_pass *pass, float *const *rows, size_t dim,
                        float *const *y, struct thread_pool *pool)
{
    struct join_job job = {.pass = pass, .rows = rows, .dim = dim};
    for (job.type = 0; job.type < pass->schema->type_count; job.type++) {
        job.y = y[job.type];
        thread_pool_run(pool, layer_pass_tiles(pass->destination_count[job.type]), join_tile, &job);
    }
}

struct part_job {
    const uint32_t *row;
    const float *dy;
    float *out;
    uint32_t count;
    size_t dim;
};

CPU_KERNEL(take_rows, (const struct part_job *job, uint32_t first, uint32_t end), (job, first, end))
{
    for (size_t k = first; k < end; k++)
        vector_copy(job->out + k * job->dim, job->dy + job->row[k] * job->dim, job->dim);
}

static void part_tile(void *context, int64_t tile, int thread)
{
    const struct part_job *job = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    (void)thread;
    take_rows(job, first, layer_pass_tile_end(first, job->count));
}

/* Threads write the results. NOLINTBEGIN(readability-non-const-parameter) */
void relation_rows_part(const struct typed_pass *pass, uint32_t relation, const float *dy,
                        size_t dim, float *out, struct thread_pool *pool)
{
    struct part_job job = {.row = pass->edges[relation].row,
                           .dy = dy,
                           .out = out,
                           .count = pass->edges[relation].block.destination_count,
                           .dim = dim};
    thread_pool_run(pool, layer_pass_tiles(job.count), part_tile, &job);
}
/* NOLINTEND(readability-non-const-parameter) */
