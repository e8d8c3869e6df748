#include "stages/sampling/pairs/relation_exclusion.h"

#include "common/numbers/key_sort.h"
#include "stages/sampling/pairs/known_pairs.h"

#include <string.h>

static const char what[] = "the edges that are left out";

void relation_exclusion_release(struct relation_exclusion *exclusion, struct array_budget *budget)
{
    growing_array_release(&exclusion->found, budget);
    growing_array_release(&exclusion->relation, budget);
    growing_array_release(&exclusion->key, budget);
    growing_array_release(&exclusion->scratch, budget);
    growing_array_release(&exclusion->begin, budget);
    growing_array_release(&exclusion->seed, budget);
    growing_array_release(&exclusion->position, budget);
}

static uint64_t *wide(const struct growing_array *array)
{
    return (uint64_t *)(void *)array->data;
}

struct search { /* one call */
    struct relation_exclusion *own;
    struct array_budget *budget;
    const struct topology *topology;
    uint64_t count;
};

/* Notes the edges from `source` in the row that `target`, seed `seed` of its type, has in the relation. */
static enum error_code leave_out(struct search *search, uint32_t relation, uint32_t source,
                                 uint32_t target, uint32_t seed, struct error *err)
{
    struct relation_exclusion *own = search->own;
    uint64_t first = 0, end = 0;
    known_pairs_find(search->topology, relation, source, target, &first, &end);
    const uint64_t all = search->count + end - first;
    enum error_code rc = growing_array_reserve(&own->found, search->budget, 2 * all + 2,
                                               2 * search->count, what, err);
    if (rc == ERROR_NONE)
        rc = growing_array_reserve(&own->relation, search->budget, all + 1, search->count, what,
                                   err);
    for (; rc == ERROR_NONE && first < end; first++) {
        wide(&own->found)[search->count] = (uint64_t)seed << 32 | first;
        own->relation.data[search->count++] = relation;
    }
    return rc;
}

static enum error_code find_all(struct search *search, const struct pair_ends *ends,
                                const struct excluded_examples *examples, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < examples->count; i++) {
        const uint16_t r = examples->relation ? examples->relation[i] : 0;
        const uint32_t back = ends->reverses.reverse[r];
        const uint32_t s = examples->source[i], t = examples->target[i];
        const uint32_t type_of_s = pair_ends_type(ends, r, PAIR_SOURCE);
        const uint32_t type_of_t = pair_ends_type(ends, r, PAIR_TARGET);
        const uint32_t of_s = examples->source_seed[i] - examples->seed_begin[type_of_s];
        const uint32_t of_t = examples->target_seed[i] - examples->seed_begin[type_of_t];
        const bool has_reverse = examples->with_reverses && back < RELATION_COUNT_MAX;
        const bool one_type = examples->with_reverses && s != t && type_of_s == type_of_t;
        rc = leave_out(search, r, s, t, of_t, err);
        if (rc == ERROR_NONE && has_reverse) /* NOLINT(readability-suspicious-call-argument) */
            rc = leave_out(search, back, t, s, of_s, err);
        if (rc == ERROR_NONE && one_type) /* NOLINT(readability-suspicious-call-argument) */
            rc = leave_out(search, r, t, s, of_s, err);
        if (rc == ERROR_NONE && one_type && has_reverse)
            rc = leave_out(search, back, s, t, of_t, err);
    }
    return rc;
}

/* Keys behind those of the relations before; begin [relations + 1] is where those of each do. */
static void group(const struct search *search, uint32_t relations)
{
    const struct relation_exclusion *own = search->own;
    uint32_t *begin = own->begin.data;
    memset(begin, 0, ((size_t)relations + 1) * sizeof *begin);
    for (uint64_t i = 0; i < search->count; i++)
        begin[own->relation.data[i] + 1]++;
    for (uint32_t r = 0; r < relations; r++)
        begin[r + 1] += begin[r];
    for (uint64_t i = 0; i < search->count; i++)
        wide(&own->key)[begin[own->relation.data[i]]++] = wide(&own->found)[i];
    for (uint32_t r = relations; r > 0; r--)
        begin[r] = begin[r - 1];
    begin[0] = 0;
}

/* Each relation's in order, none twice. */
static void settle(const struct search *search, uint32_t relations)
{
    const struct relation_exclusion *own = search->own;
    uint32_t *begin = own->begin.data, kept = 0;
    for (uint32_t r = 0; r < relations; r++) {
        uint64_t *key = wide(&own->key) + begin[r];
        const uint32_t count = begin[r + 1] - begin[r];
        if (count > 1)
            key_sort(key, wide(&own->scratch), count);
        begin[r] = kept;
        for (uint32_t i = 0; i < count; i++) {
            if (i > 0 && key[i] == key[i - 1])
                continue;
            own->seed.data[kept] = (uint32_t)(key[i] >> 32);
            own->position.data[kept++] = (uint32_t)key[i];
        }
    }
    begin[relations] = kept;
}

enum error_code relation_exclusion_find(struct relation_exclusion *exclusion,
                                        struct array_budget *budget,
                                        const struct topology *topology,
                                        const struct pair_ends *ends,
                                        const struct excluded_examples *examples,
                                        struct excluded_edges *out, struct error *err)
{
    struct search search = {.own = exclusion, .budget = budget, .topology = topology};
    const uint32_t relations = topology_relations(topology);
    enum error_code rc = find_all(&search, ends, examples, err);
    const uint64_t count = search.count + 1;
    if (rc == ERROR_NONE)
        rc = growing_array_reserve(&exclusion->key, budget, 2 * count, 0, what, err);
    if (rc == ERROR_NONE)
        rc = growing_array_reserve(&exclusion->scratch, budget, 2 * count, 0, what, err);
    if (rc == ERROR_NONE)
        rc =
            growing_array_reserve(&exclusion->begin, budget, (uint64_t)relations + 1, 0, what, err);
    if (rc == ERROR_NONE)
        rc = growing_array_reserve(&exclusion->seed, budget, count, 0, what, err);
    if (rc == ERROR_NONE)
        rc = growing_array_reserve(&exclusion->position, budget, count, 0, what, err);
    if (rc != ERROR_NONE)
        return rc;
    group(&search, relations);
    settle(&search, relations);
    *out = (struct excluded_edges){exclusion->begin.data, exclusion->seed.data,
                                   exclusion->position.data};
    return ERROR_NONE;
}
