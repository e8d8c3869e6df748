#include "common/graph/transposed_edges.h"

#include <string.h>

/* start[j + 2] counts the edges of source j, so that after the running sum start[j + 1] is where j
 * begins, and after filling where it ends, which is where j + 1 begins. */
static void count(const struct message_block *block, bool skip_self_loops, uint32_t *start)
{
    memset(start, 0, ((size_t)block->source_count + 2) * sizeof *start);
    for (uint32_t i = 0; i < block->destination_count; i++)
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
            if (!skip_self_loops || block->neighbor[e] != i)
                start[(size_t)block->neighbor[e] + 2]++;
    for (size_t j = 2; j <= (size_t)block->source_count + 1; j++)
        start[j] += start[j - 1];
}

enum error_code transposed_edges_build(const struct message_block *block, bool skip_self_loops,
                                       struct arena *arena, struct transposed_edges *out,
                                       struct error *err)
{
    enum error_code rc =
        arena_new(arena, &out->start, (size_t)block->source_count + 2, "the transposed edges", err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &out->destination, message_block_edges(block), "the transposed edges",
                       err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    count(block, skip_self_loops, out->start);
    for (uint32_t i = 0; i < block->destination_count; i++)
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
            if (!skip_self_loops || block->neighbor[e] != i)
                out->destination[out->start[(size_t)block->neighbor[e] + 1]++] = i;
    return ERROR_NONE;
}
