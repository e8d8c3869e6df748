/* Layers that want the sum of their sources' rows, each with its weight, or the greatest of them. */
#include "common/base/memory.h"
#include "stages/infer/windows/window_kind.h"

/* Whether edges count by their weights. */
static bool is_weighted(const struct source_windows *w)
{
    return w->config.edge_use.columns >> EDGE_WEIGHT & 1;
}

static bool is_possible(const struct model *model, int layer)
{
    return model_sums_sources(model, layer);
}

static struct window_floats floats(const struct source_windows *w)
{
    return (struct window_floats){.destination = w->dim, .source = w->dim};
}

static uint64_t bytes(const struct source_windows *w)
{
    const uint64_t threads = (uint64_t)thread_pool_size(w->config.pool);
    return is_weighted(w) ? threads * PIECE_EDGES * sizeof *w->value : 0;
}

/* Beside its row a source has a degree, and the weights that come of it. */
static uint64_t source_bytes(const struct source_windows *w)
{
    const bool weighs = w->config.model->needs_degree;
    return (weighs ? sizeof *w->degree + 2 * sizeof(float) : 0) +
           (w->config.edge_use.weight_sum ? sizeof *w->value_sum : 0);
}

static enum error_code open_sums(struct source_windows *w, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (w->config.model->needs_degree)
        rc = memory_new(&w->degree, w->window_room, "degrees", err);
    if (rc == ERROR_NONE && w->config.edge_use.weight_sum)
        rc = memory_new(&w->value_sum, w->window_room, "sums of weights", err);
    if (rc == ERROR_NONE && is_weighted(w))
        rc = memory_new(&w->value, (size_t)thread_pool_size(w->config.pool) * PIECE_EDGES,
                        "weights of edges", err);
    return rc;
}

static void release(struct source_windows *w)
{
    memory_free(w->degree);
    memory_free(w->value_sum);
    memory_free(w->value);
    arena_release(&w->arena);
}

/* And the sums of weights, where they are asked for. */
static void find_degrees(const struct source_windows *w, uint32_t first, uint32_t end)
{
    const struct topology *topology = w->config.topology;
    const struct topology_part *part = &topology->part[topology_part_of(topology, first)];
    for (uint32_t node = first; node < end; node++)
        w->degree[node - w->window_first] =
            topology_degree(part, node - part->first_node, w->config.has_self_loops);
    for (uint32_t node = first; w->value_sum && node < end; node++)
        w->value_sum[node - w->window_first] = *topology_weight_sum(part, node - part->first_node);
}

static void read_block(void *context, int64_t block, int thread)
{
    struct source_windows *w = context;
    const uint32_t first = window_block_first(w, block), end = w->block_end[block];
    (void)thread;
    if (window_read_rows(w, first, end, block, window_row(w, first)) && w->degree)
        find_degrees(w, first, end); /* a block is of one part */
}

/* What the edges from the window weigh. */
static enum error_code weigh(struct source_windows *w, struct error *err)
{
    static const uint32_t no_rows[1] = {0};
    const struct message_block sources = {.source_count = w->window_end - w->window_first,
                                          .row_start = no_rows,
                                          .degree = w->degree,
                                          .edge_value = w->value,
                                          .value_sum = w->value_sum};
    arena_reset(&w->arena);
    return model_weigh_block(w->config.model, w->config.layer, &sources, &w->arena, &w->aggregation,
                             err);
}

/* Adds the edges of the destinations from `first` on, until the piece is full; returns the first that has some left. */
static uint32_t add_piece(struct source_windows *w, int thread, uint32_t first, uint32_t end)
{
    struct edge_piece *piece = &w->piece[thread];
    float *value = w->value ? w->value + (size_t)thread * PIECE_EDGES : NULL;
    const struct input_rows input = {.base = w->window, .stride = w->dim};
    uint32_t count = 0, i = first;
    bool has_room = true;
    for (; i < end && has_room; i++) {
        piece->row_start[i - first] = count;
        has_room = edge_piece_take(w, piece, value, i, w->aggregation.skip_self_loops, &count);
    }
    piece->row_start[i - first] = count;
    const struct message_block block = {.destination_count = i - first,
                                        .source_count = w->window_end - w->window_first,
                                        .row_start = piece->row_start,
                                        .neighbor = piece->neighbor};
    struct aggregation aggregation = w->aggregation;
    aggregation.edge_value = w->aggregation.edge_value ? value : NULL; /* the kind's own choice */
    aggregation_add(&aggregation, &block, &input, w->dim, 0, i - first, window_sum(w, first));
    return has_room ? i : i - 1;
}

static void begin_sums(struct source_windows *w, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        const uint32_t row = w->first + i - w->part->first_node;
        const bool has_edges =
            topology_row_start(w->part, row) < topology_row_start(w->part, row + 1);
        const float none = aggregation_sum_of_none(&w->aggregation, has_edges);
        float *sum = window_sum(w, i);
        for (uint32_t c = 0; c < w->dim; c++)
            sum[c] = none;
    }
}

static void add(struct source_windows *w, int thread, uint32_t first, uint32_t end)
{
    if (w->window_first == 0)
        begin_sums(w, first, end);
    while (first < end)
        first = add_piece(w, thread, first, end);
}

const struct window_kind sum_window_kind = {
    .is_possible = is_possible,
    .sums_all = true,
    .floats = floats,
    .bytes = bytes,
    .source_bytes = source_bytes,
    .open = open_sums,
    .release = release,
    .read = read_block,
    .arrive = weigh,
    .add = add,
};
