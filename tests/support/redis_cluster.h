/* redis_cluster - a real Redis Cluster on loopback ports; its servers end with the test. */
#ifndef TESTS_SUPPORT_REDIS_CLUSTER_H
#define TESTS_SUPPORT_REDIS_CLUSTER_H

#include "tests/support/temp_dir.h"

#include <sys/types.h>

enum { REDIS_CLUSTER_MASTERS = 3, REDIS_CLUSTER_NODES_MAX = 6, REDIS_NODE_ID_SIZE = 41 };

struct redis_cluster {
    struct temp_dir dir;
    int count; /* masters, then as many replicas, if any */
    int port[REDIS_CLUSTER_NODES_MAX];
    pid_t pid[REDIS_CLUSTER_NODES_MAX]; /* 0: the node was killed */
    char id[REDIS_CLUSTER_NODES_MAX][REDIS_NODE_ID_SIZE];
};

/* Starts the cluster, with a replica for each master or none, and waits until all nodes report that
 * it is complete. The other nodes declare a node failed that does not answer for a second. Aborts
 * the program when the cluster does not start. */
void redis_cluster_start(struct redis_cluster *cluster, bool has_replicas);
void redis_cluster_stop(struct redis_cluster *cluster);
/* Kills a node with SIGKILL. */
void redis_cluster_kill(struct redis_cluster *cluster, int node);
/* Sends words, separated by blanks, to a node. The first text of the answer is stored in `answer`
 * [REDIS_ANSWER_SIZE], unless that is NULL. */
void redis_cluster_tell(const struct redis_cluster *cluster, int node, const char *words,
                        char *answer);
/* Returns the node that owns a slot, according to node 0 or the first that is running; -1 while
 * there is none. */
int redis_cluster_owner(const struct redis_cluster *cluster, int slot);
/* Moves a slot, key by key, while it is in use. */
void redis_cluster_move_slot(const struct redis_cluster *cluster, int slot, int from, int to);

/* "redis+cluster://127.0.0.1:PORT/PREFIX" */
void redis_cluster_uri(const struct redis_cluster *cluster, const char *prefix,
                       char uri[FILE_PATH_SIZE]);

/* Returns a cluster of three masters for the whole test program, which ends with it; NULL, after a
 * line that says so, if there is no redis-server. */
const struct redis_cluster *redis_cluster_shared(void);

#endif
