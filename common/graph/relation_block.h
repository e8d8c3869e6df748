/*
 * relation_block - the edges of one layer of a graph with relations: which sources send messages to
 * which destinations, for each relation.
 *
 * Such a graph has node types, and relations from a source type to a target type, which may be the
 * same. The inputs and outputs of a layer are arrays of rows, one for each type, with as many
 * columns as the type has:
 *
 *   sources of type t        rows [source_count[t]]
 *   destinations of type t   rows [destination_count[t]], the first of the sources of t
 *
 * So destination i of a type is source i of that type, as in a plain block (message_block.h). The
 * edges of a relation are compressed sparse rows of their own: a row is a destination of the target
 * type, an entry is the position of a source among the sources of the source type. In consecutive
 * layers the destinations of one layer are the sources of the next, type by type. A type without
 * rows has a count of 0, and a relation without edges has row_count 0; both are ordinary.
 *
 *   paper    0 1 2 3 4         cites: paper -> paper        row 0: 2 4    row 1: 3
 *   author   0 1 2             writes: author -> paper      row 0: 0 2    row 1: 0    row 2: 1
 *            destinations: papers 0 to 2, author 0
 *
 * If there are many relations, most destinations have edges of only a few of them. So a relation
 * may list the destinations of its rows in `row`, and leave out those without edges.
 *
 * The order of everything (types, relations, rows, entries of a row) is the order of sums: the same
 * order gives the same bits. All arrays are borrowed.
 */
#ifndef COMMON_GRAPH_RELATION_BLOCK_H
#define COMMON_GRAPH_RELATION_BLOCK_H

#include "common/graph/message_block.h"

#include <stdint.h>

/* The greatest numbers of each in a dataset's schema. */
enum { RELATION_TYPE_COUNT_MAX = 16, RELATION_COUNT_MAX = 512, RELATION_NAME_SIZE = 160 };

struct relation {
    char name[RELATION_NAME_SIZE];
    uint16_t source_type, target_type; /* each < type_count */
};

/* The node types and relations of a graph. A plain graph has one type, and one relation from it to
 * itself. */
struct relation_schema {
    uint32_t type_count, relation_count;         /* at least 1 each */
    const char (*type_name)[RELATION_NAME_SIZE]; /* [type_count] */
    const struct relation *relation; /* [relation_count]; a reverse is a relation like any other */
};

struct relation_edges {
    /* A bipartite block, also when both types are the same. destination_count is the number of rows
     * here, source_count that of the source type. degree, if a layer uses it, is [rows]: the number
     * of edges of this relation in the whole graph that end in the destination of the row. When
     * memory is counted (no row_start, edge_count instead), the number of rows is an upper
     * bound. */
    struct message_block block;
    /* [rows], ascending: the destination of each row. NULL: row i is destination i, and there are
     * destination_count[target type] rows. */
    const uint32_t *row;
    /* Degrees in the whole graph; set if a layer divides by them, otherwise NULL. Between two types
     * they count the edges that begin at a source. In a relation from a type to itself they count
     * the edges that end in a node, without self loops. */
    const uint32_t *source_degree; /* [source_count of the source type] */
    /* With edge values, their sums instead: of sources, and of destinations over the edges that end
     * in them. */
    const float *source_sum; /* [source_count of the source type] */
    const float *target_sum; /* [destination_count of the target type] */
};

struct relation_block {
    const uint32_t *destination_count;  /* [type_count] */
    const uint32_t *source_count;       /* [type_count] */
    const struct relation_edges *edges; /* [relation_count] */
};

#endif
