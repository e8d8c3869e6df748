/*
 * sampled_lists - the lists of a mini-batch while it is drawn: nodes by type, rows and edges by
 * relation.
 *
 * Edges of several relations find nodes of one type in turns, so each list grows separately, and
 * sampled_lists_batch() copies them one behind the other. If a batch has one relation and does not
 * list its rows, its arrays are the lists themselves, without a copy.
 *
 * All arrays are kept for the next batch. The struct is open because samplers write the lists.
 */
#ifndef STAGES_SAMPLING_ROWS_SAMPLED_LISTS_H
#define STAGES_SAMPLING_ROWS_SAMPLED_LISTS_H

#include "common/base/error.h"
#include "stages/sampling/rows/edge_gather.h"
#include "stages/sampling/rows/growing_array.h"
#include "stages/sampling/rows/known_nodes.h"
#include "store/records/batch/mini_batch.h"
#include "store/records/partition/partition_book.h"

#include <stdbool.h>
#include <stdint.h>

struct relation_rows {
    uint32_t source, target;        /* node types */
    uint32_t row_count, edge_count; /* row_count: only of listed rows */
    struct growing_array row_start; /* [expanded nodes + 1], if rows are not listed */
    struct growing_array row;       /* [row_count] nodes of the target type that have edges */
    struct growing_array row_end;   /* [row_count] ends of their edges */
    struct growing_array degree;    /* [row_count] */
    struct growing_array neighbor;  /* [edge_count] nodes of the source type */
    struct growing_array place;     /* [edge_count] of 64 bits: edge_place() */
    struct growing_array factor;    /* [edge_count] floats, if the batch has factors */
};

struct sampled_lists {
    struct array_budget *budget; /* borrowed */
    bool lists_rows; /* list rows, for named relations; otherwise the one relation has all rows */
    uint32_t type_count, relation_count;
    uint32_t count[RELATION_TYPE_COUNT_MAX];               /* number of nodes of a type */
    struct growing_array node[RELATION_TYPE_COUNT_MAX];    /* [count] */
    struct growing_array seed_of[RELATION_TYPE_COUNT_MAX]; /* [count], in a disjoint batch */
    struct relation_rows *relation;                        /* [relation_count], owned */
    uint32_t hop_end[RELATION_TYPE_COUNT_MAX * (HOP_COUNT_MAX + 1)]; /* as in a mini-batch */
    struct growing_array hop_row; /* [relation_count, hops + 1], if the batch has rows by hop */
    struct edge_gather gather;    /* columns of all edges */
    uint16_t ends[2 * RELATION_COUNT_MAX];
    /* The lists of all types or relations, one behind the other. */
    struct growing_array all_node, all_row, all_row_start, all_neighbor, all_degree, all_factor,
        all_seed_of;
    uint32_t node_begin[RELATION_TYPE_COUNT_MAX + 1];
    uint32_t row_begin[RELATION_COUNT_MAX + 1], edge_begin[RELATION_COUNT_MAX + 1];
};

/* Makes empty lists for the types and relations of `book`; rows are listed if the relations have
 * names. NULL: one of each. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code sampled_lists_init(struct sampled_lists *lists,
                                              const struct partition_book *book,
                                              struct array_budget *budget, struct error *err);
void sampled_lists_release(struct sampled_lists *lists);
/* Removes all nodes and edges, and removes the nodes of all types from `known`: its numbers in use
 * end at the longest list of a type. */
void sampled_lists_forget(struct sampled_lists *lists, struct known_nodes *known);

/* Returns the array of the places of a relation's edges. */
static inline struct growing_array *sampled_lists_places(struct sampled_lists *lists,
                                                         struct relation_rows *rows)
{
    return lists->lists_rows ? &rows->place : &lists->gather.place;
}

/* Returns the first edge of row number `row` of a relation; for the row behind the last one, the
 * end of all edges. */
static inline uint32_t sampled_lists_begin(const struct sampled_lists *lists,
                                           const struct relation_rows *rows, uint32_t row)
{
    if (!lists->lists_rows)
        return rows->row_start.data[row];
    return row ? rows->row_end.data[row - 1] : 0;
}

/* Returns the node of the target type that a row belongs to, whether rows are listed or all nodes
 * have one. */
static inline uint32_t sampled_lists_target(const struct sampled_lists *lists,
                                            const struct relation_rows *rows, uint32_t row)
{
    return lists->node[rows->target].data[lists->lists_rows ? rows->row.data[row] : row];
}

/* Makes room for `count` nodes of a type, keeping the present ones. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code sampled_lists_reserve_nodes(struct sampled_lists *lists, uint32_t type,
                                                       uint64_t count, struct error *err);
/* Says which optional values a batch has. */
struct listed_values {
    bool degrees; /* of listed rows */
    bool places;  /* of edges, in lists->gather */
    bool factors; /* of edges */
    bool seed_of; /* of nodes */
};

/* Sets the nodes, rows and edges of a mini-batch. Its arrays stay the lists' and are valid until
 * the next batch. The caller fills in the rest of the batch. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code sampled_lists_batch(struct sampled_lists *lists, int hop_count,
                                               const struct listed_values *has,
                                               struct mini_batch *out, struct error *err);

#endif
