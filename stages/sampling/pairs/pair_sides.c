#include "stages/sampling/pairs/pair_sides.h"

#include "common/base/memory.h"

#include <string.h>

static const char what[] = "the sides of a graph";

/* The results of one pass over the edges. */
struct side_pass {
    uint8_t *side;
    bool has_changed, is_mixed;
};

static void see(struct side_pass *pass, uint32_t source, uint32_t target)
{
    const uint32_t end[] = {source, target};
    if (pass->side[source] == pass->side[target])
        pass->is_mixed |= pass->side[source] != PAIR_SIDE_NONE;
    for (int i = 0; i < 2; i++)
        if (pass->side[end[i]] == PAIR_SIDE_NONE && pass->side[end[!i]] != PAIR_SIDE_NONE) {
            pass->side[end[i]] =
                pass->side[end[!i]] == PAIR_SIDE_LEFT ? PAIR_SIDE_RIGHT : PAIR_SIDE_LEFT;
            pass->has_changed = true;
        }
}

static void see_topology(struct side_pass *pass, const struct topology *topology)
{
    for (int p = 0; p < topology->part_count; p++) {
        const struct topology_part *part = topology_rows(topology, p, 0);
        for (uint32_t row = 0; row < part->node_count && !pass->is_mixed; row++) {
            const uint64_t end = topology_row_start(part, row + 1);
            for (uint64_t e = topology_row_start(part, row); e < end; e++)
                see(pass, *topology_neighbor(part, e), part->first_node + row);
        }
    }
}

static void see_held(struct side_pass *pass, const struct edge_splits *splits)
{
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        for (uint64_t i = 0; i < splits->count[s]; i++)
            see(pass, splits->source[s][i], splits->target[s][i]);
}

static enum error_code list_nodes(struct pair_sides *sides, uint32_t node_count, struct error *err)
{
    uint32_t at[PAIR_SIDES] = {0};
    enum error_code rc = ERROR_NONE;
    for (uint32_t node = 0; node < node_count; node++)
        if (sides->side[node] != PAIR_SIDE_NONE)
            sides->count[sides->side[node]]++;
    for (int s = 0; rc == ERROR_NONE && s < PAIR_SIDES; s++)
        rc = memory_new(&sides->node[s], sides->count[s], what, err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < node_count; node++) {
        const uint8_t s = sides->side[node];
        if (s != PAIR_SIDE_NONE)
            sides->node[s][at[s]++] = node;
    }
    return rc;
}

enum error_code pair_sides_init(struct pair_sides *sides, const struct topology *topology,
                                const struct edge_splits *splits, struct error *err)
{
    struct side_pass pass = {0};
    *sides = (struct pair_sides){0};
    if (!splits->left_count)
        return ERROR_NONE;
    enum error_code rc = memory_new(&sides->side, topology->node_count, what, err);
    if (rc != ERROR_NONE)
        return rc;
    pass.side = sides->side;
    memset(pass.side, PAIR_SIDE_NONE, topology->node_count);
    for (uint64_t i = 0; i < splits->left_count; i++)
        pass.side[splits->left[i]] = PAIR_SIDE_LEFT;
    do {
        pass.has_changed = false;
        see_topology(&pass, topology);
        see_held(&pass, splits);
    } while (pass.has_changed && !pass.is_mixed);
    if (pass.is_mixed)
        pair_sides_release(sides);
    else
        rc = list_nodes(sides, topology->node_count, err);
    if (rc == ERROR_NONE && (sides->count[PAIR_SIDE_LEFT] < 2 || sides->count[PAIR_SIDE_RIGHT] < 2))
        pair_sides_release(sides);
    return rc;
}

void pair_sides_release(struct pair_sides *sides)
{
    memory_free(sides->side);
    for (int s = 0; s < PAIR_SIDES; s++)
        memory_free(sides->node[s]);
    *sides = (struct pair_sides){0};
}

enum error_code pair_sides_chances(const struct pair_sides *sides, const struct node_chances *all,
                                   struct node_chances *chances, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int s = 0; rc == ERROR_NONE && s < PAIR_SIDES; s++) {
        const uint32_t count = sides->count[s];
        double end = 0;
        chances[s] = (struct node_chances){.node_count = count};
        rc = memory_new(&chances[s].end, count, "the chances of nodes to be drawn", err);
        for (uint32_t k = 0; rc == ERROR_NONE && k < count; k++) {
            const uint32_t node = sides->node[s][k];
            end += all->end[node] - (node ? all->end[node - 1] : 0);
            chances[s].end[k] = end;
        }
        for (uint32_t k = 0; rc == ERROR_NONE && end <= 0 && k < count; k++)
            chances[s].end[k] = k + 1;
    }
    return rc;
}
