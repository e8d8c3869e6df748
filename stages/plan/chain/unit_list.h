/*
 * unit_list - units of a run, in the order in which they were added.
 */
#ifndef STAGES_PLAN_CHAIN_UNIT_LIST_H
#define STAGES_PLAN_CHAIN_UNIT_LIST_H

#include "common/base/error.h"
#include "stages/plan/chain/schedule.h"
#include "stages/plan/chain/unit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unit_list {     /* {0} is empty; a reset keeps the memory */
    struct unit *unit; /* owned */
    int64_t count;
    size_t capacity;
    bool only_counts; /* only the count grows: no memory is allocated, and adding never fails */
};

MUST_CHECK enum error_code unit_list_add(struct unit_list *list, struct unit unit,
                                         struct error *err);
/* Adds the slots 0 .. count - 1 of one kind and round (or version). */
MUST_CHECK enum error_code unit_list_add_slots(struct unit_list *list, enum unit_kind kind,
                                               int64_t round, int32_t count, struct error *err);
/* Adds all slots of a round; nothing if the run does not have that round. */
MUST_CHECK enum error_code unit_list_add_round(struct unit_list *list, const struct schedule *s,
                                               enum unit_kind kind, int64_t round,
                                               struct error *err);
/* Adds the mini-batches that are made before the first round is trained. */
MUST_CHECK enum error_code unit_list_add_first_samples(struct unit_list *list,
                                                       const struct schedule *s, struct error *err);
/* Adds all parts of one layer of infer, with weights `version`. */
MUST_CHECK enum error_code unit_list_add_layer(struct unit_list *list, const struct schedule *s,
                                               int64_t version, int32_t layer, struct error *err);
void unit_list_release(struct unit_list *list);

#endif
