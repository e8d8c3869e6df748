/* Tests the contract of artifacts and lists on every backend. */
#include "common/base/memory.h"
#include "store/objects/artifact_cache.h"
#include "store/objects/object_store.h"

#include "tests/store/objects/contract_fixture.h"

#include <stdio.h>

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
        assert_ok(put_number(f.store, "run/x/round/1/base", 1, STORE_RECOMPUTABLE, &f.err), &f.err);
        assert_ok(publish_folder(f.store, "run/x/round/1/b", "f", NULL, &f.err), &f.err);
        assert_ok(publish_file(f.store, "run/x/round/1/c", "f", NULL, &f.err), &f.err);
        assert_ok(store_remove(f.store, "run/x/round/1/base", &f.err), &f.err);
        assert_ok(store_remove(f.store, "run/x/round/1/base", &f.err), &f.err);
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
        assert_ok(put_number(f.store, "run/x/round/1/base", 2, STORE_RECOMPUTABLE, &f.err), &f.err);
        assert_int_equal(get_number(f.store, "run/x/round/1/base"), 2);
    }
}

/* Checks the content of a file of an artifact, wherever its bytes are. */
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

/* A page of two keys. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_listed_in_the_order_of_their_bytes),
        cmocka_unit_test(removing_takes_records_artifacts_and_empty_folders),
        cmocka_unit_test(the_first_artifact_stays),
        cmocka_unit_test(files_of_an_artifact_are_read_by_ranges),
        cmocka_unit_test(a_list_goes_on_behind_any_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
