/* Rules between settings, checked before anything is read. pipeline_settings_test.c tests single
 * settings. */
#include "stages/plan/settings/pipeline_settings.h"

#include "tests/support/test.h"

#include <stdio.h>

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

/* Methods that cannot use loads are refused by name, before anything is read. */
static void measured_loads_go_with_methods_that_can_weigh_edges(void **state)
{
    (void)state;
    struct error err = {0};
    static const char *const takes[] = {"metis", "ldg", "fennel", "auto"};
    static const char *const refuses[] = {
        "hash", "file", "range",     "spectral",      "random_walk", "label_propagation",
        "dbh",  "hdrf", "two_phase", "two_phase_hdrf"};
    struct pipeline_settings settings = defaults();
    assert_int_equal(sizeof takes / sizeof *takes + sizeof refuses / sizeof *refuses,
                     PARTITION_METHOD_COUNT);
    assert_ok(assign(&settings, "name", "cora", &err), &err);
    assert_ok(assign(&settings, "ingest.path", "raw", &err), &err);
    assert_ok(assign(&settings, "partition.assignment", "parts.txt", &err), &err);
    assert_ok(assign(&settings, "partition.loads", "loads.csv", &err), &err);
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++) {
        assert_ok(assign(&settings, "partition.method", takes[i], &err), &err);
        assert_ok(pipeline_settings_check(&settings, &err), &err);
    }
    for (size_t i = 0; i < sizeof refuses / sizeof *refuses; i++) {
        char message[128];
        (void)snprintf(message, sizeof message,
                       "partition.loads is given, but partition.method is %s, which", refuses[i]);
        assert_ok(assign(&settings, "partition.method", refuses[i], &err), &err);
        assert_fails(pipeline_settings_check(&settings, &err), ERROR_INVALID, message, &err);
    }
}

static void rules_between_settings_are_checked(void **state)
{
    (void)state;
    struct error err = {0};
    static const struct {
        const char *name, *value, *message;
    } bad[] = {
        {"name", "", "name is '', expected letters"},
        {"name", "a b", "name is 'a b', expected letters"},
        {"name", ".hidden", "no leading dot"},
        {"sample.fanouts", "", "sample.fanouts is empty"},
        {"sample.evaluation_fanouts", "5",
         "sample.evaluation_fanouts has 1 items and sample.fanouts 2"},
        {"ingest.path", "", "ingest.path is empty"},
        {"ingest.valid_share", "0.9", "ingest.train_share + ingest.valid_share is 1.2"},
        {"partition.method", "file", "partition.assignment is empty"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pipeline_settings settings = defaults();
        assert_ok(assign(&settings, "name", "cora", &err), &err);
        assert_ok(assign(&settings, "ingest.path", "raw", &err), &err);
        assert_ok(pipeline_settings_check(&settings, &err), &err);
        assert_ok(assign(&settings, bad[i].name, bad[i].value, &err), &err);
        assert_fails(pipeline_settings_check(&settings, &err), ERROR_INVALID, bad[i].message, &err);
    }
}

static void files_beside_an_edge_list_are_checked(void **state)
{
    (void)state;
    struct error err = {0};
    static const struct {
        const char *name, *value, *other, *other_value, *message;
    } bad[] = {
        {"ingest.labels", "l.csv", "ingest.format", "folder",
         "ingest.labels is 'l.csv', but ingest.format is folder, which does not read it"},
        {"ingest.features", "f.csv", "ingest.format", "ogb", "ingest.features is 'f.csv'"},
        {"ingest.feature_ids", "i.txt", "ingest.features", "f.csv", "is no .npy file"},
        {"ingest.split", "random 60/20/20", "ingest.valid", "v.txt",
         "ingest.split is 'random 60/20/20', but ingest.valid names a file: remove one"},
        {"ingest.split", "random 60/20", "name", "n", "expected given, or percents"},
        {"ingest.split", "random 60/20/30", "name", "n", "make 100"},
        {"ingest.split", "random 0/50/50", "name", "n", "make 100"},
        {"ingest.split", "random 99999999999/0/0", "name", "n", "make 100"},
        {"ingest.split", "random 60/20/20 please", "name", "n", "make 100"},
        {"ingest.split", "random 60/20/20", "ingest.format", "generated", "ingest.train_share"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pipeline_settings settings = defaults();
        assert_ok(assign(&settings, "name", "mine", &err), &err);
        assert_ok(assign(&settings, "ingest.path", "e.csv", &err), &err);
        assert_ok(assign(&settings, "ingest.format", "edge_list", &err), &err);
        assert_ok(assign(&settings, bad[i].name, bad[i].value, &err), &err);
        assert_ok(assign(&settings, bad[i].other, bad[i].other_value, &err), &err);
        assert_fails(pipeline_settings_check(&settings, &err), ERROR_INVALID, bad[i].message, &err);
    }
}

/* Ways to share out work: those that exclude each other are refused with the name of a setting, and
 * the others may be combined. */
static void strategies_that_exclude_each_other_are_refused(void **state)
{
    (void)state;
    struct error err = {0};
    static const struct {
        const char *name, *value, *other, *other_value, *message; /* NULL: they may be combined */
    } pair[] = {
        {"train-step.pipeline", "layers", "aggregate.staleness", "1",
         "train-step.pipeline is layers, but aggregate.staleness is not 0"},
        {"train-step.pipeline", "layers", "aggregate.staleness", "up_to 2",
         "train-step.pipeline is layers, but aggregate.staleness is not 0"},
        {"train-step.pipeline", "layers", "train-step.embedding", "8",
         "train-step.pipeline is layers, but train-step.embedding learns rows"},
        {"train-step.pipeline", "layers", "ingest.task", "link_prediction",
         "train-step.pipeline is layers, but ingest.task is link_prediction"},
        {"train-step.pipeline", "layers", "sample.fanouts", "[5]", "but the model has one layer"},
        {"aggregate.staleness", "4", "train-step.gradient", "top_k",
         "aggregate.staleness is 4, but with train-step.gradient: top_k"},
        {"aggregate.staleness", "up_to 4", "train-step.gradient", "top_k",
         "aggregate.staleness is 4, but with train-step.gradient: top_k"},
        {"aggregate.staleness", "4", "train-step.embedding", "8",
         "aggregate.staleness is 4, but learnable rows (train-step.embedding)"},
        {"aggregate.staleness", "up_to 4", "train-step.embedding", "8",
         "aggregate.staleness is 4, but learnable rows (train-step.embedding)"},
        {"train-step.initial", "runs/cora", "train-step.embedding", "8",
         "train-step.initial is 'runs/cora', expected none with train-step.embedding"},
        {"aggregate.fan_in", "1", "aggregate.ranges", "3", "aggregate.fan_in is 1"},
        {"partition.method", "hdrf", "ingest.task", "graph_classification",
         "partition.method cuts graphs"},
        {"train-step.pipeline", "layers", "aggregate.ranges", "3", NULL},
        {"train-step.pipeline", "layers", "train-step.gradient", "top_k", NULL},
        {"train-step.pipeline", "layers", "partition.method", "hdrf", NULL},
        {"aggregate.staleness", "4", "aggregate.ranges", "3", NULL},
        {"aggregate.staleness", "up_to 4", "train-step.gradient", "int8", NULL},
        {"aggregate.staleness", "4", "partition.method", "two_phase", NULL},
        {"train-step.gradient", "top_k", "aggregate.fan_in", "2", NULL},
    };
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        struct pipeline_settings settings = defaults();
        assert_ok(assign(&settings, "name", "mine", &err), &err);
        assert_ok(assign(&settings, "ingest.path", "folder", &err), &err);
        assert_ok(assign(&settings, pair[i].name, pair[i].value, &err), &err);
        assert_ok(assign(&settings, pair[i].other, pair[i].other_value, &err), &err);
        if (pair[i].message)
            assert_fails(pipeline_settings_check(&settings, &err), ERROR_INVALID, pair[i].message,
                         &err);
        else
            assert_ok(pipeline_settings_check(&settings, &err), &err);
    }
}

static void a_split_is_read_out_of_its_text(void **state)
{
    (void)state;
    struct error err = {0};
    struct pipeline_settings settings = defaults();
    struct split_shares shares;
    assert_ok(pipeline_split_shares(&settings, &shares, &err), &err);
    assert_false(shares.is_random);
    assert_ok(assign(&settings, "ingest.split", "random 70/0/30", &err), &err);
    assert_ok(pipeline_split_shares(&settings, &shares, &err), &err);
    assert_true(shares.is_random);
    assert_int_equal(shares.percent[0], 70);
    assert_int_equal(shares.percent[1], 0);
    assert_int_equal(shares.percent[2], 30);
}

/* A setting that only some formats read is refused with another format, and accepted with one of
 * these, or with auto. */
static void settings_that_a_format_does_not_read_are_refused(void **state)
{
    (void)state;
    struct error err = {0};
    static const struct {
        const char *name, *value, *reads, *does_not, *message;
    } trials[] = {
        {"ingest.label_columns", "club", "graphml", "npz",
         "ingest.label_columns is 'club', but ingest.format is npz, which does not read it: remove "
         "the line, or take a format that reads it (edge_list,"},
        {"ingest.feature_columns", "age", "graphml", "linqs", "ingest.feature_columns is 'age'"},
        {"ingest.id_column", "who", "edge_list", "graphml", "ingest.id_column is 'who'"},
        {"ingest.edge_columns", "source: a; target: b", "edge_list", "metis",
         "ingest.edge_columns is 'source: a"},
        {"ingest.id_type", "string", "edge_list", "openke", "ingest.id_type is 'string'"},
        {"ingest.labels", "l.csv", "matrix_market", "folder", "ingest.labels is '"},
        {"ingest.nodes", "500", "generated", "folder", "ingest.nodes is '500'"},
    };
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        struct pipeline_settings settings = defaults();
        assert_ok(assign(&settings, "name", "cora", &err), &err);
        assert_ok(assign(&settings, "ingest.path", "raw", &err), &err);
        assert_ok(assign(&settings, trials[i].name, trials[i].value, &err), &err);
        assert_ok(assign(&settings, "ingest.format", trials[i].reads, &err), &err);
        assert_ok(pipeline_settings_check(&settings, &err), &err);
        assert_ok(assign(&settings, "ingest.format", "auto", &err), &err);
        assert_ok(pipeline_settings_check(&settings, &err), &err);
        assert_ok(assign(&settings, "ingest.format", trials[i].does_not, &err), &err);
        assert_fails(pipeline_settings_check(&settings, &err), ERROR_INVALID, trials[i].message,
                     &err);
        assert_fails(pipeline_settings_check_format(&settings, &err), ERROR_INVALID,
                     trials[i].message, &err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_loads_go_with_methods_that_can_weigh_edges),
        cmocka_unit_test(rules_between_settings_are_checked),
        cmocka_unit_test(settings_that_a_format_does_not_read_are_refused),
        cmocka_unit_test(files_beside_an_edge_list_are_checked),
        cmocka_unit_test(strategies_that_exclude_each_other_are_refused),
        cmocka_unit_test(a_split_is_read_out_of_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
