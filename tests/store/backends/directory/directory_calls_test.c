/* Tests each function of a directory store with each of its system calls failing in turn, and with
 * paths that become too long: it reports the failure or has succeeded, and a repetition is
 * right. */
#include "common/base/memory.h"
#include "store/backends/directory/directory.h"
#include "store/objects/store.h"
#include "store/objects/stored_bytes.h"

#include "tests/support/failing_calls.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBER = 5, LARGE_COUNT = STORED_BYTES_MAP_FROM / 2 }; /* of four bytes */

struct place {
    struct store *store;
    const char *root;
    const char *key; /* the key of a folder, new for each attempt of a step */
};

static const char *key_in(const struct place *p, const char *name)
{
    static char key[4][200];
    static int next;
    char *const text = key[next = (next + 1) % 4];
    (void)snprintf(text, sizeof key[0], "%s/%s", p->key, name);
    return text;
}

static enum error_code put_numbers(const struct place *p, const char *name, uint64_t count,
                                   enum store_durability durability, struct error *err)
{
    static const uint32_t value[LARGE_COUNT] = {NUMBER};
    struct record record = {.kind = RECORD_GRADIENT, .version = 1};
    record_add(&record, "value", ELEMENT_U32, value, count);
    return store_put(p->store, key_in(p, name), "owner", &record, durability, err);
}

static enum error_code get_number(const struct place *p, const char *name, struct error *err)
{
    struct record_view view = {0};
    const void *data = NULL;
    enum error_code rc = store_get(p->store, key_in(p, name), "owner", &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = record_section_get(&view, "value", ELEMENT_U32, -1, &data, NULL, err);
    if (rc == ERROR_NONE)
        assert_int_equal(*(const uint32_t *)data, NUMBER);
    store_release_record(&view);
    return rc;
}

static enum error_code publish(const struct place *p, const char *name, bool is_folder,
                               struct error *err)
{
    char scratch[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    enum error_code rc = store_scratch(p->store, scratch, err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/file", scratch);
    if (rc == ERROR_NONE)
        rc = file_replace(path, "text", 4, false, err);
    return rc == ERROR_NONE
               ? store_publish(p->store, is_folder ? scratch : path, key_in(p, name), NULL, err)
               : rc;
}

static void is_there(const struct place *p, const char *name, bool expected)
{
    struct error err = {0};
    bool found = !expected;
    assert_ok(store_has(p->store, key_in(p, name), &found, &err), &err);
    assert_int_equal(found, expected);
}

/* --- the steps: the state before, the attempt, and the state that a success must leave --- */

static void prepare_nothing(const struct place *p)
{
    (void)p;
}

static void prepare_record(const struct place *p)
{
    struct error err = {0};
    assert_ok(put_numbers(p, "a", 1, STORE_RECOMPUTABLE, &err), &err);
}

static void prepare_large_record(const struct place *p)
{
    struct error err = {0};
    assert_ok(put_numbers(p, "a", LARGE_COUNT, STORE_RECOMPUTABLE, &err), &err);
}

static void prepare_damaged_record(const struct place *p)
{
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    prepare_record(p);
    assert_ok(file_path(path, &err, "%s/%s/a.record", p->root, p->key), &err);
    assert_ok(file_replace(path, "damaged", 7, false, &err), &err);
}

static void prepare_artifact(const struct place *p)
{
    struct error err = {0};
    assert_ok(publish(p, "a", true, &err), &err);
}

static void prepare_several(const struct place *p)
{
    struct error err = {0};
    prepare_record(p);
    assert_ok(put_numbers(p, "b/deep", 1, STORE_RECOMPUTABLE, &err), &err);
    assert_ok(publish(p, "c", true, &err), &err);
    assert_ok(publish(p, "d", false, &err), &err);
}

static void prepare_switch(const struct place *p)
{
    struct error err = {0};
    assert_ok(store_switch_set(p->store, key_in(p, "s"), "on", &err), &err);
}

static enum error_code put(const struct place *p, struct error *err)
{
    return put_numbers(p, "a", 1, STORE_DURABLE, err);
}

static enum error_code put_recomputable(const struct place *p, struct error *err)
{
    return put_numbers(p, "a", 1, STORE_RECOMPUTABLE, err);
}

static enum error_code flush(const struct place *p, struct error *err)
{
    return store_flush(p->store, key_in(p, "a"), err);
}

static enum error_code get(const struct place *p, struct error *err)
{
    return get_number(p, "a", err);
}

static enum error_code remove_it(const struct place *p, struct error *err)
{
    return store_remove(p->store, key_in(p, "a"), err);
}

static enum error_code publish_folder(const struct place *p, struct error *err)
{
    return publish(p, "a", true, err);
}

static enum error_code publish_file(const struct place *p, struct error *err)
{
    return publish(p, "a", false, err);
}

static enum error_code find_artifact(const struct place *p, struct error *err)
{
    char path[FILE_PATH_SIZE];
    return store_artifact(p->store, key_in(p, "a"), path, err);
}

struct listing {
    const char *prefix;
    char text[256];
};

static enum error_code add_to_list(void *context, const char *key, bool is_artifact,
                                   struct error *err)
{
    struct listing *list = context;
    (void)err;
    const size_t used = strlen(list->text), skipped = strlen(list->prefix);
    assert_memory_equal(key, list->prefix, skipped);
    (void)snprintf(list->text + used, sizeof list->text - used, "%s%s;", key + skipped,
                   is_artifact ? "(artifact)" : "");
    return ERROR_NONE;
}

/* Lists everything or fails: a partial list must not look like a whole one. */
static enum error_code list_all(const struct place *p, struct error *err)
{
    struct listing list = {.prefix = p->key};
    const enum error_code rc = store_list(p->store, p->key, add_to_list, &list, err);
    if (rc == ERROR_NONE)
        assert_string_equal(list.text, "/a;/b/deep;/c(artifact);/d(artifact);");
    return rc;
}

static enum error_code set_switch(const struct place *p, struct error *err)
{
    return store_switch_set(p->store, key_in(p, "s"), "on", err);
}

static enum error_code get_switch(const struct place *p, struct error *err)
{
    char text[8] = "";
    const enum error_code rc = store_switch_get(p->store, key_in(p, "s"), text, sizeof text, err);
    assert_string_equal(text, rc == ERROR_NONE ? "on" : "");
    return rc;
}

static enum error_code remove_switch(const struct place *p, struct error *err)
{
    return store_switch_remove(p->store, key_in(p, "s"), err);
}

/* Performs the first put of a program, which needs a scratch space of its own. */
static enum error_code open_and_put(const struct place *p, struct error *err)
{
    struct place own = *p;
    enum error_code rc = store_open(p->root, STORE_MUST_EXIST, &own.store, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = put_numbers(&own, "a", 1, STORE_DURABLE, err);
    store_close(own.store);
    return rc;
}

static void has_number(const struct place *p)
{
    struct error err = {0};
    assert_ok(get_number(p, "a", &err), &err);
}

static void has_artifact(const struct place *p)
{
    struct error err = {0};
    assert_ok(find_artifact(p, &err), &err);
}

static void has_none(const struct place *p)
{
    is_there(p, "a", false);
}

static void has_switch(const struct place *p)
{
    struct error err = {0};
    char text[8];
    assert_ok(store_switch_get(p->store, key_in(p, "s"), text, sizeof text, &err), &err);
    assert_string_equal(text, "on");
}

static void has_no_switch(const struct place *p)
{
    struct error err = {0};
    char text[8];
    assert_fails(store_switch_get(p->store, key_in(p, "s"), text, sizeof text, &err),
                 ERROR_NOT_FOUND, "is not set", &err);
}

static const struct step {
    const char *name;
    void (*prepare)(const struct place *p);
    enum error_code (*attempt)(const struct place *p, struct error *err);
    void (*check)(const struct place *p);
} steps[] = {
    {"put", prepare_nothing, put, has_number},
    {"put-again", prepare_record, put, has_number},
    {"put-over-damaged", prepare_damaged_record, put_recomputable, has_number},
    {"first-put", prepare_nothing, open_and_put, has_number},
    {"flush", prepare_record, flush, has_number},
    {"get", prepare_record, get, has_number},
    {"get-large", prepare_large_record, get, has_number},
    {"remove", prepare_record, remove_it, has_none},
    {"remove-artifact", prepare_artifact, remove_it, has_none},
    {"publish-folder", prepare_nothing, publish_folder, has_artifact},
    {"publish-file", prepare_nothing, publish_file, has_artifact},
    {"publish-again", prepare_artifact, publish_folder, has_artifact},
    {"artifact", prepare_artifact, find_artifact, has_artifact},
    {"list", prepare_several, list_all, has_number},
    {"switch-set", prepare_nothing, set_switch, has_switch},
    {"switch-set-again", prepare_switch, set_switch, has_switch},
    {"switch-get", prepare_switch, get_switch, has_switch},
    {"switch-remove", prepare_switch, remove_switch, has_no_switch},
};
enum { STEP_COUNT = sizeof steps / sizeof *steps };

/* --- running the steps --- */

enum form { ONCE, FROM_THEN_ON, ANSWER_LOST, FORM_COUNT };

/* Checks that an attempt reports the failure, or has succeeded. */
static void check_answer(enum error_code rc, enum failing_call call, const struct step *step,
                         long passed, const struct error *err)
{
    if (rc != ERROR_NONE && rc != ERROR_IO)
        fail_msg("%s: call %ld of kind %d: code %d: %s", step->name, passed, (int)call, (int)rc,
                 err->message);
    if (rc != ERROR_NONE && !strstr(err->message, strerror(EIO)))
        fail_msg("%s: call %ld of kind %d: not why: %s", step->name, passed, (int)call,
                 err->message);
}

/* Runs a step whose call number `passed` fails. Returns false if the step makes fewer calls of that
 * kind. */
static bool try_step(struct temp_store *f, const struct step *step, enum failing_call call,
                     enum form form, long passed)
{
    char key[64];
    struct error err = {0};
    (void)snprintf(key, sizeof key, "%s/%d/%d/%ld", step->name, (int)call, (int)form, passed);
    const struct place p = {.store = f->store, .root = f->dir.path, .key = key};
    step->prepare(&p);
    const long blocks = memory_live_blocks();
    if (form == ANSWER_LOST)
        failing_calls_plan_lost_answers(call, passed, 1, EIO);
    else
        failing_calls_plan(call, passed, form == ONCE ? 1 : -1, EIO);
    enum error_code rc = step->attempt(&p, &err);
    const long failed = failing_calls_end();
    check_answer(rc, call, step, passed, &err);
    assert_int_equal(memory_live_blocks(), blocks);
    if (rc != ERROR_NONE)
        rc = step->attempt(&p, &err);
    if (rc != ERROR_NONE)
        fail_msg("%s: after call %ld of kind %d: %s", step->name, passed, (int)call, err.message);
    step->check(&p);
    return failed > 0;
}

static void whichever_call_fails_it_is_told_or_done(void **state)
{
    struct temp_store *f = *state;
    for (size_t i = 0; i < STEP_COUNT; i++)
        for (int call = CALL_OPEN; call <= CALL_CLOSE; call++)
            for (int form = 0; form < FORM_COUNT; form++)
                for (long passed = 0;
                     try_step(f, &steps[i], (enum failing_call)call, (enum form)form, passed);)
                    passed++;
}

static void whichever_allocation_fails_it_is_told(void **state)
{
    struct temp_store *f = *state;
    for (size_t i = 0; i < STEP_COUNT; i++) {
        enum error_code rc = ERROR_NO_MEMORY;
        for (long allowed = 0; rc != ERROR_NONE; allowed++) {
            char key[64];
            struct error err = {0};
            (void)snprintf(key, sizeof key, "%s/%ld", steps[i].name, allowed);
            const struct place p = {.store = f->store, .root = f->dir.path, .key = key};
            steps[i].prepare(&p);
            const long blocks = memory_live_blocks();
            memory_fail_after(allowed);
            rc = steps[i].attempt(&p, &err);
            memory_fail_after(-1);
            assert_int_equal(memory_live_blocks(), blocks);
            if (rc != ERROR_NONE) {
                assert_failed(rc, ERROR_NO_MEMORY, "no memory for", &err);
                assert_ok(steps[i].attempt(&p, &err), &err);
            }
            steps[i].check(&p);
        }
    }
}

enum { ROOM = 120 }; /* bytes that the path of a deep store leaves, with the NUL */

/* Makes a folder below the test's own whose path has `size` bytes. */
static void make_deep(const struct temp_dir *dir, size_t size, char out[FILE_PATH_SIZE])
{
    struct error err = {0};
    size_t used = strlen(dir->path);
    memcpy(out, dir->path, used);
    while (used < size) {
        size_t part = size - used - 1 < 100 ? size - used - 1 : 100;
        part -= size - used - 1 - part == 1; /* no name may be empty */
        out[used++] = '/';
        memset(out + used, 'd', part);
        used += part;
    }
    out[used] = '\0';
    assert_int_equal(used, size);
    assert_ok(file_make_folders(out, &err), &err);
}

static enum error_code has(const struct place *p, struct error *err)
{
    bool found = false;
    return store_has(p->store, key_in(p, "a"), &found, err);
}

/* Tests that a prefix of the greatest length is an empty folder, and that a name which another
 * program put too deep is reported, not skipped. */
static void list_of_a_key_too_long(struct store *store, const char *root)
{
    struct error err = {0};
    struct listing list = {.prefix = ""};
    char key[ROOM + 1], path[FILE_PATH_SIZE];
    for (size_t size = ROOM - 3; size < ROOM; size++) {
        memset(key, 'k', size);
        key[size] = '\0';
        const enum error_code rc = store_list(store, key, add_to_list, &list, &err);
        assert_int_equal(rc, size == ROOM - 3 ? ERROR_NONE : ERROR_INVALID);
    }
    assert_string_equal(list.text, "");
    memset(key, 'm', ROOM - 10);
    key[ROOM - 10] = '\0';
    assert_ok(file_path(path, &err, "%s/%s", root, key), &err);
    assert_int_equal(mkdir(path, 0777), 0);
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(mkdirat(folder, "somewhat-longer", 0777), 0);
    assert_fails(store_list(store, key, add_to_list, &list, &err), ERROR_INVALID,
                 "path is longer than", &err);
    assert_int_equal(unlinkat(folder, "somewhat-longer", AT_REMOVEDIR), 0);
    assert_int_equal(close(folder), 0);
    assert_string_equal(list.text, "");
}

/* Makes keys longer and longer. From some length on every call refuses them and leaves nothing
 * behind. */
static void a_key_too_long_for_the_folder_is_refused_by_every_call(void **state)
{
    struct temp_store *f = *state;
    char root[FILE_PATH_SIZE], key[ROOM + 1];
    struct store *store = NULL;
    static enum error_code (*const calls[])(const struct place *p, struct error *err) = {
        put,          flush,         get,        remove_it,  publish_folder,
        publish_file, find_artifact, set_switch, get_switch, remove_switch,
        has};
    make_deep(&f->dir, FILE_PATH_SIZE - ROOM, root);
    assert_ok(store_open(root, 0, &store, &f->err), &f->err);
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        bool refused = false;
        for (size_t size = ROOM - 40; size < ROOM; size++) {
            struct place p = {.store = store, .root = root, .key = key};
            memset(key, 'k', size);
            key[size] = '\0';
            const long blocks = memory_live_blocks();
            const enum error_code rc = calls[c](&p, &f->err);
            assert_int_equal(memory_live_blocks(), blocks);
            assert_true(!refused || rc == ERROR_INVALID);
            if (rc == ERROR_INVALID)
                assert_non_null(strstr(f->err.message, "path is longer than"));
            refused = rc == ERROR_INVALID;
        }
        assert_true(refused);
        store_drop_cache(store, key); /* reports no error */
    }
    list_of_a_key_too_long(store, root);
    store_close(store);
}

/* Tests a store whose own folders have longer paths than a path may have. */
static void a_folder_with_no_room_for_the_stores_own_is_refused(void **state)
{
    struct temp_store *f = *state;
    bool was_refused = false;
    for (size_t size = FILE_PATH_SIZE - 50; size < FILE_PATH_SIZE; size++) {
        char root[FILE_PATH_SIZE];
        make_deep(&f->dir, size, root);
        struct place p = {.root = root, .key = "k"};
        enum error_code rc = store_open(root, 0, &p.store, &f->err);
        if (rc == ERROR_NONE) {
            rc = put(&p, &f->err);
            if (rc == ERROR_NONE)
                rc = publish(&p, "b", true, &f->err);
            if (rc == ERROR_NONE)
                has_number(&p);
            store_close(p.store);
        }
        assert_true(rc == ERROR_NONE ? !was_refused : rc == ERROR_INVALID);
        if (rc != ERROR_NONE)
            assert_non_null(strstr(f->err.message, "path is longer than"));
        was_refused = rc != ERROR_NONE;
    }
    assert_true(was_refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(whichever_call_fails_it_is_told_or_done),
        test_with_store(whichever_allocation_fails_it_is_told),
        test_with_store(a_key_too_long_for_the_folder_is_refused_by_every_call),
        test_with_store(a_folder_with_no_room_for_the_stores_own_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
