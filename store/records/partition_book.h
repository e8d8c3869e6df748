/*
 * partition_book - which part owns which nodes, and what a run has to know of the graph.
 *
 * Written by partition as the commit of a partition, after topologies, shards, splits, report and permutation;
 * read by every later stage, so it is small whatever the graph is (node_permutation.h has the N-sized maps). Part
 * p owns the partition ids book[p] .. book[p + 1]. Version 1 held the two maps as well, version 2 the task as a number.
 *
 *   key       partition/<id>/book
 *   sections  "book"    U32 [part_count + 1]
 *             "dataset" text   id of the dataset
 *             "task"    text   its name, as in the dataset's schema
 *             "facts"   U64 [7] edge count, self-loop count, feature dim, class count,
 *                                      train, valid, test counts
 *             "edge_widths" U32 [.]  of the edge columns of the topologies (edge_sections.h)
 *   valid     book ascends from 0 to N, the number of nodes, which is at least 1
 *
 * assignment (partition/<id>/assignment): "part" U32 [N], part of each dataset node; written first.
 */
#ifndef STORE_RECORDS_PARTITION_BOOK_H
#define STORE_RECORDS_PARTITION_BOOK_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"

#include <stdint.h>

struct partition_book {
    char id[80];
    char dataset_id[80];
    int part_count;
    uint32_t node_count;
    uint64_t edge_count, self_loop_count;
    uint32_t feature_dim, class_count;
    enum task_kind task;
    struct edge_widths edge_width; /* of the edge columns */
    uint32_t train_count, valid_count,
        test_count;          /* nodes; of a task of pairs 0, and edges held out */
    const uint32_t *book;    /* [part_count + 1] */
    struct record_view view; /* release with store_release_record() */
};

/* Examples of an epoch: training nodes; of a task of pairs the edges of the topology, each stored direction one. */
uint64_t partition_book_train_count(const struct partition_book *book);

MUST_CHECK enum error_code partition_book_put(struct store *store,
                                              const struct partition_book *book, struct error *err);
MUST_CHECK enum error_code partition_book_get(struct store *store, const char *partition_id,
                                              struct partition_book *out, struct error *err);

MUST_CHECK enum error_code assignment_put(struct store *store, const char *partition_id,
                                          const uint32_t *part, uint32_t node_count,
                                          struct error *err);
/* *part is borrowed from `view`. */
MUST_CHECK enum error_code assignment_get(struct store *store, const char *partition_id,
                                          const uint32_t **part, uint32_t *node_count,
                                          struct record_view *view, struct error *err);

#endif
