/*
 * unit_fanouts - the fan-outs of training and validation units: how many neighbours of a node are
 * kept, by relation and hop.
 */
#ifndef STAGES_SAMPLE_UNIT_FANOUTS_H
#define STAGES_SAMPLE_UNIT_FANOUTS_H

#include "common/base/error.h"
#include "stages/engine/stage.h"

#include <stdint.h>

struct unit_fanouts { /* {0} is empty */
    int hop_count;
    int64_t *training, *evaluation; /* [relations, hop_count], owned */
};

/* Makes the fan-outs of the settings. Fails: ERROR_INVALID naming the setting for fan-outs of a
 * relation that the graph does not have; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code unit_fanouts_open(const struct stage_context *context,
                                             struct unit_fanouts *out, struct error *err);
void unit_fanouts_release(struct unit_fanouts *fanouts);

#endif
