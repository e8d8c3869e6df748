/*
 * fold_graphs - the second numbering of a fold, of a dataset of many graphs: which graphs stay, which came, and what labels and splits are of.
 *
 * Graphs of the base that stay come first, in their order, then those that were added since and are there still. It takes 4 bytes for each
 * graph that stays, 8 for each that was added, and 4 for each added node. Labels and splits are of targets: graphs here, nodes of any other dataset.
 */
#ifndef STORE_VERSIONS_FOLD_GRAPHS_H
#define STORE_VERSIONS_FOLD_GRAPHS_H

#include "common/base/error.h"
#include "store/versions/fold_state.h"
#include "store/versions/version_fold.h"

#include <stdint.h>

/* On the way, as the rest of a fold is (fold_state.h). Takes one delta more, before its nodes are taken. Fails: ERROR_CORRUPT when it is of
 * other graphs; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code fold_graphs_take(struct fold_state *state, uint32_t which,
                                            struct error *err);
/* Behind the last, when nodes are finished: fills fold->graphs. Fails: ERROR_CORRUPT for a node whose graph went. */
MUST_CHECK enum error_code fold_graphs_finish(struct fold_state *state, struct error *err);

/* Targets of the version, and of the base. */
static inline uint32_t version_targets(const struct version_fold *fold)
{
    return fold->graphs.count ? fold->graphs.count : fold->node_count;
}
static inline uint32_t version_base_targets(const struct version_fold *fold)
{
    return fold->graphs.count ? fold->graphs.base_count : fold->base.node_count;
}
/* Those that were added, in the order of their numbers: of which delta target `i` of them is, and its number in the version. */
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
/* What a target of the base is in the version, or NODE_GONE. */
uint32_t version_target_number(const struct version_fold *fold, uint32_t target);
/* As version_fold_run(), of targets. */
struct version_run version_target_run(const struct version_fold *fold, uint32_t target,
                                      uint32_t end);

#endif
