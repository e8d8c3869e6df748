/*
 * feature_walk - the wanted rows of a source that is out of its budget, block after block.
 *
 * A row that is kept comes from there; a block that has others is read, once.
 */
#ifndef STORE_FEATURE_WALK_H
#define STORE_FEATURE_WALK_H

#include "store/feature_source.h"

/* Once the nodes were checked and there is room in the budget for their order. */
MUST_CHECK enum error_code feature_walk_order(struct feature_source *source, const uint32_t *node,
                                              size_t count, struct error *err);
/* After that, as feature_source_visit_share(). */
MUST_CHECK enum error_code feature_walk(struct feature_source *source, const uint32_t *node,
                                        size_t count, struct feature_share share,
                                        feature_visitor visitor, void *context,
                                        const atomic_bool *stop, struct error *err);

#endif
