/*
 * community_model - draws the node at which an edge of the generated graph ends.
 *
 * The model is the degree-corrected stochastic block model (Karrer and Newman 2011): an end falls
 * on a node with a probability proportional to the node's weight, among all nodes, among those of
 * one community, or among those of all others. Weights follow a power law.
 *
 * A node's *place* is its rank by weight, from 0, the heaviest. Its community is place mod
 * community_count, so that heavy and light nodes are spread evenly. Weights are rounded down to
 * levels a factor 2^(1/4) apart: level k has weight 2^(k/4), and a share 2^(-k (exponent - 1) / 4)
 * of the nodes is in level k or above. So a level is a run of places, no table of nodes is needed,
 * and a node is found by a search among some fifty levels. The heaviest weight is at most the
 * square root of the node count: above that, two heavy nodes would expect more than one edge
 * between them.
 *
 * The result is the same on every machine: levels are computed with +, -, *, / and sqrt only, which
 * IEEE 754 rounds exactly (pow and exp2 differ in the last bit from library to library), weights
 * are then integers, and all drawing is integer arithmetic.
 */
#ifndef STAGES_INGEST_GENERATE_COMMUNITY_MODEL_H
#define STAGES_INGEST_GENERATE_COMMUNITY_MODEL_H

#include "common/base/error.h"

#include <stdint.h>

enum { COMMUNITY_LEVELS_MAX = 64 };

struct community_model { /* {0} is empty */
    uint32_t node_count, community_count;
    uint32_t level_count;
    uint64_t weight[COMMUNITY_LEVELS_MAX]; /* weight of a node of level k, from the lightest */
    /* [level_count + 1]: run i of places, from the heaviest, is level level_count - 1 - i. */
    uint32_t first_place[COMMUNITY_LEVELS_MAX + 1];
    /* [community_count + 1, level_count + 1]: a community's weight in the runs before run i; the
     * last row is for all nodes. */
    uint64_t *weight_before;
};

/* Initialises the model. Requires 1 <= community_count <= node_count < 2^31, community_count <
 * 2^16, exponent > 1. */
MUST_CHECK enum error_code community_model_init(struct community_model *model, uint32_t node_count,
                                                uint32_t community_count, double exponent,
                                                struct error *err);
void community_model_release(struct community_model *model);

/* Returns the place that `draw` (64 random bits) falls on, among all nodes or among those of one
 * community. */
uint32_t community_model_any(const struct community_model *model, uint64_t draw);
uint32_t community_model_inside(const struct community_model *model, uint32_t community,
                                uint64_t draw);

static inline uint32_t community_model_of(const struct community_model *model, uint32_t place)
{
    return place % model->community_count;
}

#endif
