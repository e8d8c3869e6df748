/* Tests a store whatever its backend is: addresses, prefixes, replays, and a backend without
 * optional functions. */
#include "common/base/memory.h"
#include "store/objects/object_store.h"
#include "store/objects/store.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>

static enum error_code put_value(struct store *store, const char *key, enum record_kind kind,
                                 uint32_t version, uint32_t value, enum store_durability durability,
                                 struct error *err)
{
    struct record record = {.kind = kind, .version = version};
    record_add(&record, "value", ELEMENT_U32, &value, 1);
    return store_put(store, key, "owner", &record, durability, err);
}

static enum error_code put(struct store *store, const char *key, uint32_t value, struct error *err)
{
    return put_value(store, key, RECORD_GRADIENT, 1, value, STORE_RECOMPUTABLE, err);
}

/* --- a backend that does what the test sets --- */

static struct {
    int puts;
    enum error_code get;
} least;

static enum error_code open_least(const char *place, const struct object_options *options,
                                  void **state, struct error *err)
{
    (void)place;
    (void)options;
    (void)err;
    *state = &least;
    return ERROR_NONE;
}

static void close_least(void *state)
{
    (void)state;
}

static enum error_code put_least(void *state, const char *key, const struct object_body *body,
                                 enum store_durability durability, bool *existed, struct error *err)
{
    (void)state;
    (void)key;
    (void)body;
    (void)durability;
    (void)err;
    least.puts++;
    *existed = true;
    return ERROR_NONE;
}

static void get_least(void *state, struct object_get *get, size_t count)
{
    (void)state;
    for (size_t i = 0; i < count; i++)
        get[i].rc = error_set(&get[i].err, least.get, "record %s: as planned", get[i].key);
}

static const struct object_backend least_backend = {.scheme = "least",
                                                    .open = open_least,
                                                    .close = close_least,
                                                    .put_if_absent = put_least,
                                                    .get_many = get_least};

/* The record is there when it is put and gone when it is read, time after time. */
static void a_record_that_vanishes_each_time_is_told(void **state)
{
    (void)state;
    struct error err = {0};
    struct store *store = NULL;
    assert_ok(store_open_on(&least_backend, "", 0, &store, &err), &err);
    least.get = ERROR_NOT_FOUND;
    assert_fails(put(store, "run/a", 1, &err), ERROR_IO, "record run/a vanishes whenever it is put",
                 &err);
    assert_true(least.puts > 1);
    least.puts = 0;
    least.get = ERROR_UNAVAILABLE;
    assert_fails(put(store, "run/a", 1, &err), ERROR_UNAVAILABLE, "run/a: as planned", &err);
    assert_int_equal(least.puts, 1);
    store_start_writeback(store); /* both do nothing and cannot fail */
    store_preallocate(store);
    store_drop_cache(store, "run/a");
    store_close(store);
    store_close(NULL);
    assert_int_equal(memory_live_blocks(), 0);
}

static enum error_code count_key(void *context, const char *key, bool is_artifact,
                                 struct error *err)
{
    (void)key;
    (void)is_artifact;
    (void)err;
    (*(int *)context)++;
    return ERROR_NONE;
}

static void a_prefix_that_is_no_folder_of_keys_is_refused(void **state)
{
    struct temp_store *f = *state;
    static char large[300];
    int count = 0;
    memset(large, 'k', sizeof large - 1);
    assert_ok(put(f->store, "run/a", 1, &f->err), &f->err);
    assert_fails(store_list(f->store, large, count_key, &count, &f->err), ERROR_INVALID,
                 "is longer than a key", &f->err);
    assert_fails(store_list(f->store, "run//a", count_key, &count, &f->err), ERROR_INVALID,
                 "run//a", &f->err);
    assert_int_equal(count, 0);
    assert_ok(store_list(f->store, "run/", count_key, &count, &f->err), &f->err);
    assert_int_equal(count, 1);
    store_drop_cache(f->store, large); /* reports no error */
    store_drop_cache(f->store, "run/a");
}

static void the_same_values_of_another_kind_or_version_are_other_content(void **state)
{
    struct temp_store *f = *state;
    assert_ok(put_value(f->store, "run/a", RECORD_GRADIENT, 1, 5, STORE_DURABLE, &f->err), &f->err);
    assert_ok(put_value(f->store, "run/a", RECORD_GRADIENT, 1, 5, STORE_DURABLE, &f->err), &f->err);
    assert_fails(put_value(f->store, "run/a", RECORD_WEIGHTS, 1, 5, STORE_DURABLE, &f->err),
                 ERROR_CORRUPT, "alarm: record run/a was made again with other content", &f->err);
    assert_fails(put_value(f->store, "run/a", RECORD_GRADIENT, 2, 5, STORE_DURABLE, &f->err),
                 ERROR_CORRUPT, "now gradient v2", &f->err);
}

static void a_replay_changes_nothing_and_tells_what_it_cannot_read(void **state)
{
    struct temp_store *f = *state;
    struct store *replay = NULL;
    bool found = false;
    char text[8];
    assert_ok(put(f->store, "run/a", 1, &f->err), &f->err);
    assert_ok(put(f->store, "run/b", 1, &f->err), &f->err);
    assert_ok(store_switch_set(f->store, "s", "on", &f->err), &f->err);
    (void)temp_dir_write(&f->dir, "run/b.record", "damaged", 7);
    assert_ok(store_open(f->dir.path, STORE_REPLAY, &replay, &f->err), &f->err);
    assert_ok(put(replay, "run/a", 1, &f->err), &f->err);
    assert_fails(put(replay, "run/b", 1, &f->err), ERROR_CORRUPT, "run/b", &f->err);
    assert_ok(store_flush(replay, "run/none", &f->err), &f->err);
    assert_ok(store_remove(replay, "run/a", &f->err), &f->err);
    assert_ok(store_publish(replay, "/nowhere", "run/c", NULL, &f->err), &f->err);
    assert_ok(store_switch_set(replay, "s", "off", &f->err), &f->err);
    assert_ok(store_switch_remove(replay, "s", &f->err), &f->err);
    assert_ok(store_sweep(replay, &f->err), &f->err);
    store_start_writeback(replay);
    store_preallocate(replay);
    store_drop_cache(replay, "run/a");
    assert_int_equal(store_replay_report(replay).matched, 1);
    store_close(replay);
    assert_ok(store_has(f->store, "run/a", &found, &f->err), &f->err);
    assert_true(found);
    assert_ok(store_switch_get(f->store, "s", text, sizeof text, &f->err), &f->err);
    assert_string_equal(text, "on");
}

static void whoever_may_not_write_is_told_by_each_call(void **state)
{
    struct temp_store *f = *state;
    struct store *reader = NULL;
    char path[FILE_PATH_SIZE];
    assert_ok(store_open(f->dir.path, STORE_READ_ONLY, &reader, &f->err), &f->err);
    assert_fails(put(reader, "run/a", 1, &f->err), ERROR_INVALID, "reading only", &f->err);
    assert_fails(store_flush(reader, "run/a", &f->err), ERROR_INVALID, "reading only", &f->err);
    assert_fails(store_remove(reader, "run/a", &f->err), ERROR_INVALID, "reading only", &f->err);
    assert_fails(store_scratch(reader, path, &f->err), ERROR_INVALID, "reading only", &f->err);
    assert_fails(store_publish(reader, "/nowhere", "run/a", NULL, &f->err), ERROR_INVALID,
                 "reading only", &f->err);
    assert_fails(store_switch_set(reader, "s", "on", &f->err), ERROR_INVALID, "reading only",
                 &f->err);
    assert_fails(store_switch_remove(reader, "s", &f->err), ERROR_INVALID, "reading only", &f->err);
    assert_ok(store_sweep(reader, &f->err), &f->err);
    store_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_that_vanishes_each_time_is_told),
        test_with_store(a_prefix_that_is_no_folder_of_keys_is_refused),
        test_with_store(the_same_values_of_another_kind_or_version_are_other_content),
        test_with_store(a_replay_changes_nothing_and_tells_what_it_cannot_read),
        test_with_store(whoever_may_not_write_is_told_by_each_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
