/*
 * row_sums - a sum of hashes for each row of in-edges that is compared: one for each node that may
 * have changed and each relation that ends at it.
 *
 *   node of the version ──> slot or none ──> sums of its relations, and marks of the relations that
 *                                            have changed whatever their sums are
 *
 * Memory: 4 bytes a node; for each node with a slot also 8 bytes, and 8 bytes for each relation of
 * the target type that has most relations.
 */
#ifndef STAGES_PARTITION_ROW_SUMS_H
#define STAGES_PARTITION_ROW_SUMS_H

#include "common/base/error.h"
#include "stages/partition/layout/part_delta.h"
#include "store/records/partition/partition_book.h"

#include <stdbool.h>
#include <stdint.h>

#define ROW_NO_SLOT UINT32_MAX

struct row_sums { /* {0} is empty */
    uint32_t slot_count;
    uint32_t width;           /* sums of a node */
    const uint16_t *relation; /* [relations] index of a relation's sum in its node's sums;
                               * borrowed */
    /* [node_count] by partition ids, or ROW_NO_SLOT. */
    uint32_t *slot;
    uint64_t *sum; /* [slot_count, width] */
    /* [slot_count] a bit for each relation, as in part_delta.h. */
    uint64_t *other;
};

/* Numbers the relations of each target type: place [relations]. *width is the largest number of
 * relations of one type. */
void row_sums_place(const struct partition_book *book, uint16_t *place, uint32_t *width);
/* Allocates sums. No node has a slot yet; the caller gives them out. Borrows `place`. Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code row_sums_init(struct row_sums *sums, uint32_t node_count,
                                         uint32_t slot_count, const uint16_t *place, uint32_t width,
                                         struct error *err);
void row_sums_release(struct row_sums *sums);

static inline bool row_sums_has(const struct row_sums *sums, uint32_t node)
{
    return sums->slot[node] != ROW_NO_SLOT;
}
/* Returns the sum of a relation, for a node that has a slot. */
static inline uint64_t *row_sums_at(const struct row_sums *sums, uint32_t node, uint32_t relation)
{
    return &sums->sum[(uint64_t)sums->slot[node] * sums->width + sums->relation[relation]];
}
/* Marks the row as changed, whatever its sum is. */
static inline void row_sums_mark(const struct row_sums *sums, uint32_t node, uint32_t relation)
{
    sums->other[sums->slot[node]] |= part_delta_bit(sums->relation[relation]);
}
/* Returns the relations of a node whose sums are not 0, or that were marked; 0 for a node without a
 * slot. */
uint64_t row_sums_other(const struct row_sums *sums, uint32_t node);

#endif
