/* How chain_state reads the ref of a run, on a real store: a program that finds it lost sets it. */
#include "stages/plan/chain/chain.h"
#include "store/backends/directory/directory.h"
#include "store/records/round/snapshot.h"

#include "tests/support/store_faults.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

static const char run[] = "toy-1";

static struct schedule toy_schedule(void)
{
    struct pipeline_settings settings;
    struct schedule schedule = {0};
    struct error err = {0};
    pipeline_settings_defaults(&settings);
    must(schedule_init(&schedule, &settings, 12, 4, 2, &err) == ERROR_NONE);
    return schedule;
}

static void put(struct temp_store *p, int64_t version)
{
    static const char table[] = "convs.0.bias 1 1\n";
    const float value = 1.0F;
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
    assert_ok(snapshot_put(p->store, run, &snapshot, &p->err), &p->err);
}

static void expect_state(struct temp_store *p, int64_t version, bool is_named)
{
    const struct schedule schedule = toy_schedule();
    struct chain_state state = {0};
    assert_ok(chain_state_read(&schedule, p->store, run, &state, &p->err), &p->err);
    assert_int_equal(state.snapshot_version, version);
    assert_int_equal(state.is_named, is_named);
    assert_ok(chain_state_refresh(&schedule, p->store, run, &state, &p->err), &p->err);
    assert_int_equal(state.snapshot_version, version);
    assert_int_equal(state.is_named, is_named);
}

/* Sets the ref. Afterwards every reader finds it. */
static void mend(struct temp_store *p, int64_t version)
{
    const struct schedule schedule = toy_schedule();
    struct chain_state state = {0};
    struct snapshot_position position = {-1, -1};
    assert_ok(chain_state_read(&schedule, p->store, run, &state, &p->err), &p->err);
    assert_ok(chain_state_mend(p->store, run, &state, &p->err), &p->err);
    assert_ok(snapshot_position_get(p->store, run, &position, &p->err), &p->err);
    assert_int_equal(position.version, version > 0 ? version : 0);
    expect_state(p, version, true);
}

/* Another program makes the next snapshot and removes this one. */
static void go_on(void *context)
{
    struct temp_store *p = context;
    put(p, 8);
    assert_ok(snapshot_switch(p->store, run, 8, &p->err), &p->err);
    assert_ok(store_remove(p->store, key_snapshot(run, 4).text, &p->err), &p->err);
}

static void a_run_that_goes_on_is_seen_as_of_one_moment(void **state)
{
    struct temp_store *p = *state;
    const struct schedule schedule = toy_schedule();
    int later = 0;
    for (long passed = 0;; passed++) {
        struct chain_state chain = {0};
        struct snapshot snapshot = {0};
        assert_ok(store_remove(p->store, key_snapshot(run, 8).text, &p->err), &p->err);
        put(p, 4);
        assert_ok(snapshot_switch(p->store, run, 4, &p->err), &p->err);
        struct store *watched = store_faults_open(&directory_backend, store_root(p->store));
        store_faults_plan(
            &(struct store_fault_plan){.passed = passed, .meanwhile = go_on, .context = p});
        assert_ok(chain_state_and_snapshot(&schedule, watched, run, &chain, &snapshot, &p->err),
                  &p->err);
        assert_int_equal(chain.snapshot_version, snapshot.version);
        assert_true(chain.is_named);
        assert_true(snapshot.version == 4 || snapshot.version == 8);
        later += snapshot.version == 8;
        store_release_record(&snapshot.view);
        (void)store_faults_end();
        store_close(watched);
        bool is_there = false;
        assert_ok(store_has(p->store, key_snapshot(run, 4).text, &is_there, &p->err), &p->err);
        if (is_there)
            break; /* all calls were passed */
    }
    assert_in_range(later, 2, 20);
}

static void spoil_switch(struct temp_store *p)
{
    assert_ok(store_switch_set(p->store, key_run(run, "current_snapshot").text, "x", &p->err),
              &p->err);
}

static void a_run_without_snapshots_needs_no_switch(void **state)
{
    struct temp_store *p = *state;
    const struct schedule schedule = toy_schedule();
    struct chain_state chain = {0};
    expect_state(p, -1, true);
    assert_ok(chain_state_read(&schedule, p->store, run, &chain, &p->err), &p->err);
    assert_ok(chain_state_mend(p->store, run, &chain, &p->err), &p->err);
    assert_int_equal(
        store_switch_get(p->store, key_run(run, "current_snapshot").text, (char[64]){0}, 64, NULL),
        ERROR_NOT_FOUND);
    assert_ok(snapshot_switch(p->store, run, 0, &p->err), &p->err);
    expect_state(p, -1, true);
}

/* A worker was killed between the snapshot and the ref. */
static void a_snapshot_whose_switch_was_never_set_is_not_named(void **state)
{
    struct temp_store *p = *state;
    put(p, 2);
    expect_state(p, 2, false);
    mend(p, 2);
}

static void a_lost_or_damaged_switch_is_found_and_set(void **state)
{
    struct temp_store *p = *state;
    put(p, 2);
    put(p, 4);
    assert_ok(snapshot_switch(p->store, run, 2, &p->err), &p->err);
    expect_state(p, 2, true); /* a later snapshot does not change it */
    spoil_switch(p);
    expect_state(p, 4, false);
    mend(p, 4);
    assert_ok(store_switch_remove(p->store, key_run(run, "current_snapshot").text, &p->err),
              &p->err);
    expect_state(p, 4, false);
    mend(p, 4);
}

static void a_switch_that_names_a_lost_snapshot_is_set_to_the_newest_whole_one(void **state)
{
    struct temp_store *p = *state;
    char path[FILE_PATH_SIZE];
    put(p, 2);
    put(p, 4);
    put(p, 6);
    assert_ok(snapshot_switch(p->store, run, 6, &p->err), &p->err);
    assert_ok(store_remove(p->store, key_snapshot(run, 6).text, &p->err), &p->err);
    expect_state(p, 4, false);
    mend(p, 4);
    assert_ok(
        file_path(path, &p->err, "%s/%s.record", store_root(p->store), key_snapshot(run, 4).text),
        &p->err);
    assert_ok(file_replace(path, "damaged", 7, false, &p->err), &p->err);
    expect_state(p, 2, false);
    mend(p, 2);
    assert_ok(store_remove(p->store, key_snapshot(run, 2).text, &p->err), &p->err);
    assert_ok(store_remove(p->store, key_snapshot(run, 4).text, &p->err), &p->err);
    expect_state(p, -1, false);
    mend(p, -1);
}

/* A run that was set back has later snapshots. If it then loses the one that it was set back to, it
 * goes on from a later one. Records of the rounds between may be missing, so nothing older is
 * promised any more. */
static void a_run_that_goes_on_from_a_later_snapshot_keeps_nothing_older(void **state)
{
    struct temp_store *p = *state;
    const struct snapshot_position set_back = {.version = 4, .kept_from = 2};
    struct snapshot_position position = {-1, -1};
    put(p, 4);
    put(p, 8);
    assert_ok(snapshot_position_set(p->store, run, set_back, &p->err), &p->err);
    assert_ok(store_remove(p->store, key_snapshot(run, 4).text, &p->err), &p->err);
    mend(p, 8);
    assert_ok(snapshot_position_get(p->store, run, &position, &p->err), &p->err);
    assert_int_equal(position.kept_from, 8);
}

/* A state that was right when it was read notices a later loss. */
static void a_refresh_notices_that_the_switch_is_gone(void **state)
{
    struct temp_store *p = *state;
    const struct schedule schedule = toy_schedule();
    struct chain_state chain = {0};
    put(p, 2);
    assert_ok(snapshot_switch(p->store, run, 2, &p->err), &p->err);
    assert_ok(chain_state_read(&schedule, p->store, run, &chain, &p->err), &p->err);
    assert_true(chain.is_named);
    spoil_switch(p);
    assert_ok(chain_state_refresh(&schedule, p->store, run, &chain, &p->err), &p->err);
    assert_int_equal(chain.snapshot_version, 2);
    assert_false(chain.is_named);
}

static void put_empty(struct temp_store *p, const struct key *key)
{
    static const uint8_t nothing[1];
    struct record record = {.kind = RECORD_WEIGHTS, .version = 1};
    record_add(&record, "value", ELEMENT_U8, nothing, sizeof nothing);
    assert_ok(store_put(p->store, key->text, run, &record, STORE_RECOMPUTABLE, &p->err), &p->err);
}

/* A run that was killed rounds ahead of its snapshot has weights 2 and 3, and has lost the
 * optimizer state of version 2. No unit reads that state any more, but the run must keep it. */
static void weights_without_their_optimizer_state_are_not_done(void **state)
{
    struct temp_store *p = *state;
    const struct schedule schedule = toy_schedule();
    const struct chain_state chain = {.snapshot_version = 0};
    for (int64_t version = 2; version <= 3; version++) {
        const struct unit maker = {.kind = UNIT_AGGREGATE, .round = version - 1};
        const struct key weights = key_weights(run, version);
        const struct key optimizer = key_optimizer_state(run, version);
        bool done = true;
        put_empty(p, &weights);
        assert_ok(chain_is_done(&schedule, p->store, run, &chain, &maker, &done, &p->err), &p->err);
        assert_false(done);
        put_empty(p, &optimizer);
        assert_ok(chain_is_done(&schedule, p->store, run, &chain, &maker, &done, &p->err), &p->err);
        assert_true(done);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_run_without_snapshots_needs_no_switch),
        test_with_store(a_run_that_goes_on_is_seen_as_of_one_moment),
        test_with_store(a_snapshot_whose_switch_was_never_set_is_not_named),
        test_with_store(a_lost_or_damaged_switch_is_found_and_set),
        test_with_store(a_switch_that_names_a_lost_snapshot_is_set_to_the_newest_whole_one),
        test_with_store(a_run_that_goes_on_from_a_later_snapshot_keeps_nothing_older),
        test_with_store(a_refresh_notices_that_the_switch_is_gone),
        test_with_store(weights_without_their_optimizer_state_are_not_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
