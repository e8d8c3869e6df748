#include "common/formats/feature_scaling.h"

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
        assert_ok(feature_scaling_write(path, &scaling[i], &err), &err);
        assert_ok(feature_scaling_read(path, &read, &err), &err);
        assert_true(read.has_least == scaling[i].has_least && read.dim == scaling[i].dim);
        assert_memory_equal(&read.least, &scaling[i].least, sizeof read.least);
        assert_true(!read.dim || memcmp(read.mean, mean, read.dim * sizeof *mean) == 0);
        assert_true(!read.dim || memcmp(read.deviation, deviation, read.dim * sizeof *mean) == 0);
        feature_scaling_release(&read);
    }
}

static void what_is_wrong_is_named_with_its_line(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "scaling.csv: expected 'least,' and a number, or 'mean,deviation', found neither"},
        {"least,\n", "scaling.csv:1: least: expected a number, found ''"},
        {"least,1\nleast,2\n",
         "scaling.csv:2: expected 'least,' and a number, or 'mean,deviation'"},
        {"average,1\n", "scaling.csv:1: expected 'least,'"},
        {"mean,deviation\n1,2\n3\n", "scaling.csv:3: deviation: expected a number, found ''"},
        {"mean,deviation\nnan,2\n", "scaling.csv:2: mean: expected a number, found 'nan'"},
        {"mean,deviation\n1,-2\n", "scaling.csv:2: deviation: expected 0 or more, found -2"},
        {"mean,deviation\n1,2,3\n", "scaling.csv:2: deviation: expected a number, found '2,3'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        struct feature_scaling read;
        assert_fails(feature_scaling_read(file_of(state, cases[i].text), &read, &err), ERROR_INPUT,
                     cases[i].message, &err);
        assert_null(read.mean);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_come_back_to_the_bit, temp_dir_setup,
                                        temp_dir_teardown),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_named_with_its_line, temp_dir_setup,
                                        temp_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
