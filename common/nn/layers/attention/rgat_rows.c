#include "common/math/vector.h"
#include "common/nn/layers/attention/attention.h"
#include "common/nn/layers/attention/rgat.h"
#include "common/nn/operators/edge_score.h"
#include "common/nn/operators/partial_sums.h"

static const char what[] = "relational attention"; /* user of the memory, for messages */

static size_t heads_of(const struct typed_pass *pass)
{
    return (size_t)pass->layer->config.option.heads;
}

static size_t width_of(const struct typed_pass *pass)
{
    return heads_of(pass) * attention_channels(pass->layer);
}

/* Returns the columns of the rows, which are the same for all types. */
static uint32_t dim_of(const struct typed_pass *pass)
{
    return pass->layer->type_input_dim[0];
}

/* --- forward --- */

/* Sets the input rows of the rows of a relation. */
static enum error_code index_rows(const struct typed_pass *pass, uint32_t r, struct arena *arena,
                                  uint32_t **out, struct error *err)
{
    const struct relation_edges *edges = &pass->edges[r];
    const uint32_t *of_type = pass->input[pass->schema->relation[r].target_type].row_index;
    const uint32_t rows = edges->block.destination_count;
    const enum error_code rc = arena_new(arena, out, rows, what, err);
    for (uint32_t k = 0; rc == ERROR_NONE && !arena->counts && k < rows; k++)
        (*out)[k] = of_type ? of_type[edges->row[k]] : edges->row[k];
    return rc;
}

enum error_code rgat_rows_new(const struct typed_pass *pass, uint32_t relation,
                              const struct rgat *rgat, struct arena *arena, struct error *err)
{
    const struct relation *ends = &pass->schema->relation[relation];
    const uint32_t rows = pass->edges[relation].block.destination_count, dim = dim_of(pass);
    const uint32_t sources = pass->source_count[ends->source_type];
    const uint32_t heads = (uint32_t)heads_of(pass), width = (uint32_t)width_of(pass);
    const struct input_rows *input = &pass->input[ends->source_type];
    struct rgat_relation *own = rgat->relation[relation];
    struct input_rows targets = pass->input[ends->target_type];
    uint32_t *row_index = NULL;
    enum error_code rc = index_rows(pass, relation, arena, &row_index, err);
    targets.row_index = row_index;
    if (rc == ERROR_NONE)
        rc =
            row_product_new(&(struct row_matrix){rgat->matrices.matrix[relation], NULL, dim, width},
                            sources, input, NULL, arena, &own->source, err);
    if (rc == ERROR_NONE)
        rc = row_product_new(&(struct row_matrix){own->source_vector, NULL, dim, heads}, sources,
                             input, NULL, arena, &own->source_term, err);
    if (rc == ERROR_NONE)
        rc = row_product_new(&(struct row_matrix){own->target_vector, NULL, dim, heads}, rows,
                             &targets, NULL, arena, &own->target_term, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &own->sum, (size_t)rows * width, what, err);
    own->rows = own->sum;
    if (rc == ERROR_NONE && !pass->layer->joins_heads)
        rc = arena_new(arena, &own->rows, (size_t)rows * pass->layer->config.output_dim, what, err);
    return rc;
}

struct part_job {
    const struct typed_pass *pass;
    const struct rgat_relation *part;
    const struct relation_slots *slots;
    float *gradient; /* gradient of target_term, or of source_term */
    float *from, *to;
    uint32_t rows;
};

static void score_tile(void *context, int64_t tile, int thread)
{
    const struct part_job *job = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    (void)thread;
    edge_score_add(&job->slots->shape, row_product_rows(job->part->source_term),
                   row_product_rows(job->part->target_term), NULL, first,
                   layer_pass_tile_end(first, job->rows), job->slots->share);
}

static void mean_tile(void *context, int64_t tile, int thread)
{
    const struct part_job *job = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const size_t count = layer_pass_tile_end(first, job->rows) - first;
    (void)thread;
    attention_mean_of_heads(&job->slots->shape, job->from + first * width_of(job->pass), count,
                            job->to + first * (size_t)job->pass->layer->config.output_dim);
}

static void share_out_tile(void *context, int64_t tile, int thread)
{
    const struct part_job *job = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const size_t count = layer_pass_tile_end(first, job->rows) - first;
    (void)thread;
    attention_share_out(&job->slots->shape, false,
                        job->from + first * (size_t)job->pass->layer->config.output_dim, count,
                        job->to + first * width_of(job->pass));
}

static struct part_job job_of(const struct rgat *rgat, const struct typed_pass *pass, uint32_t r)
{
    return (struct part_job){.pass = pass,
                             .part = rgat->relation[r],
                             .slots = rgat->attention->slots[r],
                             .rows = pass->edges[r].block.destination_count};
}

static enum error_code score_relation(const struct rgat *rgat, const struct typed_pass *pass,
                                      uint32_t r, bool keep,
                                      const struct model_workspace *workspace, struct error *err)
{
    struct part_job job = job_of(rgat, pass, r);
    enum error_code rc = row_product_forward(job.part->source, keep, workspace, err);
    if (rc == ERROR_NONE)
        rc = row_product_forward(job.part->source_term, keep, workspace, err);
    if (rc == ERROR_NONE)
        rc = row_product_forward(job.part->target_term, keep, workspace, err);
    if (rc == ERROR_NONE && !workspace->arena->counts)
        thread_pool_run(workspace->pool, layer_pass_tiles(job.rows), score_tile, &job);
    return rc;
}

static void sum_relation(const struct rgat *rgat, const struct typed_pass *pass, uint32_t r,
                         struct thread_pool *pool)
{
    struct part_job job = job_of(rgat, pass, r);
    relation_slots_sum(job.slots, job.slots->weight, row_product_rows(job.part->source),
                       job.part->sum, pool);
    job.from = job.part->sum;
    job.to = job.part->rows;
    if (!pass->layer->joins_heads)
        thread_pool_run(pool, layer_pass_tiles(job.rows), mean_tile, &job);
}

CPU_KERNEL(add_bias_to_all,
           (float *restrict rows, const float *restrict bias, size_t dim, size_t count),
           (rows, bias, dim, count))
{
    for (size_t i = 0; i < count; i++)
        vector_add(rows + i * dim, bias, dim);
}

static enum error_code join(const struct rgat *rgat, const struct typed_pass *pass,
                            const float *bias, const struct model_workspace *workspace,
                            struct error *err)
{
    const size_t dim = pass->layer->config.output_dim;
    float **rows = NULL;
    const enum error_code rc =
        arena_new(workspace->arena, &rows, pass->schema->relation_count, what, err);
    if (rc != ERROR_NONE || workspace->arena->counts)
        return rc;
    for (uint32_t r = 0; r < pass->schema->relation_count; r++)
        rows[r] = rgat->relation[r] ? rgat->relation[r]->rows : NULL;
    relation_rows_join(pass, rows, dim, pass->output, workspace->pool);
    for (uint32_t t = 0; t < pass->schema->type_count; t++)
        add_bias_to_all(pass->output[t], bias, dim, pass->destination_count[t]);
    return ERROR_NONE;
}

enum error_code rgat_rows_forward(const struct rgat *rgat, const struct typed_pass *pass,
                                  const float *bias, bool keep,
                                  const struct model_workspace *workspace, struct error *err)
{
    const uint32_t relations = pass->schema->relation_count;
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++)
        if (rgat->relation[r])
            rc = score_relation(rgat, pass, r, keep, workspace, err);
    if (rc == ERROR_NONE)
        rc = relation_attention_weigh(rgat->attention, workspace, err);
    for (uint32_t r = 0; rc == ERROR_NONE && !workspace->arena->counts && r < relations; r++)
        if (rgat->relation[r])
            sum_relation(rgat, pass, r, workspace->pool);
    return rc == ERROR_NONE ? join(rgat, pass, bias, workspace, err) : rc;
}

/* --- backward --- */

static enum error_code find_back(const struct typed_pass *pass, uint32_t r, struct arena *arena,
                                 struct rgat_back *out, struct error *err)
{
    const size_t sources = pass->source_count[pass->schema->relation[r].source_type];
    const size_t rows = pass->edges[r].block.destination_count, heads = heads_of(pass);
    float **const arrays[] = {&out->source, &out->source_term, &out->target_term,
                              &out->source_vector, &out->target_vector};
    const size_t size[] = {sources * width_of(pass), sources * heads, rows * heads,
                           heads * dim_of(pass), heads * dim_of(pass)};
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof size / sizeof *size; i++)
        rc = arena_new(arena, arrays[i], size[i], what, err);
    for (size_t i = 0; rc == ERROR_NONE && !arena->counts && i < size[0]; i++)
        out->source[i] = 0;
    return rc;
}

/* Computes from dy the gradients of the weights of slots, and of the rows of sources. */
static void weights_back(const struct rgat *rgat, const struct typed_pass *pass, uint32_t r,
                         const float *dy, const struct rgat_back *back, float *scratch,
                         struct thread_pool *pool)
{
    struct part_job job = job_of(rgat, pass, r);
    job.from = job.part->rows; /* its values are no longer needed */
    job.to = job.part->sum;
    relation_rows_part(pass, r, dy, pass->layer->config.output_dim, job.part->rows, pool);
    if (!pass->layer->joins_heads)
        thread_pool_run(pool, layer_pass_tiles(job.rows), share_out_tile, &job);
    relation_slots_dot(job.slots, job.part->sum, row_product_rows(job.part->source),
                       job.slots->gradient, pool);
    relation_slots_add_transposed(job.slots, job.slots->weight, job.part->sum, back->source,
                                  scratch, pool);
}

static void score_back_tile(void *context, int64_t tile, int thread)
{
    const struct part_job *job = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    (void)thread;
    edge_score_add_backward(&job->slots->shape, row_product_rows(job->part->source_term),
                            row_product_rows(job->part->target_term), NULL, first,
                            layer_pass_tile_end(first, job->rows), job->slots->gradient,
                            job->gradient);
}

static void score_transposed_tile(void *context, int64_t tile, int thread)
{
    const struct part_job *job = context;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    (void)thread;
    edge_score_add_transposed(&job->slots->shape, &job->slots->transposed, job->slots->gradient,
                              first, layer_pass_tile_end(first, job->rows), job->gradient);
}

static void scores_back(const struct rgat *rgat, const struct typed_pass *pass, uint32_t r,
                        const struct rgat_back *back, struct thread_pool *pool)
{
    struct part_job job = job_of(rgat, pass, r);
    job.gradient = back->target_term;
    thread_pool_run(pool, layer_pass_tiles(job.rows), score_back_tile, &job);
    job.gradient = back->source_term;
    job.rows = pass->source_count[pass->schema->relation[r].source_type];
    thread_pool_run(pool, layer_pass_tiles(job.rows), score_transposed_tile, &job);
}

CPU_KERNEL(add_all, (float *restrict sum, const float *restrict more, size_t count),
           (sum, more, count))
{
    vector_add(sum, more, count);
}

CPU_KERNEL(add_at_rows,
           (float *restrict sum, const float *restrict more, const uint32_t *row, size_t dim,
            size_t count),
           (sum, more, row, dim, count))
{
    for (size_t k = 0; k < count; k++)
        vector_add(sum + row[k] * dim, more + k * dim, dim);
}

static enum error_code products_back(const struct rgat *rgat, const struct typed_pass *pass,
                                     uint32_t r, const struct rgat_back *back,
                                     float *matrix_gradient,
                                     const struct model_workspace *workspace, struct error *err)
{
    const struct relation *relation = &pass->schema->relation[r];
    const struct rgat_relation *part = rgat->relation[r];
    float *sources = pass->input_gradient[relation->source_type];
    float *targets = pass->input_gradient[relation->target_type];
    const size_t count = (size_t)pass->source_count[relation->source_type] * dim_of(pass);
    enum error_code rc = row_product_backward(part->source, back->source, sources != NULL,
                                              matrix_gradient, NULL, workspace, err);
    if (rc == ERROR_NONE)
        rc = row_product_backward(part->source_term, back->source_term, sources != NULL,
                                  back->source_vector, NULL, workspace, err);
    if (rc == ERROR_NONE)
        rc = row_product_backward(part->target_term, back->target_term, targets != NULL,
                                  back->target_vector, NULL, workspace, err);
    if (rc != ERROR_NONE || workspace->arena->counts)
        return rc;
    if (sources) {
        add_all(sources, row_product_input_gradient(part->source), count);
        add_all(sources, row_product_input_gradient(part->source_term), count);
    }
    if (targets)
        add_at_rows(targets, row_product_input_gradient(part->target_term), pass->edges[r].row,
                    dim_of(pass), pass->edges[r].block.destination_count);
    return ERROR_NONE;
}

struct bias_job {
    const float *dy;
    size_t dim;
};

static void bias_tile(void *context, const struct partial_sums_tile *tile)
{
    const struct bias_job *job = context;
    if (tile->fresh)
        vector_zero(tile->sum, job->dim);
    for (uint32_t i = tile->first; i < tile->end; i++)
        add_all(tile->sum, job->dy + i * job->dim, job->dim);
}

static enum error_code bias_back(const struct typed_pass *pass, uint32_t type, const float *dy,
                                 float *out, const struct model_workspace *workspace,
                                 struct error *err)
{
    struct bias_job job = {dy, pass->layer->config.output_dim};
    struct partial_sums sums;
    const uint32_t rows = pass->destination_count[type];
    if (rows == 0)
        return ERROR_NONE;
    const enum error_code rc = partial_sums_init(
        &sums, rows, job.dim, thread_pool_size(workspace->pool), workspace->arena, err);
    if (rc != ERROR_NONE || workspace->arena->counts)
        return rc;
    partial_sums_run(&sums, workspace->pool, bias_tile, &job);
    add_all(out, partial_sums_total(&sums, 0, job.dim), job.dim);
    return ERROR_NONE;
}

static enum error_code types_back(const struct typed_pass *pass, float *const *output_gradient,
                                  float *bias_gradient, const struct model_workspace *workspace,
                                  struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < pass->schema->type_count; t++) {
        const size_t count = (size_t)pass->source_count[t] * pass->layer->type_input_dim[t];
        float *dx = pass->input_gradient[t];
        for (size_t i = 0; !workspace->arena->counts && dx && i < count; i++)
            dx[i] = 0;
        rc = bias_back(pass, t, output_gradient[t], bias_gradient, workspace, err);
    }
    return rc;
}

enum error_code rgat_rows_backward(const struct rgat *rgat, const struct typed_pass *pass,
                                   float *const *output_gradient,
                                   const struct relation_matrices *matrices, struct rgat_back *back,
                                   float *bias_gradient, const struct model_workspace *workspace,
                                   struct error *err)
{
    struct arena *arena = workspace->arena;
    const uint32_t relations = pass->schema->relation_count;
    const size_t threads = (size_t)thread_pool_size(workspace->pool);
    float *scratch = NULL;
    enum error_code rc = relation_attention_find_gradients(rgat->attention, arena, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &scratch, threads * TILE_ROWS * width_of(pass), what, err);
    if (rc == ERROR_NONE)
        rc = types_back(pass, output_gradient, bias_gradient, workspace, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++) {
        if (!rgat->relation[r])
            continue;
        rc = find_back(pass, r, arena, &back[r], err);
        if (rc == ERROR_NONE && !arena->counts)
            weights_back(rgat, pass, r, output_gradient[pass->schema->relation[r].target_type],
                         &back[r], scratch, workspace->pool);
    }
    if (rc == ERROR_NONE)
        rc = relation_attention_weigh_back(rgat->attention, workspace, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++) {
        if (!rgat->relation[r])
            continue;
        if (!arena->counts)
            scores_back(rgat, pass, r, &back[r], workspace->pool);
        rc = products_back(rgat, pass, r, &back[r], matrices->matrix[r], workspace, err);
    }
    return rc;
}
