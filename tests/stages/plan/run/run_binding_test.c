#include "stages/plan/run/core_type.h"
#include "stages/plan/run/environment.h"
#include "stages/plan/run/run_binding.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>

static const char partition_name[] = "cora-0123456789abcdef";

static struct pipeline_settings settings_with(const char *const *assignment)
{
    struct pipeline_settings settings;
    struct error err = {0};
    pipeline_settings_defaults(&settings);
    memcpy(settings.name, "cora", 5);
    for (; *assignment; assignment++)
        assert_ok(pipeline_settings_override(&settings, *assignment, &err), &err);
    return settings;
}

#define SETTINGS(...) settings_with((const char *const[]){__VA_ARGS__, NULL})

/* Stores what ingest and partition store for these settings. */
static void put_partition(struct temp_store *t, const struct pipeline_settings *settings)
{
    static const uint32_t book[] = {0, 3};
    const struct partition_book out = {.id = "cora-0123456789abcdef",
                                       .dataset_id = "cora-1",
                                       .part_count = 1,
                                       .node_count = 3,
                                       .feature_dim = 2,
                                       .class_count = 2,
                                       .task = TASK_SINGLE_LABEL,
                                       .train_count = 2,
                                       .valid_count = 1,
                                       .book = book};
    struct key key;
    assert_ok(partition_book_put(t->store, &out, &t->err), &t->err);
    assert_ok(run_input_switch(settings, "partition", &key, &t->err), &t->err);
    assert_ok(store_switch_set(t->store, key.text, partition_name, &t->err), &t->err);
}

static void a_worker_joins_what_was_started_and_starts_nothing(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = SETTINGS("epochs=3");
    const struct pipeline_settings other = SETTINGS("epochs=3", "train-step.hidden=128");
    char run_id[ID_SIZE], joined[ID_SIZE], expected[256];
    assert_fails(run_join(t->store, &settings, joined, &t->err), ERROR_UNAVAILABLE,
                 "no partition for pipeline cora yet", &t->err);
    put_partition(t, &settings);
    assert_fails(run_join(t->store, &settings, joined, &t->err), ERROR_UNAVAILABLE,
                 "no run of these settings was started here", &t->err);
    assert_fails(run_newest(t->store, joined, &t->err), ERROR_NOT_FOUND, "no run", &t->err);
    assert_ok(run_start(t->store, &settings, run_id, &t->err), &t->err);
    assert_ok(run_join(t->store, &settings, joined, &t->err), &t->err);
    assert_string_equal(joined, run_id);
    (void)snprintf(expected, sizeof expected,
                   "no run of these settings was started here; the newest run is %s, which differs "
                   "in train-step.hidden 64 -> 128",
                   run_id);
    assert_fails(run_join(t->store, &other, joined, &t->err), ERROR_UNAVAILABLE, expected, &t->err);
}

static void what_is_wanted_of_a_run_may_change(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = SETTINGS("checkpoint.keep=5");
    const struct pipeline_settings other =
        SETTINGS("infer.embeddings=false", "sample.run_ahead=2", "portable=false");
    struct run_binding run = {0};
    char run_id[ID_SIZE], again[ID_SIZE];
    put_partition(t, &settings);
    assert_ok(run_start(t->store, &settings, run_id, &t->err), &t->err);
    assert_ok(run_open(t->store, run_id, &run, &t->err), &t->err);
    assert_int_equal(run.settings.checkpoint.keep, 5);
    run_close(&run);
    assert_fails(run_join(t->store, &other, again, &t->err), ERROR_UNAVAILABLE,
                 "was not started with these outputs: infer.embeddings true -> false", &t->err);
    assert_ok(run_start(t->store, &other, again, &t->err), &t->err);
    assert_string_equal(again, run_id);
    assert_ok(run_open(t->store, run_id, &run, &t->err), &t->err);
    assert_int_equal(run.settings.checkpoint.keep, 2);
    assert_int_equal(run.schedule.run_ahead, 2);
    assert_false(run.settings.infer.embeddings);
    run_close(&run);
    assert_ok(run_join(t->store, &other, again, &t->err), &t->err);
    /* A worker may have other settings that change no byte. */
    const struct pipeline_settings keep = SETTINGS("infer.embeddings=false", "checkpoint.keep=9");
    assert_ok(run_join(t->store, &keep, again, &t->err), &t->err);
}

static void another_environment_is_refused_with_what_differs(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = SETTINGS("portable=true");
    struct run_binding run = {0};
    char run_id[ID_SIZE];
    put_partition(t, &settings);
    assert_ok(run_start(t->store, &settings, run_id, &t->err), &t->err);
    assert_ok(run_open(t->store, run_id, &run, &t->err), &t->err);
    assert_ok(run_check_environment(&run, core_type_portable, &t->err), &t->err);
    assert_fails(run_check_environment(&run, "Nehalem", &t->err), ERROR_INVALID,
                 " Haswell, here OpenBLAS ", &t->err);
    char *version = strstr(run.plan.environment, GRAPHMILL_VERSION);
    assert_non_null(version);
    *version = '9';
    assert_fails(run_check_environment(&run, core_type_portable, &t->err), ERROR_INVALID,
                 "was started with graphmill 9", &t->err);
    assert_non_null(strstr(t->err.message, "Finish it where it was started, or start a new run"));
    run_close(&run);
}

/* Reading settings makes the input's path unique; two inputs have two refs. */
static void settings_lead_to_what_they_made(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings a = SETTINGS("ingest.path=/a"), b = SETTINGS("ingest.path=/b");
    const struct pipeline_settings later = SETTINGS("ingest.path=/a", "epochs=99", "name=x");
    struct key one, other;
    assert_ok(run_input_switch(&a, "dataset", &one, &t->err), &t->err);
    assert_ok(run_input_switch(&b, "dataset", &other, &t->err), &t->err);
    assert_string_not_equal(one.text, other.text);
    assert_ok(run_input_switch(&later, "dataset", &other, &t->err), &t->err);
    assert_string_equal(one.text, other.text);
    const struct pipeline_settings labels =
        SETTINGS("ingest.path=/a", "ingest.format=edge_list", "ingest.labels=/l");
    const struct pipeline_settings others =
        SETTINGS("ingest.path=/a", "ingest.format=edge_list", "ingest.labels=/m");
    assert_ok(run_input_switch(&labels, "dataset", &one, &t->err), &t->err);
    assert_ok(run_input_switch(&others, "dataset", &other, &t->err), &t->err);
    assert_string_not_equal(one.text, other.text);
    assert_ok(run_input_switch(&a, "dataset", &one, &t->err), &t->err);
    assert_ok(run_input_switch(&a, "partition", &other, &t->err), &t->err);
    assert_string_not_equal(one.text, other.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_worker_joins_what_was_started_and_starts_nothing),
        test_with_store(what_is_wanted_of_a_run_may_change),
        test_with_store(another_environment_is_refused_with_what_differs),
        test_with_store(settings_lead_to_what_they_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
