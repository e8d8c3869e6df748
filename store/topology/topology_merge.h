/*
 * topology_merge - merges the rows of one part of a vertex cut from the pieces that all parts hold.
 *
 *   held by part 0:  a <- b, d      row_node a      neighbor b d
 *   held by part 1:  a <- c         row_node a e    neighbor c a
 *                    e <- a
 *   rows of the part of a:  a <- b, c, d
 *
 * A merged row is sorted by source. All edges with the same ends are held by one part and keep
 * their order there. The rows equal those of an edge cut, to the byte.
 */
#ifndef STORE_TOPOLOGY_TOPOLOGY_MERGE_H
#define STORE_TOPOLOGY_TOPOLOGY_MERGE_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/partition/topology_seal.h"
#include "store/topology/merged_rows.h"
#include "store/topology/topology.h"
#include "store/topology/topology_file.h"

#include <stddef.h>

/* The arrays that the file of a part of a vertex cut or of a delta has for one relation, mapped;
 * chunks as in struct topology_part. */
struct held_arrays { /* {0} is empty */
    uint32_t row_count;
    uint64_t edge_count;
    struct edge_widths width;
    const uint32_t **row_node_chunk;
    const uint64_t **row_start_chunk;
    const uint32_t **neighbor_chunk;
    const char **column_chunk[EDGE_COLUMN_COUNT];
};

/* Finds the arrays in the file. Fails: ERROR_CORRUPT for an array that is missing or has another
 * size; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code held_arrays_find(const struct topology_file *file,
                                            const struct topology_seal *seal, uint32_t relation,
                                            struct held_arrays *out, struct error *err);
void held_arrays_release(struct held_arrays *held);

static inline uint32_t held_row_node(const struct held_arrays *held, uint32_t row)
{
    return held
        ->row_node_chunk[row >> TOPOLOGY_CHUNK_SHIFT][row & ((1U << TOPOLOGY_CHUNK_SHIFT) - 1)];
}

/* row <= row_count */
static inline uint64_t held_row_start(const struct held_arrays *held, uint32_t row)
{
    return held
        ->row_start_chunk[row >> TOPOLOGY_CHUNK_SHIFT][row & ((1U << TOPOLOGY_CHUNK_SHIFT) - 1)];
}

struct held_part {
    const struct held_arrays *arrays;
    uint32_t row; /* private to the merge: its next row */
};

/* Merges the rows of a relation in `part`, whose nodes and edge count are known, from held [count],
 * and points the part's arrays to them. The caller frees the lists of chunks whether it fails or
 * not. Fails: ERROR_CORRUPT when the parts hold another number of edges; ERROR_NO_SPACE;
 * ERROR_NO_MEMORY; ERROR_IO. */
MUST_CHECK enum error_code topology_merge(struct store *store, struct held_part *held, int count,
                                          struct topology_part *part, struct merged_rows *out,
                                          struct error *err);

#endif
