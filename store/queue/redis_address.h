/*
 * redis_address - where a Redis server is, from what people write: redis://host[:port][/db] or unix:PATH.
 *
 * A name and a password have no place in it: addresses stand in command lines and logs. An IPv6 address stands in
 * brackets. Nothing is looked up and no server is asked.
 */
#ifndef STORE_QUEUE_REDIS_ADDRESS_H
#define STORE_QUEUE_REDIS_ADDRESS_H

#include "common/base/error.h"
#include "common/base/file.h"

#include <stdbool.h>

enum { REDIS_URL_SIZE = FILE_PATH_SIZE + 8 };

struct redis_address {
    bool is_unix;
    char host[FILE_PATH_SIZE]; /* or the path of the socket; never empty */
    int port;                  /* 1 to 65535; 0 for a socket */
    int db;                    /* 0 to 9999 */
};

/* `url` may be NULL, which is none. Fails: ERROR_INVALID naming it and the two forms. */
MUST_CHECK enum error_code redis_address_parse(const char *url, struct redis_address *out,
                                               struct error *err);

#endif
