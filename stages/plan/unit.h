/*
 * unit - one piece of work, named by what it makes and never by who makes it.
 *
 *   ingest   partition                      one each
 *   initialise                              aggregate: weights of version 0
 *   sample/<round>/<slot>                   a mini-batch
 *   sample-evaluation/<slot>                a mini-batch of validation nodes, made once
 *   train-step/<round>/<slot>               a gradient
 *   evaluate/<version>/<slot>               train-step: validation of those weights
 *   aggregate/<round>                       weights of version round + 1
 *   checkpoint/<version>                    a snapshot of those weights
 *   infer/<version>/<layer>/<part>          one layer's output for one part, with those weights; layers from 1
 *   outputs/<version>                       infer: files for people, and metrics, with those weights
 */
#ifndef STAGES_PLAN_UNIT_H
#define STAGES_PLAN_UNIT_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum unit_kind {
    UNIT_UNKNOWN = 0,
    UNIT_INGEST,
    UNIT_PARTITION,
    UNIT_INITIALISE,
    UNIT_SAMPLE,
    UNIT_SAMPLE_EVALUATION,
    UNIT_TRAIN_STEP,
    UNIT_EVALUATE,
    UNIT_AGGREGATE,
    UNIT_CHECKPOINT,
    UNIT_INFER,
    UNIT_OUTPUTS,
    UNIT_KIND_COUNT
};

struct unit {
    enum unit_kind kind;
    int64_t round; /* round, or version of the weights; 0 when the kind has none */
    int32_t slot;  /* slot, or part for infer; 0 when the kind has none */
    int32_t layer; /* of infer; 0 else */
};

enum { UNIT_NAME_SIZE = 64 };

void unit_name(const struct unit *unit, char name[UNIT_NAME_SIZE]);
/* Fails: ERROR_INVALID for a name that is none. */
MUST_CHECK enum error_code unit_parse(const char *name, struct unit *out, struct error *err);
/* Fails: ERROR_INVALID for a unit that another stage's program does. */
MUST_CHECK enum error_code unit_check_stage(const struct unit *unit, const char *stage,
                                            struct error *err);
/* The stage whose program does units of this kind: "sample", ... */
const char *unit_stage(enum unit_kind kind);
bool unit_equal(const struct unit *a, const struct unit *b);

#endif
