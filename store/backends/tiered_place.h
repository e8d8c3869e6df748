/*
 * tiered_place - an open tiered store, for the files that make it up.
 */
#ifndef STORE_BACKENDS_TIERED_PLACE_H
#define STORE_BACKENDS_TIERED_PLACE_H

#include "store/backends/tiered_keys.h"
#include "store/objects/object_store.h"

#include <pthread.h>
#include <stdbool.h>

/* One of the two, open. */
struct tier_store {
    const struct object_backend *backend; /* NULL: there is none */
    void *state;
};

struct tiered_place {
    struct tier_store durable;
    pthread_mutex_t lock; /* over what follows */
    struct tier_store fast;
    const char *fast_name; /* in `address` */
    struct object_options options;
    char address[FILE_PATH_SIZE];
};

/* The fast store, for reading: *out is {0} where there is none. With `make` one that is missing is made. */
MUST_CHECK enum error_code tiered_fast(struct tiered_place *place, bool make,
                                       struct tier_store *out, struct error *err);

/* --- tiered_records.c: functions of the table (object_store.h) --- */

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
