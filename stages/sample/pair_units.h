/*
 * pair_units - which pairs a unit of sample is about, of a task whose examples are edges.
 *
 * A training unit takes its share of the epoch's shuffled order over the edges of the topology: a position in that order
 * names an edge, so no list of them is stored. A validation unit takes its share of the held-out edges. Labels of edges, and
 * times where the sampler goes by them, are those of the topology and of the held-out edges.
 *
 * With sample.pairs walks (unsupervised GraphSAGE, Hamilton et al. 2017) a walk of the library begins at the target of that edge, and the
 * pair is a node on it and the target: which step is drawn, and where the walk is back at its start the next one counts. So
 * walks begin at nodes in proportion to their edges. With relations a walk goes along any of them, the pair is of the edge's
 * relation, and nodes of other types than its sources are passed over.
 */
#ifndef STAGES_SAMPLE_PAIR_UNITS_H
#define STAGES_SAMPLE_PAIR_UNITS_H

#include "stages/engine/stage.h"
#include "stages/sampling/edge_positions.h"
#include "stages/sampling/pair_drawer.h"
#include "stages/sampling/pair_sides.h"

#include <stdbool.h>

struct pair_units { /* {0}: the examples are nodes */
    bool is_wanted, is_labelled, is_timed;
    const struct topology *topology; /* borrowed */
    struct edge_positions edges;     /* of training */
    struct edge_splits splits;
    struct pair_ends ends;
    struct pair_sides sides;          /* of a bipartite graph without relations */
    struct known_pairs training, all; /* edges: of training, of all splits */
    struct node_chances
        chances[RELATION_TYPE_COUNT_MAX]; /* of a graph without relations the first */
    struct edge_index given; /* training edges with negatives of their own, where these are drawn */
};

/* What one unit is drawn with. */
struct pair_drawing { /* {0} is releasable */
    struct pair_drawer *drawer;
    uint32_t *source, *target; /* [the larger of the two batch sizes] */
    uint16_t *type;            /* likewise; NULL: edges have none */
    uint32_t *walk;            /* [steps + 1] of sample.pairs walks */
    float *label;              /* likewise, of labelled edges */
    int64_t *time;             /* likewise, where the sampler goes by times */
    uint64_t *given_list;      /* likewise, where negatives are given */
};

/* `topology` is open. Fails: ERROR_CORRUPT when the held-out edges are not those of the book; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code pair_units_open(struct pair_units *units,
                                           const struct stage_context *context,
                                           const struct topology *topology, struct error *err);
void pair_units_close(struct pair_units *units);
MUST_CHECK enum error_code pair_drawing_init(struct pair_drawing *drawing,
                                             const struct pair_units *units,
                                             const struct stage_context *context,
                                             uint64_t budget_bytes, struct error *err);
void pair_drawing_release(struct pair_drawing *drawing);
/* `round` is that of the neighbours' draws. */
MUST_CHECK enum error_code pair_units_draw(const struct pair_units *units,
                                           const struct stage_context *context,
                                           const struct unit *unit, uint32_t round,
                                           struct pair_drawing *drawing, struct drawn_pairs *out,
                                           struct error *err);

#endif
