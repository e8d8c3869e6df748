#include "stages/sampling/samplers/layer_rows.h"

#include "stages/sampling/samplers/subgraph.h"

#include <inttypes.h>
#include <string.h>

/* Begins the batch with the seeds. */
static enum error_code begin(struct batch_builder *b, const struct neighbor_request *request,
                             struct error *err)
{
    struct growing_array *hop_row = &b->lists->hop_row;
    const size_t hop_rows = b->lists->relation_count * ((size_t)request->hop_count + 1);
    enum error_code rc = batch_builder_begin(b, request, err);
    if (rc == ERROR_NONE)
        rc = growing_array_reserve(hop_row, b->budget, hop_rows, 0, "the rows of hops", err);
    if (rc == ERROR_NONE)
        memset(hop_row->data, 0, hop_rows * sizeof *hop_row->data);
    b->has_factors = true;
    for (uint32_t i = 0; rc == ERROR_NONE && i < request->seed_count; i++) {
        const uint32_t node = request->seed_node[i];
        uint32_t local = 0;
        const bool is_again = node < b->topology->node_count && known_nodes_has(b->known, node);
        rc = batch_builder_enter(b, node, &local, err);
        if (rc == ERROR_NONE && is_again)
            return error_set(err, ERROR_CORRUPT,
                             "seed %" PRIu32 " is node %" PRIu32 ", which is seed %" PRIu32
                             " already, expected each node once",
                             i, node, local);
    }
    batch_builder_end_hop(b, 0);
    return rc;
}

/* Scales the factors of the row that ends now so that their sum is the number of its edges. */
static void normalise(const struct relation_rows *rows, uint32_t first, uint32_t length)
{
    float *factor = (float *)(void *)rows->factor.data;
    double sum = 0;
    for (uint32_t e = first; e < rows->edge_count; e++)
        sum += (double)factor[e];
    for (uint32_t e = first; e < rows->edge_count; e++)
        factor[e] = (float)((double)factor[e] * (length / sum));
}

static enum error_code add_row(struct batch_builder *b, uint32_t relation, int hop, uint32_t target,
                               const struct layer_choice *choice, struct error *err)
{
    const struct relation_rows *rows = &b->lists->relation[relation];
    const uint32_t node = b->lists->node[rows->target].data[target], first = rows->edge_count;
    struct graph_row row;
    enum error_code rc = graph_row_of_relation(b->topology, relation, node, &row, err);
    for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++) {
        uint32_t source = 0, local = 0;
        float factor = 1;
        rc = graph_row_neighbor(b->topology, &row, k, &source, err);
        if (rc != ERROR_NONE)
            break;
        if (!choice->takes_all) {
            const uint32_t number =
                pair_table_find(&b->pairs, layer_rows_key(relation, hop), source);
            must(choice->factor || number == PAIR_TABLE_NONE);
            factor = number == PAIR_TABLE_NONE ? 0 : choice->factor[number];
        }
        if (!(factor > 0))
            continue;
        rc = batch_builder_enter(b, source, &local, err);
        if (rc == ERROR_NONE)
            rc = batch_builder_add_edge(b, relation, local, graph_row_place(&row, k), factor, err);
    }
    if (choice->normalises)
        normalise(rows, first, row.length);
    return rc == ERROR_NONE ? batch_builder_end_row(b, relation, target, err) : rc;
}

/* Adds the rows of a relation for a hop. */
static enum error_code add_rows(struct batch_builder *b, uint32_t relation, int hop,
                                const struct layer_choice *choice, struct error *err)
{
    const struct relation_rows *rows = &b->lists->relation[relation];
    const uint32_t known = *batch_builder_known(b, rows->target, hop);
    const size_t at = relation * ((size_t)b->hop_count + 1) + (size_t)hop + 1;
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < known; i++)
        rc = add_row(b, relation, hop, i, choice, err);
    b->lists->hop_row.data[at] = rows->row_count;
    return rc;
}

static enum error_code draw_layer(struct batch_builder *b, const struct neighbor_request *request,
                                  uint32_t relation, int hop, layer_chooser choose,
                                  struct error *err)
{
    const int64_t fanout = request->fanout[relation * (size_t)request->hop_count + (size_t)hop];
    const struct random_stream stream = subgraph_layer_stream(request, relation, (uint32_t)hop);
    struct layer_choice choice = {.takes_all = fanout == FANOUT_ALL};
    enum error_code rc = ERROR_NONE;
    if (fanout > 0)
        rc = choose(b, request, relation, hop, (uint32_t)fanout, &stream, &choice, err);
    return rc == ERROR_NONE ? add_rows(b, relation, hop, &choice, err) : rc;
}

enum error_code layer_rows_batch(struct neighbor_sampler *sampler,
                                 const struct neighbor_request *request, layer_chooser choose,
                                 struct mini_batch *out, struct error *err)
{
    struct batch_builder *b = NULL;
    enum error_code rc = neighbor_sampler_builder(sampler, &b, err);
    if (rc == ERROR_NONE)
        rc = begin(b, request, err);
    for (int hop = 0; rc == ERROR_NONE && hop < request->hop_count; hop++) {
        for (uint32_t r = 0; rc == ERROR_NONE && r < b->lists->relation_count; r++)
            rc = draw_layer(b, request, r, hop, choose, err);
        batch_builder_end_hop(b, hop + 1);
    }
    return rc == ERROR_NONE ? batch_builder_finish(b, request, BATCH_LAYERED, out, err) : rc;
}
