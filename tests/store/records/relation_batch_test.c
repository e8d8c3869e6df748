#include "common/base/memory.h"
#include "store/records/relation_batch.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

/*
 * Two hops over author (type 0) and paper (1): writes 0 -> 1, cites 1 -> 1, rev_writes 1 -> 0. Seeds are papers 50 and 51.
 * Hop 1: 50 <- authors 7, 8; 50 <- paper 52. Hop 2: 52 <- author 8; 52 <- paper 51; 7 <- paper 53.
 */
static const uint16_t ends[] = {0, 1, 1, 1, 1, 0};
static const uint32_t hop_end[] = {0, 2, 2, 2, 3, 4};
static const uint32_t node_begin[] = {0, 2, 6};
static const uint32_t node[] = {7, 8, 50, 51, 52, 53};
static const uint32_t row_begin[] = {0, 2, 4, 5}, edge_begin[] = {0, 3, 5, 6};
static const uint32_t row[] = {0, 2, 0, 2, 0};
static const uint32_t row_start[] = {0, 2, 3, 0, 1, 2, 0, 1};
static const uint32_t neighbor[] = {0, 1, 1, 2, 1, 3};
static const uint32_t degree[] = {2, 4, 1, 1, 9};
static const float weight[] = {1, 2, 3, 4, 5, 6};

static struct relation_batch example(void)
{
    return (struct relation_batch){
        .hop_count = 2,
        .type_count = 2,
        .relation_count = 3,
        .node_count = 6,
        .row_count = 5,
        .edge_count = 6,
        .ends = ends,
        .hop_end = hop_end,
        .node_begin = node_begin,
        .node = node,
        .row_begin = row_begin,
        .edge_begin = edge_begin,
        .row = row,
        .row_start = row_start,
        .neighbor = neighbor,
        .degree = degree,
        .columns = {{{[EDGE_WEIGHT] = 1}}, {[EDGE_WEIGHT] = weight}},
    };
}

/* Stores the batch and reads it. */
static enum error_code store_and_read(struct temp_store *t, const struct relation_batch *batch,
                                      struct relation_batch *out)
{
    struct arena scratch = {0};
    enum error_code rc = relation_batch_put(t->store, "k", "r", batch, &scratch, &t->err);
    arena_release(&scratch);
    if (rc == ERROR_NONE)
        rc = relation_batch_get(t->store, "k", "r", out, &t->err);
    struct error ignored = {0};
    assert_ok(store_remove(t->store, "k", &ignored), &ignored);
    return rc;
}

static void a_batch_comes_back(void **state)
{
    struct temp_store *t = *state;
    struct relation_batch batch = {0};
    const struct relation_batch written = example();
    assert_ok(store_and_read(t, &written, &batch), &t->err);
    assert_int_equal(batch.node_count, 6);
    assert_int_equal(batch.row_count, 5);
    assert_int_equal(batch.edge_count, 6);
    assert_memory_equal(batch.ends, ends, sizeof ends);
    assert_memory_equal(batch.hop_end, hop_end, sizeof hop_end);
    assert_memory_equal(batch.node_begin, node_begin, sizeof node_begin);
    assert_memory_equal(batch.node, node, sizeof node);
    assert_memory_equal(batch.row_begin, row_begin, sizeof row_begin);
    assert_memory_equal(batch.edge_begin, edge_begin, sizeof edge_begin);
    assert_memory_equal(batch.row, row, sizeof row);
    assert_memory_equal(batch.row_start, row_start, sizeof row_start);
    assert_memory_equal(batch.neighbor, neighbor, sizeof neighbor);
    assert_memory_equal(batch.degree, degree, sizeof degree);
    assert_memory_equal(batch.columns.data[EDGE_WEIGHT], weight, sizeof weight);
    relation_batch_release(&batch);
}

/* The first layer computes what was known after hop 1 from all; the second the seeds from that. */
static void a_layer_computes_a_prefix_of_each_type(void **state)
{
    (void)state;
    uint32_t destinations[2], sources[2];
    struct relation_edges edges[3];
    struct relation_block block;
    const struct relation_batch batch = example();
    relation_batch_block(&batch, 0, destinations, sources, edges, &block);
    assert_int_equal(destinations[0], 2);
    assert_int_equal(destinations[1], 3);
    assert_int_equal(sources[0], 2);
    assert_int_equal(sources[1], 4);
    assert_int_equal(edges[0].block.destination_count, 2);
    assert_int_equal(edges[1].block.destination_count, 2);
    assert_int_equal(edges[2].block.destination_count, 1);
    assert_int_equal(edges[1].row[1], 2);
    assert_int_equal(edges[1].block.neighbor[edges[1].block.row_start[1]], 1);
    assert_true(edges[2].block.is_bipartite && edges[2].block.degree[0] == 9);
    assert_int_equal(edges[2].block.source_count, 4);
    assert_int_equal(edges[2].block.neighbor[0], 3);
    assert_true(edges[1].block.edge_value[1] == 5.0F);
    relation_batch_block(&batch, 1, destinations, sources, edges, &block);
    assert_int_equal(destinations[0], 0);
    assert_int_equal(destinations[1], 2);
    assert_int_equal(sources[0], 2);
    assert_int_equal(sources[1], 3);
    assert_int_equal(edges[0].block.destination_count, 1);
    assert_int_equal(edges[1].block.destination_count, 1);
    assert_int_equal(edges[2].block.destination_count, 0);
    assert_int_equal(message_block_edges(&edges[0].block), 2);
}

/* Two parts: authors 0 to 7 and papers 8 to 51 in the first, authors 52 and papers 53 to 59 in the second. */
static void nodes_have_numbers_in_their_type(void **state)
{
    (void)state;
    static const uint32_t parts[] = {0, 52, 60}, types[] = {0, 8, 52, 52, 53, 60};
    const struct type_ranges ranges = {2, 2, parts, types};
    struct relation_batch batch = example();
    uint32_t book[3], number[4];
    struct error err = {0};
    static const uint32_t fit[] = {7, 52, 50, 51, 53, 8};
    batch.node = fit;
    type_ranges_book(&ranges, 0, book);
    assert_ok(relation_batch_numbers(&batch, 0, &ranges, book, number, &err), &err);
    assert_int_equal(number[0], 7);
    assert_int_equal(number[1], 8);
    type_ranges_book(&ranges, 1, book);
    assert_ok(relation_batch_numbers(&batch, 1, &ranges, book, number, &err), &err);
    assert_memory_equal(number, ((const uint32_t[]){42, 43, 44, 0}), sizeof number);
    batch.node = node; /* author 8 is a paper there */
    type_ranges_book(&ranges, 0, book);
    assert_fails(relation_batch_numbers(&batch, 0, &ranges, book, number, &err), ERROR_CORRUPT,
                 "node[1]: expected a node of type 0, found 8", &err);
}

static void refuse(struct temp_store *t, const struct relation_batch *bad, const char *message)
{
    struct relation_batch batch = {0};
    assert_fails(store_and_read(t, bad, &batch), ERROR_CORRUPT, message, &t->err);
    assert_int_equal(batch.node_count, 0);
    relation_batch_release(&batch);
}

static void what_does_not_fit_is_refused(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t falling[] = {0, 2, 2, 2, 1, 4}, no_seeds[] = {0, 2, 2, 0, 3, 4};
    static const uint32_t twice[] = {7, 8, 50, 7, 52, 53};
    static const uint32_t backwards[] = {2, 0, 0, 2, 0}, beyond[] = {0, 3, 0, 2, 0};
    static const uint32_t unknown[] = {0, 1, 1, 3, 1, 3}, low[] = {1, 4, 1, 1, 9};
    static const uint32_t empty[] = {0, 0, 3, 0, 1, 2, 0, 1};
    static const uint16_t far[] = {0, 1, 1, 2, 1, 0};
    struct relation_batch bad = example();
    bad.hop_end = falling;
    refuse(t, &bad, "hop_end: type 1: expected at least 2 nodes after hop 1, found 1");
    bad.hop_end = no_seeds;
    refuse(t, &bad, "hop_end: expected seeds");
    bad = example();
    bad.node = twice;
    refuse(t, &bad, "node[3]: expected each node once, found 7 a second time");
    bad = example();
    bad.row = backwards;
    refuse(t, &bad, "row[1]: expected ascending below 3, found 0");
    bad.row = beyond;
    refuse(t, &bad, "row[1]: expected ascending below 3, found 3");
    bad = example();
    bad.neighbor = unknown; /* of a seed, and known after the second hop only */
    refuse(t, &bad, "neighbor[3]: expected below 3, found 3");
    bad = example();
    bad.degree = low;
    refuse(t, &bad, "degree[0]: expected at least 2, found 1");
    bad = example();
    bad.row_start = empty;
    refuse(t, &bad, "row_length[0]: expected 1 or more");
    bad = example();
    bad.ends = far;
    refuse(t, &bad, "ends[3]: expected a type below 2, found 2");
}

static void a_plain_mini_batch_is_none(void **state)
{
    struct temp_store *t = *state;
    struct mini_batch plain = {0};
    struct relation_batch batch = {0};
    struct arena scratch = {0};
    const struct relation_batch written = example();
    assert_ok(relation_batch_put(t->store, "k", "r", &written, &scratch, &t->err), &t->err);
    assert_fails(mini_batch_get(t->store, "k", "r", &plain, &t->err), ERROR_CORRUPT,
                 "format version", &t->err);
    arena_release(&scratch);
    mini_batch_release(&plain);
    relation_batch_release(&batch);
}

static void every_failed_allocation_is_reported(void **state)
{
    struct temp_store *t = *state;
    const struct relation_batch written = example();
    enum error_code rc = ERROR_NO_MEMORY;
    for (long n = 0; rc != ERROR_NONE; n++) {
        struct relation_batch batch = {0};
        const long before = memory_live_blocks();
        memory_fail_after(n);
        struct arena scratch = {0};
        rc = relation_batch_put(t->store, "k", "r", &written, &scratch, &t->err);
        if (rc == ERROR_NONE)
            rc = relation_batch_get(t->store, "k", "r", &batch, &t->err);
        memory_fail_after(-1);
        arena_release(&scratch);
        relation_batch_release(&batch);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), before);
        assert_true(n < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_batch_comes_back),
        test_with_store(a_layer_computes_a_prefix_of_each_type),
        test_with_store(nodes_have_numbers_in_their_type),
        test_with_store(what_does_not_fit_is_refused),
        test_with_store(a_plain_mini_batch_is_none),
        test_with_store(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
