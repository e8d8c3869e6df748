/*
 * cluster_backend - a store in a Redis Cluster: redis+cluster://HOST:PORT/PREFIX
 * (cluster_address.h), or rediss+cluster: for TLS.
 *
 * It is meant for the records of rounds, which are written and read within moments: everything is
 * kept in the memory of the cluster's masters, which is limited. cluster_place.h describes the
 * layout of the keys; store/redis/cluster_client.h describes how a command finds its node and what
 * happens when a node fails.
 *
 * A write is acknowledged by one master. A write that must last also waits for a replica, if there
 * is one. A value can still be lost with its master; the record is then found missing and computed
 * again. Works with Redis from 6.2, and with Valkey.
 */
#ifndef STORE_BACKENDS_CLUSTER_CLUSTER_BACKEND_H
#define STORE_BACKENDS_CLUSTER_CLUSTER_BACKEND_H

#include "store/objects/object_store.h"

extern const struct object_backend cluster_backend, cluster_tls_backend;

/* For tests: overwrites the value of a record with `size` bytes, as a fault would. */
void cluster_store_damage(void *state, const char *key, const void *bytes, size_t size);

#endif
