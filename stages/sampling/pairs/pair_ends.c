#include "stages/sampling/pairs/pair_ends.h"

#include "common/base/memory.h"

enum error_code pair_ends_init(struct pair_ends *ends, const struct partition_book *book,
                               struct error *err)
{
    *ends = (struct pair_ends){.book = book, .ranges = partition_book_ranges(book)};
    const uint32_t types = ends->ranges.type_count;
    const size_t parts = (size_t)ends->ranges.part_count + 1;
    const enum error_code rc =
        memory_new(&ends->type_book, types * parts, "the ranges of node types", err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < types; t++)
        type_ranges_book(&ends->ranges, t, ends->type_book + t * parts);
    partition_book_reverses(book, &ends->reverses);
    return rc;
}

void pair_ends_release(struct pair_ends *ends)
{
    memory_free(ends->type_book);
    *ends = (struct pair_ends){0};
}

uint32_t pair_ends_type(const struct pair_ends *ends, uint16_t relation, enum pair_end end)
{
    if (!pair_ends_have_types(ends))
        return 0;
    const struct relation *own = &ends->book->relation[relation];
    return end == PAIR_SOURCE ? own->source_type : own->target_type;
}

uint32_t pair_ends_type_of(const struct pair_ends *ends, uint32_t node)
{
    return type_ranges_type(&ends->ranges, type_ranges_part(&ends->ranges, node), node);
}

uint32_t pair_ends_node(const struct pair_ends *ends, uint32_t type, uint32_t number)
{
    const uint32_t *book = pair_ends_book(ends, type);
    int low = 0, high = ends->ranges.part_count;
    while (high - low > 1) { /* finds the last part that begins at or before `number` */
        const int middle = (low + high) / 2;
        if (book[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return type_ranges_first(&ends->ranges, low, type) + (number - book[low]);
}
