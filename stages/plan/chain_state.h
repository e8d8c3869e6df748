/*
 * chain_state - what storage says of a run: the snapshot that it stands at, whether training ended, whether all is done.
 */
#ifndef STAGES_PLAN_CHAIN_STATE_H
#define STAGES_PLAN_CHAIN_STATE_H

#include "common/base/error.h"
#include "stages/plan/schedule.h"
#include "stages/plan/unit.h"
#include "store/objects/store.h"
#include "store/records/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

struct chain_state {
    int64_t snapshot_version; /* the whole snapshot that the run stands at, or -1 */
    bool is_named; /* the switch names it, or with -1 no other; else: chain_state_mend() */
    bool stopped;  /* ... and it ends training */
    int64_t weights_version; /* of the weights that inference takes, or -1 until then */
    bool finished;           /* the outputs of those weights are there, with their seal */
};

MUST_CHECK enum error_code chain_state_read(const struct schedule *schedule, struct store *store,
                                            const char *run_id, struct chain_state *out,
                                            struct error *err);
/* The same with the snapshot that it speaks of, which a run that goes on may let go at any moment: then both are
 * of a later one. *snapshot is empty without any; release its view. */
MUST_CHECK enum error_code chain_state_and_snapshot(const struct schedule *schedule,
                                                    struct store *store, const char *run_id,
                                                    struct chain_state *state,
                                                    struct snapshot *snapshot, struct error *err);
/* The version of the snapshot that ends the run; before it is there, the latest that can. */
int64_t chain_last_version(const struct schedule *schedule, const struct chain_state *state);

/* As chain_state_read(), for a state that was read before: reads the snapshot only when a newer one is
 * there. */
MUST_CHECK enum error_code chain_state_refresh(const struct schedule *schedule, struct store *store,
                                               const char *run_id, struct chain_state *state,
                                               struct error *err);

/* Sets the switch of the run to the snapshot of `state`, which was just read, when the switch or its snapshot was
 * lost (!state->is_named), and says so in the log. For whoever is about to go on with the run. */
MUST_CHECK enum error_code chain_state_mend(struct store *store, const char *run_id,
                                            const struct chain_state *state, struct error *err);

/* The version of the weights that inference takes, as the snapshot has it: -1 when it does not end the run. */
int64_t chain_weights_version(const struct schedule *schedule, const struct snapshot *snapshot);
/* Whether the unit's output is stored, with its companion, or a later snapshot made it superfluous. A checkpoint is done once the
 * switch names it or a later one, as `state` has it; a unit of infer when both artifact and seal are there. */
MUST_CHECK enum error_code chain_is_done(const struct schedule *schedule, struct store *store,
                                         const char *run_id, const struct chain_state *state,
                                         const struct unit *unit, bool *done, struct error *err);
/* *open: does `name` name a unit of this run that is still to be done? */
MUST_CHECK enum error_code chain_is_open(const struct schedule *schedule, struct store *store,
                                         const char *run_id, const struct chain_state *state,
                                         const char *name, bool *open, struct error *err);
/* The part of chain_is_done() which `state` alone says. */
bool chain_is_covered(const struct schedule *schedule, const struct chain_state *state,
                      const struct unit *unit);

#endif
