/*
 * snapshot - everything that is needed to continue from a version of the weights.
 *
 * checkpoint writes it and flushes it to disk before the switch names it. The driver, checkpoint
 * (the chain of snapshots), infer (which weights) and the rebuild of the queue read it. The newest
 * `keep` snapshots are kept, and the one with the best weights.
 *
 * The switch run/<id>/current_snapshot has two numbers, as "60 54": the run stands at snapshot 60,
 * and all records that the retention rule keeps are there from weights 54 on; older ones were
 * pruned or never existed. "0 0" is the start of the run. If records are lost, the run is set back
 * to the snapshot before them and continues there. If the switch is lost, or names a lost snapshot,
 * the newest whole snapshot counts.
 *
 *   key       run/<id>/snapshot/<v>
 *   sections  "cursor" I64 [8]: version, previous snapshot's version (-1: none), stop (0 or 1),
 *                               best version, snapshots since the best, epoch, warnings about the
 *                               loss so far (stages/plan/model/loss_warning.h; 0: none), 0
 *             "metric" F64 [8]: train loss, train accuracy, valid loss, valid metric, best valid
 *                               metric, learning rate, valid accuracy, 0 (NaN for one that is
 *                               missing)
 *             "value" F32, "first" F32, "second" F32 (optional), "step" U64 [1], "table" text,
 *             "progress" F64 [6]: as in weights and optimizer_state, so that a snapshot needs no
 *                               other record, and both can be made again from it, bit for bit
 *             "rounds" F64 [rounds, 6]: as in the optimizer_state of a snapshot
 *             "best_value" F32: the best weights; absent if they are this snapshot's own
 *             "log"   text: this snapshot's lines of metrics.jsonl (one for each round since the
 *                               previous snapshot, and one for the snapshot)
 *
 *   valid     arrays are equally long and finite, the table describes them, previous < version,
 *             best <= version, "best_value" is there exactly if best < version, the log ends with a
 *             line feed
 */
#ifndef STORE_RECORDS_ROUND_SNAPSHOT_H
#define STORE_RECORDS_ROUND_SNAPSHOT_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/round/parameters.h"

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
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released. */
MUST_CHECK enum error_code snapshot_decode(const struct record_view *view, struct snapshot *out,
                                           struct error *err);
/* The snapshot that a run continues from. */
struct snapshot_position {
    int64_t version;   /* of a snapshot; 0 for the start of the run */
    int64_t kept_from; /* nothing older is promised */
};

/* Reads the switch. Fails: ERROR_NOT_FOUND if it was never set; ERROR_CORRUPT. */
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
/* Does the same, with no promise of anything older than this snapshot. */
MUST_CHECK enum error_code snapshot_switch(struct store *store, const char *run_id, int64_t version,
                                           struct error *err);

/* Reads the newest whole snapshot before version `limit`. Fails: ERROR_NOT_FOUND if there is
 * none. */
MUST_CHECK enum error_code snapshot_newest_whole(struct store *store, const char *run_id,
                                                 int64_t limit, struct snapshot *out,
                                                 struct error *err);
/* Reads the snapshot that the run stands at: the one of the switch, or the newest whole one if
 * switch or snapshot is lost. Fails: ERROR_NOT_FOUND if there is none. */
MUST_CHECK enum error_code snapshot_get_current(struct store *store, const char *run_id,
                                                struct snapshot *out, struct error *err);
/* Gives the version of that snapshot, without reading one that the switch names. *is_named tells
 * whether the switch names it or, after ERROR_NOT_FOUND, that the switch names none. is_named may
 * be NULL. */
MUST_CHECK enum error_code snapshot_current_version(struct store *store, const char *run_id,
                                                    int64_t *version, bool *is_named,
                                                    struct error *err);
/* Makes weights and optimizer state of that version again, bit for bit, if they are missing or
 * damaged; *changed says whether they were. The snapshot is flushed to disk and round records are
 * not, so after a crash of the host only the snapshot may be left. Fails: ERROR_NOT_FOUND without
 * that snapshot; ERROR_CORRUPT; ERROR_IO. */
MUST_CHECK enum error_code snapshot_restore(struct store *store, const char *run_id,
                                            int64_t version, bool *changed, struct error *err);

#endif
