/* The units that a unit sets free are named with their stage and the number of units that they wait
 * for. */
#include "stages/engine/hand_over.h"
#include "stages/plan/chain/chain.h"

#include "tests/stages/small_run.h"

#include <string.h>

const struct stage stage = {.name = "none"};

static void expect_hand_over(struct small_run *run, struct hand_over *next, const struct unit *unit)
{
    struct unit_list units = {0};
    assert_ok(hand_over_name(next, &run->context, unit, &run->err), &run->err);
    assert_ok(chain_successors(&run->schedule, unit, -1, &units, &run->err), &run->err);
    assert_int_equal(next->count, units.count);
    for (int64_t i = 0; i < units.count; i++) {
        char name[UNIT_NAME_SIZE];
        unit_name(&units.unit[i], name);
        assert_string_equal(next->entry[i].unit, name);
        assert_string_equal(next->entry[i].stage, unit_stage(units.unit[i].kind));
        assert_int_equal(next->entry[i].prerequisite_count,
                         chain_prerequisite_count(&run->schedule, &units.unit[i]));
    }
    unit_list_release(&units);
}

static void units_are_named_with_what_they_wait_for(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    struct hand_over next = {0};
    static const char *const settings[] = {"sample.evaluation_batch_size=2", "sample.run_ahead=1",
                                           NULL};
    small_run_init(&run, temp->store, 20, 6, settings);
    run.schedule.part_count = 5;
    for (int64_t round = 0; round < run.schedule.round_count; round++) {
        expect_hand_over(&run, &next, &(struct unit){.kind = UNIT_AGGREGATE, .round = round});
        expect_hand_over(&run, &next, &(struct unit){.kind = UNIT_TRAIN_STEP, .round = round});
    }
    for (int32_t layer = 1; layer <= run.schedule.layer_count; layer++)
        expect_hand_over(&run, &next,
                         &(struct unit){.kind = UNIT_INFER, .round = 2, .layer = layer});
    expect_hand_over(&run, &next, &(struct unit){.kind = UNIT_OUTPUTS, .round = 2});
    assert_int_equal(next.count, 0);
    hand_over_release(&next);
}

/* A checkpoint whose snapshot was pruned meanwhile did not end the run. */
static void a_checkpoint_without_its_snapshot_ends_nothing(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    struct hand_over next = {0};
    small_run_init(&run, temp->store, 20, 0, NULL);
    expect_hand_over(&run, &next,
                     &(struct unit){.kind = UNIT_CHECKPOINT,
                                    .round = schedule_snapshot_at_or_after(&run.schedule, 1)});
    hand_over_release(&next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(units_are_named_with_what_they_wait_for),
        test_with_store(a_checkpoint_without_its_snapshot_ends_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
