#include "common/graph/transposed_edges.h"

#include <string.h>

/* Counts. start[j + 2] has the number of edges of source j, so after the running sum start[j + 1]
 * is the begin of j. Filling advances it to the end of j, which is the begin of j + 1. */
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

/* Fills the edges; they are not numbered if `out->edge` is NULL. */
static void fill(const struct message_block *block, bool skip_self_loops,
                 const struct transposed_edges *out)
{
    for (uint32_t i = 0; i < block->destination_count; i++)
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
            if (skip_self_loops && block->neighbor[e] == i)
                continue;
            const uint32_t at = out->start[(size_t)block->neighbor[e] + 1]++;
            out->destination[at] = i;
            if (out->edge)
                out->edge[at] = e;
        }
}

enum error_code transposed_edges_new(const struct message_block *block, bool numbers,
                                     struct arena *arena, struct transposed_edges *out,
                                     struct error *err)
{
    static const char what[] = "the transposed edges";
    *out = (struct transposed_edges){.edge = NULL};
    enum error_code rc = arena_new(arena, &out->start, (size_t)block->source_count + 2, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &out->destination, message_block_edges(block), what, err);
    if (rc == ERROR_NONE && numbers)
        rc = arena_new(arena, &out->edge, message_block_edges(block), what, err);
    return rc;
}

void transposed_edges_fill(const struct message_block *block, bool skip_self_loops,
                           const struct transposed_edges *out)
{
    count(block, skip_self_loops, out->start);
    fill(block, skip_self_loops, out);
}

static enum error_code build(const struct message_block *block, bool skip_self_loops, bool numbers,
                             struct arena *arena, struct transposed_edges *out, struct error *err)
{
    const enum error_code rc = transposed_edges_new(block, numbers, arena, out, err);
    if (rc == ERROR_NONE && !arena->counts)
        transposed_edges_fill(block, skip_self_loops, out);
    return rc;
}

enum error_code transposed_edges_build(const struct message_block *block, bool skip_self_loops,
                                       struct arena *arena, struct transposed_edges *out,
                                       struct error *err)
{
    return build(block, skip_self_loops, false, arena, out, err);
}

enum error_code transposed_edges_number(const struct message_block *block, bool skip_self_loops,
                                        struct arena *arena, struct transposed_edges *out,
                                        struct error *err)
{
    return build(block, skip_self_loops, true, arena, out, err);
}
