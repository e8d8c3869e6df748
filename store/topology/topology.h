/*
 * topology - the in-neighbours of the nodes of one part, in a sealed LMDB file.
 *
 * partition writes it once; sample, infer and partition's own check read it. Node ids here are those
 * of the partition: part p owns book[p] .. book[p + 1]. Row v holds the sources of the edges that end
 * in v, ascending. Each array is stored in values of at most 1 GiB, built with MDB_WRITEMAP and
 * MDB_RESERVE; readers verify the hash of the whole file against its seal when its part is first needed, then open it
 * MDB_RDONLY | MDB_NOLOCK and get pointers without a copy. On network storage the file is copied to a
 * local scratch folder first (LMDB's rule), unless the storage is declared local.
 *
 * Whoever jumps about in the arrays wants them in memory (topology_copy.c). A mapped file lies on
 * pages of 4 KB unless the file system and the kernel joined them: ext4 before Linux 6.16 never does, and of
 * the files of one partition on 6.18 half was. On those nearly every access at a random place misses the
 * processor's table of pages too, and on a virtual machine that walk takes as long as the access. From a
 * copy on pages of 2 MB an edge is sampled in two thirds of the time (tests/bench/README.md).
 *
 * Each relation has arrays of its own: its rows are the nodes of its target type in the part, its neighbours of its source
 * type. A graph without relations is one relation, whose rows are all nodes.
 *
 * Of a vertex cut (stages/partition/methods/vertex_cut.h) the file of a part has the edges that the part holds, and these end
 * in nodes of any part: its rows are pieces of rows, and "row_node" says of which nodes, ascending. Whoever opens a part reads
 * the files of all parts and puts the rows of its own nodes together (topology_merge.h), so that a reader sees what it would
 * see of an edge cut in which each node is where its master is.
 *
 * Of a delta (store/records/partition_delta.h) the file of a part has, in the same form, the rows alone that are new or other than in
 * the base; whoever opens a part puts them together with the base's (topology_delta.h), and sees what it would see of a whole one.
 *
 * In the file, key "<array>/<chunk>" of relation 0, and "<relation>/<array>/<chunk>" (three digits) of the others, (five digits) holds one chunk: "row_start", "neighbor", each edge column that there
 * is by its name (common/graph/edge_column.h), and with weights "weight_sum", a number a node. A value is at least
 * 4 KiB, filled up with zeros: LMDB gives a large value pages of its own, aligned to 16 bytes, and would squeeze a small
 * one between others at an odd address. How much of it counts is in the seal.
 */
#ifndef STORE_TOPOLOGY_TOPOLOGY_H
#define STORE_TOPOLOGY_TOPOLOGY_H

#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "common/parallel/shared_area.h"
#include "store/objects/store.h"
#include "store/records/partition_book.h"

#include <stdbool.h>
#include <stdint.h>

enum { TOPOLOGY_CHUNK_SHIFT = 27, TOPOLOGY_CHUNK_COUNT_MAX = 4096 };

/* The arrays of one relation in one part to be written; all borrowed. */
struct topology_arrays {
    uint32_t first_node;
    uint32_t node_count;
    uint64_t edge_count;
    const uint64_t *row_start;        /* [node_count + 1], row_start[0] = 0 */
    const uint32_t *neighbor;         /* [edge_count], partition node ids */
    struct edge_columns_view columns; /* [edge_count] */
};

/* Builds the file in scratch, publishes the artifact and its seal. Doing it again is success.
 * Fails: ERROR_IO, ERROR_NO_MEMORY; ERROR_CORRUPT when another file of that name is there. */
MUST_CHECK enum error_code topology_write(struct store *store, const char *partition_id, int part,
                                          const struct topology_arrays *arrays, struct error *err);

/* The same of a part of several relations: relation [relation_count], with the same edge columns; their rows lie among
 * the nodes [first_node, first_node + node_count) of the part. */
MUST_CHECK enum error_code topology_write_relations(struct store *store, const char *partition_id,
                                                    int part, uint32_t first_node,
                                                    uint32_t node_count,
                                                    const struct topology_arrays *relation,
                                                    uint32_t relation_count, struct error *err);

/* The edges that a part of a vertex cut holds, or of one relation those that a part of a delta has; all borrowed. */
struct topology_held {
    uint32_t first_node,
        node_count; /* the nodes of the part: those whose master is here; of a relation its target type's */
    uint64_t own_edge_count; /* edges that end in them, in whatever part or file they are */
    uint32_t row_count;
    uint64_t edge_count;
    const uint32_t
        *row_node; /* [row_count], partition node ids, ascending; of a vertex cut of any part */
    const uint64_t *row_start; /* [row_count + 1], row_start[0] = 0 */
    const uint32_t *neighbor;  /* [edge_count], ascending in a row */
    struct edge_columns_view columns;
};
/* The same of a part of a vertex cut, of a graph without relations. All edges between two nodes are in one part. */
MUST_CHECK enum error_code topology_write_held(struct store *store, const char *partition_id,
                                               int part, const struct topology_held *held,
                                               struct error *err);

/* What the file of a part of a delta has: the rows alone that are new or other than in `base`; all borrowed. */
struct topology_other {
    const char *base;
    uint32_t first_node, node_count;      /* the nodes of the part */
    const struct topology_held *relation; /* [relation_count], with the same edge columns */
    uint32_t relation_count;
};
/* The same of a part of a delta. */
MUST_CHECK enum error_code topology_write_delta(struct store *store, const char *partition_id,
                                                int part, const struct topology_other *other,
                                                struct error *err);

struct topology_part;
struct topology_base; /* topology_delta.h */

struct topology { /* {0} is closed; the parts of one partition, opened together */
    int part_count;
    uint32_t relation_count; /* 0 is 1 */
    uint32_t node_count;
    uint64_t edge_count;
    struct edge_widths width; /* of the edge columns */
    bool is_vertex_cut, is_delta;
    bool is_at_random;    /* topology_ahead.h: rows are asked for before they are read */
    const uint32_t *book; /* [part_count + 1], owned */
    /* [node_count] when nodes appear; borrowed, and given by the caller. NULL: they are always there. */
    const int64_t *node_time;
    struct topology_part *part; /* [part_count, relation_count], owned */
    struct topology_base *base; /* of a delta, owned; NULL: it is whole */
    struct topology_source
        *source; /* [part_count], owned, topology.c's; NULL: the arrays are the caller's */
    struct checksum content; /* of all files, by their seals */
    struct shared_area copy; /* {0}: the arrays are in the files */
};

/* What a reader needs of one relation in one part; inlined in hot loops. Arrays of 2^27 elements a chunk, there once the part is open. */
struct topology_part {
    uint32_t first_node;
    uint32_t node_count;
    uint64_t edge_count;
    const uint64_t **row_start_chunk; /* element v in [v >> 27][v & (2^27 - 1)] */
    const uint32_t **neighbor_chunk;
    struct edge_widths width;
    const char **column_chunk[EDGE_COLUMN_COUNT]; /* NULL where there is none: topology_column() */
    const float **weight_sum_chunk;               /* NULL without weights: topology_weight_sum() */
};

/* Opens the partition `book`, which is borrowed during the call: its seals are read, no file is. Counts and widths of all
 * parts are there, their arrays once a part is open. A process opens a partition once and shares it between its threads.
 * Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming the artifact that does not fit the book or the others; ERROR_IO;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code topology_open(struct store *store, const struct partition_book *book,
                                         struct topology *out, struct error *err);
/* Has the arrays of a part at hand, from a file on a file system of this host (store/objects/artifact_cache.h) that was
 * hashed, on its way here if it had to be fetched. Before anything is read of the part; doing it again is success and
 * costs a lock. One that failed may be tried again. Of a vertex cut the files of all parts, of a delta that of the base too, and the
 * part's rows lie in a file in scratch of this process, as large as that of an edge cut written whole; then also ERROR_NO_SPACE.
 * Fails:   ERROR_NOT_FOUND; ERROR_CORRUPT naming the artifact, hash expected and found; ERROR_IO; ERROR_NO_MEMORY.
 * Threads: any number, parts side by side. */
MUST_CHECK enum error_code topology_open_part(const struct topology *topology, int part,
                                              struct error *err);
/* Has this process the arrays of the part at hand? */
bool topology_part_is_open(const struct topology *topology, int part);
/* All of them, by the threads of `pool`, which may be NULL. Of several failures that of the lowest part is told. */
MUST_CHECK enum error_code topology_open_parts(const struct topology *topology,
                                               struct thread_pool *pool, struct error *err);
void topology_close(struct topology *topology);

/* What topology_copy() takes; no part need be open. */
uint64_t topology_copy_bytes(const struct topology *topology);
/* Has row starts and neighbours in memory on 2 MB pages, which all processes of the host that have this topology
 * share (common/parallel/shared_area.h), and lets go of their pages of the files; no more than 16 MB a thread are
 * held twice meanwhile. All parts are open before. The other arrays stay in the files. Doing it again is success.
 * `only_shared`: rather not at all than in memory of this process alone. `pool` may be NULL.
 * Fails: ERROR_NO_MEMORY; the topology is as before. */
MUST_CHECK enum error_code topology_copy(struct topology *topology, bool only_shared,
                                         struct thread_pool *pool, struct error *err);

static inline uint32_t topology_relations(const struct topology *t)
{
    return t->relation_count ? t->relation_count : 1;
}

/* One relation in one part: its rows are those of the target type's nodes. */
static inline const struct topology_part *topology_rows(const struct topology *t, int part,
                                                        uint32_t relation)
{
    return &t->part[(size_t)part * topology_relations(t) + relation];
}

/* The part that owns `node`; node < node_count. */
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

/* Edges in a chunk of a column, as a power of two: at most TOPOLOGY_CHUNK_SHIFT, and 1 GiB. */
static inline unsigned topology_column_shift(enum edge_column column, uint32_t width)
{
    unsigned shift = TOPOLOGY_CHUNK_SHIFT;
    while (edge_column_bytes(column, width) << shift > UINT64_C(1) << 30)
        shift--;
    return shift;
}

/* The sum of the weights of all edges of the row; one that has no edge from its own node counts it with weight 1. With
 * weights only. */
static inline const float *topology_weight_sum(const struct topology_part *p, uint32_t row)
{
    return &p->weight_sum_chunk[row >> TOPOLOGY_CHUNK_SHIFT]
                               [row & ((1U << TOPOLOGY_CHUNK_SHIFT) - 1)];
}

/* The values of an edge in a column that there is. */
static inline const void *topology_column(const struct topology_part *p, enum edge_column column,
                                          uint64_t edge)
{
    const unsigned shift = topology_column_shift(column, p->width.of[column]);
    return p->column_chunk[column][edge >> shift] +
           (edge & ((UINT64_C(1) << shift) - 1)) * edge_column_bytes(column, p->width.of[column]);
}

/* The time of an edge of a graph that has times (common/graph/edge_time.h). */
static inline int64_t topology_time(const struct topology_part *p, uint64_t edge)
{
    const enum edge_column column = edge_widths_time_column(&p->width);
    const struct edge_times time = {topology_column(p, column, edge), column == EDGE_TIME_F64};
    return edge_time_at(time, 0);
}

/* In-degree of row `row` without edges from a node to itself, of which `has_self_loops` says whether there may be any. */
uint32_t topology_degree(const struct topology_part *part, uint32_t row, bool has_self_loops);
/* Edges from `node` to itself, in its row of `length` edges from `start` on. */
uint32_t topology_self_loops(const struct topology_part *part, uint64_t start, uint32_t length,
                             uint32_t node);

#endif
