#include "stages/ingest/build/edges/edge_sides.h"

#include "common/base/memory.h"

static const char what[] = "the sides of a graph";

enum error_code edge_sides_open(struct edge_sides *sides, uint32_t node_count, struct error *err)
{
    *sides = (struct edge_sides){.node_count = node_count};
    enum error_code rc = memory_new(&sides->is_source, node_count / 8 + 1, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&sides->is_target, node_count / 8 + 1, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&sides->is_opposite, node_count / 8 + 1, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&sides->parent, node_count, what, err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < node_count; node++)
        sides->parent[node] = node;
    return rc;
}

static void close_sides(struct edge_sides *sides)
{
    memory_free(sides->is_source);
    memory_free(sides->is_target);
    sides->is_source = sides->is_target = NULL;
}

static void close_groups(struct edge_sides *sides)
{
    memory_free(sides->parent);
    memory_free(sides->is_opposite);
    sides->parent = NULL;
    sides->is_opposite = NULL;
}

void edge_sides_close(struct edge_sides *sides)
{
    close_sides(sides);
    close_groups(sides);
    *sides = (struct edge_sides){0};
}

static bool has(const uint8_t *bits, uint32_t node)
{
    return bits[node / 8] >> node % 8 & 1;
}

/* Returns the root of the node's tree, and halves the path. *is_opposite: the two are in different
 * groups. */
static uint32_t find_root(struct edge_sides *sides, uint32_t node, bool *is_opposite)
{
    *is_opposite = false;
    while (sides->parent[node] != node) {
        const uint32_t parent = sides->parent[node];
        if (has(sides->is_opposite, parent)) /* the node's parent is now its grandparent */
            sides->is_opposite[node / 8] ^= (uint8_t)(1U << node % 8);
        sides->parent[node] = sides->parent[parent];
        *is_opposite ^= has(sides->is_opposite, node);
        node = sides->parent[node];
    }
    return node;
}

/* Puts the two ends of an edge into different groups. A root is in its own group. */
static void join_groups(struct edge_sides *sides, uint32_t source, uint32_t target)
{
    bool of_source = false, of_target = false;
    const uint32_t a = find_root(sides, source, &of_source);
    const uint32_t b = find_root(sides, target, &of_target);
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (a == b && of_source == of_target)
        close_groups(sides);
    if (a == b)
        return;
    sides->parent[high] = low;
    if (of_source == of_target)
        sides->is_opposite[high / 8] |= (uint8_t)(1U << high % 8);
}

void edge_sides_note(struct edge_sides *sides, uint32_t source, uint32_t target)
{
    if (sides->parent)
        join_groups(sides, source, target);
    if (!sides->is_source)
        return;
    sides->is_source[source / 8] |= (uint8_t)(1U << source % 8);
    sides->is_target[target / 8] |= (uint8_t)(1U << target % 8);
    if (has(sides->is_target, source) || has(sides->is_source, target))
        close_sides(sides);
}

bool edge_sides_count(struct edge_sides *sides)
{
    for (uint32_t node = 0; sides->is_source && node < sides->node_count; node++) {
        sides->count[0] += has(sides->is_source, node);
        sides->count[1] += has(sides->is_target, node);
    }
    if (sides->count[0] < 2 || sides->count[1] < 2) {
        close_sides(sides);
        sides->count[0] = sides->count[1] = 0;
    }
    return sides->is_source != NULL;
}

bool edge_sides_are_groups(const struct edge_sides *sides)
{
    return sides->parent && !sides->is_source;
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
