/* Gradients added up by range, or as a tree, give the weights of one sum over all. */
#include "stages/plan/chain/gradient_sums.h"
#include "store/backends/memory/memory_backend.h"
#include "store/records/round/gradient_range.h"

#include "tests/stages/small_run.h"
#include "tests/support/record_tamper.h"

#include <math.h>
#include <stdio.h>

enum { ROUNDS = 3 };

/* 26 training nodes: rounds of 9 slots, of which the last has 2 nodes. */
static void begin(struct small_run *run, struct store *store, const char *const *more)
{
    const char *set[16] = {"epochs=5", "sample.batch_size=3", "sample.batches_per_round=9",
                           "aggregate.clip_norm=0.5"};
    for (int i = 4; more && *more; i++)
        set[i] = *more++;
    small_run_init(run, store, 26, 4, set);
    assert_int_equal(schedule_slot_count(&run->schedule, 0), 9);
}

static struct store *open_memory(const char *name)
{
    struct store *store = NULL;
    struct error err = {0};
    char uri[64];
    (void)snprintf(uri, sizeof uri, "memory:%s", name);
    assert_ok(store_open(uri, 0, &store, &err), &err);
    return store;
}

/* Stores a gradient in ranges, or as one record. */
static void put_gradient(struct small_run *run, int64_t round, int32_t slot,
                         const struct gradient *gradient, uint64_t trained_count)
{
    const struct gradient_form floats = {.encoded_count = trained_count};
    const int ranges = gradient_sum_ranges(&run->schedule);
    const enum error_code rc =
        ranges ? gradient_put_ranges(run->store, SMALL_RUN_ID, round, slot, gradient, &floats,
                                     ranges, &run->err)
               : gradient_put(run->store, SMALL_RUN_ID, round, slot, gradient, NULL, &run->err);
    assert_ok(rc, &run->err);
}

static void put_gradients(struct small_run *run, int64_t round)
{
    for (int32_t slot = 0; slot < schedule_slot_count(&run->schedule, round); slot++) {
        float value[SMALL_VALUES];
        struct gradient gradient = small_run_gradient(run, round, slot, value);
        if (slot == 4) /* without a labelled seed, so its values have no meaning */
            gradient.seed_count = gradient.correct_count = 0;
        put_gradient(run, round, slot, &gradient, SMALL_VALUES);
    }
}

static enum error_code make_sum(struct small_run *run, void *state, int64_t round, int32_t sum)
{
    const struct unit unit = {.kind = UNIT_SUM_GRADIENTS, .round = round, .slot = sum};
    run->err = (struct error){0};
    return stage.work(&run->context, state, &unit, &run->err);
}

/* Does rounds in which three workers make the sums, ranges from the last on: the order must not
 * matter. */
static void do_rounds(struct small_run *run)
{
    void *worker[3] = {NULL};
    for (int i = 0; i < 3; i++)
        assert_ok(stage.open(&run->context, &worker[i], &run->err), &run->err);
    assert_ok(small_run_work(run, worker[0], UNIT_INITIALISE, 0), &run->err);
    for (int64_t round = 0; round < ROUNDS; round++) {
        put_gradients(run, round);
        const int32_t sums = gradient_sum_count(&run->schedule, round);
        for (int32_t sum = 0; sum < sums; sum++)
            assert_ok(make_sum(run, worker[((int64_t)sum * 7 + round) % 3], round, sum), &run->err);
        assert_ok(small_run_work(run, worker[round % 3], UNIT_AGGREGATE, round), &run->err);
    }
    for (int i = 0; i < 3; i++)
        stage.close(worker[i]);
}

static void assert_same_weights(struct small_run *a, struct small_run *b)
{
    for (int64_t version = 0; version <= ROUNDS; version++) {
        assert_same_record(a, b, key_weights(SMALL_RUN_ID, version).text);
        assert_same_record(a, b, key_optimizer_state(SMALL_RUN_ID, version).text);
    }
}

static void any_number_of_ranges_gives_the_same_bits(void **state)
{
    (void)state;
    static const char *const counts[] = {"aggregate.ranges=2", "aggregate.ranges=5",
                                         "aggregate.ranges=64"};
    struct small_run one, other;
    begin(&one, open_memory("one"), NULL);
    do_rounds(&one);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const char *const set[] = {counts[i], NULL};
        begin(&other, open_memory("other"), set);
        do_rounds(&other);
        assert_same_weights(&one, &other);
        store_close(other.store);
        memory_store_forget("other");
    }
    store_close(one.store);
    memory_store_forget("one");
}

/* A tree has other sums, so the last bits may differ; but a tree gives the same bits with any
 * number of ranges. */
static void a_tree_gives_the_same_mean(void **state)
{
    (void)state;
    static const char *const fan_ins[] = {"aggregate.fan_in=2", "aggregate.fan_in=4"};
    for (size_t i = 0; i < 2; i++) {
        struct small_run plain, tree, ranges;
        const char *const set[] = {fan_ins[i], NULL};
        const char *const set_ranges[] = {fan_ins[i], "aggregate.ranges=3", NULL};
        begin(&plain, open_memory("plain"), NULL);
        begin(&tree, open_memory("tree"), set);
        begin(&ranges, open_memory("ranges"), set_ranges);
        do_rounds(&plain);
        do_rounds(&tree);
        do_rounds(&ranges);
        assert_same_weights(&tree, &ranges);
        struct weights a = {0}, b = {0};
        assert_ok(weights_get(plain.store, SMALL_RUN_ID, ROUNDS, &a, &plain.err), &plain.err);
        assert_ok(weights_get(tree.store, SMALL_RUN_ID, ROUNDS, &b, &tree.err), &tree.err);
        for (int k = 0; k < SMALL_VALUES; k++)
            assert_true(fabsf(a.value[k] - b.value[k]) < 1e-5F);
        assert_true(a.progress[PROGRESS_SEEDS] == b.progress[PROGRESS_SEEDS]);
        assert_true(fabs(a.progress[PROGRESS_LOSS] - b.progress[PROGRESS_LOSS]) < 1e-12);
        store_release_record(&a.view);
        store_release_record(&b.view);
        store_close(plain.store);
        store_close(tree.store);
        store_close(ranges.store);
        memory_store_forget("plain");
        memory_store_forget("tree");
        memory_store_forget("ranges");
    }
}

/* A small model with batch norms: their statistics are stored with the last range. */
static void statistics_of_batch_norms_go_along(void **state)
{
    (void)state;
    static const char *const settings[][3] = {{"train-step.norm=batch"},
                                              {"train-step.norm=batch", "aggregate.ranges=3"},
                                              {"train-step.norm=batch", "aggregate.fan_in=3"}};
    enum { TRAINED = SMALL_VALUES + 2 * SMALL_HIDDEN, BUFFERS = 2 * SMALL_HIDDEN + 1 };
    float running[3][BUFFERS];
    for (size_t i = 0; i < 3; i++) {
        struct small_run run;
        struct weights weights = {0};
        void *worker = NULL;
        begin(&run, open_memory("norms"), settings[i]);
        assert_ok(stage.open(&run.context, &worker, &run.err), &run.err);
        assert_ok(small_run_work(&run, worker, UNIT_INITIALISE, 0), &run.err);
        for (int32_t slot = 0; slot < 9; slot++) {
            float value[TRAINED + BUFFERS] = {0};
            for (int k = 0; k < BUFFERS; k++)
                value[TRAINED + k] = (float)((slot + 2) * (k + 1)) / 16;
            value[TRAINED + BUFFERS - 1] = (float)(slot + 1); /* number of rows */
            const struct gradient gradient = {
                .value_count = TRAINED + BUFFERS, .value = value, .seed_count = 3};
            put_gradient(&run, 0, slot, &gradient, TRAINED);
        }
        for (int32_t sum = 0; sum < gradient_sum_count(&run.schedule, 0); sum++)
            assert_ok(make_sum(&run, worker, 0, sum), &run.err);
        assert_ok(small_run_work(&run, worker, UNIT_AGGREGATE, 0), &run.err);
        assert_ok(weights_get(run.store, SMALL_RUN_ID, 1, &weights, &run.err), &run.err);
        assert_int_equal(weights.value_count, TRAINED + BUFFERS);
        memcpy(running[i], weights.value + TRAINED, sizeof running[i]);
        store_release_record(&weights.view);
        stage.close(worker);
        store_close(run.store);
        memory_store_forget("norms");
    }
    assert_memory_equal(running[0], running[1], sizeof running[0]);
    for (int k = 0; k < BUFFERS; k++)
        assert_true(fabsf(running[0][k] - running[2][k]) <= 1e-6F * fabsf(running[0][k]));
    assert_true(running[0][0] > 0);
}

static void what_cannot_be_added_is_refused(void **state)
{
    struct temp_store *temp = *state;
    static const uint64_t version[] = {1}, range[] = {0, SMALL_VALUES - 1};
    static const double numbers[SMALL_VALUES];
    static const struct tamper changes[] = {{"version", ELEMENT_U64, version, 1},
                                            {"range", ELEMENT_U64, range, 2},
                                            {"sum", ELEMENT_F64, numbers, 16},
                                            {"statistics", ELEMENT_F64, numbers, 4}};
    static const char *const words[] = {"made from weights version 1, expected 0",
                                        "expected values 0 to", "expected values 0 to", NULL};
    static const char *const set[] = {"aggregate.ranges=2", NULL};
    struct small_run run;
    void *worker = NULL;
    begin(&run, temp->store, set);
    assert_ok(stage.open(&run.context, &worker, &run.err), &run.err);
    put_gradients(&run, 0);
    for (size_t i = 0; i < 3; i++) {
        const struct key key = key_gradient_range(SMALL_RUN_ID, 0, 5, 0);
        record_tamper(run.store, key.text, SMALL_RUN_ID, &changes[i]);
        assert_fails(make_sum(&run, worker, 0, 0), ERROR_CORRUPT, words[i], &run.err);
        assert_ok(store_remove(run.store, key.text, &run.err), &run.err);
        assert_fails(make_sum(&run, worker, 0, 0), ERROR_NOT_FOUND, key.text, &run.err);
        put_gradients(&run, 0);
    }
    assert_ok(make_sum(&run, worker, 0, 0), &run.err);
    assert_ok(make_sum(&run, worker, 0, 1), &run.err);
    assert_ok(small_run_work(&run, worker, UNIT_INITIALISE, 0), &run.err);
    record_tamper(run.store, key_gradient_sum(SMALL_RUN_ID, 0, 1).text, SMALL_RUN_ID, &changes[3]);
    assert_fails(small_run_work(&run, worker, UNIT_AGGREGATE, 0), ERROR_CORRUPT,
                 "and 4 statistics, expected values", &run.err);
    stage.close(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_ranges_gives_the_same_bits),
        cmocka_unit_test(a_tree_gives_the_same_mean),
        cmocka_unit_test(statistics_of_batch_norms_go_along),
        test_with_store(what_cannot_be_added_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
