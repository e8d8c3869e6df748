/* redis_command - sends a command to a Redis without the knowledge of the code under test. */
#ifndef TESTS_SUPPORT_REDIS_COMMAND_H
#define TESTS_SUPPORT_REDIS_COMMAND_H

#include "store/redis/redis_connection.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

enum { REDIS_WORDS_MAX = 16, REDIS_ANSWER_SIZE = 4096 };

/* Sends one command as words separated by blanks. The first text of the answer is stored in
 * `answer`, unless that is NULL. */
static inline void redis_command(const char *url, const char *words, char *answer)
{
    char text[1024], *save = NULL;
    const char *argv[REDIS_WORDS_MAX];
    int argc = 0;
    struct error err = {0};
    struct redis_connection *connection = NULL;
    struct redisReply *reply = NULL;
    assert_true(snprintf(text, sizeof text, "%s", words) < (int)sizeof text);
    for (char *word = strtok_r(text, " ", &save); word && argc < REDIS_WORDS_MAX;
         word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    assert_ok(redis_connection_new(url, NULL, &connection, &err), &err);
    assert_ok(redis_connection_call(connection, argc, argv, &reply, &err), &err);
    if (answer) {
        const struct redisReply *item = reply;
        while (redis_reply_count(item) > 0)
            item = redis_reply_item(item, 0);
        (void)snprintf(answer, REDIS_ANSWER_SIZE, "%s", redis_reply_text(item));
    }
    redis_reply_free(reply);
    redis_connection_free(connection);
}

#endif
