#include "store/objects/keys.h"
#include "store/records/round/run_plan.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

static const struct run_plan some_plan = {.id = "karate-00000001",
                                          .partition_id = "karate-p4-89abcdef",
                                          .environment = "haswell openblas-0.3.21",
                                          .settings = "name = karate\nseed = 1\n",
                                          .first_version = 12,
                                          .origin = "karate-00000000"};

static void a_plan_comes_back_as_it_was(void **state)
{
    struct temp_store *p = *state;
    struct run_plan got;
    assert_ok(run_plan_put(p->store, &some_plan, &p->err), &p->err);
    assert_ok(run_plan_get(p->store, some_plan.id, &got, &p->err), &p->err);
    assert_string_equal(got.id, some_plan.id);
    assert_string_equal(got.partition_id, some_plan.partition_id);
    assert_string_equal(got.environment, some_plan.environment);
    assert_string_equal(got.settings, some_plan.settings);
    assert_int_equal(got.first_version, 12);
    assert_string_equal(got.origin, some_plan.origin);
}

static void another_plan_of_the_same_run_is_an_alarm(void **state)
{
    struct temp_store *p = *state;
    struct run_plan other = some_plan;
    other.settings[0] = 'x';
    assert_ok(run_plan_put(p->store, &some_plan, &p->err), &p->err);
    assert_ok(run_plan_put(p->store, &some_plan, &p->err), &p->err);
    assert_int_equal(run_plan_put(p->store, &other, &p->err), ERROR_CORRUPT);
}

static void an_unknown_run_is_not_found_and_a_bad_id_is_refused(void **state)
{
    struct temp_store *p = *state;
    char long_id[sizeof some_plan.id + 1] = {0};
    memset(long_id, 'x', sizeof some_plan.id);
    const char *const bad[] = {"", "../karate", "a/b", ".hidden", long_id};
    struct run_plan got;
    assert_fails(run_plan_get(p->store, "nobody", &got, &p->err), ERROR_NOT_FOUND,
                 "run/nobody/plan", &p->err);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(run_plan_get(p->store, bad[i], &got, &p->err), ERROR_INVALID,
                     "is no id of a run", &p->err);
}

static void a_plan_with_one_bad_section_is_corrupt(void **state)
{
    struct temp_store *p = *state;
    static char long_text[17000];
    static const int64_t none = 0, negative = -1, some[2] = {1, 2};
    memset(long_text, 'x', sizeof long_text);
    const struct {
        struct tamper change;
        const char *message;
    } bad[] = {
        {{"settings", ELEMENT_UNKNOWN, NULL, 0}, "settings"},
        {{"settings", ELEMENT_U8, "", 0}, "settings is empty"},
        {{"settings", ELEMENT_U8, long_text, sizeof long_text}, "settings"},
        {{"partition", ELEMENT_U8, "", 0}, "expected an id of [A-Za-z0-9._-], found ''"},
        {{"partition", ELEMENT_U8, "../x", 4},
         "\"partition\": expected an id of [A-Za-z0-9._-], found '../x'"},
        {{"partition", ELEMENT_U8, "a/b", 3}, "[A-Za-z0-9._-], found 'a/b'"},
        {{"partition", ELEMENT_U8, long_text, 80}, "partition"},
        {{"environment", ELEMENT_U8, long_text, 512}, "environment"},
        {{"first", ELEMENT_I64, &none, 1}, "version 0 of run 'karate-00000000'"},
        {{"first", ELEMENT_I64, &negative, 1}, "version -1 of run 'karate-00000000'"},
        {{"first", ELEMENT_I64, some, 2}, "first"},
        {{"origin", ELEMENT_U8, "", 0}, "version 12 of run ''"},
        {{"origin", ELEMENT_U8, "a/b", 3}, "version 12 of run 'a/b'"},
    };
    const struct key key = key_run(some_plan.id, "plan");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct run_plan got;
        assert_ok(run_plan_put(p->store, &some_plan, &p->err), &p->err);
        record_tamper(p->store, key.text, some_plan.id, &bad[i].change);
        assert_fails(run_plan_get(p->store, some_plan.id, &got, &p->err), ERROR_CORRUPT,
                     bad[i].message, &p->err);
        assert_string_equal(got.id, "");
        assert_string_equal(got.settings, "");
        assert_ok(store_remove(p->store, key.text, &p->err), &p->err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_plan_comes_back_as_it_was),
        test_with_store(another_plan_of_the_same_run_is_an_alarm),
        test_with_store(an_unknown_run_is_not_found_and_a_bad_id_is_refused),
        test_with_store(a_plan_with_one_bad_section_is_corrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
