#include "stages/sampling/samplers/walk_norm.h"

#include "common/base/memory.h"
#include "stages/sampling/rows/batch_builder.h"
#include "stages/sampling/rows/random_walk.h"
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

enum error_code walk_norm_enter(struct batch_builder *b, const struct sampler_options *options,
                                const struct random_stream *stream, const uint32_t *root,
                                uint32_t count, struct error *err)
{
    const uint32_t length = (uint32_t)options->walk_length;
    struct metapath metapath;
    const struct random_walk walk = {.topology = b->topology,
                                     .metapath = &metapath,
                                     .stream = stream,
                                     .length = length,
                                     .p = 1,
                                     .q = 1};
    void *path = NULL;
    enum error_code rc = metapath_read(options, b->book, &metapath, err);
    if (rc == ERROR_NONE)
        rc = batch_builder_scratch(b, WALK, (size_t)length + 1, 1, 0, &path, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        rc = random_walk_draw(&walk, i, root[i], path, err);
        for (uint32_t k = 0; rc == ERROR_NONE && k <= length; k++) {
            uint32_t local = 0;
            rc = batch_builder_enter(b, ((uint32_t *)path)[k], &local, err);
        }
    }
    return rc;
}

/* Finds where the edges of each part and relation begin. Owns: *out. */
static enum error_code find_first_edges(uint64_t **out, const struct topology *topology,
                                        struct error *err)
{
    const size_t count = (size_t)topology->part_count * topology_relations(topology);
    uint64_t first = 0;
    const enum error_code rc = memory_new(out, count, "the edges of parts", err);
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++) {
        (*out)[i] = first;
        first += topology->part[i].edge_count;
    }
    return rc;
}

/* Counts the edges that reach a node from entered nodes. */
static enum error_code count_row(struct drawn_walks *out, const uint64_t *first_edge,
                                 const struct batch_builder *b, uint32_t relation, uint32_t target,
                                 struct error *err)
{
    struct graph_row row;
    enum error_code rc = graph_row_of_relation(b->topology, relation, target, &row, err);
    for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++) {
        uint32_t node = 0;
        rc = graph_row_neighbor(b->topology, &row, k, &node, err);
        if (rc == ERROR_NONE && known_nodes_has(b->known, node))
            out->edge[first_edge[row.part_number] + row.start + k]++;
    }
    return rc;
}

static enum error_code count_edges(struct drawn_walks *out, const uint64_t *first_edge,
                                   const struct batch_builder *b, struct error *err)
{
    const struct sampled_lists *lists = b->lists;
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < lists->relation_count; r++) {
        const uint32_t type = lists->relation[r].target;
        for (uint32_t i = 0; rc == ERROR_NONE && i < lists->count[type]; i++)
            rc = count_row(out, first_edge, b, r, lists->node[type].data[i], err);
    }
    return rc;
}

/* Counts the nodes of a subgraph and returns their number. */
static uint64_t count_nodes(struct drawn_walks *out, const struct batch_builder *b)
{
    uint64_t all = 0;
    for (uint32_t t = 0; t < b->lists->type_count; t++) {
        for (uint32_t i = 0; i < b->lists->count[t]; i++)
            out->node[b->lists->node[t].data[i]]++;
        all += b->lists->count[t];
    }
    return all;
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
    return rc == ERROR_NONE
               ? walk_norm_enter(b, request->options, &stream, root, config->roots, err)
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
        seen += count_nodes(out, b);
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
