/*
 * model_trace - what forward leaves for backward, layer by layer; for model_pass.c and layer_training.c alone.
 *
 * The whole model and one layer of it alone go through the same functions: the whole one calls them for all its layers, the
 * other for one, with the rows of the layers below, and the gradients that those above left, put in the trace beforehand.
 */
#ifndef COMMON_NN_MODEL_TRACE_H
#define COMMON_NN_MODEL_TRACE_H

#include "common/nn/layers/layer_pass.h"
#include "common/nn/layers/layer_tail.h"
#include "common/nn/model.h"

struct typed_trace; /* typed/typed_model.h */

struct model_trace {
    struct typed_trace *typed; /* of a typed model, alone */
    const float *value;
    int layer_count;
    struct layer_pass layer[LAYER_COUNT_MAX];
    struct layer_tail tail[LAYER_COUNT_MAX];
    float *joined; /* what a layer reads that reads_all; else NULL */
};
_Static_assert(sizeof(struct model_trace) <= ARENA_REAL_BYTES, "a trace is written by what counts");

/* Without any layer yet, in the arena. */
MUST_CHECK enum error_code model_trace_new(const struct model *model, const float *value,
                                           struct arena *arena, struct model_trace **out,
                                           struct error *err);

/* What a layer computes on: its own block, or all rows that there are at its place. */
struct message_block model_trace_block(const struct model *model, int layer,
                                       const struct model_input *input);

/* What all layers on the way forth have to do with. */
struct way_forth {
    const struct model *model;
    const struct model_input *input;
    const struct model_workspace *workspace;
    struct model_trace *trace; /* outputs of the layers that this one reads are set */
    bool keeps;                /* there will be a backward */
};
/* Layer `layer`, from 0, and what follows it, into trace->layer[layer].output: the last one's is `logits`, the others' are in the
 * arena. */
MUST_CHECK enum error_code model_trace_forward(const struct way_forth *forth, int layer,
                                               float *logits, struct error *err);

/* What all layers on the way back have to do with. */
struct way_back {
    const struct model *model;
    struct model_trace *trace;
    /* What was left for the output of each layer beside what the next one's pass leaves; of the last one the gradient of the
     * logits. */
    struct gradient_parts parts[LAYER_COUNT_MAX];
    struct gradient_parts
        *input; /* what the first layer's tail leaves for the input rows; NULL: nobody wants it */
    const struct model_workspace *workspace;
    float *gradient; /* [value_count], of which those of the layer's own parameters are written */
};
/* Layer `layer` on its way back, and what it leaves in `parts` for the layers that it read. The next layer's pass in the trace
 * is one after its backward, or has nothing but `layer` and `input_gradient`. */
MUST_CHECK enum error_code model_trace_backward(struct way_back *back, int layer,
                                                const float *logits_gradient, struct error *err);

/* Of a pass after its backward: the gradient of its input rows [source_count, input_dim], in the arena, with `parts` added
 * (NULL: nothing is). */
MUST_CHECK enum error_code model_trace_input_gradient(const struct layer_pass *pass,
                                                      const struct gradient_parts *parts,
                                                      const struct model_workspace *workspace,
                                                      float **out, struct error *err);

#endif
