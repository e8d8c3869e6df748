#include "stages/partition/layout/assignment.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <string.h>

enum error_code assignment_check(const uint32_t *part, uint32_t node_count, uint32_t part_count,
                                 struct error *err)
{
    for (uint32_t node = 0; node < node_count; node++)
        if (part[node] >= part_count)
            return error_set(err, ERROR_CORRUPT,
                             "node %" PRIu32 " is in part %" PRId32 ", expected 0 to %" PRIu32,
                             node, (int32_t)part[node], part_count - 1);
    return ERROR_NONE;
}

void assignment_sizes(const uint32_t *part, uint32_t node_count, uint32_t part_count,
                      uint32_t *size)
{
    memset(size, 0, part_count * sizeof *size);
    for (uint32_t node = 0; node < node_count; node++)
        size[part[node]]++;
}

/* Moves the highest node of `from` to `to`. `below[from]` is one above the highest node that
 * `from` may have. Nodes of a part are given away from the top, so one sweep serves all moves of
 * a part. */
static void give_highest(uint32_t *part, uint32_t *below, uint32_t from, uint32_t to)
{
    while (part[below[from] - 1] != from)
        below[from]--;
    part[--below[from]] = to;
}

static void fill(uint32_t *part, uint32_t node_count, uint32_t part_count, uint32_t *size,
                 uint32_t *below)
{
    assignment_sizes(part, node_count, part_count, size);
    for (uint32_t p = 0; p < part_count; p++)
        below[p] = node_count;
    for (uint32_t p = 0; p < part_count; p++) {
        uint32_t largest = 0;
        if (size[p])
            continue;
        for (uint32_t q = 1; q < part_count; q++)
            if (size[q] > size[largest])
                largest = q;
        give_highest(part, below, largest, p);
        size[largest]--;
        size[p]++;
    }
}

enum error_code assignment_fill_empty(uint32_t *part, uint32_t node_count, uint32_t part_count,
                                      struct error *err)
{
    uint32_t *size = NULL, *below = NULL;
    must(part_count <= node_count);
    enum error_code rc = memory_new(&size, part_count, "part sizes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&below, part_count, "part bounds", err);
    if (rc == ERROR_NONE)
        fill(part, node_count, part_count, size, below);
    memory_free(below);
    memory_free(size);
    return rc;
}

enum error_code assignment_refuse_empty(const uint32_t *part, uint32_t node_count,
                                        uint32_t part_count, struct error *err)
{
    uint32_t *size = NULL;
    enum error_code rc = memory_new(&size, part_count, "part sizes", err);
    if (rc != ERROR_NONE)
        return rc;
    assignment_sizes(part, node_count, part_count, size);
    for (uint32_t p = 0; rc == ERROR_NONE && p < part_count; p++)
        if (size[p] == 0)
            rc =
                error_set(err, ERROR_INPUT,
                          "part %" PRIu32 " has no node, expected one in each of %" PRIu32 " parts",
                          p, part_count);
    memory_free(size);
    return rc;
}
