/*
 * layer_chain - trains a model layer by layer, each layer only from the values carried over from
 * the others, and compares logits and gradient with those of the whole model, bit by bit.
 */
#ifndef TESTS_COMMON_NN_LAYER_CHAIN_H
#define TESTS_COMMON_NN_LAYER_CHAIN_H

#include "common/base/memory.h"
#include "common/nn/layer_training.h"

#include "tests/support/test.h"

#include <string.h>

/* The values carried from layer to layer. None of them is in the arena in which it was computed. */
struct layer_chain {
    const struct model *model;
    const float *value;
    const struct model_input *input;
    const float *slope; /* gradient of the logits [seeds, output width] */
    uint32_t seed_count;
    struct arena arena;
    struct model_workspace workspace;
    float *logits, *gradient;
    struct layer_output output[LAYER_COUNT_MAX];
    struct chain_gradient {
        float *next;
        struct gradient_parts parts;
    } (*left)[RELATION_TYPE_COUNT_MAX]; /* [layers] */
};

static inline void *chain_copy(const void *from, size_t bytes)
{
    return bytes ? memcpy(memory_alloc(bytes, 1), from, bytes) : NULL;
}

static inline size_t chain_rows(const struct layer_chain *chain, int layer, uint32_t type)
{
    return layer_training_rows(chain->model, layer, chain->input, type);
}

static inline size_t chain_bytes(const struct layer_chain *chain, int layer, uint32_t type)
{
    const enum precision precision = chain->model->config.precision;
    return chain_rows(chain, layer, type) *
           precision_stride(precision, model_layer_output_dim(chain->model, layer)) *
           precision_bytes(precision);
}

static inline size_t chain_logit_bytes(const struct layer_chain *chain)
{
    return (size_t)chain->seed_count * model_output_dim(chain->model) * sizeof(float);
}

static inline void chain_begin(struct layer_chain *chain, struct thread_pool *pool)
{
    const int last = chain->model->config.layer_count - 1;
    const uint32_t target = chain->model->config.types.target_type;
    chain->seed_count = layer_training_rows(chain->model, last, chain->input, target);
    chain->workspace = (struct model_workspace){&chain->arena, pool};
    chain->logits = memory_alloc(1, chain_logit_bytes(chain));
    chain->gradient = memory_alloc(chain->model->value_count, sizeof(float));
    chain->left = memory_alloc(LAYER_COUNT_MAX, sizeof *chain->left);
    memset(chain->left, 0, LAYER_COUNT_MAX * sizeof *chain->left);
    /* a value that no layer writes */
    memset(chain->gradient, 0xff, chain->model->value_count * sizeof(float));
}

static inline void chain_end(struct layer_chain *chain)
{
    for (int layer = 0; layer < chain->model->config.layer_count; layer++)
        for (uint32_t t = 0; t < model_type_count(chain->model); t++) {
            memory_free(chain->output[layer].row[t]);
            memory_free(chain->left[layer][t].next);
            for (int p = 0; p < chain->left[layer][t].parts.count; p++)
                memory_free((void *)chain->left[layer][t].parts.part[p].row);
        }
    memory_free(chain->left);
    memory_free(chain->logits);
    memory_free(chain->gradient);
    arena_release(&chain->arena);
}

/* Sets the outputs that layer `layer` reads, and NULL for the others. */
static inline void chain_outputs_below(const struct layer_chain *chain, int layer,
                                       struct layer_output output[LAYER_COUNT_MAX])
{
    const uint32_t reads = layer_training_reads(chain->model, layer);
    for (int k = 0; k < LAYER_COUNT_MAX; k++)
        output[k] = reads >> k & 1 ? chain->output[k] : (struct layer_output){{NULL}};
    if (layer == chain->model->config.layer_count - 1)
        output[layer].row[chain->model->config.types.target_type] = chain->logits;
}

/* Runs forward in an arena that holds nothing else. */
static inline struct model_trace *chain_forward(struct layer_chain *chain, int layer,
                                                struct layer_output output[LAYER_COUNT_MAX])
{
    struct error err = {0};
    struct model_trace *trace = NULL;
    arena_reset(&chain->arena);
    chain_outputs_below(chain, layer, output);
    assert_ok(layer_training_forward(chain->model, chain->value, layer, chain->input, output,
                                     &chain->workspace, &trace, &err),
              &err);
    return trace;
}

static inline void chain_go_forth(struct layer_chain *chain)
{
    const int last = chain->model->config.layer_count - 1;
    for (int layer = 0; layer <= last; layer++) {
        struct layer_output output[LAYER_COUNT_MAX];
        (void)chain_forward(chain, layer, output);
        for (uint32_t t = 0; layer < last && t < model_type_count(chain->model); t++)
            chain->output[layer].row[t] =
                chain_copy(output[layer].row[t], chain_bytes(chain, layer, t));
    }
}

/* Hands a layer the gradients that the layers above left for its output; backward may overwrite
 * `next`. */
static inline void chain_give(const struct layer_chain *chain, struct model_trace *trace, int layer)
{
    struct error err = {0};
    const uint32_t target = chain->model->config.types.target_type;
    const struct gradient_part slope = {chain->slope, model_output_dim(chain->model),
                                        chain->seed_count};
    if (layer == chain->model->config.layer_count - 1)
        assert_true(layer_training_give_part(trace, layer, target, &slope));
    for (uint32_t t = 0; t < model_type_count(chain->model); t++) {
        const struct chain_gradient *left = &chain->left[layer][t];
        for (int p = 0; p < left->parts.count; p++)
            assert_true(layer_training_give_part(trace, layer, t, &left->parts.part[p]));
        if (left->next)
            assert_ok(layer_training_give_next(trace, layer, t, left->next, &err), &err);
    }
}

static inline void chain_carry_parts(struct chain_gradient *to, const struct gradient_parts *parts,
                                     size_t dim)
{
    for (int p = 0; p < parts->count; p++) {
        const struct gradient_part *part = &parts->part[p];
        float *own = memory_alloc((size_t)part->row_count * dim, sizeof *own);
        for (uint32_t row = 0; row < part->row_count; row++)
            memcpy(own + row * dim, part->row + row * part->stride, dim * sizeof *own);
        to->parts.part[to->parts.count++] = (struct gradient_part){own, dim, part->row_count};
    }
}

/* Copies the gradients that a layer left for the layers below it. */
static inline void chain_take(struct layer_chain *chain, const struct model_trace *trace, int layer)
{
    struct error err = {0};
    for (int k = 0; k < layer; k++)
        for (uint32_t t = 0; t < model_type_count(chain->model); t++) {
            const size_t dim = model_layer_output_dim(chain->model, k);
            float *next = NULL;
            chain_carry_parts(&chain->left[k][t], layer_training_parts(trace, k, t), dim);
            if (k == layer - 1)
                assert_ok(layer_training_next(trace, layer, t, &next, &err), &err);
            if (next)
                chain->left[k][t].next =
                    chain_copy(next, chain_rows(chain, k, t) * dim * sizeof *next);
        }
}

static inline void chain_go_back(struct layer_chain *chain)
{
    struct error err = {0};
    const int last = chain->model->config.layer_count - 1;
    for (int layer = last; layer >= 0; layer--) {
        struct layer_output output[LAYER_COUNT_MAX];
        struct model_trace *trace = chain_forward(chain, layer, output);
        for (uint32_t t = 0; layer < last && t < model_type_count(chain->model); t++)
            if (chain_bytes(chain, layer, t))
                assert_memory_equal(output[layer].row[t], chain->output[layer].row[t],
                                    chain_bytes(chain, layer, t));
        chain_give(chain, trace, layer);
        assert_ok(layer_training_backward(trace, layer, chain->gradient, &err), &err);
        chain_take(chain, trace, layer);
    }
}

/* Computes logits and gradient of the whole model and compares them with those of its layers. */
static inline void layer_chain_check(const struct model *model, const float *value,
                                     const struct model_input *input, const float *slope,
                                     struct thread_pool *pool)
{
    struct error err = {0};
    struct layer_chain chain = {.model = model, .value = value, .input = input, .slope = slope};
    struct model_trace *trace = NULL;
    chain_begin(&chain, pool);
    const size_t bytes = model->value_count * sizeof(float);
    float *gradient = memory_alloc(1, bytes), *logits = memory_alloc(1, chain_logit_bytes(&chain));
    assert_ok(model_forward(model, value, input, &chain.workspace, logits, &trace, &err), &err);
    assert_ok(model_backward(model, value, trace, slope, &chain.workspace, gradient, &err), &err);
    chain_go_forth(&chain);
    assert_memory_equal(chain.logits, logits, chain_logit_bytes(&chain));
    chain_go_back(&chain);
    assert_memory_equal(chain.gradient, gradient, bytes);
    chain_end(&chain);
    memory_free(gradient);
    memory_free(logits);
}

#endif
