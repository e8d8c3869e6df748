#include "store/records/batch/batch_form.h"

#include "common/numbers/ascending.h"
#include "common/numbers/cpu_kernel.h"

#include <inttypes.h>
#include <stdbool.h>

/* Returns where the rows of a hop begin. The result is below 2^32 in a sound batch. */
static uint64_t first_row(const struct mini_batch *batch, int hop)
{
    uint64_t first = 0;
    for (int h = 0; batch->form == BATCH_LAYERED && h < hop; h++)
        first += batch->hop_end[h];
    return first;
}

uint64_t batch_form_rows(const struct mini_batch *batch)
{
    if (batch->hop_count == 0)
        return 0;
    if (batch->form == BATCH_LAYERED)
        return first_row(batch, batch->hop_count);
    return batch->hop_end[batch->form == BATCH_SUBGRAPH ? batch->hop_count : batch->hop_count - 1];
}

uint32_t batch_form_node_of_row(const struct mini_batch *batch, uint32_t relation, uint32_t row)
{
    if (batch->row)
        return batch->row[mini_batch_row_begin(batch, relation) + row];
    for (int hop = 0; batch->form == BATCH_LAYERED && row >= batch->hop_end[hop]; hop++)
        row -= batch->hop_end[hop];
    return row;
}

struct message_block mini_batch_block(const struct mini_batch *batch, int layer)
{
    const int hop = batch->hop_count - 1 - layer;
    if (hop < 0)
        return (struct message_block){0};
    return (struct message_block){
        .destination_count = batch->hop_end[hop],
        .source_count = batch->hop_end[hop + 1],
        .row_start = batch->row_start + first_row(batch, hop),
        .neighbor = batch->neighbor,
        .degree = batch->degree,
        .edge_value = batch->columns.data[EDGE_WEIGHT],
        .edge_factor = batch->edge_factor,
        .value_sum = batch->weight_sum,
        .edge_feature = batch->columns.data[EDGE_FEATURE],
        .edge_feature_dim = batch->columns.width.of[EDGE_FEATURE],
    };
}

/* Returns where the rows of each hop begin in the relation if a LAYERED batch lists them, otherwise
 * NULL. */
static const uint32_t *hop_rows(const struct mini_batch *batch, uint32_t relation)
{
    return batch->hop_row ? batch->hop_row + (size_t)relation * ((size_t)batch->hop_count + 1)
                          : NULL;
}

/* Finds the listed rows of a relation that the layer of a hop computes: [*first, *end). */
static void listed_rows(const struct mini_batch *batch, uint32_t relation, int hop, uint32_t *first,
                        uint32_t *end)
{
    const uint32_t begin = mini_batch_row_begin(batch, relation);
    const uint32_t target = mini_batch_target_type(batch, relation);
    const uint32_t *of_hop = hop_rows(batch, relation);
    *first = batch->form == BATCH_LAYERED ? of_hop[hop] : 0;
    *end = batch->form == BATCH_LAYERED
               ? of_hop[hop + 1]
               : (uint32_t)ascending_below(batch->row + begin,
                                           mini_batch_row_begin(batch, relation + 1) - begin,
                                           mini_batch_known(batch, target, hop));
}

/* Sets the degrees of the ends of a relation's edges if the batch stores them. */
static void find_ends(const struct mini_batch *batch, uint32_t relation, struct relation_edges *out)
{
    if (!batch->back || batch->back[relation] == RELATION_COUNT_MAX)
        return;
    const uint64_t source = mini_batch_ends(batch, batch->back[relation]);
    out->source_degree = batch->end_degree + source;
    if (!batch->weight_sum)
        return;
    out->source_sum = batch->weight_sum + source;
    out->target_sum = batch->weight_sum + mini_batch_ends(batch, relation);
}

static struct relation_edges listed_edges(const struct mini_batch *batch, uint32_t relation,
                                          int hop)
{
    const uint32_t begin = mini_batch_row_begin(batch, relation);
    const uint32_t edge = mini_batch_edge_begin(batch, relation);
    const struct edge_columns_view columns = edge_columns_from(&batch->columns, edge);
    uint32_t first = 0, end = 0;
    listed_rows(batch, relation, hop, &first, &end);
    return (struct relation_edges){
        .block = {.destination_count = end - first,
                  .source_count =
                      mini_batch_known(batch, mini_batch_source_type(batch, relation), hop + 1),
                  .is_bipartite = true,
                  .row_start = mini_batch_row_starts(batch, relation) + first,
                  .neighbor = batch->neighbor + edge,
                  .degree = batch->degree ? batch->degree + begin + first : NULL,
                  .edge_value = columns.data[EDGE_WEIGHT],
                  .edge_factor = batch->edge_factor ? batch->edge_factor + edge : NULL,
                  .edge_feature = columns.data[EDGE_FEATURE],
                  .edge_feature_dim = columns.width.of[EDGE_FEATURE]},
        .row = batch->row + begin + first};
}

/* Returns the edges of the one relation of a batch that does not list its rows. The batch's nodes
 * are the sources, so the batch's values of nodes are those of sources. */
static struct relation_edges all_edges(const struct mini_batch *batch, int layer)
{
    const struct message_block block = mini_batch_block(batch, layer);
    return (struct relation_edges){
        .block = block, .source_degree = block.degree, .source_sum = block.value_sum};
}

void mini_batch_relation_block(const struct mini_batch *batch, int layer,
                               uint32_t *destination_count, uint32_t *source_count,
                               struct relation_edges *edges, struct relation_block *out)
{
    const int hop = batch->hop_count - 1 - layer;
    must(layer >= 0 && hop >= 0);
    for (uint32_t t = 0; t < mini_batch_types(batch); t++) {
        destination_count[t] = mini_batch_known(batch, t, hop);
        source_count[t] = mini_batch_known(batch, t, hop + 1);
    }
    for (uint32_t r = 0; r < mini_batch_relations(batch); r++) {
        edges[r] = batch->row ? listed_edges(batch, r, hop) : all_edges(batch, layer);
        find_ends(batch, r, &edges[r]);
    }
    *out = (struct relation_block){destination_count, source_count, edges};
}

static enum error_code check_hops_of_type(const struct mini_batch *batch, uint32_t type,
                                          struct error *err)
{
    const int first = (int)type * (batch->hop_count + 1), last = first + batch->hop_count;
    const uint32_t *end = batch->hop_end;
    for (int i = first; i < last; i++) {
        if (end[i + 1] < end[i])
            return error_set(err, ERROR_CORRUPT,
                             "hop_end[%d]: expected at least hop_end[%d] = %" PRIu32
                             ", found %" PRIu32,
                             i + 1, i, end[i], end[i + 1]);
        if (batch->form == BATCH_SUBGRAPH && end[i + 1] != end[first + 1])
            return error_set(err, ERROR_CORRUPT,
                             "hop_end[%d]: expected all %" PRIu32
                             " nodes, as hop_end[%d] has, found %" PRIu32,
                             i + 1, end[first + 1], first + 1, end[i + 1]);
    }
    return ERROR_NONE;
}

enum error_code batch_form_check_hops(const struct mini_batch *batch, struct error *err)
{
    if (mini_batch_seeds(batch, mini_batch_types(batch)) == 0)
        return error_set(err, ERROR_CORRUPT,
                         "hop_end[0]: expected at least one seed node, found 0");
    for (uint32_t t = 0; t < mini_batch_types(batch); t++) {
        const enum error_code rc = check_hops_of_type(batch, t, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    if (mini_batch_relations(batch) == 1 && batch_form_rows(batch) > UINT32_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "hop_end: expected at most %" PRIu32 " rows, found %" PRIu64, UINT32_MAX,
                         batch_form_rows(batch));
    return ERROR_NONE;
}

CPU_KERNEL_OF(uint32_t, largest_source, (const uint32_t *value, uint32_t count), (value, count))
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++)
        largest = value[i] > largest ? value[i] : largest;
    return largest;
}

static enum error_code check_rows_of_hop(const struct mini_batch *batch, uint32_t first,
                                         uint32_t end, uint32_t limit, struct error *err)
{
    for (uint32_t i = first; i < end; i++)
        if (batch->row[i] >= limit || (i > first && batch->row[i] <= batch->row[i - 1]))
            return error_set(err, ERROR_CORRUPT,
                             "row[%" PRIu32 "]: expected ascending below %" PRIu32
                             ", found %" PRIu32,
                             i, limit, batch->row[i]);
    return ERROR_NONE;
}

enum error_code batch_form_check_rows(const struct mini_batch *batch, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < mini_batch_relations(batch); r++) {
        const uint32_t begin = mini_batch_row_begin(batch, r), t = mini_batch_target_type(batch, r);
        const uint32_t *of_hop = hop_rows(batch, r);
        const int last = batch->form == BATCH_NESTED ? batch->hop_count - 1 : batch->hop_count;
        if (batch->form != BATCH_LAYERED)
            rc = check_rows_of_hop(batch, begin, mini_batch_row_begin(batch, r + 1),
                                   last < 0 ? 0 : mini_batch_known(batch, t, last), err);
        else
            for (int hop = 0; rc == ERROR_NONE && hop < batch->hop_count; hop++)
                rc = check_rows_of_hop(batch, begin + of_hop[hop], begin + of_hop[hop + 1],
                                       mini_batch_known(batch, t, hop), err);
    }
    return rc;
}

/* Returns how many sources are known to row `i` of the relation. */
static uint32_t sources_known(const struct mini_batch *batch, uint32_t relation, uint32_t i)
{
    const uint32_t source = mini_batch_source_type(batch, relation);
    const uint32_t target = mini_batch_target_type(batch, relation);
    const uint32_t *of_hop = hop_rows(batch, relation);
    const uint32_t node = batch_form_node_of_row(batch, relation, i);
    int hop = batch->form == BATCH_SUBGRAPH ? batch->hop_count - 1 : 0;
    while (batch->form == BATCH_NESTED && node >= mini_batch_known(batch, target, hop))
        hop++;
    while (batch->form == BATCH_LAYERED && i >= of_hop[hop + 1])
        hop++;
    return mini_batch_known(batch, source, hop + 1);
}

static enum error_code check_listed(const struct mini_batch *batch, uint32_t relation,
                                    struct error *err)
{
    const uint32_t begin = mini_batch_row_begin(batch, relation);
    const uint32_t *start = mini_batch_row_starts(batch, relation);
    const uint32_t edge = mini_batch_edge_begin(batch, relation);
    for (uint32_t i = 0; i < mini_batch_row_begin(batch, relation + 1) - begin; i++) {
        const uint32_t known = sources_known(batch, relation, i);
        for (uint32_t e = edge + start[i]; e < edge + start[i + 1]; e++)
            if (batch->neighbor[e] >= known)
                return error_set(err, ERROR_CORRUPT,
                                 "neighbor[%" PRIu32 "]: expected below %" PRIu32
                                 ", found %" PRIu32,
                                 e, known, batch->neighbor[e]);
        if (batch->degree && !batch->edge_factor &&
            batch->degree[begin + i] < start[i + 1] - start[i])
            return error_set(err, ERROR_CORRUPT,
                             "degree[%" PRIu32 "]: expected at least %" PRIu32 ", found %" PRIu32,
                             begin + i, start[i + 1] - start[i], batch->degree[begin + i]);
    }
    return ERROR_NONE;
}

enum error_code batch_form_check_neighbors(const struct mini_batch *batch, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; batch->row && rc == ERROR_NONE && r < mini_batch_relations(batch); r++)
        rc = check_listed(batch, r, err);
    if (batch->row)
        return rc;
    const bool is_nested = batch->form == BATCH_NESTED;
    for (int hop = 0; hop < batch->hop_count; hop++) {
        const uint64_t base = first_row(batch, hop);
        const uint32_t rows =
            batch->form == BATCH_SUBGRAPH ? batch->node_count : batch->hop_end[hop];
        const uint32_t limit = batch->hop_end[hop + 1];
        const uint32_t first =
            batch->row_start[is_nested ? (hop ? batch->hop_end[hop - 1] : 0) : base];
        const uint32_t last = batch->row_start[base + rows];
        const bool is_wrong =
            first < last && largest_source(batch->neighbor + first, last - first) >= limit;
        for (uint32_t e = first; is_wrong && e < last; e++)
            if (batch->neighbor[e] >= limit)
                return error_set(err, ERROR_CORRUPT,
                                 "neighbor[%" PRIu32 "]: expected below hop_end[%d] = %" PRIu32
                                 ", found %" PRIu32,
                                 e, hop + 1, limit, batch->neighbor[e]);
        if (batch->form == BATCH_SUBGRAPH)
            break;
    }
    return ERROR_NONE;
}

/* Returns the seed that node `i` of a type belongs to. */
static uint32_t seed_of(const struct mini_batch *batch, uint32_t type, uint32_t i)
{
    return batch->seed_of[mini_batch_node_begin(batch, type) + i];
}

static enum error_code check_apart(const struct mini_batch *batch, uint32_t relation,
                                   struct error *err)
{
    const uint32_t source = mini_batch_source_type(batch, relation);
    const uint32_t target = mini_batch_target_type(batch, relation);
    const uint32_t *start = mini_batch_row_starts(batch, relation);
    const uint32_t first = mini_batch_row_begin(batch, relation);
    const uint32_t edge = mini_batch_edge_begin(batch, relation);
    for (uint32_t i = 0; i < mini_batch_row_begin(batch, relation + 1) - first; i++) {
        const uint32_t own = seed_of(batch, target, batch_form_node_of_row(batch, relation, i));
        for (uint32_t e = edge + start[i]; e < edge + start[i + 1]; e++)
            if (seed_of(batch, source, batch->neighbor[e]) != own)
                return error_set(err, ERROR_CORRUPT,
                                 "neighbor[%" PRIu32 "]: expected a node of seed %" PRIu32
                                 ", found one of seed %" PRIu32,
                                 e, own, seed_of(batch, source, batch->neighbor[e]));
    }
    return ERROR_NONE;
}

/* Checks the nodes of a type, whose first seed has the number `first`. */
static enum error_code check_seeds(const struct mini_batch *batch, uint32_t type, uint32_t first,
                                   struct error *err)
{
    const uint32_t begin = mini_batch_node_begin(batch, type);
    const uint32_t seeds = mini_batch_known(batch, type, 0);
    for (uint32_t i = 0; i < mini_batch_node_begin(batch, type + 1) - begin; i++) {
        const uint32_t found = batch->seed_of[begin + i];
        if (i < seeds ? found != first + i : found >= batch->seed_count)
            return error_set(
                err, ERROR_CORRUPT,
                "seed_of[%" PRIu32 "]: expected %s of %" PRIu32 " seeds, found %" PRIu32, begin + i,
                i < seeds ? "itself, one" : "one", batch->seed_count, found);
    }
    return ERROR_NONE;
}

enum error_code batch_form_check_disjoint(const struct mini_batch *batch, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < mini_batch_types(batch); t++)
        rc = check_seeds(batch, t, mini_batch_seeds(batch, t), err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < mini_batch_relations(batch); r++)
        rc = check_apart(batch, r, err);
    return rc;
}
