/*
 * chain_soundness - checks whether the records that a unit was made from are still there.
 *
 * A crash of the host may lose any record that no snapshot covers yet, an earlier one as well as a
 * later one, and `graphmill verify --remove` removes damaged ones. The units that were made from a
 * lost record would still count as done, and the run could end before the lost record is made
 * again. So a unit is unsound when it is not whole itself, or when a unit that it waited for is
 * neither done nor covered by a snapshot before it. An unsound unit counts as not done: its records
 * are removed, and are made again with the same bytes.
 *
 *     weights 4   gradient 4/0   weights 5   gradient 5/0   weights 6 = snapshot 6   gradient 6/0
 *                    lost        unsound       unsound       unsound                  sound
 *
 * Gradient 6/0 is sound because snapshot 6 is there.
 * Records that were removed after a newer snapshot look the same, but by then the ref names that
 * snapshot.
 */
#ifndef STAGES_PLAN_CHAIN_CHAIN_SOUNDNESS_H
#define STAGES_PLAN_CHAIN_CHAIN_SOUNDNESS_H

#include "common/base/error.h"
#include "stages/plan/chain/chain_state.h"
#include "stages/plan/chain/schedule.h"
#include "stages/plan/chain/unit.h"
#include "stages/plan/chain/unit_list.h"
#include "store/objects/store.h"

#include <stdbool.h>

/* Checks units one after the other; each unit must come after the units that it waits for. */
struct chain_soundness {
    const struct schedule *schedule;
    struct store *store;
    const char *run_id;
    const struct chain_state *state; /* as it was before the first unit is checked */
    /* Steps choose their weights, and a unit was unsound: what they chose from is made again. False
     * at first. */
    bool is_broken;
    /* Internal: {0} at first; the caller calls unit_list_release() at the end. */
    struct unit_list before;
};

/* Removes the records of a done unit that is unsound, and then sets *is_done to false. Choices
 * stay, and so do gradients that are the only record of a choice. It is safe while workers run: a
 * worker that misses an input waits for it. Fails: ERROR_IO. */
MUST_CHECK enum error_code chain_drop_unsound(struct chain_soundness *c, const struct unit *unit,
                                              bool *is_done, struct error *err);

#endif
