#include "common/math/bf16_rows.h"

#include "tests/support/test.h"

static void rows_at_any_address_are_rounded_one_by_one(void **state)
{
    static const size_t dims[] = {1, 2, 7, 63, 64, 65, 200};
    enum { ROWS = 3, DIM_MAX = 200 };
    char bytes[(size_t)ROWS * DIM_MAX * sizeof(float) + 1];
    bf16 out[ROWS * DIM_MAX];
    (void)state;
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++) {
        const size_t dim = dims[d], stride = bf16_stride(dim);
        for (size_t i = 0; i < ROWS * dim; i++) {
            const float value = (float)i * 1.2345F - 40;
            memcpy(bytes + 1 + i * sizeof value, &value, sizeof value);
        }
        memset(out, 0xff, sizeof out);
        bf16_rows_round(out, bytes + 1, dim, ROWS);
        for (size_t row = 0; row < ROWS; row++) {
            for (size_t c = 0; c < dim; c++)
                assert_int_equal(out[row * stride + c],
                                 bf16_of_float((float)(row * dim + c) * 1.2345F - 40));
            if (stride > dim)
                assert_int_equal(out[row * stride + dim], 0);
        }
    }
}

static void elements_at_any_address_are_packed_and_widened(void **state)
{
    enum { COUNT = 67 };
    char floats[COUNT * sizeof(float) + 1], packed[COUNT * sizeof(bf16) + 2];
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        const float value = (float)i * 1.2345F - 40;
        memcpy(floats + 1 + i * sizeof value, &value, sizeof value);
    }
    packed[sizeof packed - 1] = 77;
    bf16_rows_pack(packed + 1, floats + 1, COUNT);
    bf16_rows_widen(floats + 1, packed + 1, COUNT);
    assert_int_equal(packed[sizeof packed - 1], 77);
    for (size_t i = 0; i < COUNT; i++) {
        float value = 0;
        memcpy(&value, floats + 1 + i * sizeof value, sizeof value);
        assert_true(value == bf16_to_float(bf16_of_float((float)i * 1.2345F - 40)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_at_any_address_are_rounded_one_by_one),
        cmocka_unit_test(elements_at_any_address_are_packed_and_widened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
