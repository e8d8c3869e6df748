#include "common/nn/typed/relation_convs.h"

#include "common/base/cpu_kernel.h"
#include "common/graph/relation_reverse.h"
#include "common/math/vector.h"
#include "common/nn/layers/layer.h"
#include "common/nn/typed/relation_rows.h"

#include <inttypes.h>

static const char what[] = "layers by relation"; /* wants memory */

/* The layer of one relation at work. */
struct conv {
    struct model_layer layer;
    struct layer_pass pass;
    float *rows; /* [destinations, output_dim]: what it gives; NULL: there are no destinations */
};

struct convs {
    struct conv *conv; /* [relations] */
};

static const struct relation *relation_of(const struct typed_pass *pass, uint32_t r)
{
    return &pass->schema->relation[r];
}

/* The layer of a relation: it reads sources and own rows, and nothing follows it. */
static struct model_layer layer_of(const struct model_layer *layer, const struct relation *relation,
                                   int relation_count)
{
    struct model_layer own = *layer;
    own.input_dim = layer->type_input_dim[relation->source_type];
    own.own_dim = layer->type_input_dim[relation->target_type];
    own.parameter_count = layer->parameter_count / relation_count;
    own.config.activation = ACTIVATION_NONE;
    own.config.residual = false;
    own.config.norm = NORM_NONE;
    return own;
}

/* The tensors of relation `r` in the table. */
static const struct parameter *tensors_of(const struct typed_pass *pass, const struct conv *conv,
                                          uint32_t r)
{
    return &pass->model
                ->parameter[pass->layer->first_parameter + (int)r * conv->layer.parameter_count];
}

/* --- tensors --- */

/* The reverse of a relation between two types says how many edges begin at a node. */
static enum error_code check_reverses(const struct relation_schema *schema, struct error *err)
{
    uint16_t degrees[RELATION_COUNT_MAX];
    relation_source_degrees(schema->relation, schema->relation_count, degrees);
    for (uint32_t r = 0; r < schema->relation_count; r++)
        if (degrees[r] == RELATION_COUNT_MAX)
            return error_set(
                err, ERROR_INVALID,
                "it divides by the degrees of both ends of an edge, and relation %s from %s to %s "
                "has no reverse, which tells how many edges begin at a node: " ADVICE
                "write `add_reverse: true` below `ingest:`",
                schema->relation[r].name, schema->type_name[schema->relation[r].source_type],
                schema->type_name[schema->relation[r].target_type]);
    return ERROR_NONE;
}

/* A kind without a matrix passes rows on as they are. */
static enum error_code check_widths(const struct relation_schema *schema,
                                    const struct model_layer *layer, struct error *err)
{
    for (uint32_t t = 0; t < schema->type_count; t++)
        if (layer->type_input_dim[t] != layer->config.output_dim)
            return error_set(err, ERROR_INVALID,
                             "it passes rows on as they are, and rows of type %s have %" PRIu32
                             " columns, not %" PRIu32
                             ": expected types of one width, as train-step.projection: linear "
                             "gives them",
                             schema->type_name[t], layer->type_input_dim[t],
                             layer->config.output_dim);
    return ERROR_NONE;
}

static enum error_code check(const struct model_config *config, const struct model_layer *layer,
                             struct error *err)
{
    const struct relation_schema *schema = &config->types.schema;
    enum error_code rc = ERROR_NONE;
    if (layer->config.inner_norm == NORM_BATCH)
        return error_set(
            err, ERROR_INVALID,
            "it would have a batch norm inside, and a layer by relation has no running "
            "statistics: " ADVICE "write `inner: relu` or `norm: layer`");
    if (layer->type->keeps_width)
        rc = check_widths(schema, layer, err);
    if (rc == ERROR_NONE && layer->type->divides_by_ends)
        rc = check_reverses(schema, err);
    for (uint32_t r = 0; layer->type->adds_own_row && r < schema->relation_count; r++) {
        const struct relation *relation = &schema->relation[r];
        const uint32_t source = layer->type_input_dim[relation->source_type];
        const uint32_t target = layer->type_input_dim[relation->target_type];
        if (source != target)
            return error_set(err, ERROR_INVALID,
                             "it adds the row of a node to those of its neighbours, but relation "
                             "%s leads from rows of %" PRIu32 " columns to rows of %" PRIu32
                             ": expected types of one width, as train-step.projection: linear "
                             "gives them",
                             relation->name, source, target);
    }
    return rc;
}

static void add_tensor(struct parameter_writer *writer, const char *key,
                       const struct layer_parameter *own)
{
    const uint32_t matrix[PARAMETER_DIM_COUNT_MAX] = {own->rows, own->cols};
    const uint32_t heads[PARAMETER_DIM_COUNT_MAX] = {1, own->rows, own->cols};
    parameter_writer_add(writer, own->dim_count, own->dim_count == 3 ? heads : matrix, own->bound,
                         own->start, "convs.%d.convs.%s.%s", writer->number, key, own->suffix);
}

static void parameters(struct parameter_writer *writer)
{
    const struct relation_schema *schema = &writer->model->config.types.schema;
    for (uint32_t r = 0; r < schema->relation_count; r++) {
        const struct model_layer layer = layer_of(writer->layer, &schema->relation[r], 1);
        struct layer_parameter own[LAYER_PARAMETER_COUNT_MAX] = {0};
        char key[RELATION_KEY_SIZE];
        const int count = layer.type->parameters(&layer, own);
        relation_key(schema, r, key);
        for (int i = 0; i < count; i++)
            add_tensor(writer, key, &own[i]);
    }
}

/* --- forward --- */

/* row_start and degree of all destinations from those of the rows that have edges. */
static void fill_rows(const struct relation_edges *edges, uint32_t rows, uint32_t *row_start,
                      uint32_t *degree)
{
    const struct message_block *block = &edges->block;
    const uint32_t count = block->destination_count;
    uint32_t k = 0;
    for (uint32_t i = 0; i < rows; i++) {
        const bool has_edges = k < count && edges->row[k] == i;
        row_start[i] = count ? block->row_start[k] : 0;
        if (degree)
            degree[i] = has_edges ? block->degree[k] : 0;
        k += has_edges;
    }
    row_start[rows] = count ? block->row_start[count] : 0;
}

/* Gives a block what the ends of its edges have, for a layer that divides by it. To such a layer a
 * relation from a type to itself is a plain graph. */
static enum error_code find_ends(const struct typed_pass *pass, uint32_t r, struct arena *arena,
                                 struct message_block *block, struct error *err)
{
    const struct relation_edges *edges = &pass->edges[r];
    const struct relation *relation = relation_of(pass, r);
    uint32_t *nothing = NULL; /* what a source has that stands for none */
    enum error_code rc = ERROR_NONE;
    block->value_sum = edges->target_sum;
    block->source_degree = edges->source_degree;
    block->source_value_sum = edges->source_sum;
    if (relation->source_type == relation->target_type) {
        block->is_bipartite = false;
        block->degree = edges->source_degree;
        block->value_sum = edges->source_sum;
    } else if (pass->source_count[relation->source_type] == 0) {
        rc = arena_new(arena, &nothing, 1, what, err);
        if (rc == ERROR_NONE && !arena->counts)
            *nothing = 0;
        block->source_degree = nothing;
        block->source_value_sum = (const float *)(const void *)nothing;
    }
    return rc;
}

/* The block of a relation with a row for each destination, and with a source: where a type has
 * none, one that nobody hears from. */
static enum error_code find_block(const struct typed_pass *pass, uint32_t r, struct arena *arena,
                                  struct message_block *out, struct error *err)
{
    const struct relation_edges *edges = &pass->edges[r];
    const uint32_t rows = pass->destination_count[relation_of(pass, r)->target_type];
    uint32_t *row_start = NULL, *degree = NULL;
    *out = edges->block;
    out->destination_count = rows;
    out->is_bipartite = true;
    if (out->source_count == 0)
        out->source_count = 1;
    enum error_code rc = arena_new(arena, &row_start, (size_t)rows + 1, what, err);
    if (rc == ERROR_NONE && pass->model->needs_degree)
        rc = arena_new(arena, &degree, rows, what, err);
    out->degree = degree;
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    fill_rows(edges, rows, row_start, degree);
    out->row_start = row_start;
    return ERROR_NONE;
}

/* Finds what a relation reads of its sources. */
static enum error_code find_input(const struct typed_pass *pass, uint32_t r, struct arena *arena,
                                  struct input_rows *out, struct error *err)
{
    const struct relation *relation = relation_of(pass, r);
    const uint32_t dim = pass->layer->type_input_dim[relation->source_type];
    float *zeros = NULL;
    *out = pass->input[relation->source_type];
    out->mostly_zero = false; /* that is for input_dim columns of features that lie in one place */
    if (pass->source_count[relation->source_type] > 0)
        return ERROR_NONE;
    const enum error_code rc = arena_new(arena, &zeros, dim, what, err);
    for (uint32_t c = 0; rc == ERROR_NONE && !arena->counts && c < dim; c++)
        zeros[c] = 0;
    *out = (struct input_rows){.base = zeros, .stride = dim};
    return rc;
}

/* Edges of the relations before `r`. */
static uint64_t edges_before(const struct typed_pass *pass, uint32_t r)
{
    uint64_t count = 0;
    for (uint32_t before = 0; before < r; before++)
        count += message_block_edges(&pass->edges[before].block);
    return count;
}

/* Finds what the layer reads beside its sources: rows of destinations, and rows that the lowest
 * layer of its kind reads. */
static void find_own_rows(const struct typed_pass *pass, uint32_t r, struct conv *conv)
{
    const uint32_t target = relation_of(pass, r)->target_type;
    conv->pass.own = pass->input[target];
    conv->pass.own.mostly_zero = false;
    conv->pass.second_input = pass->start ? pass->start[target] : NULL;
    if (pass->is_inferred)
        conv->pass.projects_first = false;
}

static enum error_code begin_conv(const struct typed_pass *pass, uint32_t r, struct conv *conv,
                                  struct arena *arena, struct error *err)
{
    struct message_block block;
    struct input_rows input;
    enum error_code rc = find_block(pass, r, arena, &block, err);
    if (rc == ERROR_NONE && pass->layer->type->divides_by_ends)
        rc = find_ends(pass, r, arena, &block, err);
    if (rc == ERROR_NONE)
        rc = find_input(pass, r, arena, &input, err);
    if (rc == ERROR_NONE)
        rc = layer_pass_init_tensors(&conv->pass, &conv->layer, tensors_of(pass, conv, r),
                                     pass->value, &block, &input, arena, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &conv->rows,
                       (size_t)block.destination_count * pass->layer->config.output_dim, what, err);
    find_own_rows(pass, r, conv);
    conv->pass.slot_dropout = pass->slot_dropout;
    conv->pass.first_slot = edges_before(pass, r);
    conv->pass.output = conv->rows;
    return rc;
}

struct join_job {
    const struct typed_pass *pass;
    const struct convs *convs;
    uint32_t type;
    float share;
};

CPU_KERNEL(add_rows, (float *restrict sum, const float *restrict rows, float share, size_t count),
           (sum, rows, share, count))
{
    vector_add_scaled(sum, rows, share, count);
}

static void join_tile(void *context, int64_t tile, int thread)
{
    const struct join_job *job = context;
    const struct typed_pass *pass = job->pass;
    const size_t dim = pass->layer->config.output_dim;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const size_t count =
        (layer_pass_tile_end(first, pass->destination_count[job->type]) - first) * dim;
    float *y = pass->output[job->type] + first * dim;
    (void)thread;
    for (size_t i = 0; i < count; i++)
        y[i] = 0;
    for (uint32_t r = 0; r < pass->schema->relation_count; r++)
        if (relation_of(pass, r)->target_type == job->type)
            add_rows(y, job->convs->conv[r].rows + first * dim, job->share, count);
}

static void join(const struct typed_pass *pass, const struct convs *convs, struct thread_pool *pool)
{
    struct join_job job = {.pass = pass, .convs = convs};
    for (job.type = 0; job.type < pass->schema->type_count; job.type++) {
        job.share = typed_pass_share(pass, job.type);
        thread_pool_run(pool, layer_pass_tiles(pass->destination_count[job.type]), join_tile, &job);
    }
}

static enum error_code new_convs(const struct typed_pass *pass, struct arena *arena,
                                 struct convs **out, struct error *err)
{
    const uint32_t relations = pass->schema->relation_count;
    enum error_code rc = arena_new(arena, out, 1, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &(*out)->conv, relations, what, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++)
        (*out)->conv[r] =
            (struct conv){.layer = layer_of(pass->layer, relation_of(pass, r), (int)relations)};
    return rc;
}

static bool has_rows(const struct typed_pass *pass, uint32_t r)
{
    return pass->destination_count[relation_of(pass, r)->target_type] > 0;
}

static enum error_code forward(struct typed_pass *pass, bool keep,
                               const struct model_workspace *workspace, struct error *err)
{
    struct convs *convs = NULL;
    enum error_code rc = new_convs(pass, workspace->arena, &convs, err);
    pass->state = convs;
    for (uint32_t r = 0; rc == ERROR_NONE && r < pass->schema->relation_count; r++) {
        if (!has_rows(pass, r))
            continue;
        rc = begin_conv(pass, r, &convs->conv[r], workspace->arena, err);
        if (rc == ERROR_NONE)
            rc = layer_pass_forward(&convs->conv[r].pass, keep, workspace->arena, workspace->pool,
                                    err);
    }
    if (rc == ERROR_NONE && !workspace->arena->counts)
        join(pass, convs, workspace->pool);
    return rc;
}

/* --- backward --- */

struct back_job {
    const struct typed_pass *pass;
    const struct conv *conv;
    const struct relation *relation;
    float *scratch; /* [threads, scratch_size]: rows of a tile of sources */
    size_t scratch_size;
};

static void source_tile(void *context, int64_t tile, int thread)
{
    const struct back_job *job = context;
    const struct typed_pass *pass = job->pass;
    const size_t dim = job->conv->layer.input_dim;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->source_count[job->relation->source_type]);
    const float *rows = layer_pass_input_gradient(
        &job->conv->pass, dim, first, end, job->scratch + (size_t)thread * job->scratch_size);
    add_rows(pass->input_gradient[job->relation->source_type] + first * dim, rows, 1,
             (end - first) * dim);
}

static void own_tile(void *context, int64_t tile, int thread)
{
    const struct back_job *job = context;
    const struct typed_pass *pass = job->pass;
    const size_t dim = job->conv->layer.own_dim;
    const uint32_t type = job->relation->target_type;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->destination_count[type]);
    (void)thread;
    add_rows(pass->input_gradient[type] + first * dim, job->conv->pass.own_gradient + first * dim,
             1, (end - first) * dim);
}

static void start_tile(void *context, int64_t tile, int thread)
{
    const struct back_job *job = context;
    const struct typed_pass *pass = job->pass;
    const size_t dim = pass->layer->config.output_dim;
    const uint32_t type = job->relation->target_type;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, pass->destination_count[type]);
    (void)thread;
    add_rows(pass->start_gradient[type] + first * dim,
             job->conv->pass.second_gradient + first * dim, 1, (end - first) * dim);
}

/* Adds the gradient of the input of a relation's layer to the gradients of both types. */
static void add_input_gradients(struct back_job *job, struct thread_pool *pool)
{
    const struct typed_pass *pass = job->pass;
    const uint32_t source = job->relation->source_type, target = job->relation->target_type;
    if (pass->input_gradient[source])
        thread_pool_run(pool, layer_pass_tiles(pass->source_count[source]), source_tile, job);
    if (pass->input_gradient[target] && job->conv->pass.own_gradient)
        thread_pool_run(pool, layer_pass_tiles(pass->destination_count[target]), own_tile, job);
    if (job->conv->pass.second_gradient)
        thread_pool_run(pool, layer_pass_tiles(pass->destination_count[target]), start_tile, job);
}

/* The gradient of the rows that each relation to `type` gives. */
static enum error_code share_out(const struct typed_pass *pass, uint32_t type, const float *dy,
                                 struct arena *arena, const float **out, struct error *err)
{
    const float share = typed_pass_share(pass, type);
    const size_t count = (size_t)pass->destination_count[type] * pass->layer->config.output_dim;
    float *rows = NULL;
    *out = dy;
    if (pass->model->config.types.relation_aggr == RELATION_AGGR_SUM || count == 0)
        return ERROR_NONE;
    const enum error_code rc = arena_new(arena, &rows, count, what, err);
    *out = rows;
    for (size_t i = 0; rc == ERROR_NONE && !arena->counts && i < count; i++)
        rows[i] = share * dy[i];
    return rc;
}

static enum error_code begin_types(const struct typed_pass *pass, float *const *output_gradient,
                                   struct arena *arena, const float **dy, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < pass->schema->type_count; t++) {
        const size_t count = (size_t)pass->source_count[t] * pass->layer->type_input_dim[t];
        float *dx = pass->input_gradient[t];
        for (size_t i = 0; !arena->counts && dx && i < count; i++)
            dx[i] = 0;
        rc = share_out(pass, t, output_gradient[t], arena, &dy[t], err);
    }
    return rc;
}

static enum error_code conv_back(struct back_job *job, struct conv *conv, uint32_t r,
                                 const float *dy, const struct model_workspace *workspace,
                                 float *gradient, struct error *err)
{
    const struct typed_pass *pass = job->pass;
    const struct layer_gradient out =
        layer_pass_gradient(&conv->layer, tensors_of(pass, conv, r), gradient);
    job->conv = conv;
    job->relation = relation_of(pass, r);
    const bool is_first = !pass->input_gradient[job->relation->source_type] &&
                          !pass->input_gradient[job->relation->target_type];
    enum error_code rc = ERROR_NONE;
    if (pass->start)
        rc = arena_new(workspace->arena, &conv->pass.second_gradient,
                       conv->pass.block.destination_count * (size_t)conv->pass.output_dim, what,
                       err);
    if (rc == ERROR_NONE)
        rc = layer_pass_backward(&conv->pass, NULL, dy, is_first, &out, workspace->arena,
                                 workspace->pool, err);
    if (rc == ERROR_NONE && !is_first && !workspace->arena->counts)
        add_input_gradients(job, workspace->pool);
    return rc;
}

static enum error_code backward(struct typed_pass *pass, float *const *output_gradient,
                                const struct model_workspace *workspace, float *gradient,
                                struct error *err)
{
    struct convs *convs = pass->state;
    const float *dy[RELATION_TYPE_COUNT_MAX];
    struct back_job job = {.pass = pass};
    size_t widest = 0;
    for (uint32_t t = 0; t < pass->schema->type_count; t++)
        if (widest < pass->layer->type_input_dim[t])
            widest = pass->layer->type_input_dim[t];
    job.scratch_size = layer_pass_scratch(TILE_ROWS * widest);
    enum error_code rc =
        arena_new(workspace->arena, &job.scratch,
                  (size_t)thread_pool_size(workspace->pool) * job.scratch_size, what, err);
    if (rc == ERROR_NONE)
        rc = begin_types(pass, output_gradient, workspace->arena, dy, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < pass->schema->relation_count; r++)
        if (has_rows(pass, r))
            rc = conv_back(&job, &convs->conv[r], r, dy[relation_of(pass, r)->target_type],
                           workspace, gradient, err);
    return rc;
}

const struct typed_kind relation_convs = {.wants_target_rows = true,
                                          .parameters = parameters,
                                          .check = check,
                                          .forward = forward,
                                          .backward = backward};
