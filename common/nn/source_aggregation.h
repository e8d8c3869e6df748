/*
 * source_aggregation - aggregates the first layer's rows while their sources are read one after the
 * other.
 *
 * aggregation_forward() reads the rows of a destination's neighbours from memory. If these rows do
 * not fit there, this module computes the same sums the other way round: it adds each source to the
 * destinations that have it as a neighbour, and then discards the source. It holds the aggregated
 * rows, which backward needs anyway, instead of the rows of all nodes of the batch, which for a
 * deep neighbourhood are several times as many.
 *
 * In bf16 the sums are still floats; source_aggregation_finish() rounds them in place.
 *
 * A sum of floats depends on its order. Sources must come in ascending order of their nodes, and
 * the neighbours of every destination must stand in that order too, as they do in sampled batches
 * (source_aggregation_is_exact()). Then every bit equals that of the gather.
 */
#ifndef COMMON_NN_SOURCE_AGGREGATION_H
#define COMMON_NN_SOURCE_AGGREGATION_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/graph/message_block.h"
#include "common/nn/model.h"
#include "common/nn/operators/aggregation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source_aggregation {
    struct aggregation aggregation;
    uint32_t *start; /* [source_count + 1] */
    uint32_t *edge;  /* [start[source_count]]: destinations, with flags, of each source */
    float *value;    /* the values of these edges; NULL: there are none */
    uint32_t dim;
    enum precision precision;
    float *
        /* [destination_count, aggregation_width(dim)]; final after source_aggregation_finish() */
        aggregated;
    float *own; /* [destination_count, dim], or NULL if the own row lies beside the mean */
};

/* Returns whether the neighbours of each destination ascend by `node` [source_count]. */
bool source_aggregation_is_exact(const struct message_block *block, const uint32_t *node);

/* Returns how many floats the area needs for that many destinations of the model's first layer; its
 * first floats become the aggregated rows. Returns 0 if the layer projects before it aggregates,
 * because then there is nothing to do ahead. */
uint64_t source_aggregation_floats(const struct model *model, uint64_t destination_count);

/* Returns the most bytes of the arena that one aggregation uses. */
uint64_t source_aggregation_scratch(const struct message_block *block);

/* Prepares the sums. Borrows `area` [source_aggregation_floats()] and `block` until the end; edges
 * and weights lie in the arena. */
MUST_CHECK enum error_code source_aggregation_begin(struct source_aggregation *out,
                                                    const struct model *model,
                                                    const struct message_block *block, float *area,
                                                    struct arena *arena, struct error *err);
/* Adds the rows of `source` [count], positions in the batch; float rows may lie at any address.
 * Over all calls each source comes once, and their nodes ascend. */
void source_aggregation_add(const struct source_aggregation *aggregation, const uint32_t *source,
                            const void *const *row, uint32_t count);
/* Completes the sums after the last source. Then aggregation->aggregated points to the values that
 * aggregation_forward() would give. */
void source_aggregation_finish(const struct source_aggregation *aggregation);

#endif
