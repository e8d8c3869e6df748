#include "common/nn/layers/attention/hgt.h"

#include <math.h>

/* Returns the index of element (i, o) of the tensor's matrix for head `head` of the relation. */
static size_t tensor_at(const struct typed_pass *pass, uint32_t relation, uint32_t head)
{
    const uint32_t dim =
        pass->layer->config.output_dim / (uint32_t)pass->layer->config.option.heads;
    return ((size_t)head * hgt_relations(pass) + relation) * dim * dim;
}

static float scale_of(const struct typed_pass *pass, uint32_t relation, uint32_t head)
{
    const uint32_t dim =
        pass->layer->config.output_dim / (uint32_t)pass->layer->config.option.heads;
    return typed_parameter(pass, hgt_scale_tensor(pass, relation))[head] / sqrtf((float)dim);
}

void hgt_matrices_fill(const struct typed_pass *pass, uint32_t relation,
                       const struct hgt_relation *own)
{
    const uint32_t width = pass->layer->config.output_dim,
                   heads = (uint32_t)pass->layer->config.option.heads;
    const uint32_t dim = width / heads;
    for (size_t i = 0; i < (size_t)width * width; i++)
        own->key_matrix[i] = own->value_matrix[i] = 0;
    for (uint32_t h = 0; h < heads; h++) {
        const size_t at = tensor_at(pass, relation, h);
        const float *key = typed_parameter(pass, hgt_key_tensor(pass)) + at;
        const float *value = typed_parameter(pass, hgt_key_tensor(pass) + 1) + at;
        const float scale = scale_of(pass, relation, h);
        for (uint32_t i = 0; i < dim; i++)
            for (uint32_t o = 0; o < dim; o++) {
                const size_t row = (size_t)h * dim;
                own->key_matrix[(row + i) * width + row + o] = scale * key[i * dim + o];
                own->value_matrix[(row + o) * width + row + i] = value[i * dim + o];
            }
    }
}

void hgt_matrices_share_out(const struct typed_pass *pass, uint32_t relation,
                            const struct hgt_relation *own, float *gradient)
{
    const uint32_t width = pass->layer->config.output_dim,
                   heads = (uint32_t)pass->layer->config.option.heads;
    const uint32_t dim = width / heads;
    float *scales = typed_gradient(pass, gradient, hgt_scale_tensor(pass, relation));
    for (uint32_t h = 0; h < heads; h++) {
        const size_t at = tensor_at(pass, relation, h), row = (size_t)h * dim;
        const float *key = typed_parameter(pass, hgt_key_tensor(pass)) + at;
        float *of_key = typed_gradient(pass, gradient, hgt_key_tensor(pass)) + at;
        float *of_value = typed_gradient(pass, gradient, hgt_key_tensor(pass) + 1) + at;
        const float scale = scale_of(pass, relation, h);
        float sum = 0;
        for (uint32_t i = 0; i < dim; i++)
            for (uint32_t o = 0; o < dim; o++) {
                const float slope = own->key_matrix[(row + i) * width + row + o];
                of_key[i * dim + o] = scale * slope;
                sum += slope * key[i * dim + o];
                of_value[i * dim + o] = own->value_matrix[(row + o) * width + row + i];
            }
        scales[h] = sum / sqrtf((float)dim);
    }
}
