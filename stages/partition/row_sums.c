#include "stages/partition/row_sums.h"

#include "common/base/memory.h"

void row_sums_place(const struct partition_book *book, uint16_t *place, uint32_t *width)
{
    uint16_t count[NODE_TYPE_COUNT_MAX] = {0};
    *width = 1;
    for (uint32_t r = 0; r < partition_book_relations(book); r++) {
        const uint32_t target = partition_book_relation(book, r)->target_type;
        place[r] = count[target]++;
        *width = count[target] > *width ? count[target] : *width;
    }
}

enum error_code row_sums_init(struct row_sums *sums, uint32_t node_count, uint32_t slot_count,
                              const uint16_t *place, uint32_t width, struct error *err)
{
    static const char what[] = "the hashes of rows";
    *sums = (struct row_sums){.slot_count = slot_count, .width = width, .relation = place};
    enum error_code rc = memory_new(&sums->slot, node_count, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&sums->sum, (size_t)slot_count * width, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&sums->other, slot_count, what, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < node_count; i++)
        sums->slot[i] = ROW_NO_SLOT;
    return rc;
}

void row_sums_release(struct row_sums *sums)
{
    memory_free(sums->slot);
    memory_free(sums->sum);
    memory_free(sums->other);
    *sums = (struct row_sums){.slot = NULL};
}

uint64_t row_sums_other(const struct row_sums *sums, uint32_t node)
{
    if (!row_sums_has(sums, node))
        return 0;
    const uint64_t slot = sums->slot[node];
    uint64_t other = sums->other[slot];
    for (uint32_t i = 0; i < sums->width; i++)
        if (sums->sum[slot * sums->width + i])
            other |= part_delta_bit(i);
    return other;
}
