/* Makes the held-out edges of a version. Declared in version_rows.h. */
#include "common/base/memory.h"
#include "store/objects/keys.h"
#include "store/versions/version_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct held_link {
    uint32_t target, source;
    uint16_t type; /* 0 if edges have no types */
    int64_t time;
    float label;
    uint64_t order; /* edges of the base come first */
    uint64_t index; /* in the list of the base, or in the fold's held edges */
};

struct held_links {
    struct held_link *link; /* [count] */
    uint64_t count, of_base;
};

/* The state of making the record, for a task on pairs. */
struct link_merger {
    const struct version_fold *fold;
    const struct edge_splits *base;
    struct repeated_edges *repeated; /* NULL if it is not wanted */
    struct held_links links[HELD_OUT_COUNT];
    /* [trained_count]: lines that stay of the base's given negatives for training edges */
    uint64_t *trained;
    uint64_t trained_count;
};

static int by_ends(const void *left, const void *right)
{
    const struct held_link *a = left, *b = right;
    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* --- which stay --- */

/* Returns whether an edge of the base stays, and converts its ends to the version. */
static bool stays(const struct version_fold *fold, uint32_t *source, uint32_t *target,
                  uint16_t type)
{
    const uint64_t key = (uint64_t)*target << 32 | *source;
    const uint64_t first = version_fold_first_gone(fold, key);
    *source = version_fold_number(fold, *source);
    *target = version_fold_number(fold, *target);
    return *source != NODE_GONE && *target != NODE_GONE &&
           !version_fold_is_gone(fold, first, key, fold->nodes.relation_count ? type : 0);
}

static void take_base(struct link_merger *m, int split)
{
    const struct edge_splits *base = m->base;
    struct held_links *links = &m->links[split];
    for (uint64_t i = 0; i < base->count[split]; i++) {
        struct held_link link = {.target = base->target[split][i],
                                 .source = base->source[split][i],
                                 .type = base->type[split] ? base->type[split][i] : 0,
                                 .time = base->is_timed ? edge_time_at(base->time[split], i) : 0,
                                 .label = base->is_labelled ? base->label[split][i] : 0,
                                 .order = links->count,
                                 .index = i};
        if (stays(m->fold, &link.source, &link.target, link.type))
            links->link[links->count++] = link;
    }
    links->of_base = links->count;
}

static void append_new(struct link_merger *m, int split)
{
    struct held_links *links = &m->links[split];
    for (uint64_t i = 0; i < m->fold->held_edges; i++) {
        const struct fold_edge *edge = &m->fold->held[i];
        const struct edge_columns_view *columns = fold_edge_columns(m->fold, edge);
        struct held_link link = {.target = edge->target,
                                 .source = edge->source,
                                 .type =
                                     (uint16_t)version_relation_of(m->fold, columns, edge->index),
                                 .order = links->count,
                                 .index = i};
        if (m->fold->delta[edge->delta].new_held[edge->index] != 1 + split)
            continue;
        link.time = edge_columns_time(columns, edge->index);
        if (columns->width.of[EDGE_LABEL])
            memcpy(&link.label, edge_columns_at(columns, EDGE_LABEL, edge->index),
                   sizeof link.label);
        links->link[links->count++] = link;
    }
}

/* Counts an edge that is left out because an equal one exists. */
static void note_repeated(const struct link_merger *m, const struct held_links *links,
                          const struct held_link *link)
{
    struct repeated_edges *repeated = m->repeated;
    if (!repeated || link->order < links->of_base)
        return;
    const struct fold_edge *edge = &m->fold->held[link->index];
    if (edge->delta + 1 != m->fold->depth)
        return;
    repeated->of_newest++;
    if (edge->index >= repeated->first)
        return;
    repeated->first = edge->index;
    repeated->source = link->source;
    repeated->target = link->target;
}

/* Takes the new edges of a split. If several join the same two nodes, only the earliest is an
 * example. Where repeated edges are kept, each is one; labelled edges are always separate examples,
 * unless one repeats another. */
static void take_new(struct link_merger *m, int split)
{
    struct held_links *links = &m->links[split];
    uint64_t count = 0;
    append_new(m, split);
    if (links->count == links->of_base)
        return;
    qsort(links->link, links->count, sizeof *links->link, by_ends);
    for (uint64_t i = 0; i < links->count; i++) {
        const struct held_link *link = &links->link[i];
        const struct held_link *last = count ? &links->link[count - 1] : NULL;
        const bool is_same = last && last->target == link->target && last->source == link->source &&
                             last->type == link->type;
        const bool is_again = is_same && !(last->time < link->time);
        if (m->fold->removes_repeated && (m->base->is_labelled ? is_again : is_same)) {
            if (m->base->is_labelled)
                note_repeated(m, links, link);
            continue;
        }
        links->link[count++] = *link;
    }
    links->count = count;
}

/* --- given negatives --- */

/* Counts the nodes of list `i` that stay. */
static uint64_t count_ends(const struct link_merger *m, const struct negative_ends *ends,
                           uint64_t i)
{
    uint64_t count = 0;
    for (uint64_t e = ends->start[i]; e < ends->start[i + 1]; e++)
        count += version_fold_number(m->fold, ends->node[e]) != NODE_GONE;
    return count;
}

/* Finds the lists of training edges that stay and keep at least one node. */
static enum error_code find_trained(struct link_merger *m, struct error *err)
{
    const struct trained_negatives *base = &m->base->trained;
    const enum error_code rc = memory_new(&m->trained, base->count, "given negatives", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < base->count; i++) {
        uint32_t source = base->source[i], target = base->target[i];
        const uint16_t type = base->type ? base->type[i] : 0;
        if (stays(m->fold, &source, &target, type) && count_ends(m, &base->ends, i))
            m->trained[m->trained_count++] = i;
    }
    return rc;
}

/* --- the record --- */

/* A layout of consecutive arrays, each at a multiple of eight. Without `data` it only measures. */
struct layout {
    uint8_t *data;
    uint64_t used;
};

static void *place(struct layout *layout, uint64_t count, size_t size)
{
    void *at = layout->data ? layout->data + layout->used : NULL;
    layout->used += (count * size + 7) / 8 * 8;
    return at;
}

static void put_ends(const struct link_merger *m, const struct negative_ends *ends, uint64_t i,
                     uint32_t *node, uint64_t *at)
{
    for (uint64_t e = ends->start[i]; e < ends->start[i + 1]; e++) {
        const uint32_t number = version_fold_number(m->fold, ends->node[e]);
        if (number != NODE_GONE)
            node[(*at)++] = number;
    }
}

static void lay_out_negatives(const struct link_merger *m, int split, struct edge_splits *out,
                              struct layout *layout)
{
    const struct negative_ends *base = &m->base->negative[split];
    const struct held_links *links = &m->links[split];
    uint64_t count = 0, at = 0;
    if (!base->start)
        return;
    for (uint64_t i = 0; i < links->count; i++)
        count += count_ends(m, base, links->link[i].index);
    uint64_t *start = place(layout, links->count + 1, sizeof *start);
    uint32_t *node = place(layout, count, sizeof *node);
    out->negative[split] = (struct negative_ends){start, node};
    for (uint64_t i = 0; layout->data && i < links->count; i++) {
        start[i] = at;
        put_ends(m, base, links->link[i].index, node, &at);
        start[i + 1] = at;
    }
}

/* Copies a column of held-out edges, `width` floats each: from the base's array for an edge of the
 * base, else from the delta that added it. */
static void copy_column(const struct link_merger *m, const struct held_links *links,
                        const float *base, enum edge_column column, uint32_t width, float *out)
{
    for (uint64_t i = 0; i < links->count; i++, out += width) {
        const struct held_link *link = &links->link[i];
        if (link->order < links->of_base) {
            memcpy(out, base + link->index * width, width * sizeof *out);
            continue;
        }
        const struct fold_edge *edge = &m->fold->held[link->index];
        memcpy(out, edge_columns_at(fold_edge_columns(m->fold, edge), column, edge->index),
               width * sizeof *out);
    }
}

static void lay_out_messages(const struct link_merger *m, int split, struct edge_splits *out,
                             struct layout *layout)
{
    const struct held_links *links = &m->links[split];
    const uint32_t dim = out->feature_dim;
    float *weight = out->has_weights ? place(layout, links->count, sizeof *weight) : NULL;
    float *feature = dim ? place(layout, links->count * dim, sizeof *feature) : NULL;
    out->weight[split] = weight;
    out->feature[split] = feature;
    if (layout->data && weight)
        copy_column(m, links, m->base->weight[split], EDGE_WEIGHT, 1, weight);
    if (layout->data && feature)
        copy_column(m, links, m->base->feature[split], EDGE_FEATURE, dim, feature);
}

static void lay_out_split(const struct link_merger *m, int split, struct edge_splits *out,
                          struct layout *layout)
{
    const struct held_links *links = &m->links[split];
    uint32_t *source = place(layout, links->count, sizeof *source);
    uint32_t *target = place(layout, links->count, sizeof *target);
    int64_t *time = out->is_timed ? place(layout, links->count, sizeof *time) : NULL;
    const bool are_doubles = m->base->time[split].are_doubles;
    float *label = out->is_labelled ? place(layout, links->count, sizeof *label) : NULL;
    const bool has_types = m->fold->base.edge_width.of[EDGE_TYPE] && links->count;
    uint16_t *type = has_types ? place(layout, links->count, sizeof *type) : NULL;
    for (uint64_t i = 0; layout->data && i < links->count; i++) {
        source[i] = links->link[i].source;
        target[i] = links->link[i].target;
        if (type)
            type[i] = links->link[i].type;
        if (time)
            edge_time_put(&time[i], are_doubles, links->link[i].time);
        if (label)
            label[i] = links->link[i].label;
    }
    out->count[split] = links->count;
    out->source[split] = source;
    out->target[split] = target;
    out->type[split] = type;
    out->time[split] = (struct edge_times){time, are_doubles};
    out->label[split] = label;
    lay_out_messages(m, split, out, layout);
    lay_out_negatives(m, split, out, layout);
}

static void lay_out_trained(const struct link_merger *m, struct edge_splits *out,
                            struct layout *layout)
{
    const struct trained_negatives *base = &m->base->trained;
    uint64_t count = 0, at = 0;
    if (m->trained_count == 0)
        return;
    for (uint64_t i = 0; i < m->trained_count; i++)
        count += count_ends(m, &base->ends, m->trained[i]);
    uint64_t *start = place(layout, m->trained_count + 1, sizeof *start);
    uint32_t *source = place(layout, m->trained_count, sizeof *source);
    uint32_t *target = place(layout, m->trained_count, sizeof *target);
    uint32_t *node = place(layout, count, sizeof *node);
    uint16_t *type = base->type ? place(layout, m->trained_count, sizeof *type) : NULL;
    out->trained = (struct trained_negatives){.count = m->trained_count,
                                              .source = source,
                                              .target = target,
                                              .type = type,
                                              .ends = {start, node}};
    for (uint64_t i = 0; layout->data && i < m->trained_count; i++) {
        source[i] = version_fold_number(m->fold, base->source[m->trained[i]]);
        target[i] = version_fold_number(m->fold, base->target[m->trained[i]]);
        if (type)
            type[i] = base->type[m->trained[i]];
        start[i] = at;
        put_ends(m, &base->ends, m->trained[i], node, &at);
        start[i + 1] = at;
    }
}

/* Keeps the sides of the base's nodes that stay. Those of new nodes follow from their edges
 * (stages/sampling/pairs/pair_sides.h). */
static void lay_out_left(const struct link_merger *m, struct edge_splits *out,
                         struct layout *layout)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < m->base->left_count; i++)
        count += version_fold_number(m->fold, m->base->left[i]) != NODE_GONE;
    uint32_t *left = place(layout, count, sizeof *left);
    uint64_t at = 0;
    for (uint64_t i = 0; layout->data && i < m->base->left_count; i++) {
        const uint32_t number = version_fold_number(m->fold, m->base->left[i]);
        if (number != NODE_GONE)
            left[at++] = number;
    }
    out->left = left;
    out->left_count = count;
}

static void lay_out(const struct link_merger *m, const uint64_t *train_class,
                    struct edge_splits *out, struct layout *layout)
{
    out->undirected = m->base->undirected;
    out->is_timed = m->base->is_timed;
    out->is_labelled = m->base->is_labelled;
    out->has_weights = m->base->has_weights;
    out->feature_dim = m->base->feature_dim;
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        lay_out_split(m, s, out, layout);
    lay_out_trained(m, out, layout);
    lay_out_left(m, out, layout);
    if (!train_class)
        return;
    uint64_t *classes = place(layout, m->base->class_count, sizeof *classes);
    if (layout->data && m->base->class_count)
        memcpy(classes, train_class, m->base->class_count * sizeof *classes);
    out->class_count = m->base->class_count;
    out->train_class = classes;
}

/* Checks that each held-out edge keeps at least one negative, because it is ranked among its
 * negatives. An update that removes the last one is refused. */
static enum error_code check_negatives(const struct link_merger *m, struct error *err)
{
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        for (uint64_t i = 0; m->base->negative[s].start && i < m->links[s].count; i++)
            if (m->links[s].link[i].order >= m->links[s].of_base ||
                count_ends(m, &m->base->negative[s], m->links[s].link[i].index) == 0)
                return error_set(err, ERROR_CORRUPT,
                                 "dataset %s: %s edge %" PRIu64
                                 " has no given negative, expected one",
                                 m->fold->kept.name, held_out_name[s], i);
    return ERROR_NONE;
}

static enum error_code find_links(struct link_merger *m, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++) {
        rc = memory_new(&m->links[s].link, m->base->count[s] + m->fold->held_edges,
                        "held-out edges", err);
        if (rc == ERROR_NONE) {
            take_base(m, s);
            take_new(m, s);
        }
    }
    if (rc == ERROR_NONE)
        rc = find_trained(m, err);
    return rc == ERROR_NONE ? check_negatives(m, err) : rc;
}

static enum error_code merge_splits(struct link_merger *m, const uint64_t *train_class,
                                    struct edge_splits *out, struct error *err)
{
    struct layout layout = {.data = NULL};
    enum error_code rc = find_links(m, err);
    if (rc == ERROR_NONE) {
        lay_out(m, train_class, out, &layout);
        rc = version_block(&out->view, m->fold, "held-out edges", layout.used, err);
    }
    if (rc == ERROR_NONE) {
        /* private until it is returned */
        memcpy(&layout.data, &out->view.data, sizeof layout.data);
        layout.used = 0;
        lay_out(m, train_class, out, &layout);
    }
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        memory_free(m->links[s].link);
    memory_free(m->trained);
    return rc;
}

/* Checks that held-out edges have types if and only if the edges of the dataset have. */
static enum error_code check_types(const struct link_merger *m, struct error *err)
{
    const struct edge_splits *base = m->base;
    const bool has_types = m->fold->base.edge_width.of[EDGE_TYPE] != 0;
    bool same = !base->trained.count || (base->trained.type != NULL) == has_types;
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        same &= !base->count[s] || (base->type[s] != NULL) == has_types;
    return same ? ERROR_NONE
                : error_set(err, ERROR_CORRUPT,
                            "%s: held-out edges %s types, expected as the dataset", base->view.key,
                            has_types ? "without" : "with");
}

enum error_code version_edge_splits(const struct version_fold *fold, struct store *store,
                                    const uint64_t *train_class, struct repeated_edges *repeated,
                                    struct edge_splits *out, struct error *err)
{
    struct edge_splits base;
    struct link_merger merger = {.fold = fold, .base = &base, .repeated = repeated};
    const struct key key = key_dataset(fold->base.id, "edge_splits");
    *out = (struct edge_splits){0};
    enum error_code rc =
        edge_splits_get(store, key.text, fold->base.id, fold->base.node_count, &base, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = check_types(&merger, err);
    if (rc == ERROR_NONE)
        rc = merge_splits(&merger, train_class, out, err);
    if (rc != ERROR_NONE)
        *out = (struct edge_splits){0};
    store_release_record(&base.view);
    return rc;
}
