/*
 * A toy pipeline on a real Redis and a real store: every unit's record holds a number made from its name and
 * the contents of its inputs, so that a run which lost, repeated or mixed up anything ends in another number.
 */
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/stop_signal.h"
#include "stages/chain.h"
#include "stages/work_loop.h"
#include "store/records/snapshot.h"

#include "tests/support/redis_command.h"
#include "tests/support/redis_fixture.h"
#include "tests/support/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STOP_AT = 4, WORKER_COUNT = 6, STALL_MS_MAX = 60000, HANG_MS = 30000 };

static const char run_id[] = "toy-1";
static const char *const worker_stage[WORKER_COUNT] = {"sample",    "train-step", "train-step",
                                                       "aggregate", "checkpoint", "infer"};

/* What the toy does wrong, once. */
enum mischief {
    DO_NOTHING,
    TEAR_RECORD,
    LOSE_RECORD,
    MEET_MENDED_INPUT,
    FAIL_FOR_GOOD,
    LOSE_INPUT_FOR_EVER,
    BREAK_HOST, /* once */
    FILL_DISK,  /* for the next `full_tries` tries */
    STALL,      /* until the run is finished without this worker */
};
static _Atomic enum mischief mischief;
static const char victim[] = "train-step/1/0";
static atomic_int unit_sleep_ms;
static atomic_int full_tries;
static atomic_int samples_in_hand, most_samples_in_hand;

/* --- the toy stage --- */

static uint64_t mix(uint64_t sum, uint64_t value)
{
    return (sum ^ value) * 0x100000001B3ULL;
}

static enum error_code add_input(const struct stage_context *context, const struct unit *input,
                                 uint64_t *sum, struct error *err)
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

static enum error_code add_inputs(const struct stage_context *context, const struct unit *unit,
                                  uint64_t *sum, struct error *err)
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

static enum error_code put_snapshot(const struct stage_context *context, int64_t version,
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

/* A folder that the record is the seal of, for a unit of infer. */
static enum error_code publish_folder(const struct stage_context *context, const struct unit *unit,
                                      struct error *err)
{
    char folder[FILE_PATH_SIZE];
    struct key key = key_outputs(context->run_id, unit->round, "");
    if (unit->kind != UNIT_INFER && unit->kind != UNIT_OUTPUTS)
        return ERROR_NONE;
    if (unit->kind == UNIT_INFER)
        key = key_infer(context->run_id, unit->round, unit->layer, unit->slot, "shard");
    const enum error_code rc = store_scratch(context->store, folder, err);
    return rc == ERROR_NONE ? store_publish(context->store, folder, key.text, err) : rc;
}

static enum error_code put_number(const struct stage_context *context, const struct unit *unit,
                                  uint64_t sum, struct error *err)
{
    struct record record = {.kind = RECORD_GRADIENT, .version = 1};
    record_add(&record, "sum", ELEMENT_U64, &sum, 1);
    const enum error_code rc = publish_folder(context, unit, err);
    return rc == ERROR_NONE
               ? store_put(context->store,
                           chain_output_key(context->schedule, context->run_id, unit).text,
                           context->run_id, &record, STORE_RECOMPUTABLE, err)
               : rc;
}

/* Damages the record that was just published, as a power cut may. */
static enum error_code damage(const struct stage_context *context, const struct unit *unit,
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

/* As a worker that is stopped, or on a machine that hangs. */
static void stall(const struct stage_context *context)
{
    struct chain_state chain = {0};
    const int64_t until = clock_ms() + STALL_MS_MAX;
    while (!chain.finished && clock_ms() < until) {
        clock_sleep_ms(20);
        must(chain_state_read(context->schedule, context->store, context->run_id, &chain, NULL) ==
             ERROR_NONE);
    }
}

static enum error_code toy_work(const struct stage_context *context, void *state,
                                const struct unit *unit, struct error *err)
{
    must(state == &unit_sleep_ms); /* what open gave */
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
    if (is_victim && atomic_load(&mischief) == FAIL_FOR_GOOD)
        return error_set(err, ERROR_INPUT, "row 7 is ragged");
    if (is_victim && atomic_load(&mischief) == BREAK_HOST) {
        atomic_store(&mischief, DO_NOTHING);
        return error_set(err, ERROR_IO, "the disk of this host is broken");
    }
    if (is_victim && atomic_load(&mischief) == FILL_DISK && atomic_fetch_sub(&full_tries, 1) > 0)
        return error_set(err, ERROR_NO_SPACE, "writing a gradient: No space left on device");
    if (is_victim && atomic_load(&mischief) == STALL) {
        atomic_store(&mischief, DO_NOTHING);
        stall(context);
    }
    if (is_victim && atomic_load(&mischief) == LOSE_INPUT_FOR_EVER)
        return error_set(err, ERROR_NOT_FOUND, "the topology of part 3 is gone");
    enum error_code rc = add_inputs(context, unit, &sum, err);
    if (rc == ERROR_NONE)
        rc = unit->kind == UNIT_CHECKPOINT ? put_snapshot(context, unit->round, sum, err)
                                           : put_number(context, unit, sum, err);
    const enum mischief how = is_victim ? atomic_exchange(&mischief, DO_NOTHING) : DO_NOTHING;
    return rc == ERROR_NONE && how != DO_NOTHING ? damage(context, unit, how, err) : rc;
}

static enum error_code toy_open(const struct stage_context *context, void **state,
                                struct error *err)
{
    (void)context, (void)err;
    *state = &unit_sleep_ms;
    return ERROR_NONE;
}

/* --- running workers --- */

static struct schedule toy_schedule(void)
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
    enum error_code rc;
    struct error err;
};

static void *run_worker(void *argument)
{
    struct toy_worker *worker = argument;
    struct store *store = NULL;
    char name[32];
    const struct schedule schedule = toy_schedule();
    const struct stage toy = {
        .name = worker_stage[worker->number], .open = toy_open, .work = toy_work};
    (void)snprintf(name, sizeof name, "%s-%d", toy.name, worker->number);
    worker->rc = store_open(worker->store_path, 0, &store, &worker->err);
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
                                                .idle_exit_ms = worker->idle_exit_ms};
        worker->rc = work_loop_run(&config, &worker->err);
    }
    store_close(store);
    return NULL;
}

static struct toy_worker worker_of(void **state, const char *store_path, int number)
{
    const struct redis_fixture *fixture = *state;
    return (struct toy_worker){.url = redis_server_url(fixture->server),
                               .store_path = store_path,
                               .number = number,
                               .lease_ms = 600};
}

/* One thread for each worker of the pipeline, until all have ended. */
static void run_pipeline_of(void **state, const char *store_path, int units_at_once,
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

static void run_pipeline(void **state, const char *store_path, struct toy_worker *worker)
{
    run_pipeline_of(state, store_path, 1, worker);
}

/* The number in which the run ended; 0 while it is not finished. */
static uint64_t result_of(const char *store_path)
{
    struct error err = {0};
    struct store *store = NULL;
    struct record_view view = {0};
    const void *sum = NULL;
    uint64_t result = 0;
    const struct key outputs = key_outputs_seal(run_id, STOP_AT, "");
    assert_ok(store_open(store_path, 0, &store, &err), &err);
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

static void store_in(void **state, char path[FILE_PATH_SIZE])
{
    const struct redis_fixture *fixture = *state;
    struct error err = {0};
    assert_ok(file_path(path, &err, "%s/store", fixture->dir.path), &err);
}

/* What a run ends in when nothing is done to it; computed when it is first asked for. */
static uint64_t undisturbed(void **state)
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

/* The tag of the keys that the queue of that store has. */
static void tag_of(const char *store_path, char *out, size_t size)
{
    struct error err = {0};
    struct store *store = NULL;
    char id[STORE_IDENTITY_SIZE];
    assert_ok(store_open(store_path, 0, &store, &err), &err);
    assert_ok(store_identity(store, id, &err), &err);
    store_close(store);
    (void)snprintf(out, size, "{%s:%s}:", id, run_id);
}

static void expect_undisturbed(void **state, const char *path, const struct toy_worker *worker)
{
    for (int i = 0; i < WORKER_COUNT; i++)
        assert_ok(worker[i].rc, &worker[i].err);
    assert_true(result_of(path) == undisturbed(state));
}

/* --- tests --- */

static void workers_bring_a_run_to_its_end(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    store_in(state, path);
    run_pipeline(state, path, worker);
    for (int i = 0; i < WORKER_COUNT; i++)
        assert_ok(worker[i].rc, &worker[i].err);
    assert_true(result_of(path) == undisturbed(state));

    struct toy_worker late = worker_of(state, path, 0); /* one that comes when all is done */
    (void)run_worker(&late);
    assert_ok(late.rc, &late.err);
}

/* Damage to a round record is noticed by its reader and mended by the worker that makes it; by the time a
 * second reader looks it may be whole again. */
static void a_damaged_or_lost_record_is_made_again(void **state)
{
    NEED_REDIS(state);
    const enum mischief how[] = {TEAR_RECORD, LOSE_RECORD, MEET_MENDED_INPUT};
    for (size_t m = 0; m < sizeof how / sizeof *how; m++) {
        char path[FILE_PATH_SIZE];
        struct toy_worker worker[WORKER_COUNT];
        struct error err = {0};
        store_in(state, path);
        assert_ok(file_remove_all(path, &err), &err);
        atomic_store(&mischief, how[m]);
        run_pipeline(state, path, worker); /* the queue of the run before is out of date */
        for (int i = 0; i < WORKER_COUNT; i++)
            assert_ok(worker[i].rc, &worker[i].err);
        assert_int_equal(atomic_load(&mischief), DO_NOTHING);
        assert_true(result_of(path) == undisturbed(state));
    }
}

static void several_units_in_hand_change_nothing(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    store_in(state, path);
    atomic_store(&unit_sleep_ms, 20);
    atomic_store(&most_samples_in_hand, 0);
    run_pipeline_of(state, path, 3, worker);
    for (int i = 0; i < WORKER_COUNT; i++)
        assert_ok(worker[i].rc, &worker[i].err);
    assert_true(result_of(path) == undisturbed(state));
    assert_true(atomic_load(&most_samples_in_hand) > 1 && atomic_load(&most_samples_in_hand) <= 3);
}

/* The worker ends with the reason of the unit that failed, not with that of those that had to stop. */
static void one_failing_unit_of_several_in_hand_ends_the_worker(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    store_in(state, path);
    atomic_store(&mischief, FAIL_FOR_GOOD);
    run_pipeline_of(state, path, 3, worker);
    int met_it = 0;
    for (int i = 0; i < WORKER_COUNT; i++) {
        assert_non_null(strstr(worker[i].err.message, "row 7 is ragged"));
        met_it += worker[i].rc == ERROR_INPUT;
    }
    assert_int_equal(met_it, 1);
}

static void check_failure(void **state, enum mischief how, enum error_code code, const char *why)
{
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    store_in(state, path);
    atomic_store(&mischief, how);
    run_pipeline(state, path, worker);
    int met_it = 0;
    for (int i = 0; i < WORKER_COUNT; i++) {
        assert_non_null(strstr(worker[i].err.message, victim));
        assert_non_null(strstr(worker[i].err.message, why));
        met_it += worker[i].rc == code && strncmp(worker[i].err.message, victim, 5) == 0;
        assert_true(worker[i].rc == code || worker[i].rc == ERROR_CORRUPT);
    }
    assert_int_equal(met_it, 1);
    assert_true(result_of(path) == 0);
}

static void a_unit_that_fails_for_good_stops_all_workers_with_its_reason(void **state)
{
    NEED_REDIS(state);
    check_failure(state, FAIL_FOR_GOOD, ERROR_INPUT, "row 7 is ragged");
}

static void a_missing_input_that_nothing_makes_again_is_a_failure(void **state)
{
    NEED_REDIS(state);
    check_failure(state, LOSE_INPUT_FOR_EVER, ERROR_NOT_FOUND, "topology of part 3 is gone");
}

static void trouble_of_one_host_ends_one_worker(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    store_in(state, path);
    atomic_store(&mischief, BREAK_HOST);
    run_pipeline(state, path, worker);
    int met_it = 0;
    for (int i = 0; i < WORKER_COUNT; i++) {
        met_it += worker[i].rc == ERROR_IO;
        if (worker[i].rc == ERROR_IO)
            assert_string_equal(worker[i].err.message,
                                "train-step/1/0: the disk of this host is broken");
        else
            assert_ok(worker[i].rc, &worker[i].err);
    }
    assert_int_equal(met_it, 1);
    assert_true(result_of(path) == undisturbed(state));
}

static void a_full_disk_is_a_pause(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    store_in(state, path);
    atomic_store(&full_tries, 6);
    atomic_store(&mischief, FILL_DISK);
    run_pipeline(state, path, worker);
    assert_true(atomic_load(&full_tries) <= 0);
    expect_undisturbed(state, path, worker);
}

/* Says `words` to Redis once the run has begun: "%s" in them is the tag of its keys. */
struct saboteur {
    const char *url, *store_path, *words;
};

static void *sabotage(void *argument)
{
    const struct saboteur *saboteur = argument;
    char tag[200], life[256], words[512], answer[REDIS_ANSWER_SIZE] = "";
    tag_of(saboteur->store_path, tag, sizeof tag);
    (void)snprintf(life, sizeof life, "GET %slife", tag);
    while (!answer[0]) {
        redis_command(saboteur->url, life, answer);
        clock_sleep_ms(5);
    }
    clock_sleep_ms(150);
    const char *at = strstr(saboteur->words, "%s");
    (void)snprintf(words, sizeof words, "%.*s%s%s", (int)(at ? at - saboteur->words : 0),
                   saboteur->words, at ? tag : "", at ? at + 2 : saboteur->words);
    redis_command(saboteur->url, words, NULL);
    return NULL;
}

/* Nothing of it may take longer than a few seconds: the queue is compared with storage when nothing moves. */
static void a_run_goes_on_whatever_is_lost_of_its_queue(void **state)
{
    NEED_REDIS(state);
    static const char *const loss[] = {
        "DEL %squeue:train-step",
        "XTRIM %squeue:sample MAXLEN 0",
        "DEL %squeued",
        "HSET %squeued aggregate/1 1-1 train-step/2/0 1-1 sample/2/1 x checkpoint/2 1-1",
        "XGROUP SETID %squeue:aggregate workers $",
        "XGROUP DESTROY %squeue:train-step workers",
        "SET %squeue:aggregate text EX 600",
        "SET %squeued text",
        "FLUSHALL",
        "XADD %sdead * unit train-step/2/0 reason none",
    };
    const struct redis_fixture *fixture = *state;
    (void)undisturbed(state);
    for (size_t i = 0; i < sizeof loss / sizeof *loss; i++) {
        char path[FILE_PATH_SIZE];
        struct toy_worker worker[WORKER_COUNT];
        struct error err = {0};
        pthread_t thread;
        store_in(state, path);
        assert_ok(file_remove_all(path, &err), &err);
        struct saboteur saboteur = {redis_server_url(fixture->server), path, loss[i]};
        atomic_store(&unit_sleep_ms, 40);
        const int64_t from = clock_ms();
        assert_int_equal(pthread_create(&thread, NULL, sabotage, &saboteur), 0);
        run_pipeline(state, path, worker);
        assert_int_equal(pthread_join(thread, NULL), 0);
        if (clock_ms() - from > HANG_MS)
            fail_msg("%s: %lld ms", loss[i], (long long)(clock_ms() - from));
        expect_undisturbed(state, path, worker);
    }
}

static void entries_that_are_no_units_of_the_stage_are_dropped(void **state)
{
    NEED_REDIS(state);
    static const char *const junk[] = {
        "XADD %squeue:aggregate * unit sample/0/0", "XADD %squeue:aggregate * unit nonsense",
        "XADD %squeue:aggregate * other thing",     "XADD %squeue:train-step * unit aggregate/0",
        "XADD %squeue:infer * unit ingest",
    };
    const struct redis_fixture *fixture = *state;
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    pthread_t thread[sizeof junk / sizeof *junk];
    struct saboteur saboteur[sizeof junk / sizeof *junk];
    store_in(state, path);
    atomic_store(&unit_sleep_ms, 40);
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        saboteur[i] = (struct saboteur){redis_server_url(fixture->server), path, junk[i]};
        assert_int_equal(pthread_create(&thread[i], NULL, sabotage, &saboteur[i]), 0);
    }
    run_pipeline(state, path, worker);
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    expect_undisturbed(state, path, worker);
}

/* The lease is long and is renewed: only a second copy brings the run to its end. */
static void a_unit_of_a_stalled_worker_is_done_by_another(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    pthread_t thread[WORKER_COUNT];
    (void)undisturbed(state);
    store_in(state, path);
    atomic_store(&unit_sleep_ms, 25);
    atomic_store(&mischief, STALL);
    const int64_t from = clock_ms();
    for (int i = 0; i < WORKER_COUNT; i++) {
        worker[i] = worker_of(state, path, i);
        worker[i].lease_ms = 60000;
        assert_int_equal(pthread_create(&thread[i], NULL, run_worker, &worker[i]), 0);
    }
    for (int i = 0; i < WORKER_COUNT; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(atomic_load(&mischief), DO_NOTHING);
    assert_true(clock_ms() - from < HANG_MS);
    expect_undisturbed(state, path, worker);
}

static pid_t start_process(void **state, const char *path, int number)
{
    struct toy_worker worker = worker_of(state, path, number);
    const pid_t pid = fork();
    if (pid != 0)
        return pid;
    (void)run_worker(&worker);
    if (worker.rc != ERROR_NONE)
        (void)fprintf(stderr, "worker %d: %s\n", number, worker.err.message);
    _exit(worker.rc == ERROR_NONE ? 0 : 1);
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

/* Kills a worker, or Redis with all that is in it. */
static void kill_something(struct redis_fixture *fixture, const pid_t *pid, unsigned *seed)
{
    const unsigned which = next_random(seed) % (WORKER_COUNT + 1);
    if (which == WORKER_COUNT)
        (void)kill(redis_server_pid(fixture->server), SIGKILL);
    else if (pid[which] > 0)
        (void)kill(pid[which], SIGKILL);
}

static void workers_and_redis_killed_at_random_change_nothing(void **state)
{
    NEED_REDIS(state);
    struct redis_fixture *fixture = *state;
    char path[FILE_PATH_SIZE];
    const char *seed_text = getenv("SEED");
    unsigned seed = seed_text ? (unsigned)strtoul(seed_text, NULL, 10) : (unsigned)getpid();
    (void)printf("SEED=%u\n", seed);
    pid_t pid[WORKER_COUNT];
    int running = WORKER_COUNT, kills = 0;
    store_in(state, path);
    atomic_store(&unit_sleep_ms, 25);
    for (int i = 0; i < WORKER_COUNT; i++)
        pid[i] = start_process(state, path, i);
    const int64_t until = clock_ms() + 200000;
    for (int64_t next_kill = clock_ms() + 30; running > 0;) {
        struct error err = {0};
        bool restarted = false;
        int status = 0;
        clock_sleep_ms(5);
        assert_true(clock_ms() < until);
        if (clock_ms() > next_kill && kills < 25) {
            kill_something(fixture, pid, &seed);
            kills++;
            next_kill = clock_ms() + 10 + next_random(&seed) % 80;
        }
        assert_ok(redis_server_check(fixture->server, &restarted, &err), &err);
        for (int i = 0; i < WORKER_COUNT; i++) {
            if (pid[i] <= 0 || waitpid(pid[i], &status, WNOHANG) != pid[i])
                continue;
            const bool finished = WIFEXITED(status) && WEXITSTATUS(status) == 0;
            assert_true(finished || WIFSIGNALED(status));
            pid[i] = finished ? 0 : start_process(state, path, i);
            running -= finished;
        }
    }
    assert_true(kills > 5);
    assert_true(result_of(path) == undisturbed(state));
}

static void a_stop_signal_ends_a_worker_soon(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    pthread_t thread;
    store_in(state, path);
    struct toy_worker worker = worker_of(state, path, 4); /* checkpoint: nothing to do */
    assert_int_equal(pthread_create(&thread, NULL, run_worker, &worker), 0);
    clock_sleep_ms(300);
    const int64_t from = clock_ms();
    stop_signal_set(true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    stop_signal_set(false);
    assert_int_equal(worker.rc, ERROR_UNAVAILABLE);
    assert_string_equal(worker.err.message, "asked to stop");
    assert_true(clock_ms() - from < 3000);
}

static void a_worker_gives_up_when_redis_stays_away(void **state)
{
    NEED_REDIS(state);
    char path[FILE_PATH_SIZE];
    store_in(state, path);
    struct toy_worker worker = worker_of(state, path, 0);
    worker.url = "unix:/nowhere/redis.sock";
    worker.idle_exit_ms = 300;
    (void)run_worker(&worker);
    assert_int_equal(worker.rc, ERROR_UNAVAILABLE);
    assert_non_null(strstr(worker.err.message, "given up after 300 ms"));
    assert_non_null(strstr(worker.err.message, "/nowhere/redis.sock"));
}

/* A unit that takes several leases stays with its worker, whose heartbeat names it. */
static void a_long_unit_keeps_its_lease_and_shows_in_the_heartbeat(void **state)
{
    NEED_REDIS(state);
    const struct redis_fixture *fixture = *state;
    char path[FILE_PATH_SIZE];
    pthread_t thread;
    struct error err = {0};
    struct work_queue *queue = NULL;
    struct worker_beat beat[4];
    struct stage_counts counts = {0};
    struct store *store = NULL;
    char store_id[STORE_IDENTITY_SIZE];
    int count = 0;
    store_in(state, path);
    atomic_store(&unit_sleep_ms, 2000);
    struct toy_worker worker = worker_of(state, path, 0);
    assert_int_equal(pthread_create(&thread, NULL, run_worker, &worker), 0);
    const struct work_queue_config config = {.url = redis_server_url(fixture->server),
                                             .store_id = store_id,
                                             .run_id = run_id,
                                             .worker = "thief",
                                             .stage = "sample",
                                             .lease_ms = 600};
    clock_sleep_ms(1500);
    assert_ok(store_open(path, 0, &store, &err), &err);
    assert_ok(store_identity(store, store_id, &err), &err);
    store_close(store);
    assert_ok(work_queue_open(&config, &queue, &err), &err);
    assert_ok(work_queue_beats(queue, beat, 4, &count, &err), &err);
    assert_int_equal(count, 1);
    assert_string_equal(beat[0].worker, "sample-0");
    assert_string_equal(beat[0].stage, "sample");
    assert_non_null(strstr(beat[0].unit, "sample"));
    assert_int_equal(beat[0].pid, getpid());
    assert_true(beat[0].memory_bytes > 100000);
    assert_true(beat[0].busy_share > 0.5 && beat[0].busy_share <= 1.0);
    assert_ok(work_queue_counts(queue, "sample", &counts, &err), &err);
    assert_int_equal(counts.leased, 1);
    for (int64_t left = counts.waiting; left > 0; left--) { /* only what nobody holds can be had */
        enum claim_result result = CLAIM_NOTHING;
        struct work_claim claim;
        assert_ok(work_queue_claim(queue, 0, &result, &claim, &err), &err);
        assert_int_equal(claim.delivery_count, 1);
        assert_string_not_equal(claim.unit, beat[0].unit);
    }
    stop_signal_set(true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    stop_signal_set(false);
    work_queue_close(queue);
}

#define WITH_REDIS(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, redis_fixture_set_up, redis_fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_REDIS(workers_bring_a_run_to_its_end),
        WITH_REDIS(a_damaged_or_lost_record_is_made_again),
        WITH_REDIS(several_units_in_hand_change_nothing),
        WITH_REDIS(one_failing_unit_of_several_in_hand_ends_the_worker),
        WITH_REDIS(a_unit_that_fails_for_good_stops_all_workers_with_its_reason),
        WITH_REDIS(a_missing_input_that_nothing_makes_again_is_a_failure),
        WITH_REDIS(trouble_of_one_host_ends_one_worker),
        WITH_REDIS(a_full_disk_is_a_pause),
        WITH_REDIS(a_run_goes_on_whatever_is_lost_of_its_queue),
        WITH_REDIS(entries_that_are_no_units_of_the_stage_are_dropped),
        WITH_REDIS(a_unit_of_a_stalled_worker_is_done_by_another),
        WITH_REDIS(workers_and_redis_killed_at_random_change_nothing),
        WITH_REDIS(a_stop_signal_ends_a_worker_soon),
        WITH_REDIS(a_worker_gives_up_when_redis_stays_away),
        WITH_REDIS(a_long_unit_keeps_its_lease_and_shows_in_the_heartbeat),
    };
    log_open("work_loop_test", LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
