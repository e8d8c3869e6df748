#include "stages/partition/layout/row_sorter.h"

#include "common/base/memory.h"
#include "common/numbers/key_sort.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

static enum error_code reserve(struct row_sorter *sorter, uint64_t count, struct error *err)
{
    if (count <= sorter->capacity)
        return ERROR_NONE;
    memory_free(sorter->key);
    memory_free(sorter->scratch);
    sorter->scratch = NULL;
    sorter->capacity = 0;
    enum error_code rc = memory_new(&sorter->key, count, "sorting a row", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&sorter->scratch, count, "sorting a row", err);
    if (rc == ERROR_NONE)
        sorter->capacity = count;
    return rc;
}

static bool is_sorted(const uint32_t *node, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++)
        if (node[i - 1] > node[i])
            return false;
    return true;
}

enum error_code row_sorter_sort(struct row_sorter *sorter, uint32_t *node, uint64_t count,
                                bool *unchanged, struct error *err)
{
    *unchanged = is_sorted(node, count);
    if (*unchanged)
        return ERROR_NONE;
    if (count > UINT32_MAX)
        return error_set(err, ERROR_NO_MEMORY, "a row has %" PRIu64 " edges, expected below 2^32",
                         count);
    const enum error_code rc = reserve(sorter, count, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint64_t i = 0; i < count; i++)
        sorter->key[i] = (uint64_t)node[i] << 32 | i;
    key_sort(sorter->key, sorter->scratch, count);
    for (uint64_t i = 0; i < count; i++)
        node[i] = (uint32_t)(sorter->key[i] >> 32);
    return ERROR_NONE;
}

enum error_code row_sorter_move(struct row_sorter *sorter, void *value, uint64_t count, size_t size,
                                struct error *err)
{
    must(count <= sorter->capacity);
    if (count * size > sorter->moved_bytes) {
        memory_free(sorter->moved);
        sorter->moved_bytes = 0;
        const enum error_code rc =
            memory_new_bytes((void **)&sorter->moved, count, size, "sorting a row", err);
        if (rc != ERROR_NONE)
            return rc;
        sorter->moved_bytes = count * size;
    }
    for (uint64_t i = 0; i < count; i++)
        memcpy(sorter->moved + i * size, (const char *)value + (uint32_t)sorter->key[i] * size,
               size);
    memcpy(value, sorter->moved, count * size);
    return ERROR_NONE;
}

void row_sorter_release(struct row_sorter *sorter)
{
    memory_free(sorter->key);
    memory_free(sorter->scratch);
    memory_free(sorter->moved);
    *sorter = (struct row_sorter){0};
}
