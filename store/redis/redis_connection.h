/*
 * redis_connection - one connection to a Redis server: commands, scripts, and reconnection.
 *
 * The one place that knows hiredis, which writes the commands and reads the answers; redis_stream moves the bytes. A connection that failed is closed at once and made anew by the next
 * call, so that a caller only has to try again. A command whose answer was lost may have run: callers
 * make their commands repeatable.
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
struct redisReply; /* hiredis' own; read it with the functions below */

/* A Lua script: sent by its hash, and in full only when the server does not know it yet. */
struct redis_script {
    const char *text;
    char sha[41]; /* "" until first used */
};

/* Who asks. {0} is the default user without a password. */
enum { REDIS_PASSWORD_SIZE = 512 };
struct redis_login {
    char user[REDIS_USER_SIZE];         /* "": the default one */
    char password[REDIS_PASSWORD_SIZE]; /* "": none; wipe it with redis_login_wipe() */
};

/* Bytes of a command. */
struct redis_text {
    const void *data;
    size_t size;
};

enum {
    REDIS_CONNECT_TIMEOUT_MS = 2000,
    REDIS_ANSWER_TIMEOUT_MS = 10000, /* a blocking command must ask for much less than that */
};

/* Connects to a server named as in redis_address.h. `password_file` may be NULL; its first line is the
 * password.
 * Owns:  *out; release with redis_connection_free().
 * Fails: ERROR_INVALID for a bad URL or a wrong password, ERROR_UNAVAILABLE when there is no server. */
MUST_CHECK enum error_code redis_connection_new(const char *url, const char *password_file,
                                                struct redis_connection **out, struct error *err);
/* Connects to a server whose address was read. `answer_ms`: so long it may say nothing. Fails: as above. */
MUST_CHECK enum error_code redis_connection_open(const struct redis_address *address,
                                                 const struct redis_login *login, int64_t answer_ms,
                                                 struct redis_connection **out, struct error *err);
void redis_connection_free(struct redis_connection *connection);
/* The first line of `password_file`, which may be NULL, becomes the password. Fails: ERROR_NOT_FOUND, ERROR_IO, ... */
MUST_CHECK enum error_code redis_login_read(const char *password_file, struct redis_login *login,
                                            struct error *err);
void redis_login_wipe(struct redis_login *login);
/* Where the server is, for messages: the URL it was opened with. Borrowed. */
const char *redis_connection_url(const struct redis_connection *connection);
/* Grows by one with each connection made: whoever remembers it sees that something was lost. */
int64_t redis_connection_generation(const struct redis_connection *connection);

/* Sends one command of `argc` texts. An error that the server answers is an error here.
 * Owns:  *reply; release with redis_reply_free().
 * Fails: ERROR_NOT_FOUND for NOGROUP and UNBLOCKED (the stream or its group is gone), ERROR_INVALID for
 *        a refused password, ERROR_UNAVAILABLE when there is no answer or the server cannot do it now (it loads, is
 *        out of memory or disk, a replica), ERROR_CORRUPT when keys hold what they should not (another type, contents
 *        on which a script fails), ERROR_IO for any other answer that is an error. */
MUST_CHECK enum error_code redis_connection_call(struct redis_connection *connection, int argc,
                                                 const char **argv, struct redisReply **reply,
                                                 struct error *err);
/* As redis_connection_call(), for a command that lets the server wait: when `stopped` says so meanwhile (it is
 * asked at once after a signal, and every 100 ms), the connection is closed and *reply stays NULL. */
MUST_CHECK enum error_code redis_connection_wait(struct redis_connection *connection, int argc,
                                                 const char **argv, bool (*stopped)(void),
                                                 struct redisReply **reply, struct error *err);
/* Runs a script: argv[0] and argv[1] are left free for EVALSHA and its hash; argv[2] on are the number
 * of keys, the keys, and the arguments. */
MUST_CHECK enum error_code redis_connection_run(struct redis_connection *connection,
                                                struct redis_script *script, int argc,
                                                const char **argv, struct redisReply **reply,
                                                struct error *err);

/* A command now, its answer later: several may be under way, and are answered in their order. After a failure the connection is
 * of no use any more but to be freed; what was sent may have been done.
 * Fails: ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code redis_connection_send(struct redis_connection *connection,
                                                 const struct redis_text *argument, int count,
                                                 struct error *err);
/* The answer to the first command that has none yet, also when it is an error (redis_reply_error()). *reply: as above. */
MUST_CHECK enum error_code redis_connection_receive(struct redis_connection *connection,
                                                    struct redisReply **reply, struct error *err);
/* The text of an answer that is an error; NULL for any other. Borrowed. */
const char *redis_reply_error(const struct redisReply *reply);
/* What a caller can do about it: the codes of redis_connection_call(). */
enum error_code redis_error_code(const char *text);
/* The server is out of memory. */
bool redis_error_is_full(const char *text);
/* The keys of the command are on their way from one node to another. */
bool redis_error_is_moving(const char *text);
/* The server is in no cluster. */
bool redis_error_is_alone(const char *text);

/* What the bytes that a server sends say: for tests, which send any. *reply is NULL while a reply is not whole.
 * Fails: ERROR_UNAVAILABLE when it is none. */
MUST_CHECK enum error_code redis_reply_decode(const char *bytes, size_t size,
                                              struct redisReply **reply, struct error *err);
void redis_reply_free(struct redisReply *reply);
bool redis_reply_is_array(const struct redisReply *reply);
/* An integer, or a text that is one. */
bool redis_reply_is_integer(const struct redisReply *reply, int64_t *value);
bool redis_reply_is_text(const struct redisReply *reply);
/* Elements of an array; 0 for what is none. */
int64_t redis_reply_count(const struct redisReply *reply);
/* Element `index`, or NULL when there is none. Borrowed, like the texts below. */
const struct redisReply *redis_reply_item(const struct redisReply *reply, int64_t index);
/* Text, "" for what is none. */
const char *redis_reply_text(const struct redisReply *reply);
/* Bytes of a text, which may have any value; NULL for what is none. */
const char *redis_reply_bytes(const struct redisReply *reply, size_t *size);

#endif
