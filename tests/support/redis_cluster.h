/* redis_cluster - a real Redis Cluster on loopback ports: redis-servers of a test, which end with it. */
#ifndef TESTS_SUPPORT_REDIS_CLUSTER_H
#define TESTS_SUPPORT_REDIS_CLUSTER_H

#include "tests/support/temp_dir.h"

#include <sys/types.h>

enum { REDIS_CLUSTER_MASTERS = 3, REDIS_CLUSTER_NODES_MAX = 6, REDIS_NODE_ID_SIZE = 41 };

struct redis_cluster {
    struct temp_dir dir;
    int count; /* masters, then as many replicas, if any */
    int port[REDIS_CLUSTER_NODES_MAX];
    pid_t pid[REDIS_CLUSTER_NODES_MAX]; /* 0: killed */
    char id[REDIS_CLUSTER_NODES_MAX][REDIS_NODE_ID_SIZE];
};

/* Starts it, with a replica for each master or none, and waits until all nodes say that it is whole. A node that does not answer
 * for a second is given up by the others. Aborts the program when it does not come up. */
void redis_cluster_start(struct redis_cluster *cluster, bool has_replicas);
void redis_cluster_stop(struct redis_cluster *cluster);
/* SIGKILL, and it is gone. */
void redis_cluster_kill(struct redis_cluster *cluster, int node);
/* Says words, parted by blanks, to a node. The answer's first text is left in `answer` [REDIS_ANSWER_SIZE], if not NULL. */
void redis_cluster_tell(const struct redis_cluster *cluster, int node, const char *words,
                        char *answer);
/* The node that has a slot, as node 0 sees it or the first that lives; -1 while it is nobody. */
int redis_cluster_owner(const struct redis_cluster *cluster, int slot);
/* Moves a slot, key by key, while it is in use. */
void redis_cluster_move_slot(const struct redis_cluster *cluster, int slot, int from, int to);

/* "redis+cluster://127.0.0.1:PORT/PREFIX" */
void redis_cluster_uri(const struct redis_cluster *cluster, const char *prefix,
                       char uri[FILE_PATH_SIZE]);

/* One of three masters for all of a test program, which ends with it; NULL where there is no redis-server, after a line that
 * says so. */
const struct redis_cluster *redis_cluster_shared(void);

#endif
