/*
 * fake_redis - a server that gives a test's answers, on a port of the loopback device.
 *
 * It accepts one connection after another, reads whole commands, and answers each with the next of
 * the test's texts (the last one again when there are no more).
 */
#ifndef TESTS_SUPPORT_FAKE_REDIS_H
#define TESTS_SUPPORT_FAKE_REDIS_H

#include <pthread.h>
#include <stdbool.h>

enum { FAKE_REDIS_HEARD_SIZE = 4096 };

/* In place of a text: the connection is closed without an answer, or stays silent. */
#define FAKE_REDIS_CLOSES "close"
#define FAKE_REDIS_WAITS  "wait"

struct fake_redis {
    char url[64]; /* redis://127.0.0.1:<port> */
    const char *const *answer;
    int answer_count, answered;
    int listener;
    int connection_plus_one;
    pthread_t thread;
    pthread_mutex_t lock; /* protects everything but the listener */
    bool is_closing;
    char heard[FAKE_REDIS_HEARD_SIZE]; /* the commands so far, "PING;AUTH secret;" */
};

/* Starts the server. Aborts the program when there is no port. The answers are borrowed. */
void fake_redis_open(struct fake_redis *fake, const char *const *answer, int answer_count);
/* Sets other answers from the next command on, and forgets the commands so far. */
void fake_redis_answers(struct fake_redis *fake, const char *const *answer, int answer_count);
/* Returns whether exactly these commands arrived since then, or arrive soon. */
bool fake_redis_heard(struct fake_redis *fake, const char *expected);
void fake_redis_close(struct fake_redis *fake);

#endif
