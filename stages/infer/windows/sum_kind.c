/*
 * Layers that need a weighted sum of their sources' rows, or their maximum.
 */
#include "common/base/memory.h"
#include "stages/infer/rows/layer_reads.h"
#include "stages/infer/windows/window_kind.h"

/* Returns whether edges count by their weights. */
static bool is_weighted(const struct source_windows *w)
{
    return w->of->edge_use.columns >> EDGE_WEIGHT & 1;
}

static bool is_possible(const struct model *model, int layer)
{
    return layer_reads_sums(model, layer);
}

static struct window_floats floats(const struct source_windows *w, uint32_t columns)
{
    (void)w;
    return (struct window_floats){.destination = columns, .source = columns};
}

/* Returns whether sources are weighted by their degree in the whole graph. They are not if
 * blocks list their rows. */
static bool wants_degrees(const struct source_windows *w)
{
    return w->of->model->needs_degree && !w->lists_rows;
}

static uint64_t bytes(const struct source_windows *w)
{
    const uint64_t threads = (uint64_t)thread_pool_size(w->of->context->pool);
    return is_weighted(w) ? threads * PIECE_EDGES * sizeof *w->value : 0;
}

/* Returns the bytes for each source besides its row: a degree and the weights computed from it. */
static uint64_t source_bytes(const struct source_windows *w)
{
    const bool weighs = wants_degrees(w);
    return (weighs ? sizeof *w->degree + 2 * sizeof(float) : 0) +
           (w->of->edge_use.weight_sum ? sizeof *w->value_sum : 0);
}

static enum error_code open_sums(struct source_windows *w, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (wants_degrees(w))
        rc = memory_new(&w->degree, w->source_room, "degrees", err);
    if (rc == ERROR_NONE && w->of->edge_use.weight_sum)
        rc = memory_new(&w->value_sum, w->source_room, "sums of weights", err);
    if (rc == ERROR_NONE && is_weighted(w))
        rc = memory_new(&w->value, (size_t)thread_pool_size(w->of->context->pool) * PIECE_EDGES,
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

static void read_block(void *context, int64_t block, int thread)
{
    struct source_windows *w = context;
    const uint32_t first = window_block_first(w, block);
    (void)thread;
    window_read_rows(w, first, w->block_end[block], block, window_row(w, first));
}

/* Sources whose degrees a thread looks up at a time. */
enum { ENDS_AT_ONCE = 4096 };

/* Looks up the degrees of sources and the sums of their weights, if needed. */
static void find_ends(void *context, int64_t tile, int thread)
{
    struct source_windows *w = context;
    const uint32_t *book = type_inputs_book(w->config.inputs, w->source_type);
    const bool has_self_loops = w->of->context->book->self_loop_count > 0;
    const uint32_t count = w->window_end - w->window_first, first = (uint32_t)tile * ENDS_AT_ONCE;
    const uint32_t end = count - first < ENDS_AT_ONCE ? count : first + ENDS_AT_ONCE;
    int part = 0;
    (void)thread;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t number = w->window_first + i;
        while (book[part + 1] <= number)
            part++;
        const struct topology_part *rows = topology_rows(w->of->topology, part, w->at_work);
        const uint32_t row = number - book[part];
        if (w->degree)
            w->degree[i] = topology_degree(rows, row, has_self_loops);
        if (w->value_sum)
            w->value_sum[i] = *topology_weight_sum(rows, row);
    }
}

/* Computes the weights of the relation's edges from the window. */
static enum error_code weigh(struct source_windows *w, struct error *err)
{
    static const uint32_t no_rows[1] = {0};
    const struct relation_window *own = window_relation(w);
    const struct message_block sources = {.source_count = w->window_end - w->window_first,
                                          .is_bipartite = w->lists_rows,
                                          .row_start = no_rows,
                                          .degree = w->degree,
                                          .edge_value = w->value,
                                          .value_sum = w->value_sum};
    enum error_code rc = ERROR_NONE;
    if (w->degree || w->value_sum)
        rc = window_run(w, ((int64_t)sources.source_count + ENDS_AT_ONCE - 1) / ENDS_AT_ONCE,
                        find_ends, err);
    arena_reset(&w->arena);
    return rc == ERROR_NONE ? layer_reads_weights(w->of->model, w->layer_number, own->columns,
                                                  &sources, &w->arena, &w->aggregation, err)
                            : rc;
}

/* Adds the edges of the rows from `first` on until the piece is full. Returns the first row that
 * may have edges left. */
static uint32_t add_piece(struct source_windows *w, int thread, uint32_t first, uint32_t end)
{
    const struct relation_window *own = window_relation(w);
    struct edge_piece *piece = &w->piece[thread];
    float *value = w->value ? w->value + (size_t)thread * PIECE_EDGES : NULL;
    struct window_numbers numbers = {0};
    uint32_t count = 0, i = first;
    for (; i < end && count < PIECE_EDGES; i++) {
        piece->row_start[i - first] = count;
        edge_piece_take(w, &numbers, piece, value, i, &count);
    }
    piece->row_start[i - first] = count;
    const struct message_block block = {.destination_count = i - first,
                                        .source_count = w->window_end - w->window_first,
                                        .is_bipartite = w->lists_rows,
                                        .row_start = piece->row_start,
                                        .neighbor = piece->neighbor};
    struct aggregation aggregation = w->aggregation;
    /* only if the layer uses edge weights */
    aggregation.edge_value = w->aggregation.edge_value ? value : NULL;
    aggregation_add(&aggregation, &block, &w->rows, own->columns, 0, i - first,
                    relation_window_sum(own, first));
    return count < PIECE_EDGES ? i : i - 1;
}

static void begin_sums(struct source_windows *w, uint32_t first, uint32_t end)
{
    const struct relation_window *own = window_relation(w);
    for (uint32_t i = first; i < end; i++) {
        const uint32_t row = relation_window_row(own, i);
        const bool has_edges =
            topology_row_start(own->part, row) < topology_row_start(own->part, row + 1);
        const float none = aggregation_sum_of_none(&w->aggregation, has_edges);
        float *sum = relation_window_sum(own, i);
        for (uint32_t c = 0; c < own->columns; c++)
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
    .floats = floats,
    .bytes = bytes,
    .source_bytes = source_bytes,
    .open = open_sums,
    .release = release,
    .read = read_block,
    .arrive = weigh,
    .add = add,
};
