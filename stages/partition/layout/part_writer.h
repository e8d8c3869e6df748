/*
 * part_writer - the artifacts and records of a partition's parts, from a dataset and a renumbering.
 *
 * Topologies: groups of parts that fit the budget, one pass over the edge chunks for each group; rows are
 * sorted by new id, weights, times and types along; of a vertex cut a pass for each part (held_rows.h). Shards: windows of feature rows, one pass over the
 * feature chunks for each. The bytes depend on the dataset and the renumbering only, so a part that stands sealed already,
 * from an attempt that was killed or by another program that works on the same partition, is kept (`standing`): its rows are not
 * gathered, sorted and written again. Of a vertex cut they are gathered all the same, to be measured.
 *
 * Parts of a group are sorted and written side by side by the threads of `pool`, and begin at a place that two programs do not have
 * in common: so these share out the parts, and each leaves those that the other has finished.
 */
#ifndef STAGES_PARTITION_LAYOUT_PART_WRITER_H
#define STAGES_PARTITION_LAYOUT_PART_WRITER_H

#include "common/base/error.h"
#include "common/parallel/thread_pool.h"
#include "stages/partition/check/partition_quality.h"
#include "stages/partition/layout/part_rows.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"
#include "store/records/tensor_spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct part_writer { /* all borrowed */
    struct store *store;
    const char *partition_id;
    const struct dataset_schema *schema;
    const struct numbering *numbering;
    const uint32_t *in_degree;     /* [node_count], of dataset ids */
    const uint8_t *split_marks;    /* [node_count], of dataset ids: enum split plus 1, 0 for none */
    const uint16_t *edge_part;     /* of a vertex cut: [edge_count] in the order of edge_walk.h */
    enum tensor_type feature_type; /* what features are stored in */
    uint64_t budget_bytes;
    bool only_measures;       /* writes no topology */
    bool keeps_standing;      /* else all parts are made */
    struct thread_pool *pool; /* may be NULL */
};

/* The nodes of a part. */
struct part_measure part_writer_measure(const struct part_writer *writer, int part);
/* Fails: ERROR_INPUT for a number that f16 would make infinite, in rows of these nodes of the dataset, node [count]. */
MUST_CHECK enum error_code feature_range_check(enum tensor_type type, const float *row,
                                               uint32_t count, size_t dim, const uint32_t *node,
                                               struct error *err);
/* Every part's topology, measured into `quality` on the way. standing [part_count]: parts that stood at the beginning, which are not
 * measured; NULL: keeps none. */
MUST_CHECK enum error_code part_writer_topologies(const struct part_writer *writer,
                                                  struct partition_quality *quality, bool *standing,
                                                  struct error *err);
/* Every part's shard, of each node type that has features or labels: tensors "features" [n, dim] and, with a task, "labels" [n, label_width], of four bytes each. Fails
 * also: ERROR_INPUT for a feature that f16 cannot hold. */
MUST_CHECK enum error_code part_writer_shards(const struct part_writer *writer, struct error *err);
/* partition/<id>/splits: the dataset's splits in partition ids, ascending. */
MUST_CHECK enum error_code part_writer_splits(const struct part_writer *writer, struct error *err);

/* Of a task of pairs: its held-out edges, in the order of the dataset. Fails: ERROR_CORRUPT when they are not as many as
 * the schema says. */
MUST_CHECK enum error_code part_writer_edge_splits(const struct part_writer *writer,
                                                   struct error *err);

#endif
