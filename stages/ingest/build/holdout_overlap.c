#include "stages/ingest/build/holdout_overlap.h"

#include "common/base/memory.h"
#include "common/graph/edge_index.h"
#include "stages/ingest/build/edges/spool_walk.h"

enum { SAME = 1, BACK = 2 };

/* The search in one split. */
struct overlap_search {
    const struct edge_holdout *holdout;
    struct edge_index index;
    uint8_t *found; /* [index.count]; for equal edges, at the first one in the order of the index */
};

static void mark(const struct overlap_search *search, uint32_t source, uint32_t target,
                 uint32_t type, uint8_t mark)
{
    const uint64_t at = edge_index_find(&search->index, source, target, (uint16_t)type);
    if (at != EDGE_INDEX_NONE)
        search->found[at] |= mark;
}

/* Marks the held-out edges that a training edge gives away. */
static enum error_code see(void *context, const struct visited_edge *edge, struct error *err)
{
    const struct overlap_search *search = context;
    const struct edge_holdout *holdout = search->holdout;
    const uint16_t type = holdout->reverses.forward[edge->type];
    const bool is_reverse = type != edge->type;
    const uint32_t source = is_reverse ? edge->target : edge->source;
    const uint32_t target = is_reverse ? edge->source : edge->target;
    const uint32_t back = holdout->reverses.reverse[type];
    (void)err;
    if (edge_holdout_split(holdout, source, target, type, edge->time) >= 0)
        return ERROR_NONE;
    mark(search, source, target, type, SAME);
    /* NOLINTBEGIN(readability-suspicious-call-argument): the ways back */
    mark(search, target, source, type, BACK);
    if (back < holdout->reverses.count && relation_is_forward(&holdout->reverses, back))
        mark(search, target, source, back, BACK);
    /* NOLINTEND(readability-suspicious-call-argument) */
    return ERROR_NONE;
}

static enum error_code count_split(const struct edge_holdout *holdout,
                                   const struct held_edges *held, struct edge_spool *spool,
                                   struct holdout_overlap *out, struct error *err)
{
    struct overlap_search search = {.holdout = holdout,
                                    .index = {.source = held->source,
                                              .target = held->target,
                                              .type = held->type,
                                              .count = held->count,
                                              .undirected = holdout->schema->undirected}};
    if (held->count == 0)
        return ERROR_NONE;
    enum error_code rc = edge_index_sort(&search.index, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&search.found, held->count, "held-out edges", err);
    if (rc == ERROR_NONE)
        rc = spool_walk(spool, see, &search, err);
    for (size_t i = 0; rc == ERROR_NONE && i < held->count; i++) {
        const uint8_t found = search.found[edge_index_find(&search.index, held->source[i],
                                                           held->target[i], held->type[i])];
        out->same += (found & SAME) != 0;
        out->back += found == BACK;
    }
    memory_free(search.found);
    edge_index_release(&search.index);
    return rc;
}

/* Returns whether a training edge may join the nodes of a held-out edge. */
static bool may_overlap(const struct edge_holdout *holdout)
{
    const bool tears_pairs =
        holdout->split.kind == EDGE_SPLIT_TIME || holdout->split.kind == EDGE_SPLIT_GIVEN;
    return !edge_holdout_has_labels(holdout) &&
           (tears_pairs || holdout->hold_out_reverse == HOLD_OUT_REVERSE_NEVER);
}

enum error_code holdout_overlap_count(const struct edge_holdout *holdout, struct edge_spool *spool,
                                      struct holdout_overlap *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *out = (struct holdout_overlap){0};
    if (!holdout->is_wanted || !may_overlap(holdout))
        return ERROR_NONE;
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++)
        rc = count_split(holdout, &holdout->held[s], spool, out, err);
    out->is_known = rc == ERROR_NONE;
    return rc;
}
