/*
 * first_failure - what went wrong in the tiles of a loop (thread_pool.h), whose bodies return nothing.
 *
 * Of several failures that of the lowest tile is kept.
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
/* ERROR_NONE is no failure. Threads: any number. */
void first_failure_keep(struct first_failure *failure, enum error_code code, int64_t tile,
                        const struct error *err);
/* What the loop returns. */
MUST_CHECK enum error_code first_failure_end(struct first_failure *failure, struct error *err);

#endif
