#include "common/nn/tasks/tally.h"

#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>

/* The JSON of some rows, added one at a time or all at once. */
static struct json_document *metrics_of(enum task_kind task, uint32_t classes, const float *logits,
                                        const void *label, size_t rows, size_t step)
{
    struct error err = {0};
    struct tally tally = {0};
    struct json_writer json = {0};
    struct json_document *document = NULL;
    const size_t label_size = task_of(task)->label_width(classes) * sizeof(float);
    assert_ok(tally_init(&tally, task_of(task), classes, &err), &err);
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
    assert_near(number(d, "roc_auc"), 0.5); /* 3 is above both, -1 above none */
    json_free(d);
}

/* The share of right bits, however the rows are cut. */
static void several_labels_a_node_are_counted_bit_by_bit(void **state)
{
    static const float logits[] = {1, -1, 1, 1, 1, 1, 1, -1, -1, -1, -1, 1};
    static const float label[] = {1, 0, 0, NAN, NAN, NAN, 1, 1, 1, 0, 0, 1};
    (void)state;
    for (size_t step = 1; step <= 4; step *= 2) {
        struct json_document *d = metrics_of(TASK_MULTI_LABEL, 3, logits, label, 4, step);
        assert_near(number(d, "nodes"), 3);
        assert_near(number(d, "accuracy"), 6.0 / 9);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_label_a_node_is_counted_where_there_is_one),
        cmocka_unit_test(two_classes_have_an_area),
        cmocka_unit_test(several_labels_a_node_are_counted_bit_by_bit),
        cmocka_unit_test(a_split_without_labels_has_no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
