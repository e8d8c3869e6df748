/*
 * chain_state - how far a run has come, by the records in storage: its newest snapshot, whether
 * training has ended, and whether everything is done.
 */
#ifndef STAGES_PLAN_CHAIN_CHAIN_STATE_H
#define STAGES_PLAN_CHAIN_CHAIN_STATE_H

#include "common/base/error.h"
#include "stages/plan/chain/schedule.h"
#include "stages/plan/chain/unit.h"
#include "store/objects/store.h"
#include "store/records/round/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

struct chain_state {
    int64_t snapshot_version; /* the newest whole snapshot of the run, or -1 */
    /* The ref names that snapshot, or with -1 names none. If false, call chain_state_mend(). */
    bool is_named;
    bool stopped;            /* that snapshot ends training */
    int64_t weights_version; /* of the weights that inference uses; -1 before the run has ended */
    bool finished;           /* the outputs of those weights are there, with their manifest */
};

MUST_CHECK enum error_code chain_state_read(const struct schedule *schedule, struct store *store,
                                            const char *run_id, struct chain_state *out,
                                            struct error *err);
/* Reads the state together with its snapshot. A run that goes on may remove a snapshot at any
 * moment: then state and snapshot are both those of a later one. *snapshot is empty if there is
 * none; the caller releases its view. */
MUST_CHECK enum error_code chain_state_and_snapshot(const struct schedule *schedule,
                                                    struct store *store, const char *run_id,
                                                    struct chain_state *state,
                                                    struct snapshot *snapshot, struct error *err);
/* Returns the version of the snapshot that ends the run; before that snapshot exists, the latest
 * version that can end it. */
int64_t chain_last_version(const struct schedule *schedule, const struct chain_state *state);

/* Brings a state that was read before up to date, like chain_state_read(), but reads the snapshot
 * only when there is a newer one. */
MUST_CHECK enum error_code chain_state_refresh(const struct schedule *schedule, struct store *store,
                                               const char *run_id, struct chain_state *state,
                                               struct error *err);

/* Sets the ref of the run to the snapshot of `state`, which was just read, if the ref or its
 * snapshot was lost (!state->is_named), and logs that. Called before a run goes on. */
MUST_CHECK enum error_code chain_state_mend(struct store *store, const char *run_id,
                                            const struct chain_state *state, struct error *err);

/* Returns the version of the weights that inference uses, as the snapshot has it; -1 if the
 * snapshot does not end the run. */
int64_t chain_weights_version(const struct schedule *schedule, const struct snapshot *snapshot);
/* Sets whether the unit is done: its output and its companion are stored, or a later snapshot has
 * made them superfluous. A checkpoint is done once the ref in `state` names it or a later one; a
 * unit of infer is done when both its artifact and its manifest are there. */
MUST_CHECK enum error_code chain_is_done(const struct schedule *schedule, struct store *store,
                                         const char *run_id, const struct chain_state *state,
                                         const struct unit *unit, bool *done, struct error *err);
/* Sets *open to whether `name` names a unit of this run that is still to be done. */
MUST_CHECK enum error_code chain_is_open(const struct schedule *schedule, struct store *store,
                                         const char *run_id, const struct chain_state *state,
                                         const char *name, bool *open, struct error *err);
/* Returns the part of chain_is_done() that follows from `state` alone. */
bool chain_is_covered(const struct schedule *schedule, const struct chain_state *state,
                      const struct unit *unit);

#endif
