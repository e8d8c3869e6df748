#include "stages/partition/rules/skip_gram.h"

#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/math/vector_exp.h"
#include "common/numbers/random.h"
#include "stages/sampling/rows/random_walk.h"
#include "store/topology/topology.h"

#include <string.h>

enum { LANES = 4, CHUNK_MAX = 16 /* chunks of 2^27 edges: 2^31 edges in all */ };

/* The graph as one part, in the form that walks read. */
struct graph_view {
    struct topology topology;
    struct topology_part part;
    uint64_t *row_start; /* [node_count + 1], owned */
    const uint64_t *row_start_chunk[CHUNK_MAX];
    const uint32_t *neighbor_chunk[CHUNK_MAX];
    uint32_t book[2];
};

struct training {
    const struct skip_gram *config;
    float *row;     /* [node_count, dim] */
    float *context; /* [node_count, dim], owned */
    struct random_stream draws;
    uint64_t pair; /* pairs so far */
};

static enum error_code view_graph(struct graph_view *view, const struct undirected_graph *graph,
                                  struct error *err)
{
    const uint32_t n = graph->node_count;
    const uint64_t chunk = UINT64_C(1) << TOPOLOGY_CHUNK_SHIFT;
    const enum error_code rc =
        memory_new(&view->row_start, (size_t)n + 1, "the graph for walks", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t v = 0; v <= n; v++)
        view->row_start[v] = (uint64_t)graph->row_start[v];
    for (uint64_t c = 0; c < CHUNK_MAX; c++) {
        if (c * chunk <= n)
            view->row_start_chunk[c] = &view->row_start[c * chunk];
        if (c * chunk < view->row_start[n])
            view->neighbor_chunk[c] = (const uint32_t *)graph->neighbor + c * chunk;
    }
    view->book[1] = n;
    view->part = (struct topology_part){.node_count = n,
                                        .edge_count = view->row_start[n],
                                        .row_start_chunk = view->row_start_chunk,
                                        .neighbor_chunk = view->neighbor_chunk};
    view->topology = (struct topology){.part_count = 1,
                                       .node_count = n,
                                       .edge_count = view->row_start[n],
                                       .book = view->book,
                                       .part = &view->part};
    return ERROR_NONE;
}

/* Returns the dot product. Every fourth product goes to the same sum, in one order, so the compiler
 * can use vector instructions without changing a bit. */
static float dot(const float *a, const float *b, uint32_t dim)
{
    float sum[LANES] = {0};
    for (uint32_t c = 0; c < dim; c += LANES)
        for (uint32_t lane = 0; lane < LANES; lane++)
            sum[lane] += a[c + lane] * b[c + lane];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static float sigmoid(float x)
{
    const float small = vector_exp_of(x < 0 ? x : -x);
    return x < 0 ? small / (1 + small) : 1 / (1 + small);
}

/* Does a step for the node and one other node. `is_pair`: they are a pair; otherwise the other was
 * drawn. Adds to gradient [dim]. */
static void step(const struct training *t, const float *row, uint32_t other, bool is_pair,
                 float rate, float *gradient)
{
    const uint32_t dim = t->config->dim;
    float *context = &t->context[(size_t)other * dim];
    const float error = rate * ((is_pair ? 1.0F : 0.0F) - sigmoid(dot(row, context, dim)));
    for (uint32_t c = 0; c < dim; c++) {
        gradient[c] += error * context[c];
        context[c] += error * row[c];
    }
}

static void train_pair(struct training *t, uint32_t node, uint32_t other, float rate)
{
    const struct undirected_graph *graph = t->config->graph;
    const uint32_t dim = t->config->dim, ends = (uint32_t)graph->row_start[graph->node_count];
    float gradient[SKIP_GRAM_DIM_MAX] = {0};
    float *row = &t->row[(size_t)node * dim];
    uint32_t word[SKIP_GRAM_NEGATIVES];
    random_block(&t->draws, t->pair++, 0, word);
    step(t, row, other, true, rate, gradient);
    for (int i = 0; i < SKIP_GRAM_NEGATIVES; i++) {
        /* the end of a random edge: so a node is drawn in proportion to its degree */
        const uint32_t drawn = (uint32_t)graph->neighbor[random_below(word[i], ends)];
        if (drawn != other)
            step(t, row, drawn, false, rate, gradient);
    }
    for (uint32_t c = 0; c < dim; c++)
        row[c] += gradient[c];
}

static void train_walk(struct training *t, const uint32_t *walk, float rate)
{
    const uint32_t count = t->config->length + 1, window = t->config->window;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t first = i > window ? i - window : 0;
        const uint32_t last = i + window < count ? i + window : count - 1;
        for (uint32_t j = first; j <= last; j++)
            if (walk[j] != walk[i])
                train_pair(t, walk[i], walk[j], rate);
    }
}

/* Trains with a walk from every node once, in an order of the round's own. */
static enum error_code train_round(struct training *t, const struct topology *topology,
                                   uint32_t round, struct error *err)
{
    enum { LOOK_EVERY = 1 << 12 };
    const struct skip_gram *config = t->config;
    const uint32_t n = config->graph->node_count;
    const struct random_stream order =
        random_stream_of((uint64_t)config->seed, RANDOM_STREAM_ORDER, round, 4, 0);
    const struct random_stream steps =
        random_stream_of((uint64_t)config->seed, RANDOM_WALK, round, 1, 0);
    const struct random_walk walk = {.topology = topology,
                                     .stream = &steps,
                                     .length = config->length,
                                     .p = config->p,
                                     .q = config->q};
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t node = (uint32_t)random_permute(&order, i, n);
        const double done = ((double)round * n + i) / ((double)config->walks * n);
        uint32_t met[SKIP_GRAM_LENGTH_MAX + 1];
        if (i % LOOK_EVERY == 0 && stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "asked to stop");
        if (config->graph->row_start[node] == config->graph->row_start[node + 1])
            continue;
        const enum error_code rc = random_walk_draw(&walk, node, node, met, err);
        if (rc != ERROR_NONE)
            return rc;
        train_walk(t, met, (float)(config->rate * (1.0 - 0.99 * done)));
    }
    return ERROR_NONE;
}

static void first_rows(const struct training *t)
{
    const struct skip_gram *config = t->config;
    const struct random_stream stream =
        random_stream_of((uint64_t)config->seed, RANDOM_EMBEDDING, 0, 0, 1);
    const uint32_t n = config->graph->node_count, dim = config->dim;
    memset(t->row, 0, (size_t)n * dim * sizeof *t->row);
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t c = 0; c < dim; c++)
            if (config->graph->row_start[v] < config->graph->row_start[v + 1])
                t->row[(size_t)v * dim + c] =
                    (random_unit(random_word(&stream, v, c)) - 0.5F) / (float)dim;
}

enum error_code skip_gram_run(const struct skip_gram *config,
                              float *row, // NOLINT(readability-non-const-parameter): filled
                              struct error *err)
{
    const uint32_t n = config->graph->node_count;
    struct graph_view view = {.book = {0}};
    struct training t = {.config = config,
                         .row = row,
                         .draws =
                             random_stream_of((uint64_t)config->seed, RANDOM_NEGATIVE, 0, 4, 0)};
    must(config->length < SKIP_GRAM_LENGTH_MAX && config->dim <= SKIP_GRAM_DIM_MAX &&
         config->dim % LANES == 0);
    enum error_code rc = view_graph(&view, config->graph, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&t.context, (size_t)n * config->dim, "the contexts of nodes", err);
    if (rc == ERROR_NONE)
        first_rows(&t);
    for (uint32_t round = 0; rc == ERROR_NONE && round < config->walks; round++)
        rc = train_round(&t, &view.topology, round, err);
    memory_free(t.context);
    memory_free(view.row_start);
    return rc;
}

uint64_t skip_gram_bytes(uint64_t node_count, uint32_t dim)
{
    return node_count * (sizeof(uint64_t) + dim * sizeof(float));
}
