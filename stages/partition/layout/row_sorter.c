#include "stages/partition/layout/row_sorter.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

enum { RUN = 16 };

static enum error_code reserve(struct row_sorter *sorter, uint64_t count, struct error *err)
{
    if (count <= sorter->capacity)
        return ERROR_NONE;
    row_sorter_release(sorter);
    enum error_code rc = memory_new(&sorter->key, count, "sorting a row", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&sorter->scratch, count, "sorting a row", err);
    if (rc == ERROR_NONE)
        rc = memory_new_bytes(&sorter->moved, count, sizeof(uint64_t), "sorting a row", err);
    if (rc == ERROR_NONE)
        sorter->capacity = count;
    return rc;
}

static void sort_run(uint64_t *key, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        const uint64_t moving = key[i];
        uint64_t at = i;
        for (; at > 0 && key[at - 1] > moving; at--)
            key[at] = key[at - 1];
        key[at] = moving;
    }
}

static void merge(const uint64_t *from, uint64_t middle, uint64_t end, uint64_t *to)
{
    uint64_t a = 0, b = middle;
    for (uint64_t at = 0; at < end; at++)
        to[at] = b == end || (a < middle && from[a] < from[b]) ? from[a++] : from[b++];
}

static void sort_keys(struct row_sorter *sorter, uint64_t count)
{
    for (uint64_t at = 0; at < count; at += RUN)
        sort_run(&sorter->key[at], count - at < RUN ? count - at : RUN);
    for (uint64_t width = RUN; width < count; width *= 2) {
        for (uint64_t at = 0; at < count; at += 2 * width) {
            const uint64_t end = count - at < 2 * width ? count - at : 2 * width;
            merge(&sorter->key[at], end < width ? end : width, end, &sorter->scratch[at]);
        }
        uint64_t *swapped = sorter->key;
        sorter->key = sorter->scratch;
        sorter->scratch = swapped;
    }
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
    sort_keys(sorter, count);
    for (uint64_t i = 0; i < count; i++)
        node[i] = (uint32_t)(sorter->key[i] >> 32);
    return ERROR_NONE;
}

void row_sorter_move(struct row_sorter *sorter, void *value, uint64_t count, size_t size)
{
    char *to = sorter->moved;
    must(count <= sorter->capacity && size <= sizeof(uint64_t));
    for (uint64_t i = 0; i < count; i++)
        memcpy(to + i * size, (const char *)value + (uint32_t)sorter->key[i] * size, size);
    memcpy(value, to, count * size);
}

void row_sorter_release(struct row_sorter *sorter)
{
    memory_free(sorter->key);
    memory_free(sorter->scratch);
    memory_free(sorter->moved);
    *sorter = (struct row_sorter){0};
}
