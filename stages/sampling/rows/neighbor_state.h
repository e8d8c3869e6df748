/*
 * neighbor_state - the internals of a neighbor_sampler: its tables, and the current block of rows.
 *
 * Only these files look inside: neighbor_sampler.c draws, neighbor_ends.c and batch_ends.c look up
 * degrees and sums, neighbor_state.c makes and frees the sampler.
 */
#ifndef STAGES_SAMPLING_ROWS_NEIGHBOR_STATE_H
#define STAGES_SAMPLING_ROWS_NEIGHBOR_STATE_H

#include "stages/sampling/rows/batch_builder.h"
#include "stages/sampling/rows/distinct_positions.h"
#include "stages/sampling/rows/edge_window.h"
#include "stages/sampling/rows/growing_array.h"
#include "stages/sampling/rows/known_nodes.h"
#include "stages/sampling/rows/neighbor_sampler.h"
#include "stages/sampling/rows/sampled_lists.h"

enum {
    BLOCK_ROWS = 128,
    BLOCK_GROUPS = BLOCK_ROWS / DISTINCT_LANES,
    HINT_BITS = 12,
};

struct sampled_row {
    const struct topology_part *part;
    uint32_t index;    /* in the part */
    uint32_t length;   /* of the whole row, without its excluded edges */
    uint32_t count;    /* number of neighbours kept */
    uint32_t excluded; /* number of the first excluded edge, and how many are excluded */
    uint32_t excluded_count;
    uint64_t start;
};

/* Rows that are processed together. */
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
    struct known_nodes known;      /* its count is that of the current source type */
    struct sampled_lists lists;
    struct growing_array degree, weight_sum; /* of nodes; with listed rows, relation by relation */
    uint16_t back[RELATION_COUNT_MAX]; /* the reverse of each relation, if known (mini_batch.h) */
    struct growing_array bits; /* scratch of a choice, in 64-bit words; zero between choices */
    unsigned hint_shift;
    uint32_t part_hint[(1 << HINT_BITS) + 1]; /* the part of node i << hint_shift */
    /* The current request. */
    edge_choice choose;
    bool wants_degree, notes_places;
    /* The current relation and hop. */
    uint32_t relation;
    struct relation_rows *rows;
    const struct excluded_edges *excluded; /* excluded edges of the seeds' rows; NULL: none */
    uint32_t excluded_at, excluded_end;    /* next excluded edge of the relation, and their end */
    uint64_t other_edges;                  /* number of edges in the other relations */
    struct row_block block[2]; /* the current one, and the next, whose row starts are prefetched */
    uint32_t item[BLOCK_ROWS], length[BLOCK_ROWS]; /* of the rows that are drawn from */
    uint32_t position[BLOCK_GROUPS][DISTINCT_LANES_COUNT_MAX][DISTINCT_LANES]; /* their draws */
    struct edge_window window;
};

#endif
