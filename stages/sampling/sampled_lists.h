/*
 * sampled_lists - a mini-batch while it is drawn: nodes by type, rows and edges by relation.
 *
 * Edges of several relations find nodes of one type in turns, so each list grows by itself;
 * sampled_lists_batch() puts them one behind the other. A batch of one relation that does not list
 * its rows is these arrays as they are, without a copy.
 *
 * All arrays stay for the next batch. The struct is open: samplers write the lists.
 */
#ifndef STAGES_SAMPLING_SAMPLED_LISTS_H
#define STAGES_SAMPLING_SAMPLED_LISTS_H

#include "common/base/error.h"
#include "stages/sampling/edge_gather.h"
#include "stages/sampling/growing_array.h"
#include "stages/sampling/known_nodes.h"
#include "store/records/mini_batch.h"
#include "store/records/partition_book.h"

#include <stdbool.h>
#include <stdint.h>

struct relation_rows {
    uint32_t source, target;        /* node types */
    uint32_t row_count, edge_count; /* row_count: of those that are listed */
    struct growing_array row_start; /* [expanded nodes + 1], where rows are not listed */
    struct growing_array row;       /* [row_count] nodes of the target type that have edges */
    struct growing_array row_end;   /* [row_count] where their edges end */
    struct growing_array degree;    /* [row_count] */
    struct growing_array neighbor;  /* [edge_count] nodes of the source type */
    struct growing_array place;     /* [edge_count] of 64 bits: edge_place() */
    struct growing_array factor;    /* [edge_count] of floats, in a batch that has some */
};

struct sampled_lists {
    struct array_budget *budget; /* borrowed */
    bool lists_rows;             /* of several relations; else all rows of the one there is */
    uint32_t type_count, relation_count;
    uint32_t count[RELATION_TYPE_COUNT_MAX];               /* nodes of a type */
    struct growing_array node[RELATION_TYPE_COUNT_MAX];    /* [count] */
    struct growing_array seed_of[RELATION_TYPE_COUNT_MAX]; /* [count] of a disjoint batch */
    struct relation_rows *relation;                        /* [relation_count], owned */
    uint32_t hop_end[RELATION_TYPE_COUNT_MAX * (HOP_COUNT_MAX + 1)]; /* as a mini-batch has it */
    struct growing_array hop_row; /* [relation_count, hops + 1], of a batch that has rows by hop */
    struct edge_gather gather;    /* columns of all edges */
    uint16_t ends[2 * RELATION_COUNT_MAX];
    /* The lists one behind the other. */
    struct growing_array all_node, all_row, all_row_start, all_neighbor, all_degree, all_factor,
        all_seed_of;
    uint32_t node_begin[RELATION_TYPE_COUNT_MAX + 1];
    uint32_t row_begin[RELATION_COUNT_MAX + 1], edge_begin[RELATION_COUNT_MAX + 1];
};

/* The types and relations of `book`, whose rows are listed where they have names; NULL: one of
 * each. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code sampled_lists_init(struct sampled_lists *lists,
                                              const struct partition_book *book,
                                              struct array_budget *budget, struct error *err);
void sampled_lists_release(struct sampled_lists *lists);
/* Forgets all nodes and edges, and which nodes `known` has: numbers in use are those up to the
 * longest list of a type. */
void sampled_lists_forget(struct sampled_lists *lists, struct known_nodes *known);

/* Returns where the places of a relation's edges are noted. */
static inline struct growing_array *sampled_lists_places(struct sampled_lists *lists,
                                                         struct relation_rows *rows)
{
    return lists->lists_rows ? &rows->place : &lists->gather.place;
}

/* Returns where the edges of row number `row` of a relation begin; of the row behind the last one,
 * where all end. */
static inline uint32_t sampled_lists_begin(const struct sampled_lists *lists,
                                           const struct relation_rows *rows, uint32_t row)
{
    if (!lists->lists_rows)
        return rows->row_start.data[row];
    return row ? rows->row_end.data[row - 1] : 0;
}

/* Returns which node of the target type a row is of, whether rows are listed or all nodes have
 * one. */
static inline uint32_t sampled_lists_target(const struct sampled_lists *lists,
                                            const struct relation_rows *rows, uint32_t row)
{
    return lists->node[rows->target].data[lists->lists_rows ? rows->row.data[row] : row];
}

/* Room for `count` nodes of a type, keeping those that there are. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code sampled_lists_reserve_nodes(struct sampled_lists *lists, uint32_t type,
                                                       uint64_t count, struct error *err);
/* These say what a batch has beside nodes, rows and edges. */
struct listed_values {
    bool degrees; /* of listed rows */
    bool places;  /* of edges, which come into lists->gather */
    bool factors; /* of edges */
    bool seed_of; /* of nodes */
};

/* Nodes, rows and edges as a mini-batch, whose arrays are the lists' until the next. What else a
 * batch has is the caller's to fill in. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code sampled_lists_batch(struct sampled_lists *lists, int hop_count,
                                               const struct listed_values *has,
                                               struct mini_batch *out, struct error *err);

#endif
