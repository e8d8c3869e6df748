/*
 * snapshot_commit - makes the snapshots that were put so far count: flushed to disk, told in metrics.jsonl,
 * named by the switch; then the records that they make superfluous go.
 *
 * A flush costs milliseconds, on a small graph more than the round it follows. So a snapshot is put without
 * one, and a commit follows at most every SNAPSHOT_COMMIT_MS, for all that were put since: it flushes the
 * newest, and of the others only those that are kept. What is not committed when the host loses power is
 * computed again from the snapshot that the switch names, which always is on disk. When a process dies
 * nothing is lost at all: the records stand, and the checkpoints after the switch are done again from them.
 *
 * The snapshot that ends the run is committed at once, and so is the first one of a process, so that workers
 * that are killed again and again still move the switch on.
 */
#ifndef STAGES_CHECKPOINT_SNAPSHOT_COMMIT_H
#define STAGES_CHECKPOINT_SNAPSHOT_COMMIT_H

#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "stages/plan/metrics_log.h"
#include "store/records/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

enum { SNAPSHOT_COMMIT_MS = 100 };

struct snapshot_commit { /* {0}: nothing was committed yet */
    int64_t last_ms;
    struct metrics_lines lines; /* of the snapshots put since */
};

/* Notes that `snapshot` was put. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code snapshot_commit_note(struct snapshot_commit *commit,
                                                const struct snapshot *snapshot, struct error *err);
bool snapshot_commit_is_due(const struct snapshot_commit *commit, const struct snapshot *newest);
/* Fails: ERROR_IO, ERROR_CORRUPT, ERROR_NOT_FOUND. Done twice, the second time changes nothing. */
MUST_CHECK enum error_code snapshot_commit_run(struct snapshot_commit *commit,
                                               const struct stage_context *context,
                                               const struct snapshot *newest, struct error *err);
void snapshot_commit_release(struct snapshot_commit *commit);

#endif
