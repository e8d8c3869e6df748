/*
 * part_shares - which share of the seconds of units falls to which part of the partition.
 *
 * A unit of training has no part: its seeds are shuffled over all of the graph, and it reads rows of any. So its seconds are shared out
 * by what it did for the nodes of each part: the rows that a step read, the nodes and edges that a sampler drew. That is an estimate; what
 * it leaves out is that a row may be slower to read in one part than in another.
 *
 * For stage_times.h alone. When there is no memory for it no shares are kept.
 */
#ifndef STAGES_ENGINE_PART_SHARES_H
#define STAGES_ENGINE_PART_SHARES_H

#include "common/base/json.h"
#include "stages/plan/unit.h"

#include <stdbool.h>
#include <stdint.h>

struct part_shares { /* {0} is empty */
    int part_count;
    uint64_t *
        in_hand; /* [part_count] of the unit that is being done; owned, as are the next; NULL: none */
    double *seconds[UNIT_KIND_COUNT]; /* [part_count] of units that are done */
    uint64_t *amount[UNIT_KIND_COUNT];
};

/* `amount` was done for nodes of `part`, which is below `part_count`. */
void part_shares_add(struct part_shares *shares, int part_count, int part, uint64_t amount);
/* The unit in hand took `seconds`; unless it is done they fall to nobody. */
void part_shares_end(struct part_shares *shares, enum unit_kind kind, double seconds, bool done);
/* Of units of that kind since the last time, as two arrays of the open object; nothing if there are none. */
void part_shares_put(struct part_shares *shares, enum unit_kind kind, struct json_writer *json);
void part_shares_release(struct part_shares *shares);

#endif
