/*
 * attention_reference - computes what attention.h computes, in double precision, with the formulas
 * of the papers.
 */
#ifndef TESTS_REFERENCE_ATTENTION_REFERENCE_H
#define TESTS_REFERENCE_ATTENTION_REFERENCE_H

#include "common/graph/message_block.h"

#include <stdbool.h>
#include <stdint.h>

struct attention_reference {
    const struct message_block *block;
    uint32_t in, heads, channels;
    bool joins;      /* heads side by side; otherwise their mean */
    const double *x; /* [sources, in] */
    /* Matrices [heads * channels, in]; biases [heads * channels] or NULL. */
    const double *source_weight, *source_bias;
    const double *destination_weight, *destination_bias; /* only GATv2 */
    /* [heads, channels]: GAT's att_src and att_dst, or GATv2's att and NULL. */
    const double *att, *att_destination;
    /* Only with edge features: their matrix [heads * channels, edge_feature_dim of the block],
     * and GAT's att_edge. */
    const double *edge_weight, *att_edge;
    const double *bias; /* [heads * channels], or [channels] if the heads are averaged */
    /* The dropout factor of each share in training, [slots, heads] as in edge_slots.h; NULL: 1. */
    const double *kept;
};

/* Returns [destinations, heads * channels or channels], before ReLU. The caller frees it with
 * memory_free(). Aborts without memory. */
double *attention_reference_output(const struct attention_reference *reference);

#endif
