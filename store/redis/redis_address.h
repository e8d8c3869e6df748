/*
 * redis_address - parses the address of a Redis server:
 *
 *   redis://[USER@]HOST[:PORT][/DB]
 *   rediss://[USER@]HOST[:PORT][/DB][?ca=FILE&cert=FILE&key=FILE]     with TLS
 *   unix:PATH
 *
 *   ca=FILE       certificates of trusted authorities; default: the system's
 *   cert=FILE     our certificate, for a server that asks for one, with its chain
 *   key=FILE      its private key; default: in the file of the certificate
 *
 * All files are PEM. Addresses appear in command lines and logs, so an address that contains a
 * password is refused, and not shown. An IPv6 address is written in brackets. Parsing looks nothing
 * up and asks no server.
 */
#ifndef STORE_REDIS_REDIS_ADDRESS_H
#define STORE_REDIS_REDIS_ADDRESS_H

#include "common/base/error.h"
#include "common/files/file.h"

#include <stdbool.h>

enum { REDIS_URL_SIZE = 4 * FILE_PATH_SIZE + 512, REDIS_USER_SIZE = 128 };

struct redis_address {
    bool is_unix;
    char host[FILE_PATH_SIZE];  /* or the path of the socket; never empty */
    int port;                   /* 1 to 65535; 0 for a socket */
    int db;                     /* 0 to 9999 */
    char user[REDIS_USER_SIZE]; /* "" for the default user */
    bool is_tls;
    /* "" if there is none */
    char ca[FILE_PATH_SIZE], certificate[FILE_PATH_SIZE], key[FILE_PATH_SIZE];
};

/* Parses `url`; NULL is an error too. Fails: ERROR_INVALID, naming `url` and the accepted forms. */
MUST_CHECK enum error_code redis_address_parse(const char *url, struct redis_address *out,
                                               struct error *err);
/* Takes one TLS parameter [size], such as "ca=FILE". Returns false if it is none of them, or too
 * long. */
bool redis_address_take_file(struct redis_address *address, const char *text, size_t size);
/* Reads the user name before an '@' at the beginning of `text`. *size is the length of both, or 0
 * if there is no '@' before the first '/' or '?'. Returns false for a name that is not allowed,
 * such as one with a password. */
bool redis_address_take_user(const char *text, char user[REDIS_USER_SIZE], size_t *size);
/* Writes host:port, or the path, for messages. */
void redis_address_text(const struct redis_address *address, char text[REDIS_URL_SIZE]);

#endif
