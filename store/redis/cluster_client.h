/*
 * cluster_client - sends commands to a Redis Cluster, each to the node that serves its slot at that
 * moment.
 *
 * Commands that are given together are all sent before the first answer is awaited, over one
 * connection per node. A command is sent again, after a growing pause, until the timeout of the
 * call: after a redirection (MOVED, ASK); when a node cannot do it now (TRYAGAIN while its slot
 * moves, CLUSTERDOWN and READONLY while a replica takes over, LOADING, OOM); and when there is no
 * answer. A command may therefore be done twice, and callers must make theirs repeatable. Running
 * out of memory on a server counts as temporary, because other processes free what they have read.
 *
 * This is a small router over hiredis, which has none itself. hiredis-cluster needs hiredis 1.0 and
 * is not in Debian; libvalkey is not in Debian 12.
 *
 * Threads: any. A forked process may go on using it if no other thread was using it at the fork.
 */
#ifndef STORE_REDIS_CLUSTER_CLIENT_H
#define STORE_REDIS_CLUSTER_CLIENT_H

#include "common/base/error.h"
#include "store/redis/cluster_map.h"
#include "store/redis/redis_connection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cluster_client;

enum { CLUSTER_SEED_MAX = 16 };

struct cluster_access {
    struct cluster_node seed[CLUSTER_SEED_MAX]; /* nodes that are asked for the others */
    int seed_count;
    struct redis_address like; /* TLS settings of all nodes; host and port are not used */
    struct redis_login login;
    const char *what;   /* what an evicting server would lose, for the message */
    int64_t timeout_ms; /* for one call */
};

/* A command and its answer. */
struct cluster_command {
    const struct redis_text *argument; /* [count]; the command's name is the first */
    int count;
    int slot; /* cluster_slot() of its keys */
    /* waits up to a second more until a replica has the write; ignored if there are no
     * replicas */
    bool waits_for_replica;
    struct redisReply *reply; /* result; cluster_command_release() frees it */
    /* result, also for an error that the server answers; message in `err` */
    enum error_code rc;
    struct error err;
    /* result: the command was sent more than once and may have been done twice */
    bool was_repeated;
    /* private to the client */
    bool is_done, is_under_way;
    bool is_full;   /* the last answer was that the node is out of memory */
    int node, asks; /* destination; node to ask once after an ASK redirection, or -1 */
};

/* Connects to the cluster. The caller ends *out with cluster_client_close(). Fails:
 * ERROR_UNAVAILABLE when no seed answers within `open_ms`; ERROR_INVALID for a server that is not
 * in a cluster, evicts keys, or refuses user or password. */
MUST_CHECK enum error_code cluster_client_open(const struct cluster_access *access, int64_t open_ms,
                                               struct cluster_client **out, struct error *err);
void cluster_client_close(struct cluster_client *client);
/* Sends all commands and waits for all answers. Each command gets its own code: ERROR_UNAVAILABLE
 * when its time was up, else what redis_error_code() returns for its answer. */
void cluster_client_perform(struct cluster_client *client, struct cluster_command *command,
                            size_t count);
/* Writes one slot of each known master, and returns how many there are. */
int cluster_client_masters(struct cluster_client *client, int slot[CLUSTER_NODE_MAX]);
/* Returns how many times commands were sent and awaited since the client was opened. Repetitions
 * after a redirection or a loss count too. For figures and tests. */
uint64_t cluster_client_round_trips(struct cluster_client *client);
void cluster_command_release(struct cluster_command *command);

#endif
