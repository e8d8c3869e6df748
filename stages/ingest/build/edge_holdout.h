/*
 * edge_holdout - which edges are held out for validation and test, for a task whose examples are
 * pairs of nodes.
 *
 * A held-out edge is in no row, and in an undirected graph neither is its reverse: messages of
 * training do not travel over it. ingest.edge_split selects the edges:
 *
 *   random a/b/c    each pair of nodes draws for itself, so all edges of a pair go together, and
 *                   nothing is stored for those that stay; the shares are met about. In a
 *                   directed graph whose edges mostly have an edge back (schema->pairs_together,
 *                   edges_back.h) the two directions of a pair draw together, and both are listed
 *   time a/b/c      the first a percent of the edges by time stay, the next b are for validation;
 *                   edges of one time are not split, and go with the earlier ones
 *   leave_one_out   each node that is the source of at least three edges gives its last edge to
 *                   the test and the one before it to validation; the order is by time, or,
 *                   without times, by a draw (He et al. 2017, "Neural collaborative filtering").
 *                   All edges of a pair go together (last_edges.h), with pairs_together those of
 *                   both directions
 *   given           two files list them: links must not be among the edges of the input, labelled
 *                   edges must be
 *
 * An edge is held out with its time if it has one. If several links join the same two nodes, the
 * earliest of a split is its only example, unless ingest.duplicates is keep, which makes each an
 * example. A labelled edge keeps its label, and each of several edges with the same ends is an
 * example.
 *
 * In a graph with relations the reverse of an edge (relation_reverse.h) is held out with the edge.
 * It is removed from the rows but not listed: the lists have edges of forward relations only.
 *
 * With infer.history all, a held-out edge is a message when later ones are scored. The weights and
 * features of held-out edges are then stored with them, for evaluation only: no other record of the
 * dataset has them.
 *
 * A self loop stays. If edges have types, an edge is held out with its type. Memory: eight bytes
 * for each held-out edge (and two with types, eight with times), in all at most a quarter of the
 * budget; and 88 bytes a node with leave_one_out.
 */
#ifndef STAGES_INGEST_BUILD_EDGE_HOLDOUT_H
#define STAGES_INGEST_BUILD_EDGE_HOLDOUT_H

#include "common/base/error.h"
#include "common/graph/relation_reverse.h"
#include "stages/ingest/build/edges/edge_row.h"
#include "stages/ingest/build/edges/edge_sides.h"
#include "stages/ingest/build/edges/edge_spool.h"
#include "stages/ingest/build/edges/given_edge.h"
#include "stages/ingest/build/given_negatives.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/dataset/edge_splits.h"

#include <stdbool.h>
#include <stdint.h>

struct edge_labels;

struct held_edges {
    uint32_t *source, *target; /* [count] */
    uint16_t *type;            /* [count]; 0 where edges have none */
    float *label;              /* [count]; for labelled edges */
    int64_t *time;             /* [count] if edges have times, but not for links that files list */
    float *weight, *feature;   /* [count], [count, width] if held-out edges become messages */
    int64_t *line;             /* [count]; for edges that a file lists */
    char *where;               /* the file that lists them; owned */
    size_t count, source_capacity, target_capacity, type_capacity, line_capacity, label_capacity,
        time_capacity, weight_capacity, feature_capacity;
};

struct edge_holdout { /* {0} holds out no edge */
    bool is_wanted;
    bool keeps_messages; /* keeps weights and features of held-out edges (infer.history) */
    const struct dataset_schema *schema; /* borrowed; uses node_count, undirected, edge_width */
    const struct node_ids *ids;          /* borrowed, for messages */
    const struct edge_labels *labels;    /* borrowed; without a task the edges are links */
    /* set once the types are declared and an edge is asked for */
    struct relation_reverses reverses;
    struct edge_split split;
    uint64_t seed;
    uint64_t memory_bytes;
    /* each of several links with the same ends is an example: ingest.duplicates is keep */
    bool keeps_repeats;
    enum hold_out_reverse hold_out_reverse;
    /* held-out links that are no example because of an earlier one with the same ends */
    uint64_t merged_repeats;
    uint64_t passed_sources; /* for leave_one_out: sources that hold out nothing (last_edges.h) */
    /* Edges up to the first time stay; those up to the second are for validation. */
    int64_t time_end[HELD_OUT_COUNT];
    struct last_edges *last; /* [node_count]; for leave_one_out */
    /* [given_size] hash table by pair: the split and the position + 1 of a listed edge; 0: empty */
    uint64_t *given;
    uint64_t given_size;
    /* the edges that files list; if they are links, they become: */
    struct held_edges listed[HELD_OUT_COUNT];
    struct held_edges held[HELD_OUT_COUNT];
    struct given_negatives negatives;
    uint64_t *train_class; /* [labels->class_count] how many edges that stay have each class */
};

/* Initialises `holdout`. It holds out no edge unless the task of the settings learns pairs.
 * `schema` is borrowed. Fails: ERROR_INVALID. */
MUST_CHECK enum error_code edge_holdout_init(struct edge_holdout *holdout,
                                             const struct pipeline_settings *settings,
                                             const struct dataset_schema *schema,
                                             uint64_t memory_bytes, struct error *err);
void edge_holdout_release(struct edge_holdout *holdout);
/* Returns the split that the pair draws with EDGE_SPLIT_RANDOM: an enum held_out, or -1 if it
 * stays. `both_ways`: the pair the other way draws the same split. */
int edge_holdout_draw(const struct edge_split *split, uint64_t seed, bool both_ways,
                      uint32_t source, uint32_t target);
/* Returns whether an edge and the edge back are held out together. */
bool edge_holdout_goes_both_ways(const struct dataset_schema *schema);
/* Returns the split of an edge of a forward relation: an enum held_out, or -1 if it stays. */
int edge_holdout_split(const struct edge_holdout *holdout, uint32_t source, uint32_t target,
                       uint16_t type, int64_t time);
/* Fills holdout->reverses once the types are declared. Later calls change nothing. */
void edge_holdout_find_reverses(struct edge_holdout *holdout);
/* Returns whether the held-out edges are labelled edges; otherwise they are links. */
bool edge_holdout_has_labels(const struct edge_holdout *holdout);
/* Adds an edge that a file lists to the held-out ones. Fails: ERROR_INPUT for an end out of range;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_holdout_give(struct edge_holdout *holdout, enum held_out split,
                                             const struct given_edge *edge, struct error *err);
/* Finds what is to be held out. Call it when all edges are in the spool and the direction is known.
 * Fails: ERROR_INPUT when edges without times are to be split by time, and for a listed edge that
 * is an edge of the input or is listed twice, naming file and line. */
MUST_CHECK enum error_code edge_holdout_prepare(struct edge_holdout *holdout,
                                                struct edge_spool *spool, struct error *err);
/* Removes the held-out edges of a row from `order` [*kept] (edge_sorter.h), and lists them. Call it
 * for the rows in order. */
MUST_CHECK enum error_code edge_holdout_take(struct edge_holdout *holdout, uint32_t node,
                                             const struct edge_row *row, uint64_t *order,
                                             uint32_t *kept, struct error *err);
/* Stores the record. Call it after the last row. `has_types`: the record has the types of the
 * edges. `sides` are counted. Fails: ERROR_IO; as given_negatives_match(). */
MUST_CHECK enum error_code edge_holdout_put(struct edge_holdout *holdout, bool has_types,
                                            const struct edge_sides *sides, struct store *store,
                                            struct error *err);

#endif
