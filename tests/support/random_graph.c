#include "tests/support/random_graph.h"

#include "common/base/memory.h"
#include "common/numbers/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t degree_of(const struct random_stream *stream, uint32_t node, uint32_t hub_degree)
{
    if (node % 8 == 7)
        return 0;
    return node % 64 == 0 ? hub_degree : random_below(random_word(stream, node, 0), 32);
}

void random_graph_make(struct random_graph *out, uint64_t seed, uint32_t node_count,
                       uint32_t hub_degree)
{
    const struct random_stream stream = random_stream_of(seed, RANDOM_GENERATOR, 0, 0, 0);
    uint64_t *row_start = memory_alloc((size_t)node_count + 1, sizeof *row_start);
    must(row_start != NULL);
    for (uint32_t v = 0; v < node_count; v++)
        row_start[v + 1] = row_start[v] + degree_of(&stream, v, hub_degree);
    uint32_t *neighbor = memory_alloc(row_start[node_count], sizeof *neighbor);
    must(neighbor != NULL);
    for (uint32_t v = 0; v < node_count; v++) {
        const uint32_t degree = (uint32_t)(row_start[v + 1] - row_start[v]);
        for (uint32_t k = 0; k < degree; k++)
            neighbor[row_start[v] + k] =
                random_below(random_word(&stream, v, k + 1), k % 3 ? node_count : 40);
        qsort(neighbor + row_start[v], degree, sizeof *neighbor, ascending);
    }
    *out = (struct random_graph){node_count, row_start, neighbor};
}

void random_graph_release(struct random_graph *graph)
{
    memory_free(graph->row_start);
    memory_free(graph->neighbor);
    *graph = (struct random_graph){0};
}

uint64_t random_graph_seed(uint64_t usual)
{
    const char *given = getenv("SEED");
    const uint64_t seed = given ? strtoull(given, NULL, 10) : usual;
    printf("SEED=%" PRIu64 "\n", seed);
    return seed;
}
