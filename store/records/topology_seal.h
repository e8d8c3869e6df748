/*
 * topology_seal - what the topology file of one part must be, to the byte.
 *
 * Written by partition when the file is published; read by whoever opens it, before LMDB sees a byte of
 * it: LMDB has no checksums of its own and trusts what it maps. Lives as long as the partition.
 *
 *   key       partition/<id>/part/<p>/topology_seal
 *   sections  "counts" U64 [4]   first node, node count, edge count, file size in bytes
 *             "edge_widths" U32 [.]  of the edge columns in the file (edge_sections.h)
 *             "file"   U8  [16]  XXH3-128 of the whole file
 *             "relation" U64 [relations, 3]  first node, node count, edge count of the rows of each relation; without
 *                            it there is one, of all nodes and edges
 *             "held"   U64 [2]   of a part of a vertex cut: rows and edges in the file; edge count is then that of the edges
 *                                which end in the part's nodes, wherever they are
 *                                of a graph with relations U64 [relations, 2]: the same of each
 *             "delta"  U64 [2]   of a part of a delta (partition_delta.h): rows and edges in the file, which has the rows alone that
 *                                are new or other than in the base; node and edge count are of all
 *                                of a graph with relations U64 [relations, 2]: the same of each
 *             "base"   text      of the same: the id of the base
 *   version   2; with the section "relation" 3, with the section "held" 4, with the section "delta" 5; one of them at most. With both
 *             "relation" and "delta" 6, with both "relation" and "held" 7
 *   valid     first node + node count is at most 2^32 - 1, the rows of relations lie in it, and their edges are all
 *
 * Equal arrays give equal files (with one LMDB version and page size), so the seal of a part that is
 * built twice is the same record.
 */
#ifndef STORE_RECORDS_TOPOLOGY_SEAL_H
#define STORE_RECORDS_TOPOLOGY_SEAL_H

#include "common/base/checksum.h"
#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "common/graph/relation_block.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

/* The rows of one relation in a part. */
struct sealed_rows {
    uint32_t first_node, node_count;
    uint64_t edge_count;
};

/* What the file of a part of a vertex cut holds, or that of a delta. */
struct sealed_held {
    uint32_t rows;
    uint64_t edges;
};

struct topology_seal {
    uint32_t first_node;
    uint32_t node_count;
    uint64_t edge_count;
    uint64_t file_size;
    struct edge_widths width; /* of the edge columns */
    struct checksum file;
    bool is_held;  /* of a vertex cut */
    bool is_delta; /* of rows that are new or other than in `base` */
    char base[ID_SIZE];
    uint32_t relation_count; /* 0: one, of all nodes and edges */
    struct sealed_rows relation[RELATION_COUNT_MAX];
    struct sealed_held held[RELATION_COUNT_MAX];
};

/* The rows of one of the relations; relation < topology_seal_relations(). */
struct sealed_rows topology_seal_rows(const struct topology_seal *seal, uint32_t relation);
uint32_t topology_seal_relations(const struct topology_seal *seal);

MUST_CHECK enum error_code topology_seal_put(struct store *store, const char *partition_id,
                                             int part, const struct topology_seal *seal,
                                             struct error *err);
/* Copies everything out: nothing to release. _decode() is the check alone, of a record of any origin. */
MUST_CHECK enum error_code topology_seal_decode(const struct record_view *view,
                                                struct topology_seal *out, struct error *err);
MUST_CHECK enum error_code topology_seal_get(struct store *store, const char *partition_id,
                                             int part, struct topology_seal *out,
                                             struct error *err);
/* Compares the sealed file with its seal, unopened. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming the
 * artifact, hash expected and found. */
MUST_CHECK enum error_code topology_seal_verify(struct store *store, const char *partition_id,
                                                int part, struct error *err);

#endif
