/*
 * delta_numbers - converts node numbers between a base and its version. No other module does that.
 *
 *   base       | a0 a1 a2 | b0 b1 |       two types; a1 is removed, and A and B are added, which
 *   version    | a0 a2 A  | b0 b1 B |     come last in their type
 *              base: 0 2 -> 0 1, 3 4 -> 3 4
 *              added: base_nodes + 0 -> 2, base_nodes + 1 -> 5
 *
 * The delta's own numbers are those of the base, followed by base_nodes + i for added node i. A
 * conversion costs a pass over the types and a search among the removed nodes;
 * delta_numbers_step_down() converts many ascending numbers in one pass. Threads: any at once.
 */
#ifndef STORE_VERSIONS_DELTA_NUMBERS_H
#define STORE_VERSIONS_DELTA_NUMBERS_H

#include "store/records/dataset/dataset_delta.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdint.h>

#define DELTA_GONE UINT32_MAX /* no number: the node was removed, or added */

struct delta_numbers {
    const struct dataset_delta *delta; /* borrowed */
    uint32_t type_count;               /* at least 1 */
    /* [type]: the first node of the type in the base, and in the version (the entry after the last
     * type is the number of nodes); the first added one; the first removed one in gone_node. */
    uint32_t base_first[NODE_TYPE_COUNT_MAX + 1];
    uint32_t first[NODE_TYPE_COUNT_MAX + 1];
    uint32_t added_first[NODE_TYPE_COUNT_MAX + 1];
    uint64_t gone_first[NODE_TYPE_COUNT_MAX + 1];
};

/* Initialises *numbers for a delta that dataset_delta_decode() has accepted, or one that is being
 * built. */
void delta_numbers_init(struct delta_numbers *numbers, const struct dataset_delta *delta);
/* Returns the number of nodes of the version. */
static inline uint32_t delta_numbers_count(const struct delta_numbers *numbers)
{
    return numbers->first[numbers->type_count];
}

/* Checks that the version has as many nodes as its schema says; in a graph with relations, for each
 * type. Fails: ERROR_CORRUPT. */
MUST_CHECK enum error_code delta_numbers_check(const struct delta_numbers *numbers,
                                               const struct dataset_schema *schema,
                                               struct error *err);

/* Converts a node from the delta's own numbers to its number in the version. Returns DELTA_GONE if
 * it is removed. */
uint32_t delta_numbers_version(const struct delta_numbers *numbers, uint32_t node);
/* Converts a node of the version to the delta's own numbers. */
uint32_t delta_numbers_own(const struct delta_numbers *numbers, uint32_t node);
/* Writes the numbers in the version of all nodes of the base to number [base_nodes], in one pass;
 * DELTA_GONE for removed nodes. */
void delta_numbers_of_base(const struct delta_numbers *numbers, uint32_t *number);
/* Returns how many removed nodes of the base precede `node`. */
uint64_t delta_numbers_gone_before(const struct delta_numbers *numbers, uint32_t node);
/* Converts numbers in the version to numbers in the base, in place; those of added nodes become
 * DELTA_GONE. Entries that are DELTA_GONE are skipped; the others must ascend, and still do
 * afterwards. */
void delta_numbers_step_down(const struct delta_numbers *numbers, uint32_t *node, uint32_t count);

#endif
