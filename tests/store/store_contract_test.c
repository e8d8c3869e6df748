/* What every backend of the store promises; one suite over a table of backends. */
#include "common/base/memory.h"
#include "store/store.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const schemes[] = {"dir:", ""};

struct fixture {
    struct temp_dir dir;
    char uri[FILE_PATH_SIZE];
    struct store *store;
    struct error err;
};

static struct fixture open_fixture(const char *scheme)
{
    struct fixture f = {.store = NULL};
    temp_dir_make(&f.dir);
    assert_ok(file_path(f.uri, &f.err, "%s%s/store", scheme, f.dir.path), &f.err);
    assert_ok(store_open(f.uri, 0, &f.store, &f.err), &f.err);
    return f;
}

static void close_fixture(struct fixture *f)
{
    store_close(f->store);
    temp_dir_remove(&f->dir);
}

#define FOR_EACH_BACKEND(f)                                                                        \
    for (size_t backend = 0; backend < sizeof schemes / sizeof *schemes; backend++)                \
        for (struct fixture f = open_fixture(schemes[backend]); f.store;                           \
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

static void a_record_is_read_as_it_was_put(void **state)
{
    (void)state;
    FOR_EACH_BACKEND(f)
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
    FOR_EACH_BACKEND(f)
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

static void the_first_record_wins_and_an_equal_one_is_success(void **state)
{
    (void)state;
    FOR_EACH_BACKEND(f)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_read_as_it_was_put),
        cmocka_unit_test(small_and_big_records_are_aligned_and_equal),
        cmocka_unit_test(the_first_record_wins_and_an_equal_one_is_success),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
