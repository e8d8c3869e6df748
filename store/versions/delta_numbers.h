/*
 * delta_numbers - what nodes are called before an update and after it: the one place that turns numbers of a base into those of its version.
 *
 *   base       | a0 a1 a2 | b0 b1 |            of two types; a1 goes, and what is added stands behind those of its type
 *   version    | a0 a2 A  | b0 b1 B |          base: 0 2 -> 0 1, 3 4 -> 3 4; added: base_nodes + 0 -> 2, base_nodes + 1 -> 5
 *
 * Each question costs a walk over the types and a search among the nodes that go; many that ascend are answered in one pass by
 * delta_numbers_step_down(). Threads: any at once.
 */
#ifndef STORE_VERSIONS_DELTA_NUMBERS_H
#define STORE_VERSIONS_DELTA_NUMBERS_H

#include "store/records/dataset_delta.h"
#include "store/records/dataset_schema.h"

#include <stdint.h>

#define DELTA_GONE UINT32_MAX /* no node: it goes, or it comes */

struct delta_numbers {
    const struct dataset_delta *delta;            /* borrowed */
    uint32_t type_count;                          /* at least 1 */
    uint32_t base_first[NODE_TYPE_COUNT_MAX + 1]; /* of each type: the first node in the base, */
    uint32_t first[NODE_TYPE_COUNT_MAX +
                   1]; /* the first in the version; behind the last type all nodes of it, */
    uint32_t added_first[NODE_TYPE_COUNT_MAX + 1]; /* the first among the added ones, */
    uint64_t
        gone_first[NODE_TYPE_COUNT_MAX + 1]; /* the first of those that go, in delta->gone_node */
};

/* Of a delta that dataset_delta_decode() has let through, or that is on the way to be one. */
void delta_numbers_init(struct delta_numbers *numbers, const struct dataset_delta *delta);
/* Nodes of the version. */
static inline uint32_t delta_numbers_count(const struct delta_numbers *numbers)
{
    return numbers->first[numbers->type_count];
}

/* Fails: ERROR_CORRUPT unless the version has as many nodes as its schema says, of a graph with relations of each type. */
MUST_CHECK enum error_code delta_numbers_check(const struct delta_numbers *numbers,
                                               const struct dataset_schema *schema,
                                               struct error *err);

/* The number in the version of a node in the delta's own: of the base, or base_nodes + i of an added one. DELTA_GONE: it goes. */
uint32_t delta_numbers_version(const struct delta_numbers *numbers, uint32_t node);
/* The other way: what node of the version is in the delta's own numbers. */
uint32_t delta_numbers_own(const struct delta_numbers *numbers, uint32_t node);
/* The numbers in the version of all nodes of the base, number [base_nodes], in one pass; DELTA_GONE: it goes. */
void delta_numbers_of_base(const struct delta_numbers *numbers, uint32_t *number);
/* How many nodes of the base that go stand before `node`. */
uint64_t delta_numbers_gone_before(const struct delta_numbers *numbers, uint32_t node);
/* Turns numbers in the version, which ascend but for those that are DELTA_GONE, into numbers in the base, DELTA_GONE for those of added
 * nodes. They still ascend. */
void delta_numbers_step_down(const struct delta_numbers *numbers, uint32_t *node, uint32_t count);

#endif
