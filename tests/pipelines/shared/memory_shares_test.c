#include "pipelines/shared/memory_shares.h"

#include "tests/support/test.h"

static uint64_t sum_of(const struct memory_shares *shares, int workers)
{
    uint64_t sum = 0;
    for (int i = 0; i < STAGE_LOOP_COUNT; i++)
        sum += (uint64_t)workers * shares->worker_bytes[i];
    return sum;
}

static void shares_of_all_processes_stay_within_the_budget(void **state)
{
    static const uint64_t budgets[] = {512ULL << 20, 2ULL << 30, 700ULL << 30};
    (void)state;
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++)
        for (int workers = 1, embeddings = 0; workers <= 2;
             workers += embeddings, embeddings = !embeddings) {
            struct memory_shares shares;
            struct error err = {0};
            assert_ok(memory_shares_divide(budgets[i], workers, embeddings, &shares, &err), &err);
            assert_true(sum_of(&shares, workers) <= budgets[i]);
            assert_true(sum_of(&shares, workers) >= budgets[i] / 4);
            assert_true(shares.once_bytes < budgets[i] && shares.once_bytes > budgets[i] / 2);
        }
}

static void train_step_has_a_share_for_embeddings(void **state)
{
    struct memory_shares plain, with;
    struct error err = {0};
    int found = 0;
    (void)state;
    assert_ok(memory_shares_divide(2ULL << 30, 1, false, &plain, &err), &err);
    assert_ok(memory_shares_divide(2ULL << 30, 1, true, &with, &err), &err);
    for (int i = 0; i < STAGE_LOOP_COUNT; i++) {
        const bool grows = with.worker_bytes[i] > plain.worker_bytes[i];
        assert_true(grows == (strcmp(stage_loop[i].name, "train-step") == 0));
        found += grows;
    }
    assert_int_equal(found, 1);
}

static void too_little_is_refused_with_the_least_that_works(void **state)
{
    struct memory_shares shares;
    struct error err = {0};
    (void)state;
    assert_fails(memory_shares_divide(128 << 20, 1, false, &shares, &err), ERROR_NO_MEMORY,
                 "is 128.0 MiB, expected at least 192.0 MiB", &err);
    assert_ok(memory_shares_divide(192 << 20, 1, false, &shares, &err), &err);
    assert_fails(memory_shares_divide(192 << 20, 2, false, &shares, &err), ERROR_NO_MEMORY,
                 "2 workers of each stage", &err);
}

static void each_stage_may_have_a_number_of_its_own(void **state)
{
    static const int counts[][STAGE_LOOP_COUNT] = {
        {1, 6, 1, 2, 1}, {9, 1, 1, 1, 3}, {0, 0, 0, 0, 4}};
    const uint64_t budget = 2ULL << 30;
    struct memory_shares shares;
    struct error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint64_t sum = 0;
        assert_ok(memory_shares_divide_each(budget, counts[i], false, &shares, &err), &err);
        for (int stage = 0; stage < STAGE_LOOP_COUNT; stage++)
            sum += (uint64_t)counts[i][stage] * shares.worker_bytes[stage];
        assert_true(sum <= budget && sum >= budget / 2);
    }
    assert_fails(memory_shares_divide_each(192 << 20, counts[0], false, &shares, &err),
                 ERROR_NO_MEMORY, "for 1 of sample, 6 of train-step, 1 of aggregate", &err);
}

static void without_a_budget_ingest_and_partition_keep_their_default(void **state)
{
    struct memory_shares shares;
    struct error err = {0};
    (void)state;
    assert_ok(memory_shares_divide(0, 1, false, &shares, &err), &err);
    assert_int_equal(shares.once_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_all_processes_stay_within_the_budget),
        cmocka_unit_test(train_step_has_a_share_for_embeddings),
        cmocka_unit_test(too_little_is_refused_with_the_least_that_works),
        cmocka_unit_test(each_stage_may_have_a_number_of_its_own),
        cmocka_unit_test(without_a_budget_ingest_and_partition_keep_their_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
