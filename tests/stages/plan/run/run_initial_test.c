#include "common/base/memory.h"
#include "stages/plan/model/run_model.h"
#include "stages/plan/model/run_origin.h"
#include "stages/plan/run/run_binding.h"
#include "stages/plan/run/run_initial.h"
#include "store/records/round/parameters.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>

static const char partition_name[] = "cora-0123456789abcdef";
static const uint32_t book_rows[] = {0, 3};
static const struct partition_book book = {.id = "cora-0123456789abcdef",
                                           .dataset_id = "cora-1",
                                           .part_count = 1,
                                           .node_count = 3,
                                           .feature_dim = 2,
                                           .class_count = 2,
                                           .task = TASK_SINGLE_LABEL,
                                           .train_count = 2,
                                           .valid_count = 1,
                                           .book = book_rows};

struct trained { /* a model, in the form of a snapshot */
    struct pipeline_settings settings;
    struct model *model;
    float *value;
    char table[RUN_MODEL_TABLE_SIZE];
    struct snapshot snapshot;
};

/* Trains a model, and names its weights in settings for a partition that is there. */
static void train(struct temp_store *t, struct trained *out)
{
    struct key key;
    const float *taken = NULL;
    pipeline_settings_defaults(&out->settings);
    memcpy(out->settings.name, "cora", 5);
    assert_ok(memory_new(&out->model, 1, "a model", &t->err), &t->err);
    assert_ok(run_model_init(out->model, &out->settings, &book, &t->err), &t->err);
    assert_ok(memory_new(&out->value, out->model->value_count, "weights", &t->err), &t->err);
    model_initialise(out->model, 5, out->value);
    assert_ok(model_table_text(out->model, out->table, sizeof out->table, &t->err), &t->err);
    out->snapshot = (struct snapshot){.version = 7,
                                      .best_version = 7,
                                      .value_count = out->model->value_count,
                                      .value = out->value,
                                      .best_value = out->value,
                                      .table = out->table,
                                      .table_size = strlen(out->table)};
    const struct weights_identity identity = weights_identity_of(&out->snapshot, true, &taken);
    run_initial_name(&out->settings, &identity, "cora-9");
    assert_ok(partition_book_put(t->store, &book, &t->err), &t->err);
    assert_ok(run_input_switch(&out->settings, "partition", &key, &t->err), &t->err);
    assert_ok(store_switch_set(t->store, key.text, partition_name, &t->err), &t->err);
}

static void release(struct trained *trained)
{
    memory_free(trained->model);
    memory_free(trained->value);
}

static void a_run_begins_with_the_weights_it_names(void **state)
{
    static struct trained trained;
    struct temp_store *t = *state;
    char run_id[ID_SIZE], again[ID_SIZE];
    float *value = NULL;
    train(t, &trained);
    assert_fails(run_start(t->store, &trained.settings, run_id, &t->err), ERROR_NOT_FOUND,
                 "expected the weights of run cora-9", &t->err);
    for (int turn = 0; turn < 2; turn++)
        assert_ok(
            run_initial_put(t->store, &trained.settings, &trained.snapshot, trained.value, &t->err),
            &t->err);
    assert_ok(run_start(t->store, &trained.settings, run_id, &t->err), &t->err);
    assert_ok(memory_new(&value, trained.model->value_count, "weights", &t->err), &t->err);
    assert_ok(run_initial_get(t->store, &trained.settings, run_id, trained.model, value, &t->err),
              &t->err);
    assert_memory_equal(value, trained.value, trained.model->value_count * sizeof *value);
    trained.settings.train_step.initial[0] = '\0';
    assert_ok(run_id_of(t->store, &trained.settings, again, &t->err), &t->err);
    assert_string_not_equal(run_id, again);
    memory_free(value);
    release(&trained);
}

static void other_weights_than_those_are_refused(void **state)
{
    static struct trained trained;
    struct temp_store *t = *state;
    char run_id[ID_SIZE];
    float *value = NULL;
    train(t, &trained);
    assert_ok(memory_new(&value, trained.model->value_count, "weights", &t->err), &t->err);
    assert_ok(run_id_of(t->store, &trained.settings, run_id, &t->err), &t->err);
    assert_fails(
        run_initial_get(t->store, &trained.settings, run_id, trained.model, value, &t->err),
        ERROR_NOT_FOUND, "/initial", &t->err);
    trained.value[0] += 1;
    assert_ok(
        run_initial_put(t->store, &trained.settings, &trained.snapshot, trained.value, &t->err),
        &t->err);
    assert_fails(
        run_initial_get(t->store, &trained.settings, run_id, trained.model, value, &t->err),
        ERROR_CORRUPT, "/initial: expected weights with the hash", &t->err);
    memory_free(value);
    release(&trained);
}

static void the_place_of_a_model_is_no_run(void **state)
{
    static struct trained trained;
    static const char *const texts[] = {"runs/cora", "0 abc cora-1", "7 abc", "7 abc cora-1 x"};
    struct temp_store *t = *state;
    char run_id[ID_SIZE];
    train(t, &trained);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        (void)snprintf(trained.settings.train_step.initial,
                       sizeof trained.settings.train_step.initial, "%s", texts[i]);
        assert_fails(run_start(t->store, &trained.settings, run_id, &t->err), ERROR_INVALID,
                     "expected a run that graphmill run or graphmill start began", &t->err);
    }
    release(&trained);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_run_begins_with_the_weights_it_names),
        test_with_store(other_weights_than_those_are_refused),
        test_with_store(the_place_of_a_model_is_no_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
