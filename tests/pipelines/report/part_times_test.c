/* Computes which part waited for which, from given lines of workers. */
#include "pipelines/report/part_times.h"

#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>

enum { PARTS = 3, TEXT_SIZE = 8192 };

static char text[TEXT_SIZE];
static size_t size;

static void add(const char *line)
{
    size += (size_t)snprintf(text + size, sizeof text - size, "%s\n", line);
    assert_true(size < sizeof text);
}

static void add_layer(int layer, int part, double begun, double ended)
{
    char line[256];
    (void)snprintf(line, sizeof line,
                   "{\"stage\":\"infer\",\"worker\":\"infer-0\",\"run\":\"r-1\",\"part\":%d,"
                   "\"layer\":%d,\"weights\":9,\"begun\":%g,\"ended\":%g}",
                   part, layer, begun, ended);
    add(line);
}

static void find(struct part_time out[PARTS])
{
    struct run_times times = {0};
    struct error err = {0};
    assert_ok(run_times_add(&times, text, size, "r-1", &err), &err);
    assert_ok(part_times_find(&times, PARTS, out, &err), &err);
    run_times_release(&times);
    size = 0;
}

static bool is(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

static void a_part_waits_from_its_end_to_that_of_the_last(void **state)
{
    (void)state;
    struct part_time time[PARTS];
    add_layer(1, 2, 0, 1);
    add_layer(1, 0, 0, 5);
    add_layer(1, 1, 1, 3); /* the worker of part 2 */
    add_layer(2, 0, 5, 9);
    add_layer(2, 1, 5, 6);
    add_layer(2, 2, 6, 7);
    find(time);
    assert_true(is(time[0].infer, 9) && is(time[1].infer, 3) && is(time[2].infer, 2));
    assert_true(is(time[0].waited, 0) && is(time[1].waited, 2 + 3) && is(time[2].waited, 4 + 2));
    assert_int_equal(time[0].last, 2);
    assert_int_equal(time[1].last + time[2].last, 0);
    assert_true(part_times_are_known(time, PARTS));
}

static void a_layer_that_was_done_twice_counts_once(void **state)
{
    (void)state;
    struct part_time time[PARTS];
    add_layer(1, 0, 2, 40); /* a second worker computed it, too, and ended later */
    add_layer(1, 0, 0, 4);
    add_layer(1, 1, 0, 1);
    add_layer(1, 7, 0, 90); /* the partition has no such part */
    find(time);
    assert_true(is(time[0].infer, 4) && is(time[0].waited, 0) && is(time[1].waited, 3));
    assert_int_equal(time[0].last, 1);
}

static void one_part_alone_is_waited_for_by_none(void **state)
{
    (void)state;
    struct part_time time[PARTS];
    add_layer(1, 1, 0, 1);
    find(time);
    assert_int_equal(time[1].last, 0);
    assert_true(is(time[1].infer, 1) && is(time[1].waited, 0));
}

#define TRAINED(run, unit, seconds, amounts)                                                       \
    "{\"stage\":\"s\",\"worker\":\"w-0\",\"run\":\"" run "\",\"unit\":\"" unit                     \
    "\",\"epoch\":1,\"units\":3,\"first\":1,\"last_end\":9,\"part_seconds\":" seconds              \
    ",\"part_amounts\":" amounts "}"

static void shares_of_training_add_up(void **state)
{
    (void)state;
    struct part_time time[PARTS];
    add(TRAINED("r-1", "sample", "[1,2,0.5]", "[10,20,5]"));
    add(TRAINED("r-1", "train-step", "[4,1,1]", "[40,10,10]"));
    add(TRAINED("r-1", "train-step", "[1,1,1]", "[4,4,4]"));
    add(TRAINED("r-1", "step-layer", "[2,0,0]", "[9,0,0]")); /* the same rows again */
    add(TRAINED("r-2", "train-step", "[50,50,50]", "[1,1,1]"));
    find(time);
    assert_true(is(time[0].sample, 1) && is(time[1].sample, 2) && is(time[2].sample, 0.5));
    assert_true(is(time[0].step, 7) && is(time[1].step, 2) && is(time[2].step, 2));
    assert_true(is(time[0].rows, 44) && is(time[1].rows, 14) && is(time[2].rows, 14));
    assert_true(is(time[0].waited, 0));
}

static void without_lines_nothing_is_known(void **state)
{
    (void)state;
    struct part_time time[PARTS];
    add("{\"stage\":\"infer\",\"worker\":\"infer-0\",\"run\":\"r-1\",\"part\":-1,\"layer\":1}");
    find(time);
    assert_false(part_times_are_known(time, PARTS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_waits_from_its_end_to_that_of_the_last),
        cmocka_unit_test(a_layer_that_was_done_twice_counts_once),
        cmocka_unit_test(one_part_alone_is_waited_for_by_none),
        cmocka_unit_test(shares_of_training_add_up),
        cmocka_unit_test(without_lines_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
