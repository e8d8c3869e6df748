/*
 * store_state - the fields of an open store, for the files that implement store.h.
 */
#ifndef STORE_OBJECTS_STORE_STATE_H
#define STORE_OBJECTS_STORE_STATE_H

#include "common/base/error.h"
#include "store/objects/object_store.h"
#include "store/objects/store.h"
#include "store/objects/store_kept.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct store {
    const struct object_backend *backend;
    void *state;
    unsigned flags;
    struct store_cache cache;
    pthread_mutex_t lock;     /* guards `replay` and `kept` */
    struct kept_object *kept; /* store_kept.h */
    struct store_replay replay;
    atomic_uint_least64_t records_read, bytes_read, records_written, bytes_written;
};

/* Checks that `key` has the form that store.h describes. Fails: ERROR_INVALID. */
MUST_CHECK enum error_code store_check_key(const char *key, struct error *err);
/* Checks the same before a write, which a read-only store refuses. */
MUST_CHECK enum error_code store_check_change(const struct store *store, const char *key,
                                              struct error *err);

#endif
