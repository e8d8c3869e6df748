#include "stages/sampling/pairs/negative_chances.h"

#include "common/base/memory.h"
#include "common/base/text.h"

#include <inttypes.h>
#include <math.h>

/* Returns length^0.75 as d^(1/2) d^(1/4): square roots have the same bits everywhere, pow() does
 * not. */
static double power_of(uint32_t length)
{
    const double root = sqrt((double)length);
    return root * sqrt(root);
}

static const struct chance_rule rule = {.of_row = power_of};

static enum error_code check_chances(uint64_t bytes, uint64_t budget_bytes, struct error *err)
{
    char want[32], have[32];
    if (!budget_bytes || bytes <= budget_bytes)
        return ERROR_NONE;
    return error_set(err, ERROR_NO_MEMORY,
                     "sample.negative is degree, whose chances of nodes take %s: the budget "
                     "for them is %s; " ADVICE "give more --memory, or set it to uniform",
                     text_size(bytes, want), text_size(budget_bytes, have));
}

enum error_code negative_chances_init(struct node_chances *chances, const struct topology *topology,
                                      uint64_t budget_bytes, struct error *err)
{
    *chances = (struct node_chances){0};
    const enum error_code rc =
        check_chances(node_chances_bytes(&rule, topology), budget_bytes, err);
    return rc == ERROR_NONE ? node_chances_init(chances, &rule, topology, err) : rc;
}

/* Adds to `count` the in-degrees of the nodes of a type in all relations. */
static enum error_code count_edges_of_type(const struct topology *topology,
                                           const struct pair_ends *ends, uint32_t type,
                                           uint32_t *count, struct error *err)
{
    const uint32_t *book = pair_ends_book(ends, type);
    for (uint32_t r = 0; r < topology_relations(topology); r++)
        for (int p = 0; p < topology->part_count; p++) {
            const struct topology_part *rows = topology_rows(topology, p, r);
            if (pair_ends_type(ends, (uint16_t)r, PAIR_TARGET) != type)
                continue;
            if (rows->node_count != book[p + 1] - book[p])
                return error_set(err, ERROR_CORRUPT,
                                 "topology: expected %" PRIu32 " rows of relation %" PRIu32
                                 " in part %d, found %" PRIu32,
                                 book[p + 1] - book[p], r, p, rows->node_count);
            for (uint32_t row = 0; row < rows->node_count; row++)
                count[book[p] + row] +=
                    (uint32_t)(topology_row_start(rows, row + 1) - topology_row_start(rows, row));
        }
    return ERROR_NONE;
}

/* Computes running sums, which node_chances_draw() scales by the last one. If there is no edge, all
 * nodes have the same chance. */
static enum error_code sum_chances(struct node_chances *chances, const uint32_t *edges,
                                   struct error *err)
{
    const enum error_code rc =
        memory_new(&chances->end, chances->node_count, "the chances of nodes to be drawn", err);
    double end = 0;
    bool has_edges = false;
    for (uint32_t i = 0; i < chances->node_count; i++)
        has_edges |= edges[i] > 0;
    for (uint32_t i = 0; rc == ERROR_NONE && i < chances->node_count; i++) {
        end += has_edges ? power_of(edges[i]) : 1;
        chances->end[i] = end;
    }
    return rc;
}

enum error_code negative_chances_by_type(struct node_chances *chances,
                                         const struct topology *topology,
                                         const struct pair_ends *ends, uint64_t budget_bytes,
                                         struct error *err)
{
    enum error_code rc = check_chances(node_chances_bytes(&rule, topology), budget_bytes, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < ends->ranges.type_count; t++) {
        uint32_t *edges = NULL;
        chances[t] = (struct node_chances){.node_count = pair_ends_count(ends, t)};
        rc = memory_new(&edges, chances[t].node_count, "in-degrees", err);
        if (rc == ERROR_NONE)
            rc = count_edges_of_type(topology, ends, t, edges, err);
        if (rc == ERROR_NONE)
            rc = sum_chances(&chances[t], edges, err);
        memory_free(edges);
    }
    return rc;
}
