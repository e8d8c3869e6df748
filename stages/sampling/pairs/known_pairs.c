#include "stages/sampling/pairs/known_pairs.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/numbers/key_sort.h"

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
    end = known->held_end; /* counts of type t at t + 1, then begins, at last ends */
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

/* Returns the first place in the list of the type that is not below `pair`. */
static uint64_t place_of(const struct known_pairs *known, uint64_t pair, uint32_t type)
{
    uint64_t low = type ? known->held_end[type - 1] : 0, high = known->held_end[type];
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (known->held[middle] < pair)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum error_code list_times(struct known_pairs *known, const struct edge_splits *splits,
                                  struct error *err)
{
    if (!splits->is_timed && known->held_count)
        return error_set(err, ERROR_CORRUPT, "%s: expected times of held-out edges, found none",
                         splits->view.key);
    const enum error_code rc =
        memory_new(&known->held_time, known->held_count, "held-out edges", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < known->held_count; i++)
        known->held_time[i] = EDGE_TIME_LAST;
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++)
        for (uint64_t i = 0; i < splits->count[s]; i++) {
            const uint64_t pair = pair_of(known, splits->source[s][i], splits->target[s][i]);
            int64_t *earliest = &known->held_time[place_of(known, pair, type_of(splits, s, i))];
            const int64_t time = edge_time_at(splits->time[s], i);
            *earliest = time < *earliest ? time : *earliest;
        }
    return rc;
}

enum error_code known_pairs_init(struct known_pairs *known, const struct known_pairs_config *config,
                                 struct error *err)
{
    const struct edge_splits *splits = config->splits;
    *known = (struct known_pairs){.topology = config->topology,
                                  .is_timed = config->is_timed,
                                  .type_count = config->type_count};
    if (!splits)
        return ERROR_NONE;
    known->undirected = splits->undirected;
    known->held_count = splits->count[HELD_OUT_VALID] + splits->count[HELD_OUT_TEST];
    const uint64_t bytes = 16 * known->held_count; /* the list, and scratch or times */
    char want[32], have[32];
    if (config->budget_bytes && bytes > config->budget_bytes)
        return error_set(err, ERROR_NO_MEMORY,
                         "the held-out edges want %s, the budget for them is %s; " ADVICE
                         "give more "
                         "--memory",
                         text_size(bytes, want), text_size(config->budget_bytes, have));
    enum error_code rc = check_types(known, splits, err);
    if (rc == ERROR_NONE)
        rc = list_held(known, splits, err);
    return rc == ERROR_NONE && known->is_timed ? list_times(known, splits, err) : rc;
}

void known_pairs_release(struct known_pairs *known)
{
    memory_free(known->held);
    memory_free(known->held_time);
    memory_free(known->held_end);
    *known = (struct known_pairs){0};
}

/* Returns the first position in [low, high) whose neighbour is not below `source`, or high. */
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

void known_pairs_find(const struct topology *topology, uint32_t relation, uint32_t source,
                      uint32_t target, uint64_t *first, uint64_t *end)
{
    const struct topology_part *part =
        topology_rows(topology, topology_part_of(topology, target), relation);
    const uint32_t row = target - part->first_node; /* huge if `target` is below first_node */
    *first = *end = 0;
    if (row >= part->node_count)
        return;
    const uint64_t start = topology_row_start(part, row), stop = topology_row_start(part, row + 1);
    const uint64_t from = lower_bound(part, start, stop, source);
    *first = from - start;
    *end = lower_bound(part, from, stop, (uint64_t)source + 1) - start;
}

static bool is_held(const struct known_pairs *known, uint64_t pair, uint16_t type, int64_t time)
{
    if (!known->held_count)
        return false;
    const uint64_t place = place_of(known, pair, type);
    return place < known->held_end[type] && known->held[place] == pair &&
           (!known->is_timed || known->held_time[place] <= time);
}

/* Returns whether the rows have a column of edge types. Otherwise each relation has rows of its
 * own. */
static bool has_types_in_rows(const struct known_pairs *known)
{
    return known->topology->width.of[EDGE_TYPE] != 0;
}

/* Returns whether one of the edges [first, end) of the row of `target` has the type and is not
 * later than `time`. */
static bool is_in_row(const struct known_pairs *known, uint32_t target, uint64_t first,
                      uint64_t end, uint16_t type, int64_t time)
{
    const struct topology *topology = known->topology;
    const bool in_rows = has_types_in_rows(known);
    const struct topology_part *part =
        topology_rows(topology, topology_part_of(topology, target), in_rows ? 0 : type);
    const uint64_t start = first < end ? topology_row_start(part, target - part->first_node)
                                       : 0; /* `target` may have no row */
    bool found = false;
    for (; !found && first < end; first++)
        found = (!in_rows || !known->type_count ||
                 *(const uint16_t *)topology_column(part, EDGE_TYPE, start + first) == type) &&
                (!known->is_timed || topology_time(part, start + first) <= time);
    return found;
}

bool known_pairs_has(const struct known_pairs *known, uint32_t source, uint32_t target,
                     uint16_t type, int64_t time)
{
    const bool in_rows = has_types_in_rows(known);
    uint64_t first = 0, end = 0;
    known_pairs_find(known->topology, in_rows ? 0 : type, source, target, &first, &end);
    return is_in_row(known, target, first, end, type, time) ||
           is_held(known, pair_of(known, source, target), type, time);
}
