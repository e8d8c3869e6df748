/*
 * typed_pairs - what pair_drawer.h does besides on a graph with relations: seeds by type, and the
 * ends of a mini-batch by type.
 *
 * Seeds stand type by type, in a type in the order in which they were found, as neighbor_sampler.h
 * numbers them and a model gives their rows; so pairs name a seed by one number still. Negatives
 * out of the batch are the ends of other edges at the same side that are of the same type.
 */
#ifndef STAGES_SAMPLING_PAIRS_TYPED_PAIRS_H
#define STAGES_SAMPLING_PAIRS_TYPED_PAIRS_H

#include "common/base/error.h"
#include "stages/sampling/pairs/relation_exclusion.h"

#include <stddef.h>
#include <stdint.h>

/* The edges of a mini-batch by the type of one of their ends. */
struct edges_by_type {
    struct growing_array member; /* [count] edges, type by type */
    struct growing_array place;  /* [count] of each edge among them */
    uint32_t begin[RELATION_TYPE_COUNT_MAX + 1];
};

struct typed_pairs { /* {0} is empty */
    struct edges_by_type by_end[2];
    struct growing_array number, type, copy; /* [seeds] */
    uint32_t seed_begin[RELATION_TYPE_COUNT_MAX + 1];
    struct relation_exclusion exclusion;
};

void typed_pairs_release(struct typed_pairs *pairs, struct array_budget *budget);
/* Groups edges of relation[i] by the types of their ends. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code typed_pairs_group(struct typed_pairs *pairs, struct array_budget *budget,
                                             const struct pair_ends *ends, const uint16_t *relation,
                                             uint32_t count, struct error *err);
/* Other edges whose end is of the same type as that of one of `relation`. */
uint32_t typed_pairs_others(const struct typed_pairs *pairs, const struct pair_ends *ends,
                            uint16_t relation, enum pair_end end);
/* The `k`-th of them behind edge `i`, from a place that `word` says, where there are some. */
uint32_t typed_pairs_other(const struct typed_pairs *pairs, const struct pair_ends *ends,
                           uint16_t relation, enum pair_end end, uint32_t i, uint32_t k,
                           uint32_t word);
/* Seeds, and what names them by their numbers. */
struct named_seeds {
    uint32_t *node; /* [count] */
    uint32_t count;
    uint32_t *name[2]; /* [name_count] each */
    size_t name_count[2];
};

/* Moves value [count, words], which belongs to the seeds, to the order that typed_pairs_order()
 * found last. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code typed_pairs_move(struct typed_pairs *pairs, struct array_budget *budget,
                                            uint32_t *value, size_t words, uint32_t count,
                                            struct error *err);
/* Puts the seeds in order, and what names them. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code typed_pairs_order(struct typed_pairs *pairs, struct array_budget *budget,
                                             const struct pair_ends *ends,
                                             const struct named_seeds *seeds, struct error *err);

#endif
