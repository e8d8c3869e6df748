/*
 * partition_book - which part owns which nodes, and what a run has to know of the graph.
 *
 * Written by partition as the commit of a partition, after topologies, shards, splits, report and
 * permutation; read by every later stage, so it is small whatever the graph is (node_permutation.h
 * has the N-sized maps). Part p owns the partition ids book[p] .. book[p + 1]. Version 1 held the
 * two maps as well, version 2 the task as a number.
 *
 *   key       partition/<id>/book
 *   sections  "book"    U32 [part_count + 1]
 *             "dataset" text   id of the dataset
 *             "task"    text   its name, as in the dataset's schema
 *             "facts"   U64 [7] edge count, self-loop count, feature dim, class count,
 *                                      train, valid, test counts
 *             "edge_widths" U32 [.]  of the edge columns of the topologies (edge_sections.h)
 *             "pair_types"  U32 [1]  of a task of pairs whose edges have types: how many there are;
 *                                    of a graph with relations numbers of those that are learnt, so
 *                                    that the reverses behind them have none
 *             "pair_count"  U64 [1]  of a task of pairs on a graph with relations: edges of
 *                                    relations that are no reverse
 *             "graphs"  U64 [3]  of a task of graphs: how many there are, and the most nodes and
 *                                edges that one has
 *   version   4; of a graph with relations 5, with these sections too:
 *             "type_start" U32 [part_count, types + 1]  type_ranges.h
 *             "type_name"  U8  [types, 160]    padded with zeros
 *             "type_dim"   U32 [types]         columns of features; 0: its nodes have none
 *             "target_type" U32 [1]            of which labels and splits are
 *             "relation"   U8  [relations, 164]  name, padded with zeros; source and target type,
 *                                                16 bits each
 *             "relation_back" U16 [relations]  only where ingest found reverses by content: 1 + the
 *                                              reverse of each, 0: none
 *   valid     book ascends from 0 to N, the number of nodes, which is at least 1
 *
 * assignment (partition/<id>/assignment): "part" U32 [N], part of each dataset node; written first.
 * "method" text: only where partition.method stands for others (auto), the one that it came to; of
 * a version of a dataset whose nodes kept their parts "placed", or "moved". Then also "full_cut"
 * F64 [1]: the share of cut edges when last all nodes were partitioned. Of a vertex cut "part" has
 * the nodes' masters, and "edge_part" U16 [M] the part of each edge, in the order of the edge
 * chunks.
 */
#ifndef STORE_RECORDS_PARTITION_PARTITION_BOOK_H
#define STORE_RECORDS_PARTITION_PARTITION_BOOK_H

#include "common/base/error.h"
#include "common/graph/relation_reverse.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/partition/type_ranges.h"

#include <stdbool.h>
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
        test_count;           /* nodes, or graphs; of a task of pairs 0, and edges held out */
    uint32_t pair_type_count; /* in a task of pairs: the number of edge types; 0: none */
    uint64_t pair_count;      /* in a task of pairs with relations: edges that are no reverses */
    /* In a task of graphs: their number, and the most nodes and edges of one; else 0. */
    uint32_t graph_count, graph_nodes_most;
    uint64_t graph_edges_most;
    const uint32_t *book; /* [part_count + 1] */
    /* Only in a graph with relations, else 0 and NULL; the functions below serve every graph. */
    uint32_t type_count, relation_count, target_type;
    const uint32_t *type_start;                  /* [part_count, type_count + 1] */
    const char (*type_name)[RELATION_NAME_SIZE]; /* [type_count] */
    const uint32_t *type_dim;                    /* [type_count] */
    const struct relation *relation;             /* [relation_count] */
    /* [relation_count] 1 + the reverse of each that was found by content, 0: none; may be NULL */
    const uint16_t *back_plus;
    struct record_view view; /* release with store_release_record() */
};

/* Examples of an epoch: training nodes; of a task of pairs the edges of the topology, each stored
 * direction one, but in a graph with relations for those of reverses (relation_reverse.h). */
uint64_t partition_book_train_count(const struct partition_book *book);

/* Return the number of node types and of relations; each is 1 in a graph without relations. */
uint32_t partition_book_types(const struct partition_book *book);
uint32_t partition_book_relations(const struct partition_book *book);
/* Fills `out` with the reverse of each relation. */
void partition_book_reverses(const struct partition_book *book, struct relation_reverses *out);
/* Returns a relation. */
const struct relation *partition_book_relation(const struct partition_book *book,
                                               uint32_t relation);
/* Returns whether mini-batches list their rows of each relation (mini_batch.h). */
static inline bool partition_book_lists_rows(const struct partition_book *book)
{
    return book->relation != NULL;
}
/* Returns the name of a type in messages. */
const char *partition_book_type_name(const struct partition_book *book, uint32_t type);
/* Returns the number of feature columns of a type; 0: none. */
uint32_t partition_book_dim(const struct partition_book *book, uint32_t type);
/* Returns whether the nodes of a type have a shard of features or labels in each part. */
bool partition_book_has_shard(const struct partition_book *book, uint32_t type);
struct type_ranges partition_book_ranges(const struct partition_book *book);

MUST_CHECK enum error_code partition_book_put(struct store *store,
                                              const struct partition_book *book, struct error *err);
MUST_CHECK enum error_code partition_book_get(struct store *store, const char *partition_id,
                                              struct partition_book *out, struct error *err);

/* `method` is the section "method"; NULL leaves it out. */
MUST_CHECK enum error_code assignment_put(struct store *store, const char *partition_id,
                                          const uint32_t *part, uint32_t node_count,
                                          const char *method, struct error *err);
/* Writes the assignment of a vertex cut. */
MUST_CHECK enum error_code assignment_put_edges(struct store *store, const char *partition_id,
                                                const uint32_t *part, uint32_t node_count,
                                                const uint16_t *edge_part, uint64_t edge_count,
                                                struct error *err);
/* *edge_part [edge_count] borrows from `view`. Fails: ERROR_CORRUPT if there is another number of
 * them, or one is not below `part_count`. */
MUST_CHECK enum error_code assignment_edges(const struct record_view *view, uint64_t edge_count,
                                            uint32_t part_count, const uint16_t **edge_part,
                                            struct error *err);
/* *part borrows from `view`. */
MUST_CHECK enum error_code assignment_get(struct store *store, const char *partition_id,
                                          const uint32_t **part, uint32_t *node_count,
                                          struct record_view *view, struct error *err);
/* Writes the assignment of a version of a dataset whose nodes kept their parts. */
MUST_CHECK enum error_code assignment_put_kept(struct store *store, const char *partition_id,
                                               const uint32_t *part, uint32_t node_count,
                                               const char *method, double full_cut,
                                               struct error *err);
/* *full_cut is the section "full_cut", or below 0 without it: all nodes were partitioned. Fails:
 * ERROR_CORRUPT. */
MUST_CHECK enum error_code assignment_full_cut(const struct record_view *view, double *full_cut,
                                               struct error *err);
/* Copies the section "method" of an assignment into `method` [size], or "" without it. Fails:
 * ERROR_CORRUPT. */
MUST_CHECK enum error_code assignment_method(const struct record_view *view, char *method,
                                             size_t size, struct error *err);

#endif
