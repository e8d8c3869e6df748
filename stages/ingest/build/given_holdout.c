#include "stages/ingest/build/given_holdout.h"

#include "common/base/memory.h"
#include "common/graph/edge_index.h"
#include "stages/ingest/build/edges/spool_walk.h"
#include "store/records/dataset/node_ids.h"

#include <inttypes.h>
#include <stdbool.h>

uint64_t given_holdout_pair(const struct edge_holdout *holdout, uint32_t source, uint32_t target)
{
    return edge_pair_of(holdout->schema->undirected, source, target);
}

static uint64_t place_of(const struct edge_holdout *holdout, uint64_t pair, uint16_t type)
{
    pair ^= pair >> 32 ^ (uint64_t)type << 24;
    return pair * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (holdout->given_size - 1);
}

static uint64_t given_pair(const struct edge_holdout *holdout, uint64_t entry)
{
    const struct held_edges *held = &holdout->listed[(entry - 1) & 1];
    return given_holdout_pair(holdout, held->source[(entry - 1) >> 1],
                              held->target[(entry - 1) >> 1]);
}

static uint16_t given_type(const struct edge_holdout *holdout, uint64_t entry)
{
    return holdout->listed[(entry - 1) & 1].type[(entry - 1) >> 1];
}

/* Returns the slot of a pair, or the free slot where it belongs. */
static uint64_t *find_given(const struct edge_holdout *holdout, uint64_t pair, uint16_t type)
{
    uint64_t at = place_of(holdout, pair, type);
    while (holdout->given[at] && (given_pair(holdout, holdout->given[at]) != pair ||
                                  given_type(holdout, holdout->given[at]) != type))
        at = (at + 1) & (holdout->given_size - 1);
    return &holdout->given[at];
}

static const char *name_of(const struct edge_holdout *holdout, uint32_t node,
                           char text[NODE_ID_TEXT_SIZE])
{
    static const struct node_ids none;
    return node_ids_text(holdout->ids ? holdout->ids : &none, node, text);
}

static enum error_code enter_given(struct edge_holdout *holdout, int s, size_t i, struct error *err)
{
    const struct held_edges *held = &holdout->listed[s];
    uint64_t *entry = find_given(
        holdout, given_holdout_pair(holdout, held->source[i], held->target[i]), held->type[i]);
    char source[NODE_ID_TEXT_SIZE], target[NODE_ID_TEXT_SIZE];
    if (!*entry) {
        *entry = 1 + ((uint64_t)i << 1 | (uint64_t)s);
        return ERROR_NONE;
    }
    const struct held_edges *first = &holdout->listed[(*entry - 1) & 1];
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": the edge between %s and %s is that of %s:%" PRId64
                     ": expected each held-out edge once",
                     held->where, held->line[i], name_of(holdout, held->source[i], source),
                     name_of(holdout, held->target[i], target), first->where,
                     first->line[(*entry - 1) >> 1]);
}

static enum error_code refuse_leak(void *context, const struct visited_edge *edge,
                                   struct error *err)
{
    const struct edge_holdout *holdout = context;
    const uint16_t forward = holdout->reverses.forward[edge->type];
    const bool is_reverse = forward != edge->type;
    const uint64_t pair = given_holdout_pair(holdout, is_reverse ? edge->target : edge->source,
                                             is_reverse ? edge->source : edge->target);
    const uint64_t entry = *find_given(holdout, pair, forward);
    char from[NODE_ID_TEXT_SIZE], to[NODE_ID_TEXT_SIZE];
    if (!entry)
        return ERROR_NONE;
    const struct held_edges *held = &holdout->listed[(entry - 1) & 1];
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": the edge between %s and %s is also a training edge, so the "
                     "split leaks: expected held-out edges that are not in ingest.path%s",
                     held->where, held->line[(entry - 1) >> 1],
                     name_of(holdout, edge->source, from), name_of(holdout, edge->target, to),
                     holdout->schema->undirected ? " in either direction" : "");
}

/* Marks a listed edge that the input has, by changing the sign of its line. */
static enum error_code mark_found(void *context, const struct visited_edge *edge, struct error *err)
{
    struct edge_holdout *holdout = context;
    const uint64_t entry =
        *find_given(holdout, given_holdout_pair(holdout, edge->source, edge->target), edge->type);
    (void)err;
    if (!entry)
        return ERROR_NONE;
    int64_t *line = &holdout->listed[(entry - 1) & 1].line[(entry - 1) >> 1];
    *line = *line > 0 ? -*line : *line;
    return ERROR_NONE;
}

/* Checks that all listed edges were found: their labels are in the input and nowhere else. */
static enum error_code expect_found(const struct edge_holdout *holdout, struct error *err)
{
    char from[NODE_ID_TEXT_SIZE], to[NODE_ID_TEXT_SIZE];
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        const struct held_edges *listed = &holdout->listed[s];
        for (size_t i = 0; i < listed->count; i++)
            if (listed->line[i] > 0)
                return error_set(err, ERROR_INPUT,
                                 "%s:%" PRId64 ": no edge leads from %s to %s: expected one of the "
                                 "edges in ingest.path, which has the label",
                                 listed->where, listed->line[i],
                                 name_of(holdout, listed->source[i], from),
                                 name_of(holdout, listed->target[i], to));
    }
    return ERROR_NONE;
}

enum error_code given_holdout_check(struct edge_holdout *holdout, struct edge_spool *spool,
                                    struct error *err)
{
    const uint64_t count = holdout->listed[0].count + holdout->listed[1].count;
    holdout->given_size = 16;
    while (holdout->given_size < 2 * count)
        holdout->given_size *= 2;
    enum error_code rc = memory_new(&holdout->given, holdout->given_size, "held-out edges", err);
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        for (size_t i = 0; rc == ERROR_NONE && i < holdout->listed[s].count; i++)
            rc = enter_given(holdout, s, i, err);
    if (rc == ERROR_NONE)
        rc = spool_walk(spool, edge_holdout_has_labels(holdout) ? mark_found : refuse_leak, holdout,
                        err);
    /* the table stays, because the rows need it */
    if (rc == ERROR_NONE && edge_holdout_has_labels(holdout))
        return expect_found(holdout, err);
    memory_free(holdout->given);
    holdout->given = NULL;
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++) {
        holdout->held[s] = holdout->listed[s];
        holdout->listed[s] = (struct held_edges){0};
    }
    return rc;
}

int given_holdout_split(const struct edge_holdout *holdout, uint32_t source, uint32_t target,
                        uint16_t type)
{
    const uint64_t pair = given_holdout_pair(holdout, source, target);
    const uint64_t entry = holdout->given ? *find_given(holdout, pair, type) : 0;
    return entry ? (int)((entry - 1) & 1) : -1;
}
