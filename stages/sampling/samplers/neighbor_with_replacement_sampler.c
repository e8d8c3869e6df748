/*
 * neighbor_with_replacement_sampler - draws neighbours of a long row with replacement, each
 * equally likely at every draw, as PyG's NeighborLoader(replace=True) and DGL's
 * sample_neighbors(replace=True) do.
 *
 * A neighbour that is drawn k times is in the row k times. Means stay unbiased, with more variance
 * than without replacement, but the draws of a row are independent of each other, as some proofs
 * assume. A row that is not longer than the fan-out is taken whole, each neighbour once: that is
 * exact, while PyG draws from it.
 */
#include "common/numbers/random.h"
#include "stages/sampling/samplers/sampler.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* An edge_choice. NOLINTNEXTLINE(readability-non-const-parameter) */
static enum error_code choose(const struct row_choice *row, uint32_t *position, uint64_t *scratch,
                              struct error *err)
{
    uint32_t word[4];
    (void)scratch, (void)err;
    for (uint32_t k = 0; k < row->count; k++) {
        if (k % 4 == 0)
            random_block(row->stream, row->node, k / 4, word);
        position[k] = random_below(word[k % 4], row->length);
    }
    qsort(position, row->count, sizeof *position, ascending);
    return ERROR_NONE;
}

static enum error_code draw(struct neighbor_sampler *sampler,
                            const struct neighbor_request *request, struct mini_batch *out,
                            struct error *err)
{
    struct neighbor_request replacing = *request;
    replacing.choose = choose;
    return neighbor_sampler_draw(sampler, &replacing, out, err);
}

const struct sampler neighbor_with_replacement_row = {.name = "neighbor_with_replacement",
                                                      .has_neighborhoods = true,
                                                      .takes_graphs = true,
                                                      .draw = draw};
