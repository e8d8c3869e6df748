#include "store/queue/redis_connection.h"

#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/queue/redis_address.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

enum {
    PASSWORD_SIZE = 512,
    LOOK_MS = 100,
    ELEMENTS_MAX = 65536, /* of an array in a reply */
};

struct redis_connection {
    redisContext *context; /* NULL between a failure and the next call */
    int64_t generation;
    char url[REDIS_URL_SIZE];
    struct redis_address address;
    char db[8];                   /* of the address, as text */
    char password[PASSWORD_SIZE]; /* "" : none */
};

#if HIREDIS_MAJOR >= 1
typedef size_t element_count;
#else
typedef int element_count;
#endif

/* hiredis allocates an array when its length is announced: a few bytes could ask for gigabytes. */
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

static enum error_code read_password(const char *path, struct redis_connection *c,
                                     struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    if (!path)
        return ERROR_NONE;
    const enum error_code rc = file_read(path, PASSWORD_SIZE - 1, &text, &size, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "the password of Redis");
    text[strcspn(text, "\r\n")] = '\0';
    (void)text_copy(c->password, sizeof c->password, text);
    memory_free(text);
    return ERROR_NONE;
}

static struct timeval milliseconds(int64_t ms)
{
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
}

static void disconnect(struct redis_connection *c)
{
    if (c->context)
        redisFree(c->context);
    c->context = NULL;
}

/* Closes a connection that is out of step and says why. */
static enum error_code unavailable(struct redis_connection *c, struct error *err)
{
    const enum error_code rc =
        error_set(err, ERROR_UNAVAILABLE, "Redis at %s: %s", c->url,
                  c->context && c->context->errstr[0] ? c->context->errstr : "no connection");
    disconnect(c);
    return rc;
}

static bool starts_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static bool says_one_of(const char *text, bool anywhere, const char *const *word, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (anywhere ? strstr(text, word[i]) != NULL : starts_with(text, word[i]))
            return true;
    return false;
}

/* What the caller can do about an error that the server answered. Servers before 7 put the error of a command
 * behind that of the script it was in. */
static enum error_code code_of_answer(const char *text)
{
    static const char *const later[] = {"LOADING",    "BUSY",        "READONLY", "OOM",
                                        "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MISCONF"};
    static const char *const refused[] = {"NOAUTH", "WRONGPASS", "NOPERM", "ERR invalid password",
                                          "ERR AUTH"};
    const bool in_script = strstr(text, "user_script") != NULL;
    if (starts_with(text, "NOGROUP") || starts_with(text, "UNBLOCKED"))
        return ERROR_NOT_FOUND;
    if (says_one_of(text, in_script, later, sizeof later / sizeof *later))
        return ERROR_UNAVAILABLE;
    if (says_one_of(text, in_script, refused, sizeof refused / sizeof *refused))
        return ERROR_INVALID;
    return in_script || starts_with(text, "WRONGTYPE") ? ERROR_CORRUPT : ERROR_IO;
}

/* Looks at the answer to a command; *unknown_script: it was NOSCRIPT. */
static enum error_code check_answer(struct redis_connection *c, const char **argv,
                                    struct redisReply **reply, bool *unknown_script,
                                    struct error *err)
{
    if (!*reply)
        return unavailable(c, err);
    if ((*reply)->type != REDIS_REPLY_ERROR)
        return ERROR_NONE;
    if (unknown_script)
        *unknown_script = starts_with((*reply)->str, "NOSCRIPT");
    const enum error_code rc = error_set(err, code_of_answer((*reply)->str), "Redis at %s: %s: %s",
                                         c->url, argv[0], (*reply)->str);
    freeReplyObject(*reply);
    *reply = NULL;
    return rc;
}

/* One command on the connection as it is. */
static enum error_code command(struct redis_connection *c, int argc, const char **argv,
                               struct redisReply **reply, bool *unknown_script, struct error *err)
{
    *reply = redisCommandArgv(c->context, argc, argv, NULL);
    return check_answer(c, argv, reply, unknown_script, err);
}

/* Sends one command; the answer is still to come. */
static bool send_command(struct redis_connection *c, int argc, const char **argv)
{
    int done = 0;
    bool sent = redisAppendCommandArgv(c->context, argc, argv, NULL) == REDIS_OK;
    while (sent && !done)
        sent = redisBufferWrite(c->context, &done) == REDIS_OK;
    return sent;
}

static enum error_code connect_now(struct redis_connection *c, struct error *err)
{
    const struct timeval connect_timeout = milliseconds(REDIS_CONNECT_TIMEOUT_MS);
    const struct redis_address *to = &c->address;
    c->context = to->is_unix ? redisConnectUnixWithTimeout(to->host, connect_timeout)
                             : redisConnectWithTimeout(to->host, to->port, connect_timeout);
    if (!c->context || c->context->err)
        return unavailable(c, err);
    guard_reader(c->context->reader);
    if (redisSetTimeout(c->context, milliseconds(REDIS_ANSWER_TIMEOUT_MS)) != REDIS_OK)
        return unavailable(c, err);
    if (!to->is_unix)
        (void)redisEnableKeepAlive(c->context); /* an optimisation: a timeout finds it as well */
    c->generation++;

    struct redisReply *reply = NULL;
    enum error_code rc = ERROR_NONE;
    const char *auth[] = {"AUTH", c->password}, *select[] = {"SELECT", c->db};
    if (c->password[0])
        rc = command(c, 2, auth, &reply, NULL, err);
    redis_reply_free(reply);
    reply = NULL;
    if (rc == ERROR_NONE && strcmp(c->db, "0") != 0)
        rc = command(c, 2, select, &reply, NULL, err);
    redis_reply_free(reply);
    if (rc != ERROR_NONE)
        disconnect(c);
    return rc;
}

enum error_code redis_connection_new(const char *url, const char *password_file,
                                     struct redis_connection **out, struct error *err)
{
    struct redis_connection *c = NULL;
    *out = NULL;
    enum error_code rc = memory_new(&c, 1, "a Redis connection", err);
    if (rc == ERROR_NONE)
        rc = redis_address_parse(url, &c->address, err);
    if (rc == ERROR_NONE) {
        must(text_copy(c->url, sizeof c->url, url));
        (void)snprintf(c->db, sizeof c->db, "%d", c->address.db);
    }
    if (rc == ERROR_NONE)
        rc = read_password(password_file, c, err);
    if (rc == ERROR_NONE)
        rc = connect_now(c, err);
    if (rc == ERROR_NONE)
        *out = c;
    else
        redis_connection_free(c);
    return rc;
}

void redis_connection_free(struct redis_connection *c)
{
    if (!c)
        return;
    disconnect(c);
    memset(c->password, 0, sizeof c->password);
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
    const enum error_code rc = c->context ? ERROR_NONE : connect_now(c, err);
    return rc == ERROR_NONE ? command(c, argc, argv, reply, NULL, err) : rc;
}

enum error_code redis_connection_wait(struct redis_connection *c, int argc, const char **argv,
                                      bool (*stopped)(void), struct redisReply **reply,
                                      struct error *err)
{
    *reply = NULL;
    const enum error_code rc = c->context ? ERROR_NONE : connect_now(c, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!send_command(c, argc, argv))
        return unavailable(c, err);
    struct pollfd entry = {.fd = c->context->fd, .events = POLLIN};
    const int64_t until = clock_ms() + REDIS_ANSWER_TIMEOUT_MS;
    while (poll(&entry, 1, LOOK_MS) <= 0 && clock_ms() < until)
        if (stopped()) {
            disconnect(c);
            return ERROR_NONE;
        }
    void *answer = NULL;
    if (entry.revents && redisGetReply(c->context, &answer) == REDIS_OK)
        *reply = answer;
    return check_answer(c, argv, reply, NULL, err);
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
    if (rc == ERROR_NONE && !c->context)
        rc = connect_now(c, err);
    if (rc != ERROR_NONE)
        return rc;
    argv[0] = "EVALSHA";
    argv[1] = script->sha;
    rc = command(c, argc, argv, reply, &unknown_script, err);
    if (rc == ERROR_NONE || !unknown_script)
        return rc;
    argv[0] = "EVAL"; /* a server that was started anew; EVAL also makes it remember */
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
