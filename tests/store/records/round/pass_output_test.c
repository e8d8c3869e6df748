/* Rows of a layer come back as they were, in both precisions; a record whose sections do not go together is refused. */
#include "store/records/round/pass_output.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

enum { ROWS = 7, COLUMNS = 5 };

static void rows_come_back_in_both_precisions(void **state)
{
    struct temp_store *t = *state;
    for (enum precision precision = PRECISION_FP32; precision <= PRECISION_BF16; precision++) {
        const struct key key = key_pass_output("r", 4, 1 + (int)precision, 3);
        const size_t bytes =
            ROWS * precision_stride(precision, COLUMNS) * precision_bytes(precision);
        float value[ROWS * (COLUMNS + 1)];
        struct pass_output read = {0};
        for (size_t i = 0; i < sizeof value / sizeof *value; i++)
            value[i] = (float)i / 3;
        const struct pass_output put = {.weights_version = 4,
                                        .row_count = ROWS,
                                        .column_count = COLUMNS,
                                        .precision = precision,
                                        .value = value};
        assert_ok(pass_output_put(t->store, "r", &key, &put, &t->err), &t->err);
        assert_ok(pass_output_get(t->store, "r", &key, &read, &t->err), &t->err);
        assert_int_equal(read.weights_version, 4);
        assert_int_equal(read.row_count, ROWS);
        assert_int_equal(read.column_count, COLUMNS);
        assert_int_equal(read.precision, precision);
        assert_memory_equal(read.value, value, bytes);
        store_release_record(&read.view);
    }
}

static void sections_that_do_not_go_together_are_refused(void **state)
{
    struct temp_store *t = *state;
    const struct key key = key_pass_output("r", 4, 1, 3);
    const float value[ROWS * COLUMNS] = {0};
    static const uint32_t wide[] = {ROWS, COLUMNS + 1}, none[] = {0, COLUMNS}, short_of[] = {ROWS};
    const struct pass_output put = {.row_count = ROWS, .column_count = COLUMNS, .value = value};
    const struct {
        struct tamper change;
        const char *says;
    } cases[] = {{{"shape", ELEMENT_U32, wide, 2}, "35 values, expected 7 rows of 6 columns"},
                 {{"shape", ELEMENT_U32, none, 2}, "expected 0 rows of 5 columns"},
                 {{"shape", ELEMENT_U32, short_of, 1}, "shape"},
                 {{"shape", ELEMENT_UNKNOWN, NULL, 0}, "shape"},
                 {{"version", ELEMENT_UNKNOWN, NULL, 0}, "version"},
                 {{"value", ELEMENT_F64, value, 3}, "value"},
                 {{"value", ELEMENT_F32, value, 34}, "34 values"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pass_output read = {0};
        assert_ok(store_remove(t->store, key.text, &t->err), &t->err);
        assert_ok(pass_output_put(t->store, "r", &key, &put, &t->err), &t->err);
        record_tamper(t->store, key.text, "r", &cases[i].change);
        assert_fails(pass_output_get(t->store, "r", &key, &read, &t->err), ERROR_CORRUPT,
                     cases[i].says, &t->err);
        assert_null(read.value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(rows_come_back_in_both_precisions),
        test_with_store(sections_that_do_not_go_together_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
