/*
 * redis_connection - one connection to a Redis server: commands, scripts, and reconnection.
 *
 * Only this module uses hiredis, which writes commands and parses answers; redis_stream moves the
 * bytes. A connection that failed is closed at once, and the next call makes a new one, so that a
 * caller only has to try again. A command whose answer was lost may have run: callers make their
 * commands repeatable.
 *
 * Threads: a connection is for one thread.
 */
#ifndef STORE_REDIS_REDIS_CONNECTION_H
#define STORE_REDIS_REDIS_CONNECTION_H

#include "common/base/error.h"
#include "store/redis/redis_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redis_connection;
struct redisReply; /* of hiredis; read it with the functions below */

/* A Lua script. It is sent by its hash, and in full only if the server does not know it. */
struct redis_script {
    const char *text;
    char sha[41]; /* "" until first used */
};

/* The user and password of a connection. {0} is the default user without a password. */
enum { REDIS_PASSWORD_SIZE = 512 };
struct redis_login {
    char user[REDIS_USER_SIZE];         /* "" for the default user */
    char password[REDIS_PASSWORD_SIZE]; /* "" if there is none; redis_login_wipe() erases it */
};

/* One word of a command. */
struct redis_text {
    const void *data;
    size_t size;
};

enum {
    REDIS_CONNECT_TIMEOUT_MS = 2000,
    REDIS_ANSWER_TIMEOUT_MS = 10000, /* a blocking command must wait much less than this */
};

/* Connects to a server with an address as in redis_address.h. The password is the first line of
 * `password_file`, which may be NULL. The caller releases *out with redis_connection_free(). Fails:
 * ERROR_INVALID for a bad URL or a wrong password, ERROR_UNAVAILABLE when there is no server. */
MUST_CHECK enum error_code redis_connection_new(const char *url, const char *password_file,
                                                struct redis_connection **out, struct error *err);
/* Connects to a server whose address was parsed. `answer_ms` is the longest time without an answer.
 * Fails: as above. */
MUST_CHECK enum error_code redis_connection_open(const struct redis_address *address,
                                                 const struct redis_login *login, int64_t answer_ms,
                                                 struct redis_connection **out, struct error *err);
void redis_connection_free(struct redis_connection *connection);
/* Reads the password from the first line of `password_file`, which may be NULL. Fails:
 * ERROR_NOT_FOUND, ERROR_IO, ... */
MUST_CHECK enum error_code redis_login_read(const char *password_file, struct redis_login *login,
                                            struct error *err);
void redis_login_wipe(struct redis_login *login);
/* Returns the URL that the connection was opened with, for messages. Borrowed. */
const char *redis_connection_url(const struct redis_connection *connection);
/* Returns a number that grows with each new connection. A caller that remembers it notices that the
 * connection was lost. */
int64_t redis_connection_generation(const struct redis_connection *connection);

/* Sends one command of `argc` texts and waits for the answer. The caller releases *reply with
 * redis_reply_free(). Fails: ERROR_NOT_FOUND for NOGROUP and UNBLOCKED (the stream or its group is
 * gone); ERROR_INVALID for a refused password; ERROR_UNAVAILABLE when there is no answer or the
 * server cannot do it now (it loads, is out of memory or disk, is a replica); ERROR_CORRUPT when
 * keys hold unexpected values (another type, contents on which a script fails); ERROR_IO for any
 * other error that the server answers. */
MUST_CHECK enum error_code redis_connection_call(struct redis_connection *connection, int argc,
                                                 const char **argv, struct redisReply **reply,
                                                 struct error *err);
/* Same as redis_connection_call(), for a command that blocks on the server. Asks `stopped` after
 * each signal and every 100 ms; once that returns true, closes the connection and leaves *reply
 * NULL. */
MUST_CHECK enum error_code redis_connection_wait(struct redis_connection *connection, int argc,
                                                 const char **argv, bool (*stopped)(void),
                                                 struct redisReply **reply, struct error *err);
/* Runs a script. argv[0] and argv[1] are free for EVALSHA and its hash; from argv[2] on follow the
 * number of keys, the keys, and the arguments. */
MUST_CHECK enum error_code redis_connection_run(struct redis_connection *connection,
                                                struct redis_script *script, int argc,
                                                const char **argv, struct redisReply **reply,
                                                struct error *err);

/* Sends a command without waiting for its answer. Several may be in flight; they are answered in
 * order. After a failure the connection can only be freed, and the commands that were sent may have
 * been done. Fails: ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code redis_connection_send(struct redis_connection *connection,
                                                 const struct redis_text *argument, int count,
                                                 struct error *err);
/* Receives the oldest answer that is still due, even if it is an error (redis_reply_error()). The
 * caller releases *reply. */
MUST_CHECK enum error_code redis_connection_receive(struct redis_connection *connection,
                                                    struct redisReply **reply, struct error *err);
/* Returns the text of an answer that is an error; NULL for any other answer. Borrowed. */
const char *redis_reply_error(const struct redisReply *reply);
/* Returns the error code for that text, as listed at redis_connection_call(). */
enum error_code redis_error_code(const char *text);
/* Returns whether the error says that the server is out of memory. */
bool redis_error_is_full(const char *text);
/* Returns whether the error says that the keys are moving from one node to another. */
bool redis_error_is_moving(const char *text);
/* Returns whether the error says that the server is not in a cluster. */
bool redis_error_is_alone(const char *text);

/* Parses the bytes of a reply. It is for tests, which pass any bytes. *reply is NULL while the
 * reply is incomplete. Fails: ERROR_UNAVAILABLE when the bytes are not a reply. */
MUST_CHECK enum error_code redis_reply_decode(const char *bytes, size_t size,
                                              struct redisReply **reply, struct error *err);
void redis_reply_free(struct redisReply *reply);
bool redis_reply_is_array(const struct redisReply *reply);
/* Returns whether the reply is an integer, or a text that is one, and its value. */
bool redis_reply_is_integer(const struct redisReply *reply, int64_t *value);
bool redis_reply_is_text(const struct redisReply *reply);
/* Returns the number of elements of an array; 0 for any other reply. */
int64_t redis_reply_count(const struct redisReply *reply);
/* Returns element `index`, or NULL if there is none. Borrowed, like the texts below. */
const struct redisReply *redis_reply_item(const struct redisReply *reply, int64_t index);
/* Returns the text of a reply; "" if it is not a text. */
const char *redis_reply_text(const struct redisReply *reply);
/* Returns the bytes of a text, which may have any value; NULL if the reply is not a text. */
const char *redis_reply_bytes(const struct redisReply *reply, size_t *size);

#endif
