/*
 * store_kept - caches one object that was computed from records, while the store is open.
 *
 * A store keeps only the last object; the one before is freed when its last user drops it. Records
 * never change, so the name of an object only has to say what it was computed from. Threads: any at
 * once.
 */
#ifndef STORE_OBJECTS_STORE_KEPT_H
#define STORE_OBJECTS_STORE_KEPT_H

#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdatomic.h>

struct kept_object { /* the first member of a cached object */
    char name[ID_SIZE];
    void (*free)(struct kept_object *object);
    atomic_int users; /* 1 at first, for its maker */
};

/* Returns the object of that name, or NULL if it is not the one that is kept. The caller gives it
 * back with kept_object_drop(). */
struct kept_object *store_kept_take(struct store *store, const char *name);
/* Keeps `object` in place of the last one. Its maker may go on using it, and drops it in the
 * end. */
void store_kept_set(struct store *store, struct kept_object *object);
void store_kept_forget(struct store *store);
/* Drops one use of `object`, and frees it after the last one. NULL is allowed. */
void kept_object_drop(struct kept_object *object);

#endif
