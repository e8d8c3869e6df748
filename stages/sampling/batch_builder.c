#include "stages/sampling/batch_builder.h"

#include "stages/sampling/neighbor_sampler.h"
#include "store/records/batch_form.h"

#include <inttypes.h>
#include <string.h>

void batch_builder_init(struct batch_builder *builder, const struct topology *topology,
                        const struct type_ranges *ranges, struct known_nodes *known,
                        struct sampled_lists *lists, bool has_self_loops)
{
    *builder = (struct batch_builder){.topology = topology,
                                      .ranges = ranges,
                                      .known = known,
                                      .lists = lists,
                                      .budget = lists->budget,
                                      .has_self_loops = has_self_loops};
}

void batch_builder_release(struct batch_builder *b)
{
    growing_array_release(&b->seed_weight, b->budget);
    growing_array_release(&b->degree, b->budget);
    growing_array_release(&b->weight_sum, b->budget);
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
    b->known->count = *local; /* of the node's type */
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

/* Returns where the last row that was ended ends. */
static uint32_t edges_ended(const struct batch_builder *b, const struct relation_rows *rows)
{
    if (!b->lists->lists_rows)
        return rows->row_start.data[rows->row_count];
    return rows->row_count ? rows->row_end.data[rows->row_count - 1] : 0;
}

enum error_code batch_builder_end_row(struct batch_builder *b, uint32_t relation, uint32_t local,
                                      struct error *err)
{
    static const char what[] = "the rows of a mini-batch";
    struct relation_rows *rows = &b->lists->relation[relation];
    const bool is_listed = b->lists->lists_rows;
    const size_t count = rows->row_count;
    if (is_listed && rows->edge_count == edges_ended(b, rows))
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

/* Adds the edges of a node from nodes that were entered. */
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

static float column_of(const struct graph_row *row, enum edge_column column, uint32_t k)
{
    float value = 0;
    memcpy(&value, topology_column(row->part, column, row->start + k), sizeof value);
    return value;
}

/* The sums of a row of the whole graph, or of the part that a seed sees. */
struct row_sums {
    uint32_t edges, loops;
    double weights;
};

/* Sums up the row of a relation as its node's seed sees it. `node` is number `local` of its
 * type. */
static enum error_code look_back(struct batch_builder *b, const struct neighbor_request *request,
                                 uint32_t relation, uint32_t local, const struct graph_row *row,
                                 bool has_weights, struct row_sums *out, struct error *err)
{
    const uint32_t type = b->lists->relation[relation].target;
    const uint32_t target = b->lists->node[type].data[local];
    const uint32_t seed = b->lists->seed_of[type].data[local];
    *out = (struct row_sums){0};
    for (uint32_t k = 0; k < row->length; k++) {
        uint32_t node = 0;
        if (!time_limits_allow(&request->times, seed, graph_row_time(row, k)))
            continue;
        const enum error_code rc = graph_row_neighbor(b->topology, row, k, &node, err);
        if (rc != ERROR_NONE)
            return rc;
        if (time_limits_leave_out(&request->times, request->seed_node, seed, node, target,
                                  graph_row_time(row, k)))
            continue;
        out->edges++;
        out->loops += node == target;
        out->weights += has_weights ? (double)column_of(row, EDGE_WEIGHT, k) : 0;
    }
    return ERROR_NONE;
}

/* In the whole graph, of the nodes of a graph whose rows are not listed. */
static enum error_code look_up_nodes(struct batch_builder *b,
                                     const struct neighbor_request *request, bool degrees,
                                     bool sums, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < b->lists->count[0]; i++) {
        struct row_sums seen;
        struct graph_row row;
        rc = graph_row_of(b->topology, b->lists->node[0].data[i], &row, err);
        if (rc == ERROR_NONE && b->seed_time)
            rc = look_back(b, request, 0, i, &row, sums, &seen, err);
        if (rc != ERROR_NONE)
            return rc;
        const float all = (float)(b->seed_time ? seen.weights + (seen.loops ? 0 : 1) : 0);
        if (degrees)
            b->degree.data[i] = b->seed_time
                                    ? seen.edges - seen.loops
                                    : topology_degree(row.part, row.index, b->has_self_loops);
        if (sums)
            memcpy(&b->weight_sum.data[i],
                   b->seed_time ? &all : topology_weight_sum(row.part, row.index), sizeof(float));
    }
    return rc;
}

/* In the subgraph; as topology_weight_sum() has it, a node without an edge to itself counts one of weight 1. */
static void sum_rows(struct batch_builder *b, bool degrees, const float *weight)
{
    const struct relation_rows *rows = b->lists->relation;
    const uint32_t *row_start = rows->row_start.data;
    for (uint32_t i = 0; i < b->lists->count[0]; i++) {
        uint32_t loops = 0;
        double sum = 0;
        for (uint32_t e = row_start[i]; e < row_start[i + 1]; e++) {
            loops += rows->neighbor.data[e] == i;
            sum += weight ? (double)weight[e] : 0;
        }
        if (degrees)
            b->degree.data[i] = row_start[i + 1] - row_start[i] - loops;
        const float all = (float)(sum + (loops ? 0 : 1));
        if (weight)
            memcpy(&b->weight_sum.data[i], &all, sizeof all);
    }
}

static enum error_code fill_nodes(struct batch_builder *b, const struct neighbor_request *request,
                                  bool is_whole, bool degrees, const float *weight,
                                  struct error *err)
{
    static const char what[] = "the degrees of a mini-batch";
    const size_t count = b->lists->count[0];
    enum error_code rc = ERROR_NONE;
    if (degrees)
        rc = growing_array_reserve(&b->degree, b->budget, count, 0, what, err);
    if (rc == ERROR_NONE && weight)
        rc = growing_array_reserve(&b->weight_sum, b->budget, count, 0, what, err);
    if (rc != ERROR_NONE || (!degrees && !weight))
        return rc;
    if (!is_whole)
        return look_up_nodes(b, request, degrees, weight != NULL, err);
    sum_rows(b, degrees, weight);
    return ERROR_NONE;
}

/* The degrees of the rows of a relation that are listed: its edges in the subgraph, or in the whole
 * graph as its seed sees it. */
static enum error_code fill_rows(struct batch_builder *b, const struct neighbor_request *request,
                                 uint32_t relation, bool is_whole, struct error *err)
{
    struct relation_rows *rows = &b->lists->relation[relation];
    const uint32_t *node = b->lists->node[rows->target].data;
    enum error_code rc =
        growing_array_reserve(&rows->degree, b->budget, (size_t)rows->row_count + 1, 0,
                              "the degrees of a mini-batch", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < rows->row_count; i++) {
        const uint32_t local = rows->row.data[i];
        struct row_sums seen = {0};
        struct graph_row row = {0};
        if (is_whole) {
            rows->degree.data[i] = rows->row_end.data[i] - (i ? rows->row_end.data[i - 1] : 0);
            continue;
        }
        rc = graph_row_of_relation(b->topology, relation, node[local], &row, err);
        seen.edges = row.length;
        if (rc == ERROR_NONE && b->seed_time)
            rc = look_back(b, request, relation, local, &row, false, &seen, err);
        rows->degree.data[i] = seen.edges;
    }
    return rc;
}

/* Looks up what the whole graph has of each node, where rows are not listed. */
static enum error_code look_up(struct batch_builder *b, const struct neighbor_request *request,
                               bool is_whole, bool wants_degrees, struct mini_batch *out,
                               struct error *err)
{
    const bool wants_sums = request->wants_weight_sum && b->topology->width.of[EDGE_WEIGHT];
    const enum error_code rc = fill_nodes(b, request, is_whole, wants_degrees,
                                          wants_sums ? out->columns.data[EDGE_WEIGHT] : NULL, err);
    must(!wants_sums || request->edge_columns >> EDGE_WEIGHT & 1);
    out->degree = wants_degrees ? b->degree.data : NULL;
    out->weight_sum = wants_sums ? (const float *)(const void *)b->weight_sum.data : NULL;
    return rc;
}

enum error_code batch_builder_finish(struct batch_builder *b,
                                     const struct neighbor_request *request, enum batch_form form,
                                     struct mini_batch *out, struct error *err)
{
    struct sampled_lists *lists = b->lists;
    const bool is_whole = form == BATCH_SUBGRAPH && !b->has_factors; /* a graph of its own */
    const struct listed_values has = {.degrees = request->wants_degree || b->has_factors,
                                      .places = b->notes_places,
                                      .factors = b->has_factors,
                                      .seed_of = b->is_disjoint};
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0;
         rc == ERROR_NONE && lists->lists_rows && has.degrees && r < lists->relation_count; r++)
        rc = fill_rows(b, request, r, is_whole, err);
    if (rc == ERROR_NONE)
        rc = sampled_lists_batch(lists, request->hop_count, &has, out, err);
    if (rc == ERROR_NONE && b->notes_places)
        rc = edge_gather_fill(&lists->gather, b->budget, b->topology, request->edge_columns,
                              out->edge_count, &out->columns, err);
    if (rc == ERROR_NONE && !lists->lists_rows)
        rc = look_up(b, request, is_whole, has.degrees, out, err);
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
