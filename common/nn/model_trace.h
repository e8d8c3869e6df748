/*
 * model_trace - what forward leaves for backward, layer by layer; for the model_*.c here and layer_training.c alone.
 *
 * The whole model and one layer of it alone go through the same functions: the whole one calls them for all its layers, the
 * other for one, with the rows of the layers below, and the gradients that those above left, put in the trace beforehand.
 */
#ifndef COMMON_NN_MODEL_TRACE_H
#define COMMON_NN_MODEL_TRACE_H

#include "common/nn/model.h"
#include "common/nn/typed/typed_layer.h"

/* One layer at work. */
struct model_step {
    struct typed_pass pass;
    struct type_rows *row; /* [types]: has_tail where something follows the layer */
    float **joined;        /* [types]: rows of all layers below, of a layer that reads them */
    /* [types]: the gradient of what the layer gives. It is what the layer above left: a pass after
     * its backward, or one of which nothing is there but input_gradient; NULL: it left none. And it
     * is what others that read the rows left. */
    const struct layer_pass **above;
    struct gradient_parts *parts;
};

struct model_trace {
    const struct model *model;
    const float *value;
    struct model_input *input; /* as relations and rows by type */
    const struct model_workspace *workspace;
    bool keeps;                   /* there will be a backward */
    struct type_rows *projection; /* [types]: of those that are not folded */
    struct projection_fold *fold; /* [types] */
    struct input_rows *rows;      /* [types]: what the first layer reads */
    struct model_step below;      /* the rows that come in, in place of a layer: parts and above */
    float *input_gradient[RELATION_TYPE_COUNT_MAX]; /* of the rows that came in */
    struct model_step step[LAYER_COUNT_MAX];
};
_Static_assert(sizeof(struct model_trace) <= ARENA_REAL_BYTES &&
                   RELATION_TYPE_COUNT_MAX * sizeof(struct type_rows) <= ARENA_REAL_BYTES,
               "a trace is written by what counts");

/* A trace without any layer yet, in the arena. */
MUST_CHECK enum error_code model_trace_new(const struct model *model, const float *value,
                                           const struct model_input *input,
                                           const struct model_workspace *workspace, bool keeps,
                                           struct model_trace **out, struct error *err);

/* The block of a graph with one relation, as those of many relations are. */
struct one_relation {
    uint32_t destination_count, source_count;
    struct relation_edges edges;
};
/* *out borrows `relation`, which borrows the arrays of `block`. */
void model_trace_take_block(const struct message_block *block, struct one_relation *relation,
                            struct relation_block *out);
/* The rows that come in, count[t] of type t, become those that the first layer reads. */
MUST_CHECK enum error_code model_trace_project(struct model_trace *trace, const uint32_t *count,
                                               struct error *err);
/* Begins a layer on `block`, or if it uses no edges on count[t] rows of each type. */
MUST_CHECK enum error_code model_trace_begin_on(struct model_trace *trace, int layer,
                                                const struct relation_block *block,
                                                const uint32_t *count, struct error *err);
/* Runs a layer that is begun, and what follows it, on rows [types]; output as below. */
MUST_CHECK enum error_code model_trace_run(struct model_trace *trace, int layer,
                                           struct input_rows *rows, float *const *output,
                                           struct error *err);
/* Finds where in logits, or in their gradient, the rows of each type are; NULL: it gives none. */
void model_trace_place_logits(const struct model_trace *trace, float *logits,
                              float *out[RELATION_TYPE_COUNT_MAX]);

/* Room for what stands behind layer `layer`. It comes before its forward, and before that of a layer
 * that reads its rows. */
MUST_CHECK enum error_code model_trace_begin(struct model_trace *trace, int layer,
                                             struct error *err);
/* Layer `layer`, from 0, and what follows it. The rows of a type lie at output[t] [types], or where
 * that is NULL in the arena. Outputs of the layers that it reads are set. */
MUST_CHECK enum error_code model_trace_forward(struct model_trace *trace, int layer,
                                               float *const *output, struct error *err);
/* Layer `layer` on its way back, from its `above` and its parts, and what it leaves there for the
 * layers that it read. Writes the gradients of its own tensors in `gradient` [value_count], whose
 * values are 0 before. */
MUST_CHECK enum error_code model_trace_backward(struct model_trace *trace, int layer,
                                                float *gradient, struct error *err);
/* The gradient of rows of a type that layer `layer` gives, or of the rows that come in (-1), after
 * the backward of those that read them: [rows, their columns], in the arena; NULL: there is none.
 * With `parts` those of others than the layer above are added. */
MUST_CHECK enum error_code model_trace_gradient(const struct model_trace *trace, int layer,
                                                uint32_t type, bool parts, float **out,
                                                struct error *err);

#endif
