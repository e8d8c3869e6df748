#include "stages/sampling/seed_times.h"

#include "stages/sampling/graph_row.h"

const char *const seed_time_names[] = {
    [SEED_TIME_LAST_EDGE] = "last_edge", [SEED_TIME_FIRST_EDGE] = "first_edge", NULL};

enum error_code seed_times_find(const struct topology *topology,
                                const struct sampler_options *options, const uint32_t *node,
                                uint32_t count, int64_t *out, struct error *err)
{
    const bool first = options->seed_time == SEED_TIME_FIRST_EDGE;
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        struct graph_row row;
        rc = graph_row_of(topology, node[i], &row, err);
        out[i] = first ? EDGE_TIME_LAST : EDGE_TIME_FIRST;
        for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++) {
            const int64_t time = graph_row_time(&row, k);
            if (first ? time < out[i] : time > out[i])
                out[i] = time;
        }
    }
    return rc;
}
