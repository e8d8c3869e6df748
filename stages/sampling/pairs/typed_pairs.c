#include "stages/sampling/pairs/typed_pairs.h"

#include "common/numbers/random.h"

#include <string.h>

static const char what[] = "the pairs of a mini-batch";

void typed_pairs_release(struct typed_pairs *pairs, struct array_budget *budget)
{
    for (int end = 0; end < 2; end++) {
        growing_array_release(&pairs->by_end[end].member, budget);
        growing_array_release(&pairs->by_end[end].place, budget);
    }
    growing_array_release(&pairs->number, budget);
    growing_array_release(&pairs->type, budget);
    growing_array_release(&pairs->copy, budget);
    relation_exclusion_release(&pairs->exclusion, budget);
}

static uint32_t type_at(const struct pair_ends *ends, const uint16_t *relation, uint32_t i, int end)
{
    return pair_ends_type(ends, relation ? relation[i] : 0, (enum pair_end)end);
}

/* Counts of each type become where those of it begin. */
static void begin_types(uint32_t begin[RELATION_TYPE_COUNT_MAX + 1])
{
    for (int t = 0; t < RELATION_TYPE_COUNT_MAX; t++)
        begin[t + 1] += begin[t];
}

enum error_code typed_pairs_group(struct typed_pairs *pairs, struct array_budget *budget,
                                  const struct pair_ends *ends, const uint16_t *relation,
                                  uint32_t count, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int end = 0; rc == ERROR_NONE && end < 2; end++) {
        struct edges_by_type *own = &pairs->by_end[end];
        uint32_t next[RELATION_TYPE_COUNT_MAX + 1];
        memset(own->begin, 0, sizeof own->begin);
        rc = growing_array_reserve(&own->member, budget, count, 0, what, err);
        if (rc == ERROR_NONE)
            rc = growing_array_reserve(&own->place, budget, count, 0, what, err);
        for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
            own->begin[type_at(ends, relation, i, end) + 1]++;
        begin_types(own->begin);
        memcpy(next, own->begin, sizeof next);
        for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
            const uint32_t place = next[type_at(ends, relation, i, end)]++;
            own->member.data[place] = i;
            own->place.data[i] = place;
        }
    }
    return rc;
}

uint32_t typed_pairs_others(const struct typed_pairs *pairs, const struct pair_ends *ends,
                            uint16_t relation, enum pair_end end)
{
    const uint32_t type = pair_ends_type(ends, relation, end);
    return pairs->by_end[end].begin[type + 1] - pairs->by_end[end].begin[type] - 1;
}

uint32_t typed_pairs_other(const struct typed_pairs *pairs, const struct pair_ends *ends,
                           uint16_t relation, enum pair_end end, uint32_t i, uint32_t k,
                           uint32_t word)
{
    const struct edges_by_type *own = &pairs->by_end[end];
    const uint32_t type = pair_ends_type(ends, relation, end);
    const uint32_t first = own->begin[type], all = own->begin[type + 1] - first;
    const uint64_t step = ((uint64_t)random_below(word, all - 1) + k) % (all - 1);
    return own->member.data[first + (own->place.data[i] - first + 1 + step) % all];
}

enum error_code typed_pairs_move(struct typed_pairs *pairs, struct array_budget *budget,
                                 uint32_t *value, size_t words, uint32_t count, struct error *err)
{
    const enum error_code rc =
        growing_array_reserve(&pairs->copy, budget, count * words, 0, what, err);
    if (rc != ERROR_NONE || count == 0)
        return rc;
    for (size_t i = 0; i < count; i++)
        memcpy(pairs->copy.data + pairs->number.data[i] * words, value + i * words,
               words * sizeof *value);
    memcpy(value, pairs->copy.data, count * words * sizeof *value);
    return ERROR_NONE;
}

enum error_code typed_pairs_order(struct typed_pairs *pairs, struct array_budget *budget,
                                  const struct pair_ends *ends, const struct named_seeds *seeds,
                                  struct error *err)
{
    const uint32_t count = seeds->count;
    uint32_t next[RELATION_TYPE_COUNT_MAX + 1];
    enum error_code rc = growing_array_reserve(&pairs->number, budget, count, 0, what, err);
    if (rc == ERROR_NONE)
        rc = growing_array_reserve(&pairs->type, budget, count, 0, what, err);
    if (rc != ERROR_NONE)
        return rc;
    uint32_t *number = pairs->number.data, *type = pairs->type.data;
    memset(pairs->seed_begin, 0, sizeof pairs->seed_begin);
    for (uint32_t i = 0; i < count; i++) {
        type[i] = pair_ends_type_of(ends, seeds->node[i]);
        pairs->seed_begin[type[i] + 1]++;
    }
    begin_types(pairs->seed_begin);
    memcpy(next, pairs->seed_begin, sizeof next);
    for (uint32_t i = 0; i < count; i++)
        number[i] = next[type[i]]++;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < seeds->name_count[side]; i++)
            seeds->name[side][i] = number[seeds->name[side][i]];
    return typed_pairs_move(pairs, budget, seeds->node, 1, count, err);
}
