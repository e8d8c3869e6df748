#include "common/nn/readout/readout.h"

#include <math.h>
#include <string.h>

enum { TILE_GRAPHS = 16 };

#define READOUT_NAME(number, name, help) [number] = #name,
const char *const readout_names[READOUT_COUNT + 1] = {
    [READOUT_NONE] = "none", READOUT_LIST(READOUT_NAME)[READOUT_COUNT] = NULL};

static void add_sum(const float *row, uint32_t dim, float *out)
{
    for (uint32_t c = 0; c < dim; c++)
        out[c] += row[c];
}

/* NaN counts as greater than every number, so that the loss becomes NaN and the error is
 * noticed. */
static void add_greatest(const float *row, uint32_t dim, uint32_t number, float *out,
                         uint32_t *from)
{
    for (uint32_t c = 0; c < dim; c++) {
        if (row[c] <= out[c] || isnan(out[c]))
            continue;
        out[c] = row[c];
        if (from)
            from[c] = number;
    }
}

void readout_add(enum readout_kind kind, const float *row, uint32_t count, uint32_t dim,
                 uint32_t before, float *out, uint32_t *from)
{
    uint32_t i = 0;
    if (before == 0 && count) {
        memcpy(out, row, dim * sizeof *out);
        if (from)
            memset(from, 0, dim * sizeof *from);
        i = 1;
    }
    for (; i < count; i++)
        if (kind == READOUT_MAX)
            add_greatest(row + (size_t)i * dim, dim, before + i, out, from);
        else
            add_sum(row + (size_t)i * dim, dim, out);
}

void readout_finish(enum readout_kind kind, uint32_t count, uint32_t dim, float *out)
{
    for (uint32_t c = 0; kind == READOUT_MEAN && c < dim; c++)
        out[c] /= (float)count;
}

/* --- for a batch --- */

struct pass {
    enum readout_kind kind;
    const struct graph_rows *graphs;
    const float *in;
    float *out;
    uint32_t *from;         /* written by the forward pass */
    const uint32_t *winner; /* read by the backward pass */
};

static void forward_graph(const struct pass *pass, uint32_t graph)
{
    const uint32_t dim = pass->graphs->dim, first = pass->graphs->first[graph];
    const uint32_t count = pass->graphs->first[graph + 1] - first;
    float *out = pass->out + (size_t)graph * dim;
    readout_add(pass->kind, pass->in + (size_t)first * dim, count, dim, 0, out,
                pass->from ? pass->from + (size_t)graph * dim : NULL);
    readout_finish(pass->kind, count, dim, out);
}

static void backward_graph(const struct pass *pass, uint32_t graph)
{
    const uint32_t dim = pass->graphs->dim, first = pass->graphs->first[graph];
    const uint32_t count = pass->graphs->first[graph + 1] - first;
    const float *gradient = pass->in + (size_t)graph * dim;
    float *row = pass->out + (size_t)first * dim;
    const float share = pass->kind == READOUT_MEAN ? 1 / (float)count : 1;
    if (pass->kind == READOUT_MAX) {
        memset(row, 0, (size_t)count * dim * sizeof *row);
        for (uint32_t c = 0; c < dim; c++)
            row[(size_t)pass->winner[(size_t)graph * dim + c] * dim + c] = gradient[c];
        return;
    }
    for (uint32_t i = 0; i < count; i++, row += dim)
        for (uint32_t c = 0; c < dim; c++)
            row[c] = gradient[c] * share;
}

static uint32_t end_of(const struct pass *pass, int64_t tile)
{
    const int64_t end = (tile + 1) * TILE_GRAPHS;
    return end < pass->graphs->graph_count ? (uint32_t)end : pass->graphs->graph_count;
}

static void forward_tile(void *context, int64_t tile, int thread)
{
    (void)thread;
    for (uint32_t g = (uint32_t)tile * TILE_GRAPHS; g < end_of(context, tile); g++)
        forward_graph(context, g);
}

static void backward_tile(void *context, int64_t tile, int thread)
{
    (void)thread;
    for (uint32_t g = (uint32_t)tile * TILE_GRAPHS; g < end_of(context, tile); g++)
        backward_graph(context, g);
}

static int64_t tiles_of(const struct graph_rows *graphs)
{
    return ((int64_t)graphs->graph_count + TILE_GRAPHS - 1) / TILE_GRAPHS;
}

void readout_forward(enum readout_kind kind, const struct graph_rows *graphs, const float *row,
                     struct thread_pool *pool, float *out, uint32_t *from)
{
    struct pass pass = {.kind = kind, .graphs = graphs, .in = row};
    pass.out = out;
    if (kind == READOUT_MAX)
        pass.from = from;
    thread_pool_run(pool, tiles_of(graphs), forward_tile, &pass);
}

void readout_backward(enum readout_kind kind, const struct graph_rows *graphs,
                      const float *gradient, const uint32_t *from, struct thread_pool *pool,
                      float *row_gradient)
{
    struct pass pass = {.kind = kind, .graphs = graphs, .in = gradient, .winner = from};
    pass.out = row_gradient;
    thread_pool_run(pool, tiles_of(graphs), backward_tile, &pass);
}
