/*
 * neighbor_state - what a neighbor_sampler keeps: its tables, and the block of rows at hand.
 *
 * Only neighbor_sampler.c, which draws, neighbor_ends.c and batch_ends.c, which look up what nodes
 * have, and neighbor_state.c, which makes and frees it, look inside.
 */
#ifndef STAGES_SAMPLING_NEIGHBOR_STATE_H
#define STAGES_SAMPLING_NEIGHBOR_STATE_H

#include "stages/sampling/batch_builder.h"
#include "stages/sampling/distinct_positions.h"
#include "stages/sampling/edge_window.h"
#include "stages/sampling/growing_array.h"
#include "stages/sampling/known_nodes.h"
#include "stages/sampling/neighbor_sampler.h"
#include "stages/sampling/sampled_lists.h"

enum {
    BLOCK_ROWS = 128,
    BLOCK_GROUPS = BLOCK_ROWS / DISTINCT_LANES,
    HINT_BITS = 12,
};

struct sampled_row {
    const struct topology_part *part;
    uint32_t index;    /* in the part */
    uint32_t length;   /* of the whole row without what is left out of it */
    uint32_t count;    /* neighbours kept */
    uint32_t excluded; /* the first edge that is left out, and how many are */
    uint32_t excluded_count;
    uint64_t start;
};

/* Rows that are worked on together. */
struct row_block {
    uint32_t first, count; /* nodes of the target type */
    struct sampled_row row[BLOCK_ROWS];
};

struct neighbor_sampler {
    const struct topology *topology;
    const struct partition_book *book; /* NULL: types and relations have no names */
    struct type_ranges ranges;
    bool has_self_loops;
    struct array_budget budget;
    struct batch_builder *builder; /* NULL until it is asked for */
    struct known_nodes known;      /* its count is that of the source type at hand */
    struct sampled_lists lists;
    struct growing_array degree,
        weight_sum;                    /* of nodes; where rows are listed relation by relation */
    uint16_t back[RELATION_COUNT_MAX]; /* of each relation that it is known of (mini_batch.h) */
    struct growing_array bits;         /* scratch of a choice, zero between two, as pairs */
    unsigned hint_shift;
    uint32_t part_hint[(1 << HINT_BITS) + 1]; /* the part of node i << hint_shift */
    /* These are of the request at hand. */
    edge_choice choose;
    bool wants_degree, notes_places;
    /* These are of the relation and hop at hand. */
    uint32_t relation;
    struct relation_rows *rows;
    const struct excluded_edges *excluded; /* of seeds' rows; NULL: none */
    uint32_t excluded_at, excluded_end;    /* of the relation's: behind the last row */
    uint64_t other_edges;                  /* of the other relations */
    struct row_block block[2];             /* one in hand, one whose row starts are on their way */
    uint32_t item[BLOCK_ROWS], length[BLOCK_ROWS]; /* of the rows that are drawn from */
    uint32_t position[BLOCK_GROUPS][DISTINCT_LANES_COUNT_MAX][DISTINCT_LANES]; /* and their draws */
    struct edge_window window;
};

#endif
