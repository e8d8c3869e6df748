#include "store/objects/store_kept.h"

#include "store/objects/store_state.h"

#include <string.h>

struct kept_object *store_kept_take(struct store *store, const char *name)
{
    struct kept_object *found = NULL;
    (void)pthread_mutex_lock(&store->lock);
    if (store->kept && strcmp(store->kept->name, name) == 0) {
        found = store->kept;
        (void)atomic_fetch_add(&found->users, 1);
    }
    (void)pthread_mutex_unlock(&store->lock);
    return found;
}

static void exchange(struct store *store, struct kept_object *object)
{
    (void)pthread_mutex_lock(&store->lock);
    struct kept_object *before = store->kept;
    store->kept = object;
    (void)pthread_mutex_unlock(&store->lock);
    kept_object_drop(before);
}

void store_kept_set(struct store *store, struct kept_object *object)
{
    (void)atomic_fetch_add(&object->users, 1);
    exchange(store, object);
}

void store_kept_forget(struct store *store)
{
    exchange(store, NULL);
}

void kept_object_drop(struct kept_object *object)
{
    if (object && atomic_fetch_sub(&object->users, 1) == 1)
        object->free(object);
}
