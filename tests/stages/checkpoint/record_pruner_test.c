#include "common/base/memory.h"
#include "stages/checkpoint/record_pruner.h"
#include "store/records/round/embedding_rows.h"

#include "tests/stages/small_run.h"

#include <stdio.h>

/* Stores the sealed rows of embeddings of `version`. */
static void put_rows(struct small_run *run, int64_t version)
{
    for (uint32_t part = 0; part < (uint32_t)run->schedule.embedding_shards; part++) {
        const struct embedding_rows rows = {
            .version = (uint64_t)version, .shard = part, .width = 1};
        assert_ok(embedding_rows_put(run->store, SMALL_RUN_ID, &rows, &run->err), &run->err);
    }
}

/* Stores every record that a run of `version` rounds has made, and those that later rounds have
 * made by then. */
static void put_run(struct small_run *run, int64_t version, int64_t ahead)
{
    const struct schedule *s = &run->schedule;
    for (int64_t v = 0; v <= version + ahead; v++) {
        struct record snapshot = {.kind = RECORD_SNAPSHOT, .version = 1};
        record_add_text(&snapshot, "text", "a snapshot");
        small_run_put_version(run, v);
        if (schedule_has_snapshot(s, v))
            put_rows(run, v);
        if (v < s->round_count)
            small_run_put_gradients(run, v);
        if (v < s->round_count && schedule_samples(s, v))
            small_run_put_mini_batches(run, v);
        if (!schedule_has_snapshot(s, v))
            continue;
        small_run_put_evaluations(run, v, 5);
        assert_ok(store_put(run->store, key_snapshot(SMALL_RUN_ID, v).text, SMALL_RUN_ID, &snapshot,
                            STORE_RECOMPUTABLE, &run->err),
                  &run->err);
    }
}

static bool has(struct small_run *run, struct key key)
{
    bool found = false;
    assert_ok(store_has(run->store, key.text, &found, &run->err), &run->err);
    return found;
}

static void expect(struct small_run *run, struct key key, bool kept)
{
    if (has(run, key) != kept)
        fail_msg("%s is %s", key.text, kept ? "gone" : "still there");
}

/* Checks for each record that it is there if the rule keeps it. */
static void check_run(struct small_run *run, int64_t version, const struct retention *r)
{
    const struct schedule *s = &run->schedule;
    for (int64_t v = 0; v <= version; v++) {
        expect(run, key_weights(SMALL_RUN_ID, v), v >= r->oldest_base);
        expect(run, key_optimizer_state(SMALL_RUN_ID, v), v >= r->oldest_base);
        for (int32_t slot = 0; v < s->round_count && slot < schedule_slot_count(s, v); slot++) {
            expect(run, key_gradient(SMALL_RUN_ID, v, slot), v >= r->oldest_version);
            expect(run, key_mini_batch(SMALL_RUN_ID, v, slot),
                   schedule_samples(s, v) && v >= r->oldest_mini_batch);
        }
        for (int32_t slot = 0; schedule_has_snapshot(s, v) && slot < s->evaluation_slot_count;
             slot++)
            expect(run, key_evaluation(SMALL_RUN_ID, v, slot), v >= r->oldest_version);
        for (int part = 0; schedule_has_snapshot(s, v) && part < s->embedding_shards; part++)
            expect(run, key_embedding_seal(SMALL_RUN_ID, v, part),
                   v >= r->oldest_version || v == r->best_version);
        if (schedule_has_snapshot(s, v))
            expect(run, key_snapshot(SMALL_RUN_ID, v),
                   v >= r->oldest_version || v == r->best_version);
    }
}

/* Checks that everything is there that the next rounds read: the mini-batch of every slot from
 * `version` on. */
static void check_next_rounds(struct small_run *run, int64_t version, int64_t ahead)
{
    const struct schedule *s = &run->schedule;
    expect(run, key_weights(SMALL_RUN_ID, version), true);
    expect(run, key_optimizer_state(SMALL_RUN_ID, version), true);
    for (int64_t r = version; r < s->round_count && r <= version + ahead; r++)
        for (int32_t slot = 0; slot < schedule_slot_count(s, r); slot++) {
            int64_t source_round = 0;
            int32_t source_slot = 0;
            schedule_batch_source(s, r, slot, &source_round, &source_slot);
            expect(run, key_mini_batch(SMALL_RUN_ID, source_round, source_slot), true);
        }
}

struct case_of_run {
    const char *keep, *reuse, *every; /* epochs; rows of embeddings in two parts if it is 1 */
    int64_t version, best;
};

static const struct case_of_run cases[] = {
    {"1", "1", "1", 2, 2},   {"1", "1", "1", 8, 2},   {"2", "1", "1", 8, 8},
    {"2", "1", "1", 2, 2},   {"3", "1", "2", 12, 4},  {"2", "2", "1", 6, 4},
    {"1", "3", "1", 10, 2},  {"1", "3", "1", 12, 12}, {"2", "6", "1", 12, 2},
    {"1", "1", "5", 12, 10}, {"0", "1", "1", 12, 2},
};

static void begin(struct small_run *run, struct temp_store *temp, const struct case_of_run *c)
{
    char keep[32], reuse[40], every[40];
    (void)snprintf(keep, sizeof keep, "checkpoint.keep=%s", c->keep);
    (void)snprintf(reuse, sizeof reuse, "sample.reuse_epochs=%s", c->reuse);
    (void)snprintf(every, sizeof every, "checkpoint.every_epochs=%s", c->every);
    const char *const set[] = {"epochs=6",
                               "sample.batch_size=6",
                               "sample.batches_per_round=3",
                               "sample.evaluation_batch_size=2",
                               keep,
                               reuse,
                               every,
                               NULL};
    small_run_init(run, temp->store, 20, 4, set);
    if (strcmp(c->every, "1") == 0)
        run->schedule.embedding_shards = 2;
    assert_int_equal(run->schedule.rounds_per_epoch, 2);
    assert_int_equal(run->schedule.evaluation_slot_count, 2);
    assert_true(schedule_has_snapshot(&run->schedule, c->version));
}

static enum error_code prune(struct small_run *run, const struct case_of_run *c,
                             struct retention *retention)
{
    *retention =
        retention_rule_of(&run->schedule, c->version, run->settings.checkpoint.keep, c->best);
    return record_pruner_run(&run->context, retention, &run->err);
}

static void exactly_what_the_rule_lets_go_is_removed(void **state)
{
    struct temp_store *temp = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct small_run run;
        struct retention retention;
        char runs[FILE_PATH_SIZE];
        const int64_t ahead = cases[i].version < 12 ? 1 : 0;
        assert_ok(file_path(runs, &temp->err, "%s/run", temp->dir.path), &temp->err);
        assert_ok(file_remove_all(runs, &temp->err), &temp->err);
        begin(&run, temp, &cases[i]);
        put_run(&run, cases[i].version, ahead);
        for (int twice = 0; twice < 2; twice++) {
            assert_ok(prune(&run, &cases[i], &retention), &run.err);
            check_run(&run, cases[i].version, &retention);
            check_next_rounds(&run, cases[i].version, ahead);
        }
    }
}

/* With staleness, weights from before the oldest snapshot stay, and no other record from that
 * time. */
static void weights_that_rounds_start_from_stay(void **state)
{
    static const struct case_of_run stale = {"1", "1", "1", 8, 8};
    struct small_run run;
    struct retention retention;
    begin(&run, *state, &stale);
    run.schedule.staleness = 2;
    put_run(&run, stale.version, 1);
    assert_ok(prune(&run, &stale, &retention), &run.err);
    assert_int_equal(retention.oldest_base, 6);
    check_run(&run, stale.version, &retention);
}

struct removal {
    struct key key[512];
    int count;
};

static enum error_code note(void *context, const char *key, bool is_artifact, struct error *err)
{
    struct removal *all = context;
    (void)is_artifact;
    (void)err;
    must(all->count < 512);
    (void)snprintf(all->key[all->count++].text, KEY_SIZE, "%s", key);
    return ERROR_NONE;
}

/* A killed worker leaves the older rounds of a kind removed, and of the last one only the higher
 * slots. */
static void what_a_killed_worker_left_is_removed_by_the_next(void **state)
{
    struct temp_store *temp = *state;
    const struct case_of_run c = {"1", "1", "1", 8, 8};
    for (int64_t killed_at = 0; killed_at < 8; killed_at++)
        for (int32_t kept_slots = 1; kept_slots <= 3; kept_slots++) {
            struct small_run run;
            struct retention retention;
            begin(&run, temp, &c);
            put_run(&run, 8, 0);
            for (int64_t round = 0; round <= killed_at; round++)
                for (int32_t slot = round < killed_at ? 0 : kept_slots; slot < 3; slot++) {
                    const struct key gone[] = {key_gradient(SMALL_RUN_ID, round, slot),
                                               key_mini_batch(SMALL_RUN_ID, round, slot)};
                    for (int k = 0; k < 2; k++)
                        assert_ok(store_remove(run.store, gone[k].text, &run.err), &run.err);
                }
            for (int64_t version = 0; version < killed_at; version++)
                assert_ok(
                    store_remove(run.store, key_weights(SMALL_RUN_ID, version).text, &run.err),
                    &run.err);
            assert_ok(prune(&run, &c, &retention), &run.err);
            check_run(&run, 8, &retention);
        }
}

static void nothing_outside_the_run_is_touched(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    struct retention retention;
    static struct removal before, after;
    const struct case_of_run c = {"1", "1", "1", 12, 12};
    struct record record = {.kind = RECORD_WEIGHTS, .version = 1};
    before.count = after.count = 0;
    record_add_text(&record, "text", "of another run");
    begin(&run, temp, &c);
    assert_ok(store_put(run.store, key_weights("small-00000002", 3).text, "small-00000002", &record,
                        STORE_RECOMPUTABLE, &run.err),
              &run.err);
    assert_ok(store_put(run.store, key_evaluation_mini_batch(SMALL_RUN_ID, 0).text, SMALL_RUN_ID,
                        &record, STORE_RECOMPUTABLE, &run.err),
              &run.err);
    assert_ok(store_put(run.store, key_run(SMALL_RUN_ID, "plan").text, SMALL_RUN_ID, &record,
                        STORE_RECOMPUTABLE, &run.err),
              &run.err);
    assert_ok(store_list(run.store, "", note, &before, &run.err), &run.err);
    put_run(&run, 11, 0);
    assert_ok(prune(&run, &c, &retention), &run.err);
    assert_ok(store_list(run.store, "", note, &after, &run.err), &run.err);
    assert_int_equal(after.count, before.count);
    for (int i = 0; i < after.count; i++)
        assert_string_equal(after.key[i].text, before.key[i].text);
}

static void without_memory_for_the_list_it_says_so(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    struct retention retention;
    const struct case_of_run c = {"1", "1", "1", 8, 8};
    begin(&run, temp, &c);
    put_run(&run, 8, 0);
    const long live = memory_live_blocks();
    for (long allowed = 0;; allowed++) {
        memory_fail_after(allowed);
        const enum error_code rc = prune(&run, &c, &retention);
        memory_fail_after(-1);
        assert_int_equal(memory_live_blocks(), live);
        if (rc == ERROR_NONE)
            break;
        assert_int_equal(rc, ERROR_NO_MEMORY);
    }
    check_run(&run, 8, &retention);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(exactly_what_the_rule_lets_go_is_removed),
        test_with_store(weights_that_rounds_start_from_stay),
        test_with_store(what_a_killed_worker_left_is_removed_by_the_next),
        test_with_store(nothing_outside_the_run_is_touched),
        test_with_store(without_memory_for_the_list_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
