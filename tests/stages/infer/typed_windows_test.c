/*
 * Sums of sources in windows, compared with sums computed row by row.
 */
#include "stages/infer/windows/source_windows.h"

#include "tests/stages/infer/typed_run.h"
#include "tests/support/shard_damage.h"

/* The features take 1 MB. The smaller budget has room for one tile at a time and few blocks in a
 * window. */
enum { ROWS_BUDGET = 400000 };
static const uint64_t budgets[] = {560000, 6000000};

struct summing {
    struct typed_run *run;
    struct topology topology;
    struct inference_tiles *tiles;
    struct type_inputs *inputs;
    struct source_windows *windows;
    struct error err;
};

static const char *const sums[] = {"ingest.relations=true",
                                   "train-step.model=sage",
                                   "train-step.aggr=add",
                                   "train-step.hidden=8",
                                   "train-step.projection=none",
                                   "sample.fanouts=3,3",
                                   NULL};
static const char *const attention[] = {"ingest.relations=true",
                                        "train-step.model=gat",
                                        "train-step.heads=1",
                                        "train-step.hidden=256",
                                        "train-step.projection=none",
                                        "sample.fanouts=3,3",
                                        NULL};

static void summing_open_for(struct summing *s, void *temp, const char *const *settings,
                             uint64_t budget)
{
    *s = (struct summing){.run = typed_run_new(temp, settings)};
    assert_ok(topology_open(s->run->temp->store, &s->run->book, &s->topology, &s->err), &s->err);
    assert_ok(topology_open_parts(&s->topology, NULL, &s->err), &s->err);
    assert_ok(thread_pool_new(3, &s->run->context.pool, &s->err), &s->err);
    const struct inference_tiles_config tiles = {.context = &s->run->context,
                                                 .topology = &s->topology,
                                                 .model = &s->run->model,
                                                 .neighbor_bytes = 1ULL << 30,
                                                 .value_bytes = 1ULL << 30};
    assert_ok(inference_tiles_new(&tiles, &s->tiles, &s->err), &s->err);
    const struct type_inputs_config inputs = {.context = &s->run->context,
                                              .model = &s->run->model,
                                              .identity = &s->run->weights.last,
                                              .layer = 1,
                                              .budget_bytes = ROWS_BUDGET};
    assert_ok(type_inputs_open(&inputs, &s->inputs, &s->err), &s->err);
    assert_false(type_inputs_are_resident(s->inputs));
    const struct source_windows_config config = {.tiles = s->tiles,
                                                 .inputs = s->inputs,
                                                 .weights = s->run->weights.value,
                                                 .layer = 1,
                                                 .budget_bytes = budget};
    assert_true(source_windows_are_possible(&s->run->model, 1));
    assert_ok(source_windows_new(&config, &s->windows, &s->err), &s->err);
}

static void summing_open(struct summing *s, void *temp, uint64_t budget)
{
    summing_open_for(s, temp, sums, budget);
}

static void summing_close(struct summing *s)
{
    struct thread_pool *pool = s->run->context.pool;
    source_windows_free(s->windows);
    type_inputs_close(s->inputs);
    inference_tiles_free(s->tiles);
    topology_close(&s->topology);
    typed_run_close(s->run);
    thread_pool_free(pool);
}

/* Checks the sums of row `number` of the relation's target type. */
static void check_row(const struct summing *s, uint32_t r, uint32_t number, const float *found)
{
    const uint32_t source = typed_run_relation[r].source_type, dim = typed_run_dim[source];
    float sum[64] = {0};
    for (uint32_t e = s->run->row_start[r][number]; e < s->run->row_start[r][number + 1]; e++)
        for (uint32_t c = 0; c < dim; c++)
            sum[c] += typed_run_feature(source, s->run->neighbor[r][e], c);
    assert_memory_equal(found, sum, dim * sizeof *sum);
}

static void check_tile(struct summing *s, const struct inference_span *span)
{
    struct inference_tile tile;
    assert_ok(inference_tiles_gather(s->tiles, span, &tile, &s->err), &s->err);
    source_windows_take(s->windows, &tile);
    const uint32_t first = typed_run_cut[span->type][span->part] + span->first;
    for (uint32_t r = 0; r < TYPED_RUN_RELATIONS; r++) {
        const struct relation_edges *edges = &tile.block.edges[r];
        const uint32_t dim = typed_run_dim[typed_run_relation[r].source_type];
        for (uint32_t k = 0; k < edges->block.destination_count; k++)
            check_row(s, r, first + edges->row[k], tile.sum[r] + (size_t)k * dim);
    }
}

/* Sums a part. Returns how often sums were asked for. */
static int sum_part(struct summing *s, uint32_t type, int part)
{
    const uint32_t end = typed_run_cut[type][part + 1] - typed_run_cut[type][part];
    struct inference_span span = {.type = type, .part = part};
    uint32_t summed = 0;
    int count = 0;
    for (; span.first < end; span.first += span.count) {
        if (span.first >= summed) {
            assert_ok(source_windows_sum(s->windows, &span, end, &summed, &s->err), &s->err);
            assert_true(summed > span.first && summed <= end);
            count++;
        }
        span.count = inference_tiles_size(s->tiles, type, part, span.first, end);
        check_tile(s, &span);
    }
    return count;
}

static void sums_are_those_of_rows_one_by_one(void **state)
{
    (void)state;
    for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
        struct summing s;
        void *temp = NULL;
        int count = 0;
        assert_int_equal(temp_store_setup(&temp), 0);
        summing_open(&s, temp, budgets[b]);
        for (uint32_t type = 0; type < TYPED_RUN_TYPES; type++)
            for (int part = 0; part < TYPED_RUN_PARTS; part++)
                count += sum_part(&s, type, part);
        /* With room, a part of a type is summed at once. One part has no venues. */
        assert_true(b == 0 ? count > 8 : count == 8);
        summing_close(&s);
        assert_int_equal(temp_store_teardown(&temp), 0);
    }
}

/* Attention over relations sums tiles of papers and authors; typed_inference_test checks the
 * bits. */
static void attention_sums_the_rows_of_relations(void **state)
{
    struct summing s;
    summing_open_for(&s, *state, attention, 900000);
    assert_non_null(s.windows);
    for (uint32_t type = 0; type < TYPED_VENUE; type++) {
        const struct inference_span span = {.type = type};
        uint32_t summed = 0;
        assert_ok(source_windows_sum(s.windows, &span, typed_run_cut[type][1], &summed, &s.err),
                  &s.err);
        assert_true(summed > 0);
    }
    summing_close(&s);
}

static void where_there_is_no_room_nothing_is_summed(void **state)
{
    struct summing s;
    summing_open(&s, *state, 20000);
    assert_null(s.windows);
    summing_close(&s);
}

/* A tile of papers does not fit beside the longest block, but one of authors does. */
static void a_tile_without_room_is_not_summed(void **state)
{
    const struct inference_span paper = {.type = TYPED_PAPER};
    struct summing s;
    uint32_t summed = 0;
    summing_open(&s, *state, 300000);
    assert_non_null(s.windows);
    assert_ok(source_windows_sum(s.windows, &paper, typed_run_cut[TYPED_PAPER][1], &summed, &s.err),
              &s.err);
    assert_int_equal(summed, 0);
    summing_close(&s);
}

static void a_damaged_block_is_named(void **state)
{
    const struct inference_span paper = {.type = TYPED_PAPER};
    struct summing s;
    uint32_t summed = 0;
    summing_open(&s, *state, budgets[1]);
    type_inputs_close(s.inputs);
    s.inputs = NULL;
    source_windows_free(s.windows);
    s.windows = NULL;
    shard_damage_largest_table(s.run->temp->store,
                               key_part_type(s.run->book.id, 1, TYPED_AUTHOR, "shard"));
    const struct type_inputs_config inputs = {.context = &s.run->context,
                                              .model = &s.run->model,
                                              .identity = &s.run->weights.last,
                                              .layer = 1,
                                              .budget_bytes = ROWS_BUDGET};
    assert_ok(type_inputs_open(&inputs, &s.inputs, &s.err), &s.err);
    const struct source_windows_config config = {
        .tiles = s.tiles, .inputs = s.inputs, .layer = 1, .budget_bytes = budgets[1]};
    assert_ok(source_windows_new(&config, &s.windows, &s.err), &s.err);
    assert_fails(
        source_windows_sum(s.windows, &paper, typed_run_cut[TYPED_PAPER][1], &summed, &s.err),
        ERROR_CORRUPT, "shard", &s.err);
    summing_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_rows_one_by_one),
        test_with_store(attention_sums_the_rows_of_relations),
        test_with_store(where_there_is_no_room_nothing_is_summed),
        test_with_store(a_tile_without_room_is_not_summed),
        test_with_store(a_damaged_block_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
