/*
 * part_shares - shares the seconds of units out among the parts of the partition.
 *
 * A unit of training has no part: its seeds are shuffled over the whole graph, and it reads rows of
 * any part. So its seconds are shared out by what it did for the nodes of each part: the rows that
 * a step read, the nodes and edges that a sampler drew. That is an estimate: it ignores that a row
 * of one part may be slower to read than a row of another.
 *
 * Only stage_times.h uses it. Without memory no shares are kept.
 */
#ifndef STAGES_ENGINE_PART_SHARES_H
#define STAGES_ENGINE_PART_SHARES_H

#include "common/base/json.h"
#include "stages/plan/chain/unit.h"

#include <stdbool.h>
#include <stdint.h>

struct part_shares { /* {0} is empty */
    int part_count;
    /* [part_count] for the present unit; owned, and so are the next; NULL: none. */
    uint64_t *in_hand;
    double *seconds[UNIT_KIND_COUNT]; /* [part_count] for units that are done */
    uint64_t *amount[UNIT_KIND_COUNT];
};

/* Adds `amount` to `part`, which is below `part_count`. */
void part_shares_add(struct part_shares *shares, int part_count, int part, uint64_t amount);
/* Ends the present unit, which took `seconds`. They are shared out only if it is done. */
void part_shares_end(struct part_shares *shares, enum unit_kind kind, double seconds, bool done);
/* Writes the shares of units of that kind since the last call, as two arrays of the open object;
 * nothing if there are none. */
void part_shares_put(struct part_shares *shares, enum unit_kind kind, struct json_writer *json);
void part_shares_release(struct part_shares *shares);

#endif
