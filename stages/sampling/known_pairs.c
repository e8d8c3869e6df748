#include "stages/sampling/known_pairs.h"

#include "common/base/key_sort.h"
#include "common/base/memory.h"
#include "common/base/text.h"

#include <inttypes.h>

static uint64_t pair_of(const struct known_pairs *known, uint32_t source, uint32_t target)
{
    const bool turns = known->undirected && source > target;
    return turns ? (uint64_t)target << 32 | source : (uint64_t)source << 32 | target;
}

static uint32_t type_of(const struct edge_splits *splits, int s, uint64_t i)
{
    return splits->type[s] ? splits->type[s][i] : 0;
}

static enum error_code check_types(const struct known_pairs *known,
                                   const struct edge_splits *splits, struct error *err)
{
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        for (uint64_t i = 0; i < splits->count[s]; i++)
            if ((splits->type[s] != NULL) != (known->type_count > 0) ||
                (splits->type[s] && splits->type[s][i] >= known->type_count))
                return error_set(err, ERROR_CORRUPT,
                                 "%s: %s edge %" PRIu64 " is of type %" PRIu32
                                 ", expected one of %" PRIu32 " types",
                                 splits->view.key, held_out_name[s], i, type_of(splits, s, i),
                                 known->type_count);
    return ERROR_NONE;
}

static enum error_code list_held(struct known_pairs *known, const struct edge_splits *splits,
                                 struct error *err)
{
    const uint32_t types = known->type_count ? known->type_count : 1;
    uint64_t *scratch = NULL, *end = NULL;
    enum error_code rc = memory_new(&known->held, known->held_count, "held-out edges", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&known->held_end, (size_t)types + 1, "held-out edges", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&scratch, known->held_count, "held-out edges", err);
    if (rc != ERROR_NONE) {
        memory_free(scratch);
        return rc;
    }
    end = known->held_end; /* of the type before, until all are counted */
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        for (uint64_t i = 0; i < splits->count[s]; i++)
            end[type_of(splits, s, i) + 1]++;
    for (uint32_t t = 0; t < types; t++)
        end[t + 1] += end[t];
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        for (uint64_t i = 0; i < splits->count[s]; i++)
            known->held[end[type_of(splits, s, i)]++] =
                pair_of(known, splits->source[s][i], splits->target[s][i]);
    for (uint32_t t = 0; t < types; t++) {
        const uint64_t first = t ? end[t - 1] : 0;
        if (end[t] > first)
            key_sort(known->held + first, scratch, end[t] - first);
    }
    memory_free(scratch);
    return ERROR_NONE;
}

enum error_code known_pairs_init(struct known_pairs *known, const struct topology *topology,
                                 const struct edge_splits *splits, uint32_t type_count,
                                 uint64_t budget_bytes, struct error *err)
{
    *known = (struct known_pairs){.topology = topology, .type_count = type_count};
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
    const enum error_code rc = check_types(known, splits, err);
    return rc == ERROR_NONE ? list_held(known, splits, err) : rc;
}

void known_pairs_release(struct known_pairs *known)
{
    memory_free(known->held);
    memory_free(known->held_end);
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

static bool is_held(const struct known_pairs *known, uint64_t pair, uint16_t type)
{
    if (!known->held_count)
        return false;
    uint64_t low = type ? known->held_end[type - 1] : 0, high = known->held_end[type];
    const uint64_t end = high;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (known->held[middle] < pair)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && known->held[low] == pair;
}

/* Whether one of the edges [first, end) of the row of `target` has the type. */
static bool has_type(const struct topology *topology, uint32_t target, uint64_t first, uint64_t end,
                     uint16_t type)
{
    const struct topology_part *part = &topology->part[topology_part_of(topology, target)];
    const uint64_t start = topology_row_start(part, target - part->first_node);
    bool found = false;
    for (; !found && first < end; first++)
        found = *(const uint16_t *)topology_column(part, EDGE_TYPE, start + first) == type;
    return found;
}

bool known_pairs_has(const struct known_pairs *known, uint32_t source, uint32_t target,
                     uint16_t type)
{
    uint64_t first = 0, end = 0;
    known_pairs_find(known->topology, source, target, &first, &end);
    if (end > first && (!known->type_count || has_type(known->topology, target, first, end, type)))
        return true;
    return is_held(known, pair_of(known, source, target), type);
}
