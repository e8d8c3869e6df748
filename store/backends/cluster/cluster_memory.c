/*
 * Computes how full the memory of a Redis Cluster is. Declared in cluster_place.h.
 */
#include "store/backends/cluster/cluster_batch.h"
#include "store/redis/redis_policy.h"

#include <stdlib.h>

static double number_of(const char *info, const char *name)
{
    char text[32];
    return redis_info_value(info, name, text, sizeof text) ? strtod(text, NULL) : 0;
}

/* Returns the share of one server; 0 for a server without a limit. */
static double share_of(const char *info)
{
    const double most = number_of(info, "maxmemory");
    return most > 0 ? number_of(info, "used_memory") / most : 0;
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
