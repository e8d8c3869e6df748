#include "common/parallel/first_failure.h"

void first_failure_init(struct first_failure *failure)
{
    *failure = (struct first_failure){.code = ERROR_NONE};
    must(pthread_mutex_init(&failure->lock, NULL) == 0);
}

void first_failure_keep(struct first_failure *failure, enum error_code code, int64_t tile,
                        const struct error *err)
{
    if (code == ERROR_NONE)
        return;
    (void)pthread_mutex_lock(&failure->lock);
    if (failure->code == ERROR_NONE || tile < failure->tile) {
        failure->code = code;
        failure->tile = tile;
        failure->error = *err;
    }
    (void)pthread_mutex_unlock(&failure->lock);
}

enum error_code first_failure_end(struct first_failure *failure, struct error *err)
{
    (void)pthread_mutex_destroy(&failure->lock);
    if (failure->code != ERROR_NONE && err)
        *err = failure->error;
    return failure->code;
}
