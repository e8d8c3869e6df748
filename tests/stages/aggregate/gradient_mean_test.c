#include "common/base/memory.h"
#include "common/numbers/random.h"
#include "stages/aggregate/gradient_mean.h"
#include "store/records/round/gradient.h"

#include "tests/support/test.h"

#include <math.h>

enum { COUNT = 37, SLOTS = 11 };

static struct gradient slot_of(uint32_t slot, float *value)
{
    const struct random_stream stream = random_stream_of(3, RANDOM_GENERATOR, 0, 0, slot);
    for (uint64_t i = 0; i < COUNT; i++)
        value[i] = random_unit(random_word(&stream, i, 0)) - 0.5F;
    return (struct gradient){.value_count = COUNT,
                             .value = value,
                             .seed_count = 1 + slot * 7 % 5,
                             .correct_count = slot % 2,
                             .loss_sum = 0.25 * slot};
}

static void add_slots(struct gradient_mean *mean)
{
    static float value[SLOTS][COUNT];
    gradient_mean_reset(mean);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        struct gradient gradient = slot_of(slot, value[slot]);
        gradient_mean_add(mean, &gradient);
    }
    gradient_mean_finish(mean);
}

static void the_mean_is_that_over_all_seeds(void **state)
{
    (void)state;
    struct error err = {0};
    struct gradient_mean mean = {0};
    long double slow[COUNT] = {0}, loss = 0;
    uint64_t seeds = 0, right = 0;
    assert_ok(gradient_mean_init(&mean, COUNT, &err), &err);
    add_slots(&mean);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        float value[COUNT];
        const struct gradient g = slot_of(slot, value);
        for (size_t i = 0; i < COUNT; i++)
            for (uint64_t seed = 0; seed < g.seed_count; seed++)
                slow[i] += (long double)value[i];
        seeds += g.seed_count;
        right += g.correct_count;
        loss += (long double)g.loss_sum;
    }
    assert_int_equal(mean.seed_count, seeds);
    assert_int_equal(mean.correct_count, right);
    assert_true(mean.mean_loss == (double)(loss / seeds));
    for (size_t i = 0; i < COUNT; i++)
        assert_true(fabsl((long double)mean.value[i] - slow[i] / seeds) <= 1e-7L);
    gradient_mean_release(&mean);
}

static void equal_slots_give_that_slot_and_a_second_round_the_same_bits(void **state)
{
    (void)state;
    struct error err = {0};
    struct gradient_mean mean = {0};
    float value[COUNT], before[COUNT];
    const struct gradient gradient = slot_of(4, value);
    assert_ok(gradient_mean_init(&mean, COUNT, &err), &err);
    for (int slot = 0; slot < 1000; slot++) {
        struct gradient same = gradient;
        gradient_mean_add(&mean, &same);
    }
    gradient_mean_finish(&mean);
    assert_memory_equal(mean.value, value, sizeof value);

    add_slots(&mean);
    memcpy(before, mean.value, sizeof before);
    add_slots(&mean);
    assert_memory_equal(mean.value, before, sizeof before);
    gradient_mean_release(&mean);
}

/* Adds slot after slot in double and divides once: runs and their replays depend on these bits. */
static void the_bits_are_those_of_the_plain_loops(void **state)
{
    (void)state;
    struct error err = {0};
    struct gradient_mean mean = {0};
    static float value[SLOTS][COUNT];
    assert_ok(gradient_mean_init(&mean, COUNT, &err), &err);
    for (uint32_t slots = 1; slots <= SLOTS; slots++) {
        double sum[COUNT] = {0}, seeds = 0;
        float expected[COUNT];
        gradient_mean_reset(&mean);
        for (uint32_t slot = 0; slot < slots; slot++) {
            struct gradient gradient = slot_of(slot, value[slot]);
            value[slot][slot] = -0.0F;
            value[slot][COUNT - 1] = -0.0F;
            seeds += (double)gradient.seed_count;
            for (size_t i = 0; i < COUNT; i++)
                sum[i] += (double)gradient.seed_count * (double)value[slot][i];
            gradient_mean_add(&mean, &gradient);
        }
        gradient_mean_finish(&mean);
        for (size_t i = 0; i < COUNT; i++)
            expected[i] = (float)(sum[i] / seeds);
        assert_memory_equal(mean.value, expected, sizeof expected);
    }
    gradient_mean_release(&mean);
}

static void a_slot_without_labels_adds_nothing(void **state)
{
    (void)state;
    struct error err = {0};
    struct gradient_mean mean = {0};
    float value[COUNT], nothing[COUNT];
    struct gradient gradient = slot_of(2, value);
    for (size_t i = 0; i < COUNT; i++)
        nothing[i] = NAN;
    struct gradient empty = {.value_count = COUNT, .value = nothing};
    assert_ok(gradient_mean_init(&mean, COUNT, &err), &err);
    gradient_mean_add(&mean, &empty);
    gradient_mean_finish(&mean);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(mean.value[i] == 0.0F);
    assert_true(mean.mean_loss == 0.0);
    gradient_mean_add(&mean, &gradient);
    gradient_mean_finish(&mean);
    assert_memory_equal(mean.value, value, sizeof value);
    gradient_mean_release(&mean);
}

static void nothing_leaks_when_memory_runs_out(void **state)
{
    (void)state;
    const long live = memory_live_blocks();
    for (long allowed = 0; allowed < 2; allowed++) {
        struct error err = {0};
        struct gradient_mean mean = {0};
        memory_fail_after(allowed);
        const enum error_code rc = gradient_mean_init(&mean, COUNT, &err);
        memory_fail_after(-1);
        assert_int_equal(rc, ERROR_NO_MEMORY);
        assert_null(mean.sum);
        assert_int_equal(memory_live_blocks(), live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mean_is_that_over_all_seeds),
        cmocka_unit_test(equal_slots_give_that_slot_and_a_second_round_the_same_bits),
        cmocka_unit_test(the_bits_are_those_of_the_plain_loops),
        cmocka_unit_test(a_slot_without_labels_adds_nothing),
        cmocka_unit_test(nothing_leaks_when_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
