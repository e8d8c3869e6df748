#include "store/records/partition/partition_delta.h"

#include "common/base/memory.h"
#include "common/graph/relation_block.h"
#include "store/records/section_checks.h"
#include "store/records/section_table.h"

#include <inttypes.h>
#include <string.h>

enum { WORD_NODES = 64 };

static enum error_code check_book(const struct record_view *view, const struct partition_delta *d,
                                  struct error *err)
{
    if (d->base_book[0] != 0)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section base_book: part 0 starts at node %" PRIu32
                         ", expected 0",
                         view->key, d->base_book[0]);
    for (int p = 0; p < d->part_count; p++)
        if (d->base_book[p + 1] < d->base_book[p])
            return error_set(err, ERROR_CORRUPT,
                             "record %s: section base_book: part %d ends at node %" PRIu32
                             ", before its start %" PRIu32,
                             view->key, p, d->base_book[p + 1], d->base_book[p]);
    return ERROR_NONE;
}

static enum error_code check_nodes(const struct record_view *view, const struct partition_delta *d,
                                   struct error *err)
{
    const uint32_t count = d->base_book[d->part_count];
    if (d->gone_count && d->gone[d->gone_count - 1] >= count) /* the last is the largest */
        return section_refuse_number(view, "gone", "node", 0, (uint64_t)count - 1,
                                     d->gone[d->gone_count - 1], err);
    uint64_t nodes = count - d->gone_count;
    for (size_t i = 0; i < (size_t)d->part_count * partition_delta_types(d); i++)
        nodes += d->added[i];
    if (nodes == 0 || nodes >= UINT32_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: %" PRIu64 " nodes in the version, expected 1 to 2^32 - 2",
                         view->key, nodes);
    return ERROR_NONE;
}

/* The types stand behind the section that is as long as there are types. */
static enum error_code read_types(const struct record_view *view, void *of, struct error *err)
{
    struct partition_delta *out = of;
    const uint64_t parts = (uint64_t)out->part_count;
    const void *start = NULL;
    uint64_t count = 0;
    enum error_code rc = check_book(view, out, err);
    if (rc != ERROR_NONE || view->version < 2)
        return rc;
    rc = record_section_get(view, "type_start", ELEMENT_U32, -1, &start, &count, err);
    if (rc != ERROR_NONE)
        return rc;
    if (count % parts != 0 || count / parts < 2 || count / parts > RELATION_TYPE_COUNT_MAX + 1)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section type_start: %" PRIu64 " bounds in %" PRIu64
                         " parts, expected one more than types in each, of 1 to %d types",
                         view->key, count, parts, RELATION_TYPE_COUNT_MAX);
    out->type_count = (uint32_t)(count / parts - 1);
    out->type_start = start;
    const struct type_ranges ranges = partition_delta_ranges(out);
    rc = type_ranges_check(&ranges, err);
    return rc == ERROR_NONE ? rc
                            : error_context(err, rc, "record %s: section type_start", view->key);
}

static void add_added(struct record *record, const void *from, struct section_scratch *scratch)
{
    const struct partition_delta *delta = from;
    (void)scratch;
    record_add(record, "added", ELEMENT_U32, delta->added,
               (uint64_t)delta->part_count * partition_delta_types(delta));
}

static enum error_code read_added(const struct record_view *view, void *of, struct error *err)
{
    struct partition_delta *out = of;
    const void *added = NULL;
    const enum error_code rc = record_section_get(
        view, "added", ELEMENT_U32, (int64_t)out->part_count * partition_delta_types(out), &added,
        NULL, err);
    out->added = added;
    return rc == ERROR_NONE ? check_nodes(view, out, err) : rc;
}

#define SECTION_STRUCT struct partition_delta
static const struct section_row rows[] = {
    {SECTION_TEXT("base", base)},
    {SECTION_ARRAY("base_book", U32, base_book), .sets = AT(part_count), .plus = 1, .least = 1,
     .most = INT32_MAX - 1, .read = read_types},
    {SECTION_ARRAY("gone", U32, gone), .sets = AT(gone_count), .checks = SECTION_ASCENDS},
    {SECTION_HAND(add_added, read_added)},
    {SECTION_ARRAY("type_start", U32, type_start), .count = AT(part_count), .times = AT(type_count),
     .times_plus = 1, .when = AT(type_count), .since = 2},
};
static const struct section_table table = SECTION_TABLE(RECORD_PARTITION_DELTA, 1, 2, rows);

enum error_code partition_delta_put(struct store *store, const char *partition_id,
                                    const struct partition_delta *delta, struct error *err)
{
    return section_table_put(store, &table, key_partition(partition_id, "delta").text, partition_id,
                             delta, STORE_DURABLE, err);
}

enum error_code partition_delta_decode(const struct record_view *view, struct partition_delta *out,
                                       struct error *err)
{
    return section_table_decode(&table, view, out, err);
}

enum error_code partition_delta_get(struct store *store, const char *partition_id,
                                    struct partition_delta *out, struct error *err)
{
    return section_table_get(store, &table, key_partition(partition_id, "delta").text, partition_id,
                             out, err);
}

enum error_code partition_delta_base(struct store *store, const char *partition_id,
                                     char base[ID_SIZE], struct error *err)
{
    struct partition_delta delta;
    const enum error_code rc = partition_delta_get(store, partition_id, &delta, err);
    memcpy(base, delta.base, ID_SIZE);
    store_release_record(&delta.view);
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}

enum error_code node_shift_init(struct node_shift *shift, const struct partition_delta *delta,
                                struct error *err)
{
    const size_t words = delta->base_book[delta->part_count] / WORD_NODES + 1;
    const size_t ranges = (size_t)delta->part_count * partition_delta_types(delta);
    uint32_t at = 0, moved = 0;
    *shift = (struct node_shift){.delta = delta};
    enum error_code rc = memory_new(&shift->gone, words, "the nodes that are gone", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&shift->before, words, "the nodes that are gone", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&shift->range_shift, ranges, "the parts of a base", err);
    if (rc != ERROR_NONE) {
        node_shift_release(shift);
        return rc;
    }
    for (uint32_t i = 0; i < delta->gone_count; i++)
        shift->gone[delta->gone[i] / WORD_NODES] |= UINT64_C(1) << delta->gone[i] % WORD_NODES;
    for (size_t word = 0; word < words; word++) {
        shift->before[word] = at;
        at += (uint32_t)__builtin_popcountll(shift->gone[word]);
    }
    for (size_t i = 0; i < ranges; i++) {
        shift->range_shift[i] = moved;
        moved += delta->added[i];
    }
    return ERROR_NONE;
}

void node_shift_release(struct node_shift *shift)
{
    memory_free(shift->gone);
    memory_free(shift->before);
    memory_free(shift->range_shift);
    *shift = (struct node_shift){0};
}

uint32_t node_shift_left(const struct node_shift *shift, int part, uint32_t type)
{
    const struct type_ranges ranges = partition_delta_ranges(shift->delta);
    const uint32_t first = type_ranges_first(&ranges, part, type);
    const uint32_t end = type_ranges_first(&ranges, part, type + 1);
    return end - first - (node_shift_gone_below(shift, end) - node_shift_gone_below(shift, first));
}
