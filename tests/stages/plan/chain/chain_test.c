/* The chain by itself: which units wait for which, and runs played in random order
 * (pretend_run.h). */
#include "stages/sampling/sampler_list.h"

#include "tests/stages/plan/pretend_run.h"

/* --- schedules --- */

static struct schedule schedule_of(int64_t train, int64_t valid, int32_t parts,
                                   const struct pipeline_settings *settings)
{
    struct schedule schedule;
    struct error err = {0};
    assert_ok(schedule_init(&schedule, settings, train, valid, parts, &err), &err);
    return schedule;
}

static struct schedule draw_schedule(void)
{
    struct pipeline_settings settings;
    pipeline_settings_defaults(&settings);
    settings.epochs = 1 + (int64_t)draw(5);
    settings.sample.batch_size = 1 + (int64_t)draw(4);
    settings.sample.batches_per_round = 1 + (int64_t)draw(5);
    settings.sample.run_ahead = 1 + (int64_t)draw(4);
    settings.sample.reuse_epochs = 1 + (int64_t)draw(3);
    settings.sample.evaluation_batch_size = 1 + (int64_t)draw(3);
    settings.sample.fanouts.count = 1 + (int)draw(3);
    settings.aggregate.ranges = 1 + (int64_t)draw(3);
    settings.aggregate.fan_in = (int64_t[]){0, 0, 2, 3}[draw(4)];
    settings.checkpoint.every_epochs = 1 + (int64_t)draw(3);
    settings.checkpoint.patience = (int64_t)draw(2);
    settings.train_step.embedding = draw(2) ? 8 : 0;
    settings.train_step.gradient = draw(3) ? GRADIENT_F32 : GRADIENT_SPARSE;
    if (settings.train_step.embedding == 0 && settings.train_step.gradient == GRADIENT_F32 &&
        draw(2))
        settings.aggregate.staleness.value =
            1 + (int64_t)draw((uint64_t)settings.checkpoint.every_epochs);
    else if (settings.train_step.embedding == 0 && settings.sample.fanouts.count > 1 && draw(3))
        settings.train_step.pipeline = PIPELINE_LAYERS;
    settings.aggregate.staleness.is_most = settings.aggregate.staleness.value > 0 && draw(2);
    settings.aggregate.compensation = draw(2) ? COMPENSATE_GRADIENT : COMPENSATE_RATE;
    if (settings.train_step.embedding == 0 && draw(4) == 0)
        (void)snprintf(settings.infer.nodes, sizeof settings.infer.nodes, "3 abc");
    settings.sample.sampler = draw(2) ? SAMPLER_GRAPHSAINT_WALK : SAMPLER_NEIGHBOR;
    settings.infer.weights = draw(2) ? WEIGHTS_BEST : WEIGHTS_LAST;
    return schedule_of(1 + (int64_t)draw(9), (int64_t)draw(5), 1 + (int32_t)draw(3), &settings);
}

static void add_unit(struct unit_list *list, enum unit_kind kind, int64_t round, int32_t slot,
                     int32_t layer)
{
    struct error err = {0};
    const struct unit unit = {.kind = kind, .round = round, .slot = slot, .layer = layer};
    assert_ok(unit_list_add(list, unit, &err), &err);
}

/* Lists every unit of a run that goes to its last round, from the schedule alone. */
static void all_units(const struct schedule *s, struct unit_list *out)
{
    add_unit(out, UNIT_INITIALISE, 0, 0, 0);
    if (s->counts_walks)
        add_unit(out, UNIT_COUNT_WALKS, 0, 0, 0);
    for (int64_t round = 0; round < s->round_count; round++) {
        for (int32_t slot = 0; slot < schedule_slot_count(s, round); slot++) {
            if (schedule_samples(s, round))
                add_unit(out, UNIT_SAMPLE, round, slot, 0);
            for (int32_t pass = 1; pass <= layer_pipeline_passes(s); pass++)
                add_unit(out, UNIT_STEP_LAYER, round, slot, pass);
            add_unit(out, UNIT_TRAIN_STEP, round, slot, 0);
        }
        for (int32_t sum = 0; sum < gradient_sum_count(s, round); sum++)
            add_unit(out, UNIT_SUM_GRADIENTS, round, sum, 0);
        add_unit(out, UNIT_AGGREGATE, round, 0, 0);
        if (!schedule_has_snapshot(s, round + 1))
            continue;
        for (int32_t slot = 0; slot < s->evaluation_slot_count; slot++)
            add_unit(out, UNIT_EVALUATE, round + 1, slot, 0);
        for (int32_t part = 0; part < s->embedding_shards; part++)
            add_unit(out, UNIT_SEAL_ROWS, round + 1, part, 0);
        add_unit(out, UNIT_CHECKPOINT, round + 1, 0, 0);
    }
    for (int32_t slot = 0; slot < s->evaluation_slot_count; slot++)
        add_unit(out, UNIT_SAMPLE_EVALUATION, 0, slot, 0);
    for (int32_t layer = schedule_first_layer(s); layer <= s->layer_count; layer++)
        for (int32_t part = 0; part < s->part_count; part++)
            add_unit(out, UNIT_INFER, s->round_count, part, layer);
    add_unit(out, UNIT_OUTPUTS, s->round_count, 0, 0);
}

static int64_t times_in(const struct unit_list *list, const struct unit *unit)
{
    int64_t times = 0;
    for (int64_t i = 0; i < list->count; i++)
        times += unit_equal(&list->unit[i], unit);
    return times;
}

/* --- tests --- */

static void check_inverse(const struct schedule *s)
{
    struct unit_list units = {0}, roots = {0};
    struct error err = {0};
    all_units(s, &units);
    assert_ok(chain_roots(s, &roots, &err), &err);
    struct unit_list *before = memory_alloc((size_t)units.count, sizeof *before);
    struct unit_list *after = memory_alloc((size_t)units.count, sizeof *after);
    assert_true(before && after);
    for (int64_t i = 0; i < units.count; i++) {
        const struct unit *unit = &units.unit[i];
        assert_ok(chain_prerequisites(s, unit, s->round_count, &before[i], &err), &err);
        assert_ok(chain_successors(s, unit,
                                   unit->kind == UNIT_CHECKPOINT && unit->round == s->round_count
                                       ? s->round_count
                                       : -1,
                                   &after[i], &err),
                  &err);
        assert_int_equal(before[i].count, chain_prerequisite_count(s, unit));
        assert_int_equal(times_in(&roots, unit), before[i].count == 0);
        for (int64_t j = 0; j < before[i].count; j++)
            assert_int_equal(times_in(&units, &before[i].unit[j]), 1);
        for (int64_t j = 0; j < after[i].count; j++)
            assert_int_equal(times_in(&units, &after[i].unit[j]), 1);
    }
    for (int64_t i = 0; i < units.count; i++)
        for (int64_t j = 0; j < units.count; j++)
            assert_int_equal(times_in(&after[i], &units.unit[j]),
                             times_in(&before[j], &units.unit[i]));
    for (int64_t i = 0; i < units.count; i++) {
        unit_list_release(&before[i]);
        unit_list_release(&after[i]);
    }
    memory_free(before);
    memory_free(after);
    unit_list_release(&units);
    unit_list_release(&roots);
}

static void prerequisites_and_successors_are_inverse(void **state)
{
    (void)state;
    random_state = 1;
    for (int i = 0; i < 150; i++) {
        const struct schedule s = draw_schedule();
        check_inverse(&s);
    }
}

static void an_early_stop_sets_inference_free_and_nothing_else(void **state)
{
    (void)state;
    random_state = 2;
    for (int i = 0; i < 50; i++) {
        const struct schedule s = draw_schedule();
        const struct unit checkpoint = {.kind = UNIT_CHECKPOINT,
                                        .round = schedule_snapshot_at_or_after(&s, 1)};
        struct unit_list next = {0}, before = {0};
        struct error err = {0};
        assert_ok(chain_successors(&s, &checkpoint, 7, &next, &err), &err);
        assert_int_equal(next.count, s.infers_some ? 1 : s.part_count);
        for (int64_t n = 0; n < next.count; n++) {
            assert_int_equal(next.unit[n].kind, s.infers_some ? UNIT_OUTPUTS : UNIT_INFER);
            assert_int_equal(next.unit[n].layer, s.infers_some ? 0 : schedule_first_layer(&s));
            assert_int_equal(next.unit[n].round, 7);
            before.count = 0;
            assert_ok(chain_prerequisites(&s, &next.unit[n], checkpoint.round, &before, &err),
                      &err);
            assert_int_equal(times_in(&before, &checkpoint), 1);
        }
        unit_list_release(&next);
        unit_list_release(&before);
    }
}

static int64_t draw_stop(const struct schedule *s)
{
    if (!s->can_stop_early)
        return s->round_count;
    return schedule_snapshot_at_or_after(s, 1 + (int64_t)draw((uint64_t)s->round_count));
}

/* Draws a snapshot with the best weights: any up to the last. */
static int64_t draw_best(const struct schedule *s, int64_t stop_at)
{
    return schedule_snapshot_at_or_after(s, 1 + (int64_t)draw((uint64_t)stop_at));
}

static void play_many(uint64_t seed, int rebuild_every, bool disturbed)
{
    random_state = seed;
    for (int i = 0; i < 300; i++) {
        run.schedule = draw_schedule();
        run.stop_at = draw_stop(&run.schedule);
        run.best_version = draw_best(&run.schedule, run.stop_at);
        play(rebuild_every, disturbed);
    }
}

static void a_run_in_any_order_does_every_unit_once(void **state)
{
    (void)state;
    random_state = 3;
    for (int i = 0; i < 300; i++) {
        struct unit_list units = {0};
        run.schedule = draw_schedule();
        run.stop_at = run.best_version = run.schedule.round_count;
        all_units(&run.schedule, &units);
        play(0, false);
        assert_int_equal(run.works, units.count);
        unit_list_release(&units);
    }
}

static void an_early_stopped_run_ends(void **state)
{
    (void)state;
    play_many(4, 0, false);
}

static void rebuilds_at_any_moment_lose_nothing(void **state)
{
    (void)state;
    play_many(5, 3, false);
    play_many(6, 20, false);
}

/* Units finish during a rebuild: a look at the idle queue finds the units that the rebuild
 * missed. */
static void units_that_finish_during_a_rebuild_are_not_lost(void **state)
{
    (void)state;
    play_many(7, 5, true);
}

static void one_rebuild_suffices_for_the_rest_of_the_run(void **state)
{
    (void)state;
    random_state = 8;
    for (int i = 0; i < 300; i++) {
        run.schedule = draw_schedule();
        run.stop_at = draw_stop(&run.schedule);
        run.best_version = draw_best(&run.schedule, run.stop_at);
        run.stored.count = 0;
        run.snapshot_version = -1;
        run.disturbed = false;
        rebuild(true);
        for (uint64_t steps = draw(60); steps > 0; steps--)
            work_on_one();
        rebuild(true);
        for (long steps = 0; run.queued.count > 0; steps++) {
            assert_true(steps < 100000);
            work_on_one();
        }
        assert_true(state_now().finished);
    }
}

/* Units made from lost records do not count as done before those records are there again: a run
 * that prunes nothing ends with all its records. */
static void what_a_crash_took_is_made_again(void **state)
{
    (void)state;
    random_state = 9;
    run.breaks = run.keeps = true;
    for (int i = 0; i < 300; i++) {
        struct unit_list units = {0};
        struct error err = {0};
        run.schedule = draw_schedule();
        run.stop_at = run.best_version = run.schedule.round_count;
        play(30, false);
        all_units(&run.schedule, &units);
        for (int64_t n = 0; n < units.count; n++) {
            bool whole = unit_row_of(units.unit[n].kind)->line != LINE_ROUNDS;
            if (!whole)
                assert_ok(unit_is_whole(&run.schedule, NULL, "r", &units.unit[n], &whole, &err),
                          &err);
            if (!whole)
                fail_msg("%s of round %" PRId64 " was not made again",
                         unit_row_of(units.unit[n].kind)->name, units.unit[n].round);
        }
        unit_list_release(&units);
    }
    run.breaks = run.keeps = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prerequisites_and_successors_are_inverse),
        cmocka_unit_test(an_early_stop_sets_inference_free_and_nothing_else),
        cmocka_unit_test(a_run_in_any_order_does_every_unit_once),
        cmocka_unit_test(an_early_stopped_run_ends),
        cmocka_unit_test(rebuilds_at_any_moment_lose_nothing),
        cmocka_unit_test(one_rebuild_suffices_for_the_rest_of_the_run),
        cmocka_unit_test(units_that_finish_during_a_rebuild_are_not_lost),
        cmocka_unit_test(what_a_crash_took_is_made_again),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    memory_free(run.stored.name);
    memory_free(run.queued.name);
    memory_free(run.waiting.name);
    return failed;
}
