/*
 * model_trace - values that the forward pass keeps for the backward pass, layer by layer; used only
 * by the model_*.c files here and layer_training.c.
 *
 * The whole model and a single layer run the same functions. The whole model calls them for all its
 * layers. layer_training.c calls them for one layer, after it has put the rows of the layers below,
 * and the gradients that the layers above left, in the trace.
 */
#ifndef COMMON_NN_MODEL_TRACE_H
#define COMMON_NN_MODEL_TRACE_H

#include "common/nn/model.h"
#include "common/nn/typed/typed_layer.h"

/* The state of one layer. */
struct model_step {
    struct typed_pass pass;
    struct type_rows *row; /* [types]: has_tail if operations follow the layer */
    float **joined; /* [types]: the joined rows of all layers below, if the layer reads them */
    /* [types]: the gradient that the layer directly above left for this layer's rows. It is a pass
     * after its backward, or a pass in which only input_gradient is set; NULL: it left none.
     * `parts` holds the gradients that other readers of the rows left. */
    const struct layer_pass **above;
    struct gradient_parts *parts;
};

struct model_trace {
    const struct model *model;
    const float *value;
    struct model_input *input; /* in the typed form: relations, and rows by type */
    const struct model_workspace *workspace;
    bool keeps; /* the backward pass will follow */
    /* [types]: the projections that are not folded into the first layer */
    struct type_rows *projection;
    struct projection_fold *fold; /* [types] */
    struct input_rows *rows;      /* [types]: the rows that the first layer reads */
    /* stands for the input rows as if a layer gave them: only parts and above are set */
    struct model_step below;
    float *input_gradient[RELATION_TYPE_COUNT_MAX]; /* gradient of the model's input rows */
    struct model_step step[LAYER_COUNT_MAX];
};
_Static_assert(sizeof(struct model_trace) <= ARENA_REAL_BYTES &&
                   RELATION_TYPE_COUNT_MAX * sizeof(struct type_rows) <= ARENA_REAL_BYTES,
               "a trace is written by what counts");

/* Makes a trace without any layer yet, in the arena. */
MUST_CHECK enum error_code model_trace_new(const struct model *model, const float *value,
                                           const struct model_input *input,
                                           const struct model_workspace *workspace, bool keeps,
                                           struct model_trace **out, struct error *err);

/* The block of a graph with one relation in the form of a block of many relations. */
struct one_relation {
    uint32_t destination_count, source_count;
    struct relation_edges edges;
};
/* Sets *out to the block; *out borrows `relation`, which borrows the arrays of `block`. */
void model_trace_take_block(const struct message_block *block, struct one_relation *relation,
                            struct relation_block *out);
/* Projects the input rows, count[t] of type t, to the rows that the first layer reads. */
MUST_CHECK enum error_code model_trace_project(struct model_trace *trace, const uint32_t *count,
                                               struct error *err);
/* Begins a layer on `block`, or, if it uses no edges, on count[t] rows of each type. */
MUST_CHECK enum error_code model_trace_begin_on(struct model_trace *trace, int layer,
                                                const struct relation_block *block,
                                                const uint32_t *count, struct error *err);
/* Runs a layer that has begun, and its tail, on rows [types]; `output` as in
 * model_trace_forward(). */
MUST_CHECK enum error_code model_trace_run(struct model_trace *trace, int layer,
                                           struct input_rows *rows, float *const *output,
                                           struct error *err);
/* Finds where the rows of each type lie in the logits, or in their gradient; NULL: the type has
 * none. */
void model_trace_place_logits(const struct model_trace *trace, float *logits,
                              float *out[RELATION_TYPE_COUNT_MAX]);

/* Reserves room for the output of layer `layer`. Call it before the layer's forward pass and before
 * the forward pass of any layer that reads its rows. */
MUST_CHECK enum error_code model_trace_begin(struct model_trace *trace, int layer,
                                             struct error *err);
/* Runs layer `layer` (from 0) and its tail. Writes the rows of a type to output[t] [types], or to
 * the arena if that is NULL. The outputs of the layers that it reads must be set. */
MUST_CHECK enum error_code model_trace_forward(struct model_trace *trace, int layer,
                                               float *const *output, struct error *err);
/* Runs the backward pass of layer `layer` from its `above` and its parts, and leaves gradients in
 * the trace for the layers that it read. Writes the gradients of its own tensors in `gradient`
 * [value_count], whose values must be 0 before. */
MUST_CHECK enum error_code model_trace_backward(struct model_trace *trace, int layer,
                                                float *gradient, struct error *err);
/* Computes the gradient of the rows of a type that layer `layer` gives, or of the input rows (-1),
 * after the backward passes of all layers that read them: [rows, their columns], in the arena;
 * NULL: there is none. With `parts` it adds the parts that layers other than the one above left. */
MUST_CHECK enum error_code model_trace_gradient(const struct model_trace *trace, int layer,
                                                uint32_t type, bool parts, float **out,
                                                struct error *err);

#endif
