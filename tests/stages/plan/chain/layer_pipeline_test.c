/* The work of each pass of a step, and the number of slots that are under way at once. */
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/layer_pipeline.h"

#include "tests/support/test.h"

#include <string.h>

static struct schedule pipeline_of(int32_t layers, int32_t slots)
{
    return (struct schedule){.train_count = slots,
                             .batch_size = 1,
                             .batches_per_epoch = slots,
                             .batches_per_round = slots,
                             .rounds_per_epoch = 1,
                             .epochs = 2,
                             .round_count = 2,
                             .reuse_epochs = 1,
                             .every_rounds = 1,
                             .ranges = 1,
                             .pipelined_layers = layers};
}

static void passes_go_up_the_layers_and_down_again(void **state)
{
    (void)state;
    static const struct pipeline_pass expected[] = {
        {0, true, false}, {1, true, false}, {2, true, true}, {1, false, true}, {0, false, true}};
    const struct schedule s = pipeline_of(3, 1), whole = pipeline_of(0, 1);
    assert_int_equal(layer_pipeline_passes(&s), 4); /* the fifth is the step itself */
    assert_int_equal(layer_pipeline_passes(&whole), 0);
    for (int32_t i = 0; i < 5; i++) {
        const struct pipeline_pass pass = layer_pipeline_pass(&s, i + 1);
        assert_int_equal(pass.layer, expected[i].layer);
        assert_int_equal(pass.is_forward, expected[i].is_forward);
        assert_int_equal(pass.is_backward, expected[i].is_backward);
    }
}

static void only_passes_that_there_are_are_units(void **state)
{
    (void)state;
    struct error err = {0};
    const struct schedule s = pipeline_of(3, 2), whole = pipeline_of(0, 2);
    struct unit unit = {.kind = UNIT_STEP_LAYER, .round = 1, .slot = 1, .layer = 4};
    assert_ok(chain_check_unit(&s, &unit, -1, &err), &err);
    assert_fails(chain_check_unit(&whole, &unit, -1, &err), ERROR_INVALID, "pipeline is whole",
                 &err);
    unit.layer = 5;
    assert_fails(chain_check_unit(&s, &unit, -1, &err), ERROR_INVALID, "passes 1 to 4", &err);
    unit.layer = 0;
    assert_fails(chain_check_unit(&s, &unit, -1, &err), ERROR_INVALID, "no pass 0", &err);
    unit = (struct unit){.kind = UNIT_STEP_LAYER, .round = 1, .slot = 2, .layer = 1};
    assert_fails(chain_check_unit(&s, &unit, -1, &err), ERROR_INVALID, "no slot 2", &err);
}

static bool waits_for(const struct schedule *s, const struct unit *unit, const struct unit *other)
{
    struct unit_list list = {0};
    struct error err = {0};
    bool found = false;
    assert_ok(chain_prerequisites(s, unit, 0, &list, &err), &err);
    for (int64_t i = 0; i < list.count; i++)
        found = found || unit_equal(&list.unit[i], other);
    unit_list_release(&list);
    return found;
}

static void a_slot_enters_when_another_has_left(void **state)
{
    (void)state;
    const struct schedule s = pipeline_of(2, 8);
    assert_int_equal(layer_pipeline_window(&s), 3);
    for (int32_t slot = 0; slot < 8; slot++)
        for (int32_t other = 0; other < 8; other++) {
            const struct unit first = {.kind = UNIT_STEP_LAYER, .slot = slot, .layer = 1};
            const struct unit step = {.kind = UNIT_TRAIN_STEP, .slot = other};
            assert_int_equal(waits_for(&s, &first, &step), other + 3 == slot);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_go_up_the_layers_and_down_again),
        cmocka_unit_test(only_passes_that_there_are_are_units),
        cmocka_unit_test(a_slot_enters_when_another_has_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
