/*
 * part_delta - the topologies and shards of a version's partition as what is new or other than in its base (store/records/partition_delta.h).
 *
 * Topologies: the rows of nodes that are new or have other in-edges, gathered, sorted and taken apart by relation as those of whole parts
 * are; of a node with one edge that is other those of all relations. Shards, of each node type that has some: the rows of
 * nodes that are new or have others, gathered in windows of what the budget holds. Of the dataset those rows are read, and no others.
 */
#ifndef STAGES_PARTITION_LAYOUT_PART_DELTA_H
#define STAGES_PARTITION_LAYOUT_PART_DELTA_H

#include "common/base/error.h"
#include "stages/partition/layout/part_writer.h"
#include "store/records/partition_delta.h"

#include <stdint.h>

/* What of a node is new, or other than in the base. */
enum { OTHER_EDGES = 1, OTHER_FEATURES = 2, OTHER_LABEL = 4 };

struct part_delta {                                  /* {0} is empty */
    struct partition_delta record;                   /* its arrays are these */
    uint32_t *base_book, *type_start, *gone, *added; /* owned */
    struct node_shift shift;
    uint8_t *other; /* [node_count] by the ids of the partition, owned */
};

void part_delta_release(struct part_delta *delta);

/* As part_writer_topologies(), but for that it measures none. The base is there. */
MUST_CHECK enum error_code part_delta_topologies(const struct part_writer *writer,
                                                 const struct part_delta *delta, struct error *err);
/* As part_writer_shards(). */
MUST_CHECK enum error_code part_delta_shards(const struct part_writer *writer,
                                             const struct part_delta *delta, struct error *err);

#endif
