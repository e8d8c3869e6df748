/* Mini-batches of several node types and relations. */
#include "common/base/memory.h"
#include "store/records/batch/mini_batch.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <string.h>

/*
 * Two hops over author (type 0) and paper (1): writes 0 -> 1, cites 1 -> 1, rev_writes 1 -> 0.
 * Seeds are papers 50 and 51. Hop 1: 50 <- authors 7, 8; 50 <- paper 52. Hop 2: 52 <- author 8; 52
 * <- paper 51; 7 <- paper 53.
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

static struct mini_batch example(void)
{
    return (struct mini_batch){
        .hop_count = 2,
        .type_count = 2,
        .relation_count = 3,
        .seed_count = 2,
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
static enum error_code store_and_read(struct temp_store *t, const struct mini_batch *batch,
                                      struct mini_batch *out)
{
    struct arena scratch = {0};
    enum error_code rc = mini_batch_put(t->store, "k", "r", batch, &scratch, &t->err);
    arena_release(&scratch);
    if (rc == ERROR_NONE)
        rc = mini_batch_get(t->store, "k", "r", out, &t->err);
    struct error ignored = {0};
    assert_ok(store_remove(t->store, "k", &ignored), &ignored);
    return rc;
}

static void assert_is_example(const struct mini_batch *read)
{
    const struct mini_batch batch = *read;
    assert_int_equal(batch.seed_count, 2);
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
}

static void a_batch_comes_back(void **state)
{
    struct temp_store *t = *state;
    struct mini_batch batch = {0};
    const struct mini_batch written = example();
    assert_ok(store_and_read(t, &written, &batch), &t->err);
    assert_is_example(&batch);
    mini_batch_release(&batch);
}

/* The relation of papers tells of its own sources, the other two of each other's. */
static void what_both_ends_have_comes_back(void **state)
{
    static const uint16_t back[] = {2, 1, 0}, wrong[] = {1, 1, 0};
    static const uint32_t end_degree[] = {2, 0, 4, 1, 3, 1, 0, 7, 9, 12};
    static const float sum[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    struct temp_store *t = *state;
    uint32_t destinations[2], sources[2];
    struct relation_edges edges[3];
    struct relation_block block;
    struct mini_batch batch = {0}, written = example();
    written.back = back;
    written.end_degree = end_degree;
    written.weight_sum = sum;
    assert_ok(store_and_read(t, &written, &batch), &t->err);
    assert_is_example(&batch);
    mini_batch_relation_block(&batch, 0, destinations, sources, edges, &block);
    assert_memory_equal(edges[0].source_degree, end_degree + 8, 2 * sizeof *end_degree);
    assert_memory_equal(edges[1].source_degree, end_degree + 4, 4 * sizeof *end_degree);
    assert_memory_equal(edges[2].source_degree, end_degree, 4 * sizeof *end_degree);
    assert_memory_equal(edges[2].source_sum, sum, 4 * sizeof *sum);
    assert_memory_equal(edges[2].target_sum, sum + 8, 2 * sizeof *sum);
    mini_batch_release(&batch);
    written.back = wrong;
    assert_int_equal(store_and_read(t, &written, &batch), ERROR_CORRUPT);
    assert_non_null(strstr(t->err.message, "back[0]: expected a relation to type 0, found 1"));
    mini_batch_release(&batch);
}

/* The first layer computes what was known after hop 1 from all; the second the seeds from that. */
static void a_layer_computes_a_prefix_of_each_type(void **state)
{
    (void)state;
    uint32_t destinations[2], sources[2];
    struct relation_edges edges[3];
    struct relation_block block;
    const struct mini_batch batch = example();
    mini_batch_relation_block(&batch, 0, destinations, sources, edges, &block);
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
    mini_batch_relation_block(&batch, 1, destinations, sources, edges, &block);
    assert_int_equal(destinations[0], 0);
    assert_int_equal(destinations[1], 2);
    assert_int_equal(sources[0], 2);
    assert_int_equal(sources[1], 3);
    assert_int_equal(edges[0].block.destination_count, 1);
    assert_int_equal(edges[1].block.destination_count, 1);
    assert_int_equal(edges[2].block.destination_count, 0);
    assert_int_equal(message_block_edges(&edges[0].block), 2);
}

/* Two parts: authors 0 to 7 and papers 8 to 51 in the first, authors 52 and papers 53 to 59 in the
 * second. */
static void nodes_have_numbers_in_their_type(void **state)
{
    (void)state;
    static const uint32_t parts[] = {0, 52, 60}, types[] = {0, 8, 52, 52, 53, 60};
    const struct type_ranges ranges = {2, 2, parts, types};
    struct mini_batch batch = example();
    uint32_t book[3], number[4];
    struct error err = {0};
    static const uint32_t fit[] = {7, 52, 50, 51, 53, 8};
    batch.node = fit;
    type_ranges_book(&ranges, 0, book);
    assert_ok(mini_batch_numbers(&batch, 0, &ranges, book, number, &err), &err);
    assert_int_equal(number[0], 7);
    assert_int_equal(number[1], 8);
    type_ranges_book(&ranges, 1, book);
    assert_ok(mini_batch_numbers(&batch, 1, &ranges, book, number, &err), &err);
    assert_memory_equal(number, ((const uint32_t[]){42, 43, 44, 0}), sizeof number);
    batch.node = node; /* author 8 is a paper there */
    type_ranges_book(&ranges, 0, book);
    assert_fails(mini_batch_numbers(&batch, 0, &ranges, book, number, &err), ERROR_CORRUPT,
                 "node[1]: expected a node of type 0, found 8", &err);
}

static void refuse(struct temp_store *t, const struct mini_batch *bad, const char *message)
{
    struct mini_batch batch = {0};
    assert_fails(store_and_read(t, bad, &batch), ERROR_CORRUPT, message, &t->err);
    assert_int_equal(batch.node_count, 0);
    mini_batch_release(&batch);
}

static void what_does_not_fit_is_refused(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t falling[] = {0, 2, 2, 2, 1, 4}, no_seeds[] = {0, 2, 2, 0, 3, 4};
    static const uint32_t twice[] = {7, 8, 50, 7, 52, 53};
    static const uint32_t backwards[] = {2, 0, 0, 2, 0}, beyond[] = {0, 3, 0, 2, 0};
    static const uint32_t unknown[] = {0, 1, 1, 3, 1, 3}, low[] = {1, 4, 1, 1, 9};
    static const uint32_t empty[] = {0, 0, 3, 0, 1, 2, 0, 1};
    struct mini_batch bad = example();
    bad.hop_end = falling;
    refuse(t, &bad, "hop_end[4]: expected at least hop_end[3] = 2, found 1");
    bad.hop_end = no_seeds;
    bad.seed_count = 0;
    refuse(t, &bad, "hop_end[0]: expected at least one seed node, found 0");
    bad = example();
    bad.node = twice;
    refuse(t, &bad, "node[3]: expected each node once, found 7, which is node[0] too");
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
    refuse(t, &bad, "row_length: expected rows of 1 or more");
}

/* --- what is stored --- */

static void add(struct record_view *view, const char *name, enum element_type type, uint64_t count,
                const void *data)
{
    struct record_section *section = &view->section[view->section_count++];
    *section = (struct record_section){.type = type, .count = count, .data = data};
    memcpy(section->name, name, strlen(name));
}

static const uint64_t word_node = 7 | 8 << 6 | 50 << 12 | 51 << 18 | 52 << 24 | UINT64_C(53) << 30;
static const uint64_t word_row = 0 | 2 << 2 | 0 << 4 | 2 << 6 | 0 << 8;
static const uint64_t word_length = 2 | 1 << 2 | 1 << 4 | 1 << 6 | 1 << 8;
static const uint64_t word_degree = 2 | 4 << 4 | 1 << 8 | 1 << 12 | 9 << 16;
static const uint32_t row_count[] = {2, 2, 1}, one_column[] = {1};

/* The bytes that the header promises. */
static void is_stored_as_the_header_says(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t shape[] = {2, 3}, width[] = {6, 2, 1, 4, 2};
    static const uint64_t is_new = 0x2b, rest = 3; /* edges 0, 1, 3 and 5 find 7, 8, 52 and 53 */
    struct arena scratch = {0};
    struct record_view view, expected = {0};
    const struct mini_batch written = example();
    add(&expected, "shape", ELEMENT_U32, 2, shape);
    add(&expected, "ends", ELEMENT_U16, 6, ends);
    add(&expected, "row_count", ELEMENT_U32, 3, row_count);
    add(&expected, "hop_end", ELEMENT_U32, 6, hop_end);
    add(&expected, "width", ELEMENT_U32, 5, width);
    add(&expected, "node", ELEMENT_U64, 1, &word_node);
    add(&expected, "row_length", ELEMENT_U64, 1, &word_length);
    add(&expected, "is_new", ELEMENT_U64, 1, &is_new);
    add(&expected, "neighbor", ELEMENT_U64, 1, &rest);
    add(&expected, "row", ELEMENT_U64, 1, &word_row);
    add(&expected, "degree", ELEMENT_U64, 1, &word_degree);
    add(&expected, "edge_widths", ELEMENT_U32, 1, one_column);
    add(&expected, "weight", ELEMENT_F32, 6, weight);
    assert_ok(mini_batch_put(t->store, "k", "r", &written, &scratch, &t->err), &t->err);
    assert_ok(store_get(t->store, "k", "r", &view, &t->err), &t->err);
    assert_int_equal(view.version, 6);
    assert_int_equal(view.section_count, expected.section_count);
    for (uint32_t i = 0; i < view.section_count; i++) {
        const struct record_section *a = &view.section[i], *b = &expected.section[i];
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->type, b->type);
        assert_int_equal(a->count, b->count);
        assert_memory_equal(a->data, b->data, a->count * element_size(a->type));
    }
    store_release_record(&view);
    arena_release(&scratch);
}

/* Releases before version 6 wrote this of a graph with relations. */
static struct record_view old_view(const uint16_t *of)
{
    static const uint32_t shape[] = {2, 2, 3}, width[] = {6, 2, 2, 2, 4};
    static const uint64_t word_neighbor = 0 | 1 << 2 | 1 << 4 | 2 << 6 | 1 << 8 | 3 << 10;
    struct record_view view = {.kind = RECORD_MINI_BATCH, .version = 32, .key = "old"};
    add(&view, "shape", ELEMENT_U32, 3, shape);
    add(&view, "ends", ELEMENT_U16, 6, of);
    add(&view, "hop_end", ELEMENT_U32, 6, hop_end);
    add(&view, "row_count", ELEMENT_U32, 3, row_count);
    add(&view, "width", ELEMENT_U32, 5, width);
    add(&view, "node", ELEMENT_U64, 1, &word_node);
    add(&view, "row", ELEMENT_U64, 1, &word_row);
    add(&view, "row_length", ELEMENT_U64, 1, &word_length);
    add(&view, "neighbor", ELEMENT_U64, 1, &word_neighbor);
    add(&view, "degree", ELEMENT_U64, 1, &word_degree);
    add(&view, "edge_widths", ELEMENT_U32, 1, one_column);
    add(&view, "weight", ELEMENT_F32, 6, weight);
    return view;
}

static void the_old_version_is_still_read(void **state)
{
    (void)state;
    static const uint16_t far[] = {0, 1, 1, 2, 1, 0};
    struct mini_batch batch = {0};
    struct error err = {0};
    const struct record_view view = old_view(ends), bad = old_view(far);
    assert_ok(mini_batch_decode(&view, &batch, &err), &err);
    assert_is_example(&batch);
    assert_fails(mini_batch_decode(&bad, &batch, &err), ERROR_CORRUPT,
                 "record old: ends[3]: expected a type below 2, found 2", &err);
    mini_batch_release(&batch);
}

/* --- the other forms --- */

/* All edges in both layers: the last computes the seeds. */
static void a_subgraph_has_the_same_edges_for_all_layers(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t known[] = {0, 2, 2, 2, 4, 4};
    struct mini_batch written = example(), batch = {0};
    uint32_t destinations[2], sources[2];
    struct relation_edges edges[3];
    struct relation_block block;
    written.form = BATCH_SUBGRAPH;
    written.hop_end = known;
    assert_ok(store_and_read(t, &written, &batch), &t->err);
    assert_memory_equal(batch.neighbor, neighbor, sizeof neighbor);
    mini_batch_relation_block(&batch, 0, destinations, sources, edges, &block);
    assert_int_equal(destinations[1], 4);
    assert_int_equal(edges[1].block.destination_count, 2);
    mini_batch_relation_block(&batch, 1, destinations, sources, edges, &block);
    assert_int_equal(destinations[1], 2);
    assert_int_equal(sources[1], 4);
    assert_int_equal(edges[1].block.destination_count, 1);
    assert_int_equal(edges[2].block.destination_count, 0);
    static const uint32_t uneven[] = {0, 2, 2, 2, 3, 4};
    written.hop_end = uneven;
    refuse(t, &written, "hop_end[5]: expected all 3 nodes, as hop_end[4] has, found 4");
    mini_batch_release(&batch);
}

/* Each hop has rows of its own: here those of papers 50 and 52 are of the first and the second. */
static void a_layered_batch_has_rows_for_each_hop(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t of_hop[] = {0, 1, 2, 0, 1, 2, 0, 0, 1};
    static const float factor[] = {1, 2, 3, 4, 5, 6};
    struct mini_batch written = example(), batch = {0};
    uint32_t destinations[2], sources[2];
    struct relation_edges edges[3];
    struct relation_block block;
    written.form = BATCH_LAYERED;
    written.hop_row = of_hop;
    written.edge_factor = factor;
    assert_ok(store_and_read(t, &written, &batch), &t->err);
    assert_memory_equal(batch.hop_row, of_hop, sizeof of_hop);
    assert_memory_equal(batch.neighbor, neighbor, sizeof neighbor);
    mini_batch_relation_block(&batch, 0, destinations, sources, edges, &block);
    assert_int_equal(edges[0].block.destination_count, 1);
    assert_int_equal(edges[0].row[0], 2);
    assert_int_equal(edges[0].block.row_start[0], 2);
    assert_int_equal(edges[0].block.neighbor[edges[0].block.row_start[0]], 1);
    assert_true(edges[0].block.edge_factor[2] == 3.0F && edges[0].block.degree[0] == 4);
    mini_batch_relation_block(&batch, 1, destinations, sources, edges, &block);
    assert_int_equal(edges[0].row[0], 0);
    assert_int_equal(edges[2].block.destination_count, 0);
    static const uint32_t late[] = {2, 0, 0, 2, 0}; /* paper 52 is not known before the first hop */
    written.row = late;
    refuse(t, &written, "row[0]: expected ascending below 2, found 2");
    mini_batch_release(&batch);
}

/* Seeds 0 and 1 are papers 50 and 51; 51 is drawn for seed 0 a second time. */
static void a_disjoint_batch_keeps_its_seeds_apart(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t again[] = {7, 8, 50, 51, 52, 51};
    static const uint32_t of[] = {0, 0, 0, 1, 0, 0}, joined[] = {0, 0, 0, 1, 0, 1};
    static const uint32_t apart[] = {0, 1, 1, 2, 2, 3}; /* 52 hears itself, not the seed 51 */
    static const int64_t time[] = {-5, INT64_MAX};
    struct mini_batch written = example(), batch = {0};
    written.node = again;
    written.neighbor = apart;
    written.seed_of = of;
    written.seed_time = time;
    assert_ok(store_and_read(t, &written, &batch), &t->err);
    assert_memory_equal(batch.seed_of, of, sizeof of);
    assert_memory_equal(batch.seed_time, time, sizeof time);
    assert_int_equal(mini_batch_seed_place(&batch, 1), 3);
    written.seed_of = joined;
    refuse(t, &written, "neighbor[5]: expected a node of seed 0, found one of seed 1");
    mini_batch_release(&batch);
}

static void every_failed_allocation_is_reported(void **state)
{
    struct temp_store *t = *state;
    const struct mini_batch written = example();
    enum error_code rc = ERROR_NO_MEMORY;
    for (long n = 0; rc != ERROR_NONE; n++) {
        struct mini_batch batch = {0};
        const long before = memory_live_blocks();
        memory_fail_after(n);
        struct arena scratch = {0};
        rc = mini_batch_put(t->store, "k", "r", &written, &scratch, &t->err);
        if (rc == ERROR_NONE)
            rc = mini_batch_get(t->store, "k", "r", &batch, &t->err);
        memory_fail_after(-1);
        arena_release(&scratch);
        mini_batch_release(&batch);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), before);
        assert_true(n < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_batch_comes_back),
        test_with_store(what_both_ends_have_comes_back),
        test_with_store(a_layer_computes_a_prefix_of_each_type),
        test_with_store(nodes_have_numbers_in_their_type),
        test_with_store(what_does_not_fit_is_refused),
        test_with_store(is_stored_as_the_header_says),
        cmocka_unit_test(the_old_version_is_still_read),
        test_with_store(a_subgraph_has_the_same_edges_for_all_layers),
        test_with_store(a_layered_batch_has_rows_for_each_hop),
        test_with_store(a_disjoint_batch_keeps_its_seeds_apart),
        test_with_store(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
