/*
 * relation_fanouts - how many neighbours a node keeps in each relation at each hop.
 *
 * sample.fanouts is for every relation; sample.relation_fanouts names those that have other
 * fan-outs:
 *
 *     fanouts: 10,5
 *     relation_fanouts: "cites: 15,10; rev_writes: 5,0"
 *
 * A name means all relations of that name, whatever types they connect. The last colon of an entry
 * ends the name, so names may have colons.
 */
#ifndef STAGES_PLAN_SETTINGS_RELATION_FANOUTS_H
#define STAGES_PLAN_SETTINGS_RELATION_FANOUTS_H

#include "common/base/error.h"
#include "common/graph/relation_block.h"
#include "stages/plan/settings/pipeline_settings.h"

#include <stdint.h>

/* Fills out [relation_count, hops] with the fan-outs of training. Fails: ERROR_INVALID naming the
 * entry, what was expected and found: a relation that does not exist, another number of hops, not a
 * number. */
MUST_CHECK enum error_code relation_fanouts_of(const struct pipeline_settings *settings,
                                               const struct relation *relation,
                                               uint32_t relation_count, int64_t *out,
                                               struct error *err);
/* Fills `out` with the fan-outs of validation: sample.evaluation_fanouts in every relation, or all
 * neighbours. */
void relation_fanouts_of_evaluation(const struct pipeline_settings *settings,
                                    uint32_t relation_count, int64_t *out);
/* Checks what can be checked without a graph. Fails: ERROR_INVALID. */
MUST_CHECK enum error_code relation_fanouts_check(const struct pipeline_settings *settings,
                                                  struct error *err);

#endif
