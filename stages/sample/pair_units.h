/*
 * pair_units - selects the pairs of nodes of a unit of sample, for a task whose examples are
 * edges.
 *
 * A training unit takes its share of the epoch's shuffled order over the edges of the topology. A
 * position in that order names an edge, so no list of edges is stored. A validation unit takes its
 * share of the held-out edges. The topology and the held-out edges hold the labels of edges, and
 * their times when the sampler uses times.
 *
 * With sample.pairs walks (unsupervised GraphSAGE, Hamilton et al. 2017) a walk begins at the target
 * of that edge, and the pair is a node on the walk and the target. The step is drawn; if the walk is
 * back at its start there, the next step counts. So walks begin at nodes in proportion to their
 * edges. With relations a walk follows edges of any relation, the pair has the edge's relation, and
 * nodes of other types than its sources are skipped.
 */
#ifndef STAGES_SAMPLE_PAIR_UNITS_H
#define STAGES_SAMPLE_PAIR_UNITS_H

#include "stages/engine/stage.h"
#include "stages/sampling/pairs/edge_positions.h"
#include "stages/sampling/pairs/pair_drawer.h"
#include "stages/sampling/pairs/pair_sides.h"

#include <stdbool.h>

struct pair_units { /* {0}: the examples are nodes */
    bool is_wanted, is_labelled, is_timed;
    const struct topology *topology; /* borrowed */
    struct edge_positions edges;     /* the training edges */
    struct edge_splits splits;
    struct pair_ends ends;
    struct pair_sides sides;          /* for a bipartite graph without relations */
    struct known_pairs training, all; /* known edges: of training, and of all splits */
    struct node_chances
        chances[RELATION_TYPE_COUNT_MAX]; /* by node type; without relations the first */
    struct edge_index given; /* training edges with given negatives, with sample.negative given */
};

/* The drawer of a unit's pairs, and the arrays that it fills. */
struct pair_drawing { /* {0} is releasable */
    struct pair_drawer *drawer;
    uint32_t *source, *target; /* [the larger of the two batch sizes] */
    uint16_t *type;            /* same size; NULL: edges have no types */
    uint32_t *walk;            /* [steps + 1] of sample.pairs walks */
    float *label;              /* same size; NULL: edges have no labels */
    int64_t *time;             /* same size; NULL: the sampler uses no times */
    uint64_t *given_list;      /* same size; NULL: negatives are not given */
};

/* Prepares the pairs of all units; the parts of `topology` must be open. Fails: ERROR_CORRUPT when
 * the held-out edges do not match the book; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code pair_units_open(struct pair_units *units,
                                           const struct stage_context *context,
                                           const struct topology *topology, struct error *err);
void pair_units_close(struct pair_units *units);
MUST_CHECK enum error_code pair_drawing_init(struct pair_drawing *drawing,
                                             const struct pair_units *units,
                                             const struct stage_context *context,
                                             uint64_t budget_bytes, struct error *err);
void pair_drawing_release(struct pair_drawing *drawing);
/* Draws the pairs of `unit`; `round` is the round of the neighbours' draws. */
MUST_CHECK enum error_code pair_units_draw(const struct pair_units *units,
                                           const struct stage_context *context,
                                           const struct unit *unit, uint32_t round,
                                           struct pair_drawing *drawing, struct drawn_pairs *out,
                                           struct error *err);

#endif
