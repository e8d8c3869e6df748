/*
 * GAT, computed on rows as they are stored (common/nn/layers/attention/gat_windows.h). The shape
 * of a tile decides whether it is summed.
 */
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "stages/infer/rows/layer_reads.h"
#include "stages/infer/windows/window_kind.h"
#include "store/features/feature_shard.h"

static bool is_possible(const struct model *model, int layer)
{
    for (uint32_t t = 0; layer == 0 && t < model->config.types.schema.type_count; t++)
        if (model->config.types.projects[t])
            return false;
    return gat_windows_are_possible(&model->layer[layer]);
}

/* Returns whether all relations to the type of a tile are computed on rows as they are stored. */
static bool takes(const struct source_windows *w, uint32_t destinations, const uint32_t *sources)
{
    struct model_layer layer = *w->layer;
    bool all = true;
    for (uint32_t r = 0; r < w->relation_count; r++) {
        const uint32_t type = w->relation[r].source_type;
        layer.input_dim = w->relation[r].columns;
        if (w->relation[r].part)
            all &= gat_windows_pay(&layer, destinations, sources[type] ? sources[type] : 1);
    }
    return all;
}

static size_t features_of(const struct source_windows *w)
{
    return (size_t)w->layer->edge_dim * WINDOW_EDGES_MAX;
}

/* Returns the floats needed. A thread's scratch begins with the features of edges. */
static struct window_floats floats(const struct source_windows *w, uint32_t columns)
{
    return (struct window_floats){.destination = gat_windows_row(w->layer, columns),
                                  .source = columns,
                                  .scratch = features_of(w) + gat_windows_scratch(w->layer)};
}

static uint64_t bytes(const struct source_windows *w)
{
    uint64_t sum = 0;
    for (uint32_t r = 0; r < w->relation_count; r++) {
        const struct relation *ends = partition_book_relation(w->of->context->book, r);
        sum += sizeof *w->gat + gat_windows_bytes(w->layer, w->relation[r].columns,
                                                  layer_reads_columns(w->of->model, w->layer_number,
                                                                      ends->target_type),
                                                  window_nodes(w, ends->source_type));
    }
    return sum;
}

static uint64_t source_bytes(const struct source_windows *w)
{
    (void)w;
    return 0;
}

static void release(struct source_windows *w)
{
    for (uint32_t r = 0; w->gat && r < w->relation_count; r++)
        gat_windows_release(&w->gat[r]);
    memory_free(w->gat);
}

static void read_block(void *context, int64_t block, int thread)
{
    struct source_windows *w = context;
    const uint32_t first = window_block_first(w, block);
    (void)thread;
    window_read_rows(w, first, w->block_end[block], block, window_row(w, first));
}

/* Rows in a piece. */
enum { TERM_ROWS = FEATURE_BLOCK_ROWS };

/* Finds the rows of a block or piece of the window. Returns the first row. */
static uint32_t piece_rows(const struct source_windows *w, int64_t piece, uint32_t *end)
{
    const uint32_t at = w->window_first + (uint32_t)piece * TERM_ROWS;
    if (w->block_count) {
        *end = w->block_end[piece];
        return window_block_first(w, piece);
    }
    *end = w->window_end - at < TERM_ROWS ? w->window_end : at + TERM_ROWS;
    return at;
}

static void read_terms(void *context, int64_t piece, int thread)
{
    struct source_windows *w = context;
    uint32_t end = 0;
    const uint32_t at = piece_rows(w, piece, &end);
    (void)thread;
    if (!window_read_rows(w, at, end, piece, window_row(w, at)))
        return;
    for (uint32_t r = 0; r < w->relation_count; r++)
        if (w->relation[r].source_type == w->source_type)
            gat_windows_read(&w->gat[r], at, end - at, window_row(w, at));
}

/* Computes the terms of destinations, for each relation in which they have a row. */
static void read_own_terms(void *context, int64_t piece, int thread)
{
    struct source_windows *w = context;
    uint32_t end = 0;
    const uint32_t at = piece_rows(w, piece, &end);
    (void)thread;
    if (!window_read_rows(w, at, end, piece, window_row(w, at)))
        return;
    for (uint32_t r = 0; r < w->relation_count; r++) {
        const struct relation_window *own = &w->relation[r];
        for (uint32_t i = window_rows_place_of(own, at - w->begin);
             i < own->count && relation_window_row(own, i) + w->begin < end; i++)
            gat_windows_read_own(&w->gat[r], window_row(w, relation_window_row(own, i) + w->begin),
                                 relation_window_sum(own, i));
    }
}

/* Reads rows first .. end - 1 of a type, in whole blocks or in pieces. */
static enum error_code pass_rows(struct source_windows *w, uint32_t type, uint32_t first,
                                 uint32_t end, bool by_blocks, thread_pool_body body,
                                 struct error *err)
{
    enum error_code rc = ERROR_NONE;
    w->held_type = UINT32_MAX;
    window_begin_type(w, type);
    for (uint32_t at = first; rc == ERROR_NONE && at < end; at = w->window_end) {
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "stopped inside a part");
        w->window_first = at;
        w->window_end = end - at < window_room(w) ? end : at + window_room(w);
        w->block_count = 0;
        if (by_blocks)
            window_place(w, at);
        const int64_t pieces = ((int64_t)w->window_end - at + TERM_ROWS - 1) / TERM_ROWS;
        rc = window_run(w, by_blocks ? w->block_count : pieces, body, err);
    }
    window_count_rows(w, type, end - first);
    return rc;
}

/* Computes the terms of all sources of each relation. Their rows are read once. */
static enum error_code open_terms(struct source_windows *w, struct error *err)
{
    bool begins[RELATION_TYPE_COUNT_MAX] = {false};
    enum error_code rc = memory_new(&w->gat, w->relation_count, "terms of attention", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < w->relation_count; r++) {
        const uint32_t type = w->relation[r].source_type;
        begins[type] = true;
        rc = gat_windows_init(&w->gat[r], w->of->model, w->config.weights, w->layer_number, r,
                              window_nodes(w, type), err);
    }
    for (uint32_t t = 0; rc == ERROR_NONE && t < w->ranges.type_count; t++) {
        const struct feature_source *source = type_inputs_source(w->config.inputs, t);
        if (begins[t] && source)
            rc = pass_rows(w, t, 0, window_nodes(w, t), !feature_source_is_resident(source),
                           read_terms, err);
    }
    return rc;
}

/* Computes the terms of the destinations from their own rows. */
static enum error_code begin_rows(struct source_windows *w, struct error *err)
{
    return pass_rows(w, w->type, w->first, w->end, false, read_own_terms, err);
}

static struct gat_windows *window_gat(const struct source_windows *w)
{
    return &w->gat[w->at_work];
}

/* Returns room for the features of edges; NULL if edges have none. */
static float *feature_room(const struct source_windows *w, int thread)
{
    return w->layer->edge_dim ? window_scratch(w, thread) : NULL;
}

/* Adds the features of a destination's edges to its own score. */
static void find_own_edges(struct source_windows *w, int thread, uint32_t i)
{
    struct edge_walk walk = edge_walk_all(w, thread, i, feature_room(w, thread));
    float *scratch = window_scratch(w, thread) + features_of(w),
          *sum = relation_window_sum(window_relation(w), i);
    uint64_t count = 0;
    gat_windows_clear(window_gat(w), sum);
    for (; edge_walk_next(&walk); count += walk.edges.count)
        gat_windows_own_edges(window_gat(w), &walk.edges, scratch, sum);
    gat_windows_own_count(window_gat(w), count, sum);
}

/* Computes the maximum and the total for the shares of a destination's edges, from the terms of
 * its sources. */
static void begin_shares(struct source_windows *w, int thread, uint32_t i)
{
    float *feature = feature_room(w, thread);
    float *scratch = window_scratch(w, thread) + features_of(w),
          *sum = relation_window_sum(window_relation(w), i);
    if (feature && window_gat(w)->has_own)
        find_own_edges(w, thread, i);
    gat_windows_begin(window_gat(w), w->first + i, sum);
    struct edge_walk walk = edge_walk_all(w, thread, i, feature);
    while (edge_walk_next(&walk))
        gat_windows_greatest(window_gat(w), &walk.edges, scratch, sum);
    walk = edge_walk_all(w, thread, i, feature);
    while (edge_walk_next(&walk))
        gat_windows_total(window_gat(w), &walk.edges, scratch, sum);
    gat_windows_share(window_gat(w), w->first + i, sum);
}

/* Adds the edges from the window to these destinations, weighted by their shares. The first
 * window begins the shares. */
static void add(struct source_windows *w, int thread, uint32_t first, uint32_t end)
{
    float *scratch = window_scratch(w, thread) + features_of(w);
    for (uint32_t i = first; i < end; i++) {
        if (w->window_first == 0)
            begin_shares(w, thread, i);
        struct edge_walk walk = edge_walk_window(w, thread, i, feature_room(w, thread));
        while (edge_walk_next(&walk))
            gat_windows_add(window_gat(w), &walk.edges, w->window_first, &w->rows, scratch,
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
    .begin = begin_rows,
    .read = read_block,
    .add = add,
};
