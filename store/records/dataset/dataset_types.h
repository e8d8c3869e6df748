/*
 * dataset_types - the node types and relations of a dataset that computing tells apart.
 *
 * In a graph with relations (dataset_schema.h) these are all that the schema names. Any other graph
 * has one type and one relation without names, whatever names its schema lists. So a loop over
 * types needs no second path for homogeneous graphs.
 */
#ifndef STORE_RECORDS_DATASET_DATASET_TYPES_H
#define STORE_RECORDS_DATASET_DATASET_TYPES_H

#include "common/graph/relation_reverse.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdint.h>

uint32_t dataset_type_count(const struct dataset_schema *schema);
uint32_t dataset_relation_count(const struct dataset_schema *schema);
/* Returns a node type: its nodes and the width of their features, 0 for none. */
struct node_type dataset_type(const struct dataset_schema *schema, uint32_t type);
/* Returns the origin of a type's features: "given", "degree", "random", "degree+random", "none"; ""
 * if it is unknown. */
const char *dataset_type_origin(const struct dataset_schema *schema, uint32_t type);
/* Returns a relation. */
struct relation dataset_relation(const struct dataset_schema *schema, uint32_t relation);
/* Returns the edge columns that a partition keeps: those of the schema, without the type if
 * relations replace it. */
struct edge_widths dataset_edge_widths(const struct dataset_schema *schema);
/* Returns the type of a node of the dataset. */
uint32_t dataset_type_of(const struct dataset_schema *schema, uint32_t node);
/* Fills `out` with the reverse of each relation. */
void dataset_reverses(const struct dataset_schema *schema, struct relation_reverses *out);
/* Returns the number of stored edges that are training examples in a task of pairs: all but those
 * of reverses. */
uint64_t dataset_pair_count(const struct dataset_schema *schema);
/* The chunks of feature rows are numbered type after type. Returns the number of a type's first
 * chunk. */
uint64_t dataset_first_feature_chunk(const struct dataset_schema *schema, uint32_t type);
/* Returns the number of chunks of all types. */
uint64_t dataset_feature_chunks(const struct dataset_schema *schema);

/* Finds the one of the first `count` edge types that `text` [size] names, by its name, or by its
 * number if no name is a number. Returns -1 if there is none. */
int32_t dataset_edge_type_of(const struct dataset_schema *schema, uint32_t count, const char *text,
                             size_t size);

#endif
