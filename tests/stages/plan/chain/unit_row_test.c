/* Every kind of unit has all that its row must have; names and options tell kinds apart. */
#include "stages/engine/stage_list.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/unit_row.h"

#include "tests/support/test.h"

#include <string.h>

static const enum unit_kind first = UNIT_UNKNOWN + 1;

static bool is_stage(const char *name)
{
    for (int i = 0; i < STAGE_COUNT; i++)
        if (strcmp(stage_list[i].name, name) == 0)
            return true;
    return false;
}

static void every_row_is_whole(void **state)
{
    (void)state;
    for (enum unit_kind kind = first; kind < UNIT_KIND_COUNT; kind++) {
        const struct unit_row *row = unit_row_of(kind);
        assert_true(is_stage(row->stage));
        const bool is_of_run = row->check != NULL;
        assert_true(is_of_run == (row->output != NULL) && is_of_run == (row->is_covered != NULL));
        if (!is_of_run) /* the queue has nothing that waits for it */
            assert_true(!row->waits_for && !row->sets_free && row->line == LINE_NONE);
        if (row->recomputable) /* its record alone shows that it is done */
            assert_null(row->artifact);
        if (row->has_layer) /* units of inference have one version; other rows say how many layers
                             * there are */
            assert_true((row->line == LINE_WEIGHTS) == !row->layer_count);
        else
            assert_null(row->layer_count);
    }
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void names_and_options_tell_them_apart(void **state)
{
    (void)state;
    for (enum unit_kind a = first; a < UNIT_KIND_COUNT; a++)
        for (enum unit_kind b = first; b < a; b++) {
            const struct unit_row *one = unit_row_of(a), *other = unit_row_of(b);
            assert_false(same(one->name, other->name));
            if (same(one->stage, other->stage))
                assert_false(same(one->replay_option, other->replay_option));
        }
    for (int i = 0; i < STAGE_COUNT; i++) { /* each stage has a kind that replay takes without an
                                             * option */
        bool found = false;
        for (enum unit_kind kind = first; kind < UNIT_KIND_COUNT; kind++)
            found = found || (same(unit_row_of(kind)->stage, stage_list[i].name) &&
                              !unit_row_of(kind)->replay_option);
        assert_true(found);
        assert_true(unit_of_stage(stage_list[i].name) != UNIT_UNKNOWN);
    }
    assert_int_equal(unit_of_stage("haruspicy"), UNIT_UNKNOWN);
}

static void what_comes_before_a_run_is_no_unit_of_it(void **state)
{
    (void)state;
    struct error err = {0};
    const struct schedule schedule = {.round_count = 1};
    static const enum unit_kind kinds[] = {UNIT_UNKNOWN, UNIT_INGEST, UNIT_PARTITION,
                                           UNIT_KIND_COUNT};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        assert_fails(chain_check_unit(&schedule, &(struct unit){.kind = kinds[i]}, -1, &err),
                     ERROR_INVALID, "not a unit of a run", &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_whole),
        cmocka_unit_test(names_and_options_tell_them_apart),
        cmocka_unit_test(what_comes_before_a_run_is_no_unit_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
