/* Tests how far sampling runs ahead of training while the store's memory fills. */
#include "common/base/clock.h"
#include "stages/sample/sample_room.h"
#include "store/backends/memory/memory_backend.h"
#include "store/objects/object_store.h"
#include "store/records/round/snapshot.h"

#include "tests/support/test.h"

#include <pthread.h>

enum { RUN_AHEAD = 4, LATER_MS = 300 };

static const char run_id[] = "run-1", place[] = "room";
static _Atomic double share_now;

static enum error_code tell_share(void *state, double *share, struct error *err)
{
    (void)state, (void)err;
    *share = atomic_load(&share_now);
    return ERROR_NONE;
}

/* A run whose rounds have two slots, on a store in memory whose fill level the test sets. */
struct scene {
    struct object_backend backend;
    struct store *store;
    struct pipeline_settings settings;
    struct schedule schedule;
    struct stage_context context;
    struct sample_room room;
    struct error err;
};

static void open_scene(struct scene *s, double share)
{
    *s = (struct scene){.backend = memory_backend};
    s->backend.memory_share = tell_share;
    atomic_store(&share_now, share);
    memory_store_forget(place);
    assert_ok(store_open_on(&s->backend, place, 0, &s->store, &s->err), &s->err);
    pipeline_settings_defaults(&s->settings);
    s->settings.sample.batch_size = 10;
    s->settings.sample.batches_per_round = 2;
    s->settings.sample.run_ahead = RUN_AHEAD;
    assert_ok(schedule_init(&s->schedule, &s->settings, 100, 10, 1, &s->err), &s->err);
    s->context = (struct stage_context){
        .store = s->store, .run_id = run_id, .settings = &s->settings, .schedule = &s->schedule};
}

static void close_scene(struct scene *s)
{
    store_close(s->store);
    memory_store_forget(place);
}

static void put(struct scene *s, struct key key)
{
    struct record record = {.kind = RECORD_GRADIENT, .version = 1};
    record_add_text(&record, "text", "stands for it");
    assert_ok(store_put(s->store, key.text, run_id, &record, STORE_RECOMPUTABLE, &s->err), &s->err);
}

static void put_round(struct scene *s, int64_t round)
{
    put(s, key_weights(run_id, round));
    for (int32_t slot = 0; slot < 2; slot++)
        put(s, key_mini_batch(run_id, round, slot));
}

/* Waits for room for the unit and measures how long that takes. */
static enum error_code wait_for(struct scene *s, enum unit_kind kind, int64_t round, int64_t *ms)
{
    const struct unit unit = {.kind = kind, .round = round};
    const int64_t began = clock_ms();
    const enum error_code rc = sample_room_wait(&s->context, &s->room, &unit, &s->err);
    *ms = clock_ms() - began;
    return rc;
}

static void assert_goes_at_once(struct scene *s, enum unit_kind kind, int64_t round)
{
    int64_t ms = 0;
    assert_ok(wait_for(s, kind, round, &ms), &s->err);
    assert_false(atomic_load(&s->room.is_told));
}

static void nothing_waits_while_there_is_room(void **state)
{
    (void)state;
    struct scene s;
    open_scene(&s, 0.7);
    put_round(&s, 0);
    assert_goes_at_once(&s, UNIT_SAMPLE, RUN_AHEAD);
    s.store = (store_close(s.store), NULL);
    assert_ok(store_open_on(&memory_backend, place, 0, &s.store, &s.err),
              &s.err); /* a plain store in memory has no limit, so no share */
    s.context.store = s.store;
    atomic_store(&share_now, 1);
    assert_goes_at_once(&s, UNIT_SAMPLE, RUN_AHEAD);
    close_scene(&s);
}

static void what_training_needs_never_waits(void **state)
{
    (void)state;
    struct scene s;
    open_scene(&s, 0.9);
    assert_goes_at_once(&s, UNIT_SAMPLE, 0); /* training needs round 0 before any weights exist */
    for (int64_t round = 0; round < 3; round++)
        put_round(&s, round);
    put(&s, key_weights(run_id, 3));
    assert_goes_at_once(&s, UNIT_SAMPLE, 3);
    assert_goes_at_once(&s, UNIT_SAMPLE,
                        2); /* a past round: its batch was lost and is made again */
    assert_goes_at_once(&s, UNIT_SAMPLE, RUN_AHEAD + 9); /* a run whose weights are pruned */
    assert_goes_at_once(&s, UNIT_SAMPLE_EVALUATION, 0);
    s.context.is_replay = true;
    assert_goes_at_once(&s, UNIT_SAMPLE, 5);
    close_scene(&s);
}

static void put_snapshot(struct scene *s, int64_t version)
{
    static const char table[] = "convs.0.bias 1 1\n";
    const float value = 1;
    const struct snapshot snapshot = {.version = version,
                                      .previous_version = -1,
                                      .best_version = version,
                                      .value_count = 1,
                                      .value = &value,
                                      .first = &value,
                                      .best_value = &value,
                                      .table = table,
                                      .table_size = sizeof table - 1,
                                      .log = ""};
    assert_ok(snapshot_put(s->store, run_id, &snapshot, &s->err), &s->err);
    assert_ok(snapshot_switch(s->store, run_id, version, &s->err), &s->err);
}

struct later {
    struct scene *scene;
    int64_t round; /* -1: make room instead */
};

static void *do_later(void *context)
{
    const struct later *later = context;
    clock_sleep_ms(LATER_MS);
    if (later->round < 0)
        atomic_store(&share_now, 0.5);
    else
        put(later->scene, key_weights(run_id, later->round));
    return NULL;
}

static void what_is_ahead_waits_for_room_or_for_training(void **state)
{
    (void)state;
    for (int makes_room = 0; makes_room < 2; makes_room++) {
        struct scene s;
        int64_t ms = 0;
        pthread_t thread;
        open_scene(&s, 0.8);
        put_round(&s, 0);
        put_round(&s, 1);
        struct later later = {&s, makes_room ? -1 : 2};
        assert_int_equal(pthread_create(&thread, NULL, do_later, &later), 0);
        assert_ok(wait_for(&s, UNIT_SAMPLE, 2, &ms), &s.err);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_true(ms >= LATER_MS);
        assert_true(atomic_load(&s.room.is_told));
        close_scene(&s);
    }
}

/* The weights before the newest snapshot are removed, so the search begins at the snapshot even
 * though a thousand rounds may run ahead. */
static void the_newest_snapshot_says_where_training_may_be(void **state)
{
    (void)state;
    struct scene s;
    int64_t ms = 0;
    pthread_t thread;
    struct later later = {&s, -1};
    open_scene(&s, 0.8);
    s.schedule.run_ahead = 1000;
    put_snapshot(&s, 10);
    put_round(&s, 10);
    put_round(&s, 11);
    assert_goes_at_once(&s, UNIT_SAMPLE, 11);
    assert_goes_at_once(&s, UNIT_SAMPLE, 3); /* a later epoch may read this round again */
    assert_int_equal(pthread_create(&thread, NULL, do_later, &later), 0);
    assert_ok(wait_for(&s, UNIT_SAMPLE, 40, &ms), &s.err);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(ms >= LATER_MS);
    close_scene(&s);
}

/* Training is at round 1, whose second mini-batch was lost: a worker that holds a unit of round 4
 * hands it back. */
static void a_mini_batch_that_training_misses_comes_first(void **state)
{
    (void)state;
    struct scene s;
    int64_t ms = 0;
    open_scene(&s, 0.8);
    put_round(&s, 0);
    put_round(&s, 1);
    assert_ok(store_remove(s.store, key_mini_batch(run_id, 1, 1).text, &s.err), &s.err);
    assert_failed(wait_for(&s, UNIT_SAMPLE, 4, &ms), ERROR_NO_SPACE,
                  "80 % full, and round 1 misses a mini-batch: it comes before round 4", &s.err);
    assert_true(ms >= 2000);
    assert_goes_at_once(&(struct scene){.context = s.context}, UNIT_SAMPLE, 1);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_waits_while_there_is_room),
        cmocka_unit_test(what_training_needs_never_waits),
        cmocka_unit_test(what_is_ahead_waits_for_room_or_for_training),
        cmocka_unit_test(the_newest_snapshot_says_where_training_may_be),
        cmocka_unit_test(a_mini_batch_that_training_misses_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
