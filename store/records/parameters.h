/*
 * parameters - the records that carry numbers for each model parameter: weights, gradients, state.
 *
 *   weights           run/<id>/weights/<v>          written by aggregate (v = 0 too), read by
 *                                                   train-step, checkpoint, infer
 *       "version"  U64 [1]
 *       "value"    F32 [parameter count]   all tensors in the order of the model's table; last the running
 *                           statistics of batch norms (common/nn/running_statistics.h)
 *       "table"    U8  text, one line a tensor: name rows cols
 *       "progress" F64 [6]  of the round before: mean loss, correct ones, seeds, learning rate,
 *                           gradient norm before clipping, 0; zeros in version 0
 *   optimizer_state   run/<id>/optimizer/<v>        written by aggregate before weights v
 *       "version"  U64 [1]
 *       "step"     U64 [1]
 *       "first"    F32 [parameter count]   momentum or first moment
 *       "second"   F32 [parameter count]   second moment; only for Adam and AdamW
 *       "rounds"   F64 [rounds, 6]  only where a snapshot is made: "progress" of the weights of each round
 *                                   since the snapshot before, so that it need not be gathered from them
 *   gradient          run/<id>/round/<r>/slot/<k>/gradient   written by train-step, read by aggregate
 *       "version"  U64 [1]  of the weights it was made from
 *       "value"    F32 [parameter count]   of the mean loss over the slot's seeds; in the place of running
 *                           statistics those of the slot's mini-batch (common/nn/layers/layer_tail.h)
 *       "counts"   U64 [2]  seeds with a label, correct ones
 *       "loss"     F64 [1]  sum over those seeds
 *       "row_node" U32 [rows]         with learnable embeddings: the rows that the mini-batch read, ascending
 *       "row_gradient" F32 [rows, width]   and the gradient of the same loss for them
 *       "row_group" U32 [groups, 3]  of a graph with relations: node type, width and rows of each group; types ascend. The
 *                           two before have group behind group then
 *   evaluation        run/<id>/evaluation/<k>/result/<v>     written by train-step, read by checkpoint
 *       "version"  U64 [1]
 *       "loss"     F64 [1]  sum
 *       "counts"   U64 [2]  seeds with a label, correct ones
 *       "tally"    F64 [as the task counts]  what its metrics are made of (common/nn/tasks/tally.h)
 *       "score"    F32 [seeds, columns], "truth" U8 [seeds, columns]   for areas under curves: of two classes, and of
 *                           several labels where checkpoint.metric asks for one
 *
 * Valid: the version inside is the one in the key; arrays that belong together are equally long; the
 * table describes exactly the values; weights and optimizer state are finite numbers. A gradient and an
 * evaluation may hold a NaN: a run that diverges is the user's to mend, not a damaged record.
 *
 * Each *_decode() is the check alone, of a record of any origin; what it fills borrows from the view, and
 * `view` inside it stays empty. Fails: ERROR_CORRUPT naming record, section, expected and found.
 */
#ifndef STORE_RECORDS_PARAMETERS_H
#define STORE_RECORDS_PARAMETERS_H

#include "common/base/error.h"
#include "common/graph/relation_block.h"
#include "store/objects/store.h"

#include <stdint.h>

enum progress_field {
    PROGRESS_LOSS,
    PROGRESS_CORRECT,
    PROGRESS_SEEDS,
    PROGRESS_LEARNING_RATE,
    PROGRESS_GRADIENT_NORM,
    PROGRESS_RESERVED,
    PROGRESS_COUNT
};

struct weights {
    uint64_t version;
    uint64_t value_count;
    const float *value; /* [value_count] */
    const char *table;  /* text of table_size bytes, no NUL */
    uint64_t table_size;
    double progress[PROGRESS_COUNT];
    struct record_view view;
};

MUST_CHECK enum error_code weights_put(struct store *store, const char *run_id,
                                       const struct weights *weights, struct error *err);
MUST_CHECK enum error_code weights_get(struct store *store, const char *run_id, int64_t version,
                                       struct weights *out, struct error *err);
MUST_CHECK enum error_code weights_decode(const struct record_view *view, struct weights *out,
                                          struct error *err);

struct optimizer_state {
    uint64_t version, step;
    uint64_t value_count;
    const float *first;   /* [value_count] */
    const float *second;  /* [value_count] or NULL */
    const double *rounds; /* [round_count, PROGRESS_COUNT], oldest first, or NULL */
    uint64_t round_count;
    struct record_view view;
};

MUST_CHECK enum error_code optimizer_state_put(struct store *store, const char *run_id,
                                               const struct optimizer_state *state,
                                               struct error *err);
MUST_CHECK enum error_code optimizer_state_get(struct store *store, const char *run_id,
                                               int64_t version, struct optimizer_state *out,
                                               struct error *err);
MUST_CHECK enum error_code optimizer_state_decode(const struct record_view *view,
                                                  struct optimizer_state *out, struct error *err);

/* Both of one version, which are asked for at once. Fails: as either; then there is nothing to release. */
MUST_CHECK enum error_code parameters_get(struct store *store, const char *run_id, int64_t version,
                                          struct weights *weights, struct optimizer_state *state,
                                          struct error *err);

/* Rows of a learnable tensor that the mini-batch read (stages/plan/embedding_shards.h). */
struct gradient_rows {
    uint32_t type, width; /* type 0 of a graph without relations */
    uint64_t count;
    const uint32_t *node;  /* [count], ascending: numbers among the nodes of the type */
    const float *gradient; /* [count, width] */
};

struct gradient {
    uint64_t weights_version;
    uint64_t value_count;
    const float *value; /* [value_count] */
    uint64_t seed_count, correct_count;
    double loss_sum;
    int group_count; /* 0 without learnable embeddings, or where the mini-batch read none */
    /* [group_count], types ascending. To be put, they lie one behind the other: nodes behind nodes, gradients behind
     * gradients. */
    struct gradient_rows group[RELATION_TYPE_COUNT_MAX];
    struct record_view view;
};

MUST_CHECK enum error_code gradient_put(struct store *store, const char *run_id, int64_t round,
                                        int slot, const struct gradient *gradient,
                                        struct error *err);
MUST_CHECK enum error_code gradient_get(struct store *store, const char *run_id, int64_t round,
                                        int slot, struct gradient *out, struct error *err);
/* The rows of a type; NULL: there are none. */
const struct gradient_rows *gradient_rows_of(const struct gradient *gradient, uint32_t type);
/* A series of them (store.h): those of the first `slot_count` slots of a round, in order. `together`: as in store.h. Each is
 * released after its visit, unless that took its view and left {0} there. */
typedef enum error_code (*gradient_visitor)(void *context, int slot, struct gradient *gradient,
                                            struct error *err);
MUST_CHECK enum error_code gradient_get_each(struct store *store, const char *run_id, int64_t round,
                                             int slot_count, size_t together,
                                             gradient_visitor visit, void *context,
                                             struct error *err);
MUST_CHECK enum error_code gradient_decode(const struct record_view *view, struct gradient *out,
                                           struct error *err);

struct evaluation {
    uint64_t version;
    uint64_t seed_count, correct_count;
    double loss_sum;
    uint64_t tally_size;
    const double *tally;  /* [tally_size] */
    uint64_t score_count; /* a row of the tally's columns for each seed */
    const float *score;   /* [score_count] */
    const uint8_t *truth; /* [score_count] */
    struct record_view view;
};

MUST_CHECK enum error_code evaluation_put(struct store *store, const char *run_id, int slot,
                                          const struct evaluation *evaluation, struct error *err);
MUST_CHECK enum error_code evaluation_get(struct store *store, const char *run_id, int64_t version,
                                          int slot, struct evaluation *out, struct error *err);
/* Likewise, of weights `version`; each is valid during its visit. */
typedef enum error_code (*evaluation_visitor)(void *context, int slot,
                                              const struct evaluation *evaluation,
                                              struct error *err);
MUST_CHECK enum error_code evaluation_get_each(struct store *store, const char *run_id,
                                               int64_t version, int slot_count,
                                               evaluation_visitor visit, void *context,
                                               struct error *err);
MUST_CHECK enum error_code evaluation_decode(const struct record_view *view, struct evaluation *out,
                                             struct error *err);

#endif
