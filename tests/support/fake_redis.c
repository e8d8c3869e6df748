#include "tests/support/fake_redis.h"

#include "common/base/clock.h"
#include "common/base/error.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { COMMAND_SIZE = 65536, WAIT_MS = 10000 };

/* Reads one word of a command and appends it to the record; returns false at the end of the
 * connection. */
static bool read_line(FILE *in, char *out, int size)
{
    return fgets(out, size, in) != NULL;
}

static bool read_word(FILE *in, char *word)
{
    char line[32];
    if (!read_line(in, line, sizeof line))
        return false;
    const long size = strtol(line + 1, NULL, 10);
    must(line[0] == '$' && size >= 0 && size + 2 < COMMAND_SIZE);
    word[size] = '\0';
    return fread(word, 1, (size_t)size, in) == (size_t)size && fgetc(in) == '\r' &&
           fgetc(in) == '\n';
}

static void note(struct fake_redis *fake, const char *word, char end)
{
    const size_t used = strlen(fake->heard);
    (void)snprintf(fake->heard + used, sizeof fake->heard - used, "%s%c", word, end);
}

/* Reads the next command, and returns the answer to it; NULL at the end. */
static const char *next_answer(struct fake_redis *fake, FILE *in, char *word)
{
    char line[32];
    if (!read_line(in, line, sizeof line))
        return NULL;
    must(line[0] == '*');
    const long count = strtol(line + 1, NULL, 10);
    for (long i = 0; i < count; i++) {
        if (!read_word(in, word))
            return NULL;
        (void)pthread_mutex_lock(&fake->lock);
        note(fake, word, i + 1 < count ? ' ' : ';');
        (void)pthread_mutex_unlock(&fake->lock);
    }
    (void)pthread_mutex_lock(&fake->lock);
    const int at = fake->answered < fake->answer_count ? fake->answered : fake->answer_count - 1;
    const char *answer = fake->answer[at];
    fake->answered++;
    (void)pthread_mutex_unlock(&fake->lock);
    return answer;
}

static void serve(struct fake_redis *fake, int connection)
{
    const char *answer = NULL;
    FILE *in = fdopen(dup(connection), "r");
    char *word = malloc(COMMAND_SIZE);
    must(in != NULL && word != NULL);
    while ((answer = next_answer(fake, in, word)) && strcmp(answer, FAKE_REDIS_CLOSES) != 0)
        if (strcmp(answer, FAKE_REDIS_WAITS) != 0)
            (void)!send(connection, answer, strlen(answer), MSG_NOSIGNAL);
    free(word);
    (void)fclose(in);
}

static void *run(void *context)
{
    struct fake_redis *fake = context;
    for (;;) {
        const int connection = accept(fake->listener, NULL, NULL);
        (void)pthread_mutex_lock(&fake->lock);
        const bool is_closing = fake->is_closing || connection < 0;
        fake->connection_plus_one = is_closing ? 0 : connection + 1;
        (void)pthread_mutex_unlock(&fake->lock);
        if (!is_closing)
            serve(fake, connection);
        (void)pthread_mutex_lock(&fake->lock);
        fake->connection_plus_one = 0;
        (void)pthread_mutex_unlock(&fake->lock);
        if (connection >= 0)
            (void)close(connection);
        if (is_closing)
            return NULL;
    }
}

void fake_redis_open(struct fake_redis *fake, const char *const *answer, int answer_count)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    *fake = (struct fake_redis){.answer = answer, .answer_count = answer_count};
    fake->listener = socket(AF_INET, SOCK_STREAM, 0);
    must(fake->listener >= 0);
    must(bind(fake->listener, (const struct sockaddr *)&address, size) == 0);
    must(listen(fake->listener, 16) == 0);
    must(getsockname(fake->listener, (struct sockaddr *)&address, &size) == 0);
    (void)snprintf(fake->url, sizeof fake->url, "redis://127.0.0.1:%d", ntohs(address.sin_port));
    must(pthread_mutex_init(&fake->lock, NULL) == 0);
    must(pthread_create(&fake->thread, NULL, run, fake) == 0);
}

void fake_redis_answers(struct fake_redis *fake, const char *const *answer, int answer_count)
{
    (void)pthread_mutex_lock(&fake->lock);
    fake->answer = answer;
    fake->answer_count = answer_count;
    fake->answered = 0;
    fake->heard[0] = '\0';
    (void)pthread_mutex_unlock(&fake->lock);
}

bool fake_redis_heard(struct fake_redis *fake, const char *expected)
{
    const int64_t until = clock_ms() + WAIT_MS;
    bool same = false;
    while (!same && clock_ms() < until) {
        (void)pthread_mutex_lock(&fake->lock);
        same = strcmp(fake->heard, expected) == 0;
        (void)pthread_mutex_unlock(&fake->lock);
        if (!same)
            clock_sleep_ms(1);
    }
    return same;
}

void fake_redis_close(struct fake_redis *fake)
{
    (void)pthread_mutex_lock(&fake->lock);
    fake->is_closing = true;
    if (fake->connection_plus_one)
        (void)shutdown(fake->connection_plus_one - 1, SHUT_RDWR);
    (void)pthread_mutex_unlock(&fake->lock);
    (void)shutdown(fake->listener, SHUT_RDWR);
    (void)pthread_join(fake->thread, NULL);
    (void)close(fake->listener);
    (void)pthread_mutex_destroy(&fake->lock);
}
