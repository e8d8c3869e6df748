/*
 * chain_soundness - whether what a unit was made of is still there.
 *
 * Of records that no snapshot covers yet a crash of the host may take any, earlier ones and not later ones, and `graphmill verify
 * --remove` takes damaged ones. What was made of them would count as done, and the run could be over before they are made again. So a unit
 * is unsound when one that it waited for is not done, nor in a snapshot before it, or when it is not whole itself: then it is not done,
 * either, and its records go, to be made again with the same bytes.
 *
 *      weights 4    gradient 4/0    weights 5    gradient 5/0    weights 6 = snapshot 6    gradient 6/0
 *                      lost         unsound        unsound        unsound                   sound: that snapshot is there
 *
 * What was let go behind a newer snapshot looks the same, but the switch names that by then.
 */
#ifndef STAGES_PLAN_CHAIN_SOUNDNESS_H
#define STAGES_PLAN_CHAIN_SOUNDNESS_H

#include "common/base/error.h"
#include "stages/plan/chain_state.h"
#include "stages/plan/schedule.h"
#include "stages/plan/unit.h"
#include "stages/plan/unit_list.h"
#include "store/objects/store.h"

#include <stdbool.h>

/* For units in an order in which each comes after those that it waits for. */
struct chain_soundness {
    const struct schedule *schedule;
    struct store *store;
    const char *run_id;
    const struct chain_state *state; /* as it was read before the units are looked at */
    bool
        is_broken; /* where steps choose their weights: what they chose from is made again. false at first */
    struct unit_list before; /* for its own use; {0} at first, unit_list_release() at last */
};

/* Lets the records of a unit that is done go if it is unsound; *is_done is false then. Choices stay, and gradients that are all that tells of
 * one. Safe beside living workers: one that misses what it reads waits for it. Fails: ERROR_IO. */
MUST_CHECK enum error_code chain_drop_unsound(struct chain_soundness *c, const struct unit *unit,
                                              bool *is_done, struct error *err);

#endif
