/*
 * relation_attention - shares of the edges of a destination over its relations: what HGT and R-GAT share.
 *
 * A slot is an edge of a relation; values of slots are [edges, heads], by relation, in the order of its rows. Of the scores
 * s of the slots of a destination i,
 *
 *   w = softmax of s over all relations to the type of i together
 *   some shares are dropped in training, the others scaled up
 *   a_ri = sum over the edges k of row i of r, from source j, of w_k p_j       (operators/slot_aggregation.h)
 *
 * and backward ds_k = w_k (dw_k - sum of w dw over the same slots). Threads share out tiles of destinations for what goes over
 * relations, and tiles of the rows of a relation for the rest.
 */
#ifndef COMMON_NN_LAYERS_ATTENTION_RELATION_ATTENTION_H
#define COMMON_NN_LAYERS_ATTENTION_RELATION_ATTENTION_H

#include "common/nn/operators/edge_slots.h"
#include "common/nn/typed/typed_layer.h"

/* Of one relation. */
struct relation_slots {
    struct edge_shape shape;
    const uint32_t *row;   /* [rows]: destinations */
    uint64_t first_slot;   /* over all relations: names the draws */
    float *share, *weight; /* [edges, heads]: before and after dropout; the same without */
    float *gradient;       /* [edges, heads]: of weights, then of scores */
    struct transposed_edges transposed; /* numbered */
};

struct relation_attention {
    const struct typed_pass *pass;
    struct relation_slots **slots; /* [relations]; NULL: of one without edges */
};

/* Room for the shares of all relations that have edges, of `heads` heads with `channels` columns. `drops`: some are
 * dropped, as the pass draws. */
MUST_CHECK enum error_code
relation_attention_new(const struct typed_pass *pass, uint32_t heads, uint32_t channels, bool drops,
                       struct arena *arena, struct relation_attention **out, struct error *err);
/* Room for gradients, and the transposed edges. */
MUST_CHECK enum error_code relation_attention_find_gradients(struct relation_attention *attention,
                                                             struct arena *arena,
                                                             struct error *err);
/* From scores, in `share`, to shares and weights. */
MUST_CHECK enum error_code relation_attention_weigh(const struct relation_attention *attention,
                                                    const struct model_workspace *workspace,
                                                    struct error *err);
/* From the gradients of weights, in `gradient`, to those of scores. */
MUST_CHECK enum error_code relation_attention_weigh_back(const struct relation_attention *attention,
                                                         const struct model_workspace *workspace,
                                                         struct error *err);

/* Of one relation, by all threads. p rows of sources, a and q rows of the relation's rows, [.., heads, channels].
 * a = sum of weight p; with `weight` [edges, heads]. */
void relation_slots_sum(const struct relation_slots *slots, const float *weight, const float *p,
                        float *a, struct thread_pool *pool);
/* score = q . p of each slot. */
void relation_slots_dot(const struct relation_slots *slots, const float *q, const float *p,
                        float *score, struct thread_pool *pool);
/* dp of the sources += the transpose of the sum: what rows da weigh; `scratch` [threads, TILE_ROWS * width]. */
void relation_slots_add_transposed(const struct relation_slots *slots, const float *weight,
                                   const float *da, float *dp, float *scratch,
                                   struct thread_pool *pool);

/* y [destinations, dim] of each type = the sum, in the order of the relations, of rows[r] [rows of r, dim] where they
 * belong; rows[r] is not read without edges. */
void relation_rows_join(const struct typed_pass *pass, float *const *rows, size_t dim,
                        float *const *y, struct thread_pool *pool);
/* Its transpose for one relation: out [rows of r, dim] = the rows of dy of its type. */
void relation_rows_part(const struct typed_pass *pass, uint32_t relation, const float *dy,
                        size_t dim, float *out, struct thread_pool *pool);

#endif
