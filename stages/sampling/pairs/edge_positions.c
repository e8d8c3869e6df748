#include "stages/sampling/pairs/edge_positions.h"

#include "common/base/memory.h"

/* Returns the rows of pair `i` of a part and a relation that counts. */
static const struct topology_part *rows_at(const struct edge_positions *positions, size_t i)
{
    const size_t count = positions->relation_count;
    return topology_rows(positions->topology, (int)(i / count), positions->relation[i % count]);
}

enum error_code edge_positions_init(struct edge_positions *positions,
                                    const struct topology *topology,
                                    const struct relation_reverses *reverses, struct error *err)
{
    const uint32_t relations = topology_relations(topology);
    static const char what[] = "where the edges of parts begin";
    *positions = (struct edge_positions){.topology = topology};
    enum error_code rc = memory_new(&positions->relation, relations, what, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++)
        if (relation_is_forward(reverses, r))
            positions->relation[positions->relation_count++] = r;
    const size_t count = positions->relation_count, parts = (size_t)topology->part_count;
    if (rc == ERROR_NONE)
        rc = memory_new(&positions->first, parts * count + 1, what, err);
    for (size_t i = 0; rc == ERROR_NONE && i < parts * count; i++)
        positions->first[i + 1] = positions->first[i] + rows_at(positions, i)->edge_count;
    return rc;
}

uint64_t edge_positions_count(const struct edge_positions *positions)
{
    return positions->first[(size_t)positions->topology->part_count * positions->relation_count];
}

void edge_positions_release(struct edge_positions *positions)
{
    memory_free(positions->relation);
    memory_free(positions->first);
    *positions = (struct edge_positions){0};
}

struct edge_place edge_positions_find(const struct edge_positions *positions, uint64_t position)
{
    size_t from = 0, to = (size_t)positions->topology->part_count * positions->relation_count - 1;
    while (from < to) { /* finds the first rows that end behind the position */
        const size_t middle = from + (to - from) / 2;
        if (positions->first[middle + 1] > position)
            to = middle;
        else
            from = middle + 1;
    }
    const struct topology_part *part = rows_at(positions, from);
    const uint32_t relation = positions->relation[from % positions->relation_count];
    const uint64_t edge = position - positions->first[from];
    uint32_t low = 0, high = part->node_count - 1;
    while (low < high) { /* finds the first row that ends behind the edge */
        const uint32_t middle = low + (high - low) / 2;
        if (topology_row_start(part, middle + 1) > edge)
            high = middle;
        else
            low = middle + 1;
    }
    return (struct edge_place){.source = *topology_neighbor(part, edge),
                               .target = part->first_node + low,
                               .type =
                                   part->width.of[EDGE_TYPE]
                                       ? *(const uint16_t *)topology_column(part, EDGE_TYPE, edge)
                                       : (uint16_t)relation,
                               .part = part,
                               .edge = edge};
}
