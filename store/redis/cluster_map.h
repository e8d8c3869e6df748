/*
 * cluster_map - maps keys to slots, and slots to the nodes of a Redis Cluster.
 *
 * A key belongs to one of 16384 slots: the CRC16 (XMODEM) of its bytes, or of the bytes between its
 * first '{' and the next '}' if there are any. Keys with equal text between the braces are always
 * in the same slot, so that one script may use them together. Slots move between nodes. The map is
 * read with CLUSTER SLOTS, because Redis 6.2 and Apache Kvrocks do not know CLUSTER SHARDS.
 *
 * Source: the Redis Cluster specification, "Key distribution model" and appendix A.
 */
#ifndef STORE_REDIS_CLUSTER_MAP_H
#define STORE_REDIS_CLUSTER_MAP_H

#include "common/base/error.h"
#include "store/redis/redis_connection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLUSTER_SLOT_COUNT = 16384, CLUSTER_NODE_MAX = 256, CLUSTER_HOST_SIZE = 256 };

struct cluster_node {
    char host[CLUSTER_HOST_SIZE];
    int port;
    bool has_replicas; /* according to the last answer */
};

/* A node never moves in the table, so that its number stays valid. */
struct cluster_map {
    struct cluster_node node[CLUSTER_NODE_MAX];
    int node_count;
    int16_t slot_node[CLUSTER_SLOT_COUNT]; /* -1 if unknown */
};

void cluster_map_init(struct cluster_map *map);
int cluster_slot(const char *key, size_t size);
/* Returns the number of a node, which is added if it is new; -1 if the table is full. */
int cluster_map_node(struct cluster_map *map, const char *host, size_t host_size, int port);
/* Updates the map from an answer to CLUSTER SLOTS. `asked` is the number of the node that answered:
 * a node that does not know its own name leaves it out. Fails: ERROR_UNAVAILABLE when it is no such
 * answer, or names no slot; the map is then unchanged. */
MUST_CHECK enum error_code cluster_map_update(struct cluster_map *map, int asked,
                                              const struct redisReply *reply, struct error *err);
/* Parses "MOVED 3999 10.0.0.7:6381", or ASK, into the slot and the number of the node. Returns
 * false for any other text. */
bool cluster_map_redirection(struct cluster_map *map, int asked, const char *text, int *slot,
                             int *node);

#endif
