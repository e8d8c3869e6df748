#include "stages/sampling/batch_builder.h"

#include "stages/sampling/neighbor_sampler.h"
#include "store/records/batch_form.h"

#include <inttypes.h>
#include <string.h>

void batch_builder_init(struct batch_builder *builder, const struct topology *topology,
                        struct known_nodes *known, struct array_budget *budget, bool has_self_loops)
{
    *builder = (struct batch_builder){
        .topology = topology, .known = known, .budget = budget, .has_self_loops = has_self_loops};
}

void batch_builder_release(struct batch_builder *b)
{
    enum { COUNT = 8 };
    struct growing_array *const array[COUNT] = {&b->node,     &b->seed_of,   &b->row_start,
                                                &b->neighbor, &b->factor,    &b->seed_weight,
                                                &b->degree,   &b->weight_sum};
    for (int i = 0; i < COUNT; i++)
        growing_array_release(array[i], b->budget);
    for (int i = 0; i < BUILDER_SCRATCH_COUNT; i++)
        growing_array_release(&b->scratch[i], b->budget);
    pair_table_release(&b->pairs, b->budget);
    edge_gather_release(&b->gather, b->budget);
}

enum error_code batch_builder_begin(struct batch_builder *b, const struct neighbor_request *request,
                                    struct error *err)
{
    const enum error_code rc =
        growing_array_reserve(&b->row_start, b->budget, 1, 0, "the rows of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    known_nodes_forget(b->known);
    pair_table_clear(&b->pairs);
    b->node_count = b->row_count = b->edge_count = 0;
    b->has_factors = b->has_seed_weights = b->is_disjoint = b->notes_places = false;
    b->seed_time = NULL;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        b->notes_places |= b->topology->width.of[c] && request->edge_columns >> c & 1;
    b->notes_places |= request->wants_edge_positions;
    b->row_start.data[0] = 0;
    return ERROR_NONE;
}

enum error_code batch_builder_add_node(struct batch_builder *b, uint32_t node, uint32_t seed,
                                       struct error *err)
{
    static const char what[] = "the nodes of a mini-batch";
    const size_t wanted = (size_t)b->node_count + 1;
    if (node >= b->topology->node_count)
        return error_set(err, ERROR_CORRUPT,
                         "a node of the mini-batch is %" PRIu32 ", expected below %" PRIu32, node,
                         b->topology->node_count);
    enum error_code rc =
        growing_array_reserve(&b->node, b->budget, wanted, b->node_count, what, err);
    if (rc == ERROR_NONE && b->is_disjoint)
        rc = growing_array_reserve(&b->seed_of, b->budget, wanted, b->node_count, what, err);
    if (rc != ERROR_NONE)
        return rc;
    if (b->is_disjoint)
        b->seed_of.data[b->node_count] = seed;
    b->node.data[b->node_count++] = node;
    return ERROR_NONE;
}

enum error_code batch_builder_enter(struct batch_builder *b, uint32_t node, uint32_t *local,
                                    struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (node >= b->topology->node_count || !known_nodes_has(b->known, node)) {
        rc = batch_builder_add_node(b, node, 0, err);
        if (rc == ERROR_NONE)
            known_nodes_add(b->known, node);
    }
    if (rc == ERROR_NONE)
        *local = known_nodes_local(b->known, node);
    return rc;
}

enum error_code batch_builder_add_edge(struct batch_builder *b, uint32_t local, uint64_t place,
                                       float factor, struct error *err)
{
    static const char what[] = "the edges of a mini-batch";
    const size_t wanted = (size_t)b->edge_count + 1;
    if (wanted > UINT32_MAX)
        return error_set(err, ERROR_INVALID,
                         "the mini-batch has over %" PRIu32
                         " edges; expected a smaller batch_size or lower fan-outs",
                         UINT32_MAX);
    enum error_code rc =
        growing_array_reserve(&b->neighbor, b->budget, wanted, b->edge_count, what, err);
    if (rc == ERROR_NONE && b->has_factors)
        rc = growing_array_reserve(&b->factor, b->budget, wanted, b->edge_count, what, err);
    if (rc == ERROR_NONE && b->notes_places)
        rc = edge_gather_reserve(&b->gather, b->budget, wanted, b->edge_count, err);
    if (rc != ERROR_NONE)
        return rc;
    b->neighbor.data[b->edge_count] = local;
    if (b->has_factors)
        memcpy(&b->factor.data[b->edge_count], &factor, sizeof factor);
    if (b->notes_places)
        edge_gather_places(&b->gather)[b->edge_count] = place;
    b->edge_count++;
    return ERROR_NONE;
}

enum error_code batch_builder_end_row(struct batch_builder *b, struct error *err)
{
    const enum error_code rc =
        growing_array_reserve(&b->row_start, b->budget, (size_t)b->row_count + 2,
                              (size_t)b->row_count + 1, "the rows of a mini-batch", err);
    if (rc == ERROR_NONE)
        b->row_start.data[++b->row_count] = b->edge_count;
    return rc;
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

enum error_code batch_builder_induce(struct batch_builder *b, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < b->node_count; i++) {
        struct graph_row row;
        rc = graph_row_of(b->topology, b->node.data[i], &row, err);
        for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++) {
            uint32_t node = 0;
            rc = graph_row_neighbor(b->topology, &row, k, &node, err);
            if (rc == ERROR_NONE && known_nodes_has(b->known, node))
                rc = batch_builder_add_edge(b, known_nodes_local(b->known, node),
                                            graph_row_place(&row, k), 1, err);
        }
        if (rc == ERROR_NONE)
            rc = batch_builder_end_row(b, err);
    }
    return rc;
}

static float column_of(const struct graph_row *row, enum edge_column column, uint32_t k)
{
    float value = 0;
    memcpy(&value, topology_column(row->part, column, row->start + k), sizeof value);
    return value;
}

/* Node i as it was at the time of its seed. */
static enum error_code look_back(struct batch_builder *b, const struct neighbor_request *request,
                                 uint32_t i, const struct graph_row *row, bool degrees, bool sums,
                                 struct error *err)
{
    const uint32_t seed = b->seed_of.data[i];
    uint32_t count = 0, loops = 0;
    double sum = 0;
    for (uint32_t k = 0; k < row->length; k++) {
        uint32_t node = 0;
        if (!time_limits_allow(&request->times, seed, graph_row_time(row, k)))
            continue;
        const enum error_code rc = graph_row_neighbor(b->topology, row, k, &node, err);
        if (rc != ERROR_NONE)
            return rc;
        if (time_limits_leave_out(&request->times, request->seed_node, seed, node, b->node.data[i],
                                  graph_row_time(row, k)))
            continue;
        count++;
        loops += node == b->node.data[i];
        sum += sums ? (double)column_of(row, EDGE_WEIGHT, k) : 0;
    }
    const float all = (float)(sum + (loops ? 0 : 1));
    if (degrees)
        b->degree.data[i] = count - loops;
    if (sums)
        memcpy(&b->weight_sum.data[i], &all, sizeof all);
    return ERROR_NONE;
}

/* In the whole graph. */
static enum error_code look_up_nodes(struct batch_builder *b,
                                     const struct neighbor_request *request, bool degrees,
                                     bool sums, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < b->node_count; i++) {
        struct graph_row row;
        rc = graph_row_of(b->topology, b->node.data[i], &row, err);
        if (rc != ERROR_NONE)
            return rc;
        if (b->seed_time) {
            rc = look_back(b, request, i, &row, degrees, sums, err);
            continue;
        }
        if (degrees)
            b->degree.data[i] = topology_degree(row.part, row.index, b->has_self_loops);
        if (sums)
            memcpy(&b->weight_sum.data[i], topology_weight_sum(row.part, row.index), sizeof(float));
    }
    return rc;
}

/* In the subgraph; as topology_weight_sum() has it, a node without an edge to itself counts one of weight 1. */
static void sum_rows(struct batch_builder *b, bool degrees, const float *weight)
{
    for (uint32_t i = 0; i < b->node_count; i++) {
        uint32_t loops = 0;
        double sum = 0;
        for (uint32_t e = b->row_start.data[i]; e < b->row_start.data[i + 1]; e++) {
            loops += b->neighbor.data[e] == i;
            sum += weight ? (double)weight[e] : 0;
        }
        if (degrees)
            b->degree.data[i] = b->row_start.data[i + 1] - b->row_start.data[i] - loops;
        const float all = (float)(sum + (loops ? 0 : 1));
        if (weight)
            memcpy(&b->weight_sum.data[i], &all, sizeof all);
    }
}

static enum error_code fill_nodes(struct batch_builder *b, const struct neighbor_request *request,
                                  bool is_whole, const float *weight, struct error *err)
{
    static const char what[] = "the degrees of a mini-batch";
    const bool degrees = request->wants_degree || b->has_factors;
    enum error_code rc = ERROR_NONE;
    if (degrees)
        rc = growing_array_reserve(&b->degree, b->budget, b->node_count, 0, what, err);
    if (rc == ERROR_NONE && weight)
        rc = growing_array_reserve(&b->weight_sum, b->budget, b->node_count, 0, what, err);
    if (rc != ERROR_NONE || (!degrees && !weight))
        return rc;
    if (!is_whole)
        return look_up_nodes(b, request, degrees, weight != NULL, err);
    sum_rows(b, degrees, weight);
    return ERROR_NONE;
}

enum error_code batch_builder_finish(struct batch_builder *b,
                                     const struct neighbor_request *request, enum batch_form form,
                                     struct mini_batch *out, struct error *err)
{
    const bool is_whole = form == BATCH_SUBGRAPH && !b->has_factors; /* a graph of its own */
    const bool wants_sums = request->wants_weight_sum && b->topology->width.of[EDGE_WEIGHT];
    struct edge_columns_view columns = {0};
    enum error_code rc = ERROR_NONE;
    must(!wants_sums || request->edge_columns >> EDGE_WEIGHT & 1);
    if (b->notes_places)
        rc = edge_gather_fill(&b->gather, b->budget, b->topology, request->edge_columns,
                              b->edge_count, &columns, err);
    if (rc == ERROR_NONE)
        rc = fill_nodes(b, request, is_whole, wants_sums ? columns.data[EDGE_WEIGHT] : NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    *out = (struct mini_batch){
        .form = form,
        .hop_count = request->hop_count,
        .seed_count = b->hop_end[0],
        .node_count = b->node_count,
        .row_count = b->row_count,
        .edge_count = b->edge_count,
        .hop_end = b->hop_end,
        .node = b->node.data,
        .row_start = b->row_start.data,
        .neighbor = b->neighbor.data,
        .degree = request->wants_degree || b->has_factors ? b->degree.data : NULL,
        .weight_sum = wants_sums ? (const float *)(const void *)b->weight_sum.data : NULL,
        .columns = columns,
        .edge_factor = b->has_factors ? (const float *)(const void *)b->factor.data : NULL,
        .seed_weight =
            b->has_seed_weights ? (const float *)(const void *)b->seed_weight.data : NULL,
        .seed_of = b->is_disjoint ? b->seed_of.data : NULL,
    };
    must(out->row_count == batch_form_rows(out));
    return request->wants_edge_positions
               ? edge_gather_positions(&b->gather, b->budget, b->topology, out, err)
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
