/*
 * store_state - what an open store is, for the files that make up store.h.
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
    pthread_mutex_t lock;     /* over `replay` and `kept` */
    struct kept_object *kept; /* store_kept.h */
    struct store_replay replay;
    atomic_uint_least64_t records_read, bytes_read, records_written, bytes_written;
};

/* Fails: ERROR_INVALID unless it is a key as store.h says. */
MUST_CHECK enum error_code store_check_key(const char *key, struct error *err);
/* The same for everything that writes, which a store for reading only refuses. */
MUST_CHECK enum error_code store_check_change(const struct store *store, const char *key,
                                              struct error *err);

#endif
