/*
 * source_aggregation - aggregates the first layer's rows while its sources come by, one after the other.
 *
 * aggregation_forward() takes the rows of a destination's neighbours from memory. When the rows do not fit
 * there, this does the same sums the other way round: each source that is read is added to the
 * destinations that hear from it, and then forgotten. What is held is the aggregated rows, which backward
 * needs anyway, and not the rows of all nodes of the batch, which for a deep neighbourhood are several
 * times as many.
 *
 * In bf16 the sums are floats all the same; source_aggregation_finish() rounds them where they lie.
 *
 * A sum of floats depends on its order. Sources have to come in ascending order of their nodes, and the
 * neighbours of every destination have to stand in that order too, as they do in sampled batches
 * (source_aggregation_is_exact()); then every bit is that of the gather.
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
        aggregated; /* [destination_count, aggregation_width(dim)]; done by source_aggregation_finish() */
    float *own; /* [destination_count, dim], or NULL when the own row lies beside the mean */
};

/* Whether the neighbours of each destination ascend by `node` [source_count]. */
bool source_aggregation_is_exact(const struct message_block *block, const uint32_t *node);

/* Floats of the area for that many destinations of the model's first layer; the first of them become the
 * aggregated rows. 0: the layer projects before it aggregates, there is nothing to do ahead. */
uint64_t source_aggregation_floats(const struct model *model, uint64_t destination_count);

/* Bytes of the arena that one goes through at most. */
uint64_t source_aggregation_scratch(const struct message_block *block);

/* `area` [source_aggregation_floats()] and `block` are borrowed until the end; edges and weights go to the
 * arena. */
MUST_CHECK enum error_code source_aggregation_begin(struct source_aggregation *out,
                                                    const struct model *model,
                                                    const struct message_block *block, float *area,
                                                    struct arena *arena, struct error *err);
/* Adds the rows of `source` [count], positions in the batch; those of floats may be at any address. Over all
 * calls each source comes once, and their nodes ascend. */
void source_aggregation_add(const struct source_aggregation *aggregation, const uint32_t *source,
                            const void *const *row, uint32_t count);
/* After the last source: afterwards what aggregation->aggregated points to is what aggregation_forward() gives. */
void source_aggregation_finish(const struct source_aggregation *aggregation);

#endif
