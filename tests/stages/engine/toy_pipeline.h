/*
 * toy_pipeline - a pipeline of numbers on a real Redis and a real store, for tests of the work
 * loop.
 *
 * The record of every unit holds a number made from its name and the contents of its inputs. So a
 * run that lost, repeated or mixed up anything ends with another number. Include it in one file of
 * a test program.
 */
#ifndef TESTS_STAGES_ENGINE_TOY_PIPELINE_H
#define TESTS_STAGES_ENGINE_TOY_PIPELINE_H

#include "common/base/clock.h"
#include "common/base/log.h"
#include "stages/engine/work_loop.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/unit_row.h"
#include "store/objects/object_store.h"
#include "store/records/round/snapshot.h"

#include "tests/support/redis_fixture.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { STOP_AT = 4, WORKER_COUNT = 6, STALL_MS_MAX = 60000, HANG_MS = 30000 };

static const char run_id[] = "toy-1";
static const char *const worker_stage[WORKER_COUNT] = {"sample",    "train-step", "train-step",
                                                       "aggregate", "checkpoint", "infer"};

/* The fault that the toy stage makes, once. */
enum mischief {
    DO_NOTHING,
    FAIL_OPENING, /* for sample */
    TEAR_RECORD,
    LOSE_RECORD,
    MEET_MENDED_INPUT,
    FAIL_FOR_GOOD,
    LOSE_INPUT_FOR_EVER,
    BREAK_HOST,        /* once */
    FILL_DISK,         /* in the next `full_tries` tries */
    STALL,             /* waits until the run is finished without this worker */
    STALL_AND_MISREAD, /* and then takes what it finds for damage */
};
static _Atomic enum mischief mischief;
static const char victim[] = "train-step/1/0";
static atomic_int unit_sleep_ms;
static atomic_int full_tries;
/* Number of workers. One that opens late removes the notice of its stage, as one of an earlier
 * attempt. */
static atomic_int opened;
static atomic_int samples_in_hand, most_samples_in_hand;
/* The prefers() of every stage; NULL: it has none. */
static int (*toy_prefers)(const struct stage_context *context, const void *state,
                          const struct unit *unit, char wanted[STAGE_PREFERS_MAX][UNIT_NAME_SIZE]);
/* The backend of the stores; NULL: chosen by their addresses. */
static const struct object_backend *toy_backend;

/* --- the toy stage --- */

static inline uint64_t mix(uint64_t sum, uint64_t value)
{
    return (sum ^ value) * 0x100000001B3ULL;
}

static inline enum error_code add_input(const struct stage_context *context,
                                        const struct unit *input, uint64_t *sum, struct error *err)
{
    struct record_view view = {0};
    const enum error_code rc =
        store_get(context->store, chain_output_key(context->schedule, context->run_id, input).text,
                  NULL, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t i = 0; i < view.size; i++)
        *sum = mix(*sum, view.data[i]);
    store_release_record(&view);
    return ERROR_NONE;
}

static inline enum error_code add_inputs(const struct stage_context *context,
                                         const struct unit *unit, uint64_t *sum, struct error *err)
{
    struct chain_state state;
    struct unit_list inputs = {0};
    enum error_code rc =
        chain_state_read(context->schedule, context->store, context->run_id, &state, err);
    if (rc == ERROR_NONE)
        rc = chain_prerequisites(context->schedule, unit,
                                 chain_last_version(context->schedule, &state), &inputs, err);
    for (int64_t i = 0; i < inputs.count && rc == ERROR_NONE; i++)
        rc = add_input(context, &inputs.unit[i], sum, err);
    unit_list_release(&inputs);
    return rc;
}

static inline enum error_code put_snapshot(const struct stage_context *context, int64_t version,
                                           uint64_t sum, struct error *err)
{
    static const char table[] = "convs.0.bias 1 1\n";
    const float value = (float)(sum % 1000);
    const struct snapshot snapshot = {.version = version,
                                      .previous_version = -1,
                                      .best_version = version,
                                      .stop = version == STOP_AT,
                                      .value_count = 1,
                                      .value = &value,
                                      .first = &value,
                                      .best_value = &value,
                                      .table = table,
                                      .table_size = sizeof table - 1,
                                      .log = "",
                                      .log_size = 0};
    enum error_code rc = snapshot_put(context->store, context->run_id, &snapshot, err);
    return rc == ERROR_NONE ? snapshot_switch(context->store, context->run_id, version, err) : rc;
}

/* Publishes a folder whose manifest is the record, for a unit of infer. */
static inline enum error_code publish_folder(const struct stage_context *context,
                                             const struct unit *unit, struct error *err)
{
    char folder[FILE_PATH_SIZE];
    struct key key = key_outputs(context->run_id, unit->round, "");
    if (unit->kind != UNIT_INFER && unit->kind != UNIT_OUTPUTS)
        return ERROR_NONE;
    if (unit->kind == UNIT_INFER)
        key = key_infer(context->run_id, unit->round, unit->layer, unit->slot, "shard");
    const enum error_code rc = store_scratch(context->store, folder, err);
    return rc == ERROR_NONE ? store_publish(context->store, folder, key.text, NULL, err) : rc;
}

static inline enum error_code put_number(const struct stage_context *context,
                                         const struct unit *unit, uint64_t sum, struct error *err)
{
    struct record record = {.kind = RECORD_GRADIENT, .version = 1};
    record_add(&record, "sum", ELEMENT_U64, &sum, 1);
    const struct unit_row *row = unit_row_of(unit->kind);
    const struct key companion = row->companion
                                     ? row->companion(context->schedule, context->run_id, unit)
                                     : (struct key){""};
    enum error_code rc = publish_folder(context, unit, err);
    if (rc == ERROR_NONE && companion.text[0])
        rc = store_put(context->store, companion.text, context->run_id, &record, STORE_RECOMPUTABLE,
                       err);
    return rc == ERROR_NONE
               ? store_put(context->store,
                           chain_output_key(context->schedule, context->run_id, unit).text,
                           context->run_id, &record, STORE_RECOMPUTABLE, err)
               : rc;
}

/* Damages the record that was just published, as a power cut may. */
static inline enum error_code damage(const struct stage_context *context, const struct unit *unit,
                                     enum mischief how, struct error *err)
{
    const struct key key = chain_output_key(context->schedule, context->run_id, unit);
    char path[FILE_PATH_SIZE];
    if (how == LOSE_RECORD)
        return store_remove(context->store, key.text, err);
    const enum error_code rc =
        file_path(path, err, "%s/%s.record", store_root(context->store), key.text);
    if (rc != ERROR_NONE)
        return rc;
    must(truncate(path, 150) == 0);
    return ERROR_NONE;
}

/* Set in a worker that was stopped, as on a machine that hangs. */
static _Thread_local bool misreads;

static inline void stall(const struct stage_context *context)
{
    struct chain_state chain = {0};
    const int64_t until = clock_ms() + STALL_MS_MAX;
    while (!chain.finished && clock_ms() < until) {
        clock_sleep_ms(20);
        must(chain_state_read(context->schedule, context->store, context->run_id, &chain, NULL) ==
             ERROR_NONE);
    }
}

static inline enum error_code toy_work(const struct stage_context *context, void *state,
                                       const struct unit *unit, struct error *err)
{
    must(state == &unit_sleep_ms); /* the state that open set */
    char name[UNIT_NAME_SIZE];
    uint64_t sum = 0xCBF29CE484222325ULL;
    unit_name(unit, name);
    for (const char *c = name; *c; c++)
        sum = mix(sum, (uint64_t)*c);
    const bool is_sample = unit->kind == UNIT_SAMPLE;
    const int in_hand = is_sample ? atomic_fetch_add(&samples_in_hand, 1) + 1 : 0;
    if (in_hand > atomic_load(&most_samples_in_hand))
        atomic_store(&most_samples_in_hand, in_hand);
    clock_sleep_ms(atomic_load(&unit_sleep_ms));
    if (is_sample)
        (void)atomic_fetch_sub(&samples_in_hand, 1);
    const bool is_victim = strcmp(name, victim) == 0;
    if (is_victim && atomic_load(&mischief) == MEET_MENDED_INPUT) {
        atomic_store(&mischief, DO_NOTHING);
        return error_set(err, ERROR_CORRUPT, "damaged, and mended before anyone looked");
    }
    const bool fails = is_victim && atomic_load(&mischief) == FAIL_FOR_GOOD;
    for (int ms = 0; fails && atomic_load(&opened) < WORKER_COUNT && ms < HANG_MS; ms++)
        clock_sleep_ms(1);
    if (fails)
        return error_set(err, ERROR_INPUT, "row 7 is ragged");
    if (is_victim && atomic_load(&mischief) == BREAK_HOST) {
        atomic_store(&mischief, DO_NOTHING);
        return error_set(err, ERROR_IO, "the disk of this host is broken");
    }
    if (is_victim && atomic_load(&mischief) == FILL_DISK && atomic_fetch_sub(&full_tries, 1) > 0)
        return error_set(err, ERROR_NO_SPACE, "writing a gradient: No space left on device");
    if (is_victim &&
        (atomic_load(&mischief) == STALL || atomic_load(&mischief) == STALL_AND_MISREAD)) {
        misreads = atomic_exchange(&mischief, DO_NOTHING) == STALL_AND_MISREAD;
        stall(context);
    }
    if (is_victim && misreads)
        return error_set(err, ERROR_CORRUPT, "nothing tells of round 1");
    if (is_victim && atomic_load(&mischief) == LOSE_INPUT_FOR_EVER)
        return error_set(err, ERROR_NOT_FOUND, "the topology of part 3 is gone");
    enum error_code rc = add_inputs(context, unit, &sum, err);
    if (rc == ERROR_NONE)
        rc = unit->kind == UNIT_CHECKPOINT ? put_snapshot(context, unit->round, sum, err)
                                           : put_number(context, unit, sum, err);
    const enum mischief how = is_victim ? atomic_exchange(&mischief, DO_NOTHING) : DO_NOTHING;
    return rc == ERROR_NONE && how != DO_NOTHING ? damage(context, unit, how, err) : rc;
}

static inline enum error_code toy_open(const struct stage_context *context, void **state,
                                       struct error *err)
{
    (void)context, (void)err;
    *state = &unit_sleep_ms;
    (void)atomic_fetch_add(&opened, 1);
    return ERROR_NONE;
}

/* Opens a stage whose data is damaged. It waits until the others are there: a notice that they find
 * when they begin may be of an earlier attempt. */
static inline enum error_code toy_open_fails(const struct stage_context *context, void **state,
                                             struct error *err)
{
    (void)context, (void)state;
    for (int ms = 0; atomic_load(&opened) < WORKER_COUNT - 1 && ms < HANG_MS; ms++)
        clock_sleep_ms(1);
    return error_set(err, ERROR_CORRUPT, "artifact partition/p/part/0/topology: its hash is wrong");
}

/* --- running workers --- */

static inline struct schedule toy_schedule(void)
{
    struct pipeline_settings settings;
    struct schedule schedule = {0};
    struct error err = {0};
    pipeline_settings_defaults(&settings);
    settings.epochs = 3;
    settings.sample.batch_size = 2;
    settings.sample.batches_per_round = 3;
    settings.sample.run_ahead = 1;
    settings.sample.reuse_epochs = 2;
    settings.sample.evaluation_batch_size = 2;
    settings.checkpoint.patience = 1;
    must(schedule_init(&schedule, &settings, 12, 4, 2, &err) == ERROR_NONE);
    return schedule;
}

struct toy_worker {
    const char *url, *store_path;
    int64_t lease_ms;
    int number, idle_exit_ms, units_at_once;
    bool leaves_notice;
    enum error_code rc;
    struct error err;
};

static inline enum error_code open_toy_store(const char *path, struct store **out,
                                             struct error *err)
{
    return toy_backend ? store_open_on(toy_backend, path, 0, out, err)
                       : store_open(path, 0, out, err);
}

static inline void *run_worker(void *argument)
{
    struct toy_worker *worker = argument;
    struct store *store = NULL;
    char name[32];
    const struct schedule schedule = toy_schedule();
    const struct stage toy = {.name = worker_stage[worker->number],
                              .open = atomic_load(&mischief) == FAIL_OPENING && worker->number == 0
                                          ? toy_open_fails
                                          : toy_open,
                              .prefers = toy_prefers,
                              .work = toy_work};
    (void)snprintf(name, sizeof name, "%s-%d", toy.name, worker->number);
    worker->rc = open_toy_store(worker->store_path, &store, &worker->err);
    if (worker->rc == ERROR_NONE) {
        const struct stage_context context = {
            .store = store, .run_id = run_id, .schedule = &schedule};
        const struct work_loop_config config = {.stage = &toy,
                                                .context = &context,
                                                .queue = {.url = worker->url,
                                                          .run_id = run_id,
                                                          .worker = name,
                                                          .lease_ms = worker->lease_ms,
                                                          .crash_limit = 1000},
                                                .units_at_once = worker->units_at_once,
                                                .leaves_notice = worker->leaves_notice,
                                                .idle_exit_ms = worker->idle_exit_ms};
        worker->rc = work_loop_run(&config, &worker->err);
    }
    store_close(store);
    return NULL;
}

static inline struct toy_worker worker_of(void **state, const char *store_path, int number)
{
    const struct redis_fixture *fixture = *state;
    return (struct toy_worker){.url = redis_server_url(fixture->server),
                               .store_path = store_path,
                               .number = number,
                               .lease_ms = 600};
}

/* Runs one thread for each worker of the pipeline, until all have ended. */
static inline void run_pipeline_of(void **state, const char *store_path, int units_at_once,
                                   struct toy_worker *worker)
{
    pthread_t thread[WORKER_COUNT];
    for (int i = 0; i < WORKER_COUNT; i++) {
        worker[i] = worker_of(state, store_path, i);
        worker[i].units_at_once = units_at_once;
        assert_int_equal(pthread_create(&thread[i], NULL, run_worker, &worker[i]), 0);
    }
    for (int i = 0; i < WORKER_COUNT; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
}

static inline void run_pipeline(void **state, const char *store_path, struct toy_worker *worker)
{
    run_pipeline_of(state, store_path, 1, worker);
}

/* Returns the number with which the run ended; 0 while it is not finished. */
static inline uint64_t result_of(const char *store_path)
{
    struct error err = {0};
    struct store *store = NULL;
    struct record_view view = {0};
    const void *sum = NULL;
    uint64_t result = 0;
    const struct key outputs = key_outputs_seal(run_id, STOP_AT, "");
    assert_ok(open_toy_store(store_path, &store, &err), &err);
    const enum error_code rc = store_get(store, outputs.text, NULL, &view, &err);
    if (rc == ERROR_NONE) {
        assert_ok(record_section_get(&view, "sum", ELEMENT_U64, 1, &sum, NULL, &err), &err);
        memcpy(&result, sum, sizeof result);
        store_release_record(&view);
    }
    store_close(store);
    return result;
}

#define NEED_REDIS(state)                                                                          \
    do {                                                                                           \
        if (!((const struct redis_fixture *)*(state))->server)                                     \
            skip();                                                                                \
        atomic_store(&mischief, DO_NOTHING);                                                       \
        atomic_store(&unit_sleep_ms, 0);                                                           \
    } while (0)

static inline void store_in(void **state, char path[FILE_PATH_SIZE])
{
    const struct redis_fixture *fixture = *state;
    struct error err = {0};
    assert_ok(file_path(path, &err, "%s/store", fixture->dir.path), &err);
}

/* Returns the number with which an undisturbed run ends; computed at the first call. */
static inline uint64_t undisturbed(void **state)
{
    static uint64_t result;
    if (result)
        return result;
    const enum mischief wanted = atomic_exchange(&mischief, DO_NOTHING);
    const int slowness = atomic_exchange(&unit_sleep_ms, 0);
    const struct redis_fixture *fixture = *state;
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    assert_ok(file_path(path, &err, "%s/undisturbed", fixture->dir.path), &err);
    run_pipeline(state, path, worker);
    for (int i = 0; i < WORKER_COUNT; i++)
        assert_ok(worker[i].rc, &worker[i].err);
    result = result_of(path);
    assert_true(result != 0);
    atomic_store(&mischief, wanted);
    atomic_store(&unit_sleep_ms, slowness);
    return result;
}

/* Writes the tag in the keys of the queue for that store. */
static inline void tag_of(const char *store_path, char *out, size_t size)
{
    struct error err = {0};
    struct store *store = NULL;
    char id[STORE_IDENTITY_SIZE];
    assert_ok(store_open(store_path, 0, &store, &err), &err);
    assert_ok(store_identity(store, id, &err), &err);
    store_close(store);
    (void)snprintf(out, size, "{%s:%s}:", id, run_id);
}

static inline void expect_undisturbed(void **state, const char *path,
                                      const struct toy_worker *worker)
{
    for (int i = 0; i < WORKER_COUNT; i++)
        assert_ok(worker[i].rc, &worker[i].err);
    assert_true(result_of(path) == undisturbed(state));
}

#define WITH_REDIS(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, redis_fixture_set_up, redis_fixture_tear_down)

#endif
