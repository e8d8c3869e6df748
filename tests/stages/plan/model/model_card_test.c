/* The card in a model file, about the graph that the model was trained on: it reads back as
 * written, and a wrong one is refused. */
#include "common/base/memory.h"
#include "stages/plan/model/model_card.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

static void fill(struct model_card *card, double *class_weight)
{
    pipeline_settings_defaults(&card->settings);
    (void)snprintf(card->settings.name, sizeof card->settings.name, "people");
    card->settings.train_step.layer.output_dim = 24;
    card->settings.ingest.standardise = true;
    (void)snprintf(card->settings.ingest.path, sizeof card->settings.ingest.path, "/secret/place");
    card->book.task = card->dataset.task = TASK_SINGLE_LABEL;
    card->book.class_count = 3;
    card->book.feature_dim = 7;
    card->book.edge_width.of[EDGE_WEIGHT] = 1;
    card->book.edge_width.of[EDGE_FEATURE] = 5;
    (void)snprintf(card->dataset.feature_origin, sizeof card->dataset.feature_origin, "given");
    card->scaling = (char *)"least,0.1\n";
    card->class_weight = class_weight;
}

static void relate(struct model_card *card)
{
    card->dataset.has_relations = true;
    card->dataset.node_type_count = 2;
    card->dataset.edge_type_count = 1;
    card->dataset.target_type = 1;
    (void)snprintf(card->dataset.node_type[0].name, TYPE_NAME_SIZE, "author");
    (void)snprintf(card->dataset.node_type[1].name, TYPE_NAME_SIZE, "paper");
    card->dataset.node_type[1].feature_dim = 9;
    (void)snprintf(card->dataset.edge_type[0].name, TYPE_NAME_SIZE, "writes");
    card->dataset.edge_type[0].target_type = 1;
}

static void as_it_was_written(void **state)
{
    static const double weight[] = {0.1, 1.0 / 3, 2};
    static double class_weight[3];
    struct error err = {0};
    (void)state;
    for (int typed = 0; typed < 2; typed++) {
        struct model_card *from = memory_alloc(1, sizeof *from);
        struct model_card *to = memory_alloc(1, sizeof *to);
        struct json_writer text = {0};
        memset(from, 0, sizeof *from);
        memset(to, 0, sizeof *to);
        memcpy(class_weight, weight, sizeof weight);
        fill(from, class_weight);
        if (typed)
            relate(from);
        assert_ok(model_card_print(from, &text, &err), &err);
        assert_null(strstr(text.text, "secret"));
        assert_ok(model_card_parse(to, text.text, "a.safetensors", &err), &err);
        assert_int_equal(to->settings.train_step.layer.output_dim, 24);
        assert_true(to->settings.ingest.standardise);
        assert_string_equal(to->settings.name, "people");
        assert_int_equal(to->book.task, TASK_SINGLE_LABEL);
        assert_int_equal(to->book.class_count, 3);
        assert_int_equal(to->dataset.feature_dim, 7);
        assert_string_equal(to->dataset.feature_origin, "given");
        assert_true(edge_widths_equal(&to->book.edge_width, &from->book.edge_width));
        assert_string_equal(to->scaling, from->scaling);
        assert_memory_equal(to->class_weight, weight, sizeof weight);
        assert_int_equal(to->dataset.has_relations, typed);
        if (typed) {
            assert_int_equal(to->book.type_count, 2);
            assert_int_equal(to->book.target_type, 1);
            assert_string_equal(to->book.type_name[1], "paper");
            assert_int_equal(to->book.type_dim[1], 9);
            assert_string_equal(to->book.relation[0].name, "writes");
            assert_int_equal(to->book.relation[0].target_type, 1);
        }
        json_writer_release(&text);
        model_card_release(to);
        memory_free(to);
        memory_free(from);
    }
}

/* Expects that a card with `found` in the place of `good` is refused. */
static void refused(const char *good, const char *found, const char *said)
{
    static const char whole[] =
        "{\"name\":\"n\",\"settings\":\"ingest.standardise = "
        "true\\n\",\"task\":\"single_label\",\"class_"
        "count\":2,\"feature_dim\":3,\"feature_origin\":\"given\",\"edge_columns\":{\"weight\":1},"
        "\"node_types\":[{\"name\":\"a\",\"feature_dim\":3}],\"relations\":[{\"name\":\"r\","
        "\"source\":0,"
        "\"target\":0}],\"target_type\":0,\"feature_scaling\":\"least,0\\n\",\"class_weights\":[1,"
        "2]}";
    char text[sizeof whole + 100];
    struct error err = {0};
    struct model_card *card = memory_alloc(1, sizeof *card);
    memset(card, 0, sizeof *card);
    const char *at = strstr(whole, good);
    assert_non_null(at);
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole), whole, found,
                   at + strlen(good));
    const enum error_code rc = model_card_parse(card, text, "a.safetensors", &err);
    if (said) {
        assert_int_not_equal(rc, ERROR_NONE);
        assert_non_null(strstr(err.message, "a.safetensors"));
        assert_non_null(strstr(err.message, said));
    } else {
        assert_ok(rc, &err);
    }
    model_card_release(card);
    memory_free(card);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    refused("\"n\"", "\"m\"", NULL);
    refused("}]", "]", "expected");
    refused("\"name\":\"n\"", "\"name\":7", "name: expected a text");
    refused("\"settings\":\"ingest.standardise = true\\n\"", "\"settings\":1",
            "settings: expected lines");
    refused("ingest.standardise", "ingest.standard", "ingest.standardise");
    refused("single_label", "some_label", "task: expected the name of a task");
    refused("\"class_count\":2", "\"class_count\":-2", "class_count: expected a whole number");
    refused("\"weight\":1", "\"weight\":2", "weight: expected a width");
    refused("\"edge_columns\":{\"weight\":1}", "\"edge_columns\":1",
            "edge_columns: expected an object");
    refused("\"node_types\":[{\"name\":\"a\",\"feature_dim\":3}]", "\"node_types\":[]",
            "node_types: expected");
    refused("\"source\":0", "\"source\":1", "source: expected a whole number from 0 to 0");
    refused("\"target_type\":0", "\"target_type\":3", "target_type: expected");
    refused("\"least,0\\n\"", "null", "does not say how the model's features were scaled");
    refused("[1,2]", "[1]", "class_weights: expected a number for each class");
    refused("[1,2]", "[1,-2]", "class_weights: expected numbers of 0 or more");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_it_was_written),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
