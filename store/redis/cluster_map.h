/*
 * cluster_map - which node of a Redis Cluster has which slot: the hash of a key, and what CLUSTER SLOTS answers.
 *
 * A key belongs to one of 16384 slots: CRC16 (the XMODEM form) of its bytes, or of those between its first '{' and the next '}'
 * if there are any; keys with the same text there are in one slot for ever, and may be used by one script together. Slots
 * move from node to node. CLUSTER SLOTS and not CLUSTER SHARDS is asked, because Redis 6.2 and Apache Kvrocks do not know the other one.
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
    bool has_replicas; /* as far as it was said last */
};

/* Nodes stay where they are in the table, so that their numbers may be kept. */
struct cluster_map {
    struct cluster_node node[CLUSTER_NODE_MAX];
    int node_count;
    int16_t slot_node[CLUSTER_SLOT_COUNT]; /* -1: not known */
};

void cluster_map_init(struct cluster_map *map);
int cluster_slot(const char *key, size_t size);
/* The number of a node, which is added when it is new; -1 when there is no room for it. */
int cluster_map_node(struct cluster_map *map, const char *host, size_t host_size, int port);
/* Takes over what CLUSTER SLOTS answered to a question put to `asked`: nodes that do not know their own name leave it out.
 * Fails: ERROR_UNAVAILABLE when it is no such answer, or names no slot; the map is as before then. */
MUST_CHECK enum error_code cluster_map_update(struct cluster_map *map, int asked,
                                              const struct redisReply *reply, struct error *err);
/* "MOVED 3999 10.0.0.7:6381", or ASK: the slot and the number of the node; false for any other text. */
bool cluster_map_redirection(struct cluster_map *map, int asked, const char *text, int *slot,
                             int *node);

#endif
