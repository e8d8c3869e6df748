/* The backward pass of layers by relation; the forward pass is in relation_convs.c. */
#include "common/math/vector.h"
#include "common/nn/layers/layer.h"
#include "common/nn/typed/relation_conv.h"
#include "common/nn/typed/relation_convs.h"

static const char what[] = "gradients of layers by relation"; /* user of the memory, for messages */

struct back_job {
    struct typed_pass *pass;
    struct convs *convs;
    const struct model_workspace *workspace;
    const struct conv *conv;
    const float *rows; /* [destinations, columns] to add to */
    float *sum;
    size_t dim;
    float *scratch; /* [threads, scratch_size]: rows of a tile of sources */
    size_t scratch_size;
};

static void source_tile(void *context, int64_t tile, int thread)
{
    const struct back_job *job = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, job->conv->pass.block.source_count);
    const float *rows = layer_pass_input_gradient(
        &job->conv->pass, job->dim, first, end, job->scratch + (size_t)thread * job->scratch_size);
    conv_add_rows(job->sum + first * job->dim, rows, 1, (end - first) * job->dim);
}

static void own_tile(void *context, int64_t tile, int thread)
{
    const struct back_job *job = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, job->conv->pass.block.destination_count);
    (void)thread;
    conv_add_rows(job->sum + first * job->dim, job->rows + first * job->dim, 1,
                  (end - first) * job->dim);
}

/* Adds rows of the destinations of job->conv to `sum`. */
static void add_own_rows(struct back_job *job, const float *rows, float *sum, size_t dim)
{
    job->rows = rows;
    job->sum = sum;
    job->dim = dim;
    thread_pool_run(job->workspace->pool, layer_pass_tiles(job->conv->pass.block.destination_count),
                    own_tile, job);
}

/* Returns whether the pass has left a gradient of real sources, not only of placeholders. */
static bool leaves_sources(const struct typed_pass *pass, const struct conv *conv)
{
    return (conv->pass.input_gradient || conv->pass.aggregated_gradient) &&
           pass->source_count[conv->place.source] > 0;
}

/* Returns the only conv that reads the rows of a type; NULL: none or several do. */
static const struct conv *find_reader(const struct typed_pass *pass, const struct convs *convs,
                                      uint32_t type)
{
    const struct conv *found = NULL;
    int readers = 0;
    for (uint32_t i = 0; i < convs->count; i++) {
        const struct conv *conv = &convs->conv[i];
        if (conv->place.source == type && leaves_sources(pass, conv)) {
            found = conv;
            readers++;
        }
        readers += conv->place.target == type && conv->pass.own_gradient;
    }
    return readers == 1 ? found : NULL;
}

/* Adds up the gradients that the relations leave for the rows of a type. */
static enum error_code leave_type(struct back_job *job, uint32_t type, struct error *err)
{
    struct typed_pass *pass = job->pass;
    struct arena *arena = job->workspace->arena;
    const size_t dim = pass->layer->type_input_dim[type];
    const size_t count = pass->source_count[type] * dim;
    const struct conv *reader = find_reader(pass, job->convs, type);
    float *sum = NULL;
    pass->reader[type] = reader ? &reader->pass : NULL;
    pass->input_gradient[type] = NULL;
    if (reader || !pass->wants_gradient[type] || count == 0)
        return ERROR_NONE;
    enum error_code rc = arena_new(arena, &sum, count, what, err);
    pass->input_gradient[type] = sum;
    job->scratch_size = layer_pass_scratch(TILE_ROWS * dim);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &job->scratch,
                       (size_t)thread_pool_size(job->workspace->pool) * job->scratch_size, what,
                       err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    vector_zero(sum, count);
    for (uint32_t i = 0; i < job->convs->count; i++) {
        job->conv = &job->convs->conv[i];
        job->sum = sum;
        job->dim = dim;
        if (job->conv->place.source == type && leaves_sources(pass, job->conv))
            thread_pool_run(job->workspace->pool, layer_pass_tiles(pass->source_count[type]),
                            source_tile, job);
        if (job->conv->place.target == type && job->conv->pass.own_gradient)
            add_own_rows(job, job->conv->pass.own_gradient, sum, dim);
    }
    return ERROR_NONE;
}

struct slope_job {
    const struct layer_pass *row;   /* the tail of a type's joined rows */
    const struct layer_pass *above; /* NULL: the gradient is in dy */
    const float *dy;
    uint16_t relation;
    const uint16_t *largest; /* NULL: each relation gets its share of the whole gradient */
    float share;
    float *out;
};

static void above_tile(void *context, int64_t tile, int thread)
{
    const struct slope_job *job = context;
    const size_t dim = job->row->output_dim;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, job->row->block.destination_count);
    float *out = job->out + first * dim;
    (void)thread;
    const float *rows =
        job->row->active ? layer_pass_product_gradient(job->row, job->above, NULL, first, end, out)
                         : layer_pass_input_gradient(job->above, dim, first, end, out);
    if (rows != out)
        vector_copy(out, rows, (end - first) * dim);
}

static void relation_tile(void *context, int64_t tile, int thread)
{
    const struct slope_job *job = context;
    const size_t dim = job->row->output_dim;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, job->row->block.destination_count);
    (void)thread;
    for (size_t i = first * dim; i < end * dim; i++)
        job->out[i] = !job->largest                      ? job->share * job->dy[i]
                      : job->largest[i] == job->relation ? job->dy[i]
                                                         : 0;
}

/* Computes the gradient of a type's joined rows in front of their tail. */
static enum error_code find_slope(const struct typed_pass *pass, uint32_t type,
                                  float *output_gradient, const struct model_workspace *workspace,
                                  float **out, struct error *err)
{
    const struct layer_pass *row = &pass->row[type].pass;
    struct slope_job job = {.row = row, .above = pass->above[type]};
    *out = output_gradient;
    if (!job.above || !conv_is_joined(pass->model, pass->layer, type))
        return ERROR_NONE;
    const enum error_code rc = arena_new(
        workspace->arena, out, row->block.destination_count * (size_t)row->output_dim, what, err);
    job.out = *out;
    if (rc == ERROR_NONE && !workspace->arena->counts)
        thread_pool_run(workspace->pool, layer_pass_tiles(row->block.destination_count), above_tile,
                        &job);
    return rc;
}

/* Sets the gradient of the rows of one relation: *dy, or the relation's part of it. */
static enum error_code find_part(const struct back_job *job, uint32_t i, const float *dy,
                                 const float **out, struct error *err)
{
    const struct typed_pass *pass = job->pass;
    const uint32_t type = job->convs->conv[i].place.target;
    const struct layer_pass *row = &pass->row[type].pass;
    struct slope_job slope = {.row = row,
                              .dy = dy,
                              .relation = (uint16_t)i,
                              .largest = job->convs->largest[type],
                              .share = typed_pass_share(pass, type)};
    *out = dy;
    if (!dy || (!slope.largest && pass->model->config.types.relation_aggr == RELATION_AGGR_SUM) ||
        conv_giver_count(pass->model, pass->layer, type) < 2)
        return ERROR_NONE;
    const enum error_code rc =
        arena_new(job->workspace->arena, &slope.out,
                  row->block.destination_count * (size_t)row->output_dim, what, err);
    *out = slope.out;
    if (rc == ERROR_NONE && !job->workspace->arena->counts)
        thread_pool_run(job->workspace->pool, layer_pass_tiles(row->block.destination_count),
                        relation_tile, &slope);
    return rc;
}

/* Finds the places of the gradients of the tensors of a place. */
static struct layer_gradient gradient_of(const struct typed_pass *pass, const struct conv *conv,
                                         uint32_t i, float *gradient)
{
    struct layer_gradient out =
        layer_pass_gradient(&conv->layer, conv_tensors(pass, conv), gradient);
    for (int k = 0; pass->layer->config.inner_norm == NORM_BATCH && k < 3; k++)
        out.statistics[k] =
            gradient +
            pass->model->parameter[pass->layer->inner_buffer_parameter + 3 * (int)i + k].offset;
    return out;
}

static enum error_code conv_back(struct back_job *job, uint32_t i, const float *dy, float *gradient,
                                 struct error *err)
{
    struct typed_pass *pass = job->pass;
    struct conv *conv = &job->convs->conv[i];
    struct arena *arena = job->workspace->arena;
    const uint32_t target = conv->place.target;
    const struct layer_pass *above = dy ? NULL : pass->above[target];
    const bool is_first =
        !pass->wants_gradient[conv->place.source] && !pass->wants_gradient[target];
    const struct layer_gradient out = gradient_of(pass, conv, i, gradient);
    const float *part = NULL;
    enum error_code rc = find_part(job, i, dy, &part, err);
    if (rc == ERROR_NONE && pass->start)
        rc = arena_new(arena, &conv->pass.second_gradient,
                       conv->pass.block.destination_count * (size_t)conv->pass.output_dim, what,
                       err);
    if (rc == ERROR_NONE)
        rc = layer_pass_backward(&conv->pass, above, part, is_first, &out, arena,
                                 job->workspace->pool, err);
    if (rc != ERROR_NONE || !conv->own)
        return rc;
    rc = row_product_backward(conv->own, part, pass->wants_gradient[target],
                              gradient + conv_own_tensor(pass, conv)->offset, NULL, job->workspace,
                              err);
    conv->pass.own_gradient = row_product_input_gradient(conv->own);
    return rc;
}

/* Adds up the gradients that the relations leave for the rows of the second input. */
static enum error_code leave_start(struct back_job *job, uint32_t type, struct error *err)
{
    const struct typed_pass *pass = job->pass;
    struct arena *arena = job->workspace->arena;
    const size_t dim = pass->layer->config.output_dim;
    const size_t count = pass->destination_count[type] * dim;
    float *sum = NULL;
    pass->start_gradient[type] = NULL;
    for (uint32_t i = 0; i < job->convs->count; i++) {
        enum error_code rc = ERROR_NONE;
        job->conv = &job->convs->conv[i];
        if (job->conv->place.target != type || !job->conv->pass.second_gradient)
            continue;
        if (!pass->start_gradient[type]) {
            pass->start_gradient[type] = job->conv->pass.second_gradient;
            continue;
        }
        if (!sum) {
            rc = arena_new(arena, &sum, count, what, err);
            if (rc == ERROR_NONE && !arena->counts)
                vector_copy(sum, pass->start_gradient[type], count);
            pass->start_gradient[type] = sum;
        }
        if (rc != ERROR_NONE)
            return rc;
        if (!arena->counts)
            add_own_rows(job, job->conv->pass.second_gradient, sum, dim);
    }
    return ERROR_NONE;
}

enum error_code relation_convs_backward(struct typed_pass *pass, float *const *output_gradient,
                                        const struct model_workspace *workspace, float *gradient,
                                        struct error *err)
{
    struct convs *convs = pass->state;
    struct back_job job = {.pass = pass, .convs = convs, .workspace = workspace};
    float *dy[RELATION_TYPE_COUNT_MAX];
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < pass->schema->type_count; t++)
        rc = find_slope(pass, t, output_gradient[t], workspace, &dy[t], err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < convs->count; i++) {
        const uint32_t target = convs->conv[i].place.target;
        if (convs->conv[i].runs && (dy[target] || pass->above[target]))
            rc = conv_back(&job, i, dy[target], gradient, err);
    }
    for (uint32_t t = 0; rc == ERROR_NONE && t < pass->schema->type_count; t++)
        rc = leave_type(&job, t, err);
    for (uint32_t t = 0; rc == ERROR_NONE && pass->start && t < pass->schema->type_count; t++)
        rc = leave_start(&job, t, err);
    return rc;
}
