#include "stages/plan/model/identity.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>

static struct pipeline_settings settings_named(const char *name)
{
    struct pipeline_settings settings;
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.name, sizeof settings.name, "%s", name);
    return settings;
}

static const char *partition_of(struct temp_store *t, const struct pipeline_settings *settings)
{
    static char id[2][ID_SIZE];
    static int turn;
    turn = !turn;
    assert_ok(identity_partition(t->store, settings, "cora-0123456789abcdef", id[turn], &t->err),
              &t->err);
    return id[turn];
}

static const char *run_of(struct temp_store *t, const struct pipeline_settings *settings)
{
    static char id[2][ID_SIZE];
    static int turn;
    turn = !turn;
    assert_ok(identity_run(t->store, settings, "cora-0123456789abcdef", id[turn], &t->err),
              &t->err);
    return id[turn];
}

static void ids_are_a_name_and_sixteen_digits_and_stay_what_they_are(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_named("cora");
    /* Stored things are found by these ids. Whoever changes them must raise IDENTITY_VERSION. */
    assert_string_equal(partition_of(t, &settings), "cora-a9b1d99403048b13");
    assert_string_equal(run_of(t, &settings), "cora-5fa237e4970c0c59");
    assert_string_equal(identity_digits_of("a-b-0123"), "0123");
}

static void a_partition_is_of_its_dataset_its_settings_and_the_seed(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings usual = settings_named("cora");
    struct pipeline_settings settings = usual;
    char id[ID_SIZE], other[ID_SIZE];
    settings.epochs++;
    settings.sample.batch_size++;
    settings.infer.embeddings = false;
    memcpy(settings.ingest.path, "/elsewhere", 11);
    assert_string_equal(partition_of(t, &settings), partition_of(t, &usual));
    settings = usual;
    settings.partition.parts++;
    assert_string_not_equal(partition_of(t, &settings), partition_of(t, &usual));
    settings = usual;
    settings.seed++;
    assert_string_not_equal(partition_of(t, &settings), partition_of(t, &usual));
    assert_ok(identity_partition(t->store, &usual, "cora-1", id, &t->err), &t->err);
    assert_ok(identity_partition(t->store, &usual, "cora-2", other, &t->err), &t->err);
    assert_string_not_equal(id, other);
    assert_ok(identity_partition(t->store, &usual, "citeseer-1", other, &t->err), &t->err);
    assert_string_equal(id, other); /* the digits identify the dataset */
}

static void of_an_assignment_file_the_content_counts_and_no_seed(void **state)
{
    struct temp_store *t = *state;
    struct pipeline_settings one = settings_named("cora"), same, other;
    one.partition.method = PARTITION_FILE;
    same = other = one;
    (void)snprintf(one.partition.assignment, SETTING_PATH_SIZE, "%s",
                   temp_dir_write(&t->dir, "a.txt", "0\n1\n", 4));
    (void)snprintf(same.partition.assignment, SETTING_PATH_SIZE, "%s",
                   temp_dir_write(&t->dir, "b.txt", "0\n1\n", 4));
    (void)snprintf(other.partition.assignment, SETTING_PATH_SIZE, "%s",
                   temp_dir_write(&t->dir, "c.txt", "1\n0\n", 4));
    same.seed++;
    assert_string_equal(partition_of(t, &one), partition_of(t, &same));
    assert_string_not_equal(partition_of(t, &one), partition_of(t, &other));
    char id[ID_SIZE];
    memcpy(one.partition.assignment, "/nowhere", 9);
    assert_fails(identity_partition(t->store, &one, "cora-1", id, &t->err), ERROR_NOT_FOUND,
                 "partition.assignment: /nowhere", &t->err);
}

static void of_loads_the_content_counts_and_not_the_place(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings without = settings_named("cora");
    struct pipeline_settings one = without, same = without, other = without;
    char id[ID_SIZE];
    (void)snprintf(one.partition.loads, SETTING_PATH_SIZE, "%s",
                   temp_dir_write(&t->dir, "a.csv", "1\n", 2));
    (void)snprintf(same.partition.loads, SETTING_PATH_SIZE, "%s",
                   temp_dir_write(&t->dir, "b.csv", "1\n", 2));
    (void)snprintf(other.partition.loads, SETTING_PATH_SIZE, "%s",
                   temp_dir_write(&t->dir, "c.csv", "2\n", 2));
    assert_string_equal(partition_of(t, &one), partition_of(t, &same));
    assert_string_not_equal(partition_of(t, &one), partition_of(t, &other));
    assert_string_not_equal(partition_of(t, &one), partition_of(t, &without));
    memcpy(one.partition.loads, "/nowhere", 9);
    assert_fails(identity_partition(t->store, &one, "cora-1", id, &t->err), ERROR_NOT_FOUND,
                 "partition.loads: /nowhere", &t->err);
}

static void a_run_is_of_what_training_depends_on(void **state)
{
    struct temp_store *t = *state;
    static const char *const same[] = {"checkpoint.keep=0",      "infer.embeddings=false",
                                       "infer.weights=last",     "sample.run_ahead=9",
                                       "ingest.path=/elsewhere", "partition.parts=1",
                                       "aggregate.momentum=0.5", "aggregate.learning_rate=1e-2"};
    static const char *const other[] = {"epochs=11",
                                        "seed=2",
                                        "train-step.hidden=65",
                                        "checkpoint.every_epochs=2",
                                        "portable=true",
                                        "checkpoint.patience=3"};
    const struct pipeline_settings usual = settings_named("cora");
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct pipeline_settings settings = usual;
        assert_ok(pipeline_settings_override(&settings, same[i], &t->err), &t->err);
        assert_string_equal(run_of(t, &settings), run_of(t, &usual));
    }
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        struct pipeline_settings settings = usual;
        assert_ok(pipeline_settings_override(&settings, other[i], &t->err), &t->err);
        assert_string_not_equal(run_of(t, &settings), run_of(t, &usual));
    }
}

static void outputs_are_told_apart_by_the_settings_of_inference(void **state)
{
    (void)state;
    struct error err = {0};
    struct pipeline_settings settings = settings_named("cora");
    char tag[OUTPUTS_TAG_SIZE], other[OUTPUTS_TAG_SIZE];
    settings.infer.weights = WEIGHTS_LAST; /* the version of the weights expresses that */
    assert_ok(identity_outputs_tag(&settings, tag, &err), &err);
    assert_string_equal(tag, "");
    settings.infer.embeddings = false;
    assert_ok(identity_outputs_tag(&settings, tag, &err), &err);
    assert_int_equal(strlen(tag), 8);
    settings.infer.predictions = false;
    assert_ok(identity_outputs_tag(&settings, other, &err), &err);
    assert_string_not_equal(tag, other);
}

static void another_name_finds_what_the_first_one_made(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings first = settings_named("cora");
    const struct pipeline_settings second =
        settings_named("a_name_that_is_as_long_as_the_table_of_settings_will_let_it_be_");
    assert_int_equal(strlen(run_of(t, &second)), 40 + 1 + IDENTITY_DIGITS);
    assert_string_not_equal(run_of(t, &second), run_of(t, &first));
    assert_ok(identity_note(t->store, run_of(t, &first), &t->err), &t->err);
    assert_string_equal(run_of(t, &second), run_of(t, &first));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(ids_are_a_name_and_sixteen_digits_and_stay_what_they_are),
        test_with_store(a_partition_is_of_its_dataset_its_settings_and_the_seed),
        test_with_store(of_an_assignment_file_the_content_counts_and_no_seed),
        test_with_store(of_loads_the_content_counts_and_not_the_place),
        test_with_store(a_run_is_of_what_training_depends_on),
        cmocka_unit_test(outputs_are_told_apart_by_the_settings_of_inference),
        test_with_store(another_name_finds_what_the_first_one_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
