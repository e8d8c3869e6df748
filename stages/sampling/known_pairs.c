#include "stages/sampling/known_pairs.h"

#include "common/base/key_sort.h"
#include "common/base/memory.h"
#include "common/base/text.h"

static uint64_t pair_of(const struct known_pairs *known, uint32_t source, uint32_t target)
{
    const bool turns = known->undirected && source > target;
    return turns ? (uint64_t)target << 32 | source : (uint64_t)source << 32 | target;
}

static enum error_code list_held(struct known_pairs *known, const struct edge_splits *splits,
                                 struct error *err)
{
    uint64_t *scratch = NULL, at = 0;
    enum error_code rc = memory_new(&known->held, known->held_count, "held-out edges", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&scratch, known->held_count, "held-out edges", err);
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++)
        for (uint64_t i = 0; i < splits->count[s]; i++)
            known->held[at++] = pair_of(known, splits->source[s][i], splits->target[s][i]);
    if (rc == ERROR_NONE)
        key_sort(known->held, scratch, known->held_count);
    memory_free(scratch);
    return rc;
}

enum error_code known_pairs_init(struct known_pairs *known, const struct topology *topology,
                                 const struct edge_splits *splits, uint64_t budget_bytes,
                                 struct error *err)
{
    *known = (struct known_pairs){.topology = topology};
    if (!splits)
        return ERROR_NONE;
    known->undirected = splits->undirected;
    known->held_count = splits->count[HELD_OUT_VALID] + splits->count[HELD_OUT_TEST];
    char want[32], have[32];
    if (budget_bytes && 16 * known->held_count > budget_bytes)
        return error_set(err, ERROR_NO_MEMORY,
                         "the held-out edges want %s, the budget for them is %s; give more "
                         "--memory",
                         text_size(16 * known->held_count, want), text_size(budget_bytes, have));
    return list_held(known, splits, err);
}

void known_pairs_release(struct known_pairs *known)
{
    memory_free(known->held);
    *known = (struct known_pairs){0};
}

/* The first position from `low` on, below `high`, with a neighbour of `source` or more. */
static uint64_t lower_bound(const struct topology_part *part, uint64_t low, uint64_t high,
                            uint64_t source)
{
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (*topology_neighbor(part, middle) < source)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void known_pairs_find(const struct topology *topology, uint32_t source, uint32_t target,
                      uint64_t *first, uint64_t *end)
{
    const struct topology_part *part = &topology->part[topology_part_of(topology, target)];
    const uint32_t row = target - part->first_node;
    const uint64_t start = topology_row_start(part, row), stop = topology_row_start(part, row + 1);
    const uint64_t from = lower_bound(part, start, stop, source);
    *first = from - start;
    *end = lower_bound(part, from, stop, (uint64_t)source + 1) - start;
}

static bool is_held(const struct known_pairs *known, uint64_t pair)
{
    uint64_t low = 0, high = known->held_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (known->held[middle] < pair)
            low = middle + 1;
        else
            high = middle;
    }
    return low < known->held_count && known->held[low] == pair;
}

bool known_pairs_has(const struct known_pairs *known, uint32_t source, uint32_t target)
{
    uint64_t first = 0, end = 0;
    known_pairs_find(known->topology, source, target, &first, &end);
    return end > first || is_held(known, pair_of(known, source, target));
}
