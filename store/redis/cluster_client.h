/*
 * cluster_client - commands to a Redis Cluster: each goes to the node that has its slot, wherever that is by now.
 *
 * Commands that are given together are sent before the first answer is waited for, over one connection for each node. What is answered
 * by a redirection (MOVED, ASK), or by a node that cannot do it now (TRYAGAIN while its slot moves, CLUSTERDOWN and
 * READONLY while a replica takes over, LOADING, OOM), or is not answered at all, is sent again after a pause that grows, until
 * the time of the call is over: so a command may be done twice, and callers make theirs repeatable. A server that is out of memory is
 * waited for in the same way: others free what they have read.
 *
 * A small router of our own over hiredis: hiredis has none (its maintainers refer to clients on top), hiredis-cluster needs hiredis 1.0
 * and is not in Debian, nor is libvalkey in Debian 12.
 *
 * Threads: any. A fork may go on with it, if no other thread used it at that moment.
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
    struct cluster_node seed[CLUSTER_SEED_MAX]; /* any of these is asked where the others are */
    int seed_count;
    struct redis_address like; /* all nodes, but for host and port: TLS */
    struct redis_login login;
    const char *what;   /* a server that evicts would lose these: for the message */
    int64_t timeout_ms; /* of a call */
};

/* A command and its answer. */
struct cluster_command {
    const struct redis_text *argument; /* [count] the command's name first */
    int count;
    int slot; /* cluster_slot() of its keys */
    bool
        waits_for_replica; /* where there are replicas, at most a second more: one of them has what was written */
    struct redisReply *reply; /* given; cluster_command_release() */
    enum error_code rc;       /* given, with `err`: of an answer that is an error, too */
    struct error err;
    bool was_repeated; /* given: it was sent more than once, and may have been done before */
    /* the client's */
    bool is_done, is_under_way;
    bool is_full;   /* its last answer was that the node is out of memory */
    int node, asks; /* where it goes; the node that is asked out of turn, or -1 */
};

/* Looks for the cluster: fails when no seed answers within `open_ms`.
 * Owns:  *out; cluster_client_close().
 * Fails: ERROR_UNAVAILABLE; ERROR_INVALID for a server that is not in a cluster, evicts, or refuses user or password. */
MUST_CHECK enum error_code cluster_client_open(const struct cluster_access *access, int64_t open_ms,
                                               struct cluster_client **out, struct error *err);
void cluster_client_close(struct cluster_client *client);
/* Sends them all and waits for all answers; each has a code of its own: ERROR_UNAVAILABLE when its time was over,
 * else what redis_error_code() says of its answer. */
void cluster_client_perform(struct cluster_client *client, struct cluster_command *command,
                            size_t count);
/* A slot of each master, as far as it is known; how many. */
int cluster_client_masters(struct cluster_client *client, int slot[CLUSTER_NODE_MAX]);
/* How often commands were sent and their answers waited for, since it was opened; again after a redirection or a loss counts too. For
 * figures and tests. */
uint64_t cluster_client_round_trips(struct cluster_client *client);
void cluster_command_release(struct cluster_command *command);

#endif
