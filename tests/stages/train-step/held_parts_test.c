/*
 * Checks which mini-batches of clusters a worker prefers: those whose shards it has open.
 */
#include "stages/train-step/held_parts.h"

#include "tests/store/features/feature_source_fixture.h"

enum { CLUSTERS = 2, SLOTS = 3 };

/* Six parts, two in a batch, and three batches in a round, which is an epoch. */
struct scene {
    struct fixture fixture;
    struct pipeline_settings settings;
    struct schedule schedule;
    struct stage_context context;
    struct node_features features; /* of one type */
    struct feature_source *source;
    bool was_wanted[PART_COUNT];
    char wanted[STAGE_PREFERS_MAX][UNIT_NAME_SIZE];
};

static void set(struct scene *s, const char *text)
{
    assert_ok(pipeline_settings_override(&s->settings, text, &s->fixture.err), &s->fixture.err);
}

static void open_scene(struct scene *s, const char *sampler, uint64_t budget_bytes)
{
    *s = (struct scene){.fixture = open_fixture()};
    pipeline_settings_defaults(&s->settings);
    set(s, sampler);
    set(s, "sample.clusters=2");
    set(s, "sample.batches_per_round=3");
    set(s, "sample.batch_size=10");
    set(s, "sample.reuse_epochs=2");
    assert_ok(schedule_init(&s->schedule, &s->settings, 30, 10, PART_COUNT, &s->fixture.err),
              &s->fixture.err);
    assert_int_equal(schedule_slot_count(&s->schedule, 0), SLOTS);
    s->context = (struct stage_context){
        .store = s->fixture.store, .settings = &s->settings, .schedule = &s->schedule};
    s->source = open_source(&s->fixture, budget_bytes);
    s->features = (struct node_features){.type_count = 1, .source = {s->source}};
}

static void close_scene(struct scene *s)
{
    feature_source_close(s->source);
    close_fixture(&s->fixture);
}

static int prefers(struct scene *s, enum unit_kind kind, int64_t round, int32_t slot)
{
    const struct unit unit = {.kind = kind, .round = round, .slot = slot};
    return held_parts_prefers(&s->context, &s->features, &unit, s->wanted);
}

/* Returns part `i` of the batch of (round, slot). */
static int part_of_batch(const struct scene *s, int64_t round, int32_t slot, int i)
{
    int64_t made = 0, first = 0, count = 0;
    int32_t made_as = 0;
    schedule_batch_source(&s->schedule, round, slot, &made, &made_as);
    schedule_cluster_range(&s->schedule, made, made_as, &first, &count);
    assert_int_equal(count, CLUSTERS);
    return (int)schedule_shuffled_part(&s->schedule, schedule_epoch(&s->schedule, made), first + i);
}

/* Reads a row of a part as a step does, if the part has one. */
static void want_row_of(struct scene *s, int part)
{
    float row[DIM];
    if (bounds[part] < bounds[part + 1])
        assert_ok(
            feature_source_read(s->source, bounds[part], bounds[part] + 1, row, &s->fixture.err),
            &s->fixture.err);
    s->was_wanted[part] = true;
}

/* Returns how many parts of a batch have rows of which none was read. */
static int missing(const struct scene *s, int64_t round, int32_t slot)
{
    int count = 0;
    for (int i = 0; i < CLUSTERS; i++) {
        const int part = part_of_batch(s, round, slot, i);
        count += bounds[part] < bounds[part + 1] && !s->was_wanted[part];
    }
    return count;
}

/* Checks that every unit of a round prefers the units that miss fewer shards, fewest first. */
static int check_round(struct scene *s, int64_t round)
{
    int preferred = 0;
    for (int32_t slot = 0; slot < SLOTS; slot++) {
        int before = 0, fewer = 0;
        for (int32_t other = 0; other < SLOTS; other++)
            fewer += missing(s, round, other) < missing(s, round, slot);
        const int count = prefers(s, UNIT_TRAIN_STEP, round, slot);
        assert_int_equal(count, fewer);
        for (int i = 0; i < count; i++) {
            struct unit unit;
            assert_ok(unit_parse(s->wanted[i], &unit, &s->fixture.err), &s->fixture.err);
            assert_int_equal(unit.kind, UNIT_TRAIN_STEP);
            assert_int_equal(unit.round, round);
            const int of_other = missing(s, round, unit.slot);
            assert_true(of_other < missing(s, round, slot) && of_other >= before);
            before = of_other;
        }
        preferred += count;
        assert_int_equal(prefers(s, UNIT_EVALUATE, round, slot), 0);
    }
    return preferred;
}

/* Opens one shard after another. The second epoch has the batches of the first in another order. */
static void a_batch_that_misses_fewer_shards_comes_first(void **state)
{
    (void)state;
    struct scene s;
    int preferred = 0;
    open_scene(&s, "sample.sampler=cluster_gcn", 2000);
    assert_false(feature_source_is_resident(s.source));
    for (int part = 0; part < PART_COUNT; part++) {
        for (int64_t round = 0; round < 2; round++)
            preferred += check_round(&s, round);
        want_row_of(&s, part);
    }
    assert_true(preferred > 0);
    for (int64_t round = 0; round < 2; round++) /* all shards are open, so nothing is preferred */
        assert_int_equal(check_round(&s, round), 0);
    close_scene(&s);
}

/* Rows that fit the budget are all in memory, and seeds of the whole graph have no parts. */
static void what_has_no_parts_or_all_of_them_prefers_nothing(void **state)
{
    (void)state;
    struct scene s;
    open_scene(&s, "sample.sampler=cluster_gcn", all_bytes * 2);
    assert_true(feature_source_is_resident(s.source));
    for (int part = 0; part < PART_COUNT; part++)
        assert_true(feature_source_holds(s.source, part));
    for (int32_t slot = 0; slot < SLOTS; slot++)
        assert_int_equal(prefers(&s, UNIT_TRAIN_STEP, 0, slot), 0);
    close_scene(&s);
    open_scene(&s, "sample.sampler=neighbor", 2000);
    want_row_of(&s, PART_COUNT - 1);
    for (int32_t slot = 0; slot < SLOTS; slot++)
        assert_int_equal(prefers(&s, UNIT_TRAIN_STEP, 0, slot), 0);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_that_misses_fewer_shards_comes_first),
        cmocka_unit_test(what_has_no_parts_or_all_of_them_prefers_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
