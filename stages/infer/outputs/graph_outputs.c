#include "stages/infer/outputs/graph_outputs.h"

#include "common/base/memory.h"
#include "common/parallel/first_failure.h"
#include "common/parallel/thread_pool.h"

#include <inttypes.h>
#include <string.h>

/* Graphs that a thread takes at a time, and rows that it reads at a time. */
enum { TILE_GRAPHS = 64, PIECE_NODES = 1024 };

static void describe_rows(const struct graph_outputs *graphs, const struct stage_context *context,
                          struct output_rows *rows)
{
    const struct task *task = task_of(context->book->task);
    rows->pool = context->pool;
    rows->row_bytes[OUTPUT_LOGITS] = graphs->classifier.outputs * sizeof(float);
    rows->row_bytes[OUTPUT_LABELS] = task->label_width(context->book->class_count) * sizeof(float);
    rows->row_bytes[OUTPUT_EMBEDDINGS] = graphs->classifier.dim * sizeof(float);
}

enum error_code graph_outputs_open(struct graph_outputs *graphs,
                                   const struct graph_outputs_config *config,
                                   struct output_rows *rows, struct error *err)
{
    const struct stage_context *context = config->context;
    *graphs = (struct graph_outputs){.model = config->model, .layer = config->layer};
    graphs->classifier = model_graph_classifier(config->model, config->weights);
    enum error_code rc = graph_targets_open(&graphs->targets, context->store, context->book, err);
    if (rc != ERROR_NONE)
        return rc;
    const size_t pieces =
        (size_t)thread_pool_size(context->pool) * PIECE_NODES * graphs->classifier.dim;
    describe_rows(graphs, context, rows);
    rc = memory_new(&graphs->piece, pieces, "rows of the last layer", err);
    return rc == ERROR_NONE ? output_rows_reserve(rows, graphs->targets.index.graph_count,
                                                  config->piece, config->budget_bytes, err)
                            : rc;
}

void graph_outputs_close(struct graph_outputs *graphs)
{
    memory_free(graphs->piece);
    graph_targets_close(&graphs->targets);
    *graphs = (struct graph_outputs){.model = NULL};
}

/* --- a range --- */

struct pass {
    const struct graph_outputs *graphs;
    const struct output_rows *rows;
    struct first_failure failure;
};

static float *row_of(const struct pass *pass, enum output_tensor tensor, uint32_t graph)
{
    const struct output_rows *rows = pass->rows;
    return (float *)(void *)(rows->row[tensor] + (graph - rows->first) * rows->row_bytes[tensor]);
}

/* Adds nodes first .. end - 1 of graph `graph`, whose rows lie at `row`. The last node completes
 * the graph. */
static void add_nodes(const struct pass *pass, uint32_t graph, uint32_t first, uint32_t end,
                      const float *row)
{
    const struct graph_outputs *graphs = pass->graphs;
    const uint32_t *bounds = graphs->targets.index.first + graph;
    const enum readout_kind kind = graphs->model->config.readout;
    const uint32_t dim = graphs->classifier.dim;
    float *pooled = row_of(pass, OUTPUT_EMBEDDINGS, graph);
    readout_add(kind, row, end - first, dim, first - bounds[0], pooled, NULL);
    if (end < bounds[1])
        return;
    readout_finish(kind, bounds[1] - bounds[0], dim, pooled);
    graph_classifier_forward(&graphs->classifier, pooled, 1, row_of(pass, OUTPUT_LOGITS, graph));
    memcpy(row_of(pass, OUTPUT_LABELS, graph), graph_targets_label(&graphs->targets, graph),
           pass->rows->row_bytes[OUTPUT_LABELS]);
}

/* Reads the graphs `graph` to end - 1, in pieces of their nodes. */
static enum error_code read_graphs(const struct pass *pass, uint32_t graph, uint32_t end,
                                   float *piece, struct error *err)
{
    const struct graph_outputs *graphs = pass->graphs;
    const uint32_t *first = graphs->targets.index.first, dim = graphs->classifier.dim;
    const uint32_t last = first[end];
    enum error_code rc = ERROR_NONE;
    for (uint32_t node = first[graph], stop = 0; rc == ERROR_NONE && node < last; node = stop) {
        stop = last - node < PIECE_NODES ? last : node + PIECE_NODES;
        rc = feature_source_read(graphs->layer, node, stop, piece, err);
        for (uint32_t at = node; rc == ERROR_NONE && at < stop;) {
            const uint32_t until = first[graph + 1] < stop ? first[graph + 1] : stop;
            add_nodes(pass, graph, at, until, piece + (size_t)(at - node) * dim);
            graph += until == first[graph + 1];
            at = until;
        }
    }
    return rc;
}

static void read_tile(void *context, int64_t tile, int thread)
{
    struct pass *pass = context;
    const struct graph_outputs *graphs = pass->graphs;
    const uint32_t first = pass->rows->first + (uint32_t)tile * TILE_GRAPHS;
    const uint32_t left = pass->rows->end - first;
    struct error err = {0};
    const enum error_code rc =
        read_graphs(pass, first, first + (left < TILE_GRAPHS ? left : TILE_GRAPHS),
                    graphs->piece + (size_t)thread * PIECE_NODES * graphs->classifier.dim, &err);
    first_failure_keep(&pass->failure, rc, tile, &err);
}

enum error_code graph_outputs_read(struct graph_outputs *graphs, struct output_rows *rows,
                                   uint32_t first, struct error *err)
{
    struct pass pass = {.graphs = graphs, .rows = rows};
    const uint32_t left = graphs->targets.index.graph_count - first;
    rows->first = first;
    rows->end = first + (left < rows->room ? left : rows->room);
    first_failure_init(&pass.failure);
    thread_pool_run(rows->pool, ((int64_t)rows->end - first + TILE_GRAPHS - 1) / TILE_GRAPHS,
                    read_tile, &pass);
    return first_failure_end(&pass.failure, err);
}
