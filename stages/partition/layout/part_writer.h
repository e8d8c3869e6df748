/*
 * part_writer - writes the artifacts and records of a partition's parts, from a dataset and a
 * renumbering.
 *
 * Topologies are written for groups of parts that fit the budget, with one pass over the edge
 * chunks for each group. Rows are sorted by new id, together with weights, times and types. A
 * vertex cut takes a pass for each part (held_rows.h). Shards are written in windows of feature
 * rows, with one pass over the feature chunks for each window. The bytes depend on the dataset and
 * the renumbering only. So a part that is sealed already, by an attempt that was killed or by
 * another program that works on the same partition, is kept (`standing`): its rows are not
 * gathered, sorted and written again. In a vertex cut they are gathered all the same, to be
 * measured.
 *
 * The threads of `pool` sort and write the parts of a group side by side. They begin at a part that
 * differs between programs. So two programs on the same partition share the parts, and each skips
 * those that the other has finished.
 */
#ifndef STAGES_PARTITION_LAYOUT_PART_WRITER_H
#define STAGES_PARTITION_LAYOUT_PART_WRITER_H

#include "common/base/error.h"
#include "common/parallel/thread_pool.h"
#include "stages/partition/layout/part_rows.h"
#include "stages/partition/layout/partition_quality.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/round/tensor_spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct part_writer { /* all borrowed */
    struct store *store;
    const char *partition_id;
    const struct dataset_schema *schema;
    const struct numbering *numbering;
    const uint32_t *in_degree; /* [node_count], by dataset ids */
    /* [node_count], by dataset ids: enum split plus 1, 0 for none. */
    const uint8_t *split_marks;
    /* For a vertex cut: [edge_count] in the order of edge_walk.h. */
    const uint16_t *edge_part;
    enum tensor_type feature_type; /* the type in which features are stored */
    uint64_t budget_bytes;
    bool only_measures;       /* measures, and writes no topology */
    bool keeps_standing;      /* false: all parts are made again */
    struct thread_pool *pool; /* may be NULL */
};

/* Returns the measures of the nodes of a part. */
struct part_measure part_writer_measure(const struct part_writer *writer, int part);
/* Checks that f16 does not make a number infinite, in rows of these nodes of the dataset, node
 * [count]. Fails: ERROR_INPUT. */
MUST_CHECK enum error_code feature_range_check(enum tensor_type type, const float *row,
                                               uint32_t count, size_t dim, const uint32_t *node,
                                               struct error *err);
/* Writes every part's topology and measures it into `quality`. standing [part_count]: parts that
 * were there at the beginning and are not measured; NULL: keeps none. */
MUST_CHECK enum error_code part_writer_topologies(const struct part_writer *writer,
                                                  struct partition_quality *quality, bool *standing,
                                                  struct error *err);
/* Writes every part's shard for each node type that has features or labels: tensors "features" [n,
 * dim] and, with a task, "labels" [n, label_width], of four bytes each. Fails also: ERROR_INPUT for
 * a feature that f16 cannot hold. */
MUST_CHECK enum error_code part_writer_shards(const struct part_writer *writer, struct error *err);
/* Writes partition/<id>/splits: the dataset's splits in partition ids, ascending. */
MUST_CHECK enum error_code part_writer_splits(const struct part_writer *writer, struct error *err);

/* Writes the held-out edges of a task of pairs, in the order of the dataset. Fails: ERROR_CORRUPT
 * if their number differs from the schema's. */
MUST_CHECK enum error_code part_writer_edge_splits(const struct part_writer *writer,
                                                   struct error *err);

#endif
