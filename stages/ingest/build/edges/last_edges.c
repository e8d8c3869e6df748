#include "stages/ingest/build/edges/last_edges.h"

#include "common/numbers/random.h"
#include "stages/ingest/build/edges/spool_walk.h"

#include <stdbool.h>

uint64_t last_edges_draw(uint64_t seed, uint32_t a, uint32_t b)
{
    const struct random_stream stream = random_stream_of(seed, RANDOM_EDGE_SPLIT, a, 0, 0);
    uint32_t word[4];
    random_block(&stream, b, 0, word);
    return (uint64_t)word[0] << 32 | word[1];
}

static bool is_later(const struct last_edge *a, const struct last_edge *b)
{
    if (a->time != b->time)
        return a->time > b->time;
    return a->draw != b->draw ? a->draw > b->draw : a->target > b->target;
}

static enum error_code note_last(void *context, const struct visited_edge *visited,
                                 struct error *err)
{
    const struct last_search *search = context;
    struct last_edges *last = &search->last[visited->source];
    const struct last_edge edge = {visited->time,
                                   last_edges_draw(search->seed, visited->source, visited->target),
                                   visited->target};
    uint32_t at = 0;
    (void)err;
    if (!relation_is_forward(search->reverses, visited->type))
        return ERROR_NONE;
    while (at < last->count && is_later(&last->edge[at], &edge))
        at++;
    if (at == LAST_COUNT ||
        (at < last->count &&
         !is_later(&edge, &last->edge[at]))) /* it repeats the edge in this place */
        return ERROR_NONE;
    if (last->count < LAST_COUNT)
        last->count++;
    for (uint32_t i = last->count - 1U; i > at; i--)
        last->edge[i] = last->edge[i - 1];
    last->edge[at] = edge;
    return ERROR_NONE;
}

/* Marks the last edges whose pair has the visited edge, unless it is a last edge itself. */
static enum error_code note_earlier(void *context, const struct visited_edge *visited,
                                    struct error *err)
{
    const struct last_search *search = context;
    struct last_edges *last = &search->last[visited->source];
    (void)err;
    if (!relation_is_forward(search->reverses, visited->type))
        return ERROR_NONE;
    for (uint32_t i = 0; i < last->count; i++)
        if (last->edge[i].target == visited->target && last->edge[i].time == visited->time)
            return ERROR_NONE;
    last->has_others = true;
    for (uint32_t i = 0; i < last->count; i++)
        if (last->edge[i].target == visited->target)
            last->repeats |= (uint8_t)(1U << i);
    return ERROR_NONE;
}

/* Returns 1 + the target of the last pair, other than that of `but_plus`, that has all its edges
 * among the first `count`; 0 if there is none. */
static uint32_t last_pair(const struct last_edges *last, uint32_t count, uint32_t but_plus)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t target = last->edge[i].target;
        bool is_within = !(last->repeats >> i & 1) && target + 1 != but_plus;
        for (uint32_t k = count; k < LAST_COUNT; k++)
            is_within &= last->edge[k].target != target;
        if (is_within)
            return target + 1;
    }
    return 0;
}

/* Chooses the pairs for test and validation. A source keeps one edge at least. */
static void choose(struct last_edges *last)
{
    uint32_t stay = last->has_others;
    last->held_plus[0] = last_pair(last, LAST_COUNT - 1, 0);
    if (!last->held_plus[0])
        return;
    last->held_plus[1] = last_pair(last, LAST_COUNT, last->held_plus[0]);
    for (uint32_t i = 0; i < LAST_COUNT; i++)
        stay += last->edge[i].target + 1 != last->held_plus[0] &&
                last->edge[i].target + 1 != last->held_plus[1];
    last->held_plus[1] = stay ? last->held_plus[1] : 0;
}

enum error_code last_edges_find(struct last_search *search, struct edge_spool *spool,
                                struct error *err)
{
    enum error_code rc = spool_walk(spool, note_last, search, err);
    if (rc == ERROR_NONE && spool->width.of[EDGE_TIME])
        rc = spool_walk(spool, note_earlier, search, err);
    search->passed_over = 0;
    for (uint32_t node = 0; rc == ERROR_NONE && node < search->node_count; node++) {
        struct last_edges *last = &search->last[node];
        if (last->count < LAST_COUNT)
            continue;
        choose(last);
        search->passed_over += !last->held_plus[0];
    }
    return rc;
}

int last_edges_place(const struct last_edges *last, uint32_t target)
{
    for (int i = 0; i < 2; i++)
        if (last->held_plus[i] == target + 1)
            return i;
    return -1;
}
