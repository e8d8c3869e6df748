/*
 * Attention over sources in windows, compared with attention over tiles.
 */
#include "tests/stages/infer/infer_layers.h"

/* GAT with one head and with more, concatenated and averaged. In the first layer of the second
 * case no tile is summed in windows; in that of the third some are. */
static void attention_in_windows_is_that_of_a_tile(void **state)
{
    static const struct infer_case cases[] = {
        {.model = "gat", .heads = "1", .hidden = "64", .fanouts = "3, 3"},
        {.model = "gat", .heads = "3", .hidden = "6", .near = true, .class_count = 12},
        {.model = "gat", .heads = "1", .hidden = "36", .near = true},
        {.model = "gat", .heads = "5", .hidden = "200"},
        {.model = "gat", .heads = "3", .hidden = "90", .edge_dim = 3},
        {.model = "gat", .heads = "1", .hidden = "36", .near = true, .edge_dim = 20},
    };
    static const struct infer_conditions others[] = {
        {.threads = 1, .input_bytes = 390000, .windows_bytes = 5300000},
        {.threads = 4, .input_bytes = 390000, .windows_bytes = 6000000},
        {.threads = 3, .input_bytes = 390000, .windows_bytes = 20000000},
    };
    (void)state;
    for (size_t m = 0; m < sizeof cases / sizeof *cases; m++) {
        void *temp = NULL;
        assert_int_equal(temp_store_setup(&temp), 0);
        struct infer_run *run = infer_run_new(temp, &cases[m]);
        infer_all_layers(run, &plenty);
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            infer_all_layers(run, &others[i]);
        infer_run_close(run);
        assert_int_equal(temp_store_teardown(&temp), 0);
    }
}

/* Computes the last layer [INFER_NODES, class_count] under each of these conditions, which must
 * give the same bits. */
static void infer_last_layer(const struct infer_case *what, const struct infer_conditions *how,
                             size_t count, float *out)
{
    void *temp = NULL;
    assert_int_equal(temp_store_setup(&temp), 0);
    struct infer_run *run = infer_run_new(temp, what);
    for (size_t i = 0; i < count; i++)
        infer_all_layers(run, &how[i]);
    const uint32_t classes = run->book.class_count;
    float *found = infer_run_layer(run, 5, run->model.config.layer_count, classes);
    memcpy(out, found, sizeof *out * INFER_NODES * classes);
    memory_free(found);
    infer_run_close(run);
    assert_int_equal(temp_store_teardown(&temp), 0);
}

/* GATv2 has the same bits whether its rows fit or not, and nearly the values of the computation
 * in training. */
static void gatv2_in_windows_is_near_that_of_a_tile(void **state)
{
    static const struct infer_case cases[] = {
        {.model = "gatv2", .heads = "1", .hidden = "64", .fanouts = "3, 3"},
        {.model = "gatv2", .heads = "3", .hidden = "6", .near = true, .class_count = 12},
        {.model = "gatv2", .heads = "2", .hidden = "20", .edge_dim = 3},
        {.model = "gatv2", .heads = "5", .hidden = "35", .near = true, .edge_dim = 20},
    };
    static const struct infer_conditions windows[] = {
        {.threads = 1, .input_bytes = 1ULL << 30, .windows_bytes = 1ULL << 30},
        {.threads = 1, .input_bytes = 390000, .windows_bytes = 3000000},
        {.threads = 4, .input_bytes = 390000, .windows_bytes = 4300000},
        {.threads = 3, .input_bytes = 1ULL << 30, .windows_bytes = 4700000},
    };
    (void)state;
    for (size_t m = 0; m < sizeof cases / sizeof *cases; m++) {
        static float tile[INFER_NODES * 12], found[INFER_NODES * 12];
        static double expected[INFER_NODES * 12];
        const size_t count =
            (size_t)INFER_NODES * (cases[m].class_count ? cases[m].class_count : 3);
        infer_last_layer(&cases[m], &plenty, 1, tile);
        infer_last_layer(&cases[m], windows, sizeof windows / sizeof *windows, found);
        for (size_t i = 0; i < count; i++)
            expected[i] = (double)tile[i];
        infer_run_assert_close(found, expected, count, 2e-5);
    }
}

/* Returns the rows that passes over the 1600 nodes of a part read, and the number of passes. */
static uint64_t rows_read(const struct infer_case *what, uint64_t windows_bytes, int *passes)
{
    void *temp = NULL;
    struct infer_layer l;
    assert_int_equal(temp_store_setup(&temp), 0);
    struct infer_run *run = infer_run_new(temp, what);
    infer_layer_open(&l, run, 1, &plenty);
    infer_layer_open_inputs(&l, 390000, windows_bytes);
    struct inference_span span = {.part = 1};
    const uint32_t end = run->parts[2] - run->parts[1];
    for (*passes = 0; span.first < end; (*passes)++) {
        uint32_t summed = 0;
        assert_ok(source_windows_sum(l.windows, &span, end, &summed, &run->err), &run->err);
        assert_true(summed > span.first);
        span.first = summed;
    }
    const uint64_t count = source_windows_rows(l.windows);
    infer_layer_close(&l);
    infer_run_close(run);
    assert_int_equal(temp_store_teardown(&temp), 0);
    return count;
}

/* Destinations that fit together read all sources once, and their own rows. GAT reads all rows
 * once more before. */
static void attention_reads_rows_once_for_many_destinations(void **state)
{
    static const struct {
        struct infer_case what;
        uint64_t some, all; /* memory for two passes, and for one */
        uint64_t ahead;
    } cases[] = {
        {{.model = "gatv2", .heads = "2", .hidden = "20"}, 340000, 4000000, 0},
        {{.model = "gatv2", .heads = "2", .hidden = "20", .edge_dim = 3}, 340000, 4000000, 0},
        {{.model = "gat", .heads = "2", .hidden = "80", .edge_dim = 3},
         540000,
         4000000,
         INFER_NODES},
    };
    (void)state;
    for (size_t m = 0; m < sizeof cases / sizeof *cases; m++) {
        int passes = 0;
        assert_true(rows_read(&cases[m].what, cases[m].some, &passes) ==
                    cases[m].ahead + 1600 + UINT64_C(2) * INFER_NODES);
        assert_int_equal(passes, 2);
        assert_true(rows_read(&cases[m].what, cases[m].all, &passes) ==
                    cases[m].ahead + 1600 + INFER_NODES);
        assert_int_equal(passes, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_in_windows_is_that_of_a_tile),
        cmocka_unit_test(gatv2_in_windows_is_near_that_of_a_tile),
        cmocka_unit_test(attention_reads_rows_once_for_many_destinations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
