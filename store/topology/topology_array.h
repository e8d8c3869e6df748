/*
 * topology_array - describes the arrays of a part, and the chunks in which its file holds them
 * (topology.h).
 */
#ifndef STORE_TOPOLOGY_TOPOLOGY_ARRAY_H
#define STORE_TOPOLOGY_TOPOLOGY_ARRAY_H

#include "common/graph/edge_column.h"

#include <stddef.h>
#include <stdint.h>

/* The arrays in this order: row starts, neighbours, edge columns, sums of weights. */
enum {
    TOPOLOGY_ROW_START,
    TOPOLOGY_NEIGHBOR,
    TOPOLOGY_FIRST_COLUMN,
    TOPOLOGY_WEIGHT_SUM = TOPOLOGY_FIRST_COLUMN + EDGE_COLUMN_COUNT,
    TOPOLOGY_ARRAY_COUNT,
    TOPOLOGY_ROW_NODE = TOPOLOGY_ARRAY_COUNT, /* only in a part of a vertex cut or of a delta */
    TOPOLOGY_HELD_ARRAY_COUNT
};

struct topology_array {
    const char *name;
    size_t element_size; /* of an edge column: bytes for one edge */
    uint32_t relation;
    unsigned shift;   /* elements in a chunk, as a power of two */
    uint64_t count;   /* 0 if the part does not have the array */
    const char *data; /* [count], to be written; NULL while reading */
};

/* Describes the arrays of a relation of that size in a part, without their data. */
void topology_arrays_describe(uint32_t relation, uint32_t node_count, uint64_t edge_count,
                              const struct edge_widths *width,
                              struct topology_array out[TOPOLOGY_ARRAY_COUNT]);

/* Describes the arrays of a part of a vertex cut, or of a delta, with that many rows and edges
 * (topology.h). */
void topology_arrays_describe_held(uint32_t relation, uint32_t row_count, uint64_t edge_count,
                                   const struct edge_widths *width,
                                   struct topology_array out[TOPOLOGY_HELD_ARRAY_COUNT]);

struct topology_arrays;
/* Computes the sums of weights of all rows, topology_weight_sum(), in out [node_count]. */
void topology_arrays_sum_weights(const struct topology_arrays *from, float *out);

static inline uint64_t topology_array_chunks(const struct topology_array *array)
{
    return (array->count + (UINT64_C(1) << array->shift) - 1) >> array->shift;
}

/* Return where a chunk begins in the array, and how many bytes of the array it has. */
static inline const char *topology_array_at(const struct topology_array *array, uint64_t chunk)
{
    return array->data + (chunk << array->shift) * array->element_size;
}

static inline size_t topology_array_chunk_bytes(const struct topology_array *array, uint64_t chunk)
{
    const uint64_t left = array->count - (chunk << array->shift);
    const uint64_t most = UINT64_C(1) << array->shift;
    return (left < most ? left : most) * array->element_size;
}

#endif
