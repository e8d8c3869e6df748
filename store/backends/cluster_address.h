/*
 * cluster_address - what "redis+cluster://[USER@]HOST:PORT[,HOST:PORT...][/PREFIX][?NAME=VALUE&...]" names, or the same with rediss+cluster:, which is
 * TLS.
 *
 *   HOST:PORT              some of the nodes; the others are asked for. An IPv6 address stands in brackets.
 *   PREFIX                 what the names of all keys begin with, so that several stores, and others, share a cluster
 *   password-file=FILE     the first line of it is the password of USER, or of the default user
 *   ca=FILE cert=FILE key=FILE     of TLS (store/redis/redis_address.h)
 *
 * A password has no place in an address, which stands in command lines and logs: one that holds any is refused, and no message
 * shows what stands before the '@'.
 */
#ifndef STORE_BACKENDS_CLUSTER_ADDRESS_H
#define STORE_BACKENDS_CLUSTER_ADDRESS_H

#include "common/base/error.h"
#include "common/base/file.h"
#include "store/redis/cluster_client.h"

enum { CLUSTER_PREFIX_SIZE = 128 };

struct cluster_address {
    struct cluster_node seed[CLUSTER_SEED_MAX];
    int seed_count;
    struct redis_address like;          /* user and TLS */
    char password_file[FILE_PATH_SIZE]; /* "": none */
    char prefix[CLUSTER_PREFIX_SIZE];   /* "" or names joined by '/' */
};

/* `place`: what stands behind "redis+cluster:", or, with `is_tls`, behind "rediss+cluster:". Fails: ERROR_INVALID, naming the part that is wrong. */
MUST_CHECK enum error_code cluster_address_parse(const char *place, bool is_tls,
                                                 struct cluster_address *out, struct error *err);

#endif
