/*
 * edges_back - whether the edges of a directed graph mostly have an edge back, so that links are
 * held out in both directions.
 *
 * An undirected graph is often listed as a directed one, with each edge in both directions (the
 * edge_index of PyG, a symmetric matrix), or as two relations that are each other's reverse
 * ("buys", "bought_by"). An edge that is held out alone then has its reverse in training, which
 * gives it away: a model that learns nothing but the training edges has a high test score.
 *
 * ingest.hold_out_reverse says when both are held out together: always, never, or (auto) where most
 * of the edges of a relation have an edge back, in the same relation or in another. Relations that
 * are declared to be the reverse of another (relation_reverse.h) are not asked: their edges follow
 * the forward ones anyway. With edge_split time an event back at another time is an event of its
 * own, and files of edge_split given say themselves what is held out; holdout_overlap.h counts what
 * is left.
 */
#ifndef STAGES_INGEST_BUILD_EDGES_BACK_H
#define STAGES_INGEST_BUILD_EDGES_BACK_H

#include "common/base/error.h"
#include "stages/ingest/build/reverse_detector.h"
#include "stages/plan/pipeline_settings.h"
#include "store/records/dataset_schema.h"

#include <stdbool.h>
#include <stdint.h>

struct edges_back { /* {0}: nobody asked */
    bool is_known;
    /* of the edges of `relation`, the one with the largest share: those that have an edge back in
     * `back` */
    double share;
    uint16_t relation, back;
};

/* Whether the detector has to see the edges. Asked of a graph that stores each edge one way. */
bool edges_back_asks(const struct pipeline_settings *settings);
/* Decides schema->pairs_together, and the reverses of relations by content, once all edges were
 * seen. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edges_back_settle(const struct reverse_detector *detector,
                                             const struct pipeline_settings *settings,
                                             struct dataset_schema *schema, struct edges_back *out,
                                             struct error *err);

#endif
