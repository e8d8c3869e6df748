#include "stages/plan/chain/unit.h"

#include "tests/support/test.h"

static void names_say_what_is_made(void **state)
{
    (void)state;
    static const struct {
        struct unit unit;
        const char *name, *stage;
    } known[] = {
        {{.kind = UNIT_INGEST}, "ingest", "ingest"},
        {{.kind = UNIT_PARTITION}, "partition", "partition"},
        {{.kind = UNIT_INITIALISE}, "initialise", "aggregate"},
        {{.kind = UNIT_COUNT_WALKS}, "count-walks", "sample"},
        {{.kind = UNIT_SAMPLE, .round = 17, .slot = 2}, "sample/17/2", "sample"},
        {{.kind = UNIT_SAMPLE_EVALUATION, .slot = 3}, "sample-evaluation/3", "sample"},
        {{.kind = UNIT_TRAIN_STEP, .round = 4294967295, .slot = 65535},
         "train-step/4294967295/65535",
         "train-step"},
        {{.kind = UNIT_STEP_LAYER, .round = 17, .layer = 3, .slot = 2},
         "step-layer/17/3/2",
         "train-step"},
        {{.kind = UNIT_EVALUATE, .round = 5, .slot = 1}, "evaluate/5/1", "train-step"},
        {{.kind = UNIT_SUM_GRADIENTS, .round = 9, .slot = 3}, "sum-gradients/9/3", "aggregate"},
        {{.kind = UNIT_AGGREGATE, .round = 9}, "aggregate/9", "aggregate"},
        {{.kind = UNIT_SEAL_ROWS, .round = 9, .slot = 2}, "seal-rows/9/2", "train-step"},
        {{.kind = UNIT_CHECKPOINT, .round = 10}, "checkpoint/10", "checkpoint"},
        {{.kind = UNIT_INFER, .round = 60, .layer = 2, .slot = 7}, "infer/60/2/7", "infer"},
        {{.kind = UNIT_OUTPUTS, .round = 60}, "outputs/60", "infer"},
    };
    assert_int_equal(sizeof known / sizeof *known, UNIT_KIND_COUNT - 1);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct error err = {0};
        struct unit read = {0};
        char name[UNIT_NAME_SIZE];
        unit_name(&known[i].unit, name);
        assert_string_equal(name, known[i].name);
        assert_ok(unit_parse(name, &read, &err), &err);
        assert_true(unit_equal(&read, &known[i].unit));
        assert_string_equal(unit_stage(read.kind), known[i].stage);
    }
}

static void refuses_what_names_no_unit(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "samples/1/2",
                                      "sample",
                                      "sample/1",
                                      "sample/1/2/3",
                                      "sample/1/",
                                      "sample//2",
                                      "sample/-1/2",
                                      "sample/x/2",
                                      "sample/1/2 ",
                                      "outputs",
                                      "infer/2/7",
                                      "step-layer/2/7",
                                      "initialise/0",
                                      "infer/60/1001/0",
                                      "aggregate/99999999999999999999",
                                      "sample/1/2147483648",
                                      "/sample/1/2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error err = {0};
        struct unit unit = {0};
        assert_fails(unit_parse(bad[i], &unit, &err), ERROR_INVALID, "names no unit of work", &err);
        assert_non_null(strstr(err.message, bad[i]));
    }
}

static void units_differ_in_every_number(void **state)
{
    (void)state;
    const struct unit unit = {.kind = UNIT_INFER, .round = 1, .slot = 2, .layer = 3};
    struct unit other = unit;
    assert_true(unit_equal(&unit, &other));
    other.kind = UNIT_SAMPLE;
    assert_false(unit_equal(&unit, &other));
    other = unit, other.round++;
    assert_false(unit_equal(&unit, &other));
    other = unit, other.slot++;
    assert_false(unit_equal(&unit, &other));
    other = unit, other.layer++;
    assert_false(unit_equal(&unit, &other));
}

static void a_unit_of_another_stage_is_refused(void **state)
{
    (void)state;
    struct error err = {0};
    const struct unit unit = {.kind = UNIT_EVALUATE, .round = 1};
    assert_ok(unit_check_stage(&unit, "train-step", &err), &err);
    assert_fails(unit_check_stage(&unit, "infer", &err), ERROR_INVALID,
                 "a unit of graphmill-train-step, this is graphmill-infer", &err);
}

static void a_kind_that_is_none_has_no_stage(void **state)
{
    (void)state;
    assert_string_equal(unit_stage(UNIT_UNKNOWN), "unknown");
    assert_string_equal(unit_stage(UNIT_KIND_COUNT), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_say_what_is_made),
        cmocka_unit_test(refuses_what_names_no_unit),
        cmocka_unit_test(units_differ_in_every_number),
        cmocka_unit_test(a_unit_of_another_stage_is_refused),
        cmocka_unit_test(a_kind_that_is_none_has_no_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
