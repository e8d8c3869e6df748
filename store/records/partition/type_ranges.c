#include "store/records/partition/type_ranges.h"

#include <inttypes.h>

void type_ranges_book(const struct type_ranges *ranges, uint32_t type, uint32_t *out)
{
    out[0] = 0;
    for (int p = 0; p < ranges->part_count; p++)
        out[p + 1] = out[p] + type_ranges_count(ranges, p, type);
}

enum error_code type_ranges_check(const struct type_ranges *ranges, struct error *err)
{
    for (int p = 0; p < ranges->part_count; p++) {
        const uint32_t first = type_ranges_first(ranges, p, 0);
        const uint32_t end = type_ranges_first(ranges, p, ranges->type_count);
        if (first != ranges->part_start[p] || end != ranges->part_start[p + 1])
            return error_set(err, ERROR_CORRUPT,
                             "the types of part %d are nodes %" PRIu32 " to %" PRIu32
                             ", expected %" PRIu32 " to %" PRIu32,
                             p, first, end, ranges->part_start[p], ranges->part_start[p + 1]);
        for (uint32_t t = 0; t < ranges->type_count; t++)
            if (type_ranges_first(ranges, p, t + 1) < type_ranges_first(ranges, p, t))
                return error_set(err, ERROR_CORRUPT,
                                 "type %" PRIu32 " of part %d ends at node %" PRIu32
                                 ", before its start %" PRIu32,
                                 t, p, type_ranges_first(ranges, p, t + 1),
                                 type_ranges_first(ranges, p, t));
    }
    return ERROR_NONE;
}
