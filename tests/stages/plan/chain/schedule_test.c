#include "common/base/memory.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/schedule.h"
#include "stages/sampling/sampler_list.h"
#include "store/records/round/gradient_encoding.h"

#include "tests/support/test.h"

#include <stdio.h>

static struct pipeline_settings settings_of(int64_t epochs, int64_t batch_size,
                                            int64_t batches_per_round, int64_t reuse_epochs)
{
    struct pipeline_settings settings;
    pipeline_settings_defaults(&settings);
    settings.epochs = epochs;
    settings.sample.batch_size = batch_size;
    settings.sample.batches_per_round = batches_per_round;
    settings.sample.reuse_epochs = reuse_epochs;
    return settings;
}

static struct schedule schedule_of(const struct pipeline_settings *settings, int64_t train,
                                   int64_t valid)
{
    struct schedule schedule = {0};
    struct error err = {0};
    assert_ok(schedule_init(&schedule, settings, train, valid, 4, &err), &err);
    return schedule;
}

static void counts_rounds_and_slots(void **state)
{
    (void)state;
    const struct pipeline_settings settings = settings_of(3, 10, 2, 1);
    const struct schedule s = schedule_of(&settings, 45, 5000);
    assert_int_equal(s.batches_per_epoch, 5);
    assert_int_equal(s.rounds_per_epoch, 3);
    assert_int_equal(s.round_count, 9);
    assert_int_equal(s.evaluation_slot_count, 2); /* slots of 4096 nodes each */
    for (int64_t round = 0; round < 9; round++) {
        assert_int_equal(schedule_slot_count(&s, round), round % 3 == 2 ? 1 : 2);
        assert_int_equal(schedule_epoch(&s, round), round / 3);
        assert_true(schedule_samples(&s, round));
    }
}

/* Three rounds an epoch; the last one has one slot. */
static void residuals_go_from_a_slot_to_its_next_round(void **state)
{
    (void)state;
    struct pipeline_settings settings = settings_of(3, 10, 2, 1);
    const struct schedule none = schedule_of(&settings, 45, 0);
    settings.train_step.gradient = GRADIENT_SPARSE;
    const struct schedule s = schedule_of(&settings, 45, 0);
    assert_int_equal(schedule_slot_before(&s, 0, 0), -1);
    assert_int_equal(schedule_slot_before(&s, 3, 0), 2);
    assert_int_equal(schedule_slot_before(&s, 3, 1), 1);
    assert_int_equal(schedule_slot_after(&s, 1, 0), 2);
    assert_int_equal(schedule_slot_after(&s, 1, 1), 3);
    assert_int_equal(schedule_slot_after(&s, 8, 0), -1);
    assert_int_equal(schedule_slot_after(&s, 7, 1), -1);
    for (int64_t round = 0; round < s.round_count; round++)
        for (int32_t slot = 0; slot < schedule_slot_count(&s, round); slot++) {
            const int64_t after = schedule_slot_after(&s, round, slot);
            if (after >= 0)
                assert_int_equal(schedule_slot_before(&s, after, slot), round);
        }
    assert_int_equal(schedule_oldest_residual(&s, 0), 0);
    assert_int_equal(schedule_oldest_residual(&s, 1), 0);
    assert_int_equal(schedule_oldest_residual(&s, 2), 1);
    assert_int_equal(schedule_oldest_residual(&s, 3), 1);
    assert_int_equal(schedule_oldest_residual(&s, 4), 3);
    assert_int_equal(schedule_oldest_residual(&none, 3), 3);
}

/* The partition has four parts. */
static void an_epoch_of_clusters_has_each_part_once(void **state)
{
    (void)state;
    struct pipeline_settings settings = settings_of(5, 10, 1, 1);
    settings.sample.sampler = SAMPLER_CLUSTER_GCN;
    settings.sample.option.clusters = 3;
    const struct schedule s = schedule_of(&settings, 45, 0);
    bool differs = false;
    assert_int_equal(s.batches_per_epoch, 2);
    assert_int_equal(s.round_count, 10);
    for (int64_t epoch = 0; epoch < 5; epoch++) {
        int seen[4] = {0};
        for (int64_t round = 2 * epoch; round < 2 * epoch + 2; round++) {
            int64_t first = 0, count = 0;
            schedule_cluster_range(&s, round, 0, &first, &count);
            assert_int_equal(count, round % 2 ? 1 : 3);
            for (int64_t i = 0; i < count; i++)
                seen[schedule_shuffled_part(&s, epoch, first + i)]++;
        }
        for (int part = 0; part < 4; part++)
            assert_int_equal(seen[part], 1);
        differs |= schedule_shuffled_part(&s, epoch, 0) != schedule_shuffled_part(&s, 0, 0);
    }
    assert_true(differs);
    settings.sample.option.clusters = 9; /* more than there are parts: all of them */
    assert_int_equal(schedule_of(&settings, 45, 0).batches_per_epoch, 1);
}

static void a_small_dataset_makes_one_short_batch(void **state)
{
    (void)state;
    const struct pipeline_settings settings = settings_of(2, 1024, 8, 1);
    const struct schedule s = schedule_of(&settings, 7, 0);
    int64_t first = -1, count = 0;
    assert_int_equal(s.round_count, 2);
    assert_int_equal(s.batches_per_round, 1);
    assert_int_equal(s.evaluation_slot_count, 0);
    schedule_seed_range(&s, 1, 0, &first, &count);
    assert_int_equal(first, 0);
    assert_int_equal(count, 7);
}

/* A run of inference alone ends where its weights end, and trains and validates nothing; also on a
 * graph without training nodes. */
static void imported_weights_end_the_schedule(void **state)
{
    (void)state;
    struct schedule s = {0};
    struct error err = {0};
    struct pipeline_settings settings = settings_of(3, 10, 2, 2);
    (void)snprintf(settings.infer.model, sizeof settings.infer.model,
                   "17 0123456789abcdef0123456789abcdef cora-1");
    assert_ok(schedule_init(&s, &settings, 0, 5000, 4, &err), &err);
    assert_int_equal(s.round_count, 17);
    assert_int_equal(s.evaluation_slot_count, 0);
    for (int64_t version = 1; version < 17; version++)
        assert_false(schedule_has_snapshot(&s, version));
    assert_true(schedule_has_snapshot(&s, 17));
    assert_int_equal(s.part_count, 4);
    (void)snprintf(settings.infer.model, sizeof settings.infer.model, "0 abc cora-1");
    assert_fails(schedule_init(&s, &settings, 0, 0, 4, &err), ERROR_INVALID,
                 "infer.model is '0 abc cora-1', expected nothing", &err);
    settings.infer.model[0] = '\0';
    assert_fails(schedule_init(&s, &settings, 0, 0, 4, &err), ERROR_INPUT, "no training nodes",
                 &err);
}

/* Each epoch has each position of its order once, and each order has each training node once. */
static void every_epoch_visits_every_training_node_once(void **state)
{
    (void)state;
    const struct pipeline_settings settings = settings_of(3, 4, 3, 1);
    const struct schedule s = schedule_of(&settings, 50, 0);
    int *position = memory_alloc(150, sizeof *position), *node = memory_alloc(150, sizeof *node);
    int moved = 0;
    assert_true(position && node);
    for (int64_t round = 0; round < s.round_count; round++)
        for (int32_t slot = 0; slot < schedule_slot_count(&s, round); slot++) {
            int64_t first = 0, count = 0;
            schedule_seed_range(&s, round, slot, &first, &count);
            for (int64_t i = first; i < first + count; i++)
                position[schedule_epoch(&s, round) * 50 + i]++;
        }
    for (int64_t epoch = 0; epoch < 3; epoch++)
        for (int64_t i = 0; i < 50; i++) {
            node[epoch * 50 + schedule_shuffled(&s, epoch, i)]++;
            moved += schedule_shuffled(&s, epoch, i) != schedule_shuffled(&s, 0, i);
        }
    for (int i = 0; i < 150; i++) {
        assert_int_equal(position[i], 1);
        assert_int_equal(node[i], 1);
    }
    assert_true(moved > 50); /* the epochs differ */
    memory_free(position);
    memory_free(node);
}

static void a_reused_pass_serves_each_batch_once_an_epoch(void **state)
{
    (void)state;
    const struct pipeline_settings settings = settings_of(6, 3, 2, 3);
    const struct schedule s = schedule_of(&settings, 20, 0); /* 7 mini-batches, 4 rounds an epoch */
    int moved = 0;
    for (int64_t epoch = 0; epoch < 6; epoch++) {
        int used[7] = {0};
        const int64_t pass = epoch / 3 * 3 * s.rounds_per_epoch;
        for (int64_t r = 0; r < s.rounds_per_epoch; r++) {
            const int64_t round = epoch * s.rounds_per_epoch + r;
            assert_int_equal(schedule_samples(&s, round), epoch % 3 == 0);
            for (int32_t slot = 0; slot < schedule_slot_count(&s, round); slot++) {
                int64_t source_round = -1;
                int32_t source_slot = -1;
                schedule_batch_source(&s, round, slot, &source_round, &source_slot);
                assert_true(source_round >= pass && source_round < pass + s.rounds_per_epoch);
                assert_true(source_slot < schedule_slot_count(&s, source_round));
                used[(source_round - pass) * 2 + source_slot]++;
                moved += source_round - pass != r || source_slot != slot;
                if (epoch % 3 == 0) {
                    assert_int_equal(source_round, round);
                    assert_int_equal(source_slot, slot);
                }
            }
        }
        for (int i = 0; i < 7; i++)
            assert_int_equal(used[i], 1);
    }
    assert_true(moved > 0);
}

static void validation_slots_cover_the_split(void **state)
{
    (void)state;
    struct pipeline_settings settings = settings_of(1, 1, 1, 1);
    settings.sample.evaluation_batch_size = 7;
    const struct schedule s = schedule_of(&settings, 3, 30);
    int64_t next = 0;
    assert_int_equal(s.evaluation_slot_count, 5);
    for (int32_t slot = 0; slot < 5; slot++) {
        int64_t first = 0, count = 0;
        schedule_evaluation_range(&s, slot, &first, &count);
        assert_int_equal(first, next);
        assert_true(count > 0);
        next = first + count;
    }
    assert_int_equal(next, 30);
}

static void snapshots_agree_with_a_walk_over_all_versions(void **state)
{
    (void)state;
    for (int64_t epochs = 1; epochs <= 7; epochs++)
        for (int64_t every = 1; every <= 8; every++) {
            struct pipeline_settings settings = settings_of(epochs, 2, 2, 1);
            settings.checkpoint.every_epochs = every;
            const struct schedule s = schedule_of(&settings, 9, 0); /* 3 rounds an epoch */
            int64_t before = -1;
            assert_false(schedule_has_snapshot(&s, 0));
            for (int64_t v = 1; v <= s.round_count; v++) {
                const bool expected = v % (3 * every) == 0 || v == 3 * epochs;
                int64_t after = v;
                while (!(after % (3 * every) == 0 || after == 3 * epochs))
                    after++;
                assert_int_equal(schedule_has_snapshot(&s, v), expected);
                assert_int_equal(schedule_snapshot_before(&s, v), before);
                assert_int_equal(schedule_snapshot_at_or_after(&s, v), after);
                if (expected)
                    before = v;
            }
            assert_int_equal(schedule_snapshot_at_or_after(&s, 0),
                             schedule_snapshot_at_or_after(&s, 1));
        }
}

static void no_round_to_come_needs_an_older_round_than_the_oldest(void **state)
{
    (void)state;
    for (int64_t reuse = 1; reuse <= 4; reuse++) {
        const struct pipeline_settings settings = settings_of(6, 3, 2, reuse);
        const struct schedule s = schedule_of(&settings, 20, 0);
        for (int64_t version = 0; version < s.round_count; version++) {
            int64_t oldest = version;
            for (int64_t round = version; round < s.round_count; round++)
                for (int32_t slot = 0; slot < schedule_slot_count(&s, round); slot++) {
                    int64_t source = 0;
                    int32_t source_slot = 0;
                    schedule_batch_source(&s, round, slot, &source, &source_slot);
                    oldest = source < oldest ? source : oldest;
                }
            assert_true(schedule_oldest_needed(&s, version) <= oldest);
            assert_true(schedule_oldest_needed(&s, version) > version - reuse * s.rounds_per_epoch);
        }
    }
}

/* Tests which weights a round starts from. */
static void a_round_starts_from_weights_that_many_rounds_old(void **state)
{
    (void)state;
    static const int64_t bases[][6] = {{0, 1, 2, 3, 4, 5}, {0, 0, 1, 2, 3, 4}, {0, 0, 0, 0, 0, 1}};
    static const int64_t staleness[] = {0, 1, 4};
    for (size_t i = 0; i < 3; i++) {
        const struct schedule s = {.staleness = staleness[i]};
        for (int64_t round = 0; round < 6; round++)
            assert_int_equal(schedule_base(&s, round), bases[i][round]);
    }
}

/* 10 training nodes in batches of 2, two a round: 3 rounds an epoch. */
static void a_staleness_above_the_snapshot_interval_is_refused(void **state)
{
    (void)state;
    struct pipeline_settings settings;
    struct schedule s;
    struct error err = {0};
    pipeline_settings_defaults(&settings);
    settings.sample.batch_size = 2;
    settings.sample.batches_per_round = 2;
    settings.sample.run_ahead = 4;
    settings.aggregate.staleness.value = 3;
    assert_ok(schedule_init(&s, &settings, 10, 0, 1, &err), &err);
    assert_int_equal(s.rounds_per_epoch, 3);
    assert_int_equal(s.run_ahead, 7); /* counts the rounds that train ahead, too */
    settings.aggregate.staleness.value = 7;
    assert_fails(schedule_init(&s, &settings, 10, 0, 1, &err), ERROR_INVALID,
                 "aggregate.staleness is 7, but a snapshot is made every 3 rounds: expected at "
                 "most that, or a checkpoint.every_epochs of 3 or more",
                 &err);
    settings.checkpoint.every_epochs = 3;
    assert_ok(schedule_init(&s, &settings, 10, 0, 1, &err), &err);
}

static void refuses_what_cannot_be_scheduled(void **state)
{
    (void)state;
    struct schedule s;
    struct error err = {0};
    struct pipeline_settings settings = settings_of(1, 1, 1, 1);
    assert_fails(schedule_init(&s, &settings, 0, 0, 1, &err), ERROR_INPUT, "no training nodes",
                 &err);
    settings.sample.evaluation_batch_size = 1;
    assert_fails(schedule_init(&s, &settings, 1, 65536, 1, &err), ERROR_INVALID,
                 "65536 validation batches, expected at most 65535", &err);
    assert_ok(schedule_init(&s, &settings, 1, 65535, 1, &err), &err);
    settings.epochs = 1000000000;
    assert_fails(schedule_init(&s, &settings, 100, 0, 1, &err), ERROR_INVALID,
                 "100000000000 rounds, expected at most 4294967295", &err);
}

/* Expects that a unit is refused, with a message that says which units exist. */
static void assert_refused(const struct schedule *s, const char *name, int64_t weights_version,
                           const char *expected)
{
    struct error err = {0};
    struct unit unit = {0};
    assert_ok(unit_parse(name, &unit, &err), &err);
    assert_fails(chain_check_unit(s, &unit, weights_version, &err), ERROR_INVALID, expected, &err);
}

static void assert_taken(const struct schedule *s, const char *name, int64_t weights_version)
{
    struct error err = {0};
    struct unit unit = {0};
    assert_ok(unit_parse(name, &unit, &err), &err);
    assert_ok(chain_check_unit(s, &unit, weights_version, &err), &err);
}

static void a_unit_that_the_run_does_not_have_is_refused_with_what_there_is(void **state)
{
    (void)state;
    struct pipeline_settings settings = settings_of(4, 10, 2, 2); /* 3 rounds an epoch */
    settings.checkpoint.every_epochs = 2;
    const struct schedule s = schedule_of(&settings, 45, 5000);
    static const char *const taken[] = {"initialise",      "sample/0/1",    "sample/8/0",
                                        "train-step/11/0", "evaluate/12/1", "sample-evaluation/1",
                                        "aggregate/11",    "checkpoint/6",  "infer/6/2/3",
                                        "infer/12/1/0",    "outputs/12"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        assert_taken(&s, taken[i], -1);
    assert_refused(&s, "sample/12/0", -1, "no round 12: the run has rounds 0 to 11");
    assert_refused(&s, "sample/3/0", -1, "round 3 has no mini-batches of its own");
    assert_refused(&s, "sample/0/2", -1, "no slot 2: round 0 has slots 0 to 1");
    assert_refused(&s, "train-step/2/1", -1, "no slot 1: round 2 has slots 0 to 0");
    assert_refused(&s, "train-step/1/70000", -1, "no slot 70000: round 1 has slots 0 to 1");
    assert_refused(&s, "train-step/4611686018427387903/0", -1, "the run has rounds 0 to 11");
    assert_refused(&s, "aggregate/12", -1, "the run has rounds 0 to 11");
    assert_refused(&s, "sample-evaluation/2", -1, "there are validation slots 0 to 1");
    assert_refused(&s, "evaluate/6/2147483647", -1, "there are validation slots 0 to 1");
    assert_refused(&s, "evaluate/5/0", -1, "there is one every 6 rounds, the last of weights 12");
    assert_refused(&s, "checkpoint/0", -1, "no snapshot of weights 0");
    assert_refused(&s, "checkpoint/18", -1, "no snapshot of weights 18");
    assert_refused(&s, "infer/6/0/0", -1, "no layer 0: there are layers 1 to 2");
    assert_refused(&s, "infer/6/3/0", -1, "no layer 3: there are layers 1 to 2");
    assert_refused(&s, "infer/6/1/4", -1, "no part 4: there are parts 0 to 3");
    assert_refused(&s, "infer/5/1/0", -1, "no snapshot of weights 5");
    assert_refused(&s, "outputs/24", -1, "no snapshot of weights 24");
    assert_refused(&s, "ingest", -1, "not a unit of a run");
    assert_refused(&s, "partition", -1, "not a unit of a run");
    const struct unit none = {.kind = UNIT_UNKNOWN}, below = {.kind = UNIT_SAMPLE, .slot = -1};
    assert_int_equal(chain_check_unit(&s, &none, -1, NULL), ERROR_INVALID);
    assert_int_equal(chain_check_unit(&s, &below, -1, NULL), ERROR_INVALID);
    assert_refused(&s, "count-walks", -1, "there is no count of walks 0: the run has none");
    const struct schedule unvalidated = schedule_of(&settings, 45, 0);
    assert_refused(&unvalidated, "sample-evaluation/0", -1, "the run has none");
}

static void once_the_run_has_ended_inference_is_of_its_weights_only(void **state)
{
    (void)state;
    struct pipeline_settings settings = settings_of(4, 10, 2, 1);
    const struct schedule s = schedule_of(&settings, 45, 5000);
    assert_taken(&s, "infer/3/1/0", 3);
    assert_taken(&s, "outputs/3", 3);
    assert_refused(&s, "infer/6/1/0", 3, "with weights 3 in this run, not with weights 6");
    assert_refused(&s, "outputs/12", 3, "with weights 3 in this run, not with weights 12");
    assert_taken(&s, "checkpoint/12", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_rounds_and_slots),
        cmocka_unit_test(residuals_go_from_a_slot_to_its_next_round),
        cmocka_unit_test(an_epoch_of_clusters_has_each_part_once),
        cmocka_unit_test(imported_weights_end_the_schedule),
        cmocka_unit_test(a_small_dataset_makes_one_short_batch),
        cmocka_unit_test(every_epoch_visits_every_training_node_once),
        cmocka_unit_test(a_reused_pass_serves_each_batch_once_an_epoch),
        cmocka_unit_test(validation_slots_cover_the_split),
        cmocka_unit_test(snapshots_agree_with_a_walk_over_all_versions),
        cmocka_unit_test(no_round_to_come_needs_an_older_round_than_the_oldest),
        cmocka_unit_test(a_round_starts_from_weights_that_many_rounds_old),
        cmocka_unit_test(a_staleness_above_the_snapshot_interval_is_refused),
        cmocka_unit_test(refuses_what_cannot_be_scheduled),
        cmocka_unit_test(a_unit_that_the_run_does_not_have_is_refused_with_what_there_is),
        cmocka_unit_test(once_the_run_has_ended_inference_is_of_its_weights_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
