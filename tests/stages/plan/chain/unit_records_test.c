/* The keys of every kind of unit lead back to the unit, and its numbers are those at which it has
 * records. */
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/unit_records.h"
#include "stages/plan/chain/unit_row.h"
#include "store/backends/tiered/tiered_keys.h"

#include "tests/support/test.h"

#include <string.h>

static const char run_id[] = "20261122"; /* it looks like the number of a unit, but is none */

/* Two passes of two epochs of three rounds; the last round of an epoch has one slot less. */
static const struct schedule schedule = {
    .batches_per_epoch = 11,
    .batches_per_round = 4,
    .rounds_per_epoch = 3,
    .epochs = 4,
    .round_count = 12,
    .evaluation_slot_count = 2,
    .reuse_epochs = 2,
    .every_rounds = 5,
    .layer_count = 3,
    .part_count = 2,
    .embedding_shards = 2,
    .ranges = 3,
    .fan_in = 2,
    .pipelined_layers = 3,
    .outputs_tag = "7a-3",
};

static void keys_lead_back(const struct unit *unit)
{
    struct key keys[UNIT_KEYS_MAX];
    const int count = unit_keys(&schedule, run_id, unit, keys);
    assert_in_range(count, 1, UNIT_KEYS_MAX);
    for (int i = 0; i < count; i++) {
        struct unit found;
        assert_true(unit_of_key(&schedule, run_id, keys[i].text, &found));
        assert_true(unit_equal(&found, unit));
        assert_false(unit_of_key(&schedule, "2026112", keys[i].text, &found));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(keys[i].text, keys[j].text);
    }
}

/* Tests all numbers of a kind's line, or 0. */
static void every_key_leads_back_to_its_unit(void **state)
{
    (void)state;
    int checked = 0;
    for (enum unit_kind kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++) {
        const struct unit_row *row = unit_row_of(kind);
        const int64_t end = row->line == LINE_NONE ? 0 : schedule.round_count;
        const bool infers = row->has_layer && !row->layer_count;
        for (int64_t number = 0; row->output && number <= end; number++)
            for (int32_t slot = 0; slot < unit_count_at(&schedule, kind, number); slot++)
                for (int32_t layer = infers; layer <= 3 * infers; layer++) {
                    struct unit unit = unit_at(&schedule, kind, number, slot);
                    unit.layer = infers ? layer : unit.layer;
                    assert_true(unit.kind != kind || unit_number(&unit) == number);
                    keys_lead_back(&unit);
                    checked++;
                }
    }
    assert_true(checked > 100);
}

static void what_no_unit_makes_is_none(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "run/20261122/plan",
        "run/20261122/",
        "run/20261122/weights/1",
        "run/20261122/weights/0000000001/copy",
        "run/20261122/round/0000000001/slot/00001",
        "run/20261122/round/9223372036854775807/slot/9223372036854775807/gradient",
        "run/20261122/outputs/0000000012",
        "dataset/20261122/splits",
    };
    struct unit unit;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (unit_of_key(&schedule, run_id, keys[i], &unit))
            fail_msg("%s is taken for a unit's", keys[i]);
}

/* Each pass of each slot comes once, as the pruner and the search for missing records go through
 * them. */
static void layers_of_a_round_are_counted_with_their_slots(void **state)
{
    (void)state;
    bool seen[5][4] = {{false}};
    struct schedule whole = schedule;
    assert_int_equal(unit_count_at(&schedule, UNIT_STEP_LAYER, 2), 4 * 3); /* one slot less */
    assert_int_equal(unit_count_at(&schedule, UNIT_STEP_LAYER, 1), 4 * 4);
    for (int32_t i = 0; i < 16; i++) {
        struct error err = {0};
        const struct unit unit = unit_at(&schedule, UNIT_STEP_LAYER, 1, i);
        assert_ok(chain_check_unit(&schedule, &unit, -1, &err), &err);
        assert_false(seen[unit.layer][unit.slot]);
        seen[unit.layer][unit.slot] = true;
    }
    whole.pipelined_layers = 0;
    assert_int_equal(unit_count_at(&whole, UNIT_STEP_LAYER, 1), 0);
}

/* Returns whether the run has a unit at `number` of a kind's line. */
static bool is_of_run(enum unit_kind kind, int64_t number)
{
    const struct unit unit = unit_at(&schedule, kind, number, 0);
    return chain_check_unit(&schedule, &unit, -1, NULL) == ERROR_NONE;
}

static void numbers_are_those_that_have_units(void **state)
{
    (void)state;
    for (enum unit_kind kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++) {
        const enum unit_line line = unit_row_of(kind)->line;
        if (line != LINE_ROUNDS && line != LINE_VERSIONS)
            continue;
        int64_t last = -1;
        for (int64_t number = 0; number <= schedule.round_count; number++) {
            if (!is_of_run(kind, number))
                continue;
            assert_int_equal(unit_number_after(&schedule, kind, number - 1), number);
            assert_int_equal(unit_number_after(&schedule, kind, last), number);
            const int64_t before = unit_number_before(&schedule, kind, number);
            assert_true(last < 0 ? before < 0 : before == last);
            last = number;
        }
        assert_true(last > 0);
        assert_true(unit_number_after(&schedule, kind, last) > last);
    }
}

/* The pruner takes a record by its index among the keys, so both kinds must have the same
 * records. */
static void who_begins_a_line_makes_the_same_records(void **state)
{
    (void)state;
    struct key keys[UNIT_KEYS_MAX];
    for (enum unit_kind kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++) {
        if (unit_row_of(kind)->begun_by == UNIT_UNKNOWN)
            continue;
        const struct unit first = unit_at(&schedule, kind, 0, 0),
                          second = unit_at(&schedule, kind, 1, 0);
        assert_int_equal(first.kind, unit_row_of(kind)->begun_by);
        assert_int_equal(second.kind, kind);
        assert_int_equal(unit_keys(&schedule, run_id, &first, keys),
                         unit_keys(&schedule, run_id, &second, keys));
        assert_int_equal(unit_row_of(first.kind)->retention, unit_row_of(kind)->retention);
    }
}

static bool is_below(const char *key, const char *folder)
{
    const struct key below = key_run(run_id, folder);
    const size_t size = strlen(below.text);
    return strncmp(key, below.text, size) == 0 && key[size] == '/';
}

/* Code that removes the folder of a kind must remove its records and no others. */
static void a_folder_has_the_records_of_one_kind(void **state)
{
    (void)state;
    int folders = 0;
    for (enum unit_kind of = UNIT_UNKNOWN + 1; of < UNIT_KIND_COUNT; of++) {
        const char *folder = unit_row_of(of)->folder;
        folders += folder != NULL;
        for (enum unit_kind kind = UNIT_UNKNOWN + 1; folder && kind < UNIT_KIND_COUNT; kind++) {
            struct unit unit = unit_at(&schedule, kind, 5, 0);
            struct key keys[UNIT_KEYS_MAX];
            unit.layer = unit_row_of(kind)->has_layer;
            const int count =
                unit_row_of(kind)->output ? unit_keys(&schedule, run_id, &unit, keys) : 0;
            for (int i = 0; i < count; i++)
                assert_int_equal(is_below(keys[i].text, folder), kind == of);
        }
    }
    assert_int_equal(folders, 2);
    for (enum unit_kind kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++)
        assert_int_equal(unit_row_of(kind)->folder != NULL,
                         unit_row_of(kind)->line == LINE_WEIGHTS);
}

static void what_goes_with_a_snapshot_is_of_its_version_or_of_none(void **state)
{
    (void)state;
    int kinds = 0;
    for (enum unit_kind kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++) {
        const struct unit_row *row = unit_row_of(kind);
        kinds += row->is_beside_snapshot;
        if (row->is_beside_snapshot)
            assert_true(row->line == LINE_NONE || row->line == LINE_VERSIONS);
    }
    /* The four kinds: mini-batches of validation, evaluations, rows of embeddings, counts of
     * walks. */
    assert_int_equal(kinds, 4);
}

/* For a kind of record that store/backends/tiered/tiered_keys.c does not know, each round would make a
 * request to the slow store. */
static void what_rounds_make_is_for_a_fast_store(void **state)
{
    (void)state;
    for (enum unit_kind kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++) {
        struct key keys[UNIT_KEYS_MAX];
        const struct unit_row *row = unit_row_of(kind);
        const struct unit unit = unit_at(&schedule, kind, 5, 0);
        const bool of_rounds = row->line == LINE_ROUNDS || row->line == LINE_VERSIONS;
        const int count = row->output ? unit_keys(&schedule, run_id, &unit, keys) : 0;
        for (int i = 0; i < count && (of_rounds || row->line == LINE_WEIGHTS); i++)
            assert_int_equal(tier_of_key(keys[i].text) != TIER_DURABLE, of_rounds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_has_the_records_of_one_kind),
        cmocka_unit_test(what_goes_with_a_snapshot_is_of_its_version_or_of_none),
        cmocka_unit_test(what_rounds_make_is_for_a_fast_store),
        cmocka_unit_test(every_key_leads_back_to_its_unit),
        cmocka_unit_test(what_no_unit_makes_is_none),
        cmocka_unit_test(layers_of_a_round_are_counted_with_their_slots),
        cmocka_unit_test(numbers_are_those_that_have_units),
        cmocka_unit_test(who_begins_a_line_makes_the_same_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
