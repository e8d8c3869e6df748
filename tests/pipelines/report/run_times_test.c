#include "pipelines/report/run_times.h"

#include "tests/support/test.h"

#include <math.h>

#define SPAN(worker, run, first, compute)                                                          \
    "{\"stage\":\"sample\",\"worker\":\"" worker "\",\"run\":\"" run                               \
    "\",\"unit\":\"sample\",\"epoch\":1,\"units\":3,\"first\":" #first                             \
    ",\"first_end\":1,\"last_end\":9,\"wait\":1,\"read\":0,\"compute\":" #compute                  \
    ",\"write\":0,\"hand_over\":0,\"ahead\":0,\"rows\":0,\"row_bytes\":5,"                         \
    "\"record_bytes_read\":1,\"record_bytes_written\":2}\n"

static const char text[] = SPAN("sample-0", "r-1", 4, 1) SPAN("sample-1", "r-1", 5, 3) SPAN(
    "sample-1", "r-2", 5,
    30) "{\"stage\":\"ingest\",\"worker\":\"h-1\",\"run\":\"\",\"unit\":\"ingest\",\"epoch\":0,"
        "\"units\":1,\"first\":50,\"last_end\":52,\"compute\":2}\n"
        "{\"stage\":\"sample\",\"worker\":\"sample-0\",\"run\":\"r-1\",\"pid\":1,\"started\":3,"
        "\"ended\":4,\"open\":0.5,\"idle\":0,\"peak_bytes\":100,\"user\":1,\"system\":2}\n"
        "{\"stage\":\"sample\",\"worker\":\"sample-0\",\"run\":\"r-1\",\"pid\":2,\"started\":4,"
        "\"ended\":9,\"open\":0.25,\"idle\":0,\"peak_bytes\":70,\"user\":1,\"system\":0}\n"
        "{\"stage\":\"sample\",\"worker\":\"sam";

/* Spans of another run and the line that a kill cut off do not count; those of ingest, which has no
 * run, do. */
static void sums_up_by_stage_in_the_order_of_the_flow(void **state)
{
    (void)state;
    struct run_times times = {0};
    struct stage_figures stage[STAGE_FIGURES_MAX];
    struct error err = {0};
    assert_ok(run_times_add(&times, text, sizeof text - 1, "r-1", &err), &err);
    assert_int_equal(run_times_by_stage(&times, stage), 2);
    assert_string_equal(stage[0].stage, "ingest");
    assert_string_equal(stage[1].stage, "sample");
    assert_int_equal(stage[1].workers, 2);
    assert_int_equal(stage[1].lives, 2);
    assert_int_equal(stage[1].units, 6);
    assert_true(stage[1].compute == 4.0 && stage[1].wait == 2.0 && stage[1].row_bytes == 10.0);
    assert_true(stage[1].peak_bytes == 100.0 && stage[1].cpu == 4.0 && stage[1].open == 0.75);
    /* busy 1 and 3: mean 2, deviation 1 */
    assert_true(fabs(stage[1].busy_variation - 0.5) < 1e-12);
    run_times_release(&times);
}

static void a_missing_folder_is_an_empty_one(void **state)
{
    (void)state;
    struct run_times times;
    struct error err = {0};
    assert_ok(run_times_read("/nonexistent/times", "r-1", &times, &err), &err);
    assert_int_equal(times.span_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_up_by_stage_in_the_order_of_the_flow),
        cmocka_unit_test(a_missing_folder_is_an_empty_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
