/*
 * relation_block - the edges of one layer of a typed graph: for each relation, who sends to whom.
 *
 * A typed graph has node types and relations, each from a source type to a target type (it may be the same). What a
 * layer reads and gives are arrays of rows, one of each type, of as many columns as the type has:
 *
 *   sources of type t        rows [source_count[t]]
 *   destinations of type t   rows [destination_count[t]], which are the first of the sources of t
 *
 * so destination i of a type is source i of that type, as in a plain block (message_block.h). The edges of a relation are
 * compressed sparse rows of their own: a row is a destination of the target type, an entry the position of a source
 * among those of the source type. In layers above each other the destinations of one are the sources of the next, type by
 * type. A type without rows has a count of 0, a relation without edges has row_count 0; both are ordinary.
 *
 *   paper    0 1 2 3 4         cites: paper -> paper        row 0: 2 4    row 1: 3
 *   author   0 1 2             writes: author -> paper      row 0: 0 2    row 1: 0    row 2: 1
 *            destinations: papers 0 to 2, author 0
 *
 * Where there are many relations most destinations have edges of few of them. So a relation may name the destinations
 * that its rows are of, `row`, and leave out those without edges.
 *
 * The order of everything (types, relations, rows, entries of a row) is that of sums: the same order gives the same bits.
 * All arrays are borrowed.
 */
#ifndef COMMON_GRAPH_RELATION_BLOCK_H
#define COMMON_GRAPH_RELATION_BLOCK_H

#include "common/graph/message_block.h"

#include <stdint.h>

/* As many as a dataset's schema may have of each. */
enum { RELATION_TYPE_COUNT_MAX = 16, RELATION_COUNT_MAX = 512, RELATION_NAME_SIZE = 160 };

struct relation {
    char name[RELATION_NAME_SIZE];
    uint16_t source_type, target_type; /* each < type_count */
};

/* What a graph consists of. A plain graph has one type, and one relation from it to itself. */
struct relation_schema {
    uint32_t type_count, relation_count;         /* at least 1 each */
    const char (*type_name)[RELATION_NAME_SIZE]; /* [type_count] */
    const struct relation *relation; /* [relation_count]; a reverse is a relation like others */
};

struct relation_edges {
    /* Bipartite, also when both types are the same. destination_count is the number of rows here, source_count that of
     * the source type; degree, if a layer wants it, is [rows]: the edges of this relation, of the whole graph, to the
     * destination of the row. When memory is counted (no row_start, edge_count instead) the rows are at most so many. */
    struct message_block block;
    const uint32_t
        *row; /* [rows], ascending: the destination of each; NULL: row i is destination i, and
               * there are destination_count[target type] of them */
    /* These arrays say what the ends of edges have in the whole graph, where a layer divides by it;
     * else NULL. Between two types these are the edges that begin at a source. In a relation from a
     * type to itself they are the edges that end in a node, without loops. */
    const uint32_t *source_degree; /* [source_count of the source type] */
    /* With edge values: their sums instead, of sources, and of destinations, the edges that end in
     * them. */
    const float *source_sum; /* [source_count of the source type] */
    const float *target_sum; /* [destination_count of the target type] */
};

struct relation_block {
    const uint32_t *destination_count;  /* [type_count] */
    const uint32_t *source_count;       /* [type_count] */
    const struct relation_edges *edges; /* [relation_count] */
};

#endif
