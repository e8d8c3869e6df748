/* Which store belongs to the folder of a run, however its first run ends. */
#include "common/base/text.h"
#include "pipelines/shared/run_folder.h"

#include "tests/support/failing_calls.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdio.h>

struct scene {
    struct temp_dir dir;
    char folder[FILE_PATH_SIZE], uri[FILE_PATH_SIZE];
    struct error err;
};

/* Opens two stores; the durable one is where the folder's own store would be. */
static struct scene open_scene(void)
{
    struct scene s = {.folder = ""};
    temp_dir_make(&s.dir);
    assert_ok(file_path(s.folder, &s.err, "%s/run", s.dir.path), &s.err);
    (void)snprintf(s.uri, sizeof s.uri, "tiered:dir:%.200s/fast^dir:%.200s/store", s.folder,
                   s.folder);
    return s;
}

static enum error_code create(struct scene *s, const char *uri)
{
    struct run_folder folder = {.path = ""};
    const enum error_code rc = run_folder_create(&folder, s->folder, uri, &s->err);
    if (rc == ERROR_NONE)
        run_folder_close(&folder);
    return rc;
}

static void an_end_at_any_call_leaves_a_folder_of_that_store_or_of_none(void **state)
{
    (void)state;
    static const enum failing_call calls[] = {CALL_OPEN, CALL_WRITE, CALL_RENAME, CALL_MKDIR,
                                              CALL_LINK};
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        for (long passed = 0, failed = 1; failed; passed++) {
            struct scene s = open_scene();
            failing_calls_plan(calls[c], passed, -1,
                               ENOSPC); /* from this call on nothing is written */
            const enum error_code rc = create(&s, s.uri);
            failed = failing_calls_end();
            assert_true(failed || rc == ERROR_NONE);
            assert_ok(create(&s, s.uri), &s.err);
            assert_ok(create(&s, NULL), &s.err);
            assert_fails(create(&s, "dir:/elsewhere"), ERROR_INVALID, s.uri, &s.err);
            temp_dir_remove(&s.dir);
        }
    }
}

static void an_address_that_nothing_is_at_may_be_mended(void **state)
{
    (void)state;
    struct scene s = open_scene();
    assert_int_not_equal(create(&s, "dir:/proc/no-such-place/store"), ERROR_NONE);
    assert_ok(create(&s, s.uri), &s.err);
    assert_int_not_equal(create(&s, "dir:/proc/no-such-place/store"), ERROR_NONE);
    assert_ok(create(&s, s.uri), &s.err); /* the earlier record is still valid */
    temp_dir_remove(&s.dir);
}

/* A store in the folder counts as on a file system of this host. */
static void a_store_lies_in_the_folder_or_in_another(void **state)
{
    (void)state;
    static const struct {
        const char *uri; /* %s is the folder; NULL: its own store */
        bool is_inside;
    } cases[] = {{NULL, true},
                 {"dir:%s/store", true},
                 {"dir:%s-2/store", false}, /* next to it, in a folder whose name begins alike */
                 {"tiered:dir:%s-2/fast^dir:%s/store", true},
                 {"tiered:dir:%s/fast^dir:%s-2/store", false},
                 {"memory:a", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene s = open_scene();
        struct run_folder folder = {.path = ""};
        char *uri = s.uri;
        (void)snprintf(s.uri, sizeof s.uri, "%s", cases[i].uri ? cases[i].uri : "");
        while (text_replace(s.uri, sizeof s.uri, "%s", s.folder))
            ;
        assert_ok(run_folder_create(&folder, s.folder, cases[i].uri ? uri : NULL, &s.err), &s.err);
        if (run_folder_has_store(&folder) != cases[i].is_inside)
            fail_msg("%s: expected %d", s.uri, cases[i].is_inside);
        run_folder_close(&folder);
        temp_dir_remove(&s.dir);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_at_any_call_leaves_a_folder_of_that_store_or_of_none),
        cmocka_unit_test(an_address_that_nothing_is_at_may_be_mended),
        cmocka_unit_test(a_store_lies_in_the_folder_or_in_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
