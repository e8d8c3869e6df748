#include "stages/plan/run_model.h"

#include "tests/support/test.h"

static struct partition_book a_book(void)
{
    return (struct partition_book){.id = "p1", .feature_dim = 10, .class_count = 3};
}

static void the_model_follows_settings_and_data(void **state)
{
    struct error err = {0};
    struct pipeline_settings settings;
    struct model model;
    const struct partition_book book = a_book();
    (void)state;
    pipeline_settings_defaults(&settings);
    assert_ok(pipeline_settings_assign(&settings, "train-step.model", "gcn", "test", &err), &err);
    assert_ok(pipeline_settings_assign(&settings, "train-step.hidden", "7", "test", &err), &err);
    assert_ok(pipeline_settings_assign(&settings, "sample.fanouts", "5, 4, 3", "test", &err), &err);
    assert_ok(run_model_init(&model, &settings, &book, &err), &err);
    assert_int_equal(model.layer[0].kind, LAYER_GCN);
    assert_int_equal(model.config.layer_count, 3);
    assert_int_equal(model.config.input_dim, 10);
    assert_int_equal(model.layer[0].output_dim, 7);
    assert_int_equal(model_output_dim(&model), 3);
}

static void data_without_features_or_labels_cannot_be_trained_on(void **state)
{
    struct error err = {0};
    struct pipeline_settings settings;
    struct model model;
    struct partition_book book = a_book();
    (void)state;
    pipeline_settings_defaults(&settings);
    book.feature_dim = 0;
    assert_fails(run_model_init(&model, &settings, &book, &err), ERROR_INPUT, "p1 has no features",
                 &err);
    book = a_book();
    book.class_count = 0;
    assert_fails(run_model_init(&model, &settings, &book, &err), ERROR_INPUT, "p1 has no labels",
                 &err);
}

static void bf16_is_refused_where_the_processor_has_none(void **state)
{
    struct error err = {0};
    struct pipeline_settings settings;
    (void)state;
    pipeline_settings_defaults(&settings);
    assert_ok(run_model_check_precision(&settings, "it has 8 bits", "a Z80", &err), &err);
    assert_ok(pipeline_settings_assign(&settings, "train-step.precision", "bf16", "test", &err),
              &err);
    assert_ok(run_model_check_precision(&settings, NULL, "a Z80", &err), &err);
    assert_fails(run_model_check_precision(&settings, "it has 8 bits", "a Z80", &err),
                 ERROR_INVALID, "(a Z80): it has 8 bits; set `precision: fp32`", &err);
    assert_int_equal(error_exit_status(ERROR_INVALID), 78);
}

/* They export, infer and average: on any machine. */
static void programs_that_do_not_train_compute_in_floats(void **state)
{
    struct error err = {0};
    struct pipeline_settings settings;
    struct model model;
    const struct partition_book book = a_book();
    (void)state;
    pipeline_settings_defaults(&settings);
    assert_ok(pipeline_settings_assign(&settings, "train-step.precision", "bf16", "test", &err),
              &err);
    assert_ok(run_model_init(&model, &settings, &book, &err), &err);
    assert_int_equal(model.config.precision, PRECISION_FP32);
}

static void check_table(const struct model *model, const char *table, const char *message)
{
    struct error err = {0};
    const struct weights weights = {
        .value_count = model->value_count, .table = table, .table_size = strlen(table)};
    assert_fails(run_model_check_weights(model, &weights, &err), ERROR_CORRUPT, message, &err);
}

static void weights_of_another_model_are_refused(void **state)
{
    struct error err = {0};
    struct pipeline_settings settings;
    struct model model;
    char table[RUN_MODEL_TABLE_SIZE];
    const struct partition_book book = a_book();
    (void)state;
    pipeline_settings_defaults(&settings);
    assert_ok(pipeline_settings_assign(&settings, "sample.fanouts", "5", "test", &err), &err);
    assert_ok(run_model_init(&model, &settings, &book, &err), &err);
    assert_ok(model_table_text(&model, table, sizeof table, &err), &err);
    struct weights weights = {
        .value_count = model.value_count, .table = table, .table_size = strlen(table)};
    assert_ok(run_model_check_weights(&model, &weights, &err), &err);
    weights.value_count++;
    assert_fails(run_model_check_weights(&model, &weights, &err), ERROR_CORRUPT,
                 "expected 63 values, found 64", &err);
    check_table(&model, "", "line 1");
    check_table(&model, "convs.0.lin_l.weight 3 10\n", "line 2");
    check_table(&model, "convs.0.lin_l.weight 3 11\nconvs.0.lin_l.bias 3 1\n",
                "expected 'convs.0.lin_l.weight 3 10', found 'convs.0.lin_l.weight 3 11'");
    check_table(&model,
                "convs.0.lin_l.weight 3 10\nconvs.0.lin_l.bias 3 1\nconvs.0.lin_r.weight 3 10\nx\n",
                "line 4 of the parameter table: expected '', found 'x'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_follows_settings_and_data),
        cmocka_unit_test(bf16_is_refused_where_the_processor_has_none),
        cmocka_unit_test(programs_that_do_not_train_compute_in_floats),
        cmocka_unit_test(data_without_features_or_labels_cannot_be_trained_on),
        cmocka_unit_test(weights_of_another_model_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
