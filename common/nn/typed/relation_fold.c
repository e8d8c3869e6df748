#include "common/nn/typed/relation_fold.h"

static const char what[] = "the matrices of relations"; /* user of the memory, for messages */

uint32_t relation_fold_count(const struct typed_pass *pass)
{
    return pass->schema->relation_count + pass->schema->type_count;
}

static bool is_own(const struct typed_pass *pass, uint32_t matrix)
{
    return matrix >= pass->schema->relation_count;
}

/* Returns the type whose rows the matrix multiplies. */
static uint32_t matrix_type(const struct typed_pass *pass, uint32_t matrix)
{
    return is_own(pass, matrix) ? matrix - pass->schema->relation_count
                                : pass->schema->relation[matrix].source_type;
}

/* Returns the matrix if there are rows for it, otherwise NULL. */
static const float *matrix_at(const struct relation_sums *sums, const struct typed_pass *pass,
                              uint32_t matrix)
{
    const uint32_t own = matrix - pass->schema->relation_count;
    if (is_own(pass, matrix))
        return pass->destination_count[own] ? sums->root[own] : NULL;
    return pass->edges[matrix].block.destination_count ? sums->weight[matrix] : NULL;
}

enum error_code relation_fold_room(const struct relation_sums *sums, const struct typed_pass *pass,
                                   struct arena *arena, struct folded_weight *out,
                                   struct error *err)
{
    const size_t rows = pass->layer->config.output_dim;
    enum error_code rc = ERROR_NONE;
    for (uint32_t m = 0; rc == ERROR_NONE && m < relation_fold_count(pass); m++) {
        const struct projection_fold *fold = typed_pass_fold(pass, matrix_type(pass, m));
        out[m] = (struct folded_weight){.weight = matrix_at(sums, pass, m)};
        if (!fold || !out[m].weight) {
            out[m].weight = NULL;
            continue;
        }
        rc = arena_new(arena, &out[m].matrix, rows * fold->columns, what, err);
        if (rc == ERROR_NONE)
            rc = arena_new(arena, &out[m].constant, rows, what, err);
    }
    return rc;
}

struct fold_job {
    const struct typed_pass *pass;
    const struct folded_weight *folded;
    float *const *gradient; /* [matrices]: dW of each */
    uint32_t type;
};

static void fold_matrix(void *context, int64_t matrix, int thread)
{
    const struct fold_job *job = context;
    const uint32_t m = (uint32_t)matrix;
    (void)thread;
    if (job->folded[m].weight)
        projection_fold_make(typed_pass_fold(job->pass, matrix_type(job->pass, m)), &job->folded[m],
                             job->pass->layer->config.output_dim);
}

void relation_fold_make(const struct typed_pass *pass, const struct folded_weight *folded,
                        struct thread_pool *pool)
{
    struct fold_job job = {.pass = pass, .folded = folded};
    thread_pool_run(pool, relation_fold_count(pass), fold_matrix, &job);
}

static void unfold_matrix(void *context, int64_t matrix, int thread)
{
    const struct fold_job *job = context;
    const uint32_t m = (uint32_t)matrix;
    (void)thread;
    if (job->folded[m].weight)
        projection_fold_back(typed_pass_fold(job->pass, matrix_type(job->pass, m)), &job->folded[m],
                             job->pass->layer->config.output_dim, job->gradient[m]);
}

/* Computes one row of the projection of job->type from the matrices in turn. */
static void unfold_projection_row(void *context, int64_t row, int thread)
{
    const struct fold_job *job = context;
    (void)thread;
    for (uint32_t m = 0; m < relation_fold_count(job->pass); m++)
        if (job->folded[m].weight && matrix_type(job->pass, m) == job->type)
            projection_fold_add(typed_pass_fold(job->pass, job->type), &job->folded[m],
                                job->pass->layer->config.output_dim, (uint32_t)row);
}

enum error_code relation_fold_back(const struct typed_pass *pass,
                                   const struct folded_weight *folded,
                                   const struct relation_sums_gradient *out,
                                   const struct model_workspace *workspace, struct error *err)
{
    const uint32_t relations = pass->schema->relation_count;
    float **gradient = NULL;
    struct fold_job fold = {.pass = pass, .folded = folded};
    if (!pass->fold)
        return ERROR_NONE;
    const enum error_code rc =
        arena_new(workspace->arena, &gradient, relation_fold_count(pass), what, err);
    if (rc != ERROR_NONE || workspace->arena->counts)
        return rc;
    for (uint32_t m = 0; m < relation_fold_count(pass); m++)
        gradient[m] = is_own(pass, m) ? out->root[m - relations] : out->weight[m];
    fold.gradient = gradient;
    thread_pool_run(workspace->pool, relation_fold_count(pass), unfold_matrix, &fold);
    for (fold.type = 0; fold.type < pass->schema->type_count; fold.type++)
        if (typed_pass_fold(pass, fold.type))
            thread_pool_run(workspace->pool, typed_pass_fold(pass, fold.type)->dim,
                            unfold_projection_row, &fold);
    return ERROR_NONE;
}
