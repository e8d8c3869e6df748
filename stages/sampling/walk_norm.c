#include "stages/sampling/walk_norm.h"

#include "common/base/memory.h"
#include "stages/sampling/batch_builder.h"
#include "stages/sampling/random_walk.h"
#include "stages/sampling/sampler_list.h"

#include <inttypes.h>

enum { BEFOREHAND = 1, WALK = 0, ROOTS = 1 };

uint64_t walk_norm_bytes(const struct topology *topology)
{
    return (topology->node_count + topology->edge_count) * sizeof(uint32_t);
}

void drawn_walks_release(struct drawn_walks *walks)
{
    memory_free(walks->node);
    memory_free(walks->edge);
    *walks = (struct drawn_walks){0};
}

void walk_norm_release(struct walk_norm *norm)
{
    memory_free(norm->first_edge);
    *norm = (struct walk_norm){0};
}

enum error_code walk_norm_enter(struct batch_builder *b, const struct random_stream *stream,
                                const uint32_t *root, uint32_t count, uint32_t length,
                                struct error *err)
{
    const struct random_walk walk = {
        .topology = b->topology, .stream = stream, .length = length, .p = 1, .q = 1};
    void *path = NULL;
    enum error_code rc = batch_builder_scratch(b, WALK, (size_t)length + 1, 1, 0, &path, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        rc = random_walk_draw(&walk, i, root[i], path, err);
        for (uint32_t k = 0; rc == ERROR_NONE && k <= length; k++) {
            uint32_t local = 0;
            rc = batch_builder_enter(b, ((uint32_t *)path)[k], &local, err);
        }
    }
    return rc;
}

/* Where each part's edges begin. Owns: *out. */
static enum error_code find_first_edges(uint64_t **out, const struct topology *topology,
                                        struct error *err)
{
    uint64_t first = 0;
    const enum error_code rc =
        memory_new(out, (size_t)topology->part_count, "the edges of parts", err);
    for (int p = 0; rc == ERROR_NONE && p < topology->part_count; p++) {
        (*out)[p] = first;
        first += topology->part[p].edge_count;
    }
    return rc;
}

static enum error_code count_edges(struct drawn_walks *out, const uint64_t *first_edge,
                                   const struct batch_builder *b, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < b->lists->count[0]; i++) {
        struct graph_row row;
        rc = graph_row_of(b->topology, b->lists->node[0].data[i], &row, err);
        if (rc == ERROR_NONE)
            out->node[b->lists->node[0].data[i]]++;
        for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++) {
            uint32_t node = 0;
            rc = graph_row_neighbor(b->topology, &row, k, &node, err);
            if (rc == ERROR_NONE && known_nodes_has(b->known, node))
                out->edge[first_edge[row.part_number] + row.start + k]++;
        }
    }
    return rc;
}

static enum error_code draw_one(struct batch_builder *b, const struct walk_draw_config *config,
                                uint32_t number, struct error *err)
{
    const struct neighbor_request *request = config->request;
    const struct random_stream order =
        random_stream_of(request->seed, RANDOM_WALK, number, ROOTS, 1);
    const struct random_stream stream =
        random_stream_of(request->seed, RANDOM_WALK, number, BEFOREHAND, 0);
    void *data = NULL;
    enum error_code rc = batch_builder_begin(b, request, err);
    if (rc == ERROR_NONE)
        rc = batch_builder_scratch(b, ROOTS, config->roots, 1, 0, &data, err);
    uint32_t *root = data;
    for (uint32_t i = 0; rc == ERROR_NONE && i < config->roots; i++)
        root[i] = config->train[random_permute(&order, i, config->train_count)];
    return rc == ERROR_NONE ? walk_norm_enter(b, &stream, root, config->roots,
                                              (uint32_t)request->options->walk_length, err)
                            : rc;
}

enum error_code drawn_walks_count(struct drawn_walks *out, const struct topology *topology,
                                  const struct walk_draw_config *config, struct error *err)
{
    static const char what[] = "the counts of GraphSAINT's walks";
    const uint64_t wanted =
        (uint64_t)config->request->options->sample_coverage * topology->node_count;
    struct batch_builder *b = NULL;
    uint64_t *first_edge = NULL, seen = 0;
    *out = (struct drawn_walks){0};
    enum error_code rc = memory_new(&out->node, topology->node_count, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->edge, topology->edge_count, what, err);
    if (rc == ERROR_NONE)
        rc = find_first_edges(&first_edge, topology, err);
    if (rc == ERROR_NONE)
        rc = neighbor_sampler_builder(config->sampler, &b, err);
    while (rc == ERROR_NONE && seen < wanted) {
        rc = draw_one(b, config, (uint32_t)out->drawn, err);
        if (rc == ERROR_NONE)
            rc = count_edges(out, first_edge, b, err);
        seen += b->lists->count[0];
        out->drawn++;
    }
    memory_free(first_edge);
    if (rc != ERROR_NONE)
        drawn_walks_release(out);
    return rc;
}

enum error_code walk_norm_init(struct walk_norm *out, const struct walk_counts *counts,
                               const struct topology *topology, const uint32_t *train,
                               uint32_t train_count, struct error *err)
{
    uint64_t sum = 0;
    *out = (struct walk_norm){.node = counts->node, .edge = counts->edge};
    if (counts->node_count != topology->node_count || counts->edge_count != topology->edge_count)
        return error_set(err, ERROR_CORRUPT,
                         "%s: counts of %" PRIu64 " nodes and %" PRIu64 " edges, expected %" PRIu32
                         " and %" PRIu64,
                         counts->view.key, counts->node_count, counts->edge_count,
                         topology->node_count, topology->edge_count);
    const enum error_code rc = find_first_edges(&out->first_edge, topology, err);
    for (uint32_t i = 0; i < train_count; i++)
        sum += counts->node[train[i]];
    out->mean = train_count ? (double)sum / train_count : 0;
    return rc;
}
