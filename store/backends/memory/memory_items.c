#include "store/backends/memory/memory_items.h"

#include "common/base/clock.h"
#include "common/base/text.h"

#include <stdlib.h>
#include <string.h>

pthread_mutex_t memory_store_lock = PTHREAD_MUTEX_INITIALIZER;

static int item_order(const struct memory_item *item, enum memory_item_kind kind, const char *key,
                      const char *file)
{
    const int by_key = strcmp(item->key, key);
    if (by_key)
        return by_key;
    return item->kind != kind ? (int)item->kind - (int)kind : strcmp(item->file, file);
}

struct memory_item **memory_item_find_file(struct memory_place *place, enum memory_item_kind kind,
                                           const char *key, const char *file, bool *found)
{
    struct memory_item **at = &place->first;
    while (*at && item_order(*at, kind, key, file) < 0)
        at = &(*at)->next;
    *found = *at && item_order(*at, kind, key, file) == 0;
    return at;
}

struct memory_item **memory_item_find(struct memory_place *place, enum memory_item_kind kind,
                                      const char *key)
{
    bool found = false;
    struct memory_item **at = memory_item_find_file(place, kind, key, "", &found);
    return found ? at : NULL;
}

void memory_item_drop(struct memory_item **at)
{
    struct memory_item *gone = *at;
    *at = gone->next;
    free(gone->data);
    free(gone);
}

enum error_code memory_item_no_memory(const char *key, struct error *err)
{
    return error_set(err, ERROR_NO_MEMORY, "no memory to hold %s", key);
}

enum error_code memory_item_put(struct memory_place *place, enum memory_item_kind kind,
                                const char *key, const char *file, uint8_t *data, size_t size,
                                struct error *err)
{
    bool found = false;
    struct memory_item **at = memory_item_find_file(place, kind, key, file, &found),
                       *item = calloc(1, sizeof *item);
    if (!item)
        return memory_item_no_memory(key, err);
    if (found)
        memory_item_drop(at);
    item->kind = kind;
    item->data = data;
    item->size = size;
    item->put_ms = clock_ms();
    item->next = *at;
    must(text_copy(item->key, KEY_SIZE, key) && text_copy(item->file, MEMORY_FILE_NAME_SIZE, file));
    *at = item;
    return ERROR_NONE;
}

enum error_code memory_item_put_copy(struct memory_place *place, enum memory_item_kind kind,
                                     const char *key, const void *bytes, size_t size,
                                     struct error *err)
{
    uint8_t *data = malloc(size + 1);
    if (!data)
        return memory_item_no_memory(key, err);
    if (size)
        memcpy(data, bytes, size);
    const enum error_code rc = memory_item_put(place, kind, key, "", data, size, err);
    if (rc != ERROR_NONE)
        free(data);
    return rc; /* on success the item owns it. NOLINT(clang-analyzer-unix.Malloc) */
}
