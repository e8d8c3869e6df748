/* block_fixture - random message blocks and input rows for tests of the model. */
#ifndef TESTS_SUPPORT_BLOCK_FIXTURE_H
#define TESTS_SUPPORT_BLOCK_FIXTURE_H

#include "common/graph/message_block.h"
#include "common/nn/model.h"

#include <stdint.h>

struct block_fixture {
    struct message_block block[LAYER_COUNT_MAX];
    struct input_rows input;
    uint32_t node_count, edge_count;
    /* owned */
    uint32_t *row_start, *neighbor, *degree, *row_index;
    float *feature, *edge_value, *value_sum, *edge_feature;
    bf16 *rounded;
};

/* Makes blocks as in a mini-batch: the nodes below hop_end[h] are known after hop h; hop_end
 * [layer_count + 1]. Rows have 0 to 6 entries, including self loops and repeated neighbours; every
 * third row has a higher degree than entries, as if it was sampled. Aborts without memory. */
void block_fixture_make(struct block_fixture *fixture, int layer_count, const uint32_t *hop_end,
                        uint32_t dim, uint64_t seed);
/* Makes a random graph of `node_count` nodes; every block is the whole graph, without sampling. */
void block_fixture_whole(struct block_fixture *fixture, int layer_count, uint32_t node_count,
                         uint32_t dim, uint64_t seed);
/* Makes the mini-batch of all neighbours for `seed_count` nodes (0, 1, ...) of the graph
 * `whole`. */
void block_fixture_neighborhood(struct block_fixture *fixture, const struct block_fixture *whole,
                                int layer_count, uint32_t seed_count);
/* Gives edges values around 1, and nodes the sums of them. */
void block_fixture_value_edges(struct block_fixture *fixture, int layer_count, uint64_t seed);
/* Gives edges features of `dim` columns. */
void block_fixture_describe_edges(struct block_fixture *fixture, int layer_count, uint32_t dim,
                                  uint64_t seed);
/* Converts the input rows to bf16. */
void block_fixture_round(struct block_fixture *fixture, uint32_t dim);
void block_fixture_release(struct block_fixture *fixture);

#endif
