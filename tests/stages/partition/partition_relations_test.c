/* Partitions of a graph with relations, compared with its dataset the slow way. */
#include "common/base/memory.h"
#include "store/features/feature_shard.h"
#include "store/records/partition/partition_report.h"

#include "tests/stages/partition/partition_fixture.h"
#include "tests/support/typed_dataset.h"

enum { MEMORY = 1 << 30, PARTS = 3 };

static struct typed_edges edges;

static struct partition_book partition(struct temp_store *t, enum partition_method method,
                                       bool is_replay)
{
    struct partition_book book;
    const struct pipeline_settings settings = settings_of("typed", method, PARTS);
    assert_ok(run_partition(t->store, &settings, MEMORY, is_replay, &t->err), &t->err);
    open_book(t->store, &settings, &book);
    return book;
}

static uint32_t type_of(uint32_t dataset_node)
{
    return dataset_node < TYPED_AUTHORS ? 0 : dataset_node < TYPED_AUTHORS + TYPED_PAPERS ? 1 : 2;
}

/* Checks that each type is a range of each part, and that the ranges together are all nodes. */
static void check_ranges(const struct partition_book *book, const uint32_t *to_dataset)
{
    const struct type_ranges ranges = partition_book_ranges(book);
    uint32_t next = 0;
    assert_int_equal(partition_book_types(book), 3);
    for (int p = 0; p < PARTS; p++)
        for (uint32_t t = 0; t < 3; t++) {
            assert_int_equal(type_ranges_first(&ranges, p, t), next);
            for (uint32_t i = 0; i < type_ranges_count(&ranges, p, t); i++, next++) {
                assert_int_equal(type_of(to_dataset[next]), t);
                assert_int_equal(type_ranges_type(&ranges, p, next), t);
                assert_int_equal(type_ranges_part(&ranges, next), p);
            }
        }
    assert_int_equal(next, TYPED_NODES);
}

/* Checks that every edge is in its relation. The weight of an edge is its number. */
static void check_topology(struct store *store, const struct partition_book *book,
                           const uint32_t *to_dataset)
{
    struct topology topology;
    struct error err = {0};
    bool found[TYPED_EDGES] = {false};
    uint32_t count = 0;
    assert_ok(topology_open(store, book, &topology, &err), &err);
    assert_ok(topology_open_parts(&topology, NULL, &err), &err);
    assert_int_equal(topology.width.of[EDGE_TYPE], 0);
    for (int p = 0; p < PARTS; p++)
        for (uint32_t r = 0; r < TYPED_RELATIONS; r++) {
            const struct topology_part *rows = topology_rows(&topology, p, r);
            for (uint32_t row = 0; row < rows->node_count; row++)
                for (uint64_t i = topology_row_start(rows, row);
                     i < topology_row_start(rows, row + 1); i++, count++) {
                    const uint32_t e =
                        (uint32_t) * (const float *)topology_column(rows, EDGE_WEIGHT, i);
                    assert_false(found[e]);
                    found[e] = true;
                    assert_int_equal(edges.relation[e], r);
                    assert_int_equal(edges.source[e], to_dataset[*topology_neighbor(rows, i)]);
                    assert_int_equal(edges.target[e], to_dataset[rows->first_node + row]);
                }
        }
    assert_int_equal(count, TYPED_EDGES);
    topology_close(&topology);
}

static void check_shards(struct store *store, const struct partition_book *book,
                         const uint32_t *to_dataset)
{
    static const uint32_t dim[] = {0, TYPED_PAPER_DIM, TYPED_VENUE_DIM};
    static float row[FEATURE_BLOCK_ROWS * TYPED_PAPER_DIM];
    static int32_t label[FEATURE_BLOCK_ROWS];
    const struct type_ranges ranges = partition_book_ranges(book);
    struct error err = {0};
    bool found = true;
    for (int p = 0; p < PARTS; p++) {
        assert_ok(store_has(store, key_part_type(book->id, p, 0, "shard_seal").text, &found, &err),
                  &err);
        assert_false(found);
        for (uint32_t t = 1; t < 3; t++) {
            const uint32_t first = type_ranges_first(&ranges, p, t);
            const uint32_t nodes = type_ranges_count(&ranges, p, t);
            struct feature_shard *shard = NULL;
            uint32_t count = 0;
            assert_ok(feature_shard_open(store, key_part_type(book->id, p, t, "shard").text,
                                         key_part_type(book->id, p, t, "shard_seal").text, book->id,
                                         &shard, &err),
                      &err);
            assert_int_equal(feature_shard_tensor(shard, "features")->row_count, nodes);
            assert_int_equal(feature_shard_tensor(shard, "features")->dim, dim[t]);
            assert_int_equal(feature_shard_tensor(shard, "labels") != NULL, t == 1);
            if (nodes)
                assert_ok(feature_shard_read_block(shard, "features", 0, row, &count, &err), &err);
            for (uint32_t i = 0; i < nodes * dim[t]; i++)
                assert_true(row[i] ==
                            typed_dataset_feature(to_dataset[first + i / dim[t]], i % dim[t]));
            if (t == 1)
                assert_ok(feature_shard_read_block(shard, "labels", 0, label, &count, &err), &err);
            for (uint32_t i = 0; t == 1 && i < nodes; i++)
                assert_int_equal(label[i], to_dataset[first + i] % 3);
            feature_shard_close(shard);
        }
    }
}

static void check_report(struct store *store, const struct partition_book *book,
                         const uint32_t *to_dataset)
{
    static bool met[PARTS][TYPED_RELATIONS][TYPED_NODES];
    struct partition_report report;
    struct error err = {0};
    uint64_t count[TYPED_RELATIONS] = {0}, cut[TYPED_RELATIONS] = {0}, halo[TYPED_RELATIONS] = {0};
    const struct type_ranges ranges = partition_book_ranges(book);
    int part[TYPED_NODES];
    memset(met, 0, sizeof met);
    for (uint32_t v = 0; v < TYPED_NODES; v++)
        part[to_dataset[v]] = type_ranges_part(&ranges, v);
    for (uint32_t e = 0; e < TYPED_EDGES; e++) {
        const uint32_t r = edges.relation[e], source = edges.source[e];
        const int owner = part[edges.target[e]];
        count[r]++;
        if (part[source] == owner)
            continue;
        cut[r]++;
        halo[r] += !met[owner][r][source];
        met[owner][r][source] = true;
    }
    assert_ok(partition_report_get(store, book->id, &report, &err), &err);
    assert_int_equal(report.relation_count, TYPED_RELATIONS);
    assert_string_equal(report.relation[3].name, "rev_writes");
    for (uint32_t r = 0; r < TYPED_RELATIONS; r++) {
        assert_int_equal(report.relation[r].edges, count[r]);
        assert_int_equal(report.relation[r].cut_edges, cut[r]);
        assert_int_equal(report.relation[r].halo, halo[r]);
    }
    partition_report_release(&report);
}

static void check(struct temp_store *t, struct partition_book *book)
{
    struct node_permutation permutation;
    assert_ok(node_permutation_get(t->store, book->id, TYPED_NODES, &permutation, &t->err),
              &t->err);
    assert_int_equal(partition_book_relations(book), TYPED_RELATIONS);
    assert_string_equal(book->type_name[2], "venue");
    assert_int_equal(book->target_type, 1);
    assert_int_equal(partition_book_relation(book, 2)->target_type, 2);
    check_ranges(book, permutation.to_dataset);
    check_topology(t->store, book, permutation.to_dataset);
    check_shards(t->store, book, permutation.to_dataset);
    check_report(t->store, book, permutation.to_dataset);
    store_release_record(&permutation.view);
}

static void every_method_keeps_what_the_dataset_has(void **state)
{
    struct temp_store *t = *state;
    static const enum partition_method methods[] = {PARTITION_METIS,    PARTITION_HASH,
                                                    PARTITION_LDG,      PARTITION_FENNEL,
                                                    PARTITION_RANGE,    PARTITION_LABEL_PROPAGATION,
                                                    PARTITION_SPECTRAL, PARTITION_RANDOM_WALK};
    typed_edges_fill(&edges);
    typed_dataset_write(t->store);
    publish_dataset(t->store, "typed", "typed-1");
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        struct partition_book book = partition(t, methods[m], false);
        check(t, &book);
        store_release_record(&book.view);
        /* Partitioning again must give the same bytes; other bytes would be refused. */
        book = partition(t, methods[m], true);
        store_release_record(&book.view);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(every_method_keeps_what_the_dataset_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
