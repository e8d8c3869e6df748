/*
 * Sums of a part's sources in windows, for each layer that has them, compared with a gather.
 */
#include "stages/infer/windows/part_inference.h"

#include "tests/stages/infer/infer_layers.h"

/* The graph has hubs whose edges fill a piece several times, and self loops. Windows have from
 * one block to all rows. In training, GCN projects before it sums in the first and last of these
 * layers. */
static void sums_in_windows_are_those_of_a_gather(void **state)
{
    static const struct {
        const char *model, *aggr;
        bool near, weighted;
        const char *fanouts;
    } cases[] = {
        {"sage", NULL, false, false, "3, 3, 3"}, {"gcn", NULL, false, false, "3, 3, 3"},
        {"sage", NULL, true, false, "3, 3, 3"},  {"gcn", NULL, true, false, "3, 3, 3"},
        {"sage", NULL, false, true, "3, 3, 3"},  {"gcn", NULL, false, true, "3, 3, 3"},
        {"sage", NULL, true, true, "3, 3, 3"},   {"gcn", NULL, true, true, "3, 3, 3"},
        {"sage", "max", false, false, "3, 3"},   {"sage", "max", true, true, "3, 3"},
        {"graph_conv", "max", true, true, "3"},  {"gin", NULL, false, false, "3, 3"},
        {"gin", NULL, true, true, "3, 3"},       {"le", NULL, false, false, "3, 3"},
        {"le", NULL, true, true, "3, 3"},        {"appnp", NULL, false, false, "3, 3"},
        {"appnp", NULL, true, true, "3, 3"},     {"sgc", NULL, false, true, "3, 3"},
    };
    static const struct infer_conditions others[] = {
        {.threads = 1, .input_bytes = 300000, .windows_bytes = 350000},
        {.threads = 4, .input_bytes = 300000, .windows_bytes = 390000},
        {.threads = 3, .input_bytes = 300000, .windows_bytes = 2000000},
    };
    (void)state;
    for (size_t m = 0; m < sizeof cases / sizeof *cases; m++) {
        void *temp = NULL;
        const struct infer_case what = {.model = cases[m].model,
                                        .aggr = cases[m].aggr,
                                        .near = cases[m].near,
                                        .weighted = cases[m].weighted,
                                        .fanouts = cases[m].fanouts};
        assert_int_equal(temp_store_setup(&temp), 0);
        struct infer_run *run = infer_run_new(temp, &what);
        infer_all_layers(run, &plenty);
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            struct infer_conditions how = others[i];
            how.windows_bytes += what.weighted ? (uint64_t)how.threads * 8192 * sizeof(float) : 0;
            infer_all_layers(run, &how);
        }
        infer_run_close(run);
        assert_int_equal(temp_store_teardown(&temp), 0);
    }
}

/* A layer that is always summed is refused if a tile, or even a block, does not fit. Any other
 * layer then has no windows. */
static void windows_that_do_not_fit_are_refused(void **state)
{
    static const struct infer_case always = {.model = "gatv2", .heads = "2", .hidden = "20"};
    struct infer_run *run = infer_run_new(*state, &always);
    struct infer_layer l;
    const struct inference_span first = {.part = 1};
    uint32_t summed = 0;
    infer_layer_open(&l, run, 1, &plenty);
    infer_layer_open_inputs(&l, 300000, 280000);
    assert_fails(source_windows_sum(l.windows, &first, 1600, &summed, &run->err), ERROR_NO_MEMORY,
                 "nodes and a block of the rows that layer 1 reads want", &run->err);
    source_windows_free(l.windows);
    l.windows = NULL;
    struct source_windows_config config = {.tiles = l.tiles,
                                           .inputs = l.inputs,
                                           .weights = run->weights.value,
                                           .layer = 1,
                                           .budget_bytes = 20000};
    const long blocks = memory_live_blocks();
    assert_fails(source_windows_new(&config, &l.windows, &run->err), ERROR_NO_MEMORY,
                 "the rows that layer 1 reads want", &run->err);
    assert_int_equal(memory_live_blocks(), blocks);
    infer_layer_close(&l);
    infer_run_close(run);
}

static void sums_without_room_have_no_windows(void **state)
{
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    struct infer_layer l;
    infer_layer_open(&l, run, 1, &plenty);
    infer_layer_open_inputs(&l, 300000, 1ULL << 30);
    source_windows_free(l.windows);
    l.windows = NULL;
    const struct source_windows_config config = {
        .tiles = l.tiles, .inputs = l.inputs, .layer = 1, .budget_bytes = 20000};
    const long blocks = memory_live_blocks();
    assert_ok(source_windows_new(&config, &l.windows, &run->err), &run->err);
    assert_null(l.windows);
    assert_int_equal(memory_live_blocks(), blocks);
    infer_layer_close(&l);
    infer_run_close(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_in_windows_are_those_of_a_gather),
        test_with_store(windows_that_do_not_fit_are_refused),
        test_with_store(sums_without_room_have_no_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
