/*
 * partition_quality - measures a partition while its parts are written.
 *
 * The rows of a part are in memory once, when its topology is written. All figures of the report
 * are computed in that pass. An array with a word for each node marks the last part that had it as
 * a source, so halo nodes are counted exactly.
 */
#ifndef STAGES_PARTITION_LAYOUT_PARTITION_QUALITY_H
#define STAGES_PARTITION_LAYOUT_PARTITION_QUALITY_H

#include "common/base/error.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/partition/partition_report.h"
#include "store/topology/topology.h"

#include <stdint.h>

struct partition_quality { /* {0} is empty */
    struct partition_report report;
    const struct dataset_schema *schema; /* borrowed */
    /* [node_count], owned: the last part that had the node as a source (in a vertex cut as an end),
     * plus 1. */
    uint32_t *met;
    uint32_t *met_by_relation; /* the same by part and relation; NULL without relations */
};

/* Borrows `schema`. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code partition_quality_init(struct partition_quality *quality,
                                                  const char *partition_id,
                                                  const struct dataset_schema *schema,
                                                  int part_count, struct error *err);
struct part_measure {
    int part;
    uint32_t first_node, node_count;
    uint64_t train_count; /* training nodes among its nodes */
};
/* Adds a part with the rows of each relation. Every part is added once, in any order. */
void partition_quality_add(struct partition_quality *quality, const struct part_measure *measure,
                           const struct topology_arrays *relation);
/* Do the same piece by piece: first the part, then the sources of edges of a relation. */
void partition_quality_begin(struct partition_quality *quality, const struct part_measure *measure);
void partition_quality_add_edges(struct partition_quality *quality,
                                 const struct part_measure *measure, uint32_t relation,
                                 const uint32_t *neighbor, uint64_t count);
/* Does the same for a part of a vertex cut, with the edges of each relation that it holds: its halo
 * are the replicas of other parts' nodes, and an edge is cut if its ends have different masters.
 * book [parts + 1]. */
void partition_quality_add_held(struct partition_quality *quality,
                                const struct part_measure *measure, const uint32_t *book,
                                const struct topology_held *relation);
/* Computes the report. It is borrowed until release. */
const struct partition_report *partition_quality_finish(struct partition_quality *quality);
void partition_quality_release(struct partition_quality *quality);

/* Returns how even the `count` values value[0], value[stride], ... are. */
struct balance partition_quality_balance(const uint64_t *value, size_t stride, int count);

#endif
