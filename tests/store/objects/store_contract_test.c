/* Tests the contract of every backend, one suite over a table of backends. store_race_test.c tests
 * the contract between many processes and threads. */
#include "common/base/memory.h"
#include "store/objects/object_store.h"

#include "tests/store/objects/contract_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void a_record_is_read_as_it_was_put(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        struct record_view view;
        bool found = true;
        assert_ok(store_has(f.store, "run/x/weights/1", &found, &f.err), &f.err);
        assert_false(found);
        assert_fails(store_get(f.store, "run/x/weights/1", NULL, &view, &f.err), ERROR_NOT_FOUND,
                     "run/x/weights/1", &f.err);
        assert_ok(put_number(f.store, "run/x/weights/1", 7, STORE_RECOMPUTABLE, &f.err), &f.err);
        assert_ok(put_number(f.store, "run/x/weights", 8, STORE_DURABLE, &f.err), &f.err);
        assert_int_equal(get_number(f.store, "run/x/weights/1"), 7);
        assert_int_equal(get_number(f.store, "run/x/weights"), 8);
        assert_ok(store_has(f.store, "run/x/weights/1", &found, &f.err), &f.err);
        assert_true(found);
        assert_fails(store_get(f.store, "run/x/weights/1", "other", &view, &f.err), ERROR_CORRUPT,
                     "owner", &f.err);
    }
}

static void small_and_big_records_are_aligned_and_equal(void **state)
{
    (void)state;
    static const uint64_t counts[] = {0, 1, 15, 262000, 262144, 1000000};
    uint32_t *value = calloc(1000000, sizeof *value);
    assert_non_null(value);
    for (uint32_t i = 0; i < 1000000; i++)
        value[i] = i * 2654435761U;
    FOR_EACH_BACKEND
    {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            char key[32];
            struct record_view view;
            const void *data = NULL;
            (void)snprintf(key, sizeof key, "run/big/%zu", i);
            const struct record record = number_record(value, counts[i]);
            assert_ok(store_put(f.store, key, "owner", &record, STORE_RECOMPUTABLE, &f.err),
                      &f.err);
            const long blocks = memory_live_blocks();
            assert_ok(store_get(f.store, key, "owner", &view, &f.err), &f.err);
            /* how it is read is up to the backend, but on a local disk large files are mapped */
            if (store_capabilities(f.store) & STORE_IS_LOCAL)
                assert_int_equal(view.mapped, view.size >= 1 << 20);
            assert_int_equal((uintptr_t)view.data % 64, 0);
            assert_ok(record_section_get(&view, "value", ELEMENT_U32, (int64_t)counts[i], &data,
                                         NULL, &f.err),
                      &f.err);
            assert_memory_equal(data, value, counts[i] * sizeof *value);
            store_release_record(&view);
            store_release_record(&view);
            assert_int_equal(memory_live_blocks(), blocks);
        }
    }
    free(value);
}

/* A worker prepares, sends and drops between records. Sizes grow and shrink, so that spare files
 * are truncated. */
static void records_are_whole_whatever_was_prepared_or_let_go(void **state)
{
    (void)state;
    enum { RECORDS = 40, WORDS = 300000 };
    static uint32_t value[WORDS];
    FOR_EACH_BACKEND
    {
        for (uint32_t i = 0; i < RECORDS; i++) {
            const uint64_t count = WORDS - i * 7919 % 140000;
            char key[32];
            struct record_view view;
            for (uint32_t k = 0; k < count; k++)
                value[k] = i * 2654435761U ^ k;
            const struct record record = number_record(value, count);
            (void)snprintf(key, sizeof key, "big/%u", i);
            assert_ok(store_put(f.store, key, "owner", &record, STORE_RECOMPUTABLE, &f.err),
                      &f.err);
            store_start_writeback(f.store);
            store_preallocate(f.store);
            store_drop_cache(f.store, key);
            const void *data = NULL;
            assert_ok(store_get(f.store, key, "owner", &view, &f.err), &f.err);
            assert_ok(record_section_get(&view, "value", ELEMENT_U32, (int64_t)count, &data, NULL,
                                         &f.err),
                      &f.err);
            assert_memory_equal(data, value, count * sizeof *value);
            store_release_record(&view);
        }
    }
}

static void the_first_record_wins_and_an_equal_one_is_success(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        for (int durability = STORE_RECOMPUTABLE; durability <= STORE_DURABLE; durability++) {
            char key[32];
            (void)snprintf(key, sizeof key, "run/x/snapshot/%d", durability);
            assert_ok(put_number(f.store, key, 7, (enum store_durability)durability, &f.err),
                      &f.err);
            record_environment_set("another machine");
            assert_ok(put_number(f.store, key, 7, (enum store_durability)durability, &f.err),
                      &f.err);
            assert_fails(put_number(f.store, key, 8, (enum store_durability)durability, &f.err),
                         ERROR_CORRUPT, "alarm", &f.err);
            assert_non_null(strstr(f.err.message, key));
            assert_non_null(strstr(f.err.message, "another machine"));
            record_environment_set("");
            assert_int_equal(get_number(f.store, key), 7);
        }
    }
}

static void a_damaged_record_makes_way_only_when_it_can_be_made_again(void **state)
{
    (void)state;
    static const char *const damaged[] = {"", "GRPHMILL", "neither"};
    FOR_EACH_BACKEND
    {
        for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
            struct record_view view;
            assert_ok(put_number(f.store, "run/x/weights/1", 7, STORE_RECOMPUTABLE, &f.err),
                      &f.err);
            f.backend->damage(&f, "run/x/weights/1", damaged[i], strlen(damaged[i]));
            assert_fails(store_get(f.store, "run/x/weights/1", NULL, &view, &f.err), ERROR_CORRUPT,
                         "run/x/weights/1: offset", &f.err);
            assert_fails(put_number(f.store, "run/x/weights/1", 7, STORE_DURABLE, &f.err),
                         ERROR_CORRUPT, "run/x/weights/1: offset", &f.err);
            assert_ok(put_number(f.store, "run/x/weights/1", 7, STORE_RECOMPUTABLE, &f.err),
                      &f.err);
            assert_int_equal(get_number(f.store, "run/x/weights/1"), 7);
        }
        struct store *again = NULL;
        assert_ok(open_again(&f, STORE_READ_ONLY, &again, &f.err), &f.err);
        assert_int_equal(get_number(again, "run/x/weights/1"), 7);
        store_close(again);
    }
}

static void many_are_read_at_once_each_with_its_own_code(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        void *inner = NULL;
        const struct object_backend *backend = store_backend_of(f.store, &inner);
        struct object_get get[3] = {{.key = "run/x/round/1/gradient"},
                                    {.key = "run/x/weights/3"},
                                    {.key = "run/x/weights/2"}};
        assert_ok(put_number(f.store, "run/x/round/1/gradient", 1, STORE_RECOMPUTABLE, &f.err),
                  &f.err);
        assert_ok(put_number(f.store, "run/x/weights/2", 2, STORE_RECOMPUTABLE, &f.err), &f.err);
        backend->get_many(inner, get, 3);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(get[i].rc, i == 1 ? ERROR_NOT_FOUND : ERROR_NONE);
            assert_int_equal(get[i].bytes.size > 0, i != 1);
            stored_bytes_release(&get[i].bytes);
        }
    }
}

static void keys_that_are_no_keys_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",     "/a",    "a/",    "a//b",     "a/../b", "a/.b",
                                      "a b",  "a:b",   "tmp/x", "switch/x", "tmp",    "logs/x",
                                      "a\\b", "\xc3x", "a\n",   "."};
    FOR_EACH_BACKEND
    {
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            char text[8], path[FILE_PATH_SIZE];
            struct record_view view;
            bool found = false;
            assert_fails(put_number(f.store, bad[i], 1, STORE_RECOMPUTABLE, &f.err), ERROR_INVALID,
                         "key", &f.err);
            assert_fails(store_get(f.store, bad[i], NULL, &view, &f.err), ERROR_INVALID, "key",
                         &f.err);
            assert_fails(store_has(f.store, bad[i], &found, &f.err), ERROR_INVALID, "key", &f.err);
            assert_fails(store_remove(f.store, bad[i], &f.err), ERROR_INVALID, "key", &f.err);
            assert_fails(store_artifact(f.store, bad[i], path, &f.err), ERROR_INVALID, "key",
                         &f.err);
            assert_fails(store_publish(f.store, f.dir.path, bad[i], NULL, &f.err), ERROR_INVALID,
                         "key", &f.err);
            assert_fails(store_switch_set(f.store, bad[i], "x", &f.err), ERROR_INVALID, "key",
                         &f.err);
            assert_fails(store_switch_get(f.store, bad[i], text, sizeof text, &f.err),
                         ERROR_INVALID, "key", &f.err);
        }
        /* A folder has files of that name, so it refuses such a key; other backends may accept
         * it. */
        const enum error_code of_folder =
            store_capabilities(f.store) & STORE_HAS_PATHS ? ERROR_INVALID : ERROR_NONE;
        assert_int_equal(put_number(f.store, "a.record", 1, STORE_RECOMPUTABLE, &f.err), of_folder);
        assert_int_equal(put_number(f.store, "b.record/b", 1, STORE_RECOMPUTABLE, &f.err),
                         of_folder);
        char longest[201];
        memset(longest, 'k', sizeof longest - 1);
        longest[200] = '\0';
        assert_fails(put_number(f.store, longest, 1, STORE_RECOMPUTABLE, &f.err), ERROR_INVALID,
                     "at most 199 bytes, found 200", &f.err);
        longest[199] = '\0';
        assert_ok(put_number(f.store, longest, 1, STORE_RECOMPUTABLE, &f.err), &f.err);
        assert_int_equal(get_number(f.store, longest), 1);
    }
}

static void a_store_for_reading_changes_nothing(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        struct store *reader = NULL;
        char path[FILE_PATH_SIZE];
        assert_ok(put_number(f.store, "run/a", 1, STORE_RECOMPUTABLE, &f.err), &f.err);
        assert_ok(open_again(&f, STORE_READ_ONLY, &reader, &f.err), &f.err);
        assert_int_equal(get_number(reader, "run/a"), 1);
        assert_fails(put_number(reader, "run/b", 1, STORE_RECOMPUTABLE, &f.err), ERROR_INVALID,
                     "reading only", &f.err);
        assert_fails(store_remove(reader, "run/a", &f.err), ERROR_INVALID, "reading only", &f.err);
        assert_fails(store_switch_set(reader, "run/a", "x", &f.err), ERROR_INVALID, "reading only",
                     &f.err);
        assert_fails(store_scratch(reader, path, &f.err), ERROR_INVALID, "reading only", &f.err);
        assert_fails(store_publish(reader, f.dir.path, "run/c", NULL, &f.err), ERROR_INVALID,
                     "reading only", &f.err);
        store_close(reader);
        assert_listed(f.store, "", "run/a ");
    }
}

static void a_replay_compares_and_changes_nothing(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        struct store *replay = NULL;
        bool found = true;
        char text[8];
        assert_ok(put_number(f.store, "run/a", 1, STORE_RECOMPUTABLE, &f.err), &f.err);
        assert_ok(put_number(f.store, "run/b", 2, STORE_RECOMPUTABLE, &f.err), &f.err);
        assert_ok(store_switch_set(f.store, "run/s", "on", &f.err), &f.err);
        assert_ok(open_again(&f, STORE_REPLAY, &replay, &f.err), &f.err);
        assert_ok(put_number(replay, "run/a", 1, STORE_RECOMPUTABLE, &f.err), &f.err);
        assert_ok(put_number(replay, "run/b", 2, STORE_DURABLE, &f.err), &f.err);
        assert_ok(put_number(replay, "run/b", 3, STORE_DURABLE, &f.err), &f.err);
        assert_ok(put_number(replay, "run/a", 3, STORE_DURABLE, &f.err), &f.err);
        assert_ok(put_number(replay, "run/c", 3, STORE_DURABLE, &f.err), &f.err);
        assert_ok(store_switch_set(replay, "run/s", "off", &f.err), &f.err);
        assert_ok(store_remove(replay, "run/a", &f.err), &f.err);
        assert_ok(publish_file(replay, "run/file", "x", NULL, &f.err), &f.err);
        const struct store_replay report = store_replay_report(replay);
        store_close(replay);
        assert_int_equal(report.matched, 2);
        assert_int_equal(report.differed, 2);
        assert_int_equal(report.absent, 1);
        assert_string_equal(report.first_difference, "run/b");
        assert_string_equal(report.first_absent, "run/c");
        assert_ok(store_has(f.store, "run/c", &found, &f.err), &f.err);
        assert_false(found);
        assert_ok(store_switch_get(f.store, "run/s", text, sizeof text, &f.err), &f.err);
        assert_string_equal(text, "on");
        assert_listed(f.store, "", "run/a run/b ");
        assert_int_equal(get_number(f.store, "run/b"), 2);
    }
}

static void a_place_that_is_no_store_is_refused(void **state)
{
    (void)state;
    struct temp_dir dir;
    struct error err = {0};
    struct store *store = NULL;
    char missing[FILE_PATH_SIZE];
    temp_dir_make(&dir);
    static const char *const schemes[] = {"ftp:/x", "gs://bucket/x", "S3:x", "a+b.c-9:x"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        assert_fails(store_open(schemes[i], 0, &store, &err), ERROR_INVALID,
                     "of two of them, found the scheme '", &err);
        assert_false(file_exists(schemes[i]));
    }
    assert_fails(store_open("", 0, &store, &err), ERROR_INVALID, "empty", &err);
    assert_fails(store_open("dir:", 0, &store, &err), ERROR_INVALID, "no place", &err);
    assert_fails(store_open("memory:none", STORE_MUST_EXIST, &store, &err), ERROR_NOT_FOUND,
                 "memory:none", &err);
    assert_ok(file_path(missing, &err, "dir:%s/missing", dir.path), &err);
    assert_fails(store_open(missing, STORE_READ_ONLY, &store, &err), ERROR_NOT_FOUND, "missing",
                 &err);
    assert_fails(store_open(missing, STORE_REPLAY, &store, &err), ERROR_NOT_FOUND, "missing", &err);
    assert_fails(store_open(missing, STORE_MUST_EXIST, &store, &err), ERROR_NOT_FOUND,
                 "there is no store at", &err);
    assert_false(file_exists(missing + strlen("dir:")));
    const char *file = temp_dir_write(&dir, "file", "x", 1);
    assert_fails(store_open(file, STORE_READ_ONLY, &store, &err), ERROR_INVALID, "not a folder",
                 &err);
    static const char *const halves[] = {"tiered:dir:/x", "tiered:^dir:/x", "tiered:dir:/x^"};
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        assert_fails(store_open(halves[i], 0, &store, &err), ERROR_INVALID, "expected two stores",
                     &err);
    assert_fails(store_open("tiered:dir:/x^tiered:dir:/y^dir:/z", 0, &store, &err), ERROR_INVALID,
                 "not tiered itself", &err);
    assert_null(store);
    temp_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_read_as_it_was_put),
        cmocka_unit_test(small_and_big_records_are_aligned_and_equal),
        cmocka_unit_test(records_are_whole_whatever_was_prepared_or_let_go),
        cmocka_unit_test(the_first_record_wins_and_an_equal_one_is_success),
        cmocka_unit_test(a_damaged_record_makes_way_only_when_it_can_be_made_again),
        cmocka_unit_test(many_are_read_at_once_each_with_its_own_code),
        cmocka_unit_test(keys_that_are_no_keys_are_refused),
        cmocka_unit_test(a_store_for_reading_changes_nothing),
        cmocka_unit_test(a_replay_compares_and_changes_nothing),
        cmocka_unit_test(a_place_that_is_no_store_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
