#include "stages/ingest/build/edge_sides.h"

#include "common/base/memory.h"

static const char what[] = "the sides of a graph";

enum error_code edge_sides_open(struct edge_sides *sides, uint32_t node_count, struct error *err)
{
    *sides = (struct edge_sides){.node_count = node_count};
    enum error_code rc = memory_new(&sides->is_source, node_count / 8 + 1, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&sides->is_target, node_count / 8 + 1, what, err);
    return rc;
}

void edge_sides_close(struct edge_sides *sides)
{
    memory_free(sides->is_source);
    memory_free(sides->is_target);
    *sides = (struct edge_sides){0};
}

static bool has(const uint8_t *bits, uint32_t node)
{
    return bits[node / 8] >> node % 8 & 1;
}

void edge_sides_note(struct edge_sides *sides, uint32_t source, uint32_t target)
{
    if (!sides->is_source)
        return;
    sides->is_source[source / 8] |= (uint8_t)(1U << source % 8);
    sides->is_target[target / 8] |= (uint8_t)(1U << target % 8);
    if (has(sides->is_target, source) || has(sides->is_source, target))
        edge_sides_close(sides);
}

bool edge_sides_count(struct edge_sides *sides)
{
    for (uint32_t node = 0; sides->is_source && node < sides->node_count; node++) {
        sides->count[0] += has(sides->is_source, node);
        sides->count[1] += has(sides->is_target, node);
    }
    if (sides->count[0] < 2 || sides->count[1] < 2)
        edge_sides_close(sides);
    return sides->is_source != NULL;
}

enum error_code edge_sides_sources(const struct edge_sides *sides, uint32_t **out,
                                   struct error *err)
{
    uint32_t at = 0;
    const enum error_code rc = memory_new(out, sides->count[0], what, err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < sides->node_count; node++)
        if (has(sides->is_source, node))
            (*out)[at++] = node;
    return rc;
}
