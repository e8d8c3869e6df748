#include "store/backends/memory/memory_backend.h"
#include "store/objects/store.h"

#include "tests/support/store_faults.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void make_store(struct temp_dir *dir, struct store **store)
{
    struct error err = {0};
    temp_dir_make(dir);
    assert_ok(store_open(dir->path, 0, store, &err), &err);
}

static void the_identity_is_drawn_once_and_stays(void **state)
{
    (void)state;
    struct temp_dir dir;
    struct error err = {0};
    struct store *store = NULL, *again = NULL;
    char first[STORE_IDENTITY_SIZE], second[STORE_IDENTITY_SIZE];
    temp_dir_make(&dir);
    assert_ok(store_open(dir.path, 0, &store, &err), &err);
    assert_ok(store_open(dir.path, STORE_READ_ONLY, &again, &err), &err);
    assert_fails(store_identity(again, second, &err), ERROR_NOT_FOUND, "identity", &err);
    assert_ok(store_identity(store, first, &err), &err);
    assert_int_equal(strlen(first), 32);
    assert_int_equal(strspn(first, "0123456789abcdef"), 32);
    assert_ok(store_identity(again, second, &err), &err);
    assert_string_equal(first, second);
    assert_ok(store_identity_renew(store, second, &err), &err);
    assert_string_not_equal(first, second);
    assert_fails(store_identity_renew(again, second, &err), ERROR_INVALID, "reading only", &err);
    store_close(store);
    store_close(again);
    temp_dir_remove(&dir);
}

static void two_stores_differ(void **state)
{
    (void)state;
    struct temp_dir dir[2];
    struct error err = {0};
    char identity[2][STORE_IDENTITY_SIZE];
    for (int i = 0; i < 2; i++) {
        struct store *store = NULL;
        make_store(&dir[i], &store);
        assert_ok(store_identity(store, identity[i], &err), &err);
        store_close(store);
        temp_dir_remove(&dir[i]);
    }
    assert_string_not_equal(identity[0], identity[1]);
}

struct asker {
    const char *path;
    char identity[STORE_IDENTITY_SIZE];
};

static void *ask(void *argument)
{
    struct asker *asker = argument;
    struct store *store = NULL;
    must(store_open(asker->path, 0, &store, NULL) == ERROR_NONE);
    must(store_identity(store, asker->identity, NULL) == ERROR_NONE);
    store_close(store);
    return NULL;
}

static void all_who_ask_at_once_get_the_same(void **state)
{
    (void)state;
    enum { ASKERS = 8, TRIALS = 10 };
    for (int trial = 0; trial < TRIALS; trial++) {
        struct temp_dir dir;
        struct asker asker[ASKERS];
        pthread_t thread[ASKERS];
        temp_dir_make(&dir);
        for (int i = 0; i < ASKERS; i++) {
            asker[i].path = dir.path;
            assert_int_equal(pthread_create(&thread[i], NULL, ask, &asker[i]), 0);
        }
        for (int i = 0; i < ASKERS; i++)
            assert_int_equal(pthread_join(thread[i], NULL), 0);
        for (int i = 1; i < ASKERS; i++)
            assert_string_equal(asker[i].identity, asker[0].identity);
        temp_dir_remove(&dir);
    }
}

/* Tests that a damaged identity is replaced, because nothing can be found with it. */
static void a_damaged_identity_is_drawn_again(void **state)
{
    (void)state;
    struct temp_dir dir;
    struct error err = {0};
    struct store *store = NULL;
    char first[STORE_IDENTITY_SIZE], second[STORE_IDENTITY_SIZE];
    make_store(&dir, &store);
    assert_ok(store_identity(store, first, &err), &err);
    (void)temp_dir_write(&dir, "identity.record", "rubbish", 7);
    assert_ok(store_identity(store, second, &err), &err);
    assert_string_not_equal(first, second);
    assert_ok(store_identity(store, first, &err), &err);
    assert_string_equal(first, second);
    store_close(store);
    temp_dir_remove(&dir);
}

/* Tests a sound record whose text is not an identity: it is not ours, so it is reported and
 * kept. */
static void what_is_no_identity_is_told(void **state)
{
    (void)state;
    static const char *const texts[] = {"0123456789abcdef", "0123456789ABCDEF0123456789abcdef", ""};
    static char identity[STORE_IDENTITY_SIZE];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct temp_dir dir;
        struct error err = {0};
        struct store *store = NULL;
        struct record record = {.kind = RECORD_STORE_IDENTITY, .version = 1};
        make_store(&dir, &store);
        record_add_text(&record, "identity", texts[i]);
        assert_ok(store_put(store, "identity", "store", &record, STORE_DURABLE, &err), &err);
        assert_fails(store_identity(store, identity, &err), ERROR_CORRUPT,
                     "expected 32 hexadecimal digits", &err);
        assert_ok(store_identity_renew(store, identity, &err), &err);
        store_close(store);
        temp_dir_remove(&dir);
    }
}

static void whichever_store_call_fails_it_is_drawn_once_or_told(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++)
        for (long passed = 0, failed = 1; failed; passed++) {
            struct error err = {0};
            char first[STORE_IDENTITY_SIZE], second[STORE_IDENTITY_SIZE];
            struct store *store = store_faults_open(&memory_backend, "identity-faults");
            const struct store_fault_plan plan = {
                .passed = passed, .count = 1, .code = ERROR_IO, .after = after};
            store_faults_plan(&plan);
            const enum error_code rc = store_identity(store, first, &err);
            failed = store_faults_end();
            if (rc != ERROR_NONE)
                assert_failed(rc, ERROR_IO, "the identity of the store: planned failure", &err);
            assert_ok(store_identity(store, second, &err), &err);
            if (rc == ERROR_NONE)
                assert_string_equal(first, second);
            store_close(store);
            memory_store_forget("identity-faults");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_identity_is_drawn_once_and_stays),
        cmocka_unit_test(two_stores_differ),
        cmocka_unit_test(all_who_ask_at_once_get_the_same),
        cmocka_unit_test(a_damaged_identity_is_drawn_again),
        cmocka_unit_test(what_is_no_identity_is_told),
        cmocka_unit_test(whichever_store_call_fails_it_is_drawn_once_or_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
