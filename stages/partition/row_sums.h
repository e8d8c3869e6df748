/*
 * row_sums - a sum of hashes for each row of in-edges that is compared: of the nodes that may have others, one for each relation that ends at them.
 *
 *   nodes of the version ──> slot or none ──> sums of its relations, and marks of those that are other whatever their sums are
 *
 * Memory: 4 bytes a node, and of those that are compared 8 for each relation of the type that has most, and 8.
 */
#ifndef STAGES_PARTITION_ROW_SUMS_H
#define STAGES_PARTITION_ROW_SUMS_H

#include "common/base/error.h"
#include "stages/partition/layout/part_delta.h"
#include "store/records/partition_book.h"

#include <stdbool.h>
#include <stdint.h>

#define ROW_NO_SLOT UINT32_MAX

struct row_sums { /* {0} is empty */
    uint32_t slot_count;
    uint32_t width;           /* sums of a node */
    const uint16_t *relation; /* [relations] which of them is that of a relation; borrowed */
    uint32_t *slot;           /* [node_count] by the ids of the partition, or ROW_NO_SLOT */
    uint64_t *sum;            /* [slot_count, width] */
    uint64_t *other;          /* [slot_count] a bit for each relation, as part_delta.h has them */
};

/* Tells relations of one target type apart: place [relations], *width as many as one type has. */
void row_sums_place(const struct partition_book *book, uint16_t *place, uint32_t *width);
/* No node has a slot yet; the caller gives them out. Borrows `place`. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code row_sums_init(struct row_sums *sums, uint32_t node_count,
                                         uint32_t slot_count, const uint16_t *place, uint32_t width,
                                         struct error *err);
void row_sums_release(struct row_sums *sums);

static inline bool row_sums_has(const struct row_sums *sums, uint32_t node)
{
    return sums->slot[node] != ROW_NO_SLOT;
}
/* That of a relation, of a node that has a slot. */
static inline uint64_t *row_sums_at(const struct row_sums *sums, uint32_t node, uint32_t relation)
{
    return &sums->sum[(uint64_t)sums->slot[node] * sums->width + sums->relation[relation]];
}
/* It is other, whatever comes out. */
static inline void row_sums_mark(const struct row_sums *sums, uint32_t node, uint32_t relation)
{
    sums->other[sums->slot[node]] |= part_delta_bit(sums->relation[relation]);
}
/* The relations of a node whose sums are not 0, or that were marked; 0 of one without a slot. */
uint64_t row_sums_other(const struct row_sums *sums, uint32_t node);

#endif
