#include "stages/plan/settings/relation_fanouts.h"

#include "tests/support/test.h"

#include <stdio.h>

static const struct relation relation[] = {
    {"writes", 0, 1}, {"cites", 1, 1}, {"a:b", 1, 0}, {"writes", 0, 2}};

static struct pipeline_settings settings_with(const char *text)
{
    struct pipeline_settings settings;
    pipeline_settings_defaults(&settings);
    settings.ingest.relations = true;
    (void)snprintf(settings.sample.relation_fanouts, sizeof settings.sample.relation_fanouts, "%s",
                   text);
    return settings;
}

static void relations_have_those_of_all_or_their_own(void **state)
{
    (void)state;
    static const int64_t all[] = {10, 10, 10, 10, 10, 10, 10, 10};
    static const int64_t own[] = {-1, 0, 10, 10, 3, 2, -1, 0};
    struct error err = {0};
    int64_t out[8];
    struct pipeline_settings settings = settings_with("");
    assert_ok(relation_fanouts_of(&settings, relation, 4, out, &err), &err);
    assert_memory_equal(out, all, sizeof all);
    settings = settings_with("a:b:3, 2 ; writes : -1,0");
    assert_ok(relation_fanouts_check(&settings, &err), &err);
    assert_ok(relation_fanouts_of(&settings, relation, 4, out, &err), &err);
    assert_memory_equal(out, own, sizeof own);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"writes", "found 'writes'"},
        {"writes: 5,x", "found 'writes: 5,x'"},
        {": 5,5", "found ': 5,5'"},
        {"writes: 5,-2", "found 'writes: 5,-2'"},
        {"cites: 1,1; writes: 5", "'writes: 5' has 1 fan-outs, expected 2 as sample.fanouts"},
        {"writes: 1,1;; cites: 1,1", "found ''"},
    };
    struct error err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct pipeline_settings settings = settings_with(bad[i].text);
        assert_fails(relation_fanouts_check(&settings, &err), ERROR_INVALID, bad[i].message, &err);
    }
    struct pipeline_settings settings = settings_with("writes: 1,1");
    settings.ingest.relations = false;
    assert_fails(relation_fanouts_check(&settings, &err), ERROR_INVALID,
                 "but ingest.relations is false: write `relations: true`", &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relations_have_those_of_all_or_their_own),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
