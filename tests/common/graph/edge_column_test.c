#include "common/base/memory.h"
#include "common/graph/edge_column.h"

#include "tests/support/test.h"

#include <math.h>

enum { EDGES = 20 };

static const struct edge_widths everything = {
    {[EDGE_WEIGHT] = 1, [EDGE_TYPE] = 1, [EDGE_ID] = 1, [EDGE_FEATURE] = 3, [EDGE_TIME] = 1}};

/* Makes edges: edge i has the number i in each column, and i + k / 4 in element k. */
static struct edge_columns filled(void)
{
    struct error err = {0};
    struct edge_columns columns;
    assert_ok(edge_columns_new(&columns, &everything, EDGES, "edges", &err), &err);
    for (int i = 0; i < EDGES; i++) {
        ((float *)columns.data[EDGE_WEIGHT])[i] = (float)i;
        ((uint16_t *)columns.data[EDGE_TYPE])[i] = (uint16_t)i;
        ((int64_t *)columns.data[EDGE_TIME])[i] = i;
        ((int64_t *)columns.data[EDGE_ID])[i] = INT64_MIN + i;
        for (int k = 0; k < 3; k++)
            ((float *)columns.data[EDGE_FEATURE])[i * 3 + k] = (float)i + (float)k * 0.25F;
    }
    return columns;
}

static void assert_is(const struct edge_columns *columns, uint64_t at, int i)
{
    const struct edge_columns_view view = edge_columns_read(columns, at);
    assert_true(*(const float *)view.data[EDGE_WEIGHT] == (float)i);
    assert_int_equal(*(const uint16_t *)view.data[EDGE_TYPE], i);
    assert_true(*(const int64_t *)view.data[EDGE_TIME] == i);
    assert_int_equal(*(const int64_t *)view.data[EDGE_ID], INT64_MIN + i);
    for (int k = 0; k < 3; k++)
        assert_true(((const float *)view.data[EDGE_FEATURE])[k] == (float)i + (float)k * 0.25F);
}

static void every_row_of_the_table_is_whole(void **state)
{
    (void)state;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        const struct edge_column_row *row = &edge_column[c];
        assert_true(row->name && strlen(row->name) < 16);
        assert_true(row->what && row->plural);
        assert_true(c == EDGE_LABEL || c == EDGE_TIME_F64 || row->file);
        assert_true(element_size(row->type) > 0);
        assert_true(edge_column_may_be((enum edge_column)c, 1));
        assert_int_equal(edge_column_may_be((enum edge_column)c, 2), row->has_width);
        assert_false(edge_column_may_be((enum edge_column)c, EDGE_COLUMN_WIDTH_MAX + 1));
    }
}

static void all_columns_of_edges_move_together(void **state)
{
    (void)state;
    struct error err = {0};
    struct edge_columns from = filled(), to;
    const struct edge_columns_view view = edge_columns_read(&from, 0);
    const uint64_t order[] = {7ULL << 32 | 4, 7ULL << 32 | 19, 0};
    char bytes[4 + 2 + 8 + 8 + 12];
    assert_int_equal(edge_widths_bytes(&everything), sizeof bytes);
    assert_ok(edge_columns_new(&to, &everything, EDGES, "edges", &err), &err);
    edge_columns_copy(&to, 3, &view, 9, 4);
    edge_columns_gather(&to, 10, &view, order, 3);
    edge_columns_pack(&view, 17, bytes);
    edge_columns_unpack(&to, 1, bytes);
    for (uint64_t i = 0; i < 4; i++)
        assert_is(&to, 3 + i, 9 + (int)i);
    assert_is(&to, 10, 4);
    assert_is(&to, 11, 19);
    assert_is(&to, 12, 0);
    assert_is(&to, 1, 17);
    edge_columns_release(&from);
    edge_columns_release(&to);
    assert_int_equal(memory_live_blocks(), 0);
}

static void edges_are_told_apart_by_type_then_time_alone(void **state)
{
    (void)state;
    struct edge_columns columns = filled();
    const struct edge_columns_view view = edge_columns_read(&columns, 0);
    uint16_t *type = columns.data[EDGE_TYPE];
    int64_t *time = columns.data[EDGE_TIME];
    assert_true(edge_columns_compare(&view, 1, &view, 2) < 0);
    type[1] = 9;
    assert_true(edge_columns_compare(&view, 1, &view, 2) > 0);
    type[1] = type[2];
    assert_true(edge_columns_compare(&view, 1, &view, 2) < 0);
    time[1] = time[2];
    assert_int_equal(edge_columns_compare(&view, 1, &view, 2),
                     0);     /* weights, ids and features differ */
    time[1] = INT64_MAX - 1; /* as doubles they would be equal */
    time[2] = INT64_MAX;
    assert_true(edge_columns_compare(&view, 1, &view, 2) < 0);
    assert_int_equal(edge_columns_time(&view, 1), INT64_MAX - 1);
    const struct edge_widths weights = {{[EDGE_WEIGHT] = 1}};
    assert_true(edge_widths_distinguish(&everything));
    assert_false(edge_widths_distinguish(&weights));
    edge_columns_release(&columns);
}

/* A dataset of an earlier release has times as doubles. */
static void times_that_are_doubles_keep_their_order(void **state)
{
    static const double time[] = {
        -(double)INFINITY, -1e300,           -2,    -0.25,           -1e-310, 0, 1e-310, 0.25,
        1289241911.72836,  1289241911.72837, 1e300, (double)INFINITY};
    const struct edge_columns_view view = {.width.of[EDGE_TIME_F64] = 1,
                                           .data[EDGE_TIME_F64] = time};
    const struct edge_columns_view none = {.width.of[EDGE_WEIGHT] = 1};
    (void)state;
    for (uint64_t i = 0; i < sizeof time / sizeof *time; i++) {
        const int64_t own = edge_columns_time(&view, i);
        double back = 0;
        edge_time_put(&back, true, own);
        assert_memory_equal(&back, &time[i], sizeof back);
        assert_true(i == 0 || own > edge_columns_time(&view, i - 1));
        assert_true(i == 0 || edge_columns_compare(&view, i - 1, &view, i) < 0);
    }
    assert_int_equal(edge_time_of_double(-0.0), edge_time_of_double(0.0));
    assert_int_equal(edge_columns_time(&none, 0), 0);
    assert_true(edge_widths_have(&view.width, EDGE_TIME));
    assert_false(edge_widths_have(&none.width, EDGE_TIME));
    assert_string_equal(edge_column_shown(EDGE_TIME), edge_column_shown(EDGE_TIME_F64));
}

static void what_is_no_number_is_found_in_its_column(void **state)
{
    (void)state;
    struct edge_columns columns = filled();
    const struct edge_columns_view view = edge_columns_read(&columns, 0);
    double value = 0.0;
    for (uint64_t i = 0; i < EDGES; i++)
        assert_int_equal(edge_columns_not_finite(&view, i, &value), EDGE_COLUMN_COUNT);
    ((float *)columns.data[EDGE_FEATURE])[3 * 5 + 2] = INFINITY;
    assert_int_equal(edge_columns_not_finite(&view, 5, &value), EDGE_FEATURE);
    assert_true(isinf(value));
    ((float *)columns.data[EDGE_WEIGHT])[5] = NAN;
    assert_int_equal(edge_columns_not_finite(&view, 5, &value), EDGE_WEIGHT);
    assert_int_equal(edge_columns_not_finite(&view, 6, &value), EDGE_COLUMN_COUNT);
    edge_columns_release(&columns);
}

static void texts_name_what_is_there(void **state)
{
    (void)state;
    char text[64], small[16];
    const struct edge_widths none = {{0}};
    edge_widths_text(&none, text, sizeof text);
    assert_string_equal(text, "");
    edge_widths_text(&everything, text, sizeof text);
    assert_string_equal(text, "edge weights, edge types, edge ids, edge features, edge times");
    edge_widths_text(&everything, small, sizeof small);
    assert_string_equal(small, "edge weights, e");
}

static void no_memory_leaves_nothing(void **state)
{
    (void)state;
    struct error err = {0};
    struct edge_columns columns;
    for (long n = 0; n < EDGE_LABEL; n++) { /* the columns that `everything` has */
        memory_fail_after(n);
        assert_fails(edge_columns_new(&columns, &everything, EDGES, "edges", &err), ERROR_NO_MEMORY,
                     "edges", &err);
        memory_fail_after(-1);
        assert_int_equal(memory_live_blocks(), 0);
        assert_int_equal(edge_widths_bytes(&columns.width), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_table_is_whole),
        cmocka_unit_test(all_columns_of_edges_move_together),
        cmocka_unit_test(edges_are_told_apart_by_type_then_time_alone),
        cmocka_unit_test(times_that_are_doubles_keep_their_order),
        cmocka_unit_test(what_is_no_number_is_found_in_its_column),
        cmocka_unit_test(texts_name_what_is_there),
        cmocka_unit_test(no_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
