/*
 * partition_quality - measures a partition while its parts pass by.
 *
 * A part's rows are in memory once, when its topology is written; all figures of the report come from
 * that pass. One array of a word a node marks which sources a part has met, so that halo nodes are
 * counted exactly.
 */
#ifndef STAGES_PARTITION_CHECK_PARTITION_QUALITY_H
#define STAGES_PARTITION_CHECK_PARTITION_QUALITY_H

#include "common/base/error.h"
#include "store/records/dataset_schema.h"
#include "store/records/partition_report.h"
#include "store/topology/topology.h"

#include <stdint.h>

struct partition_quality { /* {0} is empty */
    struct partition_report report;
    const struct dataset_schema *schema; /* borrowed */
    uint32_t *
        met; /* [node_count], owned: the last part that met the node as a source (of a vertex cut as an end), plus 1 */
    uint32_t *met_by_relation; /* likewise, part and relation; NULL without relations */
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
/* Every part once, in any order, with the rows of each relation. */
void partition_quality_add(struct partition_quality *quality, const struct part_measure *measure,
                           const struct topology_arrays *relation);
/* The same piece by piece: the part, and then the sources of edges of a relation. */
void partition_quality_begin(struct partition_quality *quality, const struct part_measure *measure);
void partition_quality_add_edges(struct partition_quality *quality,
                                 const struct part_measure *measure, uint32_t relation,
                                 const uint32_t *neighbor, uint64_t count);
/* The same of a part of a vertex cut, with the edges of each relation that it holds: its halo are
 * the replicas of other parts' nodes, and an edge is cut when its ends have other masters.
 * book [parts + 1]. */
void partition_quality_add_held(struct partition_quality *quality,
                                const struct part_measure *measure, const uint32_t *book,
                                const struct topology_held *relation);
/* Sums up. The report is borrowed until release. */
const struct partition_report *partition_quality_finish(struct partition_quality *quality);
void partition_quality_release(struct partition_quality *quality);

/* How even value[0], value[stride], ... are, `count` of them. */
struct balance partition_quality_balance(const uint64_t *value, size_t stride, int count);

#endif
