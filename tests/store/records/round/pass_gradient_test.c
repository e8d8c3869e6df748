/* What a layer leaves comes back as it was; parts that cannot be those of the rows are refused. */
#include "store/records/round/pass_gradient.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

enum { VALUES = 6, FIRST_ROWS = 3, SECOND_ROWS = 4, COLUMNS = 2 };

static struct key key_of_pass(void)
{
    return key_pass_gradient("r", 4, 3, 1);
}

/* Two parts, one behind the other, in `row`. */
static struct pass_gradient gradient_of(const float value[VALUES],
                                        const float row[(FIRST_ROWS + SECOND_ROWS) * COLUMNS])
{
    return (struct pass_gradient){
        .weights_version = 4,
        .value_count = VALUES,
        .value = value,
        .part_count = 2,
        .part = {{0, 0, FIRST_ROWS, COLUMNS, false, row},
                 {1, 2, SECOND_ROWS, COLUMNS, true, row + (size_t)FIRST_ROWS * COLUMNS}}};
}

static void what_a_layer_leaves_comes_back(void **state)
{
    struct temp_store *t = *state;
    const struct key key = key_of_pass();
    const float value[VALUES] = {1, 2, 3, 4, 5, 6};
    float row[(FIRST_ROWS + SECOND_ROWS) * COLUMNS];
    struct pass_gradient read = {0}, put = gradient_of(value, row);
    for (int i = 0; i < (FIRST_ROWS + SECOND_ROWS) * COLUMNS; i++)
        row[i] = (float)i;
    put.has_loss = true;
    put.seed_count = 9;
    put.correct_count = 5;
    put.loss_sum = 2.5;
    assert_ok(pass_gradient_put(t->store, "r", &key, &put, &t->err), &t->err);
    assert_ok(pass_gradient_get(t->store, "r", &key, &read, &t->err), &t->err);
    assert_int_equal(read.weights_version, 4);
    assert_int_equal(read.value_count, VALUES);
    assert_memory_equal(read.value, value, sizeof value);
    assert_int_equal(read.part_count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read.part[i].layer, put.part[i].layer);
        assert_int_equal(read.part[i].type, put.part[i].type);
        assert_int_equal(read.part[i].is_next, put.part[i].is_next);
        assert_int_equal(read.part[i].row_count, put.part[i].row_count);
        assert_int_equal(read.part[i].column_count, COLUMNS);
        assert_memory_equal(read.part[i].row, put.part[i].row,
                            (size_t)put.part[i].row_count * COLUMNS * sizeof(float));
    }
    assert_true(read.has_loss && read.seed_count == 9 && read.correct_count == 5);
    assert_true(read.loss_sum == 2.5);
    store_release_record(&read.view);
}

/* A graph with one node type has records without that section, as they were before there were types. */
static void parts_without_types_are_of_the_first(void **state)
{
    struct temp_store *t = *state;
    const struct key key = key_of_pass();
    const float value[VALUES] = {0}, row[(FIRST_ROWS + SECOND_ROWS) * COLUMNS] = {0};
    struct pass_gradient read = {0}, put = gradient_of(value, row);
    put.part[1].type = 0;
    assert_ok(pass_gradient_put(t->store, "r", &key, &put, &t->err), &t->err);
    assert_ok(pass_gradient_get(t->store, "r", &key, &read, &t->err), &t->err);
    assert_false(record_has(&read.view, "type"));
    assert_int_equal(read.part_count, 2);
    assert_true(read.part[0].type == 0 && read.part[1].type == 0);
    store_release_record(&read.view);
}

/* A layer without parameters that nothing lies below. */
static void a_layer_may_leave_nothing(void **state)
{
    struct temp_store *t = *state;
    const struct key key = key_of_pass();
    const struct pass_gradient put = {.weights_version = 4};
    struct pass_gradient read = {0};
    assert_ok(pass_gradient_put(t->store, "r", &key, &put, &t->err), &t->err);
    assert_ok(pass_gradient_get(t->store, "r", &key, &read, &t->err), &t->err);
    assert_int_equal(read.value_count, 0);
    assert_int_equal(read.part_count, 0);
    assert_false(read.has_loss);
    store_release_record(&read.view);
}

static void parts_that_do_not_go_with_the_rows_are_refused(void **state)
{
    struct temp_store *t = *state;
    const struct key key = key_of_pass();
    const float value[VALUES] = {0};
    const float row[(FIRST_ROWS + SECOND_ROWS) * COLUMNS] = {0};
    static const uint32_t odd[] = {0, 0, 3}, long_of[] = {0, 0, 8, 2}, short_of[] = {0, 0, 6, 2},
                          flag[] = {0, 2, 7, 2}, empty[] = {0, 0, 0, 2, 1, 1, 7, 2},
                          huge[] = {0, 0, 0xffffffff, 0xffffffff};
    const struct {
        struct tamper change;
        const char *says;
    } cases[] = {{{"part", ELEMENT_U32, odd, 3}, "part has 3 numbers"},
                 {{"part", ELEMENT_U32, long_of, 4}, "part has 4 numbers for 14 values"},
                 {{"part", ELEMENT_U32, short_of, 4}, "part has 4 numbers for 14 values"},
                 {{"part", ELEMENT_U32, flag, 4}, "part has 4 numbers"},
                 {{"part", ELEMENT_U32, empty, 8}, "part has 8 numbers"},
                 {{"part", ELEMENT_U32, huge, 4}, "part has 4 numbers"},
                 {{"part", ELEMENT_UNKNOWN, NULL, 0}, "part"},
                 {{"row", ELEMENT_UNKNOWN, NULL, 0}, "row"},
                 {{"type", ELEMENT_U32, odd, 3}, "type"},
                 {{"version", ELEMENT_UNKNOWN, NULL, 0}, "version"},
                 {{"value", ELEMENT_U32, odd, 3}, "value"}};
    const struct pass_gradient put = gradient_of(value, row);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pass_gradient read = {0};
        assert_ok(store_remove(t->store, key.text, &t->err), &t->err);
        assert_ok(pass_gradient_put(t->store, "r", &key, &put, &t->err), &t->err);
        record_tamper(t->store, key.text, "r", &cases[i].change);
        assert_fails(pass_gradient_get(t->store, "r", &key, &read, &t->err), ERROR_CORRUPT,
                     cases[i].says, &t->err);
        assert_int_equal(read.part_count, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(what_a_layer_leaves_comes_back),
        test_with_store(parts_without_types_are_of_the_first),
        test_with_store(a_layer_may_leave_nothing),
        test_with_store(parts_that_do_not_go_with_the_rows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
