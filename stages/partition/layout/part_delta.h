/*
 * part_delta - writes the topologies and shards of a version's partition as the differences from
 * its base (store/records/partition/partition_delta.h).
 *
 * A delta topology has the rows of nodes that are new or whose in-edges have changed. They are
 * gathered, sorted and split by relation as those of whole parts. For an old node it has only the
 * relations in which an edge has changed, for a new node all. A delta shard, for each node type
 * that has shards, has the rows of nodes that are new or whose rows have changed, gathered in
 * windows that fit the budget. No other rows of the dataset are read.
 */
#ifndef STAGES_PARTITION_LAYOUT_PART_DELTA_H
#define STAGES_PARTITION_LAYOUT_PART_DELTA_H

#include "common/base/error.h"
#include "stages/partition/layout/part_writer.h"
#include "store/records/partition/partition_delta.h"

#include <stdbool.h>
#include <stdint.h>

/* Flags of what is new or has changed in a node, compared with the base. */
enum { OTHER_EDGES = 1, OTHER_FEATURES = 2, OTHER_LABEL = 4 };

struct part_delta {                                  /* {0} is empty */
    struct partition_delta record;                   /* points to the arrays below */
    uint32_t *base_book, *type_start, *gone, *added; /* owned */
    struct node_shift shift;
    uint8_t *other; /* [node_count] flags by partition ids, owned */
    /* Nodes whose edges have changed, and in which relations: bits of part_delta_bit(). */
    uint32_t row_count;
    uint32_t *row_node;      /* [row_count] ascending, owned */
    uint64_t *row_relations; /* [row_count], owned */
    /* [relations] the index of each relation among those of its target type, owned. */
    uint16_t *relation_of_row;
};

/* Returns the bit of the i-th relation of a type. Relations after the 63rd share one bit. */
static inline uint64_t part_delta_bit(uint32_t i)
{
    return UINT64_C(1) << (i < 63 ? i : 63);
}
/* Returns whether the row of a node in a relation is new, or has changed from the base. */
bool part_delta_has_row(const struct part_delta *delta, uint32_t relation, uint32_t node);

void part_delta_release(struct part_delta *delta);

/* Writes the delta topologies, like part_writer_topologies(), but measures nothing. The base is
 * there. */
MUST_CHECK enum error_code part_delta_topologies(const struct part_writer *writer,
                                                 const struct part_delta *delta, struct error *err);
/* Writes the delta shards, like part_writer_shards(). */
MUST_CHECK enum error_code part_delta_shards(const struct part_writer *writer,
                                             const struct part_delta *delta, struct error *err);

#endif
