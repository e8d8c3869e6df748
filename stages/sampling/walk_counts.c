#include "stages/sampling/walk_counts.h"

#include "common/base/memory.h"
#include "stages/sampling/batch_builder.h"
#include "stages/sampling/random_walk.h"

enum { BEFOREHAND = 1, WALK = 0, ROOTS = 1 };

uint64_t walk_counts_bytes(const struct topology *topology)
{
    return (topology->node_count + topology->edge_count) * sizeof(uint32_t);
}

void walk_counts_release(struct walk_counts *counts)
{
    memory_free(counts->node);
    memory_free(counts->edge);
    memory_free(counts->first_edge);
    *counts = (struct walk_counts){0};
}

enum error_code walk_counts_enter(struct batch_builder *b, const struct random_stream *stream,
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

static enum error_code count_edges(struct walk_counts *out, const struct batch_builder *b,
                                   struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < b->node_count; i++) {
        struct graph_row row;
        rc = graph_row_of(b->topology, b->node.data[i], &row, err);
        if (rc == ERROR_NONE)
            out->node[b->node.data[i]]++;
        for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++) {
            uint32_t node = 0;
            rc = graph_row_neighbor(b->topology, &row, k, &node, err);
            if (rc == ERROR_NONE && known_nodes_has(b->known, node))
                out->edge[out->first_edge[row.part_number] + row.start + k]++;
        }
    }
    return rc;
}

static enum error_code draw_one(struct walk_counts *out, struct batch_builder *b,
                                const struct walk_counts_config *config, uint32_t number,
                                struct error *err)
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
    if (rc == ERROR_NONE)
        rc = walk_counts_enter(b, &stream, root, config->roots, request->walk_length, err);
    return rc == ERROR_NONE ? count_edges(out, b, err) : rc;
}

static enum error_code new_counts(struct walk_counts *out, const struct topology *topology,
                                  struct error *err)
{
    static const char what[] = "the counts of GraphSAINT's walks";
    uint64_t first = 0;
    enum error_code rc = memory_new(&out->node, topology->node_count, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->edge, topology->edge_count, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->first_edge, (size_t)topology->part_count, what, err);
    for (int p = 0; rc == ERROR_NONE && p < topology->part_count; p++) {
        out->first_edge[p] = first;
        first += topology->part[p].edge_count;
    }
    return rc;
}

enum error_code walk_counts_init(struct walk_counts *out, const struct topology *topology,
                                 const struct walk_counts_config *config, struct error *err)
{
    const uint64_t wanted = (uint64_t)config->coverage * topology->node_count;
    struct batch_builder *b = NULL;
    uint64_t seen = 0, sum = 0;
    *out = (struct walk_counts){0};
    enum error_code rc = new_counts(out, topology, err);
    if (rc == ERROR_NONE)
        rc = neighbor_sampler_builder(config->sampler, &b, err);
    for (uint32_t n = 0; rc == ERROR_NONE && seen < wanted; n++) {
        rc = draw_one(out, b, config, n, err);
        seen += b->node_count;
    }
    for (uint32_t i = 0; rc == ERROR_NONE && i < config->train_count; i++)
        sum += out->node[config->train[i]];
    out->mean = config->train_count ? (double)sum / config->train_count : 0;
    if (rc != ERROR_NONE)
        walk_counts_release(out);
    return rc;
}
