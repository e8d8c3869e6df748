/*
 * part_delta - the topologies and shards of a version's partition as what is new or other than in its base (store/records/partition_delta.h).
 *
 * Topologies: the rows of nodes that are new or have other in-edges, gathered, sorted and taken apart by relation as those of whole parts
 * are; of an old node those of the relations in which an edge is other, of a new one all. Shards, of each node type that has some: the rows of
 * nodes that are new or have others, gathered in windows of what the budget holds. Of the dataset those rows are read, and no others.
 */
#ifndef STAGES_PARTITION_LAYOUT_PART_DELTA_H
#define STAGES_PARTITION_LAYOUT_PART_DELTA_H

#include "common/base/error.h"
#include "stages/partition/layout/part_writer.h"
#include "store/records/partition_delta.h"

#include <stdbool.h>
#include <stdint.h>

/* What of a node is new, or other than in the base. */
enum { OTHER_EDGES = 1, OTHER_FEATURES = 2, OTHER_LABEL = 4 };

struct part_delta {                                  /* {0} is empty */
    struct partition_delta record;                   /* its arrays are these */
    uint32_t *base_book, *type_start, *gone, *added; /* owned */
    struct node_shift shift;
    uint8_t *other; /* [node_count] by the ids of the partition, owned */
    /* Nodes with other edges, and in which relations: bits by part_delta_bit(). */
    uint32_t row_count;
    uint32_t *row_node;        /* [row_count] ascending, owned */
    uint64_t *row_relations;   /* [row_count], owned */
    uint16_t *relation_of_row; /* [relations] which of those of its target type each is, owned */
};

/* The bit of the i-th relation of a type; those behind the 63rd share one. */
static inline uint64_t part_delta_bit(uint32_t i)
{
    return UINT64_C(1) << (i < 63 ? i : 63);
}
/* Whether the row of a node in a relation is new, or other than in the base. */
bool part_delta_has_row(const struct part_delta *delta, uint32_t relation, uint32_t node);

void part_delta_release(struct part_delta *delta);

/* As part_writer_topologies(), but for that it measures none. The base is there. */
MUST_CHECK enum error_code part_delta_topologies(const struct part_writer *writer,
                                                 const struct part_delta *delta, struct error *err);
/* As part_writer_shards(). */
MUST_CHECK enum error_code part_delta_shards(const struct part_writer *writer,
                                             const struct part_delta *delta, struct error *err);

#endif
