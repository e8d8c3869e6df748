/*
 * ladies_sampler - draws for each layer some neighbours of the layer above, by importance (Zou et
 * al., "Layer-Dependent Importance Sampling for Training Deep and Large Graph Convolutional
 * Networks", NeurIPS 2019).
 *
 * Candidates are the sources of all edges to the nodes so far. fanouts[h] nodes are drawn, with
 * replacement. The chance of node u is the paper's: p_u = sum over the nodes v so far of P_vu^2 /
 * sum of all, where P_vu = 1 / (d_v + 1) as in the authors' program. An edge from a node that was
 * drawn k times of n stands for k / (n p_u) edges. Then the factors of a row are scaled to the
 * number of its edges, as the paper normalises the rows of the sampled matrix: that lowers the
 * variance, for a bias that vanishes with n. When there are no more candidates than draws, all are
 * taken, each once.
 */
#include "stages/sampling/samplers/layer_rows.h"
#include "stages/sampling/samplers/sampler.h"

#include <string.h>

enum { NODES, CHANCES, FACTORS };

struct candidates {
    uint32_t count;
    double *chance; /* [count]; later the sums up to each candidate */
    double sum;
};

static enum error_code add_candidate(struct batch_builder *b, uint32_t key, uint32_t node,
                                     double entry, struct candidates *c, struct error *err)
{
    void *data = NULL;
    uint32_t number = pair_table_find(&b->pairs, key, node);
    enum error_code rc = ERROR_NONE;
    if (number == PAIR_TABLE_NONE) {
        number = c->count;
        rc = pair_table_add(&b->pairs, b->budget, key, node, number, err);
        if (rc == ERROR_NONE)
            rc = batch_builder_scratch(b, CHANCES, (size_t)number + 1, 2, number, &data, err);
        if (rc != ERROR_NONE)
            return rc;
        c->chance = data;
        c->chance[c->count++] = 0;
    }
    must(c->chance);
    c->chance[number] += entry * entry;
    return rc;
}

static enum error_code find_candidates(struct batch_builder *b, uint32_t relation, int hop,
                                       struct candidates *c, struct error *err)
{
    const uint32_t type = b->lists->relation[relation].target;
    const uint32_t known = *batch_builder_known(b, type, hop), key = layer_rows_key(relation, hop);
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < known; i++) {
        struct graph_row row;
        rc = graph_row_of_relation(b->topology, relation, b->lists->node[type].data[i], &row, err);
        for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++) {
            uint32_t node = 0;
            rc = graph_row_neighbor(b->topology, &row, k, &node, err);
            if (rc == ERROR_NONE)
                rc = add_candidate(b, key, node, 1 / ((double)row.length + 1), c, err);
        }
    }
    return rc;
}

/* Returns the first candidate whose sum is above `at`. */
static uint32_t find(const double *end, uint32_t count, double at)
{
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (end[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static enum error_code draw_nodes(struct batch_builder *b, const struct random_stream *stream,
                                  uint32_t draws, struct candidates *c, struct layer_choice *choice,
                                  struct error *err)
{
    void *data = NULL;
    const enum error_code rc = batch_builder_scratch(b, FACTORS, c->count, 1, 0, &data, err);
    float *factor = data;
    if (rc != ERROR_NONE)
        return rc;
    memset(factor, 0, c->count * sizeof *factor);
    for (uint32_t i = 0; i < c->count; i++)
        c->chance[i] = c->sum += c->chance[i];
    for (uint32_t i = 0; i < draws; i++) {
        const uint32_t one = find(c->chance, c->count, random_unit_double(stream, i, 0) * c->sum);
        const double chance = (c->chance[one] - (one ? c->chance[one - 1] : 0)) / c->sum;
        factor[one] += (float)(1 / (draws * chance));
    }
    choice->factor = factor;
    return ERROR_NONE;
}

static enum error_code choose(struct batch_builder *b, const struct neighbor_request *request,
                              uint32_t relation, int hop, uint32_t draws,
                              const struct random_stream *stream, struct layer_choice *choice,
                              struct error *err)
{
    struct candidates candidates = {0};
    const enum error_code rc = find_candidates(b, relation, hop, &candidates, err);
    (void)request;
    choice->takes_all = candidates.count <= draws;
    choice->normalises = true;
    return rc == ERROR_NONE && !choice->takes_all
               ? draw_nodes(b, stream, draws, &candidates, choice, err)
               : rc;
}

static enum error_code draw(struct neighbor_sampler *sampler,
                            const struct neighbor_request *request, struct mini_batch *out,
                            struct error *err)
{
    return layer_rows_batch(sampler, request, choose, out, err);
}

const struct sampler ladies_row = {
    .name = "ladies", .form = BATCH_LAYERED, .has_factors = true, .draw = draw};
