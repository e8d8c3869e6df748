/* What every backend of the store promises; one suite over a table of backends. */
#include "common/base/memory.h"
#include "store/store.h"

#include "tests/support/memory_store.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct fixture;

struct backend_case {
    const char *scheme;                  /* of the address, for store_open() */
    const struct store_backend *backend; /* or a backend for store_open_on() */
    /* Puts `size` bytes where the record lies, as a crash or a bad disk would. */
    void (*damage)(const struct fixture *f, const char *key, const void *bytes, size_t size);
};

static void damage_directory(const struct fixture *f, const char *key, const void *bytes,
                             size_t size);

static void damage_memory(const struct fixture *f, const char *key, const void *bytes, size_t size);

static const struct backend_case cases[] = {{"dir:", NULL, damage_directory},
                                            {"", NULL, damage_directory},
                                            {"", &memory_backend, damage_memory}};

struct fixture {
    const struct backend_case *backend;
    struct temp_dir dir;
    char uri[FILE_PATH_SIZE];
    struct store *store;
    struct error err;
};

static enum error_code open_again(const struct fixture *f, unsigned flags, struct store **out,
                                  struct error *err)
{
    return f->backend->backend ? store_open_on(f->backend->backend, f->uri, flags, out, err)
                               : store_open(f->uri, flags, out, err);
}

static struct fixture open_fixture(const struct backend_case *backend)
{
    struct fixture f = {.backend = backend};
    temp_dir_make(&f.dir);
    assert_ok(file_path(f.uri, &f.err, "%s%s/store", backend->scheme, f.dir.path), &f.err);
    assert_ok(open_again(&f, 0, &f.store, &f.err), &f.err);
    return f;
}

static void close_fixture(struct fixture *f)
{
    store_close(f->store);
    memory_store_forget(f->uri);
    temp_dir_remove(&f->dir);
}

/* Runs what follows with a fixture `f` on each backend. */
#define FOR_EACH_BACKEND                                                                           \
    for (size_t case_index = 0; case_index < sizeof cases / sizeof *cases; case_index++)           \
        for (struct fixture f = open_fixture(&cases[case_index]); f.store;                         \
             close_fixture(&f), f.store = NULL)

static struct record number_record(const uint32_t *value, uint64_t count)
{
    struct record record = {.kind = RECORD_GRADIENT, .version = 1};
    record_add(&record, "value", ELEMENT_U32, value, count);
    return record;
}

static enum error_code put_number(struct store *store, const char *key, uint32_t value,
                                  enum store_durability durability, struct error *err)
{
    const struct record record = number_record(&value, 1);
    return store_put(store, key, "owner", &record, durability, err);
}

static uint32_t get_number(struct store *store, const char *key)
{
    struct error err = {0};
    struct record_view view;
    const void *data = NULL;
    assert_ok(store_get(store, key, "owner", &view, &err), &err);
    assert_ok(record_section_get(&view, "value", ELEMENT_U32, 1, &data, NULL, &err), &err);
    const uint32_t value = *(const uint32_t *)data;
    store_release_record(&view);
    return value;
}

static void damage_directory(const struct fixture *f, const char *key, const void *bytes,
                             size_t size)
{
    char name[FILE_PATH_SIZE];
    struct error err = {0};
    assert_ok(file_path(name, &err, "store/%s.record", key), &err);
    (void)temp_dir_write(&f->dir, name, bytes, size);
}

static void damage_memory(const struct fixture *f, const char *key, const void *bytes, size_t size)
{
    memory_store_damage(f->uri, key, bytes, size);
}

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
            if (store_root(
                    f.store)) /* how is the backend's own affair, but big files are not copied */
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

/* A worker prepares, sends and lets go between records; sizes go up and down, so that what was prepared is
 * cut. */
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
            store_send(f.store);
            store_prepare(f.store);
            store_let_go(f.store, key);
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
            (void)snprintf(key, sizeof key, "run/x/%d", durability);
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
            assert_ok(put_number(f.store, "run/x/a", 7, STORE_RECOMPUTABLE, &f.err), &f.err);
            f.backend->damage(&f, "run/x/a", damaged[i], strlen(damaged[i]));
            assert_fails(store_get(f.store, "run/x/a", NULL, &view, &f.err), ERROR_CORRUPT,
                         "run/x/a: offset", &f.err);
            assert_fails(put_number(f.store, "run/x/a", 7, STORE_DURABLE, &f.err), ERROR_CORRUPT,
                         "run/x/a: offset", &f.err);
            assert_ok(put_number(f.store, "run/x/a", 7, STORE_RECOMPUTABLE, &f.err), &f.err);
            assert_int_equal(get_number(f.store, "run/x/a"), 7);
        }
        struct store *again = NULL;
        assert_ok(open_again(&f, STORE_READ_ONLY, &again, &f.err), &f.err);
        assert_int_equal(get_number(again, "run/x/a"), 7);
        store_close(again);
    }
}

struct keys {
    char text[2048];
};

static enum error_code collect(void *context, const char *key, bool is_artifact, struct error *err)
{
    struct keys *keys = context;
    const size_t size = strlen(keys->text);
    (void)err;
    (void)snprintf(keys->text + size, sizeof keys->text - size, "%s%s ", key,
                   is_artifact ? "*" : "");
    return ERROR_NONE;
}

static void assert_listed(struct store *store, const char *prefix, const char *expected)
{
    struct error err = {0};
    struct keys keys = {.text = ""};
    assert_ok(store_list(store, prefix, collect, &keys, &err), &err);
    assert_string_equal(keys.text, expected);
}

static enum error_code publish_file(struct store *store, const char *key, const char *text,
                                    struct error *err)
{
    char scratch[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    enum error_code rc = store_scratch(store, scratch, err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/file", scratch);
    if (rc == ERROR_NONE)
        rc = file_replace(path, text, strlen(text), false, err);
    return rc == ERROR_NONE ? store_publish(store, path, key, err) : rc;
}

static enum error_code publish_folder(struct store *store, const char *key, const char *text,
                                      struct error *err)
{
    char scratch[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    enum error_code rc = store_scratch(store, scratch, err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/one", scratch);
    if (rc == ERROR_NONE)
        rc = file_replace(path, text, strlen(text), false, err);
    return rc == ERROR_NONE ? store_publish(store, scratch, key, err) : rc;
}

static void keys_are_listed_in_the_order_of_their_bytes(void **state)
{
    (void)state;
    static const char *const keys[] = {"run/a/b", "run/a", "run/a-b", "run/a.b", "run/a/b/c",
                                       "run/0",   "s",     "run/aa",  "run_/x"};
    FOR_EACH_BACKEND
    {
        assert_listed(f.store, "", "");
        assert_listed(f.store, "run", "");
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            assert_ok(put_number(f.store, keys[i], 1, STORE_RECOMPUTABLE, &f.err), &f.err);
        assert_ok(publish_file(f.store, "run/a/file", "f", &f.err), &f.err);
        assert_ok(publish_folder(f.store, "run/a/folder", "f", &f.err), &f.err);
        assert_ok(store_switch_set(f.store, "run/switch", "on", &f.err), &f.err);
        char scratch[FILE_PATH_SIZE];
        assert_ok(store_scratch(f.store, scratch, &f.err), &f.err);
        assert_listed(f.store, "",
                      "run/0 run/a run/a-b run/a.b run/a/b run/a/b/c run/a/file* run/a/folder* "
                      "run/aa run_/x s ");
        assert_listed(f.store, "run/a", "run/a/b run/a/b/c run/a/file* run/a/folder* ");
        assert_listed(f.store, "run/a/", "run/a/b run/a/b/c run/a/file* run/a/folder* ");
        assert_listed(f.store, "run/a/folder", "");
        assert_listed(f.store, "nothing", "");
    }
}

static void removing_takes_records_artifacts_and_empty_folders(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        bool found = true;
        assert_ok(put_number(f.store, "run/x/round/1/a", 1, STORE_RECOMPUTABLE, &f.err), &f.err);
        assert_ok(publish_folder(f.store, "run/x/round/1/b", "f", &f.err), &f.err);
        assert_ok(publish_file(f.store, "run/x/round/1/c", "f", &f.err), &f.err);
        assert_ok(store_remove(f.store, "run/x/round/1/a", &f.err), &f.err);
        assert_ok(store_remove(f.store, "run/x/round/1/a", &f.err), &f.err);
        assert_listed(f.store, "run", "run/x/round/1/b* run/x/round/1/c* ");
        assert_ok(store_remove(f.store, "run/x/round/1/b", &f.err), &f.err);
        assert_ok(store_remove(f.store, "run/x/round/1/c", &f.err), &f.err);
        assert_listed(f.store, "", "");
        assert_ok(store_has(f.store, "run/x/round/1/b", &found, &f.err), &f.err);
        assert_false(found);
        if (store_root(f.store)) {
            char path[FILE_PATH_SIZE];
            assert_ok(file_path(path, &f.err, "%s/run", store_root(f.store)), &f.err);
            assert_false(file_exists(path));
        }
        assert_ok(put_number(f.store, "run/x/round/1/a", 2, STORE_RECOMPUTABLE, &f.err), &f.err);
        assert_int_equal(get_number(f.store, "run/x/round/1/a"), 2);
    }
}

static void the_first_artifact_stays(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        char path[FILE_PATH_SIZE], inside[FILE_PATH_SIZE];
        char *text = NULL;
        size_t size = 0;
        bool found = false;
        assert_fails(store_artifact(f.store, "p/file", path, &f.err), ERROR_NOT_FOUND, "p/file",
                     &f.err);
        assert_ok(publish_file(f.store, "p/file", "first", &f.err), &f.err);
        assert_ok(publish_file(f.store, "p/file", "second", &f.err), &f.err);
        assert_ok(store_artifact(f.store, "p/file", path, &f.err), &f.err);
        assert_ok(file_read(path, 0, &text, &size, &f.err), &f.err);
        assert_string_equal(text, "first");
        memory_free(text);
        assert_ok(publish_folder(f.store, "p/folder", "first", &f.err), &f.err);
        assert_ok(publish_folder(f.store, "p/folder", "second", &f.err), &f.err);
        assert_ok(store_artifact(f.store, "p/folder", path, &f.err), &f.err);
        assert_ok(file_path(inside, &f.err, "%s/one", path), &f.err);
        assert_ok(file_read(inside, 0, &text, &size, &f.err), &f.err);
        assert_string_equal(text, "first");
        memory_free(text);
        assert_ok(store_has(f.store, "p/folder", &found, &f.err), &f.err);
        assert_true(found);
        assert_ok(store_has(f.store, "p", &found, &f.err), &f.err);
        assert_false(found);
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

static void keys_that_are_no_keys_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",      "/a",  "a/",       "a//b",       "a/../b", "a/.b",
                                      "a b",   "a:b", "tmp/x",    "switch/x",   "tmp",    "a\\b",
                                      "\xc3x", "a\n", "a.record", "a.record/b", "."};
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
            assert_fails(store_publish(f.store, f.dir.path, bad[i], &f.err), ERROR_INVALID, "key",
                         &f.err);
            assert_fails(store_switch_set(f.store, bad[i], "x", &f.err), ERROR_INVALID, "key",
                         &f.err);
            assert_fails(store_switch_get(f.store, bad[i], text, sizeof text, &f.err),
                         ERROR_INVALID, "key", &f.err);
        }
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
        assert_fails(store_publish(reader, f.dir.path, "run/c", &f.err), ERROR_INVALID,
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
        assert_ok(publish_file(replay, "run/file", "x", &f.err), &f.err);
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
    static const char *const schemes[] = {"ftp:/x", "s3://bucket/x", "S3:x", "a+b.c-9:x",
                                          "memory:x"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        assert_fails(store_open(schemes[i], 0, &store, &err), ERROR_INVALID,
                     "stores are dir:PATH or a path, found the scheme '", &err);
        assert_false(file_exists(schemes[i]));
    }
    assert_fails(store_open("", 0, &store, &err), ERROR_INVALID, "empty", &err);
    assert_fails(store_open("dir:", 0, &store, &err), ERROR_INVALID, "no place", &err);
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
    assert_null(store);
    temp_dir_remove(&dir);
}

/* --- many at once --- */

enum { WRITER_COUNT = 4, RACE_COUNT = 50 };

struct writer {
    struct store *store;
    const char *name;
    uint32_t value; /* added to the race's number */
    int won, alarmed, failed;
};

static void *write_races(void *context)
{
    struct writer *writer = context;
    for (uint32_t i = 0; i < RACE_COUNT; i++) {
        char key[48];
        struct error err = {0};
        (void)snprintf(key, sizeof key, "run/%s/%u/a", writer->name ? writer->name : "race", i);
        const enum error_code rc =
            put_number(writer->store, key, i + writer->value, STORE_RECOMPUTABLE, &err);
        writer->won += rc == ERROR_NONE;
        writer->alarmed += rc == ERROR_CORRUPT && strstr(err.message, "alarm") != NULL;
        writer->failed += rc != ERROR_NONE && rc != ERROR_CORRUPT;
    }
    return NULL;
}

static void run_writers(struct store *store, struct writer writer[WRITER_COUNT], uint32_t step)
{
    pthread_t thread[WRITER_COUNT];
    for (uint32_t i = 0; i < WRITER_COUNT; i++) {
        writer[i] = (struct writer){.store = store, .value = i * step};
        assert_int_equal(pthread_create(&thread[i], NULL, write_races, &writer[i]), 0);
    }
    for (int i = 0; i < WRITER_COUNT; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
}

static void threads_that_put_equal_records_all_succeed(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        struct writer writer[WRITER_COUNT];
        run_writers(f.store, writer, 0);
        for (int i = 0; i < WRITER_COUNT; i++)
            assert_int_equal(writer[i].won, RACE_COUNT);
    }
}

static void threads_that_put_different_records_raise_the_alarm(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        struct writer writer[WRITER_COUNT];
        int won = 0, alarmed = 0;
        run_writers(f.store, writer, 1000);
        for (int i = 0; i < WRITER_COUNT; i++) {
            won += writer[i].won;
            alarmed += writer[i].alarmed;
            assert_int_equal(writer[i].failed, 0);
        }
        assert_int_equal(won, RACE_COUNT);
        assert_int_equal(alarmed, RACE_COUNT * (WRITER_COUNT - 1));
    }
}

/* Damage under the final name, met by several writers at once: one content wins, whole. */
static void threads_mend_a_damaged_record_once(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        struct writer writer[WRITER_COUNT];
        for (uint32_t i = 0; i < RACE_COUNT; i++) {
            char key[32];
            (void)snprintf(key, sizeof key, "run/race/%u/a", i);
            assert_ok(put_number(f.store, key, i, STORE_RECOMPUTABLE, &f.err), &f.err);
            f.backend->damage(&f, key, "torn", 4);
        }
        run_writers(f.store, writer, 0);
        for (int i = 0; i < WRITER_COUNT; i++)
            assert_int_equal(writer[i].won, RACE_COUNT);
        for (uint32_t i = 0; i < RACE_COUNT; i++) {
            char key[32];
            (void)snprintf(key, sizeof key, "run/race/%u/a", i);
            assert_int_equal(get_number(f.store, key), i);
        }
    }
}

/* In a child; *writer is shared with the parent. */
static int write_in_child(const struct fixture *f, struct writer *writer)
{
    struct error err = {0};
    if (open_again(f, 0, &writer->store, &err) != ERROR_NONE)
        return 1;
    (void)write_races(writer);
    store_close(writer->store);
    return 0;
}

static void race_in_processes(const struct fixture *f, struct writer *writer, uint32_t step,
                              const char *name)
{
    enum { CHILD_COUNT = 2 };
    pid_t child[CHILD_COUNT];
    for (uint32_t i = 0; i < CHILD_COUNT; i++) {
        writer[i] = (struct writer){.name = name, .value = i * step};
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0)
            _exit(write_in_child(f, &writer[i]));
    }
    for (int i = 0; i < CHILD_COUNT; i++) {
        int status = -1;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
        assert_int_equal(writer[i].failed, 0);
        assert_int_equal(writer[i].won + writer[i].alarmed, RACE_COUNT);
    }
}

/* Equal records: both succeed each time. Different ones: one wins each time, and the other is told. */
static void processes_race_as_threads_do(void **state)
{
    (void)state;
    struct writer *writer =
        mmap(NULL, 2 * sizeof *writer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(writer != MAP_FAILED);
    FOR_EACH_BACKEND
    {
        if (!store_root(f.store))
            continue; /* memory is of one process */
        race_in_processes(&f, writer, 0, "equal");
        assert_int_equal(writer[0].won + writer[1].won, 2 * RACE_COUNT);
        race_in_processes(&f, writer, 1000, "different");
        assert_int_equal(writer[0].won + writer[1].won, RACE_COUNT);
        for (uint32_t i = 0; i < RACE_COUNT; i++) {
            char key[48];
            (void)snprintf(key, sizeof key, "run/different/%u/a", i);
            assert_int_equal(get_number(f.store, key) % 1000, i);
        }
    }
    assert_int_equal(munmap(writer, 2 * sizeof *writer), 0);
}

static void a_put_survives_that_its_folder_vanishes(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        if (!store_root(f.store))
            continue;
        /* The parent folders come and go while another process puts into them. */
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct error err = {0};
            int wrong = 0;
            for (int i = 0; i < 500; i++)
                wrong += store_remove(f.store, "run/deep/folder/b", &err) != ERROR_NONE;
            _exit(wrong != 0);
        }
        for (uint32_t i = 0; i < 500; i++) {
            assert_ok(put_number(f.store, "run/deep/folder/a", 1, STORE_RECOMPUTABLE, &f.err),
                      &f.err);
            assert_ok(store_remove(f.store, "run/deep/folder/a", &f.err), &f.err);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_read_as_it_was_put),
        cmocka_unit_test(small_and_big_records_are_aligned_and_equal),
        cmocka_unit_test(records_are_whole_whatever_was_prepared_or_let_go),
        cmocka_unit_test(the_first_record_wins_and_an_equal_one_is_success),
        cmocka_unit_test(a_damaged_record_makes_way_only_when_it_can_be_made_again),
        cmocka_unit_test(keys_are_listed_in_the_order_of_their_bytes),
        cmocka_unit_test(removing_takes_records_artifacts_and_empty_folders),
        cmocka_unit_test(the_first_artifact_stays),
        cmocka_unit_test(a_switch_holds_the_last_text),
        cmocka_unit_test(switches_are_listed),
        cmocka_unit_test(keys_that_are_no_keys_are_refused),
        cmocka_unit_test(a_store_for_reading_changes_nothing),
        cmocka_unit_test(a_replay_compares_and_changes_nothing),
        cmocka_unit_test(a_place_that_is_no_store_is_refused),
        cmocka_unit_test(threads_that_put_equal_records_all_succeed),
        cmocka_unit_test(threads_that_put_different_records_raise_the_alarm),
        cmocka_unit_test(threads_mend_a_damaged_record_once),
        cmocka_unit_test(processes_race_as_threads_do),
        cmocka_unit_test(a_put_survives_that_its_folder_vanishes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
