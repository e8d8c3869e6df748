/*
 * typed_dataset - a dataset with three node types and four relations in a store, written from
 * arrays, without ingest.
 *
 *     author (60, no features)   paper (90, 5 columns, labels and splits)   venue (10, 3 columns)
 *     writes: author -> paper   cites: paper -> paper   in: paper -> venue
 *     rev_writes: paper -> author
 *
 * Edges are drawn from a fixed stream; the weight of edge e is e, and its time, which only the
 * topology has, is 37 e modulo 100. Feature c of node v is v + c / 1024, the label of paper v is v
 * modulo 3, and its split is v modulo 4: train, valid, test or none.
 */
#ifndef TESTS_SUPPORT_TYPED_DATASET_H
#define TESTS_SUPPORT_TYPED_DATASET_H

#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/partition/partition_book.h"

#include <stdint.h>

enum {
    TYPED_AUTHORS = 60,
    TYPED_PAPERS = 90,
    TYPED_VENUES = 10,
    TYPED_NODES = TYPED_AUTHORS + TYPED_PAPERS + TYPED_VENUES,
    TYPED_RELATIONS = 4,
    TYPED_EDGES = 900,
    TYPED_PAPER_DIM = 5,
    TYPED_VENUE_DIM = 3
};

struct typed_edges {
    uint32_t source[TYPED_EDGES], target[TYPED_EDGES]; /* by target, source, relation */
    uint16_t relation[TYPED_EDGES];
    float weight[TYPED_EDGES];
    int64_t time[TYPED_EDGES];
};

/* Makes the edges, all different. */
void typed_edges_fill(struct typed_edges *edges);
/* Returns the schema alone, as it is stored. */
struct dataset_schema typed_dataset_schema(const struct typed_edges *edges);
float typed_dataset_feature(uint32_t node, uint32_t column);
/* Writes all records of dataset "typed-1"; aborts the program when that fails. */
void typed_dataset_write(struct store *store);

/* Writes the topology of the dataset as a partition of one part. Its ids are ordered by type, so
 * they are those of the partition, too. Aborts the program when that fails. */
void typed_topology_write(struct store *store, const char *partition_id,
                          const struct typed_edges *edges);
/* Returns its book, whose arrays are static. */
struct partition_book typed_book(const char *partition_id);

#endif
