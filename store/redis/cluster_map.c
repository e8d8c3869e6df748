#include "store/redis/cluster_map.h"

#include "common/base/text.h"

#include <string.h>

enum { PORT_MAX = 65535 };

void cluster_map_init(struct cluster_map *map)
{
    map->node_count = 0;
    for (int i = 0; i < CLUSTER_SLOT_COUNT; i++)
        map->slot_node[i] = -1;
}

/* Computes CRC-16/XMODEM: polynomial 0x1021, initial value 0, no reflection. */
static unsigned crc16(const char *bytes, size_t size)
{
    unsigned crc = 0;
    for (size_t i = 0; i < size; i++) {
        crc ^= (unsigned)(unsigned char)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1) & 0xFFFF;
    }
    return crc;
}

int cluster_slot(const char *key, size_t size)
{
    const char *open = memchr(key, '{', size);
    const char *close = open ? memchr(open, '}', size - (size_t)(open - key)) : NULL;
    const bool has_tag = close && close > open + 1;
    const unsigned crc = has_tag ? crc16(open + 1, (size_t)(close - open) - 1) : crc16(key, size);
    return (int)(crc % CLUSTER_SLOT_COUNT);
}

int cluster_map_node(struct cluster_map *map, const char *host, size_t host_size, int port)
{
    if (host_size == 0 || host_size >= CLUSTER_HOST_SIZE || port < 1 || port > PORT_MAX)
        return -1;
    for (int i = 0; i < map->node_count; i++)
        if (map->node[i].port == port && strlen(map->node[i].host) == host_size &&
            memcmp(map->node[i].host, host, host_size) == 0)
            return i;
    if (map->node_count == CLUSTER_NODE_MAX)
        return -1;
    struct cluster_node *node = &map->node[map->node_count];
    memcpy(node->host, host, host_size);
    node->host[host_size] = '\0';
    node->port = port;
    node->has_replicas = false;
    return map->node_count++;
}

/* Returns a node that an answer of the node `asked` names. An empty or unknown name means that node
 * itself. */
static int node_named(struct cluster_map *map, int asked, const char *host, size_t size,
                      int64_t port)
{
    if (port < 1 || port > PORT_MAX)
        return -1;
    if (size == 0 || (size == 1 && *host == '?')) {
        host = map->node[asked].host;
        size = strlen(host);
    }
    return cluster_map_node(map, host, size, (int)port);
}

/* Reads one row: first and last slot, master, replicas. */
static bool take_row(struct cluster_map *map, int asked, const struct redisReply *row, bool applies)
{
    int64_t first = 0, last = 0, port = 0;
    size_t size = 0;
    const struct redisReply *master = redis_reply_item(row, 2);
    if (!redis_reply_is_integer(redis_reply_item(row, 0), &first) ||
        !redis_reply_is_integer(redis_reply_item(row, 1), &last) ||
        !redis_reply_is_integer(redis_reply_item(master, 1), &port) || first < 0 || last < first ||
        last >= CLUSTER_SLOT_COUNT)
        return false;
    const char *host = redis_reply_bytes(redis_reply_item(master, 0), &size);
    const int node = node_named(map, asked, host ? host : "", size, port);
    if (node < 0)
        return false;
    if (applies) {
        map->node[node].has_replicas = redis_reply_count(row) > 3;
        for (int64_t slot = first; slot <= last; slot++)
            map->slot_node[slot] = (int16_t)node;
    }
    return true;
}

enum error_code cluster_map_update(struct cluster_map *map, int asked,
                                   const struct redisReply *reply, struct error *err)
{
    const int64_t rows = redis_reply_count(reply);
    bool good = rows > 0;
    for (int64_t i = 0; good && i < rows; i++)
        good = take_row(map, asked, redis_reply_item(reply, i), false);
    if (!good)
        return error_set(
            err, ERROR_UNAVAILABLE, "Redis at %s:%d: expected the slots of a cluster, found %s",
            map->node[asked].host, map->node[asked].port, rows ? "another answer" : "none");
    for (int64_t i = 0; i < rows; i++)
        (void)take_row(map, asked, redis_reply_item(reply, i), true);
    return ERROR_NONE;
}

bool cluster_map_redirection(struct cluster_map *map, int asked, const char *text, int *slot,
                             int *node)
{
    int64_t number = 0, port = 0;
    const char *at = strchr(text, ' ');
    if (!at || (strncmp(text, "MOVED ", 6) != 0 && strncmp(text, "ASK ", 4) != 0))
        return false;
    const size_t digits = strcspn(++at, " ");
    if (!text_int64(at, digits, &number) || number < 0 || number >= CLUSTER_SLOT_COUNT ||
        at[digits] != ' ')
        return false;
    const char *host = at + digits + 1, *colon = strrchr(host, ':');
    if (!colon || !text_int64(colon + 1, strlen(colon + 1), &port))
        return false;
    *slot = (int)number;
    *node = node_named(map, asked, host, (size_t)(colon - host), port);
    return *node >= 0;
}
