/*
 * redis_address - where a Redis server is, from what people write:
 *
 *   redis://[USER@]HOST[:PORT][/DB]
 *   rediss://[USER@]HOST[:PORT][/DB][?ca=FILE&cert=FILE&key=FILE]     with TLS
 *   unix:PATH
 *
 *   ca=FILE       certificates of the authorities that are trusted; else the system's
 *   cert=FILE     our own certificate, for a server that wants one, with those that lead up to its authority
 *   key=FILE      its private key; else it is in the same file
 *
 * All files are PEM. A password has no place in it: addresses stand in command lines and logs. One that holds any is refused, and
 * not shown. An IPv6 address stands in brackets. Nothing is looked up and no server is asked.
 */
#ifndef STORE_REDIS_REDIS_ADDRESS_H
#define STORE_REDIS_REDIS_ADDRESS_H

#include "common/base/error.h"
#include "common/base/file.h"

#include <stdbool.h>

enum { REDIS_URL_SIZE = 4 * FILE_PATH_SIZE + 512, REDIS_USER_SIZE = 128 };

struct redis_address {
    bool is_unix;
    char host[FILE_PATH_SIZE];  /* or the path of the socket; never empty */
    int port;                   /* 1 to 65535; 0 for a socket */
    int db;                     /* 0 to 9999 */
    char user[REDIS_USER_SIZE]; /* "": the default one */
    bool is_tls;
    char ca[FILE_PATH_SIZE], certificate[FILE_PATH_SIZE], key[FILE_PATH_SIZE]; /* "": none */
};

/* `url` may be NULL, which is none. Fails: ERROR_INVALID naming it and the forms. */
MUST_CHECK enum error_code redis_address_parse(const char *url, struct redis_address *out,
                                               struct error *err);
/* Takes one of the parameters of TLS, "ca=FILE" and so on [size]; false when it is none of them, or too long. */
bool redis_address_take_file(struct redis_address *address, const char *text, size_t size);
/* A name of a user at the beginning of `text`, with an '@' behind it. *size: of both, 0 when there is no '@' up to the first '/' or
 * '?'. False for a name that cannot be one, such as one with a password. */
bool redis_address_take_user(const char *text, char user[REDIS_USER_SIZE], size_t *size);
/* host:port, or the path, for messages. */
void redis_address_text(const struct redis_address *address, char text[REDIS_URL_SIZE]);

#endif
