#include "stages/ingest/build/nodes/node_id_assigner.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/checksum.h"

#include <inttypes.h>
#include <string.h>

enum { FIRST_CAPACITY = 1024, FIRST_SLOTS = 2048, FIRST_TEXT = 16384 };
static const uint64_t count_limit = UINT32_MAX - 1;

void node_id_assigner_init(struct node_id_assigner *ids, bool of_strings, uint64_t memory_bytes)
{
    *ids = (struct node_id_assigner){.of_strings = of_strings, .memory_bytes = memory_bytes};
}

void node_id_assigner_release(struct node_id_assigner *ids)
{
    memory_free(ids->integer);
    memory_free(ids->offset);
    memory_free(ids->text);
    memory_free(ids->slot);
    memory_free(ids->is_there);
    *ids = (struct node_id_assigner){0};
}

/* The finaliser of SplitMix64, which spreads neighbouring ids over the table. */
static uint64_t integer_hash(int64_t id)
{
    uint64_t x = (uint64_t)id;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

static uint64_t hash_at(const struct node_id_assigner *ids, uint64_t i)
{
    must(ids->of_strings ? ids->offset != NULL : ids->integer != NULL);
    if (!ids->of_strings)
        return integer_hash(ids->integer[i]);
    return checksum_64(ids->text + ids->offset[i], ids->offset[i + 1] - ids->offset[i]);
}

/* Takes `bytes` more from the budget. */
static enum error_code take_budget(struct node_id_assigner *ids, uint64_t bytes, struct error *err)
{
    char wanted[32], allowed[32];
    ids->used_bytes += bytes;
    if (ids->memory_bytes == 0 || ids->used_bytes <= ids->memory_bytes)
        return ERROR_NONE;
    return error_set(err, ERROR_NO_MEMORY,
                     "more than %" PRIu64 " distinct node ids: their table needs %s, the memory "
                     "budget leaves %s for it; " ADVICE "give more --memory",
                     ids->count, text_size(ids->used_bytes, wanted),
                     text_size(ids->memory_bytes, allowed));
}

/* Grows an array to `count` elements, within the budget. */
static enum error_code grow(struct node_id_assigner *ids, void **array, uint64_t old_count,
                            uint64_t count, size_t size, struct error *err)
{
    const enum error_code rc = take_budget(ids, (count - old_count) * size, err);
    if (rc != ERROR_NONE)
        return rc;
    void *grown = memory_resize(*array, count, size);
    if (!grown)
        return error_set(err, ERROR_NO_MEMORY, "no memory for %" PRIu64 " node ids", count);
    *array = grown;
    return ERROR_NONE;
}

static enum error_code grow_ids(struct node_id_assigner *ids, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    const uint64_t capacity =
        ids->capacity ? ids->capacity + ids->capacity / 2 : (uint64_t)FIRST_CAPACITY;
    if (!ids->of_strings) {
        rc = grow(ids, (void **)&ids->integer, ids->capacity, capacity, sizeof *ids->integer, err);
    } else {
        const bool is_first = !ids->offset;
        rc = grow(ids, (void **)&ids->offset, is_first ? 0 : ids->capacity + 1, capacity + 1,
                  sizeof *ids->offset, err);
        if (rc == ERROR_NONE && is_first) {
            must(ids->offset);
            ids->offset[0] = 0;
        }
    }
    if (rc == ERROR_NONE)
        ids->capacity = capacity;
    return rc;
}

static void put_in_slot(struct node_id_assigner *ids, uint64_t i)
{
    must(ids->slot);
    uint64_t at = hash_at(ids, i) & (ids->slot_count - 1);
    while (ids->slot[at])
        at = (at + 1) & (ids->slot_count - 1);
    ids->slot[at] = (uint32_t)(i + 1);
}

static bool is_small(const struct node_id_assigner *ids, int64_t id)
{
    return id >= 0 && (uint64_t)id < ids->slot_count && ids->is_there;
}

static void mark_there(struct node_id_assigner *ids, int64_t id)
{
    if (is_small(ids, id))
        ids->is_there[id / 64] |= UINT64_C(1) << id % 64;
}

static void rebuild_slots(struct node_id_assigner *ids)
{
    if (ids->slot)
        memset(ids->slot, 0, ids->slot_count * sizeof *ids->slot);
    for (uint64_t i = 0; i < ids->count; i++)
        put_in_slot(ids, i);
}

static enum error_code grow_marks(struct node_id_assigner *ids, struct error *err)
{
    const uint64_t count = ids->slot_count / 64;
    memory_free(ids->is_there);
    ids->is_there = NULL;
    enum error_code rc = take_budget(ids, count / 2 * sizeof *ids->is_there, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&ids->is_there, count, "the table of node ids", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < ids->count; i++)
        mark_there(ids, ids->integer[i]);
    return rc;
}

/* Doubles the table. The old table is freed before the new one is allocated, which halves the peak:
 * it can be rebuilt from the ids. */
static enum error_code grow_slots(struct node_id_assigner *ids, struct error *err)
{
    const uint64_t slot_count = ids->slot_count ? ids->slot_count * 2 : (uint64_t)FIRST_SLOTS;
    const enum error_code rc =
        take_budget(ids, (slot_count - ids->slot_count) * sizeof *ids->slot, err);
    if (rc != ERROR_NONE)
        return rc;
    memory_free(ids->slot);
    ids->slot_count = 0;
    const enum error_code made = memory_new(&ids->slot, slot_count, "the table of node ids", err);
    if (made != ERROR_NONE)
        return made;
    ids->slot_count = slot_count;
    rebuild_slots(ids);
    return ids->of_strings ? ERROR_NONE : grow_marks(ids, err);
}

/* Makes room for one more id. */
static enum error_code reserve(struct node_id_assigner *ids, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    must(!ids->is_finished);
    if (ids->count >= count_limit)
        return error_set(err, ERROR_INPUT,
                         "more than %" PRIu64 " distinct node ids; at most 2^32 - 2 are supported",
                         count_limit);
    if (ids->count == ids->capacity)
        rc = grow_ids(ids, err);
    if (rc == ERROR_NONE && (ids->count + 1) * 4 > ids->slot_count * 3)
        rc = grow_slots(ids, err);
    return rc;
}

static bool equals_text(const struct node_id_assigner *ids, uint64_t i, const char *text,
                        size_t size)
{
    const uint64_t begin = ids->offset[i];
    return ids->offset[i + 1] - begin == size && memcmp(ids->text + begin, text, size) == 0;
}

static int64_t find_integer(const struct node_id_assigner *ids, int64_t id)
{
    if (ids->slot_count == 0)
        return -1;
    uint64_t at = integer_hash(id) & (ids->slot_count - 1);
    for (; ids->slot[at]; at = (at + 1) & (ids->slot_count - 1))
        if (ids->integer[ids->slot[at] - 1] == id)
            return (int64_t)ids->slot[at] - 1;
    return -1;
}

static int64_t find_text(const struct node_id_assigner *ids, const char *text, size_t size)
{
    if (ids->slot_count == 0)
        return -1;
    uint64_t at = checksum_64(text, size) & (ids->slot_count - 1);
    for (; ids->slot[at]; at = (at + 1) & (ids->slot_count - 1))
        if (equals_text(ids, ids->slot[at] - 1, text, size))
            return (int64_t)ids->slot[at] - 1;
    return -1;
}

enum error_code node_id_assigner_add_integer(struct node_id_assigner *ids, int64_t id,
                                             struct error *err)
{
    if (is_small(ids, id) ? ids->is_there[id / 64] >> id % 64 & 1 : find_integer(ids, id) >= 0)
        return ERROR_NONE;
    const enum error_code rc = reserve(ids, err);
    if (rc != ERROR_NONE)
        return rc;
    ids->integer[ids->count] = id;
    mark_there(ids, id);
    put_in_slot(ids, ids->count++);
    return ERROR_NONE;
}

static enum error_code grow_text(struct node_id_assigner *ids, uint64_t needed, struct error *err)
{
    uint64_t capacity = ids->text_capacity + ids->text_capacity / 2;
    if (capacity < FIRST_TEXT)
        capacity = FIRST_TEXT;
    if (capacity < needed)
        capacity = needed;
    const enum error_code rc = grow(ids, (void **)&ids->text, ids->text_capacity, capacity, 1, err);
    if (rc == ERROR_NONE)
        ids->text_capacity = capacity;
    return rc;
}

enum error_code node_id_assigner_add_text(struct node_id_assigner *ids, const char *text,
                                          size_t size, struct error *err)
{
    int64_t number = 0;
    return node_id_assigner_number_text(ids, text, size, &number, err);
}

enum error_code node_id_assigner_number_text(struct node_id_assigner *ids, const char *text,
                                             size_t size, int64_t *number, struct error *err)
{
    *number = find_text(ids, text, size);
    if (*number >= 0)
        return ERROR_NONE;
    *number = (int64_t)ids->count;
    enum error_code rc = reserve(ids, err);
    if (rc != ERROR_NONE)
        return rc;
    must(ids->offset);
    const uint64_t begin = ids->offset[ids->count];
    if (size > ids->text_capacity - begin)
        rc = grow_text(ids, begin + size, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(ids->text + begin, text, size);
    ids->offset[ids->count + 1] = begin + size;
    put_in_slot(ids, ids->count++);
    return ERROR_NONE;
}

static void insertion_sort(int64_t *id, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        const int64_t moved = id[i];
        uint64_t at = i;
        for (; at > 0 && id[at - 1] > moved; at--)
            id[at] = id[at - 1];
        id[at] = moved;
    }
}

/* Sorts by radix exchange, which works in place; qsort would take as much memory again. `bit` is
 * the highest bit that may differ; the sign bit has the opposite order. */
static void sort_by_bits(int64_t *id, uint64_t count, int bit)
{
    if (count <= 32) {
        insertion_sort(id, count);
        return;
    }
    uint64_t low = 0, high = count;
    while (low < high) {
        const bool is_high = (((uint64_t)id[low] >> bit) & 1) != (bit == 63);
        if (!is_high) {
            low++;
            continue;
        }
        const int64_t swapped = id[--high];
        id[high] = id[low];
        id[low] = swapped;
    }
    if (bit == 0)
        return;
    sort_by_bits(id, low, bit - 1);
    sort_by_bits(id + low, count - low, bit - 1);
}

void node_id_assigner_finish(struct node_id_assigner *ids)
{
    ids->is_finished = true;
    if (ids->of_strings || ids->count == 0)
        return;
    sort_by_bits(ids->integer, ids->count, 63);
    rebuild_slots(ids);
}

bool node_id_assigner_is_consecutive(const struct node_id_assigner *ids)
{
    return !ids->of_strings && ids->count && ids->integer[0] == 0 &&
           ids->integer[ids->count - 1] == (int64_t)ids->count - 1;
}

int64_t node_id_assigner_find_integer(const struct node_id_assigner *ids, int64_t id)
{
    must(!ids->of_strings);
    if (ids->is_finished &&
        node_id_assigner_is_consecutive(ids)) /* ids that equal their numbers need no look-up */
        return id >= 0 && id < (int64_t)ids->count ? id : -1;
    return find_integer(ids, id);
}

int64_t node_id_assigner_find_text(const struct node_id_assigner *ids, const char *text,
                                   size_t size)
{
    must(ids->of_strings);
    return find_text(ids, text, size);
}

struct node_ids node_id_assigner_view(const struct node_id_assigner *ids)
{
    must(ids->is_finished);
    return (struct node_ids){.node_count = (uint32_t)ids->count,
                             .integer = ids->integer,
                             .offset = ids->offset,
                             .text = ids->text};
}
