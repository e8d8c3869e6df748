/*
 * cluster_backend - a store in a Redis Cluster: "redis+cluster://[USER@]HOST:PORT[,HOST:PORT...][/PREFIX][?password-file=FILE]"
 * (cluster_address.h), or "rediss+cluster:", with TLS.
 *
 * For what is made and read within moments, the records of rounds: all of it is in the memory of the cluster's masters, which is bounded.
 * What lies where: cluster_place.h. How commands find their nodes, and what becomes of them when one fails: store/redis/cluster_client.h.
 * A write is acknowledged by one master; those that must last wait for a replica, where there is one. So what was put may be lost with
 * a master all the same, and is made again: records say what they are. Works with Redis from 6.2, and Valkey.
 */
#ifndef STORE_BACKENDS_CLUSTER_BACKEND_H
#define STORE_BACKENDS_CLUSTER_BACKEND_H

#include "store/objects/object_store.h"

extern const struct object_backend cluster_backend, cluster_tls_backend;

/* Puts `size` bytes where a record lies, as something broken would: for tests. */
void cluster_store_damage(void *state, const char *key, const void *bytes, size_t size);

#endif
