/*
 * fold_graphs - the graphs of a fold, in a dataset of many graphs: which of them stay, which were
 * added, and what labels and splits belong to.
 *
 * The graphs of the base that stay come first, in their order, then those that were added since and
 * still exist. This takes 4 bytes for each graph that stays, 8 for each added graph, and 4 for each
 * added node. Labels and splits belong to targets: graphs here, nodes in any other dataset.
 */
#ifndef STORE_VERSIONS_FOLD_GRAPHS_H
#define STORE_VERSIONS_FOLD_GRAPHS_H

#include "common/base/error.h"
#include "store/versions/fold_state.h"
#include "store/versions/version_fold.h"

#include <stdint.h>

/* Takes one more delta into an unfinished fold (fold_state.h), before its nodes are taken. Fails:
 * ERROR_CORRUPT when its graphs do not match; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code fold_graphs_take(struct fold_state *state, uint32_t which,
                                            struct error *err);
/* Fills fold->graphs after the last delta, when the nodes are finished. Fails: ERROR_CORRUPT for a
 * node whose graph was removed. */
MUST_CHECK enum error_code fold_graphs_finish(struct fold_state *state, struct error *err);

/* Return the number of targets of the version, and of the base. */
static inline uint32_t version_targets(const struct version_fold *fold)
{
    return fold->graphs.count ? fold->graphs.count : fold->node_count;
}
static inline uint32_t version_base_targets(const struct version_fold *fold)
{
    return fold->graphs.count ? fold->graphs.base_count : fold->base.node_count;
}
/* Describe the targets that were added, in the order of their numbers: how many there are, the
 * delta and index of number `i`, and its number in the version. */
static inline uint32_t version_added_targets(const struct version_fold *fold)
{
    return fold->graphs.count ? fold->graphs.added_count : fold->added_nodes;
}
static inline const struct fold_node *version_added_target(const struct version_fold *fold,
                                                           uint32_t i)
{
    return fold->graphs.count ? &fold->graphs.added[i] : &fold->added[i];
}
uint32_t version_added_target_number(const struct version_fold *fold, uint32_t i);
/* Returns the number in the version of a target of the base, or NODE_GONE. */
uint32_t version_target_number(const struct version_fold *fold, uint32_t target);
/* Same as version_fold_run(), for targets. */
struct version_run version_target_run(const struct version_fold *fold, uint32_t target,
                                      uint32_t end);

#endif
