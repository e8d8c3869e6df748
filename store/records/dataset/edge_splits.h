/*
 * edge_splits - the edges that are held out for validation and test, of a task whose examples are
 * pairs of nodes.
 *
 * Written by ingest in ids of the dataset and by partition, in the same order, in its own, which
 * sample and infer read. Held-out edges are in no edge chunk and in no topology: messages do not
 * travel over them. The training edges are those of the topology, and no list of them is stored. Of
 * an undirected graph a held-out edge stands here once.
 *
 *   key       dataset/<id>/edge_splits, partition/<id>/edge_splits
 *   sections  "valid_source", "valid_target", "test_source", "test_target" U32
 *             "valid_type", "test_type" U16  where edges have types
 *             "undirected" U32 [1]  1: an edge here stands for both ways
 *             "valid_time", "test_time" I64  where edges have times; F64 in records of earlier
 *                                            releases
 *             of labelled edges also "valid_label", "test_label" F32, and of classes
 *             "train_classes" U64 [classes]: how many of the training edges have each given
 *             negatives, where there are some: nodes that make pairs with an edge which are none,
 *             one list an edge:
 *             "valid_neg_start", "test_neg_start" U64 [count + 1], "valid_negative",
 *             "test_negative" U32, and of as many training edges as have some "train_source",
 *             "train_target" U32, "train_type" U16 where edges have types, "train_neg_start",
 *             "train_negative"
 *             "left" U32  only of a bipartite graph of one node type: the nodes that are the
 *                         sources of its edges in the input
 *             what held-out edges carry when they are messages of later ones (infer.history), in
 *             version 2, where edges have it:
 *             "valid_weight", "test_weight" F32; "feature_dim" U32 [1], "valid_feature",
 *             "test_feature" F32 [count, feature_dim]
 *   version   1; 2 with weights or features. Both are read.
 *   valid     both ends of a split are equally many, each below the number of nodes, and as many
 *             types, labels and times, if any
 */
#ifndef STORE_RECORDS_DATASET_EDGE_SPLITS_H
#define STORE_RECORDS_DATASET_EDGE_SPLITS_H

#include "common/base/error.h"
#include "common/graph/edge_time.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

enum held_out { HELD_OUT_VALID, HELD_OUT_TEST, HELD_OUT_COUNT };

extern const char *const held_out_name[HELD_OUT_COUNT]; /* "valid", "test" */

/* The negatives of edge i are node[start[i] .. start[i + 1]), at least one. */
struct negative_ends { /* {0}: none are given */
    const uint64_t *start;
    const uint32_t *node;
};

struct trained_negatives {
    uint64_t count; /* edges that have some */
    const uint32_t *source, *target;
    const uint16_t *type; /* NULL: edges have none */
    struct negative_ends ends;
};

/* A writer fills counts and pointers and leaves `view` zero. */
struct edge_splits {
    uint32_t node_count; /* of the graph; set by reading */
    bool undirected;
    uint64_t count[HELD_OUT_COUNT];
    const uint32_t *source[HELD_OUT_COUNT]; /* [count] */
    const uint32_t *target[HELD_OUT_COUNT]; /* [count] */
    const uint16_t *type[HELD_OUT_COUNT];   /* [count]; NULL: edges have no types */
    bool is_labelled, is_timed;
    const float *label[HELD_OUT_COUNT];     /* [count] where labelled */
    struct edge_times time[HELD_OUT_COUNT]; /* [count] where timed */
    uint64_t class_count;                   /* 0: not of classes */
    const uint64_t *train_class;            /* [class_count] */
    bool has_weights;
    const float *weight[HELD_OUT_COUNT];  /* [count] where it has weights */
    uint32_t feature_dim;                 /* 0: none */
    const float *feature[HELD_OUT_COUNT]; /* [count, feature_dim] */
    struct negative_ends negative[HELD_OUT_COUNT];
    struct trained_negatives trained;
    const uint32_t *left;    /* [left_count] the sources of a bipartite graph */
    uint64_t left_count;     /* 0: it is none, or has node types */
    struct record_view view; /* release with store_release_record() */
};

/* Fills `list` and `count` with the place and the length of each list of nodes. Returns the number
 * of lists. */
enum { EDGE_SPLITS_END_LISTS = 3 * HELD_OUT_COUNT + 4 };
int edge_splits_ends(struct edge_splits *splits, const uint32_t **list[EDGE_SPLITS_END_LISTS],
                     uint64_t count[EDGE_SPLITS_END_LISTS]);

MUST_CHECK enum error_code edge_splits_put(struct store *store, const char *key, const char *owner,
                                           const struct edge_splits *splits, struct error *err);
/* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming key and section, what was expected and what was
 * found. */
MUST_CHECK enum error_code edge_splits_get(struct store *store, const char *key, const char *owner,
                                           uint32_t node_count, struct edge_splits *out,
                                           struct error *err);
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released, also after a failure. */
MUST_CHECK enum error_code edge_splits_decode(const struct record_view *view, uint32_t node_count,
                                              struct edge_splits *out, struct error *err);

#endif
