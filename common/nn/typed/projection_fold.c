#include "common/nn/typed/projection_fold.h"

#include "common/math/vector.h"
#include "common/nn/typed/typed_layer.h"
#include "common/numbers/cpu_kernel.h"

static bool takes_projections(const struct model *model, const struct relation_block *block)
{
    const struct model_layer *layer = &model->layer[0];
    if (model->config.precision != PRECISION_FP32 ||
        model->config.types.projected_activation != ACTIVATION_NONE || layer->config.residual ||
        !layer->typed->sums || layer->config.option.aggr != LAYER_AGGR_MEAN)
        return false;
    for (uint32_t r = 0; r < model->config.types.schema.relation_count; r++)
        if (block->edges[r].block.edge_value || block->edges[r].block.edge_factor)
            return false;
    return true;
}

void projection_fold_find(const struct model *model, const float *value,
                          const struct relation_block *block, struct projection_fold *fold)
{
    const struct model_types *types = &model->config.types;
    const bool takes = takes_projections(model, block);
    for (uint32_t t = 0; t < types->schema.type_count; t++) {
        fold[t] = (struct projection_fold){0};
        if (!takes || !types->projects[t] ||
            types->input_dim[t] > PROJECTION_FOLD_WIDTH * types->projected_dim)
            continue;
        fold[t].columns = types->input_dim[t];
        fold[t].dim = types->projected_dim;
        if (!value)
            continue;
        const struct parameter *parameter = &model->parameter[model->projection_parameter[t]];
        fold[t].matrix = value + parameter[0].offset;
        fold[t].bias = value + parameter[1].offset;
    }
}

/* Computes out [columns] = sum over i of factor[i] * row i of `rows`. */
CPU_KERNEL(sum_of_rows,
           (const float *restrict factor, const float *restrict rows, size_t count, size_t columns,
            float *restrict out),
           (factor, rows, count, columns, out))
{
    vector_zero(out, columns);
    for (size_t i = 0; i < count; i++)
        vector_add_scaled(out, rows + i * columns, factor[i], columns);
}

CPU_KERNEL_OF(float, dot_of_rows, (const float *restrict x, const float *restrict y, size_t count),
              (x, y, count))
{
    return vector_dot(x, y, count);
}

/* Adds the sum over r of factor[r * stride] * row r of `rows` to out [columns]. */
CPU_KERNEL(add_rows_by_column,
           (const float *restrict factor, size_t stride, const float *restrict rows, size_t count,
            size_t columns, float *restrict out),
           (factor, stride, rows, count, columns, out))
{
    for (size_t r = 0; r < count; r++)
        vector_add_scaled(out, rows + r * columns, factor[r * stride], columns);
}

void projection_fold_make(const struct projection_fold *fold, const struct folded_weight *weight,
                          uint32_t rows)
{
    for (uint32_t r = 0; r < rows; r++) {
        const float *own = weight->weight + (size_t)r * fold->dim;
        sum_of_rows(own, fold->matrix, fold->dim, fold->columns,
                    weight->matrix + (size_t)r * fold->columns);
        weight->constant[r] = dot_of_rows(own, fold->bias, fold->dim);
    }
}

void projection_fold_back(const struct projection_fold *fold, const struct folded_weight *gradient,
                          uint32_t rows, float *out)
{
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t i = 0; i < fold->dim; i++)
            out[(size_t)r * fold->dim + i] =
                dot_of_rows(gradient->matrix + (size_t)r * fold->columns,
                            fold->matrix + (size_t)i * fold->columns, fold->columns) +
                gradient->constant[r] * fold->bias[i];
}

void projection_fold_add(const struct projection_fold *fold, const struct folded_weight *gradient,
                         uint32_t rows, uint32_t row)
{
    const float *column = gradient->weight + row;
    add_rows_by_column(column, fold->dim, gradient->matrix, rows, fold->columns,
                       fold->matrix_gradient + (size_t)row * fold->columns);
    for (uint32_t r = 0; r < rows; r++)
        fold->bias_gradient[row] += column[(size_t)r * fold->dim] * gradient->constant[r];
}
