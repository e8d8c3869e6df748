/*
 * cluster_address - parses the address of a store in a Redis Cluster:
 *
 *   redis+cluster://[USER@]HOST:PORT[,HOST:PORT...][/PREFIX][?NAME=VALUE&...]
 *
 * or the same with rediss+cluster:, which uses TLS.
 *
 *   HOST:PORT              some of the nodes; these are asked for the others. An IPv6 address is
 *                          written in brackets.
 *   PREFIX                 begins the name of every key, so that a cluster can hold several stores
 *                          and other data
 *   password-file=FILE     the first line is the password of USER, or of the default user
 *   ca=FILE cert=FILE key=FILE     files for TLS (store/redis/redis_address.h)
 *
 * Addresses appear in command lines and logs. An address that contains a password is therefore
 * refused, and no message shows the text before the '@'.
 */
#ifndef STORE_BACKENDS_CLUSTER_CLUSTER_ADDRESS_H
#define STORE_BACKENDS_CLUSTER_CLUSTER_ADDRESS_H

#include "common/base/error.h"
#include "common/files/file.h"
#include "store/redis/cluster_client.h"

enum { CLUSTER_PREFIX_SIZE = 128 };

struct cluster_address {
    struct cluster_node seed[CLUSTER_SEED_MAX];
    int seed_count;
    struct redis_address like;          /* user and TLS settings */
    char password_file[FILE_PATH_SIZE]; /* "": none */
    char prefix[CLUSTER_PREFIX_SIZE];   /* "" or names joined by '/' */
};

/* Parses `place`, the text after "redis+cluster:" or, with `is_tls`, after "rediss+cluster:".
 * Fails: ERROR_INVALID, naming the part that is wrong. */
MUST_CHECK enum error_code cluster_address_parse(const char *place, bool is_tls,
                                                 struct cluster_address *out, struct error *err);

#endif
