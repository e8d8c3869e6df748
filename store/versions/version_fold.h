/*
 * version_fold - combines the deltas of a chain of versions: everything in which the newest version
 * differs from the last one that is stored whole.
 *
 *   base (whole) <── delta <── delta <── delta = version
 *                    \______________ one fold ______________/
 *
 * A fold lists the nodes, edges and rows that differ from the base. In each type, the nodes of the
 * base that stay come first, in their order, then those that were added since and still exist. An
 * edge is gone if a later delta removes it, or one of its ends. If a row was changed several times,
 * the last change counts. A fold has only indices in memory; values stay in the records of the
 * deltas, which it holds. It takes about 32 bytes for an edge that was added or removed and 16 for
 * a row, whatever the size of the graph; a bit and a half for each node of the base if any was
 * removed; and for a dataset of many graphs what fold_graphs.h says.
 *
 * A fold is made once for each open store and version (objects/store_kept.h) and never changes, so
 * that any threads may read it.
 */
#ifndef STORE_VERSIONS_VERSION_FOLD_H
#define STORE_VERSIONS_VERSION_FOLD_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/objects/store_kept.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/records/dataset/dataset_merge.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/versions/delta_numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODE_GONE UINT32_MAX

struct fold_edge {           /* an added edge, in the order of rows */
    uint32_t target, source; /* nodes of the version */
    uint32_t delta;          /* the delta and the index in it */
    uint32_t is_way_back;    /* the reverse of an undirected edge */
    uint64_t index;
};

struct fold_row {
    uint32_t node;
    uint32_t delta;
    uint64_t first; /* index of its first number in the delta */
};

/* removed edges of the base: all with the same ends, and relation if there are several */
struct fold_gone {
    uint64_t key; /* target and source, numbers of the base */
    uint32_t relation;
};

struct fold_node {
    uint32_t delta, index;
};

struct fold_graphs {     /* in a dataset of many graphs; {0} otherwise */
    uint32_t base_count; /* graphs of the base */
    uint32_t count;      /* graphs of the version */
    uint32_t kept_count, added_count;
    uint32_t *kept_graph;     /* [kept_count] graphs of the base that stay, ascending */
    struct fold_node *added;  /* [added_count] added graphs, which follow them */
    uint32_t *graph_of_added; /* [added_nodes] graph in the version of each added node */
};

struct version_fold {
    struct kept_object kept; /* its name is the version */
    struct dataset_schema base;
    bool skips_self_loops, removes_repeated;
    size_t depth;
    struct dataset_delta *delta; /* [depth], the oldest first */
    uint64_t delta_bytes;        /* size of all of them */
    /* All changes of nodes as one delta from the base, and the numbers that follow. */
    struct dataset_delta nodes; /* only the fields that delta_numbers.h reads */
    struct delta_numbers numbers;
    uint32_t base_of_type[NODE_TYPE_COUNT_MAX], added_of_type[NODE_TYPE_COUNT_MAX];
    uint32_t node_count;
    bool moves; /* some node of the base has another number in the version */
    uint32_t gone_nodes;
    uint32_t *gone;        /* [gone_nodes] removed nodes of the base, ascending */
    uint64_t *gone_bits;   /* [base nodes / 64 + 1]; NULL if none was removed */
    uint32_t *gone_before; /* [same]: removed nodes before the first one of a word */
    uint32_t added_nodes;
    struct fold_node *added; /* [added_nodes], type by type */
    /* Edges. */
    uint64_t gone_edges;
    struct fold_gone *gone_edge; /* [gone_edges], ascending; of an undirected graph both ways */
    uint64_t added_edges;
    /* [added_edges] by target, source, distinguishing columns, then the order in which they came */
    struct fold_edge *edge;
    uint64_t held_edges;
    /* [held_edges] held-out ones, likewise; an undirected edge once, from the smaller end */
    struct fold_edge *held;
    /* Rows that are new or changed. */
    uint64_t rows;
    struct fold_row *row; /* [rows], by node */
    struct fold_graphs graphs;
};

/* Makes the fold of the deltas from `base_id`, which is whole, to `id`, whose own record "merge"
 * need not exist yet. The caller gives *out back with version_fold_drop(). Fails: ERROR_CORRUPT for
 * a chain that does not match; ERROR_NOT_FOUND; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code version_fold_make(struct store *store, const char *id,
                                             const char *base_id, bool skips_self_loops,
                                             bool removes_repeated, struct version_fold **out,
                                             struct error *err);
/* Returns the fold of a version that has a record "merge". Makes it only if it is not cached.
 * Fails: as above. */
MUST_CHECK enum error_code version_fold_get(struct store *store, const char *id,
                                            const struct dataset_merge *merge,
                                            struct version_fold **out, struct error *err);
void version_fold_drop(struct version_fold *fold);

/* Consecutive nodes of the version that are also consecutive in their source. */
struct version_run {
    uint32_t node, count;
    bool is_added;
    uint32_t from; /* the first of them, in the base or in fold->added */
};
/* Returns the longest run that begins at `node` and ends at or before `end`; node < end. */
struct version_run version_fold_run(const struct version_fold *fold, uint32_t node, uint32_t end);
/* Returns the number in the version of a node of the base, or NODE_GONE. */
static inline uint32_t version_fold_number(const struct version_fold *fold, uint32_t node)
{
    const struct delta_numbers *numbers = &fold->numbers;
    uint32_t type = numbers->type_count - 1, number = node;
    if (!fold->moves)
        return node;
    if (fold->gone_bits) {
        const uint64_t word = fold->gone_bits[node / 64];
        if (word >> node % 64 & 1)
            return NODE_GONE;
        number -= fold->gone_before[node / 64] +
                  (uint32_t)__builtin_popcountll(word & ((UINT64_C(1) << node % 64) - 1));
    }
    while (type > 0 && node < numbers->base_first[type])
        type--;
    return number + numbers->added_first[type];
}

/* Returns the index of the first gone_edge whose key is at least `key` (target and source);
 * gone_edges if there is none. */
uint64_t version_fold_first_gone(const struct version_fold *fold, uint64_t key);
/* Returns the index of the first row whose node is at least `node`; fold->rows if there is none. */
uint64_t version_fold_first_row(const struct version_fold *fold, uint32_t node);
/* Returns whether edges of `key` in a relation are gone. `first` is version_fold_first_gone() of
 * the key. */
static inline bool version_fold_is_gone(const struct version_fold *fold, uint64_t first,
                                        uint64_t key, uint32_t relation)
{
    while (first < fold->gone_edges && fold->gone_edge[first].key == key &&
           fold->gone_edge[first].relation < relation)
        first++;
    return first < fold->gone_edges && fold->gone_edge[first].key == key &&
           fold->gone_edge[first].relation == relation;
}

/* Returns the number of relations that removals distinguish; 0 if they do not distinguish any. */
uint32_t version_relation_count(const struct dataset_schema *schema);
/* Returns the relation of an edge, in the form that version_fold_is_gone() takes. */
static inline uint32_t version_relation_of(const struct version_fold *fold,
                                           const struct edge_columns_view *columns, uint64_t edge)
{
    return fold->nodes.relation_count ? ((const uint16_t *)columns->data[EDGE_TYPE])[edge] : 0;
}

/* Returns the task whose labels the nodes, or graphs, have; NULL if they have none. */
static inline const struct task *version_label_task(const struct dataset_schema *schema)
{
    return task_has(schema->task, TASK_LABELS_NODES | TASK_HAS_GRAPHS) ? task_of(schema->task)
                                                                       : NULL;
}

/* Returns the columns of the delta of an added edge; the edge has index edge->index in them. */
static inline const struct edge_columns_view *fold_edge_columns(const struct version_fold *fold,
                                                                const struct fold_edge *edge)
{
    return &fold->delta[edge->delta].columns;
}

#endif
