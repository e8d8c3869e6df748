/*
 * compared_partitions - compares what readers see of two partitions of one dataset, to the byte, in
 * whatever form their files are. For the tests of partition only.
 */
#ifndef TESTS_STAGES_PARTITION_COMPARED_PARTITIONS_H
#define TESTS_STAGES_PARTITION_COMPARED_PARTITIONS_H

#include "common/base/memory.h"
#include "store/features/feature_shard.h"
#include "store/objects/keys.h"
#include "store/records/dataset/node_splits.h"
#include "store/records/partition/node_permutation.h"
#include "store/records/partition/partition_book.h"
#include "store/records/partition/partition_report.h"
#include "store/topology/topology.h"
#include "store/versions/merged_parts.h"

#include "tests/support/test.h"

static inline void compare_rows_of(const struct topology_part *i, const struct topology_part *j)
{
    assert_int_equal(i->first_node, j->first_node);
    assert_int_equal(i->node_count, j->node_count);
    assert_int_equal(i->edge_count, j->edge_count);
    assert_memory_equal(i->row_start_chunk[0], j->row_start_chunk[0],
                        ((size_t)i->node_count + 1) * sizeof(uint64_t));
    if (i->edge_count) {
        assert_memory_equal(i->neighbor_chunk[0], j->neighbor_chunk[0],
                            i->edge_count * sizeof(uint32_t));
        assert_memory_equal(i->column_chunk[EDGE_WEIGHT][0], j->column_chunk[EDGE_WEIGHT][0],
                            i->edge_count * sizeof(float));
    }
    if (i->node_count)
        assert_memory_equal(i->weight_sum_chunk[0], j->weight_sum_chunk[0],
                            i->node_count * sizeof(float));
}

static inline void compare_topologies(struct store *store, const struct partition_book *a,
                                      const struct partition_book *b)
{
    struct error err = {0};
    struct topology x = {0}, y = {0};
    assert_ok(topology_open(store, a, &x, &err), &err);
    assert_ok(topology_open(store, b, &y, &err), &err);
    assert_int_equal(x.edge_count, y.edge_count);
    assert_int_equal(topology_relations(&x), topology_relations(&y));
    /* Processes of a host share data by this name. */
    assert_int_equal(checksum_equal(&x.content, &y.content), x.is_delta == y.is_delta);
    for (int p = 0; p < a->part_count; p++) {
        assert_ok(topology_open_part(&x, p, &err), &err);
        assert_ok(topology_open_part(&y, p, &err), &err);
        for (uint32_t r = 0; r < topology_relations(&x); r++)
            compare_rows_of(topology_rows(&x, p, r), topology_rows(&y, p, r));
    }
    assert_ok(topology_copy(&x, false, NULL, &err), &err);
    assert_memory_equal(topology_rows(&x, 1, 0)->neighbor_chunk[0],
                        topology_rows(&y, 1, 0)->neighbor_chunk[0],
                        topology_rows(&y, 1, 0)->edge_count * sizeof(uint32_t));
    topology_close(&x);
    topology_close(&y);
}

static inline struct feature_shard *open_shard(struct store *store, const char *id, int part,
                                               uint32_t type)
{
    struct error err = {0};
    struct feature_shard *shard = NULL;
    assert_ok(feature_shard_open(store, key_part_type(id, part, type, "shard").text,
                                 key_part_type(id, part, type, "shard_seal").text, id, &shard,
                                 &err),
              &err);
    return shard;
}

static inline char *read_tensor(struct feature_shard *shard, const struct tensor_spec *tensor,
                                size_t *size)
{
    struct error err = {0};
    char *rows = NULL;
    uint32_t count = 0;
    *size = tensor->row_count * tensor_row_bytes(tensor);
    assert_ok(memory_new(&rows, *size + 1, "rows", &err), &err);
    assert_ok(feature_shard_read_all(shard, tensor->name, rows, tensor->dim, &err), &err);
    for (uint64_t at = tensor->row_count; at > 0;) { /* block by block, from the last */
        static char block[FEATURE_BLOCK_ROWS * 64];
        const uint64_t number = (at - 1) / FEATURE_BLOCK_ROWS;
        assert_ok(feature_shard_read_block(shard, tensor->name, number, block, &count, &err), &err);
        at = number * FEATURE_BLOCK_ROWS;
        assert_memory_equal(block, rows + at * tensor_row_bytes(tensor),
                            count * tensor_row_bytes(tensor));
    }
    assert_ok(feature_shard_verify(shard, &err), &err);
    return rows;
}

static inline void compare_tensors(struct feature_shard *a, struct feature_shard *b,
                                   const char *name, bool expected)
{
    const struct tensor_spec *x = feature_shard_tensor(a, name), *y = feature_shard_tensor(b, name);
    size_t size = 0, other_size = 0;
    assert_int_equal(x != NULL, expected);
    assert_int_equal(y != NULL, expected);
    if (!x || !y)
        return;
    char *one = read_tensor(a, x, &size), *other = read_tensor(b, y, &other_size);
    assert_int_equal(x->dim, y->dim);
    assert_int_equal(size, other_size);
    assert_memory_equal(one, other, size);
    memory_free(one);
    memory_free(other);
}

static inline void compare_shards(struct store *store, const struct partition_book *a,
                                  const struct partition_book *b)
{
    for (int p = 0; p < a->part_count; p++)
        for (uint32_t t = 0; t < partition_book_types(a); t++) {
            if (!partition_book_has_shard(a, t))
                continue;
            struct feature_shard *x = open_shard(store, a->id, p, t);
            struct feature_shard *y = open_shard(store, b->id, p, t);
            compare_tensors(x, y, "features", partition_book_dim(a, t) > 0);
            compare_tensors(x, y, "labels", t == a->target_type);
            feature_shard_close(x);
            feature_shard_close(y);
        }
}

/* Compares permutation, assignment and splits. */
static inline void compare_nodes(struct store *store, const struct partition_book *a,
                                 const struct partition_book *b)
{
    struct error err = {0};
    struct node_permutation x, y;
    struct node_assignment p, q;
    struct node_splits s, t;
    const size_t bytes = a->node_count * sizeof(uint32_t);
    assert_ok(merged_permutation_get(store, a->id, a->node_count, &x, &err), &err);
    assert_ok(merged_permutation_get(store, b->id, b->node_count, &y, &err), &err);
    assert_memory_equal(x.to_dataset, y.to_dataset, bytes);
    assert_memory_equal(x.to_partition, y.to_partition, bytes);
    store_release_record(&x.view);
    store_release_record(&y.view);
    assert_ok(merged_assignment_get(store, a->id, &p, &err), &err);
    assert_ok(merged_assignment_get(store, b->id, &q, &err), &err);
    assert_int_equal(p.node_count, a->node_count);
    assert_memory_equal(p.part, q.part, bytes);
    assert_string_equal(p.method, q.method);
    assert_true(p.full_cut == q.full_cut);
    store_release_record(&p.view);
    store_release_record(&q.view);
    assert_ok(merged_part_splits_get(store, a->id, &s, &err), &err);
    assert_ok(merged_part_splits_get(store, b->id, &t, &err), &err);
    for (int i = 0; i < SPLIT_COUNT; i++) {
        assert_int_equal(s.count[i], t.count[i]);
        if (s.count[i])
            assert_memory_equal(s.node[i], t.node[i], s.count[i] * sizeof *s.node[i]);
    }
    store_release_record(&s.view);
    store_release_record(&t.view);
}

static inline void compare_records(struct store *store, const struct partition_book *a,
                                   const struct partition_book *b)
{
    struct error err = {0};
    struct partition_report i = {0}, j = {0};
    const size_t parts = (size_t)a->part_count;
    assert_memory_equal(a->book, b->book, (parts + 1) * sizeof *a->book);
    assert_int_equal(a->type_count, b->type_count);
    if (a->type_count)
        assert_memory_equal(a->type_start, b->type_start,
                            parts * (a->type_count + 1) * sizeof *a->type_start);
    compare_nodes(store, a, b);
    assert_ok(partition_report_get(store, a->id, &i, &err), &err);
    assert_ok(partition_report_get(store, b->id, &j, &err), &err);
    assert_int_equal(i.cut_edges, j.cut_edges);
    assert_int_equal(i.halo, j.halo);
    assert_memory_equal(i.part, j.part, parts * sizeof *i.part);
    assert_int_equal(i.relation_count, j.relation_count);
    for (uint32_t r = 0; r < i.relation_count; r++) {
        assert_int_equal(i.relation[r].edges, j.relation[r].edges);
        assert_int_equal(i.relation[r].cut_edges, j.relation[r].cut_edges);
        assert_int_equal(i.relation[r].halo, j.relation[r].halo);
    }
    partition_report_release(&i);
    partition_report_release(&j);
}

static inline void compare_partitions(struct store *store, const char *a, const char *b)
{
    struct error err = {0};
    struct partition_book x, y;
    assert_ok(partition_book_get(store, a, &x, &err), &err);
    assert_ok(partition_book_get(store, b, &y, &err), &err);
    compare_records(store, &x, &y);
    compare_topologies(store, &x, &y);
    compare_shards(store, &x, &y);
    store_release_record(&x.view);
    store_release_record(&y.view);
}

#endif
