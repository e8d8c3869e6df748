#include "stages/ingest/build/last_edges.h"

#include "common/base/random.h"
#include "stages/ingest/build/spool_walk.h"

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

struct last_search {
    struct last_edges *last;
    uint64_t seed;
};

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
    while (at < last->count && is_later(&last->edge[at], &edge))
        at++;
    if (at == LAST_COUNT ||
        (at < last->count && !is_later(&edge, &last->edge[at]))) /* one that repeats it */
        return ERROR_NONE;
    last->count += last->count < LAST_COUNT;
    for (uint32_t i = last->count - 1; i > at; i--)
        last->edge[i] = last->edge[i - 1];
    last->edge[at] = edge;
    return ERROR_NONE;
}

enum error_code last_edges_find(struct edge_spool *spool, uint64_t seed, struct last_edges *last,
                                struct error *err)
{
    struct last_search search = {last, seed};
    return spool_walk(spool, note_last, &search, err);
}

int last_edges_place(const struct last_edges *last, uint32_t target, int64_t time)
{
    if (last->count < LAST_COUNT)
        return -1;
    for (int i = 0; i < 2; i++)
        if (last->edge[i].target == target && last->edge[i].time == time)
            return i;
    return -1;
}
