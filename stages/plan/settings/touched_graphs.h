/*
 * touched_graphs - counts the training graphs of a dataset of many graphs that an update has
 * touched (version_drift.h).
 *
 * A graph is touched when one of its nodes is, or when it has lost a node: its output depends on
 * all of them.
 */
#ifndef STAGES_PLAN_SETTINGS_TOUCHED_GRAPHS_H
#define STAGES_PLAN_SETTINGS_TOUCHED_GRAPHS_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/dataset/node_splits.h"

#include <stdint.h>

/* Two versions, and the maps from the nodes of one to the nodes of the other; borrowed. */
struct touched_graphs {
    struct store *store;
    const struct dataset_schema *older, *newer;
    const uint32_t *older_of; /* [newer nodes] the older node, or DELTA_GONE */
    const uint32_t *newer_of; /* [older nodes] the newer node, or DELTA_GONE */
    const uint8_t *mark;      /* [newer nodes] touched if it has a bit of `mask` */
    uint8_t mask;
};

/* Sets *count to the number of training graphs of the newer version that are touched. Fails:
 * ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code touched_graphs_count(const struct touched_graphs *touched,
                                                const struct node_splits *splits, uint32_t *count,
                                                struct error *err);

#endif
