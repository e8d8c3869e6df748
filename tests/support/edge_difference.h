/* edge_difference - makes the update that turns one list of edges into another, for tests: all
 * edges between two ends are removed, and the new ones are added. */
#ifndef TESTS_SUPPORT_EDGE_DIFFERENCE_H
#define TESTS_SUPPORT_EDGE_DIFFERENCE_H

#include "common/base/memory.h"
#include "store/records/dataset/dataset_delta.h"

#include "tests/support/edge_values.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct plain_edge {
    uint32_t target, source;
    float weight;
};

struct plain_edges { /* {0} is empty; the array is freed by the caller */
    struct plain_edge *edge;
    uint64_t count;
    size_t room;
};

static inline void plain_edges_add(struct plain_edges *edges, uint32_t source, uint32_t target,
                                   float weight)
{
    must(memory_grow(&edges->edge, &edges->room, edges->count + 1, "edges", NULL) == ERROR_NONE);
    edges->edge[edges->count++] =
        (struct plain_edge){.target = target, .source = source, .weight = weight};
}

static inline int plain_edge_order(const void *left, const void *right)
{
    const struct plain_edge *a = left, *b = right;
    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return a->weight < b->weight ? -1 : a->weight > b->weight;
}

static inline uint64_t plain_edges_same(const struct plain_edges *edges, uint64_t at)
{
    uint64_t end = at;
    while (end < edges->count && edges->edge[end].target == edges->edge[at].target &&
           edges->edge[end].source == edges->edge[at].source)
        end++;
    return end - at;
}

/* The arrays of a delta. */
struct edge_difference {
    struct plain_edges gone, come;
    uint32_t *list; /* ends: sources and targets of removed edges, and of added edges */
    float *weight;  /* of added edges */
};

/* Sorts both lists, which number nodes as the delta does; an edge of an undirected graph is in them
 * once. */
static inline void edge_difference_make(struct plain_edges *base, struct plain_edges *version,
                                        struct edge_difference *out)
{
    uint64_t i = 0, j = 0;
    *out = (struct edge_difference){.list = NULL};
    if (base->count)
        qsort(base->edge, base->count, sizeof *base->edge, plain_edge_order);
    if (version->count)
        qsort(version->edge, version->count, sizeof *version->edge, plain_edge_order);
    while (i < base->count || j < version->count) {
        uint64_t old = plain_edges_same(base, i), new = plain_edges_same(version, j);
        const struct plain_edge *a = base->edge + i, *b = version->edge + j;
        must((base->edge || !old) && (version->edge || !new));
        if (old && new && (a->target != b->target || a->source != b->source)) {
            const bool first =
                a->target < b->target || (a->target == b->target && a->source < b->source);
            old = first ? old : 0;
            new = first ? 0 : new;
        }
        bool is_same = old == new;
        for (uint64_t k = 0; is_same && k < old; k++)
            is_same = plain_edge_order(a + k, b + k) == 0;
        if (!is_same && old)
            plain_edges_add(&out->gone, a->source, a->target, 0);
        for (uint64_t k = 0; !is_same && k < new; k++)
            plain_edges_add(&out->come, b[k].source, b[k].target, b[k].weight);
        i += old;
        j += new;
    }
}

/* Sets the arrays in the delta, which borrows them. */
static inline void edge_difference_fill(struct edge_difference *d, bool has_weights,
                                        struct dataset_delta *delta)
{
    const uint64_t gone = d->gone.count, come = d->come.count;
    must(memory_new(&d->list, 2 * (gone + come), "ends", NULL) == ERROR_NONE);
    must(memory_new(&d->weight, come, "weights", NULL) == ERROR_NONE);
    uint32_t *gone_source = d->list, *gone_target = gone_source + gone;
    uint32_t *source = gone_target + gone, *target = source + come;
    for (uint64_t i = 0; i < gone; i++) {
        gone_source[i] = d->gone.edge[i].source;
        gone_target[i] = d->gone.edge[i].target;
    }
    for (uint64_t i = 0; i < come; i++) {
        source[i] = d->come.edge[i].source;
        target[i] = d->come.edge[i].target;
        d->weight[i] = d->come.edge[i].weight;
    }
    delta->gone_edges = gone;
    delta->gone_source = gone_source;
    delta->gone_target = gone_target;
    delta->added_edges = come;
    delta->source = source;
    delta->target = target;
    if (come)
        delta->columns = edge_values(has_weights ? d->weight : NULL, NULL, NULL);
}

static inline void edge_difference_release(struct edge_difference *d)
{
    memory_free(d->gone.edge);
    memory_free(d->come.edge);
    memory_free(d->list);
    memory_free(d->weight);
    *d = (struct edge_difference){.list = NULL};
}

#endif
