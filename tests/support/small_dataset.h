/*
 * small_dataset - a dataset in a store, written from arrays, without ingest.
 *
 * Data that are not given follow a rule, so that a test knows each value: feature c of node v is v
 * + c / 1024 (exact in float32 for small numbers), its label is v modulo the classes, and its split
 * is v modulo 4 (train, valid, test, none).
 */
#ifndef TESTS_SUPPORT_SMALL_DATASET_H
#define TESTS_SUPPORT_SMALL_DATASET_H

#include "common/graph/edge_column.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdbool.h>
#include <stdint.h>

struct small_dataset {
    const char *id, *name;
    uint32_t node_count;
    uint64_t edge_count; /* directed, as stored */
    const uint32_t *source, *target;
    struct edge_columns_view columns; /* [edge_count]; edge types are 0 or 1 */
    bool undirected;                  /* the edges hold both directions */
    uint32_t feature_dim;             /* 0 means 3 */
    enum task_kind task;              /* 0: none */
    uint32_t class_count;
    uint32_t nodes_per_chunk; /* of edges; 0: all nodes in one chunk */
    const uint32_t *named;    /* [node_count]: replaces v in the rules; NULL: v */
};

float small_dataset_feature(uint32_t node, uint32_t column);
/* Returns label `c` of a node with several labels: 0 or 1. */
float small_dataset_multi_label(uint32_t node, uint32_t class_count, uint32_t c);

/* Writes all records; aborts the program when that fails. */
void small_dataset_write(struct store *store, const struct small_dataset *dataset);

/* Returns the karate club with both directions and two classes. `source` and `target` have room for
 * 2 * KARATE_EDGE_COUNT. */
struct small_dataset small_dataset_karate(uint32_t *source, uint32_t *target);

#endif
