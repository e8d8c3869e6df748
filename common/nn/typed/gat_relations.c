#include "common/nn/typed/gat_relations.h"

#include "common/math/vector.h"
#include "common/nn/layers/attention.h"
#include "common/nn/typed/relation_gat.h"

enum { ATT_SRC, ATT_DST, BIAS, LIN_SRC, LIN_DST, COUNT };

static const char what[] = "attention by relation"; /* wants memory */

static int tensor(uint32_t relation, int which)
{
    return (int)relation * COUNT + which;
}

static void parameters(struct parameter_writer *writer)
{
    const struct relation_schema *schema = &writer->model->config.types.schema;
    const struct model_layer *layer = writer->layer;
    const uint32_t heads = (uint32_t)layer->config.option.heads,
                   channels = attention_channels(layer);
    const uint32_t attention[] = {1, heads, channels, 0},
                   bias[] = {layer->config.output_dim, 0, 0, 0};
    const float bound = layer_glorot_bound(heads, channels);
    const int k = writer->number;
    for (uint32_t r = 0; r < schema->relation_count; r++) {
        const uint32_t source = layer->type_input_dim[schema->relation[r].source_type];
        const uint32_t target = layer->type_input_dim[schema->relation[r].target_type];
        const uint32_t width = heads * channels;
        const uint32_t lin_src[] = {width, source, 0, 0}, lin_dst[] = {width, target, 0, 0};
        char key[RELATION_KEY_SIZE];
        relation_key(schema, r, key);
        parameter_writer_add(writer, 3, attention, bound, 0, "convs.%d.convs.%s.att_src", k, key);
        parameter_writer_add(writer, 3, attention, bound, 0, "convs.%d.convs.%s.att_dst", k, key);
        parameter_writer_add(writer, 1, bias, 0, 0, "convs.%d.convs.%s.bias", k, key);
        parameter_writer_add(writer, 2, lin_src, layer_glorot_bound(source, width), 0,
                             "convs.%d.convs.%s.lin_src.weight", k, key);
        parameter_writer_add(writer, 2, lin_dst, layer_glorot_bound(target, width), 0,
                             "convs.%d.convs.%s.lin_dst.weight", k, key);
    }
}

/* The vectors [heads, dim] that a matrix [heads * channels, dim] and its attention [heads, channels] are together. */
CPU_KERNEL(fold,
           (const float *matrix, const float *attention, size_t heads, size_t channels, size_t dim,
            float *restrict out),
           (matrix, attention, heads, channels, dim, out))
{
    for (size_t h = 0; h < heads; h++) {
        vector_zero(out + h * dim, dim);
        for (size_t c = h * channels; c < (h + 1) * channels; c++)
            vector_add_scaled(out + h * dim, matrix + c * dim, attention[c], dim);
    }
}

/* Its backward: to the gradient of the matrix is added, that of the attention is written. */
CPU_KERNEL(unfold,
           (const float *matrix, const float *attention, const float *slope, size_t heads,
            size_t channels, size_t dim, float *restrict of_matrix, float *restrict of_attention),
           (matrix, attention, slope, heads, channels, dim, of_matrix, of_attention))
{
    for (size_t c = 0; c < heads * channels; c++) {
        const float *row = slope + c / channels * dim;
        vector_add_scaled(of_matrix + c * dim, row, attention[c], dim);
        of_attention[c] = vector_dot(matrix + c * dim, row, dim);
    }
}

struct shape {
    size_t heads, channels, source, target;
};

static struct shape shape_of(const struct typed_pass *pass, uint32_t r)
{
    return (struct shape){(size_t)pass->layer->config.option.heads, attention_channels(pass->layer),
                          pass->layer->type_input_dim[pass->schema->relation[r].source_type],
                          pass->layer->type_input_dim[pass->schema->relation[r].target_type]};
}

static enum error_code make_terms(const struct typed_pass *pass, uint32_t r, struct arena *arena,
                                  struct relation_gat *gat, struct error *err)
{
    const struct shape shape = shape_of(pass, r);
    float *source = NULL, *target = NULL;
    enum error_code rc = arena_new(arena, &source, shape.heads * shape.source, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &target, shape.heads * shape.target, what, err);
    gat->weight[r] = typed_parameter(pass, tensor(r, LIN_SRC));
    gat->source_term[r] = source;
    gat->target_term[r] = target;
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    fold(gat->weight[r], typed_parameter(pass, tensor(r, ATT_SRC)), shape.heads, shape.channels,
         shape.source, source);
    fold(typed_parameter(pass, tensor(r, LIN_DST)), typed_parameter(pass, tensor(r, ATT_DST)),
         shape.heads, shape.channels, shape.target, target);
    return ERROR_NONE;
}

/* The biases of all relations to a type, of which it is told the share. */
static enum error_code make_bias(const struct typed_pass *pass, uint32_t type, struct arena *arena,
                                 struct relation_gat *gat, struct error *err)
{
    const size_t dim = pass->layer->config.output_dim;
    float *bias = NULL;
    const enum error_code rc = arena_new(arena, &bias, dim, what, err);
    gat->share[type] = typed_pass_share(pass, type);
    gat->bias[type] = bias;
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    for (size_t i = 0; i < dim; i++)
        bias[i] = 0;
    for (uint32_t r = 0; r < pass->schema->relation_count; r++)
        for (size_t i = 0; pass->schema->relation[r].target_type == type && i < dim; i++)
            bias[i] += gat->share[type] * typed_parameter(pass, tensor(r, BIAS))[i];
    return ERROR_NONE;
}

static enum error_code forward(struct typed_pass *pass, bool keep,
                               const struct model_workspace *workspace, struct error *err)
{
    struct relation_gat *gat = NULL;
    enum error_code rc = relation_gat_new(pass, false, workspace->arena, &gat, err);
    pass->state = gat;
    for (uint32_t r = 0; rc == ERROR_NONE && r < pass->schema->relation_count; r++)
        rc = make_terms(pass, r, workspace->arena, gat, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < pass->schema->type_count; t++)
        rc = make_bias(pass, t, workspace->arena, gat, err);
    return rc == ERROR_NONE ? relation_gat_forward(gat, pass, keep, workspace, err) : rc;
}

static enum error_code find_gradients(const struct typed_pass *pass, struct arena *arena,
                                      struct relation_gat_gradient *out, float *gradient,
                                      struct error *err)
{
    enum error_code rc = relation_gat_gradient_new(pass, arena, out, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < pass->schema->relation_count; r++) {
        const struct shape shape = shape_of(pass, r);
        out->weight[r] = typed_gradient(pass, gradient, tensor(r, LIN_SRC));
        rc = arena_new(arena, &out->source_term[r], shape.heads * shape.source, what, err);
        if (rc == ERROR_NONE)
            rc = arena_new(arena, &out->target_term[r], shape.heads * shape.target, what, err);
    }
    for (uint32_t t = 0; rc == ERROR_NONE && t < pass->schema->type_count; t++)
        rc = arena_new(arena, &out->bias[t], pass->layer->config.output_dim, what, err);
    return rc;
}

static void share_out(const struct typed_pass *pass, uint32_t r, const struct relation_gat *gat,
                      const struct relation_gat_gradient *made, float *gradient)
{
    const struct shape shape = shape_of(pass, r);
    const uint32_t type = pass->schema->relation[r].target_type;
    if (pass->destination_count[type])
        for (size_t i = 0; i < pass->layer->config.output_dim; i++)
            typed_gradient(pass, gradient, tensor(r, BIAS))[i] =
                gat->share[type] * made->bias[type][i];
    if (!gat->part[r])
        return;
    unfold(typed_parameter(pass, tensor(r, LIN_SRC)), typed_parameter(pass, tensor(r, ATT_SRC)),
           made->source_term[r], shape.heads, shape.channels, shape.source,
           typed_gradient(pass, gradient, tensor(r, LIN_SRC)),
           typed_gradient(pass, gradient, tensor(r, ATT_SRC)));
    unfold(typed_parameter(pass, tensor(r, LIN_DST)), typed_parameter(pass, tensor(r, ATT_DST)),
           made->target_term[r], shape.heads, shape.channels, shape.target,
           typed_gradient(pass, gradient, tensor(r, LIN_DST)),
           typed_gradient(pass, gradient, tensor(r, ATT_DST)));
}

static enum error_code backward(struct typed_pass *pass, float *const *output_gradient,
                                const struct model_workspace *workspace, float *gradient,
                                struct error *err)
{
    const struct relation_gat *gat = pass->state;
    struct relation_gat_gradient made = {0};
    enum error_code rc = find_gradients(pass, workspace->arena, &made, gradient, err);
    if (rc == ERROR_NONE)
        rc = relation_gat_backward(gat, pass, output_gradient, &made, workspace, err);
    for (uint32_t r = 0;
         rc == ERROR_NONE && !workspace->arena->counts && r < pass->schema->relation_count; r++)
        share_out(pass, r, gat, &made, gradient);
    return rc;
}

const struct typed_kind gat_relations = {
    .wants_target_rows = true,
    .differs_alone = true,
    .parameters = parameters,
    .forward = forward,
    .backward = backward,
};
