/* The held-out edges of a version. Declared in version_rows.h. */
#include "common/base/memory.h"
#include "store/objects/keys.h"
#include "store/versions/version_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct held_link {
    uint32_t target, source;
    double time;
    uint64_t order; /* those of the base first */
};

struct held_links {
    struct held_link *link; /* [count] */
    uint64_t count;
};

static int by_ends(const void *left, const void *right)
{
    const struct held_link *a = left, *b = right;
    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->time < b->time || a->time > b->time)
        return a->time < b->time ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static bool is_gone(const struct version_fold *fold, uint32_t target, uint32_t source)
{
    const uint64_t key = (uint64_t)target << 32 | source;
    const uint64_t first = version_fold_first_gone(fold, key);
    return first < fold->gone_edges && fold->gone_edge[first] == key;
}

static void take_base(const struct version_fold *fold, const struct edge_splits *base, int split,
                      struct held_links *links)
{
    for (uint64_t i = 0; i < base->count[split]; i++) {
        const uint32_t source = base->source[split][i], target = base->target[split][i];
        const uint32_t from = version_fold_number(fold, source),
                       to = version_fold_number(fold, target);
        if (from == NODE_GONE || to == NODE_GONE || is_gone(fold, target, source))
            continue;
        links->link[links->count] = (struct held_link){
            .target = to,
            .source = from,
            .time = base->is_timed ? base->time[split][i] : 0,
            .order = links->count,
        };
        links->count++;
    }
}

/* Of a pair that is held out the earliest edge. */
static void take_new(const struct version_fold *fold, int split, struct held_links *links)
{
    const uint64_t of_base = links->count;
    uint64_t count = 0;
    for (uint64_t i = 0; i < fold->held_edges; i++) {
        const struct fold_edge *edge = &fold->held[i];
        const struct edge_columns_view *columns = fold_edge_columns(fold, edge);
        double time = 0;
        if (fold->delta[edge->delta].new_held[edge->index] != 1 + split)
            continue;
        if (columns->width.of[EDGE_TIME])
            memcpy(&time, edge_columns_at(columns, EDGE_TIME, edge->index), sizeof time);
        links->link[links->count] = (struct held_link){
            .target = edge->target, .source = edge->source, .time = time, .order = links->count};
        links->count++;
    }
    if (links->count == of_base)
        return;
    qsort(links->link, links->count, sizeof *links->link, by_ends);
    for (uint64_t i = 0; i < links->count; i++)
        if (count == 0 || links->link[count - 1].target != links->link[i].target ||
            links->link[count - 1].source != links->link[i].source)
            links->link[count++] = links->link[i];
    links->count = count;
}

/* The arrays of a split, from *at on. */
static void lay_out(const struct held_links *links, int split, struct edge_splits *out,
                    uint8_t **at)
{
    double *time = (double *)(void *)*at;
    uint32_t *source = (uint32_t *)(void *)(*at + links->count * sizeof *time);
    uint32_t *target = source + links->count;
    for (uint64_t i = 0; i < links->count; i++) {
        time[i] = links->link[i].time;
        source[i] = links->link[i].source;
        target[i] = links->link[i].target;
    }
    out->count[split] = links->count;
    out->source[split] = source;
    out->target[split] = target;
    out->time[split] = out->is_timed ? time : NULL;
    *at += links->count * (sizeof *time + 2 * sizeof *source);
}

static enum error_code merge_splits(const struct version_fold *fold, const struct edge_splits *base,
                                    struct edge_splits *out, struct error *err)
{
    struct held_links links[HELD_OUT_COUNT] = {{0}};
    uint64_t bytes = 0;
    enum error_code rc = ERROR_NONE;
    *out = (struct edge_splits){.undirected = base->undirected, .is_timed = base->is_timed};
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++) {
        rc = memory_new(&links[s].link, base->count[s] + fold->held_edges, "held-out edges", err);
        if (rc == ERROR_NONE) {
            take_base(fold, base, s, &links[s]);
            take_new(fold, s, &links[s]);
        }
        bytes += links[s].count * (sizeof(double) + 2 * sizeof(uint32_t));
    }
    if (rc == ERROR_NONE)
        rc = version_block(&out->view, fold, "held-out edges", bytes, err);
    if (rc == ERROR_NONE) {
        uint8_t *at = NULL;
        memcpy(&at, &out->view.data, sizeof at); /* it is ours until it is handed out */
        for (int s = 0; s < HELD_OUT_COUNT; s++)
            lay_out(&links[s], s, out, &at);
    }
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        memory_free(links[s].link);
    return rc;
}

enum error_code version_edge_splits(const struct version_fold *fold, struct store *store,
                                    struct edge_splits *out, struct error *err)
{
    struct edge_splits base;
    const struct key key = key_dataset(fold->base.id, "edge_splits");
    *out = (struct edge_splits){0};
    enum error_code rc =
        edge_splits_get(store, key.text, fold->base.id, fold->base.node_count, &base, err);
    if (rc != ERROR_NONE)
        return rc;
    if (base.is_labelled || base.type[0] || base.type[1] || base.negative[0].start ||
        base.negative[1].start || base.trained.count)
        rc = error_set(err, ERROR_CORRUPT,
                       "%s: expected links without types and given negatives, of which alone "
                       "versions are merged",
                       base.view.key);
    else
        rc = merge_splits(fold, &base, out, err);
    store_release_record(&base.view);
    return rc;
}
