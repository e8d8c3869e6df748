#include "common/files/file.h"
#include "pipelines/report/class_counts.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <math.h>

static const struct column_encoding no_words;

static const char *write_file(struct temp_dir *dir, const char *text)
{
    static char path[FILE_PATH_SIZE];
    struct error err = {0};
    assert_ok(file_path(path, &err, "%s/predictions.csv", dir->path), &err);
    assert_ok(file_replace(path, text, strlen(text), false, &err), &err);
    return path;
}

static int make(void **state)
{
    static struct temp_dir dir;
    temp_dir_make(&dir);
    *state = &dir;
    return 0;
}

static int remove_it(void **state)
{
    temp_dir_remove(*state);
    return 0;
}

static void counts_the_test_split(void **state)
{
    struct class_counts counts;
    struct error err = {0};
    const char *path = write_file(*state, "node,split,label,prediction,probability\n"
                                          "a,train,0,1,0.5\nb,test,0,0,0.9\nc,test,0,2,0.9\n"
                                          "d,test,2,2,0.9\ne,test,,1,0.4\nf,valid,1,1,0.5\n");
    assert_ok(class_counts_read(path, 3, &no_words, &counts, &err), &err);
    assert_string_equal(counts.split, "test");
    assert_true(counts.nodes == 3.0);
    assert_true(counts.count[0] == 1.0 && counts.count[2] == 1.0 && counts.count[8] == 1.0);
    const struct class_score zero = class_counts_score(&counts, 0);
    assert_true(zero.precision == 1.0 && zero.recall == 0.5);
    assert_true(fabs(zero.f1 - 2.0 / 3.0) < 1e-12);
    /* A class without nodes and without predictions has no score. */
    const struct class_score one = class_counts_score(&counts, 1);
    assert_true(isnan(one.precision) && isnan(one.recall) && isnan(one.f1));
    class_counts_release(&counts);
}

static void takes_validation_where_nothing_is_tested(void **state)
{
    struct class_counts counts;
    struct error err = {0};
    const char *path =
        write_file(*state, "node,split,label,prediction\n1,valid,1,0\n2,train,1,1\n");
    assert_ok(class_counts_read(path, 2, &no_words, &counts, &err), &err);
    assert_string_equal(counts.split, "valid");
    assert_true(counts.nodes == 1.0 && counts.count[2] == 1.0);
    class_counts_release(&counts);
}

static void other_tasks_and_many_classes_have_none(void **state)
{
    struct class_counts counts;
    struct error err = {0};
    const char *path = write_file(*state, "source,target,score\n1,2,0.5\n");
    assert_ok(class_counts_read(path, 3, &no_words, &counts, &err), &err);
    assert_null(counts.count);
    assert_ok(class_counts_read(path, CLASS_COUNT_MAX + 1, &no_words, &counts, &err), &err);
    assert_null(counts.count);
}

static void what_does_not_fit_is_named(void **state)
{
    struct class_counts counts;
    struct error err = {0};
    const char *path = write_file(*state, "node,split,label,prediction\n1,test,0,0\n2,test,0,7\n");
    assert_fails(class_counts_read(path, 2, &no_words, &counts, &err), ERROR_INPUT, "line 3", &err);
    path = write_file(*state, "node,split,label,prediction\n1,test,0\n");
    assert_fails(class_counts_read(path, 2, &no_words, &counts, &err), ERROR_INPUT,
                 "expected 4 fields", &err);
    assert_fails(class_counts_read("/nonexistent", 2, &no_words, &counts, &err), ERROR_NOT_FOUND,
                 "", &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_the_test_split),
        cmocka_unit_test(takes_validation_where_nothing_is_tested),
        cmocka_unit_test(other_tasks_and_many_classes_have_none),
        cmocka_unit_test(what_does_not_fit_is_named),
    };
    return cmocka_run_group_tests(tests, make, remove_it);
}
