/*
 * relation_attention - shares of the edges of a destination over all its relations, used by HGT and
 * R-GAT.
 *
 * A slot is an edge of a relation. Values of slots are [edges, heads], by relation, in the order of
 * its rows. From the scores s of the slots of a destination i:
 *
 *   w = softmax of s over all relations to the type of i together
 *   some shares are dropped in training, the others scaled up
 *   a_ri = sum over the edges k of row i of r, from source j, of w_k p_j
 *          (operators/slot_aggregation.h)
 *
 * and backward ds_k = w_k (dw_k - sum of w dw over the same slots). Threads share tiles of
 * destinations in steps over all relations, and tiles of the rows of one relation in the other
 * steps.
 */
#ifndef COMMON_NN_LAYERS_ATTENTION_RELATION_ATTENTION_H
#define COMMON_NN_LAYERS_ATTENTION_RELATION_ATTENTION_H

#include "common/nn/operators/edge_slots.h"
#include "common/nn/typed/typed_layer.h"

/* The slots of one relation. */
struct relation_slots {
    struct edge_shape shape;
    const uint32_t *row; /* [rows]: destinations */
    /* index of the first slot among all relations; it selects the random draws */
    uint64_t first_slot;
    /* [edges, heads]: before and after dropout; the same array without dropout */
    float *share, *weight;
    float *gradient;                    /* [edges, heads]: first of weights, then of scores */
    struct transposed_edges transposed; /* with slot numbers */
};

struct relation_attention {
    const struct typed_pass *pass;
    struct relation_slots **slots; /* [relations]; NULL for a relation without edges */
};

/* Reserves room for the shares of all relations that have edges, with `heads` heads of `channels`
 * columns. `drops`: the pass drops some shares. */
MUST_CHECK enum error_code
relation_attention_new(const struct typed_pass *pass, uint32_t heads, uint32_t channels, bool drops,
                       struct arena *arena, struct relation_attention **out, struct error *err);
/* Reserves room for gradients, and builds the transposed edges. */
MUST_CHECK enum error_code relation_attention_find_gradients(struct relation_attention *attention,
                                                             struct arena *arena,
                                                             struct error *err);
/* Computes shares and weights from the scores in `share`. */
MUST_CHECK enum error_code relation_attention_weigh(const struct relation_attention *attention,
                                                    const struct model_workspace *workspace,
                                                    struct error *err);
/* Replaces the gradients of weights in `gradient` by those of scores. */
MUST_CHECK enum error_code relation_attention_weigh_back(const struct relation_attention *attention,
                                                         const struct model_workspace *workspace,
                                                         struct error *err);

/* Operations on one relation, run by all threads. p are rows of sources, a and q rows of the
 * relation's rows, [.., heads, channels]. This one computes a = sum of weight p, with `weight`
 * [edges, heads]. */
void relation_slots_sum(const struct relation_slots *slots, const float *weight, const float *p,
                        float *a, struct thread_pool *pool);
/* Computes score = q . p of each slot. */
void relation_slots_dot(const struct relation_slots *slots, const float *q, const float *p,
                        float *score, struct thread_pool *pool);
/* Adds the transpose of the sum, of rows da with their weights, to dp of the sources; `scratch`
 * [threads, TILE_ROWS * width]. */
void relation_slots_add_transposed(const struct relation_slots *slots, const float *weight,
                                   const float *da, float *dp, float *scratch,
                                   struct thread_pool *pool);

/* Computes y [destinations, dim] of each type: the sum of rows[r] [rows of r, dim] at their
 * destinations, in the order of the relations. rows[r] is not read without edges. */
void relation_rows_join(const struct typed_pass *pass, float *const *rows, size_t dim,
                        float *const *y, struct thread_pool *pool);
/* Computes the transpose of that for one relation: copies the rows of dy of its type to out [rows
 * of r, dim]. */
void relation_rows_part(const struct typed_pass *pass, uint32_t relation, const float *dy,
                        size_t dim, float *out, struct thread_pool *pool);

#endif
