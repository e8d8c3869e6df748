/*
 * first_failure - keeps the failure of the tiles of a loop (thread_pool.h), whose bodies return
 * nothing.
 *
 * If several tiles fail, it keeps the failure of the lowest tile, so the result does not depend on
 * threads.
 */
#ifndef COMMON_PARALLEL_FIRST_FAILURE_H
#define COMMON_PARALLEL_FIRST_FAILURE_H

#include "common/base/error.h"

#include <pthread.h>
#include <stdint.h>

struct first_failure { /* from first_failure_init() to first_failure_end() */
    pthread_mutex_t lock;
    enum error_code code;
    int64_t tile;
    struct error error;
};

void first_failure_init(struct first_failure *failure);
/* Keeps a failure; ERROR_NONE is ignored. Threads: any number. */
void first_failure_keep(struct first_failure *failure, enum error_code code, int64_t tile,
                        const struct error *err);
/* Returns the failure of the loop. */
MUST_CHECK enum error_code first_failure_end(struct first_failure *failure, struct error *err);

#endif
