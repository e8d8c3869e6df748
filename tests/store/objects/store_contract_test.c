/* What every backend of the store promises; one suite over a table of backends. store_race_test.c has what they promise
 * to many at once. */
#include "common/base/memory.h"
#include "store/objects/artifact_cache.h"
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
            /* how is the backend's own affair, but on a local disk big files are not copied */
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
                                    bool *existed, struct error *err)
{
    char scratch[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    enum error_code rc = store_scratch(store, scratch, err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/file", scratch);
    if (rc == ERROR_NONE)
        rc = file_replace(path, text, strlen(text), false, err);
    return rc == ERROR_NONE ? store_publish(store, path, key, existed, err) : rc;
}

static enum error_code publish_folder(struct store *store, const char *key, const char *text,
                                      bool *existed, struct error *err)
{
    char scratch[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    enum error_code rc = store_scratch(store, scratch, err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/one", scratch);
    if (rc == ERROR_NONE)
        rc = file_replace(path, text, strlen(text), false, err);
    return rc == ERROR_NONE ? store_publish(store, scratch, key, existed, err) : rc;
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
        assert_ok(publish_file(f.store, "run/a/file", "f", NULL, &f.err), &f.err);
        assert_ok(publish_folder(f.store, "run/a/folder", "f", NULL, &f.err), &f.err);
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
        assert_ok(publish_folder(f.store, "run/x/round/1/b", "f", NULL, &f.err), &f.err);
        assert_ok(publish_file(f.store, "run/x/round/1/c", "f", NULL, &f.err), &f.err);
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

/* What a reader finds in a file of an artifact, wherever it lies. */
static void assert_file(struct store *store, const char *key, const char *file,
                        const char *expected)
{
    const struct artifact_request request = {.store = store, .key = key, .is_mapped = true};
    struct artifact_handle handle;
    struct error err = {0};
    char path[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    assert_ok(artifact_acquire(&request, &handle, &err), &err);
    assert_ok(file_path(path, &err, "%s%s%s", handle.path, *file ? "/" : "", file), &err);
    assert_ok(file_read(path, 0, &text, &size, &err), &err);
    assert_string_equal(text, expected);
    memory_free(text);
    artifact_release(&handle);
}

static void the_first_artifact_stays(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        const struct artifact_request none = {.store = f.store, .key = "p/file"};
        struct artifact_handle handle;
        bool found = false, existed = true;
        char path[FILE_PATH_SIZE];
        assert_fails(artifact_acquire(&none, &handle, &f.err), ERROR_NOT_FOUND, "p/file", &f.err);
        assert_ok(publish_file(f.store, "p/file", "first", &existed, &f.err), &f.err);
        assert_false(existed);
        assert_ok(publish_file(f.store, "p/file", "second", &existed, &f.err), &f.err);
        assert_true(existed);
        assert_file(f.store, "p/file", "", "first");
        assert_ok(publish_folder(f.store, "p/folder", "first", &existed, &f.err), &f.err);
        assert_false(existed);
        assert_ok(publish_folder(f.store, "p/folder", "second", &existed, &f.err), &f.err);
        assert_true(existed);
        assert_file(f.store, "p/folder", "one", "first");
        assert_ok(store_has(f.store, "p/folder", &found, &f.err), &f.err);
        assert_true(found);
        assert_ok(store_has(f.store, "p", &found, &f.err), &f.err);
        assert_false(found);
        const bool has_paths = store_capabilities(f.store) & STORE_HAS_PATHS;
        const enum error_code rc = store_artifact(f.store, "p/file", path, &f.err);
        assert_int_equal(rc, has_paths ? ERROR_NONE : ERROR_INVALID);
        assert_int_equal(store_root(f.store) != NULL, has_paths);
    }
}

static enum error_code note_file(void *context, const char *file, uint64_t size, struct error *err)
{
    char *text = context;
    (void)err;
    (void)sprintf(text + strlen(text), "%s:%d ", file, (int)size); // NOLINT: has room for them
    return ERROR_NONE;
}

static void files_of_an_artifact_are_read_by_ranges(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        void *inner = NULL;
        const struct object_backend *backend = store_backend_of(f.store, &inner);
        char text[100] = "", bytes[10];
        size_t got = 9;
        assert_ok(publish_file(f.store, "p/file", "0123456789", NULL, &f.err), &f.err);
        assert_ok(publish_folder(f.store, "p/folder", "abc", NULL, &f.err), &f.err);
        assert_ok(backend->files(inner, "p/file", note_file, text, &f.err), &f.err);
        assert_ok(backend->files(inner, "p/folder", note_file, text, &f.err), &f.err);
        assert_string_equal(text, ":10 one:3 ");
        assert_fails(backend->files(inner, "p/none", note_file, text, &f.err), ERROR_NOT_FOUND,
                     "p/none", &f.err);
        assert_ok(backend->get_range(inner, "p/file", "", 3, bytes, 4, &got, &f.err), &f.err);
        assert_int_equal(got, 4);
        assert_memory_equal(bytes, "3456", 4);
        assert_ok(backend->get_range(inner, "p/file", "", 8, bytes, 10, &got, &f.err), &f.err);
        assert_int_equal(got, 2);
        assert_ok(backend->get_range(inner, "p/file", "", 10, bytes, 10, &got, &f.err), &f.err);
        assert_int_equal(got, 0);
        assert_ok(backend->get_range(inner, "p/folder", "one", 1, bytes, 10, &got, &f.err), &f.err);
        assert_int_equal(got, 2);
        assert_memory_equal(bytes, "bc", 2);
        assert_fails(backend->get_range(inner, "p/folder", "two", 0, bytes, 1, &got, &f.err),
                     ERROR_NOT_FOUND, "p/folder", &f.err);
        assert_fails(backend->get_range(inner, "p/none", "", 0, bytes, 1, &got, &f.err),
                     ERROR_NOT_FOUND, "p/none", &f.err);
    }
}

static void many_are_read_at_once_each_with_its_own_code(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        void *inner = NULL;
        const struct object_backend *backend = store_backend_of(f.store, &inner);
        struct object_get get[3] = {{.key = "run/a"}, {.key = "run/none"}, {.key = "run/b"}};
        assert_ok(put_number(f.store, "run/a", 1, STORE_RECOMPUTABLE, &f.err), &f.err);
        assert_ok(put_number(f.store, "run/b", 2, STORE_RECOMPUTABLE, &f.err), &f.err);
        backend->get_many(inner, get, 3);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(get[i].rc, i == 1 ? ERROR_NOT_FOUND : ERROR_NONE);
            assert_int_equal(get[i].bytes.size > 0, i != 1);
            stored_bytes_release(&get[i].bytes);
        }
    }
}

/* Two keys a page. */
struct page {
    char text[200], last[64];
    int count;
};

static enum error_code fill_page(void *context, const char *key, bool is_artifact,
                                 struct error *err)
{
    struct page *page = context;
    if (page->count == 2)
        return error_set(err, ERROR_BUSY, "the page is full");
    (void)sprintf(page->text + strlen(page->text), "%s%s ", key, // NOLINT: has room for them
                  is_artifact ? "*" : "");
    (void)snprintf(page->last, sizeof page->last, "%s", key);
    page->count++;
    return ERROR_NONE;
}

static void a_list_goes_on_behind_any_key(void **state)
{
    (void)state;
    static const char *const keys[] = {"run/a/b", "run/a", "run/a-b", "run/b", "run/a/b/c", "s"};
    FOR_EACH_BACKEND
    {
        void *inner = NULL;
        const struct object_backend *backend = store_backend_of(f.store, &inner);
        struct page page = {.text = ""};
        enum error_code rc = ERROR_BUSY;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            assert_ok(put_number(f.store, keys[i], 1, STORE_RECOMPUTABLE, &f.err), &f.err);
        assert_ok(publish_folder(f.store, "run/a/x", "f", NULL, &f.err), &f.err);
        while (rc == ERROR_BUSY) {
            page.count = 0;
            rc = backend->list(inner, "run", page.last, fill_page, &page, &f.err);
        }
        assert_ok(rc, &f.err);
        assert_string_equal(page.text, "run/a run/a-b run/a/b run/a/b/c run/a/x* run/b ");
        page = (struct page){.text = ""};
        assert_ok(backend->list(inner, "", "run/a/z", fill_page, &page, &f.err), &f.err);
        assert_string_equal(page.text, "run/b s ");
        page = (struct page){.text = ""};
        assert_ok(backend->list(inner, "run", "t", fill_page, &page, &f.err), &f.err);
        assert_string_equal(page.text, "");
    }
}

static void a_switch_is_exchanged_when_it_is_what_was_expected(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        char text[100];
        bool matched = true;
        assert_ok(store_switch_exchange(f.store, "current/x", "one", "two", &matched, &f.err),
                  &f.err);
        assert_false(matched);
        assert_ok(store_switch_exchange(f.store, "current/x", NULL, "one", &matched, &f.err),
                  &f.err);
        assert_true(matched);
        assert_ok(store_switch_exchange(f.store, "current/x", NULL, "two", &matched, &f.err),
                  &f.err);
        assert_false(matched);
        assert_ok(store_switch_exchange(f.store, "current/x", "on", "two", &matched, &f.err),
                  &f.err);
        assert_false(matched);
        assert_ok(store_switch_get(f.store, "current/x", text, sizeof text, &f.err), &f.err);
        assert_string_equal(text, "one");
        assert_ok(store_switch_exchange(f.store, "current/x", "one", "two", &matched, &f.err),
                  &f.err);
        assert_true(matched);
        assert_ok(store_switch_get(f.store, "current/x", text, sizeof text, &f.err), &f.err);
        assert_string_equal(text, "two");
        assert_fails(store_switch_exchange(f.store, "current/x", "a\nb", "x", &matched, &f.err),
                     ERROR_INVALID, "one line", &f.err);
        assert_false(matched);
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
        /* A folder has files of that name, so it takes no such key; others may. */
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
    static const char *const schemes[] = {"ftp:/x", "s3://bucket/x", "S3:x", "a+b.c-9:x"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        assert_fails(store_open(schemes[i], 0, &store, &err), ERROR_INVALID,
                     "stores are dir:PATH or a path, found the scheme '", &err);
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
        cmocka_unit_test(keys_are_listed_in_the_order_of_their_bytes),
        cmocka_unit_test(removing_takes_records_artifacts_and_empty_folders),
        cmocka_unit_test(the_first_artifact_stays),
        cmocka_unit_test(files_of_an_artifact_are_read_by_ranges),
        cmocka_unit_test(many_are_read_at_once_each_with_its_own_code),
        cmocka_unit_test(a_list_goes_on_behind_any_key),
        cmocka_unit_test(a_switch_is_exchanged_when_it_is_what_was_expected),
        cmocka_unit_test(a_switch_holds_the_last_text),
        cmocka_unit_test(switches_are_listed),
        cmocka_unit_test(a_note_is_written_over_and_listed_nowhere),
        cmocka_unit_test(keys_that_are_no_keys_are_refused),
        cmocka_unit_test(a_store_for_reading_changes_nothing),
        cmocka_unit_test(a_replay_compares_and_changes_nothing),
        cmocka_unit_test(a_place_that_is_no_store_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
