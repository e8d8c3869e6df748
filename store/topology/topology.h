/*
 * topology - the in-neighbours of the nodes of one part, in a sealed LMDB file.
 *
 * partition writes it once; sample, infer and partition's own check read it. Node ids are those of
 * the partition: part p owns book[p] .. book[p + 1]. Row v holds the sources of the edges that end
 * in v, ascending. Each array is stored in values of at most 1 GiB, written with MDB_WRITEMAP and
 * MDB_RESERVE. A reader compares the hash of the whole file with its seal when the part is first
 * needed, then opens it MDB_RDONLY | MDB_NOLOCK and gets pointers without a copy. On network
 * storage the file is first copied to a local scratch folder, which LMDB requires, unless the
 * storage is declared local.
 *
 * Random access is faster on a copy in memory (topology_copy.c). A mapped file has pages of 4 KB
 * unless file system and kernel join them: ext4 before Linux 6.16 never does, and of the files of
 * one partition on 6.18 half were joined. With small pages nearly every random access also misses
 * the TLB, and on a virtual machine that page walk takes as long as the access. Sampling an edge
 * from a copy on pages of 2 MB takes two thirds of the time (tests/bench/README.md).
 *
 * Each relation has its own arrays: its rows are the nodes of its target type in the part, its
 * neighbours are nodes of its source type. A graph without relations is one relation whose rows are
 * all nodes.
 *
 * In a vertex cut (stages/partition/rules/vertex_cut.h) the file of a part has the edges that the
 * part holds, which end in nodes of any part. Its rows are pieces of rows, and "row_node" lists
 * their nodes, ascending. Opening a part reads the files of all parts and merges the rows of its
 * own nodes (topology_merge.h). A reader then sees the edge cut in which each node is in the part
 * of its master.
 *
 * In a delta (store/records/partition/partition_delta.h) the file of a part has, in the same form, only the
 * rows that are new or that differ from the base. Opening a part merges them with the rows of the
 * base (topology_delta.h), so that a reader sees a whole partition.
 *
 * In the file, the key "<array>/<chunk>" holds one chunk of relation 0, and the key
 * "<relation>/<array>/<chunk>" one of another relation; a relation has three digits, a chunk five.
 * The arrays are "row_start", "neighbor", each edge column of the graph under its name
 * (common/graph/edge_column.h), and with weights "weight_sum", one number for each row. A value has
 * at least 4 KiB, padded with zeros: LMDB gives large values pages of their own, aligned to 16
 * bytes, but packs small ones between others at odd addresses. The seal has the real sizes.
 */
#ifndef STORE_TOPOLOGY_TOPOLOGY_H
#define STORE_TOPOLOGY_TOPOLOGY_H

#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "common/parallel/shared_area.h"
#include "store/objects/store.h"
#include "store/records/partition/partition_book.h"

#include <stdbool.h>
#include <stdint.h>

enum { TOPOLOGY_CHUNK_SHIFT = 27, TOPOLOGY_CHUNK_COUNT_MAX = 4096 };

/* The arrays of one relation in one part, to be written. All are borrowed. */
struct topology_arrays {
    uint32_t first_node;
    uint32_t node_count;
    uint64_t edge_count;
    const uint64_t *row_start;        /* [node_count + 1], row_start[0] = 0 */
    const uint32_t *neighbor;         /* [edge_count], partition node ids */
    struct edge_columns_view columns; /* [edge_count] */
};

/* Builds the file in scratch, publishes the artifact and its seal. Doing it again succeeds. Fails:
 * ERROR_IO, ERROR_NO_MEMORY; ERROR_CORRUPT when a different file has that name. */
MUST_CHECK enum error_code topology_write(struct store *store, const char *partition_id, int part,
                                          const struct topology_arrays *arrays, struct error *err);

/* Writes a part of several relations: relation [relation_count], all with the same edge columns.
 * Their rows are nodes in [first_node, first_node + node_count), the nodes of the part. */
MUST_CHECK enum error_code topology_write_relations(struct store *store, const char *partition_id,
                                                    int part, uint32_t first_node,
                                                    uint32_t node_count,
                                                    const struct topology_arrays *relation,
                                                    uint32_t relation_count, struct error *err);

/* The edges of one relation that a part of a vertex cut holds, or that a part of a delta has. All
 * are borrowed. */
struct topology_held {
    /* The nodes of the relation's target type in the part; in a vertex cut their master is here. */
    uint32_t first_node, node_count;
    uint64_t own_edge_count; /* edges that end in these nodes, in whatever part or file they are */
    uint32_t row_count;
    uint64_t edge_count;
    const uint32_t
        *row_node; /* [row_count], partition node ids, ascending; in a vertex cut of any part */
    const uint64_t *row_start; /* [row_count + 1], row_start[0] = 0 */
    const uint32_t *neighbor;  /* [edge_count], ascending in a row */
    struct edge_columns_view columns;
};
/* Writes a part of a vertex cut: relation [relation_count], all with the same edge columns. The
 * edges of a relation between two nodes are in one part. */
MUST_CHECK enum error_code topology_write_held(struct store *store, const char *partition_id,
                                               int part, uint32_t first_node, uint32_t node_count,
                                               const struct topology_held *relation,
                                               uint32_t relation_count, struct error *err);

/* The content of a part's file in a delta: only rows that are new or that differ from `base`. All
 * are borrowed. */
struct topology_other {
    const char *base;
    uint32_t first_node, node_count;      /* the nodes of the part */
    const struct topology_held *relation; /* [relation_count], with the same edge columns */
    uint32_t relation_count;
};
/* Writes a part of a delta. */
MUST_CHECK enum error_code topology_write_delta(struct store *store, const char *partition_id,
                                                int part, const struct topology_other *other,
                                                struct error *err);

struct topology_part;
struct topology_base; /* topology_delta.h */

struct topology { /* {0} is closed; the parts of one partition, opened together */
    int part_count;
    uint32_t relation_count; /* 0 means 1 */
    uint32_t node_count;
    uint64_t edge_count;
    struct edge_widths width; /* of the edge columns */
    bool is_vertex_cut, is_delta;
    bool is_at_random;    /* rows are requested before they are read (topology_ahead.h) */
    const uint32_t *book; /* [part_count + 1], owned */
    /* [node_count] when nodes appear; borrowed, set by the caller. NULL: they are always there. */
    const int64_t *node_time;
    struct topology_part *part; /* [part_count, relation_count], owned */
    struct topology_base *base; /* the base of a delta, owned; NULL: the topology is whole */
    struct topology_source
        *source; /* [part_count], owned, private to topology.c; NULL: the caller owns the arrays */
    struct checksum content; /* hash of all files, from their seals */
    struct shared_area copy; /* {0}: the arrays are in the files */
};

/* The arrays of one relation in one part, for inlined access in hot loops. Each chunk has 2^27
 * elements. The arrays are valid once the part is open. */
struct topology_part {
    uint32_t first_node;
    uint32_t node_count;
    uint64_t edge_count;
    const uint64_t **row_start_chunk; /* element v in [v >> 27][v & (2^27 - 1)] */
    const uint32_t **neighbor_chunk;
    struct edge_widths width;
    /* NULL if the graph has no such column: topology_column() */
    const char **column_chunk[EDGE_COLUMN_COUNT];
    const float **weight_sum_chunk; /* NULL without weights: topology_weight_sum() */
};

/* Opens the partition `book`, which is borrowed during the call. Reads its seals but none of its
 * files: counts and widths of all parts are then known; a part's arrays become available with
 * topology_open_part(). A process opens a partition once and shares it between its threads. Fails:
 * ERROR_NOT_FOUND; ERROR_CORRUPT naming the artifact that does not match the book or the others;
 * ERROR_IO; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code topology_open(struct store *store, const struct partition_book *book,
                                         struct topology *out, struct error *err);
/* Makes the arrays of a part available, from a hashed file on a file system of this host
 * (store/objects/artifact_cache.h), which is downloaded if necessary. Must be called before the
 * part is read; calling it again succeeds and costs a lock, and a failed call may be repeated.
 *
 * In a vertex cut it opens the files of all parts, in a delta also that of the base. The merged
 * rows of the part are then in a scratch file of this process, as large as the file of an edge cut
 * would be; it can also fail with ERROR_NO_SPACE.
 *
 * Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming the artifact, hash expected and found; ERROR_IO;
 * ERROR_NO_MEMORY. Threads: any number; different parts are opened in parallel. */
MUST_CHECK enum error_code topology_open_part(const struct topology *topology, int part,
                                              struct error *err);
/* Returns whether this process has the arrays of the part. */
bool topology_part_is_open(const struct topology *topology, int part);
/* Opens all parts, using the threads of `pool`, which may be NULL. If several fail, reports the
 * failure of the lowest part. */
MUST_CHECK enum error_code topology_open_parts(const struct topology *topology,
                                               struct thread_pool *pool, struct error *err);
void topology_close(struct topology *topology);

/* Returns the bytes that topology_copy() needs. The parts need not be open. */
uint64_t topology_copy_bytes(const struct topology *topology);
/* Copies row starts and neighbours into memory on 2 MB pages, which all processes of the host share
 * if they have this topology (common/parallel/shared_area.h), and drops the pages of their files.
 * At most 16 MB for each thread are held twice meanwhile. All parts must be open. The other arrays
 * stay in the files. Calling it again succeeds. With `only_shared` it makes no copy that is private
 * to this process. `pool` may be NULL. Fails: ERROR_NO_MEMORY; the topology is then unchanged. */
MUST_CHECK enum error_code topology_copy(struct topology *topology, bool only_shared,
                                         struct thread_pool *pool, struct error *err);

static inline uint32_t topology_relations(const struct topology *t)
{
    return t->relation_count ? t->relation_count : 1;
}

/* Returns one relation in one part; its rows are the nodes of the target type. */
static inline const struct topology_part *topology_rows(const struct topology *t, int part,
                                                        uint32_t relation)
{
    return &t->part[(size_t)part * topology_relations(t) + relation];
}

/* Returns the part that owns `node`, which is below node_count. */
static inline int topology_part_of(const struct topology *t, uint32_t node)
{
    int low = 0, high = t->part_count;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (t->book[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static inline uint64_t topology_row_start(const struct topology_part *p, uint32_t row)
{
    return p
        ->row_start_chunk[row >> TOPOLOGY_CHUNK_SHIFT][row & ((1U << TOPOLOGY_CHUNK_SHIFT) - 1)];
}

static inline const uint32_t *topology_neighbor(const struct topology_part *p, uint64_t edge)
{
    return &p->neighbor_chunk[edge >> TOPOLOGY_CHUNK_SHIFT]
                             [edge & ((1U << TOPOLOGY_CHUNK_SHIFT) - 1)];
}

/* Returns how many edges a chunk of a column has, as a power of two: at most TOPOLOGY_CHUNK_SHIFT,
 * and at most 1 GiB. */
static inline unsigned topology_column_shift(enum edge_column column, uint32_t width)
{
    unsigned shift = TOPOLOGY_CHUNK_SHIFT;
    while (edge_column_bytes(column, width) << shift > UINT64_C(1) << 30)
        shift--;
    return shift;
}

/* Returns the sum of the weights of all edges of the row. If the node has no edge to itself, one of
 * weight 1 is added. Only for graphs with weights. */
static inline const float *topology_weight_sum(const struct topology_part *p, uint32_t row)
{
    return &p->weight_sum_chunk[row >> TOPOLOGY_CHUNK_SHIFT]
                               [row & ((1U << TOPOLOGY_CHUNK_SHIFT) - 1)];
}

/* Returns the values of an edge in a column that the graph has. */
static inline const void *topology_column(const struct topology_part *p, enum edge_column column,
                                          uint64_t edge)
{
    const unsigned shift = topology_column_shift(column, p->width.of[column]);
    return p->column_chunk[column][edge >> shift] +
           (edge & ((UINT64_C(1) << shift) - 1)) * edge_column_bytes(column, p->width.of[column]);
}

/* Returns the time of an edge, in a graph that has times (common/graph/edge_time.h). */
static inline int64_t topology_time(const struct topology_part *p, uint64_t edge)
{
    const enum edge_column column = edge_widths_time_column(&p->width);
    const struct edge_times time = {topology_column(p, column, edge), column == EDGE_TIME_F64};
    return edge_time_at(time, 0);
}

/* Returns the in-degree of row `row` without edges from the node to itself. `has_self_loops` says
 * whether there may be such edges. */
uint32_t topology_degree(const struct topology_part *part, uint32_t row, bool has_self_loops);
/* Returns the number of edges from `node` to itself, in its row of `length` edges from `start`
 * on. */
uint32_t topology_self_loops(const struct topology_part *part, uint64_t start, uint32_t length,
                             uint32_t node);

#endif
