/* Tests the contract of refs and notes on every backend. */
#include "common/base/memory.h"
#include "store/objects/object_store.h"

#include "tests/store/objects/contract_fixture.h"

#include <stdio.h>
#include <stdlib.h>

/* Exchanges the ref current/x; `is_expected` says whether it matches. */
static void exchange(struct fixture *f, const char *expected, const char *text, bool is_expected)
{
    bool matched = !is_expected;
    assert_ok(store_switch_exchange(f->store, "current/x", expected, text, &matched, &f->err),
              &f->err);
    assert_true(matched == is_expected);
}

static void expect_switch(struct fixture *f, const char *expected)
{
    char text[100];
    assert_ok(store_switch_get(f->store, "current/x", text, sizeof text, &f->err), &f->err);
    assert_string_equal(text, expected);
}

static void a_switch_is_exchanged_when_it_is_what_was_expected(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        bool matched = true;
        exchange(&f, "one", "two", false);
        exchange(&f, NULL, "one", true);
        exchange(&f, NULL, "two", false);
        exchange(&f, "on", "two", false);
        expect_switch(&f, "one");
        exchange(&f, "one", "two", true);
        expect_switch(&f, "two");
        assert_fails(store_switch_exchange(f.store, "current/x", "a\nb", "x", &matched, &f.err),
                     ERROR_INVALID, "one line", &f.err);
        assert_false(matched);
    }
}

static void a_switch_is_removed_when_it_is_what_was_expected(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        char text[100];
        assert_ok(store_switch_set(f.store, "current/x", "one", &f.err), &f.err);
        exchange(&f, "two", NULL, false);
        exchange(&f, "one", NULL, true);
        assert_fails(store_switch_get(f.store, "current/x", text, sizeof text, &f.err),
                     ERROR_NOT_FOUND, "current/x", &f.err);
    }
}

/* A process that expects no ref cannot read a damaged one either. */
static void a_damaged_switch_is_exchanged_as_one_that_is_not_set(void **state)
{
    static const char *const damaged[] = {"one v1:0000000000000000\n", "", "no checksum"};
    (void)state;
    FOR_EACH_BACKEND
    {
        for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
            void *place = NULL;
            const struct object_backend *backend = store_backend_of(f.store, &place);
            assert_ok(backend->ref_set(place, "current/x", damaged[i], &f.err), &f.err);
            exchange(&f, "one", "two", false);
            exchange(&f, NULL, "two", true);
            expect_switch(&f, "two");
        }
    }
}

/* The clocks of server and host may differ by a second. */
static void the_age_of_a_switch_and_of_a_record_is_told(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        int64_t seconds = -1;
        const char *text = "x";
        struct record record = {.kind = RECORD_STORE_IDENTITY, .version = 1};
        record_add_text(&record, "identity", text);
        assert_fails(store_switch_age(f.store, "current/x", &seconds, &f.err), ERROR_NOT_FOUND,
                     "current/x", &f.err);
        assert_fails(store_age(f.store, "dataset/x/schema", &seconds, &f.err), ERROR_NOT_FOUND,
                     "dataset/x/schema", &f.err);
        assert_ok(store_switch_set(f.store, "current/x", "one", &f.err), &f.err);
        assert_ok(store_put(f.store, "dataset/x/schema", "x", &record, STORE_DURABLE, &f.err),
                  &f.err);
        assert_ok(store_switch_age(f.store, "current/x", &seconds, &f.err), &f.err);
        assert_in_range(seconds, 0, 20);
        assert_ok(store_age(f.store, "dataset/x/schema", &seconds, &f.err), &f.err);
        assert_in_range(seconds, 0, 20);
    }
}

static void a_switch_holds_the_last_text(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        char text[4096], small[4], big[4098];
        memset(big, 'x', sizeof big - 1);
        big[sizeof big - 1] = '\0';
        assert_fails(store_switch_get(f.store, "current/run/x", text, sizeof text, &f.err),
                     ERROR_NOT_FOUND, "switch current/run/x", &f.err);
        assert_ok(store_switch_set(f.store, "current/run/x", "one", &f.err), &f.err);
        assert_ok(store_switch_set(f.store, "current/run/x", "three", &f.err), &f.err);
        assert_ok(store_switch_get(f.store, "current/run/x", text, sizeof text, &f.err), &f.err);
        assert_string_equal(text, "three");
        assert_fails(store_switch_get(f.store, "current/run/x", small, sizeof small, &f.err),
                     ERROR_CORRUPT, "at most 3 bytes, found 5", &f.err);
        assert_fails(store_switch_set(f.store, "current/run/x", big, &f.err), ERROR_INVALID,
                     "at most 4095 bytes, found 4097", &f.err);
        big[4095] = '\0';
        assert_ok(store_switch_set(f.store, "current/run/x", big, &f.err), &f.err);
        assert_ok(store_switch_get(f.store, "current/run/x", text, sizeof text, &f.err), &f.err);
        assert_string_equal(text, big);
        assert_ok(store_switch_set(f.store, "current/run/x", "", &f.err), &f.err);
        assert_ok(store_switch_get(f.store, "current/run/x", text, sizeof text, &f.err), &f.err);
        assert_string_equal(text, "");
        assert_fails(store_switch_set(f.store, "current/run/x", "a\nb", &f.err), ERROR_INVALID,
                     "one line", &f.err);
        assert_ok(store_switch_remove(f.store, "current/run/x", &f.err), &f.err);
        assert_ok(store_switch_remove(f.store, "current/run/x", &f.err), &f.err);
        assert_fails(store_switch_get(f.store, "current/run/x", text, sizeof text, &f.err),
                     ERROR_NOT_FOUND, "switch current/run/x", &f.err);
    }
}

static void a_note_is_written_over_and_listed_nowhere(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        char *text = NULL, path[FILE_PATH_SIZE];
        size_t size = 0;
        assert_fails(store_note_get(f.store, "x/log", &text, &size, &f.err), ERROR_NOT_FOUND,
                     "x/log", &f.err);
        assert_ok(store_note_put(f.store, "x/log", "one\n", 4, &f.err), &f.err);
        assert_ok(store_note_put(f.store, "x/log", "one\ntwo\n", 8, &f.err), &f.err);
        assert_ok(store_note_get(f.store, "x/log", &text, &size, &f.err), &f.err);
        assert_int_equal(size, 8);
        assert_string_equal(text, "one\ntwo\n");
        memory_free(text);
        assert_listed(f.store, "", "");
        assert_fails(store_note_put(f.store, "x//log", "a", 1, &f.err), ERROR_INVALID, "key",
                     &f.err);
        const bool has_paths = store_capabilities(f.store) & STORE_HAS_PATHS;
        const enum error_code rc = store_note_path(f.store, "x/log", path, &f.err);
        assert_int_equal(rc, has_paths ? ERROR_NONE : ERROR_INVALID);
        if (has_paths)
            assert_true(file_exists(path));
    }
}

static enum error_code join_keys(void *context, const char *key, bool is_artifact,
                                 struct error *err)
{
    char *all = context;
    (void)is_artifact, (void)err;
    (void)sprintf(all + strlen(all), "%s ", key); // NOLINT: the test has room for its keys
    return ERROR_NONE;
}

static void switches_are_listed(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        char keys[200] = "";
        assert_ok(store_switch_list(f.store, join_keys, keys, &f.err), &f.err);
        assert_string_equal(keys, "");
        assert_ok(store_switch_set(f.store, "run/a/current", "1", &f.err), &f.err);
        assert_ok(store_switch_set(f.store, "current/run/x", "a", &f.err), &f.err);
        assert_ok(store_switch_list(f.store, join_keys, keys, &f.err), &f.err);
        assert_string_equal(keys, "current/run/x run/a/current ");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_switch_is_exchanged_when_it_is_what_was_expected),
        cmocka_unit_test(a_switch_is_removed_when_it_is_what_was_expected),
        cmocka_unit_test(a_damaged_switch_is_exchanged_as_one_that_is_not_set),
        cmocka_unit_test(the_age_of_a_switch_and_of_a_record_is_told),
        cmocka_unit_test(a_switch_holds_the_last_text),
        cmocka_unit_test(switches_are_listed),
        cmocka_unit_test(a_note_is_written_over_and_listed_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
