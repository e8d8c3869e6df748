#include "store/redis/redis_connection.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "store/redis/redis_address.h"
#include "store/redis/redis_stream.h"

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
    LOOK_MS = 100,
    ELEMENTS_MAX = 65536, /* of an array in a reply */
    ARGUMENTS_AT_ONCE = 16,
    READ_SIZE = 32 << 10,
};

struct redis_connection {
    struct redis_stream stream; /* closed between a failure and the next call */
    redisReader *reader;        /* parses the stream; NULL while that is closed */
    int64_t generation;
    char url[REDIS_URL_SIZE];
    struct redis_address address;
    char db[8]; /* database number of the address, as text */
    struct redis_login login;
    int64_t answer_ms;
};

#if HIREDIS_MAJOR >= 1
typedef size_t element_count;
#else
typedef int element_count;
#endif

/* hiredis allocates an array as soon as its length is announced, so that a few bytes could demand
 * gigabytes. This limit prevents it. */
static redisReplyObjectFunctions guarded;
static void *(*create_any_array)(const redisReadTask *task, element_count elements);
static pthread_once_t guarded_once = PTHREAD_ONCE_INIT;

static void *create_array(const redisReadTask *task, element_count elements)
{
    return elements > ELEMENTS_MAX ? NULL : create_any_array(task, elements);
}

static void make_guarded(void)
{
    redisReader *reader = redisReaderCreate();
    if (!reader)
        return;
    guarded = *reader->fn;
    create_any_array = guarded.createArray;
    guarded.createArray = create_array;
    redisReaderFree(reader);
}

static void guard_reader(redisReader *reader)
{
    (void)pthread_once(&guarded_once, make_guarded);
    if (create_any_array)
        reader->fn = &guarded;
}

enum error_code redis_login_read(const char *password_file, struct redis_login *login,
                                 struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    if (!password_file)
        return ERROR_NONE;
    const enum error_code rc = file_read(password_file, REDIS_PASSWORD_SIZE - 1, &text, &size, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "the password of Redis");
    text[strcspn(text, "\r\n")] = '\0';
    (void)text_copy(login->password, sizeof login->password, text);
    memset(text, 0, size);
    memory_free(text);
    return ERROR_NONE;
}

void redis_login_wipe(struct redis_login *login)
{
    memset(login, 0, sizeof *login);
}

static void disconnect(struct redis_connection *c)
{
    redis_stream_close(&c->stream);
    if (c->reader)
        redisReaderFree(c->reader);
    c->reader = NULL;
}

/* Closes a connection that is in an undefined state, and adds the server to the reason in `err`. */
static enum error_code broken(struct redis_connection *c, enum error_code rc, struct error *err)
{
    disconnect(c);
    return error_context(err, rc, "Redis at %s", c->url);
}

static bool says_one_of(const char *text, bool anywhere, const char *const *word, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (anywhere ? strstr(text, word[i]) != NULL : text_begins(text, word[i]))
            return true;
    return false;
}

/* Maps an error that the server answered to what the caller can do. Servers before 7 put a
 * command's error after that of the script that called it. */
enum error_code redis_error_code(const char *text)
{
    static const char *const later[] = {"LOADING",    "BUSY",        "READONLY", "OOM",
                                        "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MISCONF"};
    static const char *const refused[] = {"NOAUTH", "WRONGPASS", "NOPERM", "ERR invalid password",
                                          "ERR AUTH"};
    const bool in_script = strstr(text, "user_script") != NULL;
    if (text_begins(text, "NOGROUP") || text_begins(text, "UNBLOCKED"))
        return ERROR_NOT_FOUND;
    if (says_one_of(text, in_script, later, sizeof later / sizeof *later))
        return ERROR_UNAVAILABLE;
    if (says_one_of(text, in_script, refused, sizeof refused / sizeof *refused))
        return ERROR_INVALID;
    return in_script || text_begins(text, "WRONGTYPE") ? ERROR_CORRUPT : ERROR_IO;
}

bool redis_error_is_full(const char *text)
{
    return text_begins(text, "OOM") || (strstr(text, "user_script") && strstr(text, "OOM"));
}

bool redis_error_is_moving(const char *text)
{
    return text_begins(text, "TRYAGAIN");
}

bool redis_error_is_alone(const char *text)
{
    return strstr(text, "cluster support disabled") != NULL;
}

/* Sends one command without waiting for its answer. */
static enum error_code send_command(struct redis_connection *c, int argc, const char **argv,
                                    const size_t *size, struct error *err)
{
    char *text = NULL;
    if (!redis_stream_is_open(&c->stream))
        return error_set(err, ERROR_UNAVAILABLE, "Redis at %s: no connection", c->url);
    const long long length = redisFormatCommandArgv(&text, argc, argv, size);
    if (length < 0)
        return broken(c, error_set(err, ERROR_NO_MEMORY, "no memory for a command"), err);
    const enum error_code rc = redis_stream_write(&c->stream, text, (size_t)length, err);
    redisFreeCommand(text);
    return rc == ERROR_NONE ? rc : broken(c, rc, err);
}

/* Receives the next answer, even if it is an error. */
static enum error_code next_answer(struct redis_connection *c, struct redisReply **reply,
                                   struct error *err)
{
    char bytes[READ_SIZE];
    void *answer = NULL;
    size_t got = 0;
    *reply = NULL;
    if (!redis_stream_is_open(&c->stream))
        return error_set(err, ERROR_UNAVAILABLE, "Redis at %s: no connection", c->url);
    for (;;) {
        if (redisReaderGetReply(c->reader, &answer) != REDIS_OK)
            return broken(c, error_set(err, ERROR_UNAVAILABLE, "%s", c->reader->errstr), err);
        if (answer)
            break;
        const enum error_code rc = redis_stream_read(&c->stream, bytes, sizeof bytes, &got, err);
        if (rc != ERROR_NONE)
            return broken(c, rc, err);
        if (redisReaderFeed(c->reader, bytes, got) != REDIS_OK)
            return broken(c, error_set(err, ERROR_UNAVAILABLE, "%s", c->reader->errstr), err);
    }
    *reply = answer;
    return ERROR_NONE;
}

/* Receives the answer to a command. *unknown_script: it was NOSCRIPT. */
static enum error_code take_answer(struct redis_connection *c, const char **argv,
                                   struct redisReply **reply, bool *unknown_script,
                                   struct error *err)
{
    enum error_code rc = next_answer(c, reply, err);
    const char *text = redis_reply_error(*reply);
    if (rc != ERROR_NONE || !text)
        return rc;
    if (unknown_script)
        *unknown_script = text_begins(text, "NOSCRIPT");
    rc = error_set(err, redis_error_code(text), "Redis at %s: %s: %s", c->url, argv[0], text);
    freeReplyObject(*reply);
    *reply = NULL;
    return rc;
}

/* Performs one command on the current connection. */
static enum error_code command(struct redis_connection *c, int argc, const char **argv,
                               struct redisReply **reply, bool *unknown_script, struct error *err)
{
    *reply = NULL;
    const enum error_code rc = send_command(c, argc, argv, NULL, err);
    return rc == ERROR_NONE ? take_answer(c, argv, reply, unknown_script, err) : rc;
}

/* Logs in, and selects the database. */
static enum error_code introduce(struct redis_connection *c, struct error *err)
{
    const struct redis_login *login = &c->login;
    const char *auth[] = {"AUTH", login->password}, *select[] = {"SELECT", c->db};
    const char *auth_user[] = {"AUTH", login->user, login->password};
    struct redisReply *reply = NULL;
    enum error_code rc = ERROR_NONE;
    if (*login->user)
        rc = command(c, 3, auth_user, &reply, NULL, err);
    else if (*login->password)
        rc = command(c, 2, auth, &reply, NULL, err);
    redis_reply_free(reply);
    reply = NULL;
    if (rc == ERROR_NONE && strcmp(c->db, "0") != 0)
        rc = command(c, 2, select, &reply, NULL, err);
    redis_reply_free(reply);
    return rc;
}

static enum error_code connect_now(struct redis_connection *c, struct error *err)
{
    enum error_code rc =
        redis_stream_open(&c->address, REDIS_CONNECT_TIMEOUT_MS, c->answer_ms, &c->stream, err);
    if (rc != ERROR_NONE)
        return broken(c, rc, err);
    c->reader = redisReaderCreate();
    if (!c->reader)
        return broken(c, error_set(err, ERROR_NO_MEMORY, "no memory for a reader of replies"), err);
    guard_reader(c->reader);
    c->generation++;
    rc = introduce(c, err);
    if (rc != ERROR_NONE)
        disconnect(c);
    return rc;
}

static enum error_code new_connection(struct redis_connection **out, int64_t answer_ms,
                                      struct error *err)
{
    *out = NULL;
    const enum error_code rc = memory_new(out, 1, "a Redis connection", err);
    if (rc == ERROR_NONE)
        (*out)->answer_ms = answer_ms;
    return rc;
}

/* Connects, or frees the connection. */
static enum error_code begin(struct redis_connection *c, enum error_code rc,
                             struct redis_connection **out, struct error *err)
{
    if (rc == ERROR_NONE) {
        (void)snprintf(c->db, sizeof c->db, "%d", c->address.db);
        rc = connect_now(c, err);
    }
    *out = rc == ERROR_NONE ? c : NULL;
    if (rc != ERROR_NONE)
        redis_connection_free(c);
    return rc;
}

enum error_code redis_connection_new(const char *url, const char *password_file,
                                     struct redis_connection **out, struct error *err)
{
    struct redis_connection *c = NULL;
    *out = NULL;
    enum error_code rc = new_connection(&c, REDIS_ANSWER_TIMEOUT_MS, err);
    if (rc == ERROR_NONE)
        rc = redis_address_parse(url, &c->address, err);
    if (rc == ERROR_NONE) {
        must(text_copy(c->url, sizeof c->url, url));
        must(text_copy(c->login.user, sizeof c->login.user, c->address.user));
        rc = redis_login_read(password_file, &c->login, err);
    }
    return begin(c, rc, out, err);
}

enum error_code redis_connection_open(const struct redis_address *address,
                                      const struct redis_login *login, int64_t answer_ms,
                                      struct redis_connection **out, struct error *err)
{
    struct redis_connection *c = NULL;
    *out = NULL;
    const enum error_code rc = new_connection(&c, answer_ms, err);
    if (rc != ERROR_NONE)
        return rc;
    c->address = *address;
    c->login = *login;
    redis_address_text(address, c->url);
    return begin(c, rc, out, err);
}

void redis_connection_free(struct redis_connection *c)
{
    if (!c)
        return;
    disconnect(c);
    redis_login_wipe(&c->login);
    memory_free(c);
}

const char *redis_connection_url(const struct redis_connection *c)
{
    return c->url;
}

int64_t redis_connection_generation(const struct redis_connection *c)
{
    return c->generation;
}

enum error_code redis_connection_call(struct redis_connection *c, int argc, const char **argv,
                                      struct redisReply **reply, struct error *err)
{
    *reply = NULL;
    const enum error_code rc = redis_stream_is_open(&c->stream) ? ERROR_NONE : connect_now(c, err);
    return rc == ERROR_NONE ? command(c, argc, argv, reply, NULL, err) : rc;
}

enum error_code redis_connection_wait(struct redis_connection *c, int argc, const char **argv,
                                      bool (*stopped)(void), struct redisReply **reply,
                                      struct error *err)
{
    *reply = NULL;
    enum error_code rc = redis_stream_is_open(&c->stream) ? ERROR_NONE : connect_now(c, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = send_command(c, argc, argv, NULL, err);
    const int64_t until = clock_ms() + c->answer_ms;
    while (rc == ERROR_NONE && !redis_stream_wait(&c->stream, LOOK_MS) && clock_ms() < until)
        if (stopped()) {
            disconnect(c);
            return ERROR_NONE;
        }
    return rc == ERROR_NONE ? take_answer(c, argv, reply, NULL, err) : rc;
}

enum error_code redis_connection_send(struct redis_connection *c, const struct redis_text *argument,
                                      int count, struct error *err)
{
    const char *data[ARGUMENTS_AT_ONCE];
    size_t size[ARGUMENTS_AT_ONCE];
    const char **argv = data;
    size_t *length = size;
    enum error_code rc = ERROR_NONE;
    if (count > ARGUMENTS_AT_ONCE) {
        rc = memory_new(&argv, (size_t)count, "a command", err);
        if (rc == ERROR_NONE)
            rc = memory_new(&length, (size_t)count, "a command", err);
    }
    for (int i = 0; rc == ERROR_NONE && i < count; i++) {
        argv[i] = argument[i].data;
        length[i] = argument[i].size;
    }
    if (rc == ERROR_NONE)
        rc = send_command(c, count, argv, length, err);
    if (argv != data)
        memory_free(argv);
    if (length != size)
        memory_free(length);
    return rc;
}

enum error_code redis_connection_receive(struct redis_connection *c, struct redisReply **reply,
                                         struct error *err)
{
    return next_answer(c, reply, err);
}

static enum error_code load_script(struct redis_connection *c, struct redis_script *script,
                                   struct error *err)
{
    struct redisReply *reply = NULL;
    const char *argv[] = {"SCRIPT", "LOAD", script->text};
    enum error_code rc = redis_connection_call(c, 3, argv, &reply, err);
    const char *hash = redis_reply_text(reply);
    if (rc == ERROR_NONE && (!*hash || !text_copy(script->sha, sizeof script->sha, hash)))
        rc = error_set(err, ERROR_IO, "Redis at %s: SCRIPT LOAD answered no hash", c->url);
    redis_reply_free(reply);
    return rc;
}

enum error_code redis_connection_run(struct redis_connection *c, struct redis_script *script,
                                     int argc, const char **argv, struct redisReply **reply,
                                     struct error *err)
{
    bool unknown_script = false;
    *reply = NULL;
    enum error_code rc = script->sha[0] ? ERROR_NONE : load_script(c, script, err);
    if (rc == ERROR_NONE && !redis_stream_is_open(&c->stream))
        rc = connect_now(c, err);
    if (rc != ERROR_NONE)
        return rc;
    argv[0] = "EVALSHA";
    argv[1] = script->sha;
    rc = command(c, argc, argv, reply, &unknown_script, err);
    if (rc == ERROR_NONE || !unknown_script)
        return rc;
    argv[0] = "EVAL"; /* the server was restarted; EVAL also makes it store the script */
    argv[1] = script->text;
    return command(c, argc, argv, reply, NULL, err);
}

enum error_code redis_reply_decode(const char *bytes, size_t size, struct redisReply **reply,
                                   struct error *err)
{
    void *answer = NULL;
    enum error_code rc = ERROR_NONE;
    redisReader *reader = redisReaderCreate();
    *reply = NULL;
    if (!reader)
        return error_set(err, ERROR_NO_MEMORY, "no memory for a reader of replies");
    guard_reader(reader);
    if (redisReaderFeed(reader, bytes, size) != REDIS_OK ||
        redisReaderGetReply(reader, &answer) != REDIS_OK)
        rc = error_set(err, ERROR_UNAVAILABLE, "no reply of Redis: %s", reader->errstr);
    *reply = answer;
    redisReaderFree(reader);
    return rc;
}

void redis_reply_free(struct redisReply *reply)
{
    if (reply)
        freeReplyObject(reply);
}

const char *redis_reply_error(const struct redisReply *reply)
{
    return reply && reply->type == REDIS_REPLY_ERROR ? reply->str : NULL;
}

const char *redis_reply_bytes(const struct redisReply *reply, size_t *size)
{
    const bool is_text = redis_reply_is_text(reply);
    *size = is_text ? (size_t)reply->len : 0;
    return is_text ? reply->str : NULL;
}

bool redis_reply_is_array(const struct redisReply *reply)
{
    return reply && reply->type == REDIS_REPLY_ARRAY;
}

int64_t redis_reply_count(const struct redisReply *reply)
{
    return redis_reply_is_array(reply) ? (int64_t)reply->elements : 0;
}

const struct redisReply *redis_reply_item(const struct redisReply *reply, int64_t index)
{
    return index >= 0 && index < redis_reply_count(reply) ? reply->element[index] : NULL;
}

bool redis_reply_is_text(const struct redisReply *reply)
{
    return reply && (reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS);
}

const char *redis_reply_text(const struct redisReply *reply)
{
    return redis_reply_is_text(reply) ? reply->str : "";
}

bool redis_reply_is_integer(const struct redisReply *reply, int64_t *value)
{
    if (reply && reply->type == REDIS_REPLY_INTEGER) {
        *value = reply->integer;
        return true;
    }
    const char *text = redis_reply_text(reply);
    return text_int64(text, strlen(text), value);
}
