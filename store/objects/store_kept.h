/*
 * store_kept - one thing that was made of records, at hand while the store is open, so that who asks for it again does not make it again.
 *
 * It is one, the last that was kept: what was kept before goes when nobody uses it any more. Records do not change, and so it has only to be
 * named by what it was made of. Threads: any at once.
 */
#ifndef STORE_OBJECTS_STORE_KEPT_H
#define STORE_OBJECTS_STORE_KEPT_H

#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdatomic.h>

struct kept_object { /* the first member of what is kept */
    char name[ID_SIZE];
    void (*free)(struct kept_object *object);
    atomic_int users; /* 1 at first: who made it */
};

/* The object of that name, or NULL when another is kept, or none. Give it back with kept_object_drop(). */
struct kept_object *store_kept_take(struct store *store, const char *name);
/* Keeps it, in the place of another. Its maker goes on using it, and drops it in the end. */
void store_kept_set(struct store *store, struct kept_object *object);
void store_kept_forget(struct store *store);
/* Frees it when nobody else uses it. NULL is fine. */
void kept_object_drop(struct kept_object *object);

#endif
