/*
 * snapshot - everything that is needed to go on from a version of the weights.
 *
 * Written by checkpoint, flushed to disk before the switch names it; read by the driver, by
 * checkpoint (the chain of snapshots), by infer (which weights) and by the rebuild of the queue.
 * Kept: the newest `keep`, and the one with the best weights.
 *
 * The switch run/<id>/current_snapshot is two numbers, as "60 54": the run stands at snapshot 60,
 * and all that the retention rule keeps is there from weights 54 on (what is older was pruned, or
 * never was). "0 0" is the start of the run: whoever lost records sets a run back to the snapshot
 * before them, and it goes on there. A switch that is lost, or names a lost snapshot, stands for
 * the newest whole snapshot there is.
 *
 *   key       run/<id>/snapshot/<v>
 *   sections  "cursor" I64 [8]: version, previous snapshot's version (-1: none), stop (0 or 1), best
 *                               version, snapshots since the best, epoch, what was warned of
 *                               the loss so far (stages/plan/loss_warning.h; 0: nothing), 0
 *             "metric" F64 [8]: train loss, train accuracy, valid loss, valid metric, best valid
 *                               metric, learning rate, valid accuracy, 0 (NaN where there is none)
 *             "value" F32, "first" F32, "second" F32 (optional), "step" U64 [1], "table" text,
 *             "progress" F64 [6]: as in weights and optimizer_state, so that a snapshot stands alone,
 *                               and both can be made again from it, bit for bit
 *             "rounds" F64 [rounds, 6]: as in optimizer_state, which has it where a snapshot is made
 *             "best_value" F32: the best weights; absent when they are this snapshot's own
 *             "log"   text: this snapshot's lines of metrics.jsonl (one a round since the previous,
 *                               one for the snapshot)
 *
 *   valid     arrays are equally long and finite, the table describes them, previous < version, best <=
 *             version, "best_value" is there exactly when best < version, the log ends with a line feed
 */
#ifndef STORE_RECORDS_SNAPSHOT_H
#define STORE_RECORDS_SNAPSHOT_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/parameters.h"

#include <stdbool.h>
#include <stdint.h>

struct snapshot {
    int64_t version, previous_version, best_version, since_best, epoch;
    int64_t loss_warnings; /* of this snapshot and those before it */
    bool stop;             /* training ends here: early stopping, or the last round */
    double train_loss, train_accuracy, valid_loss, valid_metric, best_metric, learning_rate;
    double valid_accuracy;
    uint64_t step;
    uint64_t value_count;
    const float *value;      /* [value_count] */
    const float *first;      /* [value_count] */
    const float *second;     /* [value_count] or NULL */
    const float *best_value; /* [value_count]; equal to `value` when this is the best */
    const char *table;
    uint64_t table_size;
    double progress[PROGRESS_COUNT]; /* of the weights record */
    const double *rounds;            /* [round_count, PROGRESS_COUNT] or NULL */
    uint64_t round_count;
    const char *log;
    uint64_t log_size;
    struct record_view view;
};

/* Not flushed to disk: until the switch names it, a torn one can be made again. */
MUST_CHECK enum error_code snapshot_put(struct store *store, const char *run_id,
                                        const struct snapshot *snapshot, struct error *err);
MUST_CHECK enum error_code snapshot_get(struct store *store, const char *run_id, int64_t version,
                                        struct snapshot *out, struct error *err);
/* The check alone, of a record of any origin; `out` borrows from the view. */
MUST_CHECK enum error_code snapshot_decode(const struct record_view *view, struct snapshot *out,
                                           struct error *err);
/* Where a run stands. */
struct snapshot_position {
    int64_t version;   /* of a snapshot; 0 for the start of the run */
    int64_t kept_from; /* nothing older is promised */
};

/* What the switch says. Fails: ERROR_NOT_FOUND when it was never set; ERROR_CORRUPT. */
MUST_CHECK enum error_code snapshot_position_get(struct store *store, const char *run_id,
                                                 struct snapshot_position *out, struct error *err);
/* Flushes the snapshot of next.version and names it by compare-and-set, unless another worker has
 * named a later one that is whole.
 * Fails: ERROR_NOT_FOUND without the snapshot; ERROR_BUSY; ERROR_IO. */
MUST_CHECK enum error_code snapshot_position_advance(struct store *store, const char *run_id,
                                                     struct snapshot_position next,
                                                     struct error *err);
/* Flushes the snapshot of that version and names it, whatever was named before. Fails:
 * ERROR_NOT_FOUND without it; ERROR_IO. */
MUST_CHECK enum error_code snapshot_position_set(struct store *store, const char *run_id,
                                                 struct snapshot_position position,
                                                 struct error *err);
/* The same for a run of which nothing older than this snapshot is promised. */
MUST_CHECK enum error_code snapshot_switch(struct store *store, const char *run_id, int64_t version,
                                           struct error *err);

/* The newest snapshot before version `limit` that is whole. Fails: ERROR_NOT_FOUND when there is
 * none. */
MUST_CHECK enum error_code snapshot_newest_whole(struct store *store, const char *run_id,
                                                 int64_t limit, struct snapshot *out,
                                                 struct error *err);
/* The snapshot that the run stands at: the one of the switch, or the newest whole one when switch
 * or snapshot is lost. Fails: ERROR_NOT_FOUND when there is none. */
MUST_CHECK enum error_code snapshot_get_current(struct store *store, const char *run_id,
                                                struct snapshot *out, struct error *err);
/* Its version; that of the switch is not looked at. *is_named: the switch names it; without any
 * (ERROR_NOT_FOUND), it names none. May be NULL. */
MUST_CHECK enum error_code snapshot_current_version(struct store *store, const char *run_id,
                                                    int64_t *version, bool *is_named,
                                                    struct error *err);
/* Makes weights and optimizer state of that version again, bit for bit, where they are missing or
 * damaged; *changed says whether they were. Round records are not flushed to disk, the snapshot is:
 * after a crash of the host it may be all there is.
 * Fails: ERROR_NOT_FOUND without that snapshot; ERROR_CORRUPT; ERROR_IO. */
MUST_CHECK enum error_code snapshot_restore(struct store *store, const char *run_id,
                                            int64_t version, bool *changed, struct error *err);

#endif
