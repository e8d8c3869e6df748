/*
 * GATv2, computed on projected rows (common/nn/layers/attention/gatv2_windows.h). A block of the
 * shards is projected at a time. Only the partition decides where blocks end, so no budget changes
 * a bit.
 */
#include "stages/infer/rows/layer_reads.h"
#include "stages/infer/windows/window_kind.h"
#include "store/features/feature_shard.h"

#include <string.h>

static bool is_possible(const struct model *model, int layer)
{
    return !layer_reads_listed_rows(model) && gatv2_windows_are_possible(&model->layer[layer]);
}

static size_t features_of(const struct source_windows *w)
{
    return (size_t)w->layer->edge_dim * (WINDOW_EDGES_MAX + 1);
}

/* Returns the floats needed. A thread's scratch holds a block as read and its projected rows, or
 * the features of edges and of the destination itself, and the scratch of gatv2_windows_add(). */
static struct window_floats floats(const struct source_windows *w, uint32_t columns)
{
    const size_t row = gatv2_windows_source_row(w->layer);
    const size_t reading = FEATURE_BLOCK_ROWS * (columns + row);
    const size_t adding = features_of(w) + gatv2_windows_scratch(w->layer);
    return (struct window_floats){.destination = gatv2_windows_row(w->layer),
                                  .source = row,
                                  .scratch = reading > adding ? reading : adding};
}

static uint64_t bytes(const struct source_windows *w)
{
    return gatv2_windows_bytes(w->layer);
}

static uint64_t source_bytes(const struct source_windows *w)
{
    (void)w;
    return 0;
}

static enum error_code open_weights(struct source_windows *w, struct error *err)
{
    return gatv2_windows_init(&w->gatv2, w->of->model, w->config.weights, w->layer_number, err);
}

static void release(struct source_windows *w)
{
    gatv2_windows_release(&w->gatv2);
}

static void read_block(void *context, int64_t block, int thread)
{
    struct source_windows *w = context;
    const uint32_t first = window_block_first(w, block), end = w->block_end[block];
    float *rows = window_scratch(w, thread);
    if (window_read_rows(w, first, end, block, rows))
        gatv2_windows_project(&w->gatv2, true, end - first, rows, window_row(w, first));
}

/* Returns the first node of the block that has the first destination. */
static uint32_t first_of_blocks(const struct source_windows *w)
{
    return w->first - window_relation(w)->first % FEATURE_BLOCK_ROWS;
}

/* Projects a whole block even if only some of its nodes are destinations, so that the bits do
 * not depend on which nodes are. */
static void read_own_block(void *context, int64_t block, int thread)
{
    struct source_windows *w = context;
    const uint32_t first = first_of_blocks(w) + (uint32_t)block * FEATURE_BLOCK_ROWS;
    const uint32_t end =
        feature_source_block_end(type_inputs_source(w->config.inputs, w->source_type), first);
    float *rows = window_scratch(w, thread),
          *own = rows + FEATURE_BLOCK_ROWS * (size_t)window_relation(w)->columns;
    if (!window_read_rows(w, first, end, block, rows))
        return;
    gatv2_windows_project(&w->gatv2, false, end - first, rows, own);
    for (uint32_t node = first > w->first ? first : w->first; node < end && node < w->end; node++)
        gatv2_windows_begin(&w->gatv2, own + (node - first) * w->rows.stride,
                            relation_window_sum(window_relation(w), node - w->first));
}

static enum error_code begin(struct source_windows *w, struct error *err)
{
    const int64_t count = (int64_t)w->end - first_of_blocks(w);
    window_count_rows(w, w->type, w->end - w->first);
    return window_run(w, (count + FEATURE_BLOCK_ROWS - 1) / FEATURE_BLOCK_ROWS, read_own_block,
                      err);
}

/* Writes the mean of the features of the destination's edges to `mean`, or 0 if it has no edges. */
static void find_mean_feature(struct source_windows *w, int thread, uint32_t i, float *feature,
                              float *mean)
{
    const size_t dim = w->layer->edge_dim;
    struct edge_walk walk = edge_walk_all(w, thread, i, feature);
    uint64_t count = 0;
    memset(mean, 0, dim * sizeof *mean);
    for (; edge_walk_next(&walk); count += walk.edges.count)
        for (size_t at = 0; at < walk.edges.count * dim; at += dim)
            for (size_t d = 0; d < dim; d++)
                mean[d] += feature[at + d];
    for (size_t d = 0; count && d < dim; d++)
        mean[d] /= (float)count;
}

static void add_edges(struct source_windows *w, int thread, uint32_t i)
{
    const uint32_t node = w->first + i;
    float *scratch = window_scratch(w, thread) + features_of(w);
    float *feature = w->layer->edge_dim ? window_scratch(w, thread) : NULL;
    float *mean = feature ? feature + (size_t)w->layer->edge_dim * WINDOW_EDGES_MAX : NULL;
    const bool own_is_due = node >= w->window_first && node < w->window_end;
    if (own_is_due && feature)
        find_mean_feature(w, thread, i, feature, mean);
    struct edge_walk walk = edge_walk_window(w, thread, i, feature);
    walk.own_is_due = own_is_due;
    walk.own_feature = mean;
    while (edge_walk_next(&walk))
        gatv2_windows_add(&w->gatv2, &walk.edges, w->window, scratch,
                          relation_window_sum(window_relation(w), i));
}

static void add(struct source_windows *w, int thread, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        add_edges(w, thread, i);
}

const struct window_kind gatv2_window_kind = {
    .is_possible = is_possible,
    .always = true,
    .floats = floats,
    .bytes = bytes,
    .source_bytes = source_bytes,
    .open = open_weights,
    .release = release,
    .begin = begin,
    .read = read_block,
    .add = add,
};
