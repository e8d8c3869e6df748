/*
 * relation_units - units of sample on a graph with relations: the same seeds, drawn by relation_sampler.h.
 */
#ifndef STAGES_SAMPLE_RELATION_UNITS_H
#define STAGES_SAMPLE_RELATION_UNITS_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "stages/sampling/pair_drawer.h"
#include "stages/sampling/relation_sampler.h"

#include <stdbool.h>
#include <stdint.h>

/* Fan-outs of all relations; {0} is of a graph without. */
struct relation_fanouts {
    int hop_count;
    int64_t *training, *evaluation; /* [relations, hop_count], owned */
};

/* Those of the settings. Fails: ERROR_INVALID naming the setting: fan-outs of a relation that there is not, or a sampler
 * that does not know relations. */
MUST_CHECK enum error_code relation_fanouts_open(const struct stage_context *context,
                                                 struct relation_fanouts *out, struct error *err);
void relation_fanouts_release(struct relation_fanouts *fanouts);

struct relation_unit {
    const char *key; /* of the record */
    uint32_t round, slot;
    bool is_evaluation;
    const uint32_t *seed_node; /* [seed_count] */
    uint32_t seed_count;
    const struct drawn_pairs *pairs; /* of a task of pairs, whose ends the seeds are; else NULL */
    unsigned edge_columns;
};

/* Draws the mini-batch of a unit and stores it. */
MUST_CHECK enum error_code relation_unit_draw(const struct stage_context *context,
                                              const struct relation_fanouts *fanouts,
                                              struct relation_sampler *sampler,
                                              const struct relation_unit *unit,
                                              struct arena *packed, struct error *err);

#endif
