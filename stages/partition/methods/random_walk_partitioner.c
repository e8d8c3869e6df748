/* k-means on an embedding from node2vec's walks (skip_gram.h, embedded_parts.h). */
#include "common/base/memory.h"
#include "stages/partition/rules/embedded_parts.h"
#include "stages/partition/rules/skip_gram.h"

enum { WALKS = 5, LENGTH = 20, WINDOW = 4, DIM = 32 };

static uint64_t bytes_of(const struct partition_request *request)
{
    const uint64_t n = request->schema->node_count;
    return embedded_parts_bytes(request) + n * DIM * sizeof(float) + skip_gram_bytes(n, DIM);
}

static enum error_code assign(const struct partition_request *request, uint32_t *part,
                              struct error *err)
{
    struct undirected_graph graph = {0};
    float *row = NULL;
    enum error_code rc = embedded_parts_check(request, "random_walk", bytes_of(request), err);
    if (rc == ERROR_NONE)
        rc = undirected_graph_build(request->store, request->schema, &graph, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&row, (size_t)graph.node_count * DIM, "the embedding of nodes", err);
    if (rc == ERROR_NONE) {
        const struct skip_gram config = {.graph = &graph,
                                         .dim = DIM,
                                         .walks = WALKS,
                                         .length = LENGTH,
                                         .window = WINDOW,
                                         .p = 1.0,
                                         .q = 0.5, /* walks lead outwards, and find communities */
                                         .rate = 0.05,
                                         .seed = request->settings->seed};
        rc = skip_gram_run(&config, row, err);
    }
    undirected_graph_release(&graph);
    if (rc == ERROR_NONE)
        rc = embedded_parts(request, "random_walk", row, DIM, part, err);
    memory_free(row);
    return rc;
}

const struct partitioner random_walk_partitioner = {.assign = assign, .bytes = bytes_of};
