/*
 * The heterogeneous graph transformer (Hu and others, WWW 2020), as in PyG's HGTConv. With a row of
 * a type t
 *
 *   k, q, v = kqv_lin_t(x)                             by heads of D columns
 *
 * an edge of relation r from source j to destination i has in head h
 *
 *   s = q_i . (k_j K_rh) p_rh / sqrt(D)                K_rh = k_rel.weight[h relations + r], x K
 *   w = softmax of s over the edges of i of all relations together
 *   o_i = sum over them of w (v_j V_rh)                V_rh = v_rel.weight[h relations + r]
 *   y_i = out_lin_t(gelu(o_i)), and if x and y have the same width
 *         sigmoid(skip_t) y_i + (1 - sigmoid(skip_t)) x_i
 *
 * K and V are applied to rows of destinations, which are fewer than sources: s = (q_i K^T p /
 * sqrt(D)) . k_j, and the sum of w v_j is computed before V is applied. Backward runs these steps
 * in reverse; the gradient of p is computed from that of the matrix that p scales.
 */
#include "common/math/vector.h"
#include "common/nn/layers/attention/hgt.h"
#include "common/nn/layers/layer.h"
#include "common/nn/operators/first_bounds.h"

static const char what[] = "heterogeneous attention"; /* user of the memory, for messages */

static enum error_code check(const struct model_config *config, const struct model_layer *layer,
                             struct error *err)
{
    (void)config;
    if (layer->config.output_dim % (uint32_t)layer->config.option.heads)
        return error_set(err, ERROR_INVALID,
                         "the output width is %u, which its %d heads do not divide",
                         layer->config.output_dim, (int)layer->config.option.heads);
    return ERROR_NONE;
}

static void parameters(struct parameter_writer *writer)
{
    const struct relation_schema *schema = &writer->model->config.types.schema;
    const uint32_t width = writer->layer->config.output_dim;
    const uint32_t heads = (uint32_t)writer->layer->config.option.heads, dim = width / heads;
    const uint32_t of_edges[] = {heads * schema->relation_count, dim, dim, 0};
    const uint32_t scales[] = {1, heads, 0, 0}, one[PARAMETER_DIM_COUNT_MAX] = {1};
    char key[RELATION_KEY_SIZE];
    const int k = writer->number;
    for (uint32_t t = 0; t < schema->type_count; t++) {
        const uint32_t input = writer->layer->type_input_dim[t];
        const uint32_t kqv[] = {HGT_KQV_COUNT * width, input, 0, 0}, out[] = {width, width, 0, 0};
        const float bound = layer_linear_bound(input), out_bound = layer_linear_bound(width);
        relation_type_key(schema, t, key);
        parameter_writer_add(writer, 2, kqv, bound, 0, "convs.%d.kqv_lin.lins.%s.weight", k, key);
        parameter_writer_add(writer, 1, kqv, bound, 0, "convs.%d.kqv_lin.lins.%s.bias", k, key);
        parameter_writer_add(writer, 2, out, out_bound, 0, "convs.%d.out_lin.lins.%s.weight", k,
                             key);
        parameter_writer_add(writer, 1, out, out_bound, 0, "convs.%d.out_lin.lins.%s.bias", k, key);
    }
    parameter_writer_add(writer, 3, of_edges, layer_linear_bound(dim), 0, "convs.%d.k_rel.weight",
                         k);
    parameter_writer_add(writer, 3, of_edges, layer_linear_bound(dim), 0, "convs.%d.v_rel.weight",
                         k);
    for (uint32_t t = 0; t < schema->type_count; t++) {
        relation_type_key(schema, t, key);
        parameter_writer_add(writer, 1, one, 0, 1, "convs.%d.skip.%s", k, key);
    }
    for (uint32_t r = 0; r < schema->relation_count; r++) {
        relation_joined_key(schema, r, key);
        parameter_writer_add(writer, 2, scales, 0, 1, "convs.%d.p_rel.%s", k, key);
    }
}

/* --- forward --- */

static enum error_code new_type(const struct typed_pass *pass, uint32_t type, struct arena *arena,
                                struct hgt_type **out, struct error *err)
{
    const uint32_t width = pass->layer->config.output_dim,
                   input_dim = pass->layer->type_input_dim[type];
    const float *weight = typed_parameter(pass, hgt_type_tensor(type, HGT_KQV_WEIGHT));
    const float *bias = typed_parameter(pass, hgt_type_tensor(type, HGT_KQV_BIAS));
    const uint32_t rows = pass->destination_count[type];
    struct hgt_type *made = NULL;
    enum error_code rc = arena_new(arena, &made, 1, what, err);
    *out = made;
    if (rc != ERROR_NONE)
        return rc;
    *made = (struct hgt_type){.out = NULL};
    for (int i = 0; rc == ERROR_NONE && i < HGT_KQV_COUNT; i++) {
        const uint32_t count = i == HGT_QUERY ? rows : pass->source_count[type];
        if (count)
            rc = row_product_new(&(struct row_matrix){weight + (size_t)i * width * input_dim,
                                                      bias + (size_t)i * width, input_dim, width},
                                 count, &pass->input[type], NULL, arena, &made->kqv[i], err);
    }
    if (rc != ERROR_NONE || rows == 0)
        return rc;
    rc = arena_new(arena, &made->sum, (size_t)rows * width, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->active, (size_t)rows * width, what, err);
    const struct input_rows active = {.base = made->active, .stride = width};
    if (rc == ERROR_NONE)
        rc = row_product_new(
            &(struct row_matrix){typed_parameter(pass, hgt_type_tensor(type, HGT_OUT_WEIGHT)),
                                 typed_parameter(pass, hgt_type_tensor(type, HGT_OUT_BIAS)), width,
                                 width},
            rows, &active, NULL, arena, &made->out, err);
    return rc;
}

/* Call it after the queries of the target type are computed. */
static enum error_code new_relation(const struct typed_pass *pass, const struct hgt *hgt,
                                    uint32_t relation, struct arena *arena,
                                    struct hgt_relation **out, struct error *err)
{
    const struct relation_edges *edges = &pass->edges[relation];
    const uint32_t width = pass->layer->config.output_dim, rows = edges->block.destination_count;
    const struct hgt_type *target = hgt->type[pass->schema->relation[relation].target_type];
    const size_t size = (size_t)width * width;
    struct hgt_relation *made = NULL;
    *out = NULL;
    if (rows == 0)
        return ERROR_NONE;
    enum error_code rc = arena_new(arena, &made, 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    *out = made;
    *made = (struct hgt_relation){.query = NULL};
    rc = arena_new(arena, &made->key_matrix, size, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->value_matrix, size, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->row, (size_t)rows * width, what, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct input_rows queries = {
        .base = row_product_rows(target->kqv[HGT_QUERY]), .stride = width, .row_index = edges->row};
    const struct input_rows values = {.base = made->row, .stride = width};
    if (!arena->counts)
        hgt_matrices_fill(pass, relation, made);
    rc = row_product_new(&(struct row_matrix){made->key_matrix, NULL, width, width}, rows, &queries,
                         NULL, arena, &made->query, err);
    return rc == ERROR_NONE
               ? row_product_new(&(struct row_matrix){made->value_matrix, NULL, width, width}, rows,
                                 &values, NULL, arena, &made->value, err)
               : rc;
}

/* Returns rows of the sources of a relation. */
static const float *source_rows(const struct typed_pass *pass, const struct hgt *hgt,
                                uint32_t relation, int which)
{
    return row_product_rows(hgt->type[pass->schema->relation[relation].source_type]->kqv[which]);
}

static enum error_code attend(const struct typed_pass *pass, const struct hgt *hgt, bool keep,
                              const struct model_workspace *workspace, struct error *err)
{
    const bool counts = workspace->arena->counts;
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < hgt_relations(pass); r++) {
        const struct hgt_relation *own = hgt->relation[r];
        const struct relation_slots *slots = hgt->attention->slots[r];
        if (!own)
            continue;
        rc = row_product_forward(own->query, keep, workspace, err);
        if (rc == ERROR_NONE && !counts)
            relation_slots_dot(slots, row_product_rows(own->query),
                               source_rows(pass, hgt, r, HGT_KEY), slots->share, workspace->pool);
    }
    if (rc == ERROR_NONE)
        rc = relation_attention_weigh(hgt->attention, workspace, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < hgt_relations(pass); r++) {
        const struct hgt_relation *own = hgt->relation[r];
        const struct relation_slots *slots = hgt->attention->slots[r];
        if (!own)
            continue;
        if (!counts)
            relation_slots_sum(slots, slots->weight, source_rows(pass, hgt, r, HGT_VALUE), own->row,
                               workspace->pool);
        rc = row_product_forward(own->value, keep, workspace, err);
    }
    return rc;
}

static enum error_code begin(struct typed_pass *pass, struct arena *arena, struct hgt **out,
                             struct error *err)
{
    const uint32_t heads = (uint32_t)pass->layer->config.option.heads;
    struct hgt *hgt = NULL;
    enum error_code rc = arena_new(arena, &hgt, 1, what, err);
    *out = hgt;
    if (rc == ERROR_NONE)
        rc =
            arena_new_bytes(arena, (void **)&hgt->type, hgt_types(pass), sizeof(void *), what, err);
    if (rc == ERROR_NONE)
        rc = arena_new_bytes(arena, (void **)&hgt->relation, hgt_relations(pass), sizeof(void *),
                             what, err);
    if (rc == ERROR_NONE)
        rc = relation_attention_new(pass, heads, pass->layer->config.output_dim / heads, false,
                                    arena, &hgt->attention, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < hgt_types(pass); t++)
        rc = new_type(pass, t, arena, &hgt->type[t], err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < hgt_relations(pass); r++)
        rc = new_relation(pass, hgt, r, arena, &hgt->relation[r], err);
    return rc;
}

/* Computes o of each type: the sum of the relations' values. */
static enum error_code join(const struct typed_pass *pass, const struct hgt *hgt,
                            const struct model_workspace *workspace, struct error *err)
{
    float **rows = NULL, *sum[RELATION_TYPE_COUNT_MAX];
    const enum error_code rc = arena_new(workspace->arena, &rows, hgt_relations(pass), what, err);
    if (rc != ERROR_NONE || workspace->arena->counts)
        return rc;
    for (uint32_t r = 0; r < hgt_relations(pass); r++)
        rows[r] = hgt->relation[r] ? row_product_rows(hgt->relation[r]->value) : NULL;
    for (uint32_t t = 0; t < hgt_types(pass); t++)
        sum[t] = hgt->type[t]->sum;
    relation_rows_join(pass, rows, pass->layer->config.output_dim, sum, workspace->pool);
    return ERROR_NONE;
}

static enum error_code forward(struct typed_pass *pass, bool keep,
                               const struct model_workspace *workspace, struct error *err)
{
    struct hgt *hgt = NULL;
    enum error_code rc = begin(pass, workspace->arena, &hgt, err);
    pass->state = hgt;
    for (uint32_t t = 0; rc == ERROR_NONE && t < hgt_types(pass); t++)
        for (int i = 0; rc == ERROR_NONE && i < HGT_KQV_COUNT; i++)
            if (hgt->type[t]->kqv[i])
                rc = row_product_forward(hgt->type[t]->kqv[i], keep, workspace, err);
    if (rc == ERROR_NONE)
        rc = attend(pass, hgt, keep, workspace, err);
    if (rc == ERROR_NONE)
        rc = join(pass, hgt, workspace, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < hgt_types(pass); t++)
        rc = hgt_rows_finish(pass, hgt, t, keep, workspace, err);
    return rc;
}

/* --- backward --- */

/* Reserves zeros, to which the relations add their gradients. */
static enum error_code find_back(const struct typed_pass *pass, uint32_t type,
                                 struct hgt_back *back, struct arena *arena, struct error *err)
{
    const size_t width = pass->layer->config.output_dim;
    enum error_code rc = ERROR_NONE;
    for (int i = 0; rc == ERROR_NONE && i < HGT_KQV_COUNT; i++) {
        const size_t count =
            width * (i == HGT_QUERY ? pass->destination_count : pass->source_count)[type];
        if (count)
            rc = arena_new(arena, &back->kqv[i], count, what, err);
        for (size_t c = 0; rc == ERROR_NONE && !arena->counts && c < count; c++)
            back->kqv[i][c] = 0;
    }
    return rc;
}

/* Computes from do the gradients of the weights of a relation's slots, of the matrix of values and
 * of the values. */
static enum error_code values_back(const struct typed_pass *pass, const struct hgt *hgt, uint32_t r,
                                   struct hgt_back *back, float *scratch,
                                   const struct model_workspace *workspace, struct error *err)
{
    const struct hgt_relation *own = hgt->relation[r];
    const struct relation *relation = &pass->schema->relation[r];
    const struct relation_slots *slots = hgt->attention->slots[r];
    const size_t width = pass->layer->config.output_dim;
    float *rows = NULL;
    enum error_code rc = arena_new(workspace->arena, &rows,
                                   pass->edges[r].block.destination_count * width, what, err);
    if (rc == ERROR_NONE && !workspace->arena->counts)
        relation_rows_part(pass, r, back[relation->target_type].out, width, rows, workspace->pool);
    if (rc == ERROR_NONE)
        rc = row_product_backward(own->value, rows, true, own->value_matrix, NULL, workspace, err);
    if (rc != ERROR_NONE || workspace->arena->counts)
        return rc;
    const float *of_rows = row_product_input_gradient(own->value);
    relation_slots_dot(slots, of_rows, source_rows(pass, hgt, r, HGT_VALUE), slots->gradient,
                       workspace->pool);
    relation_slots_add_transposed(slots, slots->weight, of_rows,
                                  back[relation->source_type].kqv[HGT_VALUE], scratch,
                                  workspace->pool);
    return ERROR_NONE;
}

CPU_KERNEL(add_rows_at,
           (float *restrict rows, const float *restrict more, const uint32_t *row, size_t dim,
            size_t count),
           (rows, more, row, dim, count))
{
    for (size_t k = 0; k < count; k++)
        vector_add(rows + row[k] * dim, more + k * dim, dim);
}

/* Computes from the gradients of scores those of the keys, of their matrix and of the queries. */
static enum error_code scores_back(const struct typed_pass *pass, const struct hgt *hgt, uint32_t r,
                                   struct hgt_back *back, float *scratch,
                                   const struct model_workspace *workspace, struct error *err)
{
    const struct hgt_relation *own = hgt->relation[r];
    const struct relation *relation = &pass->schema->relation[r];
    const struct relation_slots *slots = hgt->attention->slots[r];
    const uint32_t rows = pass->edges[r].block.destination_count;
    if (!workspace->arena->counts) {
        relation_slots_sum(slots, slots->gradient, source_rows(pass, hgt, r, HGT_KEY), own->row,
                           workspace->pool);
        relation_slots_add_transposed(slots, slots->gradient, row_product_rows(own->query),
                                      back[relation->source_type].kqv[HGT_KEY], scratch,
                                      workspace->pool);
    }
    const enum error_code rc =
        row_product_backward(own->query, own->row, true, own->key_matrix, NULL, workspace, err);
    if (rc == ERROR_NONE && !workspace->arena->counts)
        add_rows_at(back[relation->target_type].kqv[HGT_QUERY],
                    row_product_input_gradient(own->query), pass->edges[r].row,
                    pass->layer->config.output_dim, rows);
    return rc;
}

static enum error_code projections_back(const struct typed_pass *pass, const struct hgt *hgt,
                                        uint32_t type, const float *dy, const struct hgt_back *back,
                                        const struct model_workspace *workspace, float *gradient,
                                        struct error *err)
{
    const size_t width = pass->layer->config.output_dim, dim = pass->layer->type_input_dim[type];
    const struct hgt_type *own = hgt->type[type];
    float *weight = typed_gradient(pass, gradient, hgt_type_tensor(type, HGT_KQV_WEIGHT));
    float *bias = typed_gradient(pass, gradient, hgt_type_tensor(type, HGT_KQV_BIAS));
    enum error_code rc = ERROR_NONE;
    float *input_gradient = pass->input_gradient[type];
    for (int i = 0; rc == ERROR_NONE && i < HGT_KQV_COUNT; i++)
        if (own->kqv[i])
            rc = row_product_backward(own->kqv[i], back->kqv[i], input_gradient != NULL,
                                      weight + (size_t)i * width * dim, bias + (size_t)i * width,
                                      workspace, err);
    if (rc == ERROR_NONE && input_gradient && !workspace->arena->counts)
        hgt_rows_input_gradient(pass, hgt, type, dy, input_gradient, workspace->pool);
    return rc;
}

static enum error_code backward(struct typed_pass *pass, float *const *output_gradient,
                                const struct model_workspace *workspace, float *gradient,
                                struct error *err)
{
    const struct hgt *hgt = pass->state;
    struct arena *arena = workspace->arena;
    struct hgt_back back[RELATION_TYPE_COUNT_MAX];
    float *scratch = NULL;
    enum error_code rc = relation_attention_find_gradients(hgt->attention, arena, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &scratch,
                       (size_t)thread_pool_size(workspace->pool) * TILE_ROWS *
                           pass->layer->config.output_dim,
                       what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < hgt_types(pass); t++) {
        rc = hgt_rows_back(pass, hgt, t, output_gradient[t], &back[t], workspace, gradient, err);
        if (rc == ERROR_NONE)
            rc = find_back(pass, t, &back[t], arena, err);
    }
    for (uint32_t r = 0; rc == ERROR_NONE && r < hgt_relations(pass); r++)
        if (hgt->relation[r])
            rc = values_back(pass, hgt, r, back, scratch, workspace, err);
    if (rc == ERROR_NONE)
        rc = relation_attention_weigh_back(hgt->attention, workspace, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < hgt_relations(pass); r++)
        if (hgt->relation[r])
            rc = scores_back(pass, hgt, r, back, scratch, workspace, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < hgt_types(pass); t++)
        rc = projections_back(pass, hgt, t, output_gradient[t], &back[t], workspace, gradient, err);
    for (uint32_t r = 0; rc == ERROR_NONE && !arena->counts && r < hgt_relations(pass); r++)
        if (hgt->relation[r])
            hgt_matrices_share_out(pass, r, hgt->relation[r], gradient);
    return rc;
}

static const struct typed_kind typed = {.wants_target_rows = true,
                                        .parameters = parameters,
                                        .check = check,
                                        .forward = forward,
                                        .backward = backward};

/* Builds the layers of PyG's examples: layers of hidden_dim columns, and a matrix behind them. */
static int build(const struct model_outline *outline, struct layer_config layer[LAYER_COUNT_MAX])
{
    if (outline->hop_count >= LAYER_COUNT_MAX)
        return -1;
    for (int i = 0; i < outline->hop_count; i++) {
        layer[i] = layer_of_outline(outline, LAYER_HGT, false);
        layer[i].activation = ACTIVATION_NONE; /* HGT contains gelu */
    }
    layer[outline->hop_count] = layer_of_outline(outline, LAYER_MLP, true);
    return outline->hop_count + 1;
}

const struct layer_type hgt_layer = {
    .pyg_name = "HGT",
    .uses_edges = true,
    .has_heads = true,
    .build = build,
    .typed = &typed,
    .only_typed = true,
};
