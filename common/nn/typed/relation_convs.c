#include "common/nn/typed/relation_convs.h"

#include "common/graph/relation_reverse.h"
#include "common/math/bf16_rows.h"
#include "common/math/vector.h"
#include "common/nn/layers/layer.h"
#include "common/nn/typed/layer_row.h"
#include "common/nn/typed/relation_conv.h"

#include <inttypes.h>
#include <stdio.h>

static const char what[] = "layers by relation"; /* user of the memory, for messages */

/* --- tensors --- */

/* Checks that relations between two types have a reverse, which gives the number of edges that
 * begin at a node. */
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

/* Checks that widths match if a kind has no matrix: such a kind gives rows as wide as it reads. */
static enum error_code check_widths(const struct relation_schema *schema,
                                    const struct model_layer *layer, struct error *err)
{
    for (uint32_t t = 0; t < schema->type_count; t++)
        if (layer->type_input_dim[t] != layer->config.output_dim && !*schema->type_name[t])
            return error_set(err, ERROR_INVALID,
                             "it gives as many columns as it reads, %" PRIu32 ", not %" PRIu32,
                             layer->type_input_dim[t], layer->config.output_dim);
        else if (layer->type_input_dim[t] != layer->config.output_dim)
            return error_set(err, ERROR_INVALID,
                             "it passes rows on as they are, and rows of type %s have %" PRIu32
                             " columns, not %" PRIu32
                             ": expected types of one width, as train-step.projection: linear "
                             "gives them",
                             schema->type_name[t], layer->type_input_dim[t],
                             layer->config.output_dim);
    return ERROR_NONE;
}

enum error_code relation_convs_check(const struct model_config *config,
                                     const struct model_layer *layer, struct error *err)
{
    const struct relation_schema *schema = &config->types.schema;
    enum error_code rc = ERROR_NONE;
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

enum { PREFIX_SIZE = RELATION_KEY_SIZE + 64 };

/* Finds the prefix of the tensor names of a place. */
static void find_prefix(const struct model *model, const struct model_layer *layer, int number,
                        uint32_t i, char out[PREFIX_SIZE])
{
    const struct relation_schema *schema = &model->config.types.schema;
    const bool is_named = *schema->type_name[0];
    const char *prefix = layer->type->prefix ? layer->type->prefix : "convs";
    char key[RELATION_KEY_SIZE];
    if (conv_gives_target_alone(model, layer) && (is_named || model->config.jumping_knowledge)) {
        (void)snprintf(out, PREFIX_SIZE, "lin.");
    } else if (!is_named && !*prefix) {
        *out = '\0';
    } else if (!is_named) {
        (void)snprintf(out, PREFIX_SIZE, "%s.%d.", prefix, number);
    } else if (layer->type->uses_edges) {
        relation_key(schema, i, key);
        (void)snprintf(out, PREFIX_SIZE, "convs.%d.convs.%s.", number, key);
    } else {
        relation_type_key(schema, i, key);
        (void)snprintf(out, PREFIX_SIZE, "%s.%d.%s.", prefix, number, key);
    }
}

static void add_tensor(struct parameter_writer *writer, const char *prefix,
                       const struct layer_parameter *own)
{
    const uint32_t matrix[PARAMETER_DIM_COUNT_MAX] = {own->rows, own->cols};
    const uint32_t heads[PARAMETER_DIM_COUNT_MAX] = {1, own->rows, own->cols};
    (void)parameter_writer_add(writer, own->dim_count, own->dim_count == 3 ? heads : matrix,
                               own->bound, own->start, "%s%s", prefix, own->suffix);
}

void relation_convs_parameters(struct parameter_writer *writer)
{
    const struct model *model = writer->model;
    for (uint32_t i = 0; i < conv_place_count(model, writer->layer); i++) {
        const struct conv_place place = conv_place_of(model, writer->layer, i);
        const struct model_layer layer = conv_layer_of(model, writer->layer, &place, 0);
        struct layer_parameter own[LAYER_PARAMETER_COUNT_MAX] = {0};
        char prefix[PREFIX_SIZE];
        const int count = place.tensors < 0 ? 0 : layer.type->parameters(&layer, own);
        find_prefix(model, writer->layer, writer->number, i, prefix);
        if (writer->rc == ERROR_NONE && place.tensors >= 0)
            writer->rc = layer_row_check(&layer, writer->err);
        for (int k = 0; k < count; k++)
            add_tensor(writer, prefix, &own[k]);
    }
}

void relation_convs_buffers(struct parameter_writer *writer)
{
    const struct model *model = writer->model;
    for (uint32_t i = 0; i < conv_place_count(model, writer->layer); i++) {
        char prefix[PREFIX_SIZE], module[PREFIX_SIZE + 32];
        find_prefix(model, writer->layer, writer->number, i, prefix);
        (void)snprintf(module, sizeof module, "%snn.norms.0.module", prefix);
        (void)parameter_writer_statistics(writer, writer->layer->config.output_dim, module);
    }
}

/* --- forward --- */

/* Fills in row_start and degree of all destinations from the rows that have edges. */
static void fill_rows(const struct relation_edges *edges, uint32_t rows, uint32_t *row_start,
                      uint32_t *degree)
{
    const struct message_block *block = &edges->block;
    const uint32_t count = block->destination_count;
    uint32_t k = 0;
    must(edges->row || count == 0);
    for (uint32_t i = 0; i < rows; i++) {
        const bool has_edges = k < count && edges->row[k] == i;
        row_start[i] = count ? block->row_start[k] : 0;
        if (degree)
            degree[i] = has_edges ? block->degree[k] : 0;
        k += has_edges;
    }
    row_start[rows] = count ? block->row_start[count] : 0;
}

/* Sets the degrees or sums of both ends of edges, for a layer that divides by them. Such a layer
 * computes on a relation from a type to itself as on a plain graph. */
static enum error_code find_ends(const struct typed_pass *pass, const struct relation_edges *edges,
                                 const struct conv_place *place, struct arena *arena,
                                 struct message_block *block, struct error *err)
{
    uint32_t *nothing = NULL; /* [1], for the source of count_sources() that no edge names */
    enum error_code rc = ERROR_NONE;
    block->value_sum = edges->target_sum;
    block->source_degree = edges->source_degree;
    block->source_value_sum = edges->source_sum;
    if (place->source == place->target) {
        block->degree = edges->source_degree;
        block->value_sum = edges->source_sum;
    } else if (pass->source_count[place->source] == 0) {
        rc = arena_new(arena, &nothing, 1, what, err);
        if (rc == ERROR_NONE && !arena->counts)
            *nothing = 0;
        block->source_degree = nothing;
        block->source_value_sum = (const float *)(const void *)nothing;
    }
    return rc;
}

/* Gives each destination a row. */
static enum error_code spread_rows(const struct typed_pass *pass,
                                   const struct relation_edges *edges, uint32_t rows,
                                   struct arena *arena, struct message_block *out,
                                   struct error *err)
{
    uint32_t *row_start = NULL, *degree = NULL;
    if (!edges->row && edges->block.destination_count == rows)
        return ERROR_NONE;
    out->destination_count = rows;
    out->edge_count = message_block_edges(&edges->block);
    out->row_start = NULL;
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

/* Returns the number of sources, at least 1. If a mini-batch has no node of the source type, the
 * relation computes on one source that no edge names, so that no array of its block is empty. */
static uint32_t count_sources(const struct typed_pass *pass, uint32_t type)
{
    return pass->source_count[type] ? pass->source_count[type] : 1;
}

/* Makes the block of a relation. */
static enum error_code find_block(const struct typed_pass *pass, uint32_t i,
                                  const struct conv_place *place, struct arena *arena,
                                  struct message_block *out, struct error *err)
{
    const struct layer_type *type = pass->layer->type;
    const uint32_t rows = pass->destination_count[place->target];
    if (!type->uses_edges) {
        *out = (struct message_block){.destination_count = rows, .source_count = rows};
        return ERROR_NONE;
    }
    const struct relation_edges *edges = &pass->edges[i];
    const bool has_loops = type->forward && !type->divides_by_ends;
    *out = edges->block;
    out->source_count = count_sources(pass, place->source);
    out->is_bipartite =
        place->source != place->target || (has_loops && *pass->schema->type_name[place->source]);
    out->degree_has_loops = *pass->schema->type_name[place->source] && !type->divides_by_ends;
    enum error_code rc = spread_rows(pass, edges, rows, arena, out, err);
    if (rc == ERROR_NONE && type->divides_by_ends)
        rc = find_ends(pass, edges, place, arena, out, err);
    return rc;
}

/* Finds the source rows that a relation reads. */
static enum error_code find_input(const struct typed_pass *pass, const struct conv_place *place,
                                  bool is_bipartite, struct arena *arena, struct input_rows *out,
                                  struct error *err)
{
    const uint32_t dim = pass->layer->type_input_dim[place->source];
    float *zeros = NULL;
    *out = pass->input[place->source];
    out->mostly_zero &= !is_bipartite;
    if (pass->source_count[place->source] > 0)
        return ERROR_NONE;
    const enum error_code rc = arena_new(arena, &zeros, dim, what, err);
    for (uint32_t c = 0; rc == ERROR_NONE && !arena->counts && c < dim; c++)
        zeros[c] = 0;
    *out = (struct input_rows){.base = zeros, .stride = dim, .precision = out->precision};
    return rc;
}

/* Returns the number of edges of the relations before `r`. */
static uint64_t edges_before(const struct typed_pass *pass, uint32_t r)
{
    uint64_t count = 0;
    for (uint32_t before = 0; pass->layer->type->uses_edges && before < r; before++)
        count += message_block_edges(&pass->edges[before].block);
    return count;
}

/* Finds the rows that the layer reads beside its sources: rows of destinations, and rows of the
 * second input. */
static void find_own_rows(const struct typed_pass *pass, uint32_t i, struct conv *conv)
{
    const uint32_t target = conv->place.target;
    conv->pass.own = pass->input[target];
    conv->pass.own.mostly_zero = false;
    conv->pass.second_input = pass->start ? pass->start[target] : NULL;
    conv->pass.slot_dropout = pass->slot_dropout;
    conv->pass.first_slot = edges_before(pass, i);
    if (pass->is_inferred)
        conv->pass.projects_first = false; /* the sources are those of many tiles */
    if (pass->sum)
        conv->pass.sum = conv->pass.aggregation.sum = pass->sum[i];
    if (pass->aggregated && i == 0) {
        conv->pass.aggregated = pass->aggregated;
        conv->pass.aggregated_count = pass->aggregated_count;
    }
    for (int k = 0; pass->layer->config.inner_norm == NORM_BATCH && k < 2; k++)
        conv->pass.running[k] =
            pass->value +
            pass->model->parameter[pass->layer->inner_buffer_parameter + 3 * (int)i + k].offset;
}

/* Places the rows of a conv. If it alone gives the rows of its type, it computes the tail tile by
 * tile, unless the tail runs behind the layer. */
static enum error_code place_rows(const struct typed_pass *pass, struct conv *conv,
                                  struct arena *arena, struct error *err)
{
    const struct layer_pass *row = &pass->row[conv->place.target].pass;
    struct activation activation = row->activation;
    if (conv_is_joined(pass->model, pass->layer, conv->place.target)) {
        const enum error_code rc = arena_new(
            arena, &conv->rows, (size_t)row->block.destination_count * row->output_dim, what, err);
        conv->pass.output = conv->rows;
        return rc;
    }
    activation.bias = conv->pass.activation.bias;
    conv->pass.activation = activation;
    conv->pass.output = row->output;
    conv->pass.output_precision = row->output_precision;
    return ERROR_NONE;
}

static enum error_code begin_own(const struct typed_pass *pass, struct conv *conv,
                                 struct arena *arena, struct error *err)
{
    const uint32_t target = conv->place.target;
    if (!conv_adds_own_product(pass->model, pass->layer, &conv->place))
        return ERROR_NONE;
    return row_product_new(&(struct row_matrix){pass->value + conv_own_tensor(pass, conv)->offset,
                                                NULL, conv->layer.own_dim, conv->pass.output_dim},
                           pass->destination_count[target], &pass->input[target], NULL, arena,
                           &conv->own, err);
}

static enum error_code begin_conv(const struct typed_pass *pass, uint32_t i, struct conv *conv,
                                  struct arena *arena, struct error *err)
{
    struct message_block block;
    struct input_rows input;
    enum error_code rc = find_block(pass, i, &conv->place, arena, &block, err);
    if (rc == ERROR_NONE)
        rc = find_input(pass, &conv->place, block.is_bipartite, arena, &input, err);
    if (rc == ERROR_NONE)
        rc = layer_pass_init_tensors(&conv->pass, &conv->layer, conv_tensors(pass, conv),
                                     pass->value, &block, &input, arena, err);
    find_own_rows(pass, i, conv);
    if (rc == ERROR_NONE)
        rc = begin_own(pass, conv, arena, err);
    return rc == ERROR_NONE ? place_rows(pass, conv, arena, err) : rc;
}

struct join_job {
    const struct typed_pass *pass;
    struct convs *convs;
    uint32_t type;
    float share;
    float *scratch; /* [threads, scratch_size]: rows that are rounded afterwards */
    size_t scratch_size;
};

static void add_relations(const struct join_job *job, float *y, size_t at, size_t count)
{
    vector_zero(y, count);
    for (uint32_t i = 0; i < job->convs->count; i++) {
        const struct conv *conv = &job->convs->conv[i];
        if (conv->place.target != job->type || !conv->rows)
            continue;
        conv_add_rows(y, conv->rows + at, job->share, count);
        if (conv->own)
            conv_add_rows(y, row_product_rows(conv->own) + at, job->share, count);
    }
}

/* Takes the maximum of each value; of equal values the first relation's. */
static void take_largest(const struct join_job *job, float *y, size_t at, size_t count)
{
    uint16_t *largest = job->convs->largest[job->type] + at;
    bool is_first = true;
    for (uint32_t r = 0; r < job->convs->count; r++) {
        const struct conv *conv = &job->convs->conv[r];
        if (conv->place.target != job->type)
            continue;
        if (conv->own)
            conv_add_rows(conv->rows + at, row_product_rows(conv->own) + at, 1, count);
        for (size_t i = 0; i < count; i++) {
            if (!is_first && !(conv->rows[at + i] > y[i]))
                continue;
            y[i] = conv->rows[at + i];
            largest[i] = (uint16_t)r;
        }
        is_first = false;
    }
}

static void join_tile(void *context, int64_t tile, int thread)
{
    const struct join_job *job = context;
    const struct layer_pass *row = &job->pass->row[job->type].pass;
    const size_t dim = row->output_dim;
    const uint32_t first = (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, row->block.destination_count);
    const bool rounds = row->output_precision == PRECISION_BF16;
    float *y = rounds ? job->scratch + (size_t)thread * job->scratch_size
                      : (float *)row->output + first * dim;
    if (job->convs->largest[job->type])
        take_largest(job, y, first * dim, (end - first) * dim);
    else
        add_relations(job, y, first * dim, (end - first) * dim);
    if (row->activation.relu)
        layer_pass_finish(row, y, first, end);
    if (rounds)
        bf16_rows_round((bf16 *)row->output + first * bf16_stride(dim), y, dim, end - first);
}

/* Joins the rows of the relations to a type to one row each. */
static enum error_code join_type(struct join_job *job, uint32_t type, bool keep,
                                 const struct model_workspace *workspace, struct error *err)
{
    const struct typed_pass *pass = job->pass;
    struct layer_pass *row = &pass->row[type].pass;
    const uint32_t rows = row->block.destination_count;
    const int threads = thread_pool_size(workspace->pool);
    const uint32_t givers = conv_giver_count(pass->model, pass->layer, type);
    enum error_code rc = ERROR_NONE;
    job->type = type;
    job->share = typed_pass_share(pass, type);
    job->convs->largest[type] = NULL;
    if ((givers == 1 && !conv_is_joined(pass->model, pass->layer, type)) || rows == 0)
        return ERROR_NONE;
    if (pass->model->config.types.relation_aggr == RELATION_AGGR_MAX && givers > 1)
        rc = arena_new(workspace->arena, &job->convs->largest[type], (size_t)rows * row->output_dim,
                       what, err);
    if (rc == ERROR_NONE && keep && row->activation.relu)
        rc = layer_pass_keep_active(row, workspace->arena, err);
    job->scratch_size = layer_pass_scratch((size_t)TILE_ROWS * row->output_dim);
    if (rc == ERROR_NONE && row->output_precision == PRECISION_BF16)
        rc = arena_new(workspace->arena, &job->scratch, (size_t)threads * job->scratch_size, what,
                       err);
    if (rc == ERROR_NONE && !workspace->arena->counts)
        thread_pool_run(workspace->pool, layer_pass_tiles(rows), join_tile, job);
    return rc;
}

static enum error_code new_convs(const struct typed_pass *pass, struct arena *arena,
                                 struct convs **out, struct error *err)
{
    const struct model *model = pass->model;
    const uint32_t count = conv_place_count(model, pass->layer);
    enum error_code rc = arena_new(arena, out, 1, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &(*out)->conv, count, what, err);
    if (rc != ERROR_NONE)
        return rc;
    (*out)->count = count;
    const int with_tensors = conv_gives_target_alone(model, pass->layer) ? 1 : (int)count;
    for (uint32_t i = 0; i < count; i++) {
        struct conv *conv = &(*out)->conv[i];
        *conv = (struct conv){.place = conv_place_of(model, pass->layer, i)};
        conv->layer = conv_layer_of(model, pass->layer, &conv->place,
                                    pass->layer->parameter_count / with_tensors);
        conv->runs = conv->place.tensors >= 0 && pass->destination_count[conv->place.target] > 0;
    }
    return ERROR_NONE;
}

enum error_code relation_convs_forward(struct typed_pass *pass, bool keep,
                                       const struct model_workspace *workspace, struct error *err)
{
    struct convs *convs = NULL;
    enum error_code rc = new_convs(pass, workspace->arena, &convs, err);
    struct join_job job = {.pass = pass, .convs = convs};
    pass->state = convs;
    for (uint32_t i = 0; rc == ERROR_NONE && i < convs->count; i++) {
        struct conv *conv = &convs->conv[i];
        if (!conv->runs)
            continue;
        rc = begin_conv(pass, i, conv, workspace->arena, err);
        if (rc == ERROR_NONE)
            rc = layer_pass_forward(&conv->pass, keep, workspace->arena, workspace->pool, err);
        if (rc == ERROR_NONE && conv->own)
            rc = row_product_forward(conv->own, keep, workspace, err);
    }
    for (uint32_t t = 0; rc == ERROR_NONE && t < pass->schema->type_count; t++)
        rc = join_type(&job, t, keep, workspace, err);
    return rc;
}
