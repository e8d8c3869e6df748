/*
 * fake_redis - a server that answers what a test wants, on a port of the loopback device.
 *
 * It takes one connection after the other, reads whole commands, and answers each with the next of the test's texts
 * (the last one again when there are no more).
 */
#ifndef TESTS_SUPPORT_FAKE_REDIS_H
#define TESTS_SUPPORT_FAKE_REDIS_H

#include <pthread.h>
#include <stdbool.h>

enum { FAKE_REDIS_HEARD_SIZE = 4096 };

/* Instead of a text: the connection is closed without an answer, or nothing is answered at all. */
#define FAKE_REDIS_CLOSES "close"
#define FAKE_REDIS_WAITS  "wait"

struct fake_redis {
    char url[64]; /* redis://127.0.0.1:<port> */
    const char *const *answer;
    int answer_count, answered;
    int listener;
    int connection_plus_one;
    pthread_t thread;
    pthread_mutex_t lock; /* over all but the listener */
    bool is_closing;
    char heard[FAKE_REDIS_HEARD_SIZE]; /* the commands, "PING;AUTH secret;" */
};

/* Aborts the program when there is no port. The answers stay the caller's. */
void fake_redis_open(struct fake_redis *fake, const char *const *answer, int answer_count);
/* Other answers from the next command on; what was heard is forgotten. */
void fake_redis_answers(struct fake_redis *fake, const char *const *answer, int answer_count);
/* Whether exactly these commands were heard since, or soon are: a command may be on its way yet. */
bool fake_redis_heard(struct fake_redis *fake, const char *expected);
void fake_redis_close(struct fake_redis *fake);

#endif
