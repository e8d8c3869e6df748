#include "stages/sampling/layer_rows.h"

#include <inttypes.h>

enum error_code layer_rows_begin(struct batch_builder *b, const struct neighbor_request *request,
                                 struct error *err)
{
    enum error_code rc = batch_builder_begin(b, request, err);
    b->has_factors = true;
    for (uint32_t i = 0; rc == ERROR_NONE && i < request->seed_count; i++) {
        uint32_t local = 0;
        rc = batch_builder_enter(b, request->seed_node[i], &local, err);
        if (rc == ERROR_NONE && local != i)
            return error_set(err, ERROR_CORRUPT,
                             "seed %" PRIu32 " is node %" PRIu32 ", which is seed %" PRIu32
                             " already, expected each node once",
                             i, request->seed_node[i], local);
    }
    batch_builder_end_hop(b, 0);
    return rc;
}

/* The factors of the row that ends now, times what makes their sum the number of its edges. */
static void normalise(struct batch_builder *b, uint32_t first, uint32_t length)
{
    float *factor = (float *)(void *)b->lists->relation[0].factor.data;
    const uint32_t end = b->lists->relation[0].edge_count;
    double sum = 0;
    for (uint32_t e = first; e < end; e++)
        sum += (double)factor[e];
    for (uint32_t e = first; e < end; e++)
        factor[e] = (float)((double)factor[e] * (length / sum));
}

static enum error_code add_row(struct batch_builder *b, int hop, uint32_t target,
                               const struct layer_choice *choice, struct error *err)
{
    struct graph_row row;
    const uint32_t first = b->lists->relation[0].edge_count;
    enum error_code rc = graph_row_of(b->topology, b->lists->node[0].data[target], &row, err);
    for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++) {
        uint32_t source = 0, local = 0;
        float factor = 1;
        rc = graph_row_neighbor(b->topology, &row, k, &source, err);
        if (rc != ERROR_NONE)
            break;
        if (!choice->takes_all) {
            const uint32_t number = pair_table_find(&b->pairs, (uint32_t)hop, source);
            factor = number == PAIR_TABLE_NONE ? 0 : choice->factor[number];
        }
        if (!(factor > 0))
            continue;
        rc = batch_builder_enter(b, source, &local, err);
        if (rc == ERROR_NONE)
            rc = batch_builder_add_edge(b, 0, local, graph_row_place(&row, k), factor, err);
    }
    if (choice->normalises)
        normalise(b, first, row.length);
    return rc == ERROR_NONE ? batch_builder_end_row(b, 0, target, err) : rc;
}

enum error_code layer_rows_add(struct batch_builder *b, int hop, const struct layer_choice *choice,
                               struct error *err)
{
    const uint32_t known = *batch_builder_known(b, 0, hop);
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < known; i++)
        rc = add_row(b, hop, i, choice, err);
    batch_builder_end_hop(b, hop + 1);
    return rc;
}
