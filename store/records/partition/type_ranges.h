/*
 * type_ranges - where the nodes of each type lie in the ids of a partition.
 *
 * Partition ids are part-major, and type-major inside a part, so the nodes of one type in one part
 * are a range:
 *
 *     part 0                        part 1
 *     | type 0 | type 1 | type 2 |  | type 0 | type 1 | ... type_start [part_count, type_count + 1]
 *
 * Feature shards, embeddings and outputs are kept by type, and count only the nodes of the type,
 * part by part: node i of type t in part p has the number type_book[p] + i, where type_book is what
 * type_ranges_book() computes for t. With one type that is the partition id, and the book of the
 * type is the book of the parts.
 */
#ifndef STORE_RECORDS_PARTITION_TYPE_RANGES_H
#define STORE_RECORDS_PARTITION_TYPE_RANGES_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct type_ranges { /* borrowed */
    int part_count;
    uint32_t type_count;
    const uint32_t *part_start; /* [part_count + 1] */
    const uint32_t *type_start; /* [part_count, type_count + 1]; NULL: one type */
};

/* Returns the first node of a type in a part; for type `type_count` the end of the part. */
static inline uint32_t type_ranges_first(const struct type_ranges *ranges, int part, uint32_t type)
{
    return ranges->type_start ? ranges->type_start[(size_t)part * (ranges->type_count + 1) + type]
                              : ranges->part_start[part + (type > 0)];
}

/* Returns how many nodes of a type are in a part. */
static inline uint32_t type_ranges_count(const struct type_ranges *ranges, int part, uint32_t type)
{
    return type_ranges_first(ranges, part, type + 1) - type_ranges_first(ranges, part, type);
}

/* Returns how many nodes of a type are in the parts before `part`; for part_count in all parts. */
static inline uint32_t type_ranges_before(const struct type_ranges *ranges, int part, uint32_t type)
{
    uint32_t count = 0;
    for (int p = 0; p < part; p++)
        count += type_ranges_count(ranges, p, type);
    return count;
}

/* Returns the part that owns `node`, which is below the end of the last part. */
static inline int type_ranges_part(const struct type_ranges *ranges, uint32_t node)
{
    int low = 0;
    for (int count = ranges->part_count, half; count > 1; count -= half) { /* no branch on data */
        half = count / 2;
        low = ranges->part_start[low + half] <= node ? low + half : low;
    }
    return low;
}

/* Returns the type of a node of part `part`. */
static inline uint32_t type_ranges_type(const struct type_ranges *ranges, int part, uint32_t node)
{
    uint32_t type = ranges->type_count - 1;
    while (type > 0 && node < type_ranges_first(ranges, part, type))
        type--;
    return type;
}

/* Returns the number of `node` among the nodes of its type `type`, whose book is `type_book`. */
static inline uint32_t type_ranges_number(const struct type_ranges *ranges,
                                          const uint32_t *type_book, uint32_t type, uint32_t node)
{
    const int part = type_ranges_part(ranges, node);
    return type_book[part] + (node - type_ranges_first(ranges, part, type));
}

/* Fills out [part_count + 1] with the number of nodes of the type in the parts before each one. */
void type_ranges_book(const struct type_ranges *ranges, uint32_t type, uint32_t *out);
/* Fails: ERROR_CORRUPT unless the types of each part ascend from its start to its end. */
MUST_CHECK enum error_code type_ranges_check(const struct type_ranges *ranges, struct error *err);

#endif
