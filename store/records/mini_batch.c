#include "store/records/mini_batch.h"

#include "common/base/cpu_clones.h"
#include "common/base/memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/*
 * The checks are linear passes without a branch in them, so that they run in vectors; only when a pass says
 * "something is wrong" does a second, slow one look for the first culprit. A batch of a million edges is
 * checked in about a millisecond, most of it for "no node twice".
 */

enum { VERSION = 1, PREFETCH_DISTANCE = 16 };

CPU_CLONES
static uint32_t largest_of(const uint32_t *value, uint32_t count)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++)
        largest = value[i] > largest ? value[i] : largest;
    return largest;
}

CPU_CLONES
static unsigned descends(const uint32_t *value, uint32_t count)
{
    unsigned found = 0;
    for (uint32_t i = 1; i < count; i++)
        found |= value[i] < value[i - 1];
    return found;
}

enum error_code mini_batch_put(struct store *store, const char *key, const char *run_id,
                               const struct mini_batch *batch, struct error *err)
{
    struct record record = {.kind = RECORD_MINI_BATCH, .version = VERSION};
    must(batch->hop_count >= 0 && batch->hop_count <= HOP_COUNT_MAX);
    record_add(&record, "hop_end", ELEMENT_U32, batch->hop_end, (uint64_t)batch->hop_count + 1);
    record_add(&record, "node", ELEMENT_U32, batch->node, batch->node_count);
    record_add(&record, "row_start", ELEMENT_U32, batch->row_start, (uint64_t)batch->row_count + 1);
    record_add(&record, "neighbor", ELEMENT_U32, batch->neighbor, batch->edge_count);
    if (batch->degree)
        record_add(&record, "degree", ELEMENT_U32, batch->degree, batch->node_count);
    if (batch->weight)
        record_add(&record, "weight", ELEMENT_F32, batch->weight, batch->edge_count);
    return store_put(store, key, run_id, &record, STORE_RECOMPUTABLE, err);
}

static enum error_code check_hops(const struct mini_batch *batch, struct error *err)
{
    if (batch->hop_end[0] == 0)
        return error_set(err, ERROR_CORRUPT,
                         "hop_end[0]: expected at least one seed node, found 0");
    for (int i = 0; i < batch->hop_count; i++)
        if (batch->hop_end[i + 1] < batch->hop_end[i])
            return error_set(err, ERROR_CORRUPT,
                             "hop_end[%d]: expected at least hop_end[%d] = %" PRIu32
                             ", found %" PRIu32,
                             i + 1, i, batch->hop_end[i], batch->hop_end[i + 1]);
    return ERROR_NONE;
}

static enum error_code check_rows(const struct mini_batch *batch, struct error *err)
{
    const uint32_t *start = batch->row_start;
    if (start[0] != 0)
        return error_set(err, ERROR_CORRUPT, "row_start[0]: expected 0, found %" PRIu32, start[0]);
    const bool is_wrong = descends(start, batch->row_count + 1);
    for (uint32_t i = 0; is_wrong && i < batch->row_count; i++)
        if (start[i + 1] < start[i])
            return error_set(err, ERROR_CORRUPT,
                             "row_start[%" PRIu32 "]: expected at least row_start[%" PRIu32
                             "] = %" PRIu32 ", found %" PRIu32,
                             i + 1, i, start[i], start[i + 1]);
    return ERROR_NONE;
}

static enum error_code check_neighbors(const struct mini_batch *batch, struct error *err)
{
    for (int hop = 0; hop < batch->hop_count; hop++) {
        const uint32_t limit = batch->hop_end[hop + 1];
        const uint32_t first = batch->row_start[hop ? batch->hop_end[hop - 1] : 0];
        const uint32_t last = batch->row_start[batch->hop_end[hop]];
        const bool is_wrong =
            first < last && largest_of(batch->neighbor + first, last - first) >= limit;
        for (uint32_t e = first; is_wrong && e < last; e++)
            if (batch->neighbor[e] >= limit)
                return error_set(err, ERROR_CORRUPT,
                                 "neighbor[%" PRIu32 "]: expected below hop_end[%d] = %" PRIu32
                                 ", found %" PRIu32,
                                 e, hop + 1, limit, batch->neighbor[e]);
    }
    return ERROR_NONE;
}

static inline uint32_t slot_of(uint32_t node, unsigned shift)
{
    return (uint32_t)(node * 2654435769U) >> shift;
}

static enum error_code node_twice(const struct mini_batch *batch, uint32_t index, struct error *err)
{
    uint32_t first = 0;
    while (batch->node[first] != batch->node[index])
        first++;
    return error_set(err, ERROR_CORRUPT,
                     "node[%" PRIu32 "]: expected each node once, found %" PRIu32
                     ", which is node[%" PRIu32 "] too",
                     index, batch->node[index], first);
}

/* Enters every node into an open-addressing set of at least twice as many places; a place holds the
 * node plus one, so that zero is empty. The index of the first node that was there, or node_count. */
static uint32_t enter_hashed(const struct mini_batch *batch, uint32_t *set, unsigned bits)
{
    const uint32_t mask = (uint32_t)((1ULL << bits) - 1);
    const unsigned shift = 32 - bits;
    for (uint32_t i = 0; i < batch->node_count; i++) {
        if (batch->node_count - i > PREFETCH_DISTANCE)
            __builtin_prefetch(&set[slot_of(batch->node[i + PREFETCH_DISTANCE], shift)], 1);
        const uint32_t node = batch->node[i];
        uint32_t at = slot_of(node, shift);
        while (set[at] != 0 && set[at] != node + 1)
            at = (at + 1) & mask;
        if (set[at] != 0)
            return i;
        set[at] = node + 1;
    }
    return batch->node_count;
}

/* The same with one bit for each node up to the largest: for graphs of up to some ten million nodes a set
 * that stays in cache. */
static uint32_t enter_bits(const struct mini_batch *batch, uint64_t *set)
{
    uint64_t twice = 0;
    for (uint32_t i = 0; i < batch->node_count; i++) {
        const uint32_t node = batch->node[i];
        const uint64_t word = set[node / 64];
        twice |= word >> (node % 64) & 1;
        set[node / 64] = word | 1ULL << (node % 64);
    }
    if (!twice)
        return batch->node_count;
    memset(set, 0, (largest_of(batch->node, batch->node_count) / 64 + 1ULL) * sizeof *set);
    for (uint32_t i = 0; i < batch->node_count; i++) {
        uint64_t *word = &set[batch->node[i] / 64];
        const uint64_t bit = 1ULL << (batch->node[i] % 64);
        if (*word & bit)
            return i;
        *word |= bit;
    }
    return batch->node_count;
}

/* Whichever set is smaller. UINT32_MAX is no node id: ids are below a 32-bit count. */
static enum error_code check_nodes(const struct mini_batch *batch, struct error *err)
{
    unsigned bits = 1;
    while (bits < 32 && (1ULL << bits) < 2 * (uint64_t)batch->node_count)
        bits++;
    if (batch->node_count > 1U << 31) /* the set would have no free place left to stop at */
        return error_set(err, ERROR_CORRUPT, "expected at most 2147483648 nodes, found %" PRIu32,
                         batch->node_count);
    for (uint32_t i = 0; batch->node_limit == 0 && i < batch->node_count; i++)
        if (batch->node[i] == UINT32_MAX)
            return error_set(err, ERROR_CORRUPT,
                             "node[%" PRIu32 "]: expected at most %" PRIu32 ", found %" PRIu32, i,
                             UINT32_MAX - 1, UINT32_MAX);
    const uint64_t words = batch->node_limit / 64 + 1ULL;
    const bool is_hashed = words * 64 > (1ULL << bits) * 32;
    uint64_t *set = NULL;
    const enum error_code rc =
        memory_new(&set, is_hashed ? (1ULL << bits) / 2 : words, "the check of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t twice =
        is_hashed ? enter_hashed(batch, (uint32_t *)(void *)set, bits) : enter_bits(batch, set);
    memory_free(set);
    return twice < batch->node_count ? node_twice(batch, twice, err) : ERROR_NONE;
}

/* The sections, each of the length that those before it ask for. */
static enum error_code find_node_sections(const struct record_view *view, struct mini_batch *out,
                                          struct error *err)
{
    const void *data = NULL;
    uint64_t count = 0;
    enum error_code rc = record_section_get(view, "hop_end", ELEMENT_U32, -1, &data, &count, err);
    if (rc != ERROR_NONE)
        return rc;
    if (count < 1 || count > HOP_COUNT_MAX + 1)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section hop_end: expected 1 to %d elements, found %" PRIu64,
                         view->key, HOP_COUNT_MAX + 1, count);
    out->hop_count = (int)count - 1;
    out->hop_end = data;
    rc = check_hops(out, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "record %s", view->key);
    out->seed_count = out->hop_end[0];
    out->node_count = out->hop_end[out->hop_count];
    out->row_count = out->hop_count ? out->hop_end[out->hop_count - 1] : 0;
    rc = record_section_get(view, "node", ELEMENT_U32, out->node_count, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    out->node = data;
    out->node_limit = largest_of(out->node, out->node_count) + 1;
    rc = record_section_get(view, "row_start", ELEMENT_U32, (int64_t)out->row_count + 1, &data,
                            NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    out->row_start = data;
    out->edge_count = out->row_start[out->row_count];
    rc = check_rows(out, err);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "record %s", view->key);
}

static enum error_code find_edge_sections(const struct record_view *view, struct mini_batch *out,
                                          struct error *err)
{
    const void *data = NULL;
    enum error_code rc =
        record_section_get(view, "neighbor", ELEMENT_U32, out->edge_count, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    out->neighbor = data;
    if (record_has(view, "degree")) {
        rc = record_section_get(view, "degree", ELEMENT_U32, out->node_count, &data, NULL, err);
        if (rc != ERROR_NONE)
            return rc;
        out->degree = data;
    }
    if (record_has(view, "weight")) {
        rc = record_section_get(view, "weight", ELEMENT_F32, out->edge_count, &data, NULL, err);
        if (rc != ERROR_NONE)
            return rc;
        out->weight = data;
    }
    return ERROR_NONE;
}

enum error_code mini_batch_decode(const struct record_view *view, struct mini_batch *out,
                                  struct error *err)
{
    struct mini_batch batch = {0};
    *out = batch;
    enum error_code rc = record_expect(view, RECORD_MINI_BATCH, VERSION, err);
    if (rc == ERROR_NONE)
        rc = find_node_sections(view, &batch, err);
    if (rc == ERROR_NONE)
        rc = find_edge_sections(view, &batch, err);
    if (rc != ERROR_NONE)
        return rc;
    must(batch.row_start && batch.neighbor);
    rc = check_neighbors(&batch, err);
    if (rc == ERROR_NONE)
        rc = check_nodes(&batch, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "record %s", view->key);
    *out = batch;
    return ERROR_NONE;
}

enum error_code mini_batch_get(struct store *store, const char *key, const char *run_id,
                               struct mini_batch *out, struct error *err)
{
    *out = (struct mini_batch){0};
    struct record_view view = {0};
    enum error_code rc = store_get(store, key, run_id, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = mini_batch_decode(&view, out, err);
    if (rc != ERROR_NONE) {
        store_release_record(&view);
        return rc;
    }
    out->view = view;
    return ERROR_NONE;
}
