#include "stages/sampling/pairs/pair_drawer.h"

#include "common/base/memory.h"
#include "common/numbers/key_sort.h"
#include "stages/sampling/rows/growing_array.h"

#include <inttypes.h>
#include <string.h>

struct pair_drawer {
    const struct topology *topology;
    struct array_budget budget;
    struct growing_array source, target; /* of pairs: nodes, then seeds */
    struct growing_array node;           /* the seeds */
    struct growing_array slot;           /* [slot_count] a seed's number + 1, 0: empty; by node */
    uint32_t slot_bits;
    uint32_t seed_count;
    struct growing_array key,
        scratch;                /* of 64-bit numbers: seed and position of what is left out */
    uint32_t excluded_begin[2]; /* of a graph of one relation, as are the next */
    struct growing_array seed, position;
    struct growing_array time; /* of 64-bit numbers: of the seeds */
    struct growing_array edge; /* [seeds] of each its edge, with times */
    struct typed_pairs typed;  /* of a graph with relations */
};

/* ---- negatives -------------------------------------------------------------------------------- */

static uint32_t by_chance(const struct node_chances *chances, double unit)
{
    const double wanted = unit * chances->end[chances->node_count - 1];
    uint32_t low = 0, high = chances->node_count - 1;
    while (low < high) { /* the first node whose end is above */
        const uint32_t middle = low + (high - low) / 2;
        if (chances->end[middle] > wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool is_source_corrupted(const struct pair_request *request, uint32_t i)
{
    return corrupts_source(request->corrupt, i);
}

/* The type of the end of edge `i` that is another. */
static uint32_t corrupted_type(const struct pair_request *request, uint32_t i)
{
    return pair_ends_type(request->ends, request->type ? request->type[i] : 0,
                          is_source_corrupted(request, i) ? PAIR_SOURCE : PAIR_TARGET);
}

/* The side of the end of edge `i` that is another; PAIR_SIDE_NONE: any node may be. */
static uint32_t corrupted_side(const struct pair_request *request, uint32_t i)
{
    return request->sides
               ? request->sides->side[is_source_corrupted(request, i) ? request->source[i]
                                                                      : request->target[i]]
               : PAIR_SIDE_NONE;
}

/* For edge `i`; draws of one item and block are of the same number, but maybe of another type. */
static uint32_t draw_node(const struct pair_request *request, uint32_t node_count, uint32_t i,
                          uint64_t item, uint32_t block)
{
    const uint32_t side = corrupted_side(request, i);
    const bool has_side = side != PAIR_SIDE_NONE;
    const uint32_t type = request->ends ? corrupted_type(request, i) : has_side ? side : 0;
    const uint32_t count = request->ends ? pair_ends_count(request->ends, type)
                           : has_side    ? request->sides->count[side]
                                         : node_count;
    const struct random_stream stream = random_stream_of(
        request->seed, RANDOM_NEGATIVE, request->round, (uint32_t)request->use, request->slot);
    uint32_t word[4];
    random_block(&stream, item, block, word);
    const uint64_t bits = (uint64_t)word[0] << 32 | word[1];
    const bool by_chances = request->negative == NEGATIVE_DEGREE && (has_side || !request->sides);
    const uint32_t number = by_chances
                                ? by_chance(&request->chances[type], (double)(bits >> 11) * 0x1p-53)
                                : random_below(word[0], count);
    if (has_side)
        return request->sides->node[side][number];
    return request->ends ? pair_ends_node(request->ends, type, number) : number;
}

static uint16_t type_of(const struct pair_request *request, uint32_t i)
{
    return request->type ? request->type[i] : 0;
}

/* Edges of the batch that edge `i` may have an end of. */
static uint32_t others_of(const struct pair_request *request, uint32_t i)
{
    return request->ends
               ? typed_pairs_others(request->grouped, request->ends, type_of(request, i),
                                    is_source_corrupted(request, i) ? PAIR_SOURCE : PAIR_TARGET)
               : request->positive_count - 1;
}

/* All others one after the other, from a place that is drawn. */
static uint32_t of_batch(const struct pair_request *request, uint32_t i, uint32_t k)
{
    const bool of_source = is_source_corrupted(request, i);
    const uint32_t others = others_of(request, i);
    const struct random_stream stream = random_stream_of(
        request->seed, RANDOM_NEGATIVE, request->round, (uint32_t)request->use, request->slot);
    const uint32_t word = random_word(&stream, i, 0);
    const uint64_t other =
        request->ends ? typed_pairs_other(request->grouped, request->ends, type_of(request, i),
                                          of_source ? PAIR_SOURCE : PAIR_TARGET, i, k, word)
                      : (i + 1 + ((uint64_t)random_below(word, others) + k) % others) %
                            request->positive_count;
    const uint32_t end[] = {request->target[other], request->source[other]};
    const uint32_t side = corrupted_side(request, i);
    const bool is_turned = side != PAIR_SIDE_NONE && request->sides->side[end[of_source]] != side;
    return end[of_source != is_turned]; /* of two sides the edge has one end on each */
}

/* All of the list one after the other, from a place that is drawn, and again from its beginning where it is short. */
static uint32_t of_list(const struct pair_request *request, uint32_t i, uint32_t k)
{
    const uint64_t *start = request->given->start + request->given_list[i];
    const uint64_t count = start[1] - start[0];
    const struct random_stream stream = random_stream_of(
        request->seed, RANDOM_NEGATIVE, request->round, (uint32_t)request->use, request->slot);
    const uint32_t most = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    const uint64_t first = random_below(random_word(&stream, i, 0), most);
    return request->given->node[start[0] + (first + k) % count];
}

/* Whether the edge with another end is known, or is a self loop. */
static bool is_no_negative(const struct pair_request *request, uint32_t i, uint32_t node)
{
    const uint16_t type = type_of(request, i);
    const int64_t time = request->time.word ? edge_time_at(request->time, i) : 0;
    if (is_source_corrupted(request, i))
        return node == request->target[i] ||
               known_pairs_has(request->known, node, request->target[i], type, time);
    return node == request->source[i] ||
           known_pairs_has(request->known, request->source[i], node, type, time);
}

uint32_t pair_drawer_negative(const struct pair_request *request, uint32_t node_count, uint32_t i,
                              uint32_t k)
{
    uint32_t node = 0;
    if (request->negative == NEGATIVE_SHARED)
        return draw_node(request, node_count, i, UINT32_MAX, k);
    if (request->negative == NEGATIVE_IN_BATCH && others_of(request, i) > 0)
        return of_batch(request, i, k);
    if (request->negative == NEGATIVE_GIVEN && request->given_list[i] != EDGE_INDEX_NONE)
        return of_list(request, i, k);
    for (uint32_t attempt = 0; attempt < NEGATIVE_ATTEMPTS; attempt++) {
        node = draw_node(request, node_count, i, i, k * NEGATIVE_ATTEMPTS + attempt);
        if (!request->known || !is_no_negative(request, i, node))
            break;
    }
    return node;
}

/* Returns what the sampler leaves out of the rows of seeds that have times. */
static struct time_limits limits_of(const struct pair_drawer *d, const struct pair_request *request)
{
    return (struct time_limits){.seed_time = (const int64_t *)(const void *)d->time.data,
                                .exclusion = request->excludes,
                                .edge = d->edge.data,
                                .source = request->source,
                                .target = request->target,
                                .relation = request->ends ? request->type : NULL,
                                .reverses = request->ends ? &request->ends->reverses : NULL};
}

/* ---- drawing ---------------------------------------------------------------------------------- */

enum error_code pair_drawer_new(const struct topology *topology, uint64_t budget_bytes,
                                struct pair_drawer **out, struct error *err)
{
    const enum error_code rc = memory_new(out, 1, "a drawer of pairs", err);
    if (rc != ERROR_NONE)
        return rc;
    (*out)->topology = topology;
    (*out)->budget.limit = budget_bytes;
    return ERROR_NONE;
}

void pair_drawer_free(struct pair_drawer *drawer)
{
    if (!drawer)
        return;
    growing_array_release(&drawer->source, &drawer->budget);
    growing_array_release(&drawer->target, &drawer->budget);
    growing_array_release(&drawer->node, &drawer->budget);
    growing_array_release(&drawer->slot, &drawer->budget);
    growing_array_release(&drawer->key, &drawer->budget);
    growing_array_release(&drawer->scratch, &drawer->budget);
    growing_array_release(&drawer->seed, &drawer->budget);
    growing_array_release(&drawer->position, &drawer->budget);
    growing_array_release(&drawer->time, &drawer->budget);
    growing_array_release(&drawer->edge, &drawer->budget);
    typed_pairs_release(&drawer->typed, &drawer->budget);
    memory_free(drawer);
}

static enum error_code reserve(struct pair_drawer *d, struct growing_array *array, uint64_t count,
                               struct error *err)
{
    return growing_array_reserve(array, &d->budget, count, 0, "the pairs of a mini-batch", err);
}

static enum error_code make_room(struct pair_drawer *d, const struct pair_request *request,
                                 struct error *err)
{
    const uint64_t positives = request->positive_count;
    const uint64_t pairs = positives * (1 + (uint64_t)request->negatives);
    const uint64_t ends = pairs + positives;
    if (ends > INT32_MAX)
        return error_set(err, ERROR_INVALID,
                         "the mini-batch has %" PRIu64 " pairs; expected a smaller batch_size or "
                         "fewer negatives",
                         pairs);
    d->slot_bits = 4;
    while (1ULL << d->slot_bits < 2 * ends)
        d->slot_bits++;
    enum error_code rc = reserve(d, &d->source, positives, err);
    if (rc == ERROR_NONE)
        rc = reserve(d, &d->target, pairs, err);
    if (rc == ERROR_NONE)
        rc = reserve(d, &d->node, ends, err);
    if (rc == ERROR_NONE && request->time.word)
        rc = reserve(d, &d->time, 2 * ends, err);
    if (rc == ERROR_NONE && request->time.word)
        rc = reserve(d, &d->edge, ends, err);
    if (rc == ERROR_NONE)
        rc = reserve(d, &d->slot, 1ULL << d->slot_bits, err);
    if (rc == ERROR_NONE)
        memset(d->slot.data, 0, sizeof *d->slot.data << d->slot_bits);
    d->seed_count = 0;
    return rc;
}

/* The seed that the node is. */
static uint32_t seed_of(struct pair_drawer *d, uint32_t node)
{
    const uint32_t mask = (uint32_t)((1ULL << d->slot_bits) - 1);
    uint32_t at = (node * 2654435769U) >> (32 - d->slot_bits);
    while (d->slot.data[at] && d->node.data[d->slot.data[at] - 1] != node)
        at = (at + 1) & mask;
    if (!d->slot.data[at]) {
        d->node.data[d->seed_count] = node;
        d->slot.data[at] = ++d->seed_count;
    }
    return d->slot.data[at] - 1;
}

/* The seed that an end of edge `i` or of one of its negatives is: with times one of its own. */
static uint32_t seed_of_pair(struct pair_drawer *d, const struct pair_request *request, uint32_t i,
                             uint32_t node)
{
    if (!request->time.word)
        return seed_of(d, node);
    ((int64_t *)(void *)d->time.data)[d->seed_count] = edge_time_at(request->time, i);
    d->edge.data[d->seed_count] = i;
    d->node.data[d->seed_count] = node;
    return d->seed_count++;
}

/* Whether the end that is another is of the type and side of that of the edge before. */
static bool has_type_before(const struct pair_request *request, uint32_t i)
{
    if (!request->ends)
        return corrupted_side(request, i) == corrupted_side(request, i - 1);
    return corrupted_type(request, i) == corrupted_type(request, i - 1);
}

static enum error_code number_seeds(struct pair_drawer *d, const struct pair_request *request,
                                    struct error *err)
{
    const uint32_t nodes = d->topology->node_count, positives = request->positive_count;
    for (uint32_t i = 0; i < positives; i++) {
        if (request->source[i] >= nodes || request->target[i] >= nodes)
            return error_set(err, ERROR_CORRUPT,
                             "edge %" PRIu32 " joins nodes %" PRIu32 " and %" PRIu32
                             ", expected below %" PRIu32,
                             i, request->source[i], request->target[i], nodes);
        d->source.data[i] = seed_of_pair(d, request, i, request->source[i]);
        d->target.data[i] = seed_of_pair(d, request, i, request->target[i]);
    }
    uint32_t *target = d->target.data + positives;
    const bool is_shared = request->negative == NEGATIVE_SHARED && !request->time.word;
    for (uint32_t i = 0; i < positives; i++, target += request->negatives) {
        if (is_shared && i > 0 && has_type_before(request, i)) { /* those of the edge before */
            memcpy(target, target - request->negatives, request->negatives * sizeof *target);
            continue;
        }
        for (uint32_t k = 0; k < request->negatives; k++)
            target[k] = seed_of_pair(d, request, i, pair_drawer_negative(request, nodes, i, k));
    }
    return ERROR_NONE;
}

/* ---- what is left out ------------------------------------------------------------------------- */

/* Notes the edges from `source` in the row of `target`, which is seed `seed`. */
static enum error_code leave_out(struct pair_drawer *d, uint32_t source, uint32_t target,
                                 uint32_t seed, uint64_t *count, struct error *err)
{
    uint64_t first = 0, end = 0;
    known_pairs_find(d->topology, 0, source, target, &first, &end);
    const enum error_code rc =
        growing_array_reserve(&d->key, &d->budget, 2 * (*count + end - first), 2 * *count,
                              "the edges that are left out", err);
    uint64_t *key = (uint64_t *)(void *)d->key.data;
    for (; rc == ERROR_NONE && first < end; first++)
        key[(*count)++] = (uint64_t)seed << 32 | first;
    return rc;
}

static enum error_code find_excluded(struct pair_drawer *d, const struct pair_request *request,
                                     struct excluded_edges *excluded, struct error *err)
{
    uint64_t count = 0;
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < request->positive_count; i++) {
        const uint32_t s = request->source[i], t = request->target[i];
        rc = leave_out(d, s, t, d->target.data[i], &count, err);
        if (rc == ERROR_NONE && s != t && request->excludes == EXCLUDE_REVERSES)
            rc = leave_out(d, t, s, d->source.data[i], &count, err);
    }
    if (rc == ERROR_NONE)
        rc = reserve(d, &d->scratch, 2 * count, err);
    if (rc == ERROR_NONE)
        rc = reserve(d, &d->seed, count + 1, err);
    if (rc == ERROR_NONE)
        rc = reserve(d, &d->position, count + 1, err);
    if (rc != ERROR_NONE)
        return rc;
    uint64_t *key = (uint64_t *)(void *)d->key.data;
    uint32_t kept = 0;
    if (count)
        key_sort(key, (uint64_t *)(void *)d->scratch.data, count);
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0 && key[i] == key[i - 1])
            continue;
        d->seed.data[kept] = (uint32_t)(key[i] >> 32);
        d->position.data[kept++] = (uint32_t)key[i];
    }
    d->excluded_begin[1] = kept;
    *excluded = (struct excluded_edges){d->excluded_begin, d->seed.data, d->position.data};
    return ERROR_NONE;
}

/* Orders the seeds of a graph with relations by type, and finds the edges that are left out of
 * their rows; with times the sampler finds these. */
static enum error_code settle_types(struct pair_drawer *d, const struct pair_request *request,
                                    struct excluded_edges *excluded, struct error *err)
{
    const size_t positives = request->positive_count;
    const struct named_seeds seeds = {
        .node = d->node.data,
        .count = d->seed_count,
        .name = {d->source.data, d->target.data},
        .name_count = {positives, positives * (1 + (size_t)request->negatives)}};
    enum error_code rc = typed_pairs_order(&d->typed, &d->budget, request->ends, &seeds, err);
    if (rc == ERROR_NONE && request->time.word)
        rc = typed_pairs_move(&d->typed, &d->budget, d->time.data, 2, d->seed_count, err);
    if (rc == ERROR_NONE && request->time.word)
        return typed_pairs_move(&d->typed, &d->budget, d->edge.data, 1, d->seed_count, err);
    const struct excluded_examples examples = {.count = request->positive_count,
                                               .source = request->source,
                                               .target = request->target,
                                               .relation = request->type,
                                               .source_seed = d->source.data,
                                               .target_seed = d->target.data,
                                               .seed_begin = d->typed.seed_begin,
                                               .with_reverses =
                                                   request->excludes == EXCLUDE_REVERSES};
    return rc == ERROR_NONE && request->excludes != EXCLUDE_NONE
               ? relation_exclusion_find(&d->typed.exclusion, &d->budget, d->topology,
                                         request->ends, &examples, excluded, err)
               : rc;
}

enum error_code pair_drawer_draw(struct pair_drawer *drawer, const struct pair_request *given,
                                 struct drawn_pairs *out, struct error *err)
{
    struct pair_request own = *given;
    const struct pair_request *request = &own;
    const bool in_rows = request->excludes != EXCLUDE_NONE && !request->time.word;
    must(request->positive_count >= 1 && request->slot < 65536);
    must(request->negative != NEGATIVE_DEGREE || request->chances);
    must(request->negative != NEGATIVE_GIVEN || (request->given && request->given_list));
    struct excluded_edges excluded = {0};
    *out = (struct drawn_pairs){0};
    own.grouped = &drawer->typed;
    enum error_code rc = make_room(drawer, request, err);
    if (rc == ERROR_NONE && request->ends && request->negative == NEGATIVE_IN_BATCH)
        rc = typed_pairs_group(&drawer->typed, &drawer->budget, request->ends, request->type,
                               request->positive_count, err);
    if (rc == ERROR_NONE)
        rc = number_seeds(drawer, request, err);
    if (rc == ERROR_NONE && request->ends)
        rc = settle_types(drawer, request, &excluded, err);
    else if (rc == ERROR_NONE && in_rows)
        rc = find_excluded(drawer, request, &excluded, err);
    if (rc != ERROR_NONE)
        return rc;
    *out = (struct drawn_pairs){
        .pairs = {request->positive_count, request->negatives, drawer->source.data,
                  drawer->target.data, request->type, request->corrupt, request->label},
        .seed_count = drawer->seed_count,
        .seed_node = drawer->node.data,
        .has_excluded = in_rows,
        .excluded = excluded,
    };
    if (request->time.word)
        out->times = limits_of(drawer, request);
    return ERROR_NONE;
}
