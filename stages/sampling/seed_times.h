/*
 * seed_times - the time of a seed, and which edges it sees then.
 *
 * The time of a node is that of its last edge in all relations that end in its type, or of its
 * first (sample.seed_time).
 */
#ifndef STAGES_SAMPLING_SEED_TIMES_H
#define STAGES_SAMPLING_SEED_TIMES_H

#include "common/base/error.h"
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
    /* Seeds 2 i and 2 i + 1 are the ends of edge i. The seeds behind the ends of all edges are the
     * other ends of negatives, all at the time of their edge. The edge is left out of what these
     * seeds see, alone or with its reverse. */
    enum excluded_edges_kind exclusion;
    uint32_t pair_count, pair_negatives; /* edges, and negatives of each */
};

/* The edge that `seed` is an end of, or of a negative of. */
static inline uint32_t time_limits_pair(const struct time_limits *limits, uint32_t seed)
{
    const uint32_t ends = 2 * limits->pair_count;
    return seed < ends ? seed / 2 : (seed - ends) / limits->pair_negatives;
}

/* Whether the edge at `time` is that of the seed's pair, or its reverse. An earlier edge of the
 * same ends is another edge. */
static inline bool time_limits_leave_out(const struct time_limits *limits,
                                         const uint32_t *seed_node, uint32_t seed, uint32_t source,
                                         uint32_t target, int64_t time)
{
    if (limits->exclusion == EXCLUDE_NONE || time < limits->seed_time[seed])
        return false;
    const uint32_t *end = seed_node + 2 * (size_t)time_limits_pair(limits, seed);
    const uint32_t from = end[0], to = end[1];
    return (source == from && target == to) ||
           (limits->exclusion == EXCLUDE_REVERSES && source == to && target == from);
}

/* Whether an edge at `time` is early enough for the seed. */
static inline bool time_limits_allow(const struct time_limits *limits, uint32_t seed, int64_t time)
{
    return limits->only_earlier ? time < limits->seed_time[seed] : time <= limits->seed_time[seed];
}

enum seed_time { SEED_TIME_LAST_EDGE, SEED_TIME_FIRST_EDGE };

/* Into out [count]: options->seed_time says which edge. A node without edges that end in it has
 * EDGE_TIME_FIRST where the last edge is looked for, and EDGE_TIME_LAST where the first one is.
 * Fails: ERROR_CORRUPT naming a row. */
MUST_CHECK enum error_code seed_times_find(const struct topology *topology,
                                           const struct sampler_options *options,
                                           const uint32_t *node, uint32_t count, int64_t *out,
                                           struct error *err);

#endif
