/*
 * sampler_tables - the tables of the whole graph that a sampler needs. They are made when sample
 * opens and shared by all draws.
 */
#ifndef STAGES_SAMPLE_SAMPLER_TABLES_H
#define STAGES_SAMPLE_SAMPLER_TABLES_H

#include "stages/engine/stage.h"
#include "stages/sampling/rows/node_chances.h"
#include "stages/sampling/samplers/sampler.h"
#include "stages/sampling/samplers/walk_norm.h"
#include "store/records/batch/walk_counts.h"
#include "store/records/dataset/node_splits.h"

#include <stdint.h>

struct sampler_tables {    /* {0} has none; the row of the sampler says which there are */
    uint64_t *is_training; /* a bit for each node */
    struct node_chances *chances;
    uint32_t table_count;
    struct walk_counts counts; /* read before the first mini-batch is drawn */
    struct walk_norm walk_norm;
};

/* Returns how many bytes the tables will take. */
uint64_t sampler_tables_bytes(const struct stage_context *context, const struct topology *topology);
/* Makes the tables, all but the counts of walks. Fails: ERROR_NO_MEMORY; ERROR_CORRUPT; ERROR_INPUT
 * for a graph without edges. */
MUST_CHECK enum error_code sampler_tables_open(const struct stage_context *context,
                                               const struct topology *topology,
                                               const struct node_splits *splits,
                                               struct sampler_tables *out, struct error *err);
/* Counts the walks of a run, which `sampler` draws, and stores the counts. Fails: as the store
 * does; ERROR_NO_MEMORY; ERROR_CORRUPT naming a row. */
MUST_CHECK enum error_code sampler_tables_count(const struct stage_context *context,
                                                const struct topology *topology,
                                                const struct node_splits *splits,
                                                struct neighbor_sampler *sampler,
                                                struct error *err);
/* Reads the counts of walks, which an earlier unit stored, unless they are read already. Threads:
 * one at a time. Fails: as the store does; ERROR_CORRUPT. */
MUST_CHECK enum error_code sampler_tables_read_counts(const struct stage_context *context,
                                                      const struct topology *topology,
                                                      const struct node_splits *splits,
                                                      struct sampler_tables *tables,
                                                      struct error *err);
void sampler_tables_release(struct sampler_tables *tables);
/* Returns the tables as a request takes them; it borrows them. */
struct graph_knowledge sampler_tables_knowledge(const struct sampler_tables *tables);

#endif
