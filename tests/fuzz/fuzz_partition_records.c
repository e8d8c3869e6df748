/*
 * fuzz_partition_records - book, permutation, assignment, placement, report and the seals from arbitrary sections, through a
 * store. The first byte says which, the second its version; what a reader lets through is then read to its end.
 */
#include "store/backends/memory/memory_backend.h"
#include "store/objects/keys.h"
#include "store/records/partition/node_permutation.h"
#include "store/records/partition/node_placement.h"
#include "store/records/partition/partition_book.h"
#include "store/records/partition/partition_delta.h"
#include "store/records/partition/partition_report.h"
#include "store/records/partition/topology_seal.h"
#include "store/records/round/outputs_seal.h"
#include "store/records/round/shard_seal.h"

#include "tests/fuzz/fuzz_record_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
    "book",        "dataset",     "facts",     "to_dataset",  "to_partition", "part",
    "json",        "counts",      "arrays",    "file",        "name",         "dim",
    "content",     "row_count",   "files",     "metrics",     "version",      "weights",
    "weights_sum", "type_start",  "type_name", "type_dim",    "target_type",  "relation",
    "task",        "base",        "base_book", "gone",        "added",        "delta",
    "own_rows",    "own_content", "held",      "edge_widths", "type",         "new_node",
    "split_node",  "split",       "method",    "full_cut",    "pair_types",   "relation_back",
    "edge_part",   "graphs",      "pair_count"};

enum { WALKED_NODES_MAX = 1 << 16 };

static volatile uint64_t sink; /* what is read goes here, for the sanitizer to see it read */

static enum error_code read_book(struct store *store, const char *key, struct error *err)
{
    struct partition_book book;
    (void)key;
    const enum error_code rc = partition_book_get(store, "p", &book, err);
    for (int p = 0; rc == ERROR_NONE && p < book.part_count; p++)
        must(book.book[p] <= book.book[p + 1] && book.book[p + 1] <= book.node_count);
    const struct type_ranges ranges = partition_book_ranges(&book);
    for (int p = 0; rc == ERROR_NONE && p < book.part_count; p++)
        for (uint32_t t = 0; t < partition_book_types(&book); t++)
            must(type_ranges_first(&ranges, p, t) <= type_ranges_first(&ranges, p, t + 1));
    struct relation_reverses reverses;
    if (rc == ERROR_NONE)
        partition_book_reverses(&book, &reverses);
    for (uint32_t r = 0; rc == ERROR_NONE && r < partition_book_relations(&book); r++)
        must(partition_book_relation(&book, r)->target_type < partition_book_types(&book) &&
             strlen(partition_book_relation(&book, r)->name) < RELATION_NAME_SIZE);
    if (rc == ERROR_NONE)
        store_release_record(&book.view);
    return rc;
}

static enum error_code read_permutation(struct store *store, const char *key, struct error *err)
{
    struct node_permutation map;
    (void)key;
    const enum error_code rc = node_permutation_get(store, "p", 3, &map, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < 3; i++)
        must(map.to_partition[map.to_dataset[i]] == i);
    if (rc == ERROR_NONE)
        store_release_record(&map.view);
    return rc;
}

static enum error_code read_assignment(struct store *store, const char *key, struct error *err)
{
    struct record_view view;
    const uint32_t *part = NULL;
    uint32_t count = 0;
    (void)key;
    const enum error_code rc = assignment_get(store, "p", &part, &count, &view, err);
    double cut = 0.0;
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        sink = part[i];
    if (rc == ERROR_NONE && assignment_full_cut(&view, &cut, err) == ERROR_NONE)
        must(cut <= 1.0);
    const uint16_t *edge_part = NULL;
    if (rc == ERROR_NONE && assignment_edges(&view, count, 5, &edge_part, err) == ERROR_NONE)
        must(count == 0 || edge_part[count - 1] < 5);
    if (rc == ERROR_NONE)
        store_release_record(&view);
    return rc;
}

static enum error_code read_report(struct store *store, const char *key, struct error *err)
{
    struct partition_report report = {0};
    (void)key;
    const enum error_code rc = partition_report_get(store, "p", &report, err);
    for (int p = 0; rc == ERROR_NONE && p < report.part_count; p++)
        sink = report.part[p].nodes;
    if (rc == ERROR_NONE)
        partition_report_release(&report);
    return rc;
}

static enum error_code read_delta(struct store *store, const char *key, struct error *err)
{
    struct partition_delta delta;
    struct node_shift shift = {0};
    (void)key;
    const enum error_code rc = partition_delta_get(store, "p", &delta, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t count = delta.base_book[delta.part_count];
    if (count >
        WALKED_NODES_MAX) { /* a few bytes may say 4 billion: a walk over those would find nothing more */
        store_release_record(&delta.view);
        return rc;
    }
    must(node_shift_init(&shift, &delta, NULL) == ERROR_NONE);
    uint32_t last = 0, gone = 0;
    const struct type_ranges ranges = partition_delta_ranges(&delta);
    for (uint32_t node = 0; node < count; node++) {
        const int part = type_ranges_part(&ranges, node);
        const uint32_t type = type_ranges_type(&ranges, part, node);
        must(!node_shift_is_gone(&shift, node) || delta.gone[gone] == node);
        if (node_shift_is_gone(&shift, node)) {
            gone++;
            continue;
        }
        must(node_shift_of(&shift, part, type, node) >= last);
        last = node_shift_of(&shift, part, type, node) + 1;
    }
    must(gone == delta.gone_count);
    node_shift_release(&shift);
    store_release_record(&delta.view);
    return rc;
}

static enum error_code read_topology_seal(struct store *store, const char *key, struct error *err)
{
    struct topology_seal seal;
    (void)key;
    const enum error_code rc = topology_seal_get(store, "p", 0, &seal, err);
    must(rc != ERROR_NONE || !seal.is_held || seal.held->rows <= seal.held->edges);
    must(rc != ERROR_NONE || (uint64_t)seal.first_node + seal.node_count <= UINT32_MAX);
    for (uint32_t r = 0; rc == ERROR_NONE && r < topology_seal_relations(&seal); r++) {
        const struct sealed_rows rows = topology_seal_rows(&seal, r);
        must(rows.first_node >= seal.first_node && rows.edge_count <= seal.edge_count &&
             rows.first_node + rows.node_count <= seal.first_node + seal.node_count);
        must(!seal.is_delta ||
             (seal.held[r].rows <= rows.node_count && seal.held[r].edges <= rows.edge_count));
    }
    return rc;
}

static enum error_code read_placement(struct store *store, const char *key, struct error *err)
{
    struct node_placement placement;
    (void)key;
    const enum error_code rc = node_placement_get(store, "p", &placement, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < placement.split_count; i++)
        must(placement.split[i] <= 3 &&
             (!i || placement.split_node[i - 1] < placement.split_node[i]));
    for (uint32_t i = 0; rc == ERROR_NONE && i < placement.new_count; i++)
        sink += placement.new_node[i];
    must(rc != ERROR_NONE || (placement.full_cut >= 0 && placement.full_cut <= 1));
    store_release_record(&placement.view);
    return rc;
}

static enum error_code read_shard_seal(struct store *store, const char *key, struct error *err)
{
    struct shard_seal seal;
    const enum error_code rc = shard_seal_get(store, key, "p", &seal, err);
    if (rc != ERROR_NONE)
        return rc;
    must(seal.tensor_count >= 1 && seal.tensor_count <= SHARD_TENSOR_COUNT_MAX);
    for (int i = 0; i < seal.tensor_count; i++)
        must(shard_seal_find(&seal, seal.tensor[i].name) == i);
    must(shard_seal_equal(&seal, &seal));
    struct shard_seal own;
    if (seal.is_delta) {
        shard_seal_own(&seal, &own);
        must(own.tensor_count == 2 * seal.tensor_count + 1);
    }
    return rc;
}

static enum error_code read_outputs_seal(struct store *store, const char *key, struct error *err)
{
    static struct outputs_seal seal;
    const enum error_code rc = outputs_seal_get(store, key, "p", &seal, err);
    must(rc != ERROR_NONE || (memchr(seal.files, '\0', sizeof seal.files) &&
                              memchr(seal.metrics, '\0', sizeof seal.metrics)));
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        enum record_kind kind;
        const char *key;
        enum error_code (*read)(struct store *store, const char *key, struct error *err);
    } readers[] = {
        {RECORD_PARTITION_BOOK, "partition/p/book", read_book},
        {RECORD_NODE_PERMUTATION, "partition/p/permutation", read_permutation},
        {RECORD_ASSIGNMENT, "partition/p/assignment", read_assignment},
        {RECORD_PARTITION_REPORT, "partition/p/report", read_report},
        {RECORD_TOPOLOGY_SEAL, "partition/p/part/0000000000/topology_seal", read_topology_seal},
        {RECORD_SHARD_SEAL, "partition/p/part/0000000000/shard_seal", read_shard_seal},
        {RECORD_OUTPUTS_SEAL, "run/p/outputs_seal", read_outputs_seal},
        {RECORD_PARTITION_DELTA, "partition/p/delta", read_delta},
        {RECORD_NODE_PLACEMENT, "partition/p/placement", read_placement},
    };
    static struct store *store;
    struct error err = {0};
    struct record_view view;
    if (size < 2)
        return 0;
    if (!store)
        must(store_open_on(&memory_backend, "fuzz", 0, &store, &err) == ERROR_NONE);
    const size_t which = data[0] % (sizeof readers / sizeof *readers);
    fuzz_record_view(data + 2, size - 2, readers[which].kind, names, sizeof names / sizeof *names,
                     &view);
    struct record record = {.kind = readers[which].kind, .version = data[1] % 8};
    for (uint32_t i = 0; i < view.section_count; i++)
        if (element_size(view.section[i].type))
            record_add(&record, view.section[i].name, view.section[i].type, view.section[i].data,
                       view.section[i].count);
    must(store_put(store, readers[which].key, "p", &record, STORE_RECOMPUTABLE, &err) ==
         ERROR_NONE);
    const enum error_code rc = readers[which].read(store, readers[which].key, &err);
    must(rc == ERROR_NONE || rc == ERROR_CORRUPT);
    must(store_remove(store, readers[which].key, &err) == ERROR_NONE);
    fuzz_record_view_release(&view);
    return 0;
}
