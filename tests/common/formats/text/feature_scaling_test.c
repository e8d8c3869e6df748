#include "common/formats/text/feature_scaling.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <string.h>

static const char *file_of(void **state, const char *text)
{
    return temp_dir_write(*state, "scaling.csv", text, strlen(text));
}

static void numbers_come_back_to_the_bit(void **state)
{
    double mean[] = {1.0 / 3, -1e300, 0}, deviation[] = {0, 0.1, 5e-324};
    const struct feature_scaling scaling[] = {
        {.has_least = true, .least = -1.0 / 7, .dim = 3, .mean = mean, .deviation = deviation},
        {.has_least = true, .least = 0},
        {.dim = 2, .mean = mean, .deviation = deviation}};
    const char *path = file_of(state, "");
    for (size_t i = 0; i < sizeof scaling / sizeof *scaling; i++) {
        struct error err = {0};
        struct feature_scaling read;
        assert_ok(feature_scaling_write(path, &scaling[i], 1, &err), &err);
        assert_ok(feature_scaling_read(path, NULL, &read, &err), &err);
        assert_true(read.has_least == scaling[i].has_least && read.dim == scaling[i].dim);
        assert_memory_equal(&read.least, &scaling[i].least, sizeof read.least);
        assert_true(!read.dim || memcmp(read.mean, mean, read.dim * sizeof *mean) == 0);
        assert_true(!read.dim || memcmp(read.deviation, deviation, read.dim * sizeof *mean) == 0);
        feature_scaling_release(&read);
    }
}

static void each_type_has_its_own(void **state)
{
    double mean[] = {1, 2}, deviation[] = {3, 4};
    const struct feature_scaling scaling[] = {
        {.type = "a paper, typed", .has_least = true, .least = 1},
        {.type = "author",
         .has_least = true,
         .least = 2,
         .dim = 2,
         .mean = mean,
         .deviation = deviation},
        {.type = "venue", .dim = 1, .mean = mean, .deviation = deviation}};
    const char *path = file_of(state, "");
    struct error err = {0};
    struct feature_scaling read;
    assert_ok(feature_scaling_write(path, scaling, 3, &err), &err);
    for (size_t i = 0; i < 3; i++) {
        assert_ok(feature_scaling_read(path, scaling[i].type, &read, &err), &err);
        assert_true(read.has_least == scaling[i].has_least && read.dim == scaling[i].dim);
        assert_true(!read.has_least || read.least == (double)i + 1);
        assert_true(!read.dim || memcmp(read.mean, mean, read.dim * sizeof *mean) == 0);
        assert_true(!read.dim || memcmp(read.deviation, deviation, read.dim * sizeof *mean) == 0);
        feature_scaling_release(&read);
    }
    assert_ok(feature_scaling_read(path, "journal", &read, &err), &err);
    assert_true(!read.has_least && !read.dim);
}

static void what_is_wrong_is_named_with_its_line(void **state)
{
    static const struct {
        const char *text, *message, *type;
    } cases[] = {
        {"", "scaling.csv: expected 'least,' and a number, or 'mean,deviation', found neither",
         NULL},
        {"least,\n", "scaling.csv:1: least: expected a number, found ''", NULL},
        {"least,1\nleast,2\n", "scaling.csv:2: expected 'least,' and a number, or 'mean,deviation'",
         NULL},
        {"average,1\n", "scaling.csv:1: expected 'least,'", NULL},
        {"mean,deviation\n1,2\n3\n", "scaling.csv:3: deviation: expected a number, found ''", NULL},
        {"mean,deviation\nnan,2\n", "scaling.csv:2: mean: expected a number, found 'nan'", NULL},
        {"mean,deviation\n1,-2\n", "scaling.csv:2: deviation: expected 0 or more, found -2", NULL},
        {"mean,deviation\n1,2,3\n", "scaling.csv:2: deviation: expected a number, found '2,3'",
         NULL},
        {"type,paper\nleast,1\n",
         "scaling.csv:1: expected a graph without relations, found type 'paper'", NULL},
        {"least,1\n", "scaling.csv:1: expected 'type,' and the name of a node type", "paper"},
        {"type,paper\ntype,author\nleast,1\n", "scaling.csv: expected 'least,'", "author"},
        {"type,author\nmean,deviation\n1,x\ntype,paper\nleast,1\n",
         "scaling.csv:3: deviation: expected a number, found 'x'", "paper"},
        {"type,paper\nleast,1\ntype,paper\nleast,1\n", "scaling.csv:3: type 'paper' is there twice",
         "paper"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        struct feature_scaling read;
        assert_fails(
            feature_scaling_read(file_of(state, cases[i].text), cases[i].type, &read, &err),
            ERROR_INPUT, cases[i].message, &err);
        assert_null(read.mean);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_come_back_to_the_bit, temp_dir_setup,
                                        temp_dir_teardown),
        cmocka_unit_test_setup_teardown(each_type_has_its_own, temp_dir_setup, temp_dir_teardown),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_named_with_its_line, temp_dir_setup,
                                        temp_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
