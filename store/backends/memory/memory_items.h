/*
 * memory_items - the items of a store in memory: a list of byte arrays, sorted by key, kind and
 * file.
 */
#ifndef STORE_BACKENDS_MEMORY_MEMORY_ITEMS_H
#define STORE_BACKENDS_MEMORY_MEMORY_ITEMS_H

#include "common/base/error.h"
#include "common/files/file.h"
#include "store/objects/keys.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMORY_FILE_NAME_SIZE = 128 };

/* The kinds of items, in the order in which the items of one key are listed. */
enum memory_item_kind { ITEM_RECORD, ITEM_ARTIFACT, ITEM_FILE, ITEM_REF, ITEM_NOTE };

struct memory_item {
    enum memory_item_kind kind;
    char key[KEY_SIZE];
    char file[MEMORY_FILE_NAME_SIZE]; /* of an artifact */
    uint8_t *data;                    /* [size] */
    size_t size;
    int64_t put_ms;           /* by the clock of the process */
    struct memory_item *next; /* in the order of keys, kinds and files */
};

struct memory_place {
    char name[FILE_PATH_SIZE]; /* "" if the place is free */
    struct memory_item *first;
    char scratch[FILE_PATH_SIZE]; /* "" if none was made yet */
    int scratch_count;
};

extern pthread_mutex_t
    memory_store_lock; /* guards all places; held by the caller of the functions below */

/* Returns the link to the item, or the link where it would be inserted (*found false). */
struct memory_item **memory_item_find_file(struct memory_place *place, enum memory_item_kind kind,
                                           const char *key, const char *file, bool *found);
/* Returns the link to the item, or NULL if there is none. */
struct memory_item **memory_item_find(struct memory_place *place, enum memory_item_kind kind,
                                      const char *key);
void memory_item_drop(struct memory_item **at);
enum error_code memory_item_no_memory(const char *key, struct error *err);
/* Puts an item in place of the one that was there. Takes `data` from the caller, unless it
 * fails. */
MUST_CHECK enum error_code memory_item_put(struct memory_place *place, enum memory_item_kind kind,
                                           const char *key, const char *file, uint8_t *data,
                                           size_t size, struct error *err);
MUST_CHECK enum error_code memory_item_put_copy(struct memory_place *place,
                                                enum memory_item_kind kind, const char *key,
                                                const void *bytes, size_t size, struct error *err);

#endif
