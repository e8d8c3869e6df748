#include "pipelines/report/run_metrics.h"

#include "tests/support/test.h"

#include <math.h>

static void rounds_and_snapshots_are_two_tables(void **state)
{
    (void)state;
    static const char text[] =
        "{\"round\":0,\"epoch\":1,\"loss\":2.5,\"accuracy\":null}\n"
        "{\"round\":1,\"epoch\":1,\"loss\":2.0,\"gradient_error\":0.125}\n"
        "{\"snapshot\":2,\"epoch\":1,\"valid_mrr\":0.5,\"best\":2,\"stop\":false}\n";
    struct run_metrics metrics;
    struct error err = {0};
    assert_ok(run_metrics_parse(text, sizeof text - 1, "metrics", &metrics, &err), &err);
    assert_int_equal(metrics.rounds.count, 2);
    assert_int_equal(metrics.snapshots.count, 1);
    const struct metric_column *loss = metric_table_find(&metrics.rounds, "loss");
    assert_non_null(loss);
    assert_true(loss->value[0] == 2.5 && loss->value[1] == 2.0);
    /* A column that begins late has NaN before. */
    const struct metric_column *late = metric_table_find(&metrics.rounds, "gradient_error");
    assert_true(isnan(late->value[0]) && late->value[1] == 0.125);
    assert_null(metric_table_find(&metrics.rounds, "accuracy"));
    assert_true(metric_table_find(&metrics.snapshots, "valid_mrr")->value[0] == 0.5);
    assert_true(metrics.snapshots.number[0] == 2.0);
    run_metrics_release(&metrics);
}

static void a_line_that_is_none_is_named(void **state)
{
    (void)state;
    static const char broken[] = "{\"round\":0,\"loss\":1}\n{\"round\":";
    static const char other[] = "{\"epoch\":1}\n";
    struct run_metrics metrics;
    struct error err = {0};
    assert_fails(run_metrics_parse(broken, sizeof broken - 1, "m.jsonl", &metrics, &err),
                 ERROR_INPUT, "m.jsonl: line 2", &err);
    assert_fails(run_metrics_parse(other, sizeof other - 1, "m.jsonl", &metrics, &err), ERROR_INPUT,
                 "neither 'round' nor 'snapshot'", &err);
    assert_int_equal(metrics.rounds.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_and_snapshots_are_two_tables),
        cmocka_unit_test(a_line_that_is_none_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
