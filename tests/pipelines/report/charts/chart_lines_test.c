#include "common/base/memory.h"
#include "pipelines/report/charts/chart.h"

#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

/* Returns the path data of the first line. */
static const char *path_of(const char *text)
{
    const char *at = strstr(text, " d='");
    assert_non_null(at);
    return at + 4;
}

static void axis_steps_are_round(void **state)
{
    (void)state;
    assert_true(fabs(chart_step(10.0, 5) - 2.0) < 1e-12);
    assert_true(fabs(chart_step(0.07, 5) - 0.02) < 1e-12);
    assert_true(fabs(chart_step(3.0, 5) - 1.0) < 1e-12);
    assert_true(fabs(chart_step(0.0, 5) - 1.0) < 1e-12);
    assert_true(fabs(chart_step((double)INFINITY, 5) - 1.0) < 1e-12);
}

static void a_gap_lifts_the_pen(void **state)
{
    (void)state;
    const double x[] = {0, 1, 2, 3, 4}, y[] = {1, 2, (double)NAN, 4, 5};
    const struct chart_series series = {.name = "loss", .x = x, .y = y, .count = 5};
    struct html_text html = {0};
    chart_lines(&html, &(struct chart_lines){
                           .title = "t", .x_name = "round", .series = &series, .series_count = 1});
    char *end = strchr(path_of(html.text), '\'');
    *end = '\0';
    assert_int_equal(count_of(path_of(html.text), "M"), 2);
    assert_int_equal(count_of(path_of(html.text), "L"), 2);
    html_text_release(&html);
}

/* One peak among 100,000 points is visible in the picture, which has at most two points for each
 * column of pixels. */
static void a_peak_among_many_points_stays(void **state)
{
    (void)state;
    enum { COUNT = 100000, PEAK = 54321 };
    double *x = NULL, *y = NULL;
    struct error err = {0};
    assert_ok(memory_new(&x, COUNT, "x", &err), &err);
    assert_ok(memory_new(&y, COUNT, "y", &err), &err);
    for (int i = 0; i < COUNT; i++)
        x[i] = i;
    y[PEAK] = 10.0;
    const struct chart_series series = {.name = "n", .x = x, .y = y, .count = COUNT};
    struct html_text html = {0};
    chart_lines(&html, &(struct chart_lines){
                           .title = "t", .x_name = "round", .series = &series, .series_count = 1});
    char *path = strstr(html.text, " d='") + 4;
    *strchr(path, '\'') = '\0';
    assert_true(count_of(path, "L") + count_of(path, "M") <= (size_t)2 * CHART_POINTS_MAX);
    assert_non_null(strstr(path, " 12.0")); /* the top of the frame */
    memory_free(x);
    memory_free(y);
    html_text_release(&html);
}

static void nothing_to_draw_is_said(void **state)
{
    (void)state;
    const double x[] = {0, 1}, y[] = {(double)NAN, (double)NAN};
    const struct chart_series series = {.name = "n", .x = x, .y = y, .count = 2};
    struct html_text html = {0};
    chart_lines(&html, &(struct chart_lines){
                           .title = "a<b", .x_name = "r", .series = &series, .series_count = 1});
    assert_non_null(strstr(html.text, "nothing was measured"));
    assert_non_null(strstr(html.text, "a&lt;b"));
    assert_null(strstr(html.text, "<svg"));
    html_text_release(&html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axis_steps_are_round),
        cmocka_unit_test(a_gap_lifts_the_pen),
        cmocka_unit_test(a_peak_among_many_points_stays),
        cmocka_unit_test(nothing_to_draw_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
