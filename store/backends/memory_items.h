/*
 * memory_items - what lies in a store in memory: bytes by kind, key and file, in a list that is sorted by them.
 */
#ifndef STORE_BACKENDS_MEMORY_ITEMS_H
#define STORE_BACKENDS_MEMORY_ITEMS_H

#include "common/base/error.h"
#include "common/base/file.h"
#include "store/objects/keys.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMORY_FILE_NAME_SIZE = 128 };

/* In the order in which a key's items are listed. */
enum memory_item_kind { ITEM_RECORD, ITEM_ARTIFACT, ITEM_FILE, ITEM_REF, ITEM_NOTE };

struct memory_item {
    enum memory_item_kind kind;
    char key[KEY_SIZE];
    char file[MEMORY_FILE_NAME_SIZE]; /* of an artifact */
    uint8_t *data;                    /* [size] */
    size_t size;
    int64_t put_ms;           /* of the process's clock */
    struct memory_item *next; /* in the order of keys, kinds and files */
};

struct memory_place {
    char name[FILE_PATH_SIZE]; /* "": free */
    struct memory_item *first;
    char scratch[FILE_PATH_SIZE]; /* "": none yet */
    int scratch_count;
};

extern pthread_mutex_t
    memory_store_lock; /* over all places; held while the functions below are called */

/* Where the item is, or would be put. */
struct memory_item **memory_item_find_file(struct memory_place *place, enum memory_item_kind kind,
                                           const char *key, const char *file, bool *found);
/* NULL: there is none. */
struct memory_item **memory_item_find(struct memory_place *place, enum memory_item_kind kind,
                                      const char *key);
void memory_item_drop(struct memory_item **at);
enum error_code memory_item_no_memory(const char *key, struct error *err);
/* In the place of what was there. Its bytes are given by the caller, who still has them after a failure. */
MUST_CHECK enum error_code memory_item_put(struct memory_place *place, enum memory_item_kind kind,
                                           const char *key, const char *file, uint8_t *data,
                                           size_t size, struct error *err);
MUST_CHECK enum error_code memory_item_put_copy(struct memory_place *place,
                                                enum memory_item_kind kind, const char *key,
                                                const void *bytes, size_t size, struct error *err);

#endif
