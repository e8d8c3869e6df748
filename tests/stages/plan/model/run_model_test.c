#include "common/base/memory.h"
#include "stages/plan/model/run_model.h"

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
    assert_int_equal(model.layer[0].config.kind, LAYER_GCN);
    assert_int_equal(model.config.layer_count, 3);
    assert_int_equal(model.config.input_dim, 10);
    assert_int_equal(model.layer[0].config.output_dim, 7);
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

/* Returns papers with features and authors without any. */
static struct partition_book a_typed_book(void)
{
    static const char names[2][RELATION_NAME_SIZE] = {"paper", "author"};
    static const uint32_t dims[] = {10, 0};
    static const struct relation relations[] = {{"writes", 1, 0}, {"rev_writes", 0, 1}};
    struct partition_book book = a_book();
    book.type_count = book.relation_count = 2;
    book.type_name = names;
    book.type_dim = dims;
    book.relation = relations;
    return book;
}

static void assign(struct pipeline_settings *settings, const char *name, const char *value)
{
    struct error err = {0};
    assert_ok(pipeline_settings_assign(settings, name, value, "test", &err), &err);
}

static void relations_make_a_model_over_types(void **state)
{
    struct error err = {0};
    struct pipeline_settings settings;
    struct model model;
    const struct partition_book book = a_typed_book();
    (void)state;
    pipeline_settings_defaults(&settings);
    assert_fails(run_model_init(&model, &settings, &book, &err), ERROR_INPUT,
                 "nodes of type author have no features to train on: train-step.embedding", &err);
    assign(&settings, "train-step.embedding", "64");
    assign(&settings, "train-step.model", "rgcn");
    assign(&settings, "train-step.bases", "3");
    assert_ok(run_model_init(&model, &settings, &book, &err), &err);
    assert_true(model_is_typed(&model));
    assert_int_equal(model.hop_count, 2);
    assert_string_equal(model.parameter[0].name, "lin_dict.paper.weight");
    assert_string_equal(model.parameter[2].name, "convs.0.weight"); /* learnt rows need no matrix */
    assert_int_equal(model.parameter[2].dim[0], 3);
    assert_int_equal(model_output_dim(&model), 3);
    assign(&settings, "train-step.embedding", "8");
    assert_ok(run_model_init(&model, &settings, &book, &err), &err);
    assert_string_equal(model.parameter[2].name, "lin_dict.author.weight");
    assign(&settings, "train-step.projection", "none");
    assert_fails(run_model_init(&model, &settings, &book, &err), ERROR_INVALID,
                 "rows of type paper have 10 columns and those of author 8", &err);
    assign(&settings, "train-step.model", "sage");
    assign(&settings, "train-step.relation_aggr", "mean");
    assert_ok(run_model_init(&model, &settings, &book, &err), &err);
    assert_string_equal(model.parameter[0].name,
                        "convs.0.convs.<author___writes___paper>.lin_l.weight");
    assert_int_equal(model.config.types.relation_aggr, RELATION_AGGR_MEAN);
}

/* The shape is needed before there is a graph. */
static void kinds_for_relations_have_a_shape(void **state)
{
    static const char *const kinds[] = {"rgcn", "hgt", "rgat"};
    struct error err = {0};
    struct pipeline_settings settings;
    struct model *model = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        pipeline_settings_defaults(&settings);
        assign(&settings, "train-step.model", kinds[i]);
        assert_fails(run_model_shape(&model, &settings, &err), ERROR_INVALID,
                     "this kind is for graphs with relations, and this one has none", &err);
        assign(&settings, "ingest.relations", "true");
        assign(&settings, "sample.fanouts", "7, 5, 3");
        assert_ok(run_model_shape(&model, &settings, &err), &err);
        assert_int_equal(model->hop_count, 3);
        memory_free(model);
    }
    assign(&settings, "train-step.blocks", "7");
    assert_fails(run_model_shape(&model, &settings, &err), ERROR_INVALID, "7 blocks do not divide",
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

/* Such programs export, infer and average on any machine. */
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
        cmocka_unit_test(relations_make_a_model_over_types),
        cmocka_unit_test(kinds_for_relations_have_a_shape),
        cmocka_unit_test(bf16_is_refused_where_the_processor_has_none),
        cmocka_unit_test(programs_that_do_not_train_compute_in_floats),
        cmocka_unit_test(data_without_features_or_labels_cannot_be_trained_on),
        cmocka_unit_test(weights_of_another_model_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
