#include "common/nn/tasks/tally.h"

#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>

/* Returns the metrics as JSON of some rows, added one at a time or all at once. */
static struct json_document *metrics_of(enum task_kind task, uint32_t classes, const float *logits,
                                        const void *label, size_t rows, size_t step)
{
    struct error err = {0};
    struct tally tally = {0};
    struct json_writer json = {0};
    struct json_document *document = NULL;
    const struct tally_form form = {.task = task_of(task), .class_count = classes, .all = true};
    const size_t label_size = task_of(task)->label_width(classes) * sizeof(float);
    assert_ok(tally_init(&tally, &form, &err), &err);
    for (size_t i = 0; i < rows; i += step)
        assert_ok(tally_add(&tally, logits + i * classes, (const char *)label + i * label_size,
                            step, &err),
                  &err);
    json_open_object(&json, NULL);
    assert_ok(tally_put_json(&tally, "test", &json, &err), &err);
    json_close_object(&json);
    assert_ok(json_writer_finish(&json, &err), &err);
    assert_ok(json_parse(json.text, json.size, "metrics", &document, &err), &err);
    json_writer_release(&json);
    tally_release(&tally);
    return document;
}

static double number(const struct json_document *document, const char *name)
{
    double value = -1;
    assert_true(json_double(json_get(json_get(json_root(document), "test"), name), &value));
    return value;
}

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) < 1e-6))
        fail_msg("expected %.9g, found %.9g", expected, found);
}

static void one_label_a_node_is_counted_where_there_is_one(void **state)
{
    static const float logits[] = {0, 0, 5, 5, 0, 0, 0, 5, 0, 5, 0, 0};
    static const int32_t label[] = {2, 0, -1, 1};
    (void)state;
    for (size_t step = 1; step <= 4; step *= 2) {
        struct json_document *d = metrics_of(TASK_SINGLE_LABEL, 3, logits, label, 4, step);
        assert_near(number(d, "nodes"), 3);
        assert_near(number(d, "accuracy"), 2.0 / 3);
        assert_near(number(d, "micro_f1"), 2.0 / 3);
        assert_near(number(d, "macro_f1"), (2.0 / 3 + 0 + 1) / 3);
        const double sure = log(1 + 2 * exp(-5));
        assert_near(number(d, "loss"), (2 * sure + sure + 5) / 3);
        assert_null(json_get(json_get(json_root(d), "test"), "roc_auc"));
        json_free(d);
    }
}

static void two_classes_have_an_area(void **state)
{
    static const float logits[] = {0, 3, 0, 1, 0, 2, 0, -1, 9, 9};
    static const int32_t label[] = {1, 0, 0, 1, -1};
    (void)state;
    struct json_document *d = metrics_of(TASK_SINGLE_LABEL, 2, logits, label, 5, 1);
    assert_near(number(d, "roc_auc"), 0.5); /* the score 3 is above both, -1 above none */
    json_free(d);
}

/* The share of right labels does not depend on how the rows are split. */
static void several_labels_a_node_are_counted_bit_by_bit(void **state)
{
    static const float logits[] = {1, -1, 1, 1, 1, 1, 1, -1, -1, -1, -1, 1};
    static const float label[] = {1, 0, 0, NAN, NAN, NAN, 1, 1, 1, 0, 0, 1};
    (void)state;
    for (size_t step = 1; step <= 4; step *= 2) {
        struct json_document *d = metrics_of(TASK_MULTI_LABEL, 3, logits, label, 4, step);
        assert_near(number(d, "nodes"), 3);
        assert_near(number(d, "accuracy"), 6.0 / 9);
        assert_near(number(d, "subset_accuracy"), 1.0 / 3);
        assert_near(number(d, "micro_f1"), 2.0 * 3 / (2.0 * 3 + 1 + 2));
        json_free(d);
    }
}

static void a_split_without_labels_has_no_numbers(void **state)
{
    static const float logits[] = {1, 2};
    static const int32_t label[] = {-1};
    (void)state;
    struct json_document *d = metrics_of(TASK_SINGLE_LABEL, 2, logits, label, 1, 1);
    const struct json_node *test = json_get(json_root(d), "test");
    assert_near(number(d, "nodes"), 0);
    assert_true(json_node_is_null(json_get(test, "loss")));
    assert_true(json_node_is_null(json_get(test, "accuracy")));
    assert_true(json_node_is_null(json_get(test, "roc_auc")));
    json_free(d);
}

/* The expected values are from scikit-learn 1.x: the mean of average_precision_score and
 * roc_auc_score over columns. The last column has no ones and does not count (OGB). Some scores
 * are equal. The bits do not depend on how many columns fit. */
static void several_labels_have_areas_column_by_column(void **state)
{
    static const float logits[] = {.9F, .1F, .3F, 2, .8F, .4F, .3F, 1, .7F, .4F, .2F, 0,
                                   .8F, -1,  .9F, 3, .1F, .2F, .5F, 1, 9,   9,   9,   9};
    static const float label[] = {1, 0, 1, 0, 0, 1, 0, 0, 1,   0,   1,   0,
                                  0, 1, 0, 0, 1, 0, 1, 0, NAN, NAN, NAN, NAN};
    const struct tally_form form = {.task = &task_multi_label, .class_count = 4, .all = true};
    double roc_auc[4], precision[4];
    (void)state;
    for (uint32_t step = 1; step <= 4; step++) {
        struct tally whole = {0};
        struct error err = {0};
        assert_ok(tally_init(&whole, &form, &err), &err);
        tally_keep_columns(&whole, 0, step);
        assert_ok(tally_add(&whole, logits, label, 6, &err), &err);
        assert_ok(tally_fold(&whole, &whole, &err), &err);
        for (uint32_t first = step; first < 4; first += step) {
            struct tally part = {0};
            assert_ok(tally_init_like(&part, &whole, &err), &err);
            tally_keep_columns(&part, first, 4 - first < step ? 4 - first : step);
            assert_ok(tally_add(&part, logits, label, 6, &err), &err);
            assert_ok(tally_fold(&part, &whole, &err), &err);
            tally_release(&part);
        }
        assert_ok(tally_measure(&whole, METRIC_ROC_AUC, &roc_auc[step - 1], &err), &err);
        assert_ok(tally_measure(&whole, METRIC_AVERAGE_PRECISION, &precision[step - 1], &err),
                  &err);
        tally_release(&whole);
        assert_memory_equal(&roc_auc[step - 1], roc_auc, sizeof *roc_auc);
        assert_memory_equal(&precision[step - 1], precision, sizeof *precision);
    }
    assert_near(roc_auc[0], 0.3333333333333333);
    assert_near(precision[0], 0.561111111111111);
}

static void what_is_not_counted_is_not_said(void **state)
{
    static const float logits[] = {1, -1}, label[] = {1, 0};
    const struct tally_form form = {.task = &task_multi_label, .class_count = 2};
    struct tally tally = {0};
    struct error err = {0};
    double value = 0;
    (void)state;
    assert_ok(tally_init(&tally, &form, &err), &err);
    assert_ok(tally_add(&tally, logits, label, 1, &err), &err);
    assert_int_equal(tally.score_count, 0);
    assert_ok(tally_measure(&tally, METRIC_ROC_AUC, &value, &err), &err);
    assert_true(isnan(value));
    tally_release(&tally);
}

/* The mean over all rows is weighted, however the rows are split. */
static void weighted_losses_add_up_by_weights(void **state)
{
    static const float logits[] = {0.5F, -1, 2, 1, 0, 0, -1, 1};
    static const int32_t label[] = {0, 1, 1, 0};
    static const double weight[] = {0.25, 3};
    const struct tally_form form = {
        .task = &task_single_label, .class_count = 2, .loss = {.class_weight = weight}};
    const struct loss_result loss = task_single_label.loss(&form.loss, logits, label, 4, 2, NULL);
    (void)state;
    for (size_t step = 1; step <= 4; step *= 2) {
        struct tally tally = {0};
        struct error err = {0};
        double value = 0;
        assert_ok(tally_init(&tally, &form, &err), &err);
        for (size_t i = 0; i < 4; i += step)
            assert_ok(tally_add(&tally, logits + 2 * i, label + i, step, &err), &err);
        assert_ok(tally_measure(&tally, METRIC_LOSS, &value, &err), &err);
        assert_near(value, loss_mean(&loss));
        tally_release(&tally);
    }
    assert_near(loss.weight_sum, 6.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_label_a_node_is_counted_where_there_is_one),
        cmocka_unit_test(two_classes_have_an_area),
        cmocka_unit_test(several_labels_a_node_are_counted_bit_by_bit),
        cmocka_unit_test(a_split_without_labels_has_no_numbers),
        cmocka_unit_test(several_labels_have_areas_column_by_column),
        cmocka_unit_test(what_is_not_counted_is_not_said),
        cmocka_unit_test(weighted_losses_add_up_by_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
