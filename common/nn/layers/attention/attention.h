/*
 * attention - the layers that weigh each neighbour by what it says: GAT and GATv2.
 *
 * For a destination i with the slots k (operators/edge_slots.h: its neighbours j, and itself), in each head:
 *
 *   p_j = W_l x_j (+ b_l)                    rows of sources, [heads, channels]
 *   q_i = W_r x_i + b_r                      rows of destinations, where the kind has a matrix of their own
 *   s_k = score(p_j, q_i or p_i)             gat_layer.c, gatv2_layer.c
 *   w   = softmax of s over the slots of i;  some are dropped in training, the others scaled up
 *   y_i = sum over k of w_k p_j              heads side by side, or in the last layer their mean
 *
 * and then bias, ReLU and dropout as in every layer. Backward, with u_i the gradient of y_i by heads:
 *
 *   dw_k = u_i . p_j,  ds = softmax's,  dp_j = sum over the slots of j of w_k u_i + what the score adds,
 *   dW_l = dp^T x,  dx = dp W_l (+ dq W_r for destinations)
 *
 * Work runs over tiles of destinations or sources, backward with the partial sums of partial_sums.h: the same bits for
 * any number of threads. In fp32 alone. A neighbourhood that was sampled is taken as it is, as in PyG.
 */
#ifndef COMMON_NN_LAYERS_ATTENTION_ATTENTION_H
#define COMMON_NN_LAYERS_ATTENTION_ATTENTION_H

#include "common/nn/layers/layer_pass.h"
#include "common/nn/operators/edge_slots.h"

#include <stdbool.h>
#include <stdint.h>

enum { ATTENTION_VECTOR_COUNT_MAX = 2 };

/* Which of the layer's parameters is what; -1: it has none. */
struct attention_parameters {
    int source_weight, source_bias, destination_weight, destination_bias, output_bias;
    int vector[ATTENTION_VECTOR_COUNT_MAX]; /* [1, heads, channels]: of the score */
    /* Of layers that read edge features, otherwise not looked at: [heads * channels, edge_dim], and GAT's as the vectors. */
    int edge_weight, edge_vector;
    /* GAT's in a bipartite block, otherwise not looked at: [heads * channels, own_dim], which
     * destinations have for their terms alone. */
    int own_weight;
};

struct attention { /* one layer at work; all in the arena of the step */
    const struct attention_kind *kind;
    const struct layer_pass *pass;
    struct edge_shape shape;
    size_t width;       /* heads * channels */
    bool joins;         /* heads stand side by side; else their mean is the output */
    float *source;      /* p [sources, width] */
    float *destination; /* q [destinations, width]; else the first rows of p */
    float *source_term, *destination_term; /* GAT: [sources, heads], [destinations, heads] */
    float *edge_vector; /* of edge features: W_e^T att_e [heads, edge_dim]; NULL: there are none */
    float *edge_term;   /* what they add to the scores [slots, heads] */
    float *own_vector;  /* GAT, in a bipartite block: the like of destinations [heads, own_dim] */
    float *edge_matrix; /* GATv2, of edge features: W_e^T [edge_dim, width]; NULL: there are none */
    float *end_row;     /* q_i + W_e f_k [slots, width] */
    float *share;       /* softmax [slots, heads] */
    float *weight;      /* with some dropped; `share` itself without dropout */
    /* Gradients. */
    struct transposed_edges edges;
    float *output_gradient;      /* u [destinations, width] */
    float *slot_gradient;        /* of weights, then of scores [slots, heads] */
    float *source_gradient;      /* dp [sources, width] */
    float *destination_gradient; /* dq [destinations, width], or of destination_term */
    float *term_gradient;        /* of source_term */
};

struct attention_kind {
    struct attention_parameters parameters;
    int vector_count;
    /* NULL: the score has no terms of a node alone. The terms of sources first .. end - 1, and of the destinations among them. */
    void (*prepare)(struct attention *attention, uint32_t first, uint32_t end);
    /* With prepare(): the terms of destinations that are no sources, of a bipartite block. */
    void (*prepare_own)(struct attention *attention, uint32_t first, uint32_t end);
    /* Scores of the slots of destinations first .. end - 1 into attention->share. */
    void (*score)(struct attention *attention, uint32_t first, uint32_t end);
    /* From attention->slot_gradient, of the scores, of these destinations: destination_gradient, and to vector_sum
     * [attention_vector_floats()] is added their part of the gradient of the vectors. */
    void (*score_backward)(struct attention *attention, uint32_t first, uint32_t end,
                           float *vector_sum);
    /* The same for sources, when that is done for all destinations: what the score adds to source_gradient, and to
     * vector_sum [ATTENTION_VECTOR_COUNT_MAX, width]. */
    void (*score_transposed)(struct attention *attention, uint32_t first, uint32_t end,
                             float *vector_sum);
    /* Finds what scores need beside rows and vectors: what edge features are multiplied with, and what
     * destinations are that are no sources. Then floats of the sums that score_backward() also makes for
     * them, behind those of the vectors, and what computes the gradients of parameters from these. */
    enum error_code (*find_terms)(struct attention *attention, struct arena *arena,
                                  struct error *err);
    size_t (*term_floats)(const struct attention *attention);
    void (*finish_terms)(const struct attention *attention, const float *sums,
                         const struct layer_gradient *out);
};

/* Destinations whose neighbours' rows are read twice in a row, the second time from the second cache. */
enum { ATTENTION_ROWS_AT_ONCE = 64 };

/* A parameter of the layer; NULL for -1. */
static inline const float *attention_parameter(const struct attention *attention, int index)
{
    return index < 0 ? NULL : attention->pass->parameter[index];
}

/* The vector `number` of the layer. */
static inline const float *attention_vector(const struct attention *attention, int number)
{
    return attention->pass->parameter[attention->kind->parameters.vector[number]];
}

/* The end of the destinations among the sources before `end`: a bipartite block has none. */
static inline uint32_t attention_own_end(const struct attention *attention, uint32_t end)
{
    const struct message_block *block = &attention->shape.block;
    const uint32_t own = block->is_bipartite ? 0 : block->destination_count;
    return end < own ? end : own;
}

/* Floats of the gradient of all vectors: [ATTENTION_VECTOR_COUNT_MAX, width], and behind them kind->term_floats(). */
size_t attention_vector_floats(const struct attention *attention);

/* Channels of a head. */
uint32_t attention_channels(const struct model_layer *layer);

/* What the ways of computing attention share (gat_rows.h). */

/* One layer at work, without any room yet; it becomes the state of the pass, which gets its bias. */
MUST_CHECK enum error_code attention_new(const struct attention_kind *kind, struct layer_pass *pass,
                                         struct arena *arena, struct attention **out,
                                         struct error *err);
/* Room for the terms of nodes and edges, and for shares and weights of slots. */
MUST_CHECK enum error_code attention_find_slots(struct attention *attention, struct arena *arena,
                                                struct error *err);
/* Room for the gradients of those, and the transposed edges. */
MUST_CHECK enum error_code attention_find_slot_gradients(struct attention *attention,
                                                         struct arena *arena, struct error *err);
/* Room for the gradients of the rows that the layer reads. */
MUST_CHECK enum error_code attention_find_row_gradients(struct layer_pass *pass,
                                                        struct arena *arena, struct error *err);
/* Shares and weights of the slots of these destinations: score, softmax, dropout. */
void attention_weigh_slots(struct attention *attention, uint32_t first, uint32_t end);
/* From the gradient of the weights of these slots, in slot_gradient, that of the scores. */
void attention_weigh_slots_back(struct attention *attention, uint32_t first, uint32_t end);
/* out [rows.rows, width] = rows times a matrix [width, rows.cols], plus a bias, which may be NULL. */
void attention_project(struct rows_view rows, const float *matrix, const float *bias, size_t width,
                       float *out);
/* The output of `count` rows by heads [count, width], when heads do not stand side by side: their mean. */
void attention_mean_of_heads(const struct edge_shape *shape, const float *rows, size_t count,
                             float *out);
/* Its transpose: u [count, width] from the gradient of the output: each head's part, or the same for each. */
void attention_share_out(const struct edge_shape *shape, bool joins, const float *gradient,
                         size_t count, float *out);
/* Multiplies the values of slots first .. end - 1, [slots, heads], with what dropout makes of a share: 0 or
 * its scale. `base` is the number of the first slot of all, and names the draws. */
void attention_drop_slots(const struct activation *dropout, uint64_t base, uint32_t heads,
                          size_t first, size_t end, float *value);
/* sum [dim] += the sums of the columns of `count` rows. A tile is summed by itself first, into tile_sum, which keeps
 * the rounding of long columns small. */
void attention_add_columns(const float *rows, size_t count, size_t dim, float *tile_sum,
                           float *sum);

/* For struct layer_type. */
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
