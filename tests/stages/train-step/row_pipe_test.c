#include "stages/train-step/row_pipe.h"

#include "tests/stages/train-step/batch_fixture.h"

enum { MOST = 3 * FIXTURE_NODES };

/* What one visit showed, in its order. */
struct seen {
    size_t count;
    uint32_t place[MOST];
    float row[MOST][FIXTURE_DIM];
};

static void see(void *context, const struct feature_visit *visit)
{
    struct seen *seen = context;
    assert_in_range(visit->count, 1, MOST - seen->count);
    for (uint32_t i = 0; i < visit->count; i++, seen->count++) {
        seen->place[seen->count] = visit->place[i];
        memcpy(seen->row[seen->count], visit->row[i], sizeof *seen->row);
    }
}

/* Some nodes, in no order, some of them more than once. */
static void draw_nodes(uint32_t *node, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        node[i] = (uint32_t)((i * 1999 + seed * 7919 + i * i % 31) % FIXTURE_NODES);
}

/* By the pipe it is what it is without. */
static void check_visit(struct batch_fixture *f, const uint32_t *node, size_t count)
{
    static struct seen plain, piped;
    struct feature_source *features = f->preparer.features;
    plain.count = piped.count = 0;
    assert_ok(feature_source_visit(features, node, count, see, &plain, NULL, &f->err), &f->err);
    assert_ok(row_pipe_visit(features, node, count, see, &piped, &f->err), &f->err);
    assert_int_equal(plain.count, count);
    assert_int_equal(piped.count, count);
    assert_memory_equal(piped.place, plain.place, count * sizeof *plain.place);
    assert_memory_equal(piped.row, plain.row, count * sizeof *plain.row);
    for (size_t i = 0; i < count; i++)
        assert_memory_equal(piped.row[i], f->feature + (size_t)node[piped.place[i]] * FIXTURE_DIM,
                            sizeof *piped.row);
}

static void rows_come_in_the_same_order_as_without_it(void **state)
{
    const size_t counts[] = {0, 1, 255, 900, FIXTURE_NODES, MOST};
    static uint32_t node[MOST];
    const long blocks = memory_live_blocks();
    struct batch_fixture f;
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_SAGE, 32, 200000);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        draw_nodes(node, counts[c], c);
        check_visit(&f, node, counts[c]);
    }
    for (size_t i = 0; i < MOST; i++) /* a node more often than a slot has rows */
        node[i] = i % 2 ? 77 : (uint32_t)i / 4;
    check_visit(&f, node, MOST);
    batch_fixture_close(&f);
    assert_int_equal(memory_live_blocks(), blocks);
}

static void kept_rows_come_in_their_turn(void **state)
{
    static uint32_t node[MOST], kept[FIXTURE_NODES / 3];
    struct batch_fixture f;
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_SAGE, 32, 240000);
    for (uint32_t i = 0; i < FIXTURE_NODES / 3; i++)
        kept[i] = 3 * i;
    assert_ok(feature_source_keep(f.preparer.features, kept, FIXTURE_NODES / 3, 240000, &f.err),
              &f.err);
    draw_nodes(node, 900, 4);
    check_visit(&f, node, 900);
    assert_true(feature_source_kept(f.preparer.features) > 0);
    batch_fixture_close(&f);
}

static void what_the_reading_thread_meets_is_told(void **state)
{
    static struct seen seen;
    static uint32_t node[MOST];
    struct batch_fixture f;
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_SAGE, 32, 200000);
    draw_nodes(node, MOST, 1);
    node[MOST / 2] = FIXTURE_NODES;
    seen.count = 0;
    assert_fails(row_pipe_visit(f.preparer.features, node, MOST, see, &seen, &f.err), ERROR_CORRUPT,
                 "tensor features: expected node ids below 4000, found 4000", &f.err);
    assert_int_equal(seen.count, 0);
    draw_nodes(node, MOST, 1);
    feature_source_limit(f.preparer.features, 1000);
    assert_fails(row_pipe_visit(f.preparer.features, node, MOST, see, &seen, &f.err),
                 ERROR_NO_MEMORY, "tensor features: 12000 rows want", &f.err);
    batch_fixture_close(&f);
}

static void refused_memory_leaves_nothing(void **state)
{
    static struct seen seen;
    static uint32_t node[900];
    struct batch_fixture f;
    enum error_code rc = ERROR_NO_MEMORY;
    batch_fixture_open(&f, ((struct temp_store *)*state)->store, LAYER_SAGE, 32, 200000);
    draw_nodes(node, 900, 1);
    check_visit(&f, node, 900); /* the order of a batch has its room */
    const long blocks = memory_live_blocks();
    for (long n = 0; rc != ERROR_NONE; n++) {
        assert_in_range(n, 0, 20);
        seen.count = 0;
        memory_fail_after(n);
        rc = row_pipe_visit(f.preparer.features, node, 900, see, &seen, &f.err);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), blocks);
    }
    assert_int_equal(seen.count, 900);
    batch_fixture_close(&f);
}

static void it_takes_what_it_says(void **state)
{
    (void)state;
    assert_true(row_pipe_bytes(400) >= (uint64_t)4 * FEATURE_VISIT_MAX * 400);
    assert_int_equal(row_pipe_bytes(500) - row_pipe_bytes(400),
                     row_pipe_bytes(400) - row_pipe_bytes(300));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_come_in_the_same_order_as_without_it, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(kept_rows_come_in_their_turn, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(what_the_reading_thread_meets_is_told, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(refused_memory_leaves_nothing, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test(it_takes_what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
