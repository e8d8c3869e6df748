/*
 * version_fold - the deltas of a chain of versions put together: what the newest has other than the last one that is stored whole.
 *
 *   base (whole) <── delta <── delta <── delta = version          one fold: nodes, edges and rows that are other than the base's
 *
 * Of each type the nodes of the base that stay come first, in their order, then those that were added since and are there still. An edge is
 * gone when any delta since it came removes it, or one of its ends. Of rows the last one counts. Everything is in memory by index alone: values stay in the
 * records of the deltas, which are held. So it takes about 32 bytes for an edge that was added or removed and 16 for a row, whatever the
 * graph's size; a bit and a half for each node of the base when some are gone; of a dataset of many graphs what fold_graphs.h says.
 *
 * A fold is made once for each open store and version (objects/store_kept.h), and does not change: any threads read it.
 */
#ifndef STORE_VERSIONS_VERSION_FOLD_H
#define STORE_VERSIONS_VERSION_FOLD_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/objects/store_kept.h"
#include "store/records/dataset_delta.h"
#include "store/records/dataset_merge.h"
#include "store/records/dataset_schema.h"
#include "store/versions/delta_numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODE_GONE UINT32_MAX

struct fold_edge {           /* one that was added, as it lies in a row */
    uint32_t target, source; /* nodes of the version */
    uint32_t delta;          /* which, and which edge of it */
    uint32_t is_way_back;    /* of an undirected edge */
    uint64_t index;
};

struct fold_row {
    uint32_t node;
    uint32_t delta;
    uint64_t first; /* its numbers begin there, in the delta's */
};

struct
    fold_gone { /* edges of the base that are gone: all of the same ends, and relation where there are several */
    uint64_t key; /* target and source in the base's numbers */
    uint32_t relation;
};

struct fold_node {
    uint32_t delta, index;
};

struct fold_graphs {     /* of a dataset of many graphs; {0}: it is one */
    uint32_t base_count; /* graphs of the base, */
    uint32_t count;      /* and of the version */
    uint32_t kept_count, added_count;
    uint32_t *kept_graph;     /* [kept_count] those of the base that stay, ascending */
    struct fold_node *added;  /* [added_count] those that came, which follow them */
    uint32_t *graph_of_added; /* [added_nodes] the graph of each added node, in the version */
};

struct version_fold {
    struct kept_object kept; /* named by the version */
    struct dataset_schema base;
    bool skips_self_loops, removes_repeated;
    size_t depth;
    struct dataset_delta *delta; /* [depth] the oldest first */
    uint64_t delta_bytes;        /* that all of them say */
    /* Nodes, as one delta from the base says them, and what that makes of their numbers. */
    struct dataset_delta nodes; /* no more of it than delta_numbers.h reads */
    struct delta_numbers numbers;
    uint32_t base_of_type[NODE_TYPE_COUNT_MAX], added_of_type[NODE_TYPE_COUNT_MAX];
    uint32_t node_count;
    bool moves; /* some node of the base has another number */
    uint32_t gone_nodes;
    uint32_t *gone;        /* [gone_nodes] of the base, ascending */
    uint64_t *gone_bits;   /* [base nodes / 64 + 1] or NULL when none is gone */
    uint32_t *gone_before; /* [the same] gone nodes before those of a word */
    uint32_t added_nodes;
    struct fold_node *added; /* [added_nodes] type by type */
    /* Edges. */
    uint64_t gone_edges;
    struct fold_gone *gone_edge; /* [gone_edges] ascending; of an undirected graph both ways */
    uint64_t added_edges;
    struct fold_edge *
        edge; /* [added_edges] by target, source, columns that distinguish, and the order in which they came */
    uint64_t held_edges;
    struct fold_edge *
        held; /* [held_edges] that are held out, likewise; of an undirected graph once, from the smaller end */
    /* Rows that are new or other. */
    uint64_t rows;
    struct fold_row *row; /* [rows] by node */
    struct fold_graphs graphs;
};

/* Of the deltas from `base_id`, which is whole, to `id`, whose own record "merge" need not be there yet.
 * Owns: *out; give it back with version_fold_drop().
 * Fails: ERROR_CORRUPT for a chain that does not fit together; ERROR_NOT_FOUND; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code version_fold_make(struct store *store, const char *id,
                                             const char *base_id, bool skips_self_loops,
                                             bool removes_repeated, struct version_fold **out,
                                             struct error *err);
/* Of a version as its record "merge" has it, which is not read again when it was read before. Fails: as above. */
MUST_CHECK enum error_code version_fold_get(struct store *store, const char *id,
                                            const struct dataset_merge *merge,
                                            struct version_fold **out, struct error *err);
void version_fold_drop(struct version_fold *fold);

/* Nodes of the version that stand one behind the other where they come from, too. */
struct version_run {
    uint32_t node, count;
    bool is_added;
    uint32_t from; /* the first of them, in the base or in fold->added */
};
/* The longest that begins at `node` and ends at or before `end`, both of the version, node < end. */
struct version_run version_fold_run(const struct version_fold *fold, uint32_t node, uint32_t end);
/* What a node of the base is in the version, or NODE_GONE. */
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

/* The first of gone_edge that is `key`, target and source, or behind it; gone_edges: none. */
uint64_t version_fold_first_gone(const struct version_fold *fold, uint64_t key);
/* The first of the rows that is of `node`, or of one behind it; fold->rows: none. */
uint64_t version_fold_first_row(const struct version_fold *fold, uint32_t node);
/* Whether edges of `key` in a relation are gone, `first` being what version_fold_first_gone() says of it. */
static inline bool version_fold_is_gone(const struct version_fold *fold, uint64_t first,
                                        uint64_t key, uint32_t relation)
{
    while (first < fold->gone_edges && fold->gone_edge[first].key == key &&
           fold->gone_edge[first].relation < relation)
        first++;
    return first < fold->gone_edges && fold->gone_edge[first].key == key &&
           fold->gone_edge[first].relation == relation;
}

/* Relations that edges of a graph are removed by, 0: they are not told apart. */
uint32_t version_relation_count(const struct dataset_schema *schema);
/* The relation of an edge, of which version_fold_is_gone() asks. */
static inline uint32_t version_relation_of(const struct version_fold *fold,
                                           const struct edge_columns_view *columns, uint64_t edge)
{
    return fold->nodes.relation_count ? ((const uint16_t *)columns->data[EDGE_TYPE])[edge] : 0;
}

/* What its nodes, or its graphs, have labels of, or NULL. */
static inline const struct task *version_label_task(const struct dataset_schema *schema)
{
    return task_has(schema->task, TASK_LABELS_NODES | TASK_HAS_GRAPHS) ? task_of(schema->task)
                                                                       : NULL;
}

/* The columns of an added edge: index edge->index of what is returned. */
static inline const struct edge_columns_view *fold_edge_columns(const struct version_fold *fold,
                                                                const struct fold_edge *edge)
{
    return &fold->delta[edge->delta].columns;
}

#endif
