/*
 * tiered_place - an open tiered store, and the functions that its files share.
 */
#ifndef STORE_BACKENDS_TIERED_TIERED_PLACE_H
#define STORE_BACKENDS_TIERED_TIERED_PLACE_H

#include "store/backends/tiered/tiered_keys.h"
#include "store/objects/object_store.h"

#include <pthread.h>
#include <stdbool.h>

/* One of the two stores, open. */
struct tier_store {
    const struct object_backend *backend; /* NULL if there is none */
    void *state;
};

struct tiered_place {
    struct tier_store durable;
    pthread_mutex_t lock; /* guards the members below */
    struct tier_store fast;
    const char *fast_name; /* points into `address` */
    struct object_options options;
    char address[FILE_PATH_SIZE];
};

/* Returns the fast store in *out, or {0} if there is none. With `make`, a missing one is made. */
MUST_CHECK enum error_code tiered_fast(struct tiered_place *place, bool make,
                                       struct tier_store *out, struct error *err);

/* --- tiered_records.c: entries of the object_backend (object_store.h) --- */

MUST_CHECK enum error_code tiered_put(void *state, const char *key, const struct object_body *body,
                                      enum store_durability durability, bool *existed,
                                      struct error *err);
MUST_CHECK enum error_code tiered_flush(void *state, const char *key, struct error *err);
void tiered_get_many(void *state, struct object_get *get, size_t count);
MUST_CHECK enum error_code tiered_delete_if_match(void *state, const char *key,
                                                  const struct stored_bytes *seen,
                                                  struct error *err);
MUST_CHECK enum error_code tiered_has(void *state, const char *key, bool *found, struct error *err);
MUST_CHECK enum error_code tiered_remove(void *state, const char *key, struct error *err);

/* --- tiered_list.c --- */

MUST_CHECK enum error_code tiered_list(void *state, const char *prefix, const char *after,
                                       store_visitor visit, void *context, struct error *err);

#endif
