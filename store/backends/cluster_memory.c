/*
 * How full the memory of a Redis Cluster is. Declared in cluster_place.h.
 */
#include "store/backends/cluster_batch.h"

#include <stdlib.h>
#include <string.h>

/* "name:123" at the beginning of a line of INFO; 0 where there is none. */
static uint64_t number_of(const char *text, const char *name)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, strlen(name)) == 0)
            return strtoull(line + strlen(name), NULL, 10);
    }
    return 0;
}

/* Of a server without a bound nothing is known. */
static double share_of(const char *info)
{
    const uint64_t used = number_of(info, "used_memory:"), most = number_of(info, "maxmemory:");
    return most ? (double)used / (double)most : 0;
}

enum error_code cluster_memory_share(void *state, double *share, struct error *err)
{
    const struct cluster_place *place = state;
    int slot[CLUSTER_NODE_MAX];
    struct cluster_batch batch;
    const int count = cluster_client_masters(place->client, slot);
    *share = 0;
    enum error_code rc = cluster_batch_init(&batch, place, CLUSTER_NODE_MAX, err);
    if (rc != ERROR_NONE)
        return rc;
    for (int i = 0; i < count; i++)
        cluster_batch_add_plain(&batch, slot[i], "INFO", "memory");
    rc = cluster_batch_perform(&batch, err);
    for (size_t i = 0; rc == ERROR_NONE && i < batch.count; i++) {
        const double of_one = share_of(redis_reply_text(cluster_batch_reply(&batch, i)));
        *share = of_one > *share ? of_one : *share;
    }
    cluster_batch_release(&batch);
    return rc;
}
