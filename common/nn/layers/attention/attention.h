/*
 * attention - the layers that weigh each neighbour by its content: GAT and GATv2.
 *
 * For a destination i with the slots k (operators/edge_slots.h: its neighbours j, and itself), in
 * each head:
 *
 *   p_j = W_l x_j (+ b_l)                    rows of sources, [heads, channels]
 *   q_i = W_r x_i + b_r                      rows of destinations, if they have a matrix
 *   s_k = score(p_j, q_i or p_i)             gat_layer.c, gatv2_layer.c
 *   w   = softmax of s over the slots of i;  in training some are dropped and the others scaled up
 *   y_i = sum over k of w_k p_j              heads side by side, or in the last layer their mean
 *
 * and then bias, ReLU and dropout as in every layer. Backward, with u_i the gradient of y_i by
 * heads:
 *
 *   dw_k = u_i . p_j,  ds = softmax's,  dp_j = sum over the slots of j of w_k u_i + score's,
 *   dW_l = dp^T x,  dx = dp W_l (+ dq W_r for destinations)
 *
 * Work runs over tiles of destinations or sources, backward with the partial sums of
 * partial_sums.h: the same bits for any number of threads. In fp32 alone. A sampled neighbourhood
 * is used without correction, as in PyG.
 */
#ifndef COMMON_NN_LAYERS_ATTENTION_ATTENTION_H
#define COMMON_NN_LAYERS_ATTENTION_ATTENTION_H

#include "common/nn/layers/layer_pass.h"
#include "common/nn/operators/edge_slots.h"

#include <stdbool.h>
#include <stdint.h>

enum { ATTENTION_VECTOR_COUNT_MAX = 2 };

/* Indices of the layer's parameters by their role; -1: it has none. */
struct attention_parameters {
    int source_weight, source_bias, destination_weight, destination_bias, output_bias;
    int vector[ATTENTION_VECTOR_COUNT_MAX]; /* [1, heads, channels]: of the score */
    /* Read only by layers with edge features: [heads * channels, edge_dim], and GAT's vector,
     * shaped like those of the score. */
    int edge_weight, edge_vector;
    /* GAT's matrix in a bipartite block, otherwise not read: [heads * channels, own_dim]; it gives
     * only the terms of destinations. */
    int own_weight;
};

struct attention { /* one layer on one block; all in the arena of the step */
    const struct attention_kind *kind;
    const struct layer_pass *pass;
    struct edge_shape shape;
    size_t width;       /* heads * channels */
    bool joins;         /* heads stand side by side; otherwise their mean is the output */
    float *source;      /* p [sources, width] */
    float *destination; /* q [destinations, width]; without own matrix the first rows of p */
    float *source_term, *destination_term; /* GAT: [sources, heads], [destinations, heads] */
    float *edge_vector; /* for edge features: W_e^T att_e [heads, edge_dim]; NULL: there are none */
    float *edge_term;   /* part of the scores from edge features [slots, heads] */
    float *own_vector;  /* GAT in a bipartite block: W^T att of destinations [heads, own_dim] */
    /* GATv2 with edge features: W_e^T [edge_dim, width]; NULL: there are none */
    float *edge_matrix;
    float *end_row; /* q_i + W_e f_k [slots, width] */
    float *share;   /* softmax [slots, heads] */
    float *weight;  /* shares after dropout; `share` itself without dropout */
    /* Gradients. */
    struct transposed_edges edges;
    float *output_gradient;      /* u [destinations, width] */
    float *slot_gradient;        /* first of weights, then of scores [slots, heads] */
    float *source_gradient;      /* dp [sources, width] */
    float *destination_gradient; /* dq [destinations, width], or the gradient of destination_term */
    float *term_gradient;        /* gradient of source_term */
};

struct attention_kind {
    struct attention_parameters parameters;
    int vector_count;
    /* Computes the terms of sources first .. end - 1, and of the destinations among them. NULL: the
     * score has no terms of a single node. */
    void (*prepare)(struct attention *attention, uint32_t first, uint32_t end);
    /* With prepare(): computes the terms of destinations that are no sources, in a bipartite
     * block. */
    void (*prepare_own)(struct attention *attention, uint32_t first, uint32_t end);
    /* Writes the scores of the slots of destinations first .. end - 1 into attention->share. */
    void (*score)(struct attention *attention, uint32_t first, uint32_t end);
    /* Computes destination_gradient of these destinations from attention->slot_gradient (of the
     * scores), and adds their part of the gradient of the vectors to vector_sum
     * [attention_vector_floats()]. */
    void (*score_backward)(struct attention *attention, uint32_t first, uint32_t end,
                           float *vector_sum);
    /* Does the same for sources, after all destinations are done: adds the score's part to
     * source_gradient, and to vector_sum [ATTENTION_VECTOR_COUNT_MAX, width]. */
    void (*score_transposed)(struct attention *attention, uint32_t first, uint32_t end,
                             float *vector_sum);
    /* Computes further inputs of the scores beside rows and vectors: the operands for edge
     * features, and the terms of destinations that are no sources. term_floats() returns the floats
     * that score_backward() sums for them behind those of the vectors; the last function computes
     * the gradients of parameters from these sums. */
    enum error_code (*find_terms)(struct attention *attention, struct arena *arena,
                                  struct error *err);
    size_t (*term_floats)(const struct attention *attention);
    void (*finish_terms)(const struct attention *attention, const float *sums,
                         const struct layer_gradient *out);
};

/* Destinations processed at once. Their neighbours' rows are read twice in a row, and the second
 * read hits the second-level cache. */
enum { ATTENTION_ROWS_AT_ONCE = 64 };

/* Returns a parameter of the layer; NULL for index -1. */
static inline const float *attention_parameter(const struct attention *attention, int index)
{
    return index < 0 ? NULL : attention->pass->parameter[index];
}

/* Returns vector `number` of the layer. */
static inline const float *attention_vector(const struct attention *attention, int number)
{
    return attention->pass->parameter[attention->kind->parameters.vector[number]];
}

/* Returns the end of the destinations among the sources before `end`; a bipartite block has
 * none. */
static inline uint32_t attention_own_end(const struct attention *attention, uint32_t end)
{
    const struct message_block *block = &attention->shape.block;
    const uint32_t own = block->is_bipartite ? 0 : block->destination_count;
    return end < own ? end : own;
}

/* Returns the floats of the gradient of all vectors: [ATTENTION_VECTOR_COUNT_MAX, width], and
 * behind them kind->term_floats(). */
size_t attention_vector_floats(const struct attention *attention);

/* Returns the channels of a head. */
uint32_t attention_channels(const struct model_layer *layer);

/* Functions that both ways of computing attention use (gat_rows.h). */

/* Makes one layer without any room yet. It becomes the state of the pass, which gets its bias. */
MUST_CHECK enum error_code attention_new(const struct attention_kind *kind, struct layer_pass *pass,
                                         struct arena *arena, struct attention **out,
                                         struct error *err);
/* Reserves room for the terms of nodes and edges, and for shares and weights of slots. */
MUST_CHECK enum error_code attention_find_slots(struct attention *attention, struct arena *arena,
                                                struct error *err);
/* Reserves room for the gradients of those, and builds the transposed edges. */
MUST_CHECK enum error_code attention_find_slot_gradients(struct attention *attention,
                                                         struct arena *arena, struct error *err);
/* Reserves room for the gradients of the rows that the layer reads. */
MUST_CHECK enum error_code attention_find_row_gradients(struct layer_pass *pass,
                                                        struct arena *arena, struct error *err);
/* Computes shares and weights of the slots of these destinations: score, softmax, dropout. */
void attention_weigh_slots(struct attention *attention, uint32_t first, uint32_t end);
/* Replaces the gradient of the weights of these slots, in slot_gradient, by that of the scores. */
void attention_weigh_slots_back(struct attention *attention, uint32_t first, uint32_t end);
/* Computes out [rows.rows, width] = rows times a matrix [width, rows.cols], plus a bias, which may
 * be NULL. */
void attention_project(struct rows_view rows, const float *matrix, const float *bias, size_t width,
                       float *out);
/* Writes the mean of the heads of `count` rows [count, width]: the output if heads do not stand
 * side by side. */
void attention_mean_of_heads(const struct edge_shape *shape, const float *rows, size_t count,
                             float *out);
/* Computes the transpose of that: u [count, width] from the gradient of the output. Each head gets
 * its own part, or the same part if the output is the mean. */
void attention_share_out(const struct edge_shape *shape, bool joins, const float *gradient,
                         size_t count, float *out);
/* Multiplies the values of slots first .. end - 1, [slots, heads], by the dropout of each share: 0
 * or the scale. `base` is the number of the first slot of all; it selects the random draws. */
void attention_drop_slots(const struct activation *dropout, uint64_t base, uint32_t heads,
                          size_t first, size_t end, float *value);
/* Adds the sums of the columns of `count` rows to sum [dim]. It first sums each tile by itself,
 * into tile_sum, which keeps the rounding error of long columns small. */
void attention_add_columns(const float *rows, size_t count, size_t dim, float *tile_sum,
                           float *sum);

/* The functions for struct layer_type. */
MUST_CHECK enum error_code attention_forward(const struct attention_kind *kind,
                                             struct layer_pass *pass, bool keep,
                                             struct arena *arena, struct thread_pool *pool,
                                             struct error *err);
MUST_CHECK enum error_code attention_backward(struct layer_pass *pass,
                                              const struct layer_pass *above,
                                              const float *logits_gradient, bool is_first,
                                              const struct layer_gradient *out, struct arena *arena,
                                              struct thread_pool *pool, struct error *err);

#endif
