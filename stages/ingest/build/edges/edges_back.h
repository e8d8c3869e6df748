/*
 * edges_back - whether the edges of a directed graph mostly have an edge back, so that links are
 * held out in both directions.
 *
 * An undirected graph is often listed as a directed one, with each edge in both directions (the
 * edge_index of PyG, a symmetric matrix), or as two relations that are each other's reverse
 * ("buys", "bought_by"). If only one direction of such an edge is held out, its reverse stays in
 * training and gives it away: a model that learns nothing but the training edges then has a high
 * test score.
 *
 * ingest.hold_out_reverse says when both directions are held out together: always, never, or (auto)
 * when most of the edges of a relation have an edge back, in the same relation or in another.
 * Relations that are declared to be the reverse of another (relation_reverse.h) are not examined,
 * because their edges follow the forward ones anyway. With edge_split time an event back at another
 * time is an event of its own. The files of edge_split given list themselves what is held out;
 * holdout_overlap.h counts the reverses that stay in training.
 */
#ifndef STAGES_INGEST_BUILD_EDGES_EDGES_BACK_H
#define STAGES_INGEST_BUILD_EDGES_EDGES_BACK_H

#include "common/base/error.h"
#include "stages/ingest/build/edges/reverse_detector.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdbool.h>
#include <stdint.h>

struct edges_back { /* {0}: nobody asked for it */
    bool is_known;
    /* the share of the edges of `relation` that have an edge back in `back`; the largest of all
     * relations */
    double share;
    uint16_t relation, back;
};

/* Returns whether the detector has to see the edges. Asked for a graph that stores each edge one
 * way. */
bool edges_back_asks(const struct pipeline_settings *settings);
/* Decides schema->pairs_together, and finds which relations are each other's reverse by content.
 * Call it once all edges were seen. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edges_back_settle(const struct reverse_detector *detector,
                                             const struct pipeline_settings *settings,
                                             struct dataset_schema *schema, struct edges_back *out,
                                             struct error *err);

#endif
