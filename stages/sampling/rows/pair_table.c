#include "stages/sampling/rows/pair_table.h"

#include <string.h>

enum { BITS_MIN = 10, WORDS = 3 };

static size_t place_of(uint32_t first, uint32_t second, unsigned bits)
{
    const uint64_t key = ((uint64_t)first << 32 | second) * 0x9E3779B97F4A7C15ULL;
    return (size_t)((key ^ key >> 32) * 0xD6E8FEB86659FD93ULL >> (64 - bits));
}

/* Returns the slot of the pair, or the free slot where it belongs. */
static uint32_t *slot_of(const struct pair_table *table, uint32_t first, uint32_t second)
{
    const size_t mask = ((size_t)1 << table->bits) - 1;
    size_t at = place_of(first, second, table->bits);
    for (;; at = (at + 1) & mask) {
        uint32_t *slot = table->slot.data + WORDS * at;
        if (slot[2] == 0 || (slot[0] == first && slot[1] == second))
            return slot;
    }
}

void pair_table_clear(struct pair_table *table)
{
    if (table->count)
        memset(table->slot.data, 0, (WORDS * sizeof(uint32_t)) << table->bits);
    table->count = 0;
}

uint32_t pair_table_find(const struct pair_table *table, uint32_t first, uint32_t second)
{
    return table->count ? slot_of(table, first, second)[2] - 1 : PAIR_TABLE_NONE;
}

static enum error_code grow(struct pair_table *table, struct array_budget *budget,
                            struct error *err)
{
    struct pair_table larger = {.bits = table->bits ? table->bits + 1 : BITS_MIN,
                                .count = table->count};
    const size_t places = (size_t)1 << larger.bits;
    const enum error_code rc = growing_array_grow(&larger.slot, budget, WORDS * places, 0,
                                                  "the table of what was drawn", err);
    if (rc != ERROR_NONE)
        return rc;
    memset(larger.slot.data, 0, WORDS * places * sizeof(uint32_t));
    for (size_t i = 0; table->bits && i < (size_t)1 << table->bits; i++) {
        const uint32_t *slot = table->slot.data + WORDS * i;
        if (slot[2])
            memcpy(slot_of(&larger, slot[0], slot[1]), slot, WORDS * sizeof *slot);
    }
    growing_array_release(&table->slot, budget);
    *table = larger;
    return ERROR_NONE;
}

enum error_code pair_table_add(struct pair_table *table, struct array_budget *budget,
                               uint32_t first, uint32_t second, uint32_t number, struct error *err)
{
    if (!table->bits || table->count >= (uint32_t)1 << (table->bits - 1)) {
        const enum error_code rc = grow(table, budget, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    uint32_t *slot = slot_of(table, first, second);
    must(slot[2] == 0);
    slot[0] = first;
    slot[1] = second;
    slot[2] = number + 1;
    table->count++;
    return ERROR_NONE;
}

void pair_table_release(struct pair_table *table, struct array_budget *budget)
{
    growing_array_release(&table->slot, budget);
    *table = (struct pair_table){0};
}
