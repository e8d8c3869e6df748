/* Tests failures that only a store in a folder meets: devices and networks that fail, and file
 * systems that lack a feature. */
#include "common/base/memory.h"
#include "store/backends/directory/directory.h"
#include "store/objects/object_store.h"
#include "store/objects/store.h"

#include "tests/support/failing_calls.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static enum error_code put_number(struct store *store, const char *key, uint32_t value,
                                  enum store_durability durability, struct error *err)
{
    struct record record = {.kind = RECORD_GRADIENT, .version = 1};
    record_add(&record, "value", ELEMENT_U32, &value, 1);
    return store_put(store, key, "owner", &record, durability, err);
}

static void assert_number(struct store *store, const char *key, uint32_t expected)
{
    struct error err = {0};
    struct record_view view;
    const void *data = NULL;
    assert_ok(store_get(store, key, "owner", &view, &err), &err);
    assert_ok(record_section_get(&view, "value", ELEMENT_U32, 1, &data, NULL, &err), &err);
    assert_int_equal(*(const uint32_t *)data, expected);
    store_release_record(&view);
}

static enum error_code publish(struct store *store, const char *key, bool folder, struct error *err)
{
    char scratch[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    enum error_code rc = store_scratch(store, scratch, err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/file", scratch);
    if (rc == ERROR_NONE)
        rc = file_replace(path, "text", 4, false, err);
    return rc == ERROR_NONE ? store_publish(store, folder ? scratch : path, key, NULL, err) : rc;
}

static enum error_code visit_nothing(void *context, const char *key, bool is_artifact,
                                     struct error *err)
{
    (void)context;
    (void)key;
    (void)is_artifact;
    (void)err;
    return ERROR_NONE;
}

/* EIO, EACCES and a stale handle do not prove that a record is absent. */
static void what_cannot_be_looked_at_is_not_absent(void **state)
{
    struct temp_store *f = *state;
    static const struct {
        int number;
        enum error_code code;
    } failing[] = {{EIO, ERROR_IO}, {EACCES, ERROR_DENIED}, {ESTALE, ERROR_IO}};
    assert_ok(put_number(f->store, "run/a", 1, STORE_RECOMPUTABLE, &f->err), &f->err);
    assert_ok(publish(f->store, "run/folder", true, &f->err), &f->err);
    assert_ok(store_switch_set(f->store, "run/s", "1", &f->err), &f->err);
    for (size_t i = 0; i < sizeof failing / sizeof *failing; i++) {
        const enum error_code code = failing[i].code;
        struct record_view view;
        struct store *again = NULL;
        bool found = false;
        char path[FILE_PATH_SIZE], text[8];
        failing_calls_plan(CALL_STAT, 0, -1, failing[i].number);
        assert_fails(store_has(f->store, "run/a", &found, &f->err), code, "run/a", &f->err);
        assert_fails(store_has(f->store, "run/folder", &found, &f->err), code, "run/folder",
                     &f->err);
        assert_fails(store_artifact(f->store, "run/folder", path, &f->err), code, "run/folder",
                     &f->err);
        assert_fails(store_remove(f->store, "run/folder", &f->err), code, "run/folder", &f->err);
        assert_fails(put_number(f->store, "run/b", 1, STORE_RECOMPUTABLE, &f->err), code, "run/b",
                     &f->err);
        assert_fails(store_list(f->store, "run", visit_nothing, NULL, &f->err), code, "run",
                     &f->err);
        assert_fails(store_open(f->dir.path, STORE_READ_ONLY, &again, &f->err), code, f->dir.path,
                     &f->err);
        failing_calls_plan(CALL_OPEN, 0, -1, failing[i].number);
        assert_fails(store_get(f->store, "run/a", NULL, &view, &f->err), code, "run/a", &f->err);
        assert_fails(store_switch_get(f->store, "run/s", text, sizeof text, &f->err), code, "run/s",
                     &f->err);
        (void)failing_calls_end();
        assert_number(f->store, "run/a", 1);
        assert_ok(store_artifact(f->store, "run/folder", path, &f->err), &f->err);
    }
}

static void records_and_files_are_published_where_there_are_no_hard_links(void **state)
{
    struct temp_store *f = *state;
    static const int failing[] = {EPERM, EOPNOTSUPP, ENOSYS, EMLINK};
    for (size_t i = 0; i < sizeof failing / sizeof *failing; i++) {
        /* a file with too many links proves nothing about the file system */
        const bool is_known = failing[i] != EMLINK;
        char key[32], path[FILE_PATH_SIZE];
        struct store *store = NULL;
        assert_ok(store_open(f->dir.path, 0, &store, &f->err), &f->err);
        assert_true(store_capabilities(store) & STORE_HAS_LINKS);
        failing_calls_plan(CALL_LINK, 0, -1, failing[i]);
        (void)snprintf(key, sizeof key, "run/%zu/a", i);
        assert_ok(put_number(store, key, 7, STORE_RECOMPUTABLE, &f->err), &f->err);
        assert_ok(put_number(store, key, 7, STORE_DURABLE, &f->err), &f->err);
        assert_fails(put_number(store, key, 8, STORE_DURABLE, &f->err), ERROR_CORRUPT, "alarm",
                     &f->err);
        assert_number(store, key, 7);
        (void)snprintf(key, sizeof key, "run/%zu/file", i);
        assert_ok(publish(store, key, false, &f->err), &f->err);
        assert_ok(publish(store, key, false, &f->err), &f->err);
        const long failed = failing_calls_end();
        assert_true(is_known ? failed == 1 : failed > 1);
        assert_int_equal(!(store_capabilities(store) & STORE_HAS_LINKS), is_known);
        assert_ok(store_artifact(store, key, path, &f->err), &f->err);
        store_close(store);
    }
    failing_calls_plan(CALL_LINK, 0, -1, EIO);
    assert_fails(put_number(f->store, "run/x", 1, STORE_DURABLE, &f->err), ERROR_IO,
                 "needs hard links", &f->err);
    (void)failing_calls_end();
}

/* Tests that the first of two writers also wins where link() does not work. */
static void without_hard_links_the_first_record_wins(void **state)
{
    struct temp_store *f = *state;
    failing_calls_plan(CALL_STAT, 0, 1, ENOENT); /* the check before the write finds no record */
    assert_ok(put_number(f->store, "run/a", 1, STORE_RECOMPUTABLE, &f->err), &f->err);
    failing_calls_plan(CALL_LINK, 0, -1, EPERM);
    assert_fails(put_number(f->store, "run/a", 2, STORE_RECOMPUTABLE, &f->err), ERROR_CORRUPT,
                 "alarm", &f->err);
    (void)failing_calls_end();
    assert_number(f->store, "run/a", 1);
}

static void an_answer_lost_on_the_way_is_no_failure(void **state)
{
    struct temp_store *f = *state;
    static const int lost[] = {EIO, EEXIST, ENOENT};
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        char key[32], path[FILE_PATH_SIZE], text[8];
        (void)snprintf(key, sizeof key, "run/%zu", i);
        /* the first link finds no folder */
        failing_calls_plan_lost_answers(CALL_LINK, 1, 1, lost[i]);
        assert_ok(put_number(f->store, key, 7, STORE_DURABLE, &f->err), &f->err);
        /* the first rename is that of the mark */
        failing_calls_plan_lost_answers(CALL_RENAME, 1, 1, lost[i]);
        (void)snprintf(key, sizeof key, "folder/%zu", i);
        assert_ok(publish(f->store, key, true, &f->err), &f->err);
        assert_ok(store_artifact(f->store, key, path, &f->err), &f->err);
        failing_calls_plan_lost_answers(CALL_RENAME, 0, 1, lost[i]);
        (void)snprintf(key, sizeof key, "run/s%zu", i);
        assert_ok(store_switch_set(f->store, key, "on", &f->err), &f->err);
        assert_int_equal(failing_calls_end(), 1);
        assert_ok(store_switch_get(f->store, key, text, sizeof text, &f->err), &f->err);
        assert_string_equal(text, "on");
    }
}

static void folders_that_cannot_be_flushed_are_fine(void **state)
{
    struct temp_store *f = *state;
    /* the first flush is that of the record itself */
    failing_calls_plan(CALL_FSYNC, 1, -1, EINVAL);
    assert_ok(put_number(f->store, "run/deep/a", 1, STORE_DURABLE, &f->err), &f->err);
    failing_calls_plan(CALL_FSYNC, 0, -1, EIO);
    assert_fails(put_number(f->store, "run/deep/b", 1, STORE_DURABLE, &f->err), ERROR_IO,
                 "cannot be flushed", &f->err);
    failing_calls_plan(CALL_FSYNC, 1, -1, EIO);
    assert_fails(put_number(f->store, "run/deep/c", 1, STORE_DURABLE, &f->err), ERROR_IO,
                 "cannot be flushed", &f->err);
    (void)failing_calls_end();
    assert_ok(put_number(f->store, "run/deep/c", 1, STORE_DURABLE, &f->err), &f->err);
}

/* Tests that a put during which any system call fails reports it or has put the record, leaks no
 * memory, and that the next put succeeds. */
static void whichever_call_fails_a_put_is_whole_or_told(void **state)
{
    struct temp_store *f = *state;
    static const int numbers[CALL_COUNT] = {[CALL_WRITE] = ENOSPC, [CALL_OPEN] = EMFILE};
    for (int call = CALL_OPEN; call < CALL_COUNT; call++)
        for (int durability = STORE_RECOMPUTABLE; durability <= STORE_DURABLE; durability++)
            for (long passed = 0, failed = 1; failed; passed++) {
                char key[48];
                const long blocks = memory_live_blocks();
                (void)snprintf(key, sizeof key, "run/%d/%d/%ld/a", call, durability, passed);
                failing_calls_plan((enum failing_call)call, passed, 1,
                                   numbers[call] ? numbers[call] : EIO);
                const enum error_code rc =
                    put_number(f->store, key, 5, (enum store_durability)durability, &f->err);
                failed = failing_calls_end();
                assert_true(rc == ERROR_NONE || rc == ERROR_IO ||
                            (call == CALL_WRITE && rc == ERROR_NO_SPACE));
                assert_int_equal(memory_live_blocks(), blocks);
                assert_ok(put_number(f->store, key, 5, (enum store_durability)durability, &f->err),
                          &f->err);
                assert_number(f->store, key, 5);
            }
}

struct losing_body {
    const char *root, *lost; /* the store's folder, and where it is moved */
    int left;                /* how many more times it is lost */
    const struct object_piece piece;
};

/* Gives one piece, and removes the store's folder before the record has its name. */
static enum error_code lose_the_store(void *context, uint64_t offset,
                                      struct object_piece piece[OBJECT_PIECE_COUNT_MAX],
                                      size_t *count, struct error *err)
{
    struct losing_body *body = context;
    *count = offset == 0;
    piece[0] = body->piece;
    if (offset || !body->left)
        return ERROR_NONE;
    body->left--;
    assert_ok(file_remove_all(body->lost, err), err);
    return file_rename(body->root, body->lost, err);
}

/* Tests a fast store whose host comes back with an empty disk: the record is written again, but not
 * for ever. */
static void a_record_whose_store_is_lost_meanwhile_is_written_again(void **state)
{
    struct temp_store *f = *state;
    const struct object_options options = {.make = true, .timeout_ms = 1000};
    char root[FILE_PATH_SIZE], lost[FILE_PATH_SIZE];
    struct error err = {0};
    void *inner = NULL;
    bool existed = true;
    assert_ok(file_path(root, &err, "%s/losing", f->dir.path), &err);
    assert_ok(file_path(lost, &err, "%s/lost", f->dir.path), &err);
    assert_ok(directory_backend.open(root, &options, &inner, &err), &err);
    struct losing_body losing = {root, lost, 2, {"text", 4}};
    const struct object_body body = {.size = 4, .next = lose_the_store, .context = &losing};
    assert_ok(
        directory_backend.put_if_absent(inner, "run/r/plan", &body, STORE_DURABLE, &existed, &err),
        &err);
    assert_false(existed);
    assert_int_equal(losing.left, 0);
    assert_ok(directory_backend.has(inner, "run/r/plan", &existed, &err), &err);
    assert_true(existed);
    losing.left = 1000;
    assert_int_equal(
        directory_backend.put_if_absent(inner, "run/r/other", &body, STORE_DURABLE, &existed, &err),
        ERROR_UNAVAILABLE);
    assert_true(losing.left > 900);
    directory_backend.close(inner);
}

/* Another process removes each empty folder just after it was made for us. */
static void folders_that_vanish_are_made_again_and_not_for_ever(void **state)
{
    struct temp_store *f = *state;
    char path[FILE_PATH_SIZE];
    failing_calls_plan(CALL_LINK, 0, 3, ENOENT);
    assert_ok(put_number(f->store, "run/a", 1, STORE_DURABLE, &f->err), &f->err);
    assert_int_equal(failing_calls_end(), 3);
    assert_number(f->store, "run/a", 1);
    failing_calls_plan(CALL_RENAME, 2, 3, ENOENT); /* after those of the file and the mark */
    assert_ok(publish(f->store, "run/folder", true, &f->err), &f->err);
    assert_int_equal(failing_calls_end(), 3);
    assert_ok(store_artifact(f->store, "run/folder", path, &f->err), &f->err);
    failing_calls_plan(CALL_LINK, 0, -1, ENOENT);
    assert_fails(put_number(f->store, "run/b", 1, STORE_DURABLE, &f->err), ERROR_IO, "run/b",
                 &f->err);
    failing_calls_plan(CALL_RENAME, 2, -1, ENOENT);
    assert_fails(publish(f->store, "run/other", true, &f->err), ERROR_IO,
                 "run/other: its folders are removed each time", &f->err);
    (void)failing_calls_end();
    assert_ok(put_number(f->store, "run/b", 1, STORE_DURABLE, &f->err), &f->err);
    assert_ok(publish(f->store, "run/other", true, &f->err), &f->err);
}

static void a_write_that_a_signal_interrupts_goes_on(void **state)
{
    struct temp_store *f = *state;
    struct record_view view;
    failing_calls_plan(CALL_WRITE, 0, 2, EINTR);
    assert_ok(put_number(f->store, "run/a", 1, STORE_DURABLE, &f->err), &f->err);
    assert_true(failing_calls_end() > 0);
    failing_calls_plan(CALL_READ, 0, 2, EINTR);
    assert_ok(store_get(f->store, "run/a", "owner", &view, &f->err), &f->err);
    assert_int_equal(failing_calls_end(), 2);
    store_release_record(&view);
}

/* Tests that a record which was found damaged is kept if another worker has made it again before it
 * is removed. */
static void a_record_that_became_good_is_not_thrown_away(void **state)
{
    struct temp_store *f = *state;
    const struct stored_bytes same_size = {.data = (uint8_t[]){"DAMAGED"}, .size = 7},
                              shorter = {.data = same_size.data, .size = 3},
                              seen = {.data = (uint8_t[]){"damaged"}, .size = 7};
    const struct stored_bytes *const others[] = {&same_size, &shorter};
    void *directory = NULL;
    char path[FILE_PATH_SIZE];
    const struct object_options options = {.timeout_ms = 1000};
    assert_ok(directory_backend.open(f->dir.path, &options, &directory, &f->err), &f->err);
    (void)snprintf(path, sizeof path, "%s", temp_dir_write(&f->dir, "a.record", "damaged", 7));
    for (size_t i = 0; i < 2; i++) {
        assert_ok(directory_backend.delete_if_match(directory, "a", others[i], &f->err), &f->err);
        assert_true(file_exists(path));
    }
    assert_ok(directory_backend.delete_if_match(directory, "a", &seen, &f->err), &f->err);
    assert_false(file_exists(path));
    assert_ok(directory_backend.delete_if_match(directory, "a", &seen, &f->err),
              &f->err); /* it is gone */
    directory_backend.close(directory);
}

/* Tests that it is no error if another process removes a record or artifact first. */
static void a_record_or_artifact_that_another_removes_first_is_fine(void **state)
{
    struct temp_store *f = *state;
    bool found = true;
    assert_ok(publish(f->store, "run/a", true, &f->err), &f->err);
    failing_calls_plan(CALL_RENAME, 0, 1, ENOENT);
    assert_ok(store_remove(f->store, "run/a", &f->err), &f->err);
    assert_int_equal(failing_calls_end(), 1);
    assert_ok(store_remove(f->store, "run/a", &f->err), &f->err);
    assert_ok(store_has(f->store, "run/a", &found, &f->err), &f->err);
    assert_false(found);
    assert_ok(store_list(f->store, "run", visit_nothing, NULL, &f->err), &f->err);
}

static void what_lies_below_a_file_is_not_there(void **state)
{
    struct temp_store *f = *state;
    bool found = true;
    assert_ok(publish(f->store, "run/file", false, &f->err), &f->err);
    assert_ok(store_remove(f->store, "run/file/x", &f->err), &f->err);
    assert_ok(store_has(f->store, "run/file/x", &found, &f->err), &f->err);
    assert_false(found);
    assert_ok(store_switch_set(f->store, "s", "on", &f->err), &f->err);
    assert_ok(store_switch_remove(f->store, "s/x", &f->err), &f->err);
    assert_ok(store_has(f->store, "run/file", &found, &f->err), &f->err);
    assert_true(found);
}

static void a_switch_that_is_no_text_is_corrupt(void **state)
{
    struct temp_store *f = *state;
    static const char zero[] = "on\0off";
    static char large[9000];
    char text[8], path[FILE_PATH_SIZE];
    assert_ok(store_switch_set(f->store, "s", "on", &f->err), &f->err);
    assert_ok(file_path(path, &f->err, "%s/switch/s", f->dir.path), &f->err);
    assert_ok(file_replace(path, zero, sizeof zero, false, &f->err), &f->err);
    assert_fails(store_switch_get(f->store, "s", text, sizeof text, &f->err), ERROR_CORRUPT,
                 "switch/s: expected text", &f->err);
    memset(large, 'x', sizeof large);
    assert_ok(file_replace(path, large, sizeof large, false, &f->err), &f->err);
    assert_fails(store_switch_get(f->store, "s", text, sizeof text, &f->err), ERROR_CORRUPT,
                 "switch/s", &f->err);
    assert_ok(file_replace(path, large, 8000, false, &f->err), &f->err);
    assert_fails(store_switch_get(f->store, "s", text, sizeof text, &f->err), ERROR_CORRUPT,
                 "switch/s: expected text", &f->err);
    assert_ok(store_switch_set(f->store, "s", "off", &f->err), &f->err);
    assert_ok(store_switch_get(f->store, "s", text, sizeof text, &f->err), &f->err);
    assert_string_equal(text, "off");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(what_cannot_be_looked_at_is_not_absent),
        test_with_store(records_and_files_are_published_where_there_are_no_hard_links),
        test_with_store(without_hard_links_the_first_record_wins),
        test_with_store(an_answer_lost_on_the_way_is_no_failure),
        test_with_store(folders_that_cannot_be_flushed_are_fine),
        test_with_store(whichever_call_fails_a_put_is_whole_or_told),
        test_with_store(a_record_whose_store_is_lost_meanwhile_is_written_again),
        test_with_store(folders_that_vanish_are_made_again_and_not_for_ever),
        test_with_store(a_write_that_a_signal_interrupts_goes_on),
        test_with_store(a_record_that_became_good_is_not_thrown_away),
        test_with_store(a_record_or_artifact_that_another_removes_first_is_fine),
        test_with_store(what_lies_below_a_file_is_not_there),
        test_with_store(a_switch_that_is_no_text_is_corrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
