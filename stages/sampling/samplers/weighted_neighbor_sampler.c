/*
 * weighted_neighbor_sampler - keeps neighbours by the weights of their edges, none twice, as PyG's
 * weighted NeighborLoader does.
 *
 * The first neighbour is drawn with chances proportional to the weights, the next one in the same
 * way among those left, and so on. The edges with the least keys have the same distribution, where
 * the key of an edge of weight w is E / w, with E exponential (Efraimidis and Spirakis, "Weighted
 * random sampling with a reservoir", IPL 97, 2006). That takes one pass over the row, in any
 * order. An edge of weight 0 has an infinite key: it is kept only if there are too few other
 * edges, the first ones first. The code uses logf, as the losses do: its bits are the same with
 * and without fused multiply-add.
 */
#include "common/numbers/random.h"
#include "stages/sampling/samplers/sampler.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An entry of a heap with the largest key on top. */
struct candidate {
    float key;
    uint32_t position;
};
_Static_assert(sizeof(struct candidate) == sizeof(uint64_t), "scratch has 8 bytes an edge");

static bool is_before(struct candidate a, struct candidate b)
{
    return a.key < b.key || (!(b.key < a.key) && a.position < b.position);
}

/* Puts `one` in the place of entry `at`, or deeper if the heap below has larger keys. */
static void sink(struct candidate *heap, uint32_t count, uint32_t at, struct candidate one)
{
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_before(heap[child], heap[child + 1]))
            child++;
        if (!is_before(one, heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = one;
}

/* Returns E = -log u, where u is the middle of one of 2^24 intervals between 0 and 1. */
static float exponential(uint32_t word)
{
    return -logf(((float)(word >> 8) + 0.5F) * 0x1p-24F);
}

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static enum error_code choose(const struct row_choice *row, uint32_t *position, uint64_t *scratch,
                              struct error *err)
{
    struct candidate *heap = (struct candidate *)(void *)scratch;
    uint32_t word[4], skipped = 0;
    for (uint32_t i = 0; i < row->length; i++) {
        float weight = 0;
        while (skipped < row->excluded_count && row->excluded[skipped] <= i + skipped)
            skipped++;
        memcpy(&weight, topology_column(row->part, EDGE_WEIGHT, row->start + i + skipped),
               sizeof weight);
        if (!(weight >= 0) || isinf(weight))
            return error_set(err, ERROR_INPUT,
                             "edge %" PRIu32 " of node %" PRIu32 " has weight %g: sample.sampler "
                             "weighted_neighbor expects 0 or more",
                             i, row->node, (double)weight);
        if (i % 4 == 0) /* a block number has 24 bits; higher bits go beside the node */
            random_block(row->stream, (uint64_t)(i >> 26) << 32 | row->node, i / 4 % (1U << 24),
                         word);
        const struct candidate one = {weight > 0 ? exponential(word[i % 4]) / weight : INFINITY, i};
        if (i < row->count)
            heap[i] = one;
        if (i + 1 == row->count)
            for (uint32_t at = row->count / 2; at-- > 0;)
                sink(heap, row->count, at, heap[at]);
        else if (i >= row->count && is_before(one, heap[0]))
            sink(heap, row->count, 0, one);
    }
    for (uint32_t k = 0; k < row->count; k++)
        position[k] = heap[k].position;
    qsort(position, row->count, sizeof *position, ascending);
    return ERROR_NONE;
}

static enum error_code draw(struct neighbor_sampler *sampler,
                            const struct neighbor_request *request, struct mini_batch *out,
                            struct error *err)
{
    struct neighbor_request weighted = *request;
    weighted.choose = choose;
    return neighbor_sampler_draw(sampler, &weighted, out, err);
}

const struct sampler weighted_neighbor_row = {.name = "weighted_neighbor",
                                              .needs = 1U << EDGE_WEIGHT,
                                              .has_neighborhoods = true,
                                              .refuses_negatives = true,
                                              .takes_pairs = true,
                                              .takes_graphs = true,
                                              .draw = draw};
