#include "stages/sampling/rows/seed_times.h"

#include "stages/sampling/rows/graph_row.h"

const char *const seed_time_names[] = {[SEED_TIME_LAST_EDGE] = "last_edge",
                                       [SEED_TIME_FIRST_EDGE] = "first_edge",
                                       [SEED_TIME_NODE] = "node",
                                       NULL};

/* Takes the times of a row into account. */
static int64_t row_time(const struct topology *topology, const struct graph_row *row, bool first,
                        int64_t found)
{
    for (uint32_t k = 0; k < row->length; k++) {
        const int64_t time = graph_row_time(topology, row, k);
        if (first ? time < found : time > found)
            found = time;
    }
    return found;
}

enum error_code seed_times_find(const struct topology *topology,
                                const struct sampler_options *options, const uint32_t *node,
                                uint32_t count, int64_t *out, struct error *err)
{
    const bool first = options->seed_time == SEED_TIME_FIRST_EDGE;
    const bool own = options->seed_time == SEED_TIME_NODE && topology->node_time;
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        out[i] = first ? EDGE_TIME_LAST : EDGE_TIME_FIRST;
        if (own && node[i] < topology->node_count &&
            topology->node_time[node[i]] != EDGE_TIME_FIRST) {
            out[i] = topology->node_time[node[i]];
            continue;
        }
        for (uint32_t r = 0; rc == ERROR_NONE && r < topology_relations(topology); r++) {
            struct graph_row row = {.length = 0};
            if (graph_row_is_there(topology, r, node[i]))
                rc = graph_row_of_relation(topology, r, node[i], &row, err);
            if (rc == ERROR_NONE)
                out[i] = row_time(topology, &row, first, out[i]);
        }
    }
    return rc;
}
