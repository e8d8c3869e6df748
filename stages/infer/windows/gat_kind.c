/* GAT, on rows as they are (common/nn/layers/gat_windows.h). Its tiles are summed by their
 * shape. */
#include "common/base/stop_signal.h"
#include "stages/infer/layer_reads.h"
#include "stages/infer/windows/window_kind.h"
#include "store/features/feature_shard.h"

static bool is_possible(const struct model *model, int layer)
{
    return !layer_reads_listed_rows(model) && gat_windows_are_possible(&model->layer[layer]);
}

static bool takes(const struct model_layer *layer, uint32_t destinations, uint32_t sources)
{
    return gat_windows_pay(layer, destinations, sources);
}

static size_t features_of(const struct source_windows *w)
{
    return (size_t)w->layer->edge_dim * WINDOW_EDGES_MAX;
}

/* Of a thread's scratch the first floats are the features of edges. */
static struct window_floats floats(const struct source_windows *w, uint32_t columns)
{
    return (struct window_floats){.destination = gat_windows_row(w->layer),
                                  .source = columns,
                                  .scratch = features_of(w) + gat_windows_scratch(w->layer)};
}

static uint64_t bytes(const struct source_windows *w)
{
    return gat_windows_bytes(w->layer, w->of->topology->node_count);
}

static uint64_t source_bytes(const struct source_windows *w)
{
    (void)w;
    return 0;
}

static void release(struct source_windows *w)
{
    gat_windows_release(&w->gat);
}

static void read_block(void *context, int64_t block, int thread)
{
    struct source_windows *w = context;
    const uint32_t first = window_block_first(w, block);
    (void)thread;
    window_read_rows(w, first, w->block_end[block], block, window_row(w, first));
}

static void read_terms_of_block(void *context, int64_t block, int thread)
{
    struct source_windows *w = context;
    const uint32_t first = window_block_first(w, block), end = w->block_end[block];
    (void)thread;
    if (window_read_rows(w, first, end, block, window_row(w, first)))
        gat_windows_read(&w->gat, first, end - first, window_row(w, first));
}

/* The terms of all nodes: all rows go by once. */
static enum error_code open_terms(struct source_windows *w, struct error *err)
{
    const uint32_t count = w->of->topology->node_count;
    enum error_code rc =
        gat_windows_init(&w->gat, w->of->model, w->config.weights, w->layer_number, count, err);
    for (uint32_t at = 0; rc == ERROR_NONE && at < count; at = w->window_end) {
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "stopped inside a part");
        window_place(w, at);
        rc = window_run(w, w->block_count, read_terms_of_block, err);
    }
    window_count_rows(w, w->source_type, count);
    return rc;
}

/* Own rows in pieces of this many. */
enum { OWN_ROWS = FEATURE_BLOCK_ROWS };

static void read_own_rows(void *context, int64_t piece, int thread)
{
    struct source_windows *w = context;
    const uint32_t at = w->window_first + (uint32_t)piece * OWN_ROWS, left = w->window_end - at;
    const uint32_t end = left < OWN_ROWS ? w->window_end : at + OWN_ROWS;
    (void)thread;
    if (window_read_rows(w, at, end, piece, window_row(w, at)))
        gat_windows_read_own(&w->gat, end - at, window_row(w, at),
                             relation_window_sum(window_relation(w), at - w->first));
}

/* The terms of the destinations, from their own rows. */
static enum error_code read_own_terms(struct source_windows *w, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    w->held_type = UINT32_MAX;
    for (uint32_t at = w->first; rc == ERROR_NONE && at < w->end; at = w->window_end) {
        w->window_first = at;
        w->window_end = w->end - at < window_room(w) ? w->end : at + window_room(w);
        rc = window_run(w, ((int64_t)w->window_end - at + OWN_ROWS - 1) / OWN_ROWS, read_own_rows,
                        err);
    }
    window_count_rows(w, w->type, w->end - w->first);
    return rc;
}

/* Room for features, where edges have some. */
static float *feature_room(const struct source_windows *w, int thread)
{
    return w->layer->edge_dim ? window_scratch(w, thread) : NULL;
}

/* What the features of its edges make of the destination's own score. */
static void find_own_edges(struct source_windows *w, int thread, uint32_t i)
{
    struct edge_walk walk = edge_walk_all(w, thread, i, feature_room(w, thread));
    float *scratch = window_scratch(w, thread) + features_of(w),
          *sum = relation_window_sum(window_relation(w), i);
    uint64_t count = 0;
    gat_windows_clear(&w->gat, sum);
    for (; edge_walk_next(&walk); count += walk.edges.count)
        gat_windows_own_edges(&w->gat, &walk.edges, scratch, sum);
    gat_windows_own_count(&w->gat, count, sum);
}

/* What the shares of a destination's edges are made of, from the terms of its sources. */
static void begin_shares(struct source_windows *w, int thread, uint32_t i)
{
    float *feature = feature_room(w, thread);
    float *scratch = window_scratch(w, thread) + features_of(w),
          *sum = relation_window_sum(window_relation(w), i);
    if (feature)
        find_own_edges(w, thread, i);
    gat_windows_begin(&w->gat, w->first + i, sum);
    struct edge_walk walk = edge_walk_all(w, thread, i, feature);
    while (edge_walk_next(&walk))
        gat_windows_greatest(&w->gat, &walk.edges, scratch, sum);
    walk = edge_walk_all(w, thread, i, feature);
    while (edge_walk_next(&walk))
        gat_windows_total(&w->gat, &walk.edges, scratch, sum);
    gat_windows_share(&w->gat, w->first + i, sum);
}

/* Adds the edges of these destinations from the window by their shares. */
static void add(struct source_windows *w, int thread, uint32_t first, uint32_t end)
{
    float *scratch = window_scratch(w, thread) + features_of(w);
    for (uint32_t i = first; i < end; i++) {
        if (w->window_first == 0)
            begin_shares(w, thread, i);
        struct edge_walk walk = edge_walk_window(w, thread, i, feature_room(w, thread));
        while (edge_walk_next(&walk))
            gat_windows_add(&w->gat, &walk.edges, w->window_first, w->window, scratch,
                            relation_window_sum(window_relation(w), i));
    }
}

const struct window_kind gat_window_kind = {
    .is_possible = is_possible,
    .takes = takes,
    .floats = floats,
    .bytes = bytes,
    .source_bytes = source_bytes,
    .open = open_terms,
    .release = release,
    .begin = read_own_terms,
    .read = read_block,
    .add = add,
};
