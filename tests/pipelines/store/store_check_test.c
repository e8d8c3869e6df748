/* Checks places that can hold a store, and some that cannot. */
#include "pipelines/store/store_check.h"
#include "store/backends/memory/memory_backend.h"
#include "store/objects/object_store.h"

#include "tests/support/seaweedfs_server.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdio.h>

struct answers {
    int good, bad;
    char first_bad[64], why[800];
};

static void note(void *context, bool good, const char *name, const char *value)
{
    struct answers *a = context;
    if (!good && !a->bad) {
        (void)snprintf(a->first_bad, sizeof a->first_bad, "%s", name);
        (void)snprintf(a->why, sizeof a->why, "%s", value);
    }
    a->good += good;
    a->bad += !good;
}

static enum error_code count(void *context, const char *key, bool is_artifact, struct error *err)
{
    (void)key, (void)is_artifact, (void)err;
    ++*(int *)context;
    return ERROR_NONE;
}

static void assert_sound(const char *uri)
{
    struct store *store = NULL;
    struct error err = {0};
    struct answers a = {.good = 0};
    int left = 0;
    assert_ok(store_open(uri, 0, &store, &err), &err);
    store_check(store, note, &a);
    if (a.bad)
        fail_msg("%s: %s: %s", uri, a.first_bad, a.why);
    assert_int_equal(a.good, 7);
    assert_ok(store_list(store, "", count, &left, &err), &err);
    assert_ok(store_switch_list(store, count, &left, &err), &err);
    assert_int_equal(left, 0);
    store_close(store);
}

static void each_backend_is_sound_and_left_as_it_was(void **state)
{
    const struct temp_dir *dir = *state;
    char uri[FILE_PATH_SIZE];
    struct error err = {0};
    assert_ok(file_path(uri, &err, "dir:%s/store", dir->path), &err);
    assert_sound(uri);
    assert_sound("memory:sound");
    memory_store_forget("sound");
    const char *endpoint = seaweedfs_endpoint();
    if (!endpoint)
        return;
    assert_ok(file_path(uri, &err, "s3://graphmill/%s?endpoint=%s", strrchr(dir->path, '/') + 1,
                        endpoint),
              &err);
    assert_sound(uri);
}

/* The next backends break one promise each. */

static enum error_code last_writer_wins(void *state, const char *key,
                                        const struct object_body *body,
                                        enum store_durability durability, bool *existed,
                                        struct error *err)
{
    const enum error_code rc = memory_backend.remove(state, key, err);
    return rc == ERROR_NONE
               ? memory_backend.put_if_absent(state, key, body, durability, existed, err)
               : rc;
}

static enum error_code removes_anything(void *state, const char *key,
                                        const struct stored_bytes *seen, struct error *err)
{
    (void)seen;
    return memory_backend.remove(state, key, err);
}

static enum error_code lists_nothing(void *state, const char *prefix, const char *after,
                                     store_visitor visit, void *context, struct error *err)
{
    (void)state, (void)prefix, (void)after, (void)visit, (void)context, (void)err;
    return ERROR_NONE;
}

static enum error_code always_matches(void *state, const char *name, const char *expected,
                                      const char *text, bool *matched, struct error *err)
{
    (void)expected;
    *matched = true;
    return memory_backend.ref_set(state, name, text, err);
}

/* A writer that puts a record over an existing one can read an intact record, so the put is refused
 * for its content; later readers get nothing. */
static _Thread_local bool may_see;

static enum error_code refuses(void *state, const char *key, const struct object_body *body,
                               enum store_durability durability, bool *existed, struct error *err)
{
    const enum error_code rc =
        memory_backend.put_if_absent(state, key, body, durability, existed, err);
    may_see = rc == ERROR_NONE && *existed;
    return rc;
}

static void loses_what_was_refused(void *state, struct object_get *get, size_t count)
{
    memory_backend.get_many(state, get, count);
    for (size_t i = 0; i < count; i++)
        if (strstr(get[i].key, "/race/") && !may_see && get[i].rc == ERROR_NONE) {
            stored_bytes_release(&get[i].bytes);
            get[i].rc = error_set(&get[i].err, ERROR_NOT_FOUND, "lost");
        }
    may_see = false;
}

static void assert_bad(const struct object_backend *backend, const char *name, const char *why)
{
    struct store *store = NULL;
    struct error err = {0};
    struct answers a = {.good = 0};
    assert_ok(store_open_on(backend, "bad", 0, &store, &err), &err);
    store_check(store, note, &a);
    store_close(store);
    memory_store_forget("bad");
    assert_int_equal(a.bad, 1);
    assert_string_equal(a.first_bad, name);
    assert_non_null(strstr(a.why, why));
}

static void a_promise_that_is_broken_is_named(void **state)
{
    (void)state;
    struct object_backend backend = memory_backend;
    backend.put_if_absent = last_writer_wins;
    assert_bad(&backend, "first writer", "cannot hold a store");
    backend = memory_backend;
    backend.delete_if_match = removes_anything;
    assert_bad(&backend, "conditional removal", "not the one that was seen");
    backend = memory_backend;
    backend.list = lists_nothing;
    assert_bad(&backend, "list after write", "found 0");
    backend = memory_backend;
    backend.ref_cas = always_matches;
    assert_bad(&backend, "switches", "step 2");
    backend = memory_backend;
    backend.put_if_absent = refuses;
    backend.get_many = loses_what_was_refused;
    assert_bad(&backend, "first writer", "cannot hold a store");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_backend_is_sound_and_left_as_it_was, temp_dir_setup,
                                        temp_dir_teardown),
        cmocka_unit_test(a_promise_that_is_broken_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
