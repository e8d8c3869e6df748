#include "stages/sampling/rows/batch_builder.h"

#include "stages/sampling/rows/batch_ends.h"
#include "stages/sampling/rows/neighbor_sampler.h"
#include "store/records/batch/batch_form.h"

#include <inttypes.h>
#include <string.h>

void batch_builder_init(struct batch_builder *builder, struct neighbor_sampler *sampler,
                        const struct topology *topology, const struct type_ranges *ranges,
                        struct known_nodes *known, struct sampled_lists *lists)
{
    *builder = (struct batch_builder){.sampler = sampler,
                                      .topology = topology,
                                      .ranges = ranges,
                                      .known = known,
                                      .lists = lists,
                                      .budget = lists->budget};
}

void batch_builder_release(struct batch_builder *b)
{
    growing_array_release(&b->seed_weight, b->budget);
    for (int i = 0; i < BUILDER_SCRATCH_COUNT; i++)
        growing_array_release(&b->scratch[i], b->budget);
    pair_table_release(&b->pairs, b->budget);
}

enum error_code batch_builder_begin(struct batch_builder *b, const struct neighbor_request *request,
                                    struct error *err)
{
    struct growing_array *row_start = &b->lists->relation[0].row_start;
    const enum error_code rc =
        growing_array_reserve(row_start, b->budget, 1, 0, "the rows of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    sampled_lists_forget(b->lists, b->known);
    pair_table_clear(&b->pairs);
    b->hop_count = request->hop_count;
    b->edge_count = 0;
    b->has_factors = b->has_seed_weights = b->is_disjoint = b->notes_places = false;
    b->seed_time = NULL;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        b->notes_places |= b->topology->width.of[c] && request->edge_columns >> c & 1;
    b->notes_places |= request->wants_edge_positions;
    row_start->data[0] = 0;
    return ERROR_NONE;
}

void batch_builder_end_hop(struct batch_builder *b, int hop)
{
    for (uint32_t t = 0; t < b->lists->type_count; t++)
        *batch_builder_known(b, t, hop) = b->lists->count[t];
}

enum error_code batch_builder_add_node(struct batch_builder *b, uint32_t node, uint32_t seed,
                                       uint32_t *local, struct error *err)
{
    struct sampled_lists *lists = b->lists;
    if (node >= b->topology->node_count)
        return error_set(err, ERROR_CORRUPT,
                         "a node of the mini-batch is %" PRIu32 ", expected below %" PRIu32, node,
                         b->topology->node_count);
    const uint32_t type = batch_builder_type(b, node), count = lists->count[type];
    enum error_code rc = sampled_lists_reserve_nodes(lists, type, (uint64_t)count + 1, err);
    if (rc == ERROR_NONE && b->is_disjoint)
        rc = growing_array_reserve(&lists->seed_of[type], b->budget, (size_t)count + 1, count,
                                   "the nodes of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    if (b->is_disjoint)
        lists->seed_of[type].data[count] = seed;
    lists->node[type].data[count] = node;
    *local = lists->count[type]++;
    return ERROR_NONE;
}

enum error_code batch_builder_enter(struct batch_builder *b, uint32_t node, uint32_t *local,
                                    struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (node < b->topology->node_count && known_nodes_has(b->known, node)) {
        *local = known_nodes_local(b->known, node);
        return ERROR_NONE;
    }
    rc = batch_builder_add_node(b, node, 0, local, err);
    if (rc != ERROR_NONE)
        return rc;
    b->known->count = *local; /* the local index within the node's type */
    known_nodes_add(b->known, node);
    return ERROR_NONE;
}

enum error_code batch_builder_add_edge(struct batch_builder *b, uint32_t relation, uint32_t local,
                                       uint64_t place, float factor, struct error *err)
{
    static const char what[] = "the edges of a mini-batch";
    struct relation_rows *rows = &b->lists->relation[relation];
    struct growing_array *places = sampled_lists_places(b->lists, rows);
    const size_t count = rows->edge_count, wanted = count + 1;
    if (b->edge_count + 1 > UINT32_MAX)
        return error_set(err, ERROR_INVALID,
                         "the mini-batch has over %" PRIu32
                         " edges; expected a smaller batch_size or lower fan-outs",
                         UINT32_MAX);
    enum error_code rc =
        growing_array_reserve(&rows->neighbor, b->budget, wanted, count, what, err);
    if (rc == ERROR_NONE && b->has_factors)
        rc = growing_array_reserve(&rows->factor, b->budget, wanted, count, what, err);
    if (rc == ERROR_NONE && b->notes_places)
        rc = growing_array_reserve(places, b->budget, 2 * wanted, 2 * count,
                                   "the places of a mini-batch's edges", err);
    if (rc != ERROR_NONE)
        return rc;
    rows->neighbor.data[count] = local;
    if (b->has_factors)
        memcpy(&rows->factor.data[count], &factor, sizeof factor);
    if (b->notes_places)
        ((uint64_t *)(void *)places->data)[count] = place;
    rows->edge_count++;
    b->edge_count++;
    return ERROR_NONE;
}

enum error_code batch_builder_end_row(struct batch_builder *b, uint32_t relation, uint32_t local,
                                      struct error *err)
{
    static const char what[] = "the rows of a mini-batch";
    struct relation_rows *rows = &b->lists->relation[relation];
    const bool is_listed = b->lists->lists_rows;
    const size_t count = rows->row_count;
    if (is_listed && rows->edge_count == sampled_lists_begin(b->lists, rows, rows->row_count))
        return ERROR_NONE;
    enum error_code rc =
        is_listed
            ? growing_array_reserve(&rows->row, b->budget, count + 1, count, what, err)
            : growing_array_reserve(&rows->row_start, b->budget, count + 2, count + 1, what, err);
    if (rc == ERROR_NONE && is_listed)
        rc = growing_array_reserve(&rows->row_end, b->budget, count + 1, count, what, err);
    if (rc != ERROR_NONE)
        return rc;
    if (is_listed) {
        rows->row.data[count] = local;
        rows->row_end.data[count] = rows->edge_count;
    } else {
        rows->row_start.data[count + 1] = rows->edge_count;
    }
    rows->row_count++;
    return ERROR_NONE;
}

enum error_code batch_builder_weigh_seeds(struct batch_builder *b, uint32_t seed_count, float **out,
                                          struct error *err)
{
    const enum error_code rc = growing_array_reserve(&b->seed_weight, b->budget, seed_count, 0,
                                                     "the weights of seeds", err);
    b->has_seed_weights = rc == ERROR_NONE;
    *out = (float *)(void *)b->seed_weight.data;
    return rc;
}

/* Adds the edges that reach a node from entered nodes. */
static enum error_code induce_row(struct batch_builder *b, uint32_t relation, uint32_t local,
                                  struct error *err)
{
    const struct growing_array *nodes = &b->lists->node[b->lists->relation[relation].target];
    struct graph_row row;
    enum error_code rc =
        graph_row_of_relation(b->topology, relation, nodes->data[local], &row, err);
    for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++) {
        uint32_t node = 0;
        rc = graph_row_neighbor(b->topology, &row, k, &node, err);
        if (rc == ERROR_NONE && known_nodes_has(b->known, node))
            rc = batch_builder_add_edge(b, relation, known_nodes_local(b->known, node),
                                        graph_row_place(&row, k), 1, err);
    }
    return rc == ERROR_NONE ? batch_builder_end_row(b, relation, local, err) : rc;
}

enum error_code batch_builder_induce(struct batch_builder *b, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < b->lists->relation_count; r++) {
        const uint32_t count = b->lists->count[b->lists->relation[r].target];
        for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
            rc = induce_row(b, r, i, err);
    }
    return rc;
}

enum error_code batch_builder_finish(struct batch_builder *b,
                                     const struct neighbor_request *request, enum batch_form form,
                                     struct mini_batch *out, struct error *err)
{
    struct sampled_lists *lists = b->lists;
    const bool is_alone = form == BATCH_SUBGRAPH && !b->has_factors; /* has degrees of its own */
    const struct listed_values has = {.degrees = request->wants_degree || b->has_factors,
                                      .places = b->notes_places,
                                      .factors = b->has_factors,
                                      .seed_of = b->is_disjoint};
    enum error_code rc = ERROR_NONE;
    if (lists->lists_rows && has.degrees)
        rc = batch_ends_fill_rows(b, request, is_alone, err);
    if (rc == ERROR_NONE)
        rc = sampled_lists_batch(lists, request->hop_count, &has, out, err);
    if (rc == ERROR_NONE && b->notes_places)
        rc = edge_gather_fill(&lists->gather, b->budget, b->topology, request->edge_columns,
                              out->edge_count, &out->columns, err);
    if (rc == ERROR_NONE)
        rc = batch_ends_look_up(b, request, is_alone, out, err);
    if (rc != ERROR_NONE)
        return rc;
    out->form = form;
    out->seed_weight =
        b->has_seed_weights ? (const float *)(const void *)b->seed_weight.data : NULL;
    out->seed_time = lists->lists_rows ? b->seed_time : NULL;
    out->hop_row = lists->lists_rows && form == BATCH_LAYERED ? lists->hop_row.data : NULL;
    must(lists->lists_rows || out->row_count == batch_form_rows(out));
    return request->wants_edge_positions
               ? edge_gather_positions(&lists->gather, b->budget, b->topology, out, err)
               : ERROR_NONE;
}

enum error_code batch_builder_scratch(struct batch_builder *b, int which, size_t count,
                                      size_t words, size_t used, void **out, struct error *err)
{
    must(which < BUILDER_SCRATCH_COUNT);
    const enum error_code rc =
        growing_array_reserve(&b->scratch[which], b->budget, count * words, used * words,
                              "what a mini-batch is drawn from", err);
    *out = b->scratch[which].data;
    return rc;
}
