#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/nn/optimizer.h"
#include "stages/plan/settings/dataset_format.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "stages/plan/settings/setting_table.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static enum error_code assign(struct pipeline_settings *settings, const char *name,
                              const char *value, struct error *err)
{
    return pipeline_settings_assign(settings, name, value, "cora.yaml:3", err);
}

static struct pipeline_settings defaults(void)
{
    struct pipeline_settings settings;
    pipeline_settings_defaults(&settings);
    return settings;
}

static void defaults_are_those_of_the_table(void **state)
{
    (void)state;
    const struct pipeline_settings settings = defaults();
    assert_int_equal(settings.seed, 1);
    assert_int_equal(settings.epochs, 10);
    assert_false(settings.portable);
    assert_string_equal(settings.name, "");
    assert_int_equal(settings.ingest.format, dataset_format_find("folder"));
    assert_int_equal(settings.ingest.duplicates, EDGES_REMOVE);
    assert_int_equal(settings.sample.fanouts.count, 2);
    assert_int_equal(settings.sample.fanouts.value[1], 10);
    assert_int_equal(settings.sample.evaluation_fanouts.count, 0);
    assert_true(settings.train_step.layer.dropout == 0.5);
    assert_int_equal(settings.checkpoint.keep, 2);
    assert_true(settings.infer.predictions);
    assert_int_equal(settings.sample.fanouts.count, 2);
}

static void every_choice_is_stored_as_its_place_in_the_list(void **state)
{
    (void)state;
    struct error err = {0};
    for (const struct setting_spec *spec = setting_table; spec->name; spec++)
        for (int64_t i = 0; spec->type == SETTING_CHOICE && spec->choices[i]; i++) {
            struct pipeline_settings settings = defaults();
            assert_ok(assign(&settings, spec->name, spec->choices[i], &err), &err);
            assert_int_equal(setting_number(spec, &settings), i);
        }
    struct pipeline_settings settings = defaults();
    assert_ok(assign(&settings, "ingest.features", "degree+random", &err), &err);
    assert_int_equal(settings.ingest.features.choice, FEATURES_DEGREE_RANDOM);
    assert_ok(assign(&settings, "checkpoint.metric", "roc_auc", &err), &err);
    assert_int_equal(settings.checkpoint.metric, METRIC_ROC_AUC);
    assert_ok(assign(&settings, "infer.weights", "last", &err), &err);
    assert_int_equal(settings.infer.weights, WEIGHTS_LAST);
    assert_ok(assign(&settings, "aggregate.optimizer", "sgd", &err), &err);
    assert_int_equal(settings.aggregate.optimizer, RULE_SGD);
}

static void unknown_names_are_refused_with_the_nearest_known_one(void **state)
{
    (void)state;
    struct pipeline_settings settings = defaults();
    struct error err = {0};
    assert_fails(assign(&settings, "sample.fanout", "5", &err), ERROR_INVALID,
                 "cora.yaml:3: unknown setting 'sample.fanout'; did you mean 'sample.fanouts'?",
                 &err);
    assert_fails(assign(&settings, "train_step.hidden", "5", &err), ERROR_INVALID,
                 "did you mean 'train-step.hidden'?", &err);
    assert_fails(assign(&settings, "hidden", "3", &err), ERROR_INVALID,
                 "unknown setting 'hidden'; did you mean 'train-step.hidden'?", &err);
    assert_fails(assign(&settings, "batchsize", "3", &err), ERROR_INVALID,
                 "did you mean 'sample.batch_size'?", &err);
    assert_fails(assign(&settings, "epoch", "3", &err), ERROR_INVALID, "did you mean 'epochs'?",
                 &err);
    assert_fails(assign(&settings, "train-step.layers", "3", &err), ERROR_INVALID,
                 "expected a list of maps, as in [{kind: ...}]", &err);
    assert_fails(assign(&settings, "train-step.num_layers", "3", &err), ERROR_INVALID,
                 "as many layers as sample.fanouts has items", &err);
    assert_fails(assign(&settings, "qqqqqqqqqqqqqqqqqqqq", "5", &err), ERROR_INVALID,
                 "unknown setting 'qqqqqqqqqqqqqqqqqqqq'", &err);
    assert_null(strstr(err.message, "did you mean"));
}

static void bad_values_are_refused_with_what_was_expected(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *message;
    } bad[] = {
        {"epochs", "0", "cora.yaml:3: epochs is '0', expected whole numbers from 1 to 1000000000"},
        {"epochs", "12x", "epochs is '12x', expected whole numbers"},
        {"epochs", "", "epochs is '', expected whole numbers"},
        {"epochs", "1.5", "epochs is '1.5', expected whole numbers"},
        {"seed", "99999999999999999999", "seed is '99999999999999999999'"},
        {"train-step.dropout", "1", "train-step.dropout is '1', expected a number from 0 to 0.999"},
        {"train-step.dropout", "nan", "train-step.dropout is 'nan', expected a number"},
        {"aggregate.learning_rate", "inf", "aggregate.learning_rate is 'inf', expected a number"},
        {"aggregate.learning_rate", "1e-2x", "is '1e-2x', expected a number from 0 to 1000"},
        {"portable", "yes", "portable is 'yes', expected true or false"},
        {"portable", "True", "portable is 'True', expected true or false; write true"},
        {"portable", "off", "portable is 'off', expected true or false; write false"},
        {"portable", "~", "portable is '~': there is no null here; leave the line out"},
        {"epochs", "~", "leave the line out for the default, which is 10"},
        {"train-step.model", "gnn",
         "train-step.model is 'gnn', expected one of sage, gcn, gat, gatv2"},
        {"train-step.model", "", "train-step.model is '', expected one of sage, gcn, gat, gatv2"},
        {"sample.fanouts", "10,0", "a fan-out of 0 keeps no neighbour; expected -1 (all)"},
        {"sample.fanouts", "10,-2", "sample.fanouts[1] is '-2', expected whole numbers from -1"},
        {"sample.fanouts", "10,,5", "sample.fanouts[1] is '', expected whole numbers"},
        {"sample.fanouts", "10,", "sample.fanouts[1] is '', expected whole numbers"},
        {"sample.fanouts", "10 5", "sample.fanouts[0] is '10 5', expected whole numbers"},
        {"sample.fanouts", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
         "is one too many, expected at most"},
        {"sample.fanouts", "[10, x]", "sample.fanouts[1] is 'x', expected whole numbers from -1"},
        {"ingest.path", "two\nlines", "ingest.path has a line feed in it"},
        {"name", "0123456789012345678901234567890123456789012345678901234567890123",
         "name is longer than 63 bytes"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pipeline_settings settings = defaults();
        struct error err = {0};
        assert_fails(assign(&settings, bad[i].name, bad[i].value, &err), ERROR_INVALID,
                     bad[i].message, &err);
        assert_int_equal(strncmp(err.message, "cora.yaml:3: ", 13), 0);
    }
}

static void limits_themselves_are_fine(void **state)
{
    (void)state;
    struct error err = {0};
    for (const struct setting_spec *spec = setting_table; spec->name; spec++) {
        struct pipeline_settings settings = defaults();
        char least[40], most[40];
        (void)snprintf(least, sizeof least, "%.15g", spec->least);
        (void)snprintf(most, sizeof most, spec->type == SETTING_INT ? "%.0f" : "%.15g", spec->most);
        if (spec->type != SETTING_INT && spec->type != SETTING_DOUBLE)
            continue;
        assert_ok(assign(&settings, spec->name, least, &err), &err);
        assert_ok(assign(&settings, spec->name, most, &err), &err);
    }
}

static void a_number_may_be_the_most_there_is(void **state)
{
    (void)state;
    struct error err = {0};
    struct pipeline_settings settings = defaults();
    assert_ok(assign(&settings, "aggregate.staleness", "up_to 4", &err), &err);
    assert_true(settings.aggregate.staleness.is_most && settings.aggregate.staleness.value == 4);
    assert_ok(assign(&settings, "aggregate.staleness", "4", &err), &err);
    assert_true(!settings.aggregate.staleness.is_most && settings.aggregate.staleness.value == 4);
    assert_fails(assign(&settings, "aggregate.staleness", "up_to 0", &err), ERROR_INVALID,
                 "expected at least 1 behind `up_to`", &err);
    assert_fails(assign(&settings, "aggregate.staleness", "up_to", &err), ERROR_INVALID, "'up_to'",
                 &err);
    assert_fails(assign(&settings, "aggregate.staleness", "up_to -1", &err), ERROR_INVALID, "'-1'",
                 &err);
}

/* Returns settings that differ from every default, so that a lost field shows. */
static struct pipeline_settings unusual(void)
{
    struct pipeline_settings settings = defaults();
    struct error err = {0};
    for (const struct setting_spec *spec = setting_table; spec->name; spec++) {
        const char *value = "";
        char number[40];
        switch (spec->type) {
        case SETTING_INT:
            (void)snprintf(number, sizeof number, "%.0f", spec->least + 3);
            value = number;
            break;
        case SETTING_INT_OR_MOST:
            value = "up_to 3";
            break;
        case SETTING_DOUBLE: /* a third has no short decimal form */
            (void)snprintf(number, sizeof number, "%.17g",
                           spec->least + (spec->most < 1e9 ? spec->most - spec->least : 1.0) / 3);
            value = number;
            break;
        case SETTING_BOOL:
            value = spec->default_text[0] == 't' ? "false" : "true";
            break;
        case SETTING_TEXT:
        case SETTING_PATH:
        case SETTING_PATHS:
        case SETTING_WORDS:
        case SETTING_CHOICE_OR_PATH:
            value = "a = b";
            break;
        case SETTING_CHOICE:
            value = spec->choices[spec->choices[1] ? 1 : 0];
            break;
        case SETTING_INT_LIST:
            value = " 15, -1,5";
            break;
        case SETTING_CHOICE_OR_NUMBERS:
            value = "[0.5, 1e-3]";
            break;
        case SETTING_ITEMS:
            value = "[{kind: gat, hidden: 16, heads: 2, norm: batch}, {kind: mlp, dropout: 0.25}]";
            break;
        }
        assert_ok(assign(&settings, spec->name, value, &err), &err);
    }
    return settings;
}

static void text_and_settings_are_inverse(void **state)
{
    (void)state;
    struct error err = {0};
    const struct pipeline_settings all[] = {defaults(), unusual()};
    for (size_t i = 0; i < 2; i++) {
        struct pipeline_settings back = {0};
        char text[SETTINGS_TEXT_SIZE], again[SETTINGS_TEXT_SIZE];
        assert_ok(pipeline_settings_text(&all[i], text, &err), &err);
        assert_ok(pipeline_settings_parse(&back, text, "plan", &err), &err);
        for (const struct setting_spec *spec = setting_table; spec->name; spec++)
            assert_memory_equal((const char *)&back + spec->offset,
                                (const char *)&all[i] + spec->offset,
                                spec->type == SETTING_TEXT || spec->type == SETTING_PATH ||
                                        spec->type == SETTING_PATHS || spec->type == SETTING_WORDS
                                    ? strlen((const char *)&back + spec->offset) + 1
                                    : spec->size);
        assert_ok(pipeline_settings_text(&back, again, &err), &err);
        assert_string_equal(text, again);
    }
}

static void set(struct pipeline_settings *settings, const char *assignment)
{
    struct error err = {0};
    assert_ok(pipeline_settings_override(settings, assignment, &err), &err);
}

static const char *identity(const struct pipeline_settings *settings, unsigned parts)
{
    static char text[SETTINGS_TEXT_SIZE];
    struct error err = {0};
    assert_ok(pipeline_settings_identity(settings, parts, text, &err), &err);
    return text;
}

static void an_identity_is_of_what_differs_from_the_defaults_and_has_an_effect(void **state)
{
    (void)state;
    struct pipeline_settings settings = defaults();
    assert_string_equal(identity(&settings, ~0U), "");
    set(&settings, "aggregate.learning_rate=1e-3");
    set(&settings, "sample.fanouts=5,5");
    set(&settings, "infer.weights=last");
    set(&settings, "train-step.dropout=0.50");         /* the default, written differently */
    set(&settings, "ingest.nodes=5000");               /* nothing is generated */
    set(&settings, "partition.assignment=/somewhere"); /* nothing is read from it */
    set(&settings, "aggregate.momentum=0.9");          /* adam has no momentum */
    assert_string_equal(identity(&settings, SETTING_OF_TRAINING | SETTING_OF_TARGET),
                        "aggregate.learning_rate = 0.001\nsample.fanouts = 5,5\n");
    assert_string_equal(identity(&settings, SETTING_OF_OUTPUTS), "infer.weights = last\n");
    assert_string_equal(identity(&settings, SETTING_OF_DATASET | SETTING_OF_PARTITION), "");
    set(&settings, "ingest.format=generated");
    set(&settings, "ingest.path=/anywhere");
    assert_string_equal(identity(&settings, SETTING_OF_DATASET),
                        "ingest.format = generated\ningest.nodes = 5000\n");
    set(&settings, "aggregate.optimizer=sgd");
    assert_non_null(strstr(identity(&settings, SETTING_OF_TRAINING), "aggregate.momentum = 0.9"));
}

/* With infer.history `all`, events that see earlier held-out ones make another dataset than before
 * the setting existed. Older texts do not name the setting; they did what it calls training. */
static void a_history_counts_where_events_are_learnt(void **state)
{
    (void)state;
    static char text[SETTINGS_TEXT_SIZE];
    struct error err = {0};
    struct pipeline_settings settings = defaults(), back;
    assert_null(strstr(identity(&settings, ~0U), "infer.history"));
    set(&settings, "ingest.task=link_prediction");
    set(&settings, "ingest.edge_split=time 70/15/15");
    assert_null(strstr(identity(&settings, ~0U), "infer.history"));
    assert_int_equal(pipeline_history(&settings), HISTORY_TRAINING);
    set(&settings, "sample.sampler=temporal_neighbor");
    assert_non_null(strstr(identity(&settings, SETTING_OF_DATASET), "infer.history = all\n"));
    assert_int_equal(pipeline_history(&settings), HISTORY_ALL);
    set(&settings, "infer.history=training");
    assert_null(strstr(identity(&settings, ~0U), "infer.history"));
    assert_ok(pipeline_settings_text(&settings, text, &err), &err);
    assert_ok(pipeline_settings_parse(&back, text, "now", &err), &err);
    assert_int_equal(back.infer.history, HISTORY_TRAINING);
    set(&settings, "infer.history=all");
    assert_ok(pipeline_settings_text(&settings, text, &err), &err);
    assert_ok(pipeline_settings_parse(&back, text, "now", &err), &err);
    assert_int_equal(back.infer.history, HISTORY_ALL);
    assert_ok(
        pipeline_settings_parse(&back,
                                "ingest.task = link_prediction\ningest.edge_split = time 70/15/15\n"
                                "sample.sampler = temporal_neighbor\n",
                                "before", &err),
        &err);
    assert_int_equal(back.infer.history, HISTORY_TRAINING);
    assert_ok(/* a path that contains the words is not the setting */
              pipeline_settings_parse(
                  &back,
                  "ingest.task = link_prediction\ningest.edge_split = time 70/15/15\n"
                  "ingest.path = /data/infer.history = all\n"
                  "sample.sampler = temporal_neighbor\n",
                  "before", &err),
              &err);
    assert_int_equal(back.infer.history, HISTORY_TRAINING);
    assert_ok(pipeline_settings_parse(&back, "ingest.task = link_prediction\n", "before", &err),
              &err);
    assert_int_equal(back.infer.history, HISTORY_ALL);
}

static int64_t inner_in(const char *text)
{
    struct pipeline_settings back;
    struct error err = {0};
    assert_ok(pipeline_settings_parse(&back, text, "before", &err), &err);
    return back.train_step.layers.count ? back.train_step.layers.item[0].option.inner
                                        : back.train_step.layer.option.inner;
}

/* A norm or an activation inside gin makes another run than before train-step.inner existed. Older
 * texts do not name the setting, which means `relu`. If only ReLU is inside, ids stay. */
static void what_stands_inside_gin_counts_where_it_is_more_than_relu(void **state)
{
    (void)state;
    static char text[SETTINGS_TEXT_SIZE];
    struct error err = {0};
    struct pipeline_settings settings = defaults();
    set(&settings, "train-step.model=gin");
    assert_string_equal(identity(&settings, ~0U), "train-step.model = gin\n");
    set(&settings, "train-step.norm=batch");
    assert_string_equal(
        identity(&settings, ~0U),
        "train-step.inner = same\ntrain-step.model = gin\ntrain-step.norm = batch\n");
    assert_ok(pipeline_settings_text(&settings, text, &err), &err);
    assert_int_equal(inner_in(text), LAYER_INNER_AUTO);
    set(&settings, "train-step.inner=relu");
    assert_string_equal(identity(&settings, ~0U),
                        "train-step.model = gin\ntrain-step.norm = batch\n");
    assert_ok(pipeline_settings_text(&settings, text, &err), &err);
    assert_int_equal(inner_in(text), LAYER_INNER_RELU);
    assert_int_equal(inner_in("train-step.model = gin\ntrain-step.norm = batch\n"),
                     LAYER_INNER_RELU);
    assert_int_equal(inner_in("train-step.model = gin\ntrain-step.activation = elu\n"),
                     LAYER_INNER_RELU);
    assert_int_equal(inner_in("train-step.model = gin\n"), LAYER_INNER_AUTO);
}

/* In train-step.layers, too, an option with its default is not written. */
static void what_stands_inside_gin_counts_in_lists_as_well(void **state)
{
    (void)state;
    static char text[SETTINGS_TEXT_SIZE];
    struct error err = {0};
    struct pipeline_settings settings = defaults();
    const char *of_before = "train-step.layers = [{kind: gin, norm: batch}, {kind: gin}]\n";
    set(&settings, "train-step.layers=[{kind: gin, norm: batch}, {kind: gin}]");
    assert_string_equal(
        identity(&settings, ~0U),
        "train-step.layers = [{kind: gin, inner: same, norm: batch}, {kind: gin}]\n");
    assert_ok(pipeline_settings_text(&settings, text, &err), &err);
    assert_int_equal(inner_in(text), LAYER_INNER_AUTO);
    assert_int_equal(inner_in(of_before), LAYER_INNER_RELU);
    assert_int_equal(inner_in(identity(&settings, ~0U)), LAYER_INNER_SAME); /* as in a model's
                                                                             * card */
    set(&settings, "train-step.layers=[{kind: gin, norm: batch, inner: relu}, {kind: gin}]");
    assert_string_equal(identity(&settings, ~0U), of_before);
}

static void every_setting_but_the_name_is_part_of_something(void **state)
{
    (void)state;
    for (const struct setting_spec *spec = setting_table; spec->name; spec++) {
        assert_int_equal(spec->part_of == 0, strcmp(spec->name, "name") == 0);
        if (!spec->only_with)
            continue;
        struct pipeline_settings settings = defaults();
        char value[64];
        const char *equals = strchr(spec->only_with, '=');
        for (const char *at = equals + 1; *at; at += *at == ',') { /* names of choices must be
                                                                    * known */
            const size_t size = strcspn(at, ",");
            (void)snprintf(value, sizeof value, "%.*s=%.*s", (int)(equals - spec->only_with),
                           spec->only_with, (int)size, at);
            set(&settings, value);
            at += size;
        }
    }
}

static void changes_are_told_from_and_to(void **state)
{
    (void)state;
    struct pipeline_settings from = defaults(), to = defaults();
    char text[SETTING_CHANGES_SIZE];
    assert_false(pipeline_settings_changes(&from, &to, ~0U, text));
    assert_string_equal(text, "");
    set(&to, "epochs=20");
    set(&to, "train-step.hidden=128");
    set(&to, "ingest.path=/data");
    set(&to, "checkpoint.keep=0");
    set(&to, "aggregate.final_rate=0.5"); /* without effect */
    assert_true(pipeline_settings_changes(
        &from, &to, SETTING_OF_TRAINING | SETTING_OF_TARGET | SETTING_OF_DATASET, text));
    assert_string_equal(
        text, "epochs 10 -> 20, ingest.path (none) -> /data, train-step.hidden 64 -> 128");
    char path[SETTING_PATH_SIZE + 16] = "ingest.path=/";
    memset(path + 13, 'x', 600);
    set(&to, path);
    assert_true(pipeline_settings_changes(&from, &to, ~0U, text));
    assert_string_equal(text, "epochs 10 -> 20, train-step.hidden 64 -> 128, "
                              "checkpoint.keep 2 -> 0, and 1 more");
}

/* A list of files is one text with absolute paths. It reads back the same from that text and from
 * --set. */
static void paths_may_be_a_list(void **state)
{
    (void)state;
    struct error err = {0};
    struct temp_dir dir;
    struct pipeline_settings settings = {0}, back = {0};
    char path[FILE_PATH_SIZE], expected[FILE_PATH_SIZE], text[SETTINGS_TEXT_SIZE];
    static const char file[] =
        "name: a\ningest:\n  format: edge_list\n  path: [a.csv, /b/c-*.csv]\n"
        "  labels:\n    - x.csv\n    - 'y z.csv'\n  features: [f.csv]\n";
    temp_dir_make(&dir);
    assert_ok(file_path(path, &err, "%s/p.yaml", dir.path), &err);
    assert_ok(file_replace(path, file, sizeof file - 1, false, &err), &err);
    assert_ok(pipeline_settings_load(&settings, path, &err), &err);
    assert_ok(file_path(expected, &err, "[%s/a.csv, /b/c-*.csv]", dir.path), &err);
    assert_string_equal(settings.ingest.path, expected);
    assert_ok(pipeline_settings_text(&settings, text, &err), &err);
    assert_ok(pipeline_settings_parse(&back, text, "plan", &err), &err);
    assert_string_equal(back.ingest.path, expected);
    assert_ok(file_path(expected, &err, "[%s/x.csv, %s/y z.csv]", dir.path, dir.path), &err);
    assert_string_equal(back.ingest.labels, expected);
    assert_ok(file_path(expected, &err, "[%s/f.csv]", dir.path), &err);
    assert_string_equal(back.ingest.features.path, expected);
    set(&settings, "ingest.path=[/one.csv,/two[12].csv]");
    assert_string_equal(settings.ingest.path, "[/one.csv, /two[12].csv]");
    assert_fails(pipeline_settings_override(&settings, "ingest.path=[/a,,/b]", &err), ERROR_INVALID,
                 "expected a path between commas, found nothing", &err);
    temp_dir_remove(&dir);
}

static void lists_of_paths_are_checked(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"ingest: {path: []}", "ingest.path is an empty list, expected a path, or a list of them"},
        {"ingest: {path: [a, 'b,c']}",
         "ingest.path[1] is 'b,c', expected a path without a comma in it"},
        {"ingest: {path: [a, [b]]}", "ingest.path[1] is a list, expected a path"},
        {"ingest: {labels: [a, '']}", "ingest.labels[1] is empty, expected a path"},
        {"ingest: {train: [a, b]}", "ingest.train is a list, expected one value"},
        {"ingest: {path: {a: b}}", "ingest.path is a map, expected a path, or a list of them"},
    };
    struct error err = {0};
    struct temp_dir dir;
    char path[FILE_PATH_SIZE];
    temp_dir_make(&dir);
    assert_ok(file_path(path, &err, "%s/p.yaml", dir.path), &err);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pipeline_settings settings = {0};
        assert_ok(file_replace(path, wrong[i][0], strlen(wrong[i][0]), false, &err), &err);
        assert_fails(pipeline_settings_load(&settings, path, &err), ERROR_INVALID, wrong[i][1],
                     &err);
    }
    temp_dir_remove(&dir);
}

static void some_settings_can_be_put_back_and_over_others(void **state)
{
    (void)state;
    struct pipeline_settings settings = defaults();
    struct error err = {0};
    set(&settings, "epochs=20");
    set(&settings, "infer.embeddings=false");
    pipeline_settings_reset(&settings, SETTING_OF_OUTPUTS);
    assert_true(settings.infer.embeddings);
    assert_int_equal(settings.epochs, 20);
    assert_ok(pipeline_settings_apply(&settings, "checkpoint.keep = 7\n", "wanted", &err), &err);
    assert_int_equal(settings.checkpoint.keep, 7);
    assert_int_equal(settings.epochs, 20);
}

static void text_that_is_none_is_refused(void **state)
{
    (void)state;
    struct pipeline_settings settings;
    struct error err = {0};
    assert_fails(pipeline_settings_parse(&settings, "epochs: 5\nseed = 1\n", "plan", &err),
                 ERROR_CORRUPT, "plan: not a settings line: epochs: 5", &err);
    assert_fails(pipeline_settings_parse(&settings, "epochs = 5\nno_such = 1\n", "plan", &err),
                 ERROR_INVALID, "plan: unknown setting 'no_such'", &err);
    assert_fails(pipeline_settings_parse(&settings, "epochs = x\n", "plan", &err), ERROR_INVALID,
                 "epochs is 'x'", &err);
}

static void overrides_need_a_name_and_a_value(void **state)
{
    (void)state;
    struct pipeline_settings settings = defaults();
    struct error err = {0};
    assert_ok(pipeline_settings_override(&settings, "train-step.hidden=128", &err), &err);
    assert_int_equal(settings.train_step.layer.output_dim, 128);
    assert_ok(pipeline_settings_override(&settings, "ingest.path=/nowhere/a=b", &err), &err);
    assert_string_equal(settings.ingest.path, "/nowhere/a=b");
    assert_ok(pipeline_settings_override(&settings, "sample.fanouts=[7, 5, 3]", &err), &err);
    assert_int_equal(settings.sample.fanouts.value[2], 3);
    assert_fails(pipeline_settings_override(&settings, "hidden", &err), ERROR_USAGE,
                 "--set 'hidden': expected section.key=value", &err);
    assert_fails(pipeline_settings_override(&settings, "train-step.hiden=1", &err), ERROR_INVALID,
                 "--set: unknown setting 'train-step.hiden'; did you mean 'train-step.hidden'?",
                 &err);
}

static void a_file_is_read_with_its_lines_and_paths(void **state)
{
    (void)state;
    struct temp_dir dir;
    struct pipeline_settings settings;
    struct error err = {0};
    char expected[FILE_PATH_SIZE];
    temp_dir_make(&dir);
    static const char good[] = "epochs: 7\ningest:\n  path: ${GRAPHMILL_UNSET:-raw}/cora\n"
                               "  labels: l.csv\n  features: f.npy\n  train: /t.csv\n"
                               "sample:\n  fanouts: [15, 10, 5]\n";
    const char *path = temp_dir_write(&dir, "cora-full.yaml", good, sizeof good - 1);
    assert_ok(pipeline_settings_load(&settings, path, &err), &err);
    assert_int_equal(settings.epochs, 7);
    assert_string_equal(settings.name, "cora-full"); /* named after the file if no name is given */
    assert_int_equal(settings.sample.fanouts.count, 3);
    assert_int_equal(settings.sample.fanouts.value[0], 15);
    assert_ok(file_path(expected, &err, "%s/raw/cora", dir.path), &err);
    assert_string_equal(settings.ingest.path, expected);
    assert_ok(file_path(expected, &err, "%s/l.csv", dir.path), &err);
    assert_string_equal(settings.ingest.labels, expected);
    assert_ok(file_path(expected, &err, "%s/f.npy", dir.path), &err);
    assert_string_equal(settings.ingest.features.path, expected);
    assert_int_equal(settings.ingest.features.choice, FEATURES_FILE);
    assert_string_equal(settings.ingest.split_file[0], "/t.csv");

    static const char bad[] = "epochs: 7\nsample:\n  batch_sise: 5\n";
    path = temp_dir_write(&dir, "bad.yaml", bad, sizeof bad - 1);
    assert_fails(pipeline_settings_load(&settings, path, &err), ERROR_INVALID,
                 "bad.yaml:3: unknown setting 'sample.batch_sise'; did you mean "
                 "'sample.batch_size'?",
                 &err);
    static const char unset[] = "ingest:\n  path: ${GRAPHMILL_UNSET}/cora\n";
    path = temp_dir_write(&dir, "unset.yaml", unset, sizeof unset - 1);
    assert_fails(pipeline_settings_load(&settings, path, &err), ERROR_INVALID,
                 "unset.yaml: environment variable GRAPHMILL_UNSET is not set", &err);
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"epochs: 7\nsample: 5\n", "wrong.yaml:2: unknown setting 'sample'"},
        {"sample:\n  a:\n    b: 1\n", "wrong.yaml:3: unknown setting 'sample.a.b'"},
        {"epochs:\n  least: 1\n", "wrong.yaml:1: epochs is a map, expected a whole number"},
        {"train-step:\n  hidden: [64]\n", "wrong.yaml:2: train-step.hidden is a list, expected"},
        {"sample:\n  fanouts:\n  - 10\n  - 0\n", "wrong.yaml:4: sample.fanouts[1] is '0'"},
        {"sample:\n  fanouts: {a: 1}\n", "wrong.yaml:2: sample.fanouts is a map, expected a list"},
        {"- 1\n", "wrong.yaml:1: expected 'key: value' lines, found a list"},
        {"words\n", "wrong.yaml:1: expected 'key: value' lines, found a scalar"},
        {"sample.fanouts: 5\nsample:\n  fanouts: 7\n",
         "wrong.yaml:3: sample.fanouts stands a second time; first on line 1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        path = temp_dir_write(&dir, "wrong.yaml", wrong[i].text, strlen(wrong[i].text));
        assert_fails(pipeline_settings_load(&settings, path, &err), ERROR_INVALID, wrong[i].message,
                     &err);
    }
    assert_fails(pipeline_settings_load(&settings, "/nowhere/x.yaml", &err), ERROR_INVALID,
                 "/nowhere/x.yaml", &err);
    temp_dir_remove(&dir);
}

/* A path counts the same: relative, absolute, through a link, and whether or not it exists. */
static void a_path_is_the_same_however_it_is_spelled(void **state)
{
    (void)state;
    struct temp_dir dir;
    struct error err = {0};
    char raw[FILE_PATH_SIZE], link_path[FILE_PATH_SIZE], text[4][FILE_PATH_SIZE];
    temp_dir_make(&dir);
    assert_ok(file_path(raw, &err, "%s/raw/cora", dir.path), &err);
    assert_ok(file_make_folders(raw, &err), &err);
    assert_ok(file_path(link_path, &err, "%s/linked", dir.path), &err);
    assert_int_equal(symlink("raw", link_path), 0);
    const char *const spelled[] = {"raw/cora", "./raw/../raw//cora/", "linked/cora",
                                   "${GRAPHMILL_UNSET:-raw}/cora"};
    for (int i = 0; i < 4; i++) {
        struct pipeline_settings settings;
        const int size = snprintf(text[i], sizeof text[i], "ingest:\n  path: \"%s\"\n", spelled[i]);
        const char *path = temp_dir_write(&dir, "p.yaml", text[i], (size_t)size);
        assert_ok(pipeline_settings_load(&settings, path, &err), &err);
        assert_string_equal(settings.ingest.path, raw);
    }
    struct pipeline_settings settings = defaults();
    char here[FILE_PATH_SIZE], expected[2 * FILE_PATH_SIZE];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(dir.path), 0);
    set(&settings, "ingest.path=raw/cora");
    assert_string_equal(settings.ingest.path, raw);
    set(&settings, "ingest.path=raw/none/../gone"); /* it does not exist, and is one path all the
                                                     * same */
    (void)snprintf(expected, sizeof expected, "%s/raw/gone", dir.path);
    assert_string_equal(settings.ingest.path, expected);
    assert_int_equal(chdir(here), 0);
    temp_dir_remove(&dir);
}

static void running_out_of_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    struct temp_dir dir;
    static const char text[] = "epochs: 7\nsample:\n  fanouts: [15, 10]\n";
    temp_dir_make(&dir);
    const char *path = temp_dir_write(&dir, "cora.yaml", text, sizeof text - 1);
    const long live = memory_live_blocks();
    long n = 0;
    for (enum error_code rc = ERROR_NO_MEMORY; rc != ERROR_NONE; n++) {
        struct pipeline_settings settings;
        struct error err = {0};
        memory_fail_after(n);
        rc = pipeline_settings_load(&settings, path, &err);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), live);
    }
    assert_true(n > 1);
    temp_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_table),
        cmocka_unit_test(every_choice_is_stored_as_its_place_in_the_list),
        cmocka_unit_test(unknown_names_are_refused_with_the_nearest_known_one),
        cmocka_unit_test(bad_values_are_refused_with_what_was_expected),
        cmocka_unit_test(limits_themselves_are_fine),
        cmocka_unit_test(a_number_may_be_the_most_there_is),
        cmocka_unit_test(text_and_settings_are_inverse),
        cmocka_unit_test(an_identity_is_of_what_differs_from_the_defaults_and_has_an_effect),
        cmocka_unit_test(a_history_counts_where_events_are_learnt),
        cmocka_unit_test(what_stands_inside_gin_counts_where_it_is_more_than_relu),
        cmocka_unit_test(what_stands_inside_gin_counts_in_lists_as_well),
        cmocka_unit_test(every_setting_but_the_name_is_part_of_something),
        cmocka_unit_test(changes_are_told_from_and_to),
        cmocka_unit_test(paths_may_be_a_list),
        cmocka_unit_test(lists_of_paths_are_checked),
        cmocka_unit_test(some_settings_can_be_put_back_and_over_others),
        cmocka_unit_test(a_path_is_the_same_however_it_is_spelled),
        cmocka_unit_test(text_that_is_none_is_refused),
        cmocka_unit_test(overrides_need_a_name_and_a_value),
        cmocka_unit_test(a_file_is_read_with_its_lines_and_paths),
        cmocka_unit_test(running_out_of_memory_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
