/*
 * chain - which unit of work waits for which; the pipeline as a graph, in one place.
 *
 *   initialise ──────────────┐
 *   sample/r/k ──────────────┴─> train-step/r/k ─(all slots)─> aggregate/r ─┬─> train-step/r+1/all
 *   sample-evaluation/k ─(first snapshot)──┬─────> evaluate/v/k <───────────┤    (v = r + 1)
 *   evaluate/<snapshot before>/k ──────────┘            └─(all)─> checkpoint/v  └─> sample/r+1+ahead/all
 *   the last checkpoint ─> infer/w/1/p ─(all parts)─> infer/w/2/p ... ─(all parts of the last two)─> outputs/w
 *
 * w is the version of the weights that inference takes: those of the snapshot that ends the run, or the best
 * ones, which that snapshot holds too. Only that snapshot says which, so no unit of infer is made before it.
 * With early stopping, the rounds after a snapshot wait for its checkpoint; else they do not.
 * There is no coordinator: a worker that finishes a unit asks chain_successors() what that sets free and
 * tells Redis in one script. Storage says what is done (chain_is_done), so the queue can be rebuilt from
 * it at any time. tests/stages/plan/chain_test.c checks that successors and prerequisites are inverse.
 */
#ifndef STAGES_PLAN_CHAIN_H
#define STAGES_PLAN_CHAIN_H

#include "common/base/error.h"
#include "stages/plan/schedule.h"
#include "stages/plan/unit.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"
#include "store/queue/work_queue.h"
#include "store/records/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

struct unit_list {     /* {0} is empty; keeps its memory when reset */
    struct unit *unit; /* owned */
    int64_t count;
    size_t capacity;
};

MUST_CHECK enum error_code unit_list_add(struct unit_list *list, struct unit unit,
                                         struct error *err);
void unit_list_release(struct unit_list *list);

/* Units that must be done before `unit`, appended to `out`. `last_version`: of the snapshot that ends the run
 * (chain_last_version()), for the first layer of infer. */
MUST_CHECK enum error_code chain_prerequisites(const struct schedule *schedule,
                                               const struct unit *unit, int64_t last_version,
                                               struct unit_list *out, struct error *err);
/* Units whose records `unit` reads and that it does not wait for, because they were done before those it waits
 * for: the validation nodes' mini-batches, and with reuse_epochs those of an earlier epoch. */
MUST_CHECK enum error_code chain_reads(const struct schedule *schedule, const struct unit *unit,
                                       struct unit_list *out, struct error *err);
/* How many prerequisites there are. */
int64_t chain_prerequisite_count(const struct schedule *schedule, const struct unit *unit);
/* Units for which `unit` is a prerequisite. `weights_version`: of a checkpoint that ends the run, the weights
 * that inference takes; else -1. */
MUST_CHECK enum error_code chain_successors(const struct schedule *schedule,
                                            const struct unit *unit, int64_t weights_version,
                                            struct unit_list *out, struct error *err);
/* That version, as the snapshot has it: -1 when it does not end the run. */
int64_t chain_weights_version(const struct schedule *schedule, const struct snapshot *snapshot);
/* Units without prerequisites. */
MUST_CHECK enum error_code chain_roots(const struct schedule *schedule, struct unit_list *out,
                                       struct error *err);

/* What storage says of a run. */
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

/* The record whose presence says that the unit is done; for one of infer, the seal of its artifact. */
struct key chain_output_key(const struct schedule *schedule, const char *run_id,
                            const struct unit *unit);

/* Whether the unit's output is stored, or a later snapshot made it superfluous. A checkpoint is done once the
 * switch names it or a later one, as `state` has it; a unit of infer when both artifact and seal are there. */
MUST_CHECK enum error_code chain_is_done(const struct schedule *schedule, struct store *store,
                                         const char *run_id, const struct chain_state *state,
                                         const struct unit *unit, bool *done, struct error *err);

/* Fills an empty or doubtful queue with all that storage says is left to do. Safe beside living
 * workers. */
MUST_CHECK enum error_code chain_rebuild(const struct schedule *schedule, struct store *store,
                                         const char *run_id, struct work_queue *queue,
                                         struct error *err);

#endif
