/*
 * typed_dataset - a dataset with three node types and four relations in a store, written from
 * arrays, without ingest.
 *
 *     author (60, no features)   paper (90, 5 columns, labels and splits)   venue (10, 3 columns)
 *     writes: author -> paper   cites: paper -> paper   in: paper -> venue   rev_writes: paper -> author
 *
 * Edges are drawn from a fixed stream; the weight of edge e is e, and its time, which the topology
 * alone has, 37 e modulo 100. Feature c of node v is v + c / 1024, the label of paper v is v modulo
 * 3; papers are for train, valid, test or nothing by v modulo 4.
 */
#ifndef TESTS_SUPPORT_TYPED_DATASET_H
#define TESTS_SUPPORT_TYPED_DATASET_H

#include "store/objects/store.h"
#include "store/records/dataset_schema.h"
#include "store/records/partition_book.h"

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

/* The edges, all different. */
void typed_edges_fill(struct typed_edges *edges);
/* The schema alone, as it is stored. */
struct dataset_schema typed_dataset_schema(const struct typed_edges *edges);
float typed_dataset_feature(uint32_t node, uint32_t column);
/* Writes all records of dataset "typed-1"; aborts the program when that fails. */
void typed_dataset_write(struct store *store);

/* The dataset as a partition of one part: its ids stand type by type, so they are those of the partition, too. Writes the
 * topology; aborts the program when that fails. */
void typed_topology_write(struct store *store, const char *partition_id,
                          const struct typed_edges *edges);
/* Its book, whose arrays are static. */
struct partition_book typed_book(const char *partition_id);

#endif
