/*
 * attention_reference - what attention.h computes, in double precision, as the papers write it.
 */
#ifndef TESTS_REFERENCE_ATTENTION_REFERENCE_H
#define TESTS_REFERENCE_ATTENTION_REFERENCE_H

#include "common/graph/message_block.h"

#include <stdbool.h>
#include <stdint.h>

struct attention_reference {
    const struct message_block *block;
    uint32_t in, heads, channels;
    bool joins;      /* heads side by side; else their mean */
    const double *x; /* [sources, in] */
    /* Matrices [heads * channels, in], biases [heads * channels] or NULL. */
    const double *source_weight, *source_bias;
    const double *destination_weight, *destination_bias; /* GATv2 */
    /* [heads, channels]: GAT's att_src and att_dst, or GATv2's att and NULL. */
    const double *att, *att_destination;
    /* With edge features: their matrix [heads * channels, edge_feature_dim of the block], and GAT's att_edge. */
    const double *edge_weight, *att_edge;
    const double *bias; /* [heads * channels], or [channels] of the mean */
    /* What a share is multiplied with in training, [slots, heads] as edge_slots.h has them; NULL: 1. */
    const double *kept;
};

/* [destinations, heads * channels or channels], before ReLU; memory_free() it. Aborts without memory. */
double *attention_reference_output(const struct attention_reference *reference);

#endif
