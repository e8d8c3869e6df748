#include "common/nn/typed/relation_rows.h"

#include "common/numbers/ascending.h"

static const char what[] = "the rows of relations"; /* user of the memory, for messages */

static uint32_t count_rows(const struct message_block *block, bool counts)
{
    uint32_t count = 0;
    if (counts) {
        const uint64_t edges = message_block_edges(block);
        return edges < block->destination_count ? (uint32_t)edges : block->destination_count;
    }
    for (uint32_t i = 0; i < block->destination_count; i++)
        count += block->row_start[i] < block->row_start[i + 1];
    return count;
}

/* Rows without edges take no room between the others, so each row ends where the next one
 * begins. */
static void fill(const struct message_block *block, uint32_t *row, uint32_t *row_start,
                 uint32_t *degree)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < block->destination_count; i++) {
        if (block->row_start[i] == block->row_start[i + 1])
            continue;
        row[count] = i;
        row_start[count] = block->row_start[i];
        if (degree)
            degree[count] = block->degree[i];
        count++;
    }
    row_start[count] = block->row_start[block->destination_count];
}

static enum error_code find(const struct relation_edges *given, uint32_t source_count,
                            struct arena *arena, struct relation_edges *out, struct error *err)
{
    uint32_t *row = NULL, *row_start = NULL, *degree = NULL;
    *out = *given;
    out->block.is_bipartite = true;
    out->block.source_count = source_count;
    if (given->row || given->block.destination_count == 0)
        return ERROR_NONE;
    const uint32_t count = count_rows(&given->block, arena->counts);
    enum error_code rc = arena_new(arena, &row, count, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &row_start, (size_t)count + 1, what, err);
    if (rc == ERROR_NONE && given->block.degree)
        rc = arena_new(arena, &degree, count, what, err);
    if (rc != ERROR_NONE)
        return rc;
    out->block.destination_count = count;
    out->row = row;
    if (arena->counts)
        return ERROR_NONE;
    fill(&given->block, row, row_start, degree);
    out->block.row_start = row_start;
    out->block.degree = degree;
    return ERROR_NONE;
}

enum error_code relation_rows_find(const struct relation_schema *schema,
                                   const struct relation_block *block, struct arena *arena,
                                   const struct relation_edges **out, struct error *err)
{
    struct relation_edges *made = NULL;
    enum error_code rc = arena_new(arena, &made, schema->relation_count, what, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < schema->relation_count; r++)
        rc = find(&block->edges[r], block->source_count[schema->relation[r].source_type], arena,
                  &made[r], err);
    *out = made;
    return rc;
}

uint32_t relation_rows_from(const struct relation_edges *edges, uint32_t destination)
{
    return (uint32_t)ascending_below(edges->row, edges->block.destination_count, destination);
}
