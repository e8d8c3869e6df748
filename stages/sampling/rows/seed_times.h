/*
 * seed_times - the time of a seed, and which edges it sees then.
 *
 * The time of a node is that of its last edge in all relations that end in its type, or of its
 * first, or the one at which the node appears (sample.seed_time).
 */
#ifndef STAGES_SAMPLING_ROWS_SEED_TIMES_H
#define STAGES_SAMPLING_ROWS_SEED_TIMES_H

#include "common/base/error.h"
#include "common/graph/relation_reverse.h"
#include "stages/sampling/sampler_list.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* These edges are left out of the rows of a seed, which is the end of an edge to learn. */
enum excluded_edges_kind { EXCLUDE_NONE, EXCLUDE_EDGES, EXCLUDE_REVERSES };

/* If edges have times, the seeds of a mini-batch see the graph within these limits. */
struct time_limits {
    const int64_t *seed_time; /* [seeds]: a seed sees no later edge; NULL: it sees all */
    bool only_earlier;        /* nor does it see an edge at its own time */
    /* A seed is an end of an edge to learn, or the other end of one of its negatives. The edge is
     * left out of what the seed sees, alone or with its reverse. */
    enum excluded_edges_kind exclusion;
    const uint32_t *edge;                     /* [seeds] the edge of each */
    const uint32_t *source, *target;          /* [edges] nodes */
    const uint16_t *relation;                 /* [edges]; NULL: the graph has one */
    const struct relation_reverses *reverses; /* of these relations; NULL likewise */
};

/* Whether an edge of a relation at `time` is the edge of the seed, or its reverse: the edge back
 * between nodes of one type, or an edge of the reverse relation. An earlier edge of the same ends
 * is another edge. */
static inline bool time_limits_leave_out(const struct time_limits *limits, uint32_t seed,
                                         uint32_t relation, uint32_t source, uint32_t target,
                                         int64_t time)
{
    if (limits->exclusion == EXCLUDE_NONE || time < limits->seed_time[seed])
        return false;
    const uint32_t i = limits->edge[seed], from = limits->source[i], to = limits->target[i];
    const uint32_t own = limits->relation ? limits->relation[i] : 0;
    const bool forth = source == from && target == to, back = source == to && target == from;
    if (relation == own && forth)
        return true;
    return limits->exclusion == EXCLUDE_REVERSES && (forth || back) &&
           (relation == own || (limits->reverses && limits->reverses->reverse[own] == relation));
}

/* Whether an edge at `time` is early enough for the seed. */
static inline bool time_limits_allow(const struct time_limits *limits, uint32_t seed, int64_t time)
{
    return limits->only_earlier ? time < limits->seed_time[seed] : time <= limits->seed_time[seed];
}

enum seed_time { SEED_TIME_LAST_EDGE, SEED_TIME_FIRST_EDGE, SEED_TIME_NODE };

/* Writes the times to out [count]; options->seed_time says which. A node without edges that end in
 * it has EDGE_TIME_FIRST where the last edge is looked for, and EDGE_TIME_LAST where the first one
 * is. A node that has no time of its own has that of its last edge.
 * Fails: ERROR_CORRUPT naming a row. */
MUST_CHECK enum error_code seed_times_find(const struct topology *topology,
                                           const struct sampler_options *options,
                                           const uint32_t *node, uint32_t count, int64_t *out,
                                           struct error *err);

#endif
