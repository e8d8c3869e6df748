/*
 * snapshot_commit - commits the snapshots that were put so far: flushes them to disk, adds them to
 * metrics.jsonl and sets the ref to the newest. Then it removes the records that they make
 * superfluous.
 *
 * A flush costs milliseconds, on a small graph more than the round before it. So a snapshot is put
 * without a flush, and a commit follows at most every SNAPSHOT_COMMIT_MS, for all that were put
 * since: it flushes the newest, and of the others only those that are kept. If the host loses
 * power, snapshots that are not committed are computed again from the snapshot that the ref names,
 * which is always on disk. When only a process dies, nothing is lost: the records are there, and
 * the checkpoints after the ref are done again from them.
 *
 * The snapshot that ends the run is committed at once. So is the first one of a process, so that
 * workers that are killed again and again still advance the ref.
 */
#ifndef STAGES_CHECKPOINT_SNAPSHOT_COMMIT_H
#define STAGES_CHECKPOINT_SNAPSHOT_COMMIT_H

#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "stages/plan/chain/metrics_log.h"
#include "store/records/round/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

enum { SNAPSHOT_COMMIT_MS = 100 };

struct snapshot_commit { /* {0}: nothing was committed yet */
    int64_t last_ms;
    struct metrics_lines lines; /* of the snapshots put since the last commit */
};

/* Notes that `snapshot` was put. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code snapshot_commit_note(struct snapshot_commit *commit,
                                                const struct snapshot *snapshot, struct error *err);
bool snapshot_commit_is_due(const struct snapshot_commit *commit, const struct snapshot *newest);
/* Commits. Done twice, the second time changes nothing. Fails: ERROR_IO, ERROR_CORRUPT,
 * ERROR_NOT_FOUND. */
MUST_CHECK enum error_code snapshot_commit_run(struct snapshot_commit *commit,
                                               const struct stage_context *context,
                                               const struct snapshot *newest, struct error *err);
void snapshot_commit_release(struct snapshot_commit *commit);

#endif
