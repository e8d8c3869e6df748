/*
 * edge_holdout - which edges are held out for validation and test, of a task whose examples are
 * pairs of nodes.
 *
 * A held-out edge is in no row, neither itself nor, of an undirected graph, its way back: messages
 * of training do not travel over it. Which ones, says ingest.edge_split:
 *
 *   random a/b/c    each pair of ends draws for itself, so all edges of a pair go together, and
 *                   nothing is stored of those that stay; the shares come out about as said. In a
 *                   directed graph whose edges mostly have an edge back (schema->pairs_together,
 *                   edges_back.h) the two directions of a pair draw together, and both are listed
 *   time a/b/c      the first a percent of the edges by time stay, the next b are for validation;
 *                   edges of one time are not torn apart, and go with the earlier ones
 *   leave_one_out   of each node that is a source of three edges or more the last is for the test,
 *                   the one before it for validation; by time, or, without times, by a draw (He et
 *                   al. 2017, "Neural collaborative filtering"). All edges of a pair go together
 *                   (last_edges.h), with pairs_together those of both directions
 *   given           those of two files: of links they are not among the edges of the input; of
 *                   labelled edges they are
 *
 * An edge is held out with its time where it has one. If several links join the same two nodes, the
 * earliest of a split is its only example, unless ingest.duplicates is keep, which makes each an
 * example. A labelled edge has its label with it, and edges of the same ends are examples each.
 *
 * In a graph with relations the reverse of an edge (relation_reverse.h) goes where the edge goes,
 * and is held out of the rows without being listed: lists have edges of forward relations alone.
 *
 * With infer.history all, held-out edges are messages of later ones when these are scored. Their
 * weights and features are held with them then, for evaluation alone: no other record of the
 * dataset has them.
 *
 * A self loop stays. Where edges have types, one is held out with its type. Beside the lists of
 * held-out edges, eight bytes each (and two with types, eight with times), which may take a quarter
 * of the budget, memory is 88 bytes a node with leave_one_out.
 */
#ifndef STAGES_INGEST_BUILD_EDGE_HOLDOUT_H
#define STAGES_INGEST_BUILD_EDGE_HOLDOUT_H

#include "common/base/error.h"
#include "common/graph/relation_reverse.h"
#include "stages/ingest/build/edge_row.h"
#include "stages/ingest/build/edge_sides.h"
#include "stages/ingest/build/edge_spool.h"
#include "stages/ingest/build/given_edge.h"
#include "stages/ingest/build/given_negatives.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"
#include "store/records/edge_splits.h"

#include <stdbool.h>
#include <stdint.h>

struct edge_labels;

struct held_edges {
    uint32_t *source, *target; /* [count] */
    uint16_t *type;            /* [count]; 0 where edges have none */
    float *label;              /* [count] of labelled edges */
    int64_t *time;             /* [count] where edges have times, but of links that are given */
    float *weight, *feature;   /* [count], [count, width] where messages are kept */
    int64_t *line;             /* [count] of those given */
    char *where;               /* the file of those given; owned */
    size_t count, source_capacity, target_capacity, type_capacity, line_capacity, label_capacity,
        time_capacity, weight_capacity, feature_capacity;
};

struct edge_holdout { /* {0} holds out none */
    bool is_wanted;
    bool keeps_messages; /* weights and features of held-out edges (infer.history) */
    const struct dataset_schema *schema; /* borrowed: node_count, undirected, edge_width */
    const struct node_ids *ids;          /* borrowed, for messages */
    const struct edge_labels *labels;    /* borrowed; without a task: of links */
    struct relation_reverses reverses;   /* once the types are declared and an edge is asked for */
    struct edge_split split;
    uint64_t seed;
    uint64_t memory_bytes;
    bool keeps_repeats; /* links of the same ends are examples each: ingest.duplicates is keep */
    enum hold_out_reverse hold_out_reverse;
    /* links that are held out and are no example, because of an earlier one */
    uint64_t merged_repeats;
    uint64_t passed_sources; /* of leave_one_out: nodes that hold out nothing (last_edges.h) */
    /* up to the first edges stay, up to the second they are for validation */
    int64_t time_end[HELD_OUT_COUNT];
    struct last_edges *last; /* [node_count] of leave_one_out */
    uint64_t *given; /* [given_size] split and position of a given edge + 1, 0: none; by pair */
    uint64_t given_size;
    struct held_edges listed[HELD_OUT_COUNT]; /* given, of which the links become: */
    struct held_edges held[HELD_OUT_COUNT];
    struct given_negatives negatives;
    uint64_t *train_class; /* [labels->class_count] how many edges that stay have each class */
};

/* Holds out none unless the settings learn pairs. `schema` is borrowed. Fails: ERROR_INVALID. */
MUST_CHECK enum error_code edge_holdout_init(struct edge_holdout *holdout,
                                             const struct pipeline_settings *settings,
                                             const struct dataset_schema *schema,
                                             uint64_t memory_bytes, struct error *err);
void edge_holdout_release(struct edge_holdout *holdout);
/* Returns the split that the pair draws with EDGE_SPLIT_RANDOM: an enum held_out, or -1 if it
 * stays. `both_ways`: the pair the other way draws the same split. */
int edge_holdout_draw(const struct edge_split *split, uint64_t seed, bool both_ways,
                      uint32_t source, uint32_t target);
/* Whether an edge and the edge back are held out together. */
bool edge_holdout_goes_both_ways(const struct dataset_schema *schema);
/* Returns the split of an edge of a forward relation: an enum held_out, or -1 if it stays. */
int edge_holdout_split(const struct edge_holdout *holdout, uint32_t source, uint32_t target,
                       uint16_t type, int64_t time);
/* Fills holdout->reverses once the types are declared; later calls change nothing. */
void edge_holdout_find_reverses(struct edge_holdout *holdout);
/* Of labelled edges, rather than links. */
bool edge_holdout_has_labels(const struct edge_holdout *holdout);
/* Holds it out. Fails: ERROR_INPUT for an end out of range; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_holdout_give(struct edge_holdout *holdout, enum held_out split,
                                             const struct given_edge *edge, struct error *err);
/* When all edges are in the spool and the direction is known. Fails: ERROR_INPUT for edges without
 * times that are split by time, and for a given edge that is an edge of the input or stands there
 * twice, naming file and line. */
MUST_CHECK enum error_code edge_holdout_prepare(struct edge_holdout *holdout,
                                                struct edge_spool *spool, struct error *err);
/* Takes the held-out edges of a row out of `order` [*kept] (edge_sorter.h), and notes them. Rows
 * come in order. */
MUST_CHECK enum error_code edge_holdout_take(struct edge_holdout *holdout, uint32_t node,
                                             const struct edge_row *row, uint64_t *order,
                                             uint32_t *kept, struct error *err);
/* Call this after the last row. Stores the record; `has_types`: with the types of the edges;
 * `sides` are counted.
 * Fails: ERROR_IO; as given_negatives_match(). */
MUST_CHECK enum error_code edge_holdout_put(struct edge_holdout *holdout, bool has_types,
                                            const struct edge_sides *sides, struct store *store,
                                            struct error *err);

#endif
