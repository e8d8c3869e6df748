#include "common/nn/layers/attention/attention.h"

#include "common/math/vector.h"
#include "common/nn/operators/edge_softmax.h"
#include "common/nn/operators/slot_aggregation.h"

static const char what[] = "attention"; /* user of the memory, for messages */

/* The random draws for slots use other numbers than those for activations, whose items are rows. */
static const uint64_t slot_items = 1ULL << 39;

uint32_t attention_channels(const struct model_layer *layer)
{
    return layer->joins_heads ? layer->config.output_dim / (uint32_t)layer->config.option.heads
                              : layer->config.output_dim;
}

CPU_KERNEL(add_bias_to_projected,
           (float *restrict rows, const float *restrict bias, size_t dim, size_t count),
           (rows, bias, dim, count))
{
    for (size_t row = 0; row < count; row++)
        vector_add(rows + row * dim, bias, dim);
}

struct forward_job {
    struct attention *a;
    float *scratch; /* [threads, scratch_size]: rows of a tile, of the input or by heads */
    size_t scratch_size;
};

static float *scratch_of(const struct forward_job *job, int thread)
{
    return job->scratch + (size_t)thread * job->scratch_size;
}

void attention_project(struct rows_view rows, const float *matrix, const float *bias, size_t width,
                       float *out)
{
    const struct linear_weight weight = {
        .rows = rows_view_of(matrix_view_of(matrix, width, rows.cols))};
    linear_forward(&weight, rows, out);
    if (bias)
        add_bias_to_projected(out, bias, width, rows.rows);
}

static void project_own(const struct forward_job *job, uint32_t first, uint32_t end, float *scratch)
{
    struct attention *a = job->a;
    const struct attention_parameters *at = &a->kind->parameters;
    attention_project(
        gather_rows(layer_pass_own_rows(a->pass), a->pass->layer->own_dim, first, end, scratch),
        attention_parameter(a, at->destination_weight),
        attention_parameter(a, at->destination_bias), a->width, a->destination + first * a->width);
}

/* Projects the rows of destinations in a bipartite block, where they are not among the sources. */
static void project_own_tile(void *context, int64_t tile, int thread)
{
    const struct forward_job *job = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, job->a->shape.block.destination_count);
    if (job->a->kind->prepare_own)
        job->a->kind->prepare_own(job->a, first, end);
    else
        project_own(job, first, end, scratch_of(job, thread));
}

static void project_tile(void *context, int64_t tile, int thread)
{
    const struct forward_job *job = context;
    struct attention *a = job->a;
    const struct attention_parameters *at = &a->kind->parameters;
    const struct layer_pass *pass = a->pass;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, a->shape.block.source_count);
    const uint32_t own_end = attention_own_end(a, end);
    float *scratch = scratch_of(job, thread);
    attention_project(gather_rows(&pass->input, pass->input_dim, first, end, scratch),
                      attention_parameter(a, at->source_weight),
                      attention_parameter(a, at->source_bias), a->width,
                      a->source + first * a->width);
    if (at->destination_weight >= 0 && first < own_end)
        project_own(job, first, own_end, scratch);
    if (a->kind->prepare)
        a->kind->prepare(a, first, end);
}

void attention_drop_slots(const struct activation *dropout, uint64_t base, uint32_t heads,
                          size_t first, size_t end, float *value)
{
    uint32_t word[4] = {0};
    for (size_t slot = first; slot < end; slot++)
        for (uint32_t h = 0; h < heads; h++) {
            if (h % 8 == 0)
                random_block(&dropout->stream, slot_items | (base + slot), h / 8, word);
            const uint32_t draw = word[h % 8 / 2] >> (h % 2 ? 16 : 0) & 0xffffU;
            value[slot * heads + h] *= draw < dropout->drop_below ? 0 : dropout->scale;
        }
}

static void drop_slots(const struct attention *a, uint32_t first, uint32_t end, float *value)
{
    attention_drop_slots(&a->pass->slot_dropout, a->pass->first_slot, a->shape.heads,
                         edge_slot(&a->shape.block, first), edge_slot(&a->shape.block, end), value);
}

CPU_KERNEL(mean_of_heads,
           (const struct edge_shape *shape, const float *rows, size_t count, float *out),
           (shape, rows, count, out))
{
    const size_t channels = shape->channels, width = shape->heads * channels;
    for (size_t row = 0; row < count; row++, rows += width, out += channels) {
        vector_copy(out, rows, channels);
        for (size_t h = 1; h < shape->heads; h++)
            vector_add(out, rows + h * channels, channels);
        vector_scale(out, 1 / (float)shape->heads, channels);
    }
}

void attention_mean_of_heads(const struct edge_shape *shape, const float *rows, size_t count,
                             float *out)
{
    mean_of_heads(shape, rows, count, out);
}

void attention_weigh_slots(struct attention *attention, uint32_t first, uint32_t end)
{
    struct attention *a = attention;
    const size_t from = edge_slot(&a->shape.block, first) * a->shape.heads;
    const size_t to = edge_slot(&a->shape.block, end) * a->shape.heads;
    a->kind->score(a, first, end);
    edge_softmax(&a->shape, first, end, a->share);
    if (a->weight != a->share) {
        vector_copy(a->weight + from, a->share + from, to - from);
        drop_slots(a, first, end, a->weight);
    }
}

void attention_weigh_slots_back(struct attention *attention, uint32_t first, uint32_t end)
{
    if (attention->weight != attention->share)
        drop_slots(attention, first, end, attention->slot_gradient);
    edge_softmax_backward(&attention->shape, attention->share, first, end,
                          attention->slot_gradient);
}

static void attend_tile(void *context, int64_t tile, int thread)
{
    const struct forward_job *job = context;
    struct attention *a = job->a;
    const struct layer_pass *pass = a->pass;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, a->shape.block.destination_count);
    float *output = (float *)pass->output + (size_t)first * pass->output_dim;
    float *rows = a->joins ? output : scratch_of(job, thread);
    for (uint32_t row = first, next; row < end; row = next) {
        next = end - row < ATTENTION_ROWS_AT_ONCE ? end : row + ATTENTION_ROWS_AT_ONCE;
        attention_weigh_slots(a, row, next);
        slot_aggregation_forward(&a->shape, a->weight, a->source, row, next,
                                 rows + (row - first) * a->width);
    }
    if (!a->joins)
        mean_of_heads(&a->shape, rows, end - first, output);
    layer_pass_finish(pass, output, first, end);
}

size_t attention_vector_floats(const struct attention *attention)
{
    const size_t vectors = ATTENTION_VECTOR_COUNT_MAX * attention->width;
    return vectors + attention->kind->term_floats(attention);
}

enum error_code attention_find_slots(struct attention *attention, struct arena *arena,
                                     struct error *err)
{
    struct attention *a = attention;
    const struct message_block *block = &a->shape.block;
    const size_t slots = edge_slot_count(block) * a->shape.heads;
    enum error_code rc = ERROR_NONE;
    if (a->kind->prepare)
        rc = arena_new(arena, &a->source_term, (size_t)block->source_count * a->shape.heads, what,
                       err);
    if (rc == ERROR_NONE && a->kind->prepare)
        rc = arena_new(arena, &a->destination_term,
                       (size_t)block->destination_count * a->shape.heads, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &a->share, slots, what, err);
    if (rc == ERROR_NONE)
        rc = a->kind->find_terms(a, arena, err);
    a->weight = a->share;
    if (rc == ERROR_NONE && a->pass->slot_dropout.drop_below > 0)
        rc = arena_new(arena, &a->weight, slots, what, err);
    return rc;
}

static enum error_code find_room(struct attention *a, struct forward_job *job, struct arena *arena,
                                 int threads, struct error *err)
{
    const struct message_block *block = &a->shape.block;
    size_t dim = a->pass->input_dim > a->width ? a->pass->input_dim : a->width;
    if (block->is_bipartite && dim < a->pass->layer->own_dim)
        dim = a->pass->layer->own_dim;
    job->scratch_size = layer_pass_scratch(TILE_ROWS * dim);
    enum error_code rc =
        arena_new(arena, &a->source, (size_t)block->source_count * a->width, what, err);
    a->destination = a->source;
    if (rc == ERROR_NONE && a->kind->parameters.destination_weight >= 0)
        rc = arena_new(arena, &a->destination, block->destination_count * a->width, what, err);
    if (rc == ERROR_NONE)
        rc = attention_find_slots(a, arena, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job->scratch, (size_t)threads * job->scratch_size, what, err);
    return rc;
}

enum error_code attention_new(const struct attention_kind *kind, struct layer_pass *pass,
                              struct arena *arena, struct attention **out, struct error *err)
{
    const struct model_layer *layer = pass->layer;
    const enum error_code rc = arena_new(arena, out, 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    struct attention *a = *out;
    *a = (struct attention){.kind = kind,
                            .pass = pass,
                            .shape = {.block = pass->block,
                                      .heads = (uint32_t)layer->config.option.heads,
                                      .channels = attention_channels(layer)},
                            .joins = layer->joins_heads};
    a->width = (size_t)a->shape.heads * a->shape.channels;
    pass->state = a;
    pass->activation.bias = pass->parameter[kind->parameters.output_bias];
    return ERROR_NONE;
}

enum error_code attention_forward(const struct attention_kind *kind, struct layer_pass *pass,
                                  bool keep, struct arena *arena, struct thread_pool *pool,
                                  struct error *err)
{
    struct forward_job job = {.a = NULL};
    enum error_code rc = attention_new(kind, pass, arena, &job.a, err);
    if (rc == ERROR_NONE)
        rc = find_room(job.a, &job, arena, thread_pool_size(pool), err);
    if (rc == ERROR_NONE && keep && pass->activation.relu)
        rc = layer_pass_keep_active(pass, arena, err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    thread_pool_run(pool, layer_pass_tiles(pass->block.source_count), project_tile, &job);
    if (pass->block.is_bipartite)
        thread_pool_run(pool, layer_pass_tiles(pass->block.destination_count), project_own_tile,
                        &job);
    thread_pool_run(pool, layer_pass_tiles(pass->block.destination_count), attend_tile, &job);
    return ERROR_NONE;
}
