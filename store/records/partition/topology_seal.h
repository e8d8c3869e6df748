/*
 * topology_seal - the hash, the size and the contents of the topology file of one part.
 *
 * partition writes it when the file is published. Readers check the file by it before LMDB maps it:
 * LMDB has no checksums of its own and trusts the file. It lives as long as the partition.
 *
 *   key       partition/<id>/part/<p>/topology_seal
 *   sections  "counts" U64 [4]   first node, node count, edge count, file size in bytes
 *             "edge_widths" U32 [.]  widths of the edge columns in the file (edge_sections.h)
 *             "file"   U8  [16]  XXH3-128 of the whole file
 *             "relation" U64 [relations, 3]  first node, node count and edge count of the rows of
 *                                each relation; without it there is one, of all nodes and edges
 *             "held"   U64 [2]   in a part of a vertex cut: rows and edges in the file. "counts"
 *                                then counts the edges that end in the part's nodes, in whatever
 *                                part. In a graph with relations U64 [relations, 2]
 *             "delta"  U64 [2]   in a part of a delta (partition_delta.h): rows and edges in the
 *                                file, which has only the rows that are new or differ from the
 *                                base; "counts" counts all. In a graph with relations U64
 *                                [relations, 2]
 *             "base"   text      with "delta": the id of the base
 *   version   2; 3 with "relation", 4 with "held", 5 with "delta"; a record has one of the three,
 *             or "relation" with "delta", which is version 6, or with "held", which is version 7
 *   valid     first node + node count is at most 2^32 - 1; the rows of relations lie in the part
 *             and have all its edges
 *
 * Equal arrays give equal files (with one LMDB version and page size), so a part that is built
 * twice has the same seal.
 */
#ifndef STORE_RECORDS_PARTITION_TOPOLOGY_SEAL_H
#define STORE_RECORDS_PARTITION_TOPOLOGY_SEAL_H

#include "common/base/error.h"
#include "common/files/checksum.h"
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

/* The contents of the file of a part of a vertex cut, or of a delta. */
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
    bool is_delta; /* has only rows that are new or differ from `base` */
    char base[ID_SIZE];
    uint32_t relation_count; /* 0: one, of all nodes and edges */
    struct sealed_rows relation[RELATION_COUNT_MAX];
    struct sealed_held held[RELATION_COUNT_MAX];
};

/* Returns the rows of a relation, which is below topology_seal_relations(). */
struct sealed_rows topology_seal_rows(const struct topology_seal *seal, uint32_t relation);
uint32_t topology_seal_relations(const struct topology_seal *seal);

MUST_CHECK enum error_code topology_seal_put(struct store *store, const char *partition_id,
                                             int part, const struct topology_seal *seal,
                                             struct error *err);
/* Both copy everything out: there is nothing to release. _decode() checks and reads a record that
 * is in memory. */
MUST_CHECK enum error_code topology_seal_decode(const struct record_view *view,
                                                struct topology_seal *out, struct error *err);
MUST_CHECK enum error_code topology_seal_get(struct store *store, const char *partition_id,
                                             int part, struct topology_seal *out,
                                             struct error *err);
/* Compares the file with its seal without opening it. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming
 * the artifact, hash expected and found. */
MUST_CHECK enum error_code topology_seal_verify(struct store *store, const char *partition_id,
                                                int part, struct error *err);

#endif
