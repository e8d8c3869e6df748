/*
 * parameters - weights, optimizer state, and the results of validation.
 *
 *   weights           run/<id>/weights/<v>          aggregate writes it (v = 0 too); train-step,
 *                                                   checkpoint and infer read it
 *                     run/<id>/initial              of a run that begins with the weights of
 *                                                   another one: written and flushed before the run
 *                                                   starts; aggregate reads it for v = 0
 *       "version"  U64 [1]
 *       "value"    F32 [parameter count]   all tensors in the order of the model's table; last the
 *                           running statistics of batch norms (common/nn/running_statistics.h)
 *       "table"    U8  text, one line for each tensor: name rows cols
 *       "progress" F64 [6]  of the round before: mean loss, correct ones, seeds, learning rate,
 *                           gradient norm before clipping, the error of the gradient's encoding as
 *                           a share of the norm (gradient.h); zeros in version 0
 *   optimizer_state   run/<id>/optimizer/<v>        aggregate writes it before weights v
 *       "version"  U64 [1]
 *       "step"     U64 [1]
 *       "first"    F32 [parameter count]   momentum or first moment
 *       "second"   F32 [parameter count]   second moment; only for Adam and AdamW
 *       "rounds"   F64 [rounds, 6]  only if a snapshot is made: "progress" of the weights of each
 *                                   round since the snapshot before, so that no one has to collect
 *                                   it
 *   evaluation        run/<id>/evaluation/<k>/result/<v> train-step writes it; checkpoint reads it
 *       "version"  U64 [1]
 *       "loss"     F64 [1]  sum
 *       "counts"   U64 [2]  seeds with a label, correct ones
 *       "tally"    F64 [as the task counts]  the counts that its metrics are computed from
 *                           (common/nn/tasks/tally.h)
 *       "score"    F32 [seeds, columns], "truth" U8 [seeds, columns] for areas under curves: with
 *                           two classes, and with several labels if checkpoint.metric asks for one
 *
 * Valid: the version inside is the one in the key; arrays that belong together are equally long;
 * the table describes exactly the values; weights and optimizer state are finite numbers. An
 * evaluation may hold a NaN: a run that diverges is not a damaged record.
 *
 * Each *_decode() only checks and reads a record that is in memory. Its arrays borrow from `view`,
 * and the view inside is a copy of it, of which only one is to be released. Fails: ERROR_CORRUPT
 * naming record, section, expected and found.
 */
#ifndef STORE_RECORDS_ROUND_PARAMETERS_H
#define STORE_RECORDS_ROUND_PARAMETERS_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

enum progress_field {
    PROGRESS_LOSS,
    PROGRESS_CORRECT,
    PROGRESS_SEEDS,
    PROGRESS_LEARNING_RATE,
    PROGRESS_GRADIENT_NORM,
    PROGRESS_GRADIENT_ERROR,
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
/* Writes and reads the weights that a run begins with, of version 0. A put replaces a damaged
 * record. */
MUST_CHECK enum error_code initial_weights_put(struct store *store, const char *run_id,
                                               const struct weights *weights, struct error *err);
MUST_CHECK enum error_code initial_weights_get(struct store *store, const char *run_id,
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

/* Fetches both records of one version at once. Fails as either get; then there is nothing to
 * release. */
MUST_CHECK enum error_code parameters_get(struct store *store, const char *run_id, int64_t version,
                                          struct weights *weights, struct optimizer_state *state,
                                          struct error *err);

struct evaluation {
    uint64_t version;
    uint64_t seed_count, correct_count;
    double loss_sum;
    uint64_t tally_size;
    const double *tally;  /* [tally_size] */
    uint64_t score_count; /* seeds times columns of the tally */
    const float *score;   /* [score_count] */
    const uint8_t *truth; /* [score_count] */
    struct record_view view;
};

MUST_CHECK enum error_code evaluation_put(struct store *store, const char *run_id, int slot,
                                          const struct evaluation *evaluation, struct error *err);
MUST_CHECK enum error_code evaluation_get(struct store *store, const char *run_id, int64_t version,
                                          int slot, struct evaluation *out, struct error *err);
/* Visits the evaluations of weights `version` by the first `slot_count` slots; each is valid during
 * its visit. */
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
