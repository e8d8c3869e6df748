#include "common/base/random.h"

#include "tests/support/test.h"

static void many_blocks_are_the_blocks_one_by_one(void **state)
{
    static const uint64_t items[] = {0, 5, 0xffffffffU, 0x1234567890U};
    static const uint32_t counts[] = {1, 2, 15, 16, 17, 50};
    const struct random_stream stream =
        random_stream_of(0x0123456789abcdefU, RANDOM_DROPOUT, 7, 3, 65535);
    (void)state;
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            uint32_t many[4 * 50 + 1] = {0}, one[4];
            random_blocks(&stream, items[i], 100, counts[k], many);
            for (uint32_t block = 0; block < counts[k]; block++) {
                random_block(&stream, items[i], 100 + block, one);
                assert_memory_equal(many + (size_t)4 * block, one, sizeof one);
            }
            assert_int_equal(many[(size_t)4 * counts[k]], 0);
        }
}

/* Known answers of Philox4x32-10 from Random123's own test vectors. */
static void blocks_have_the_published_values(void **state)
{
    static const uint32_t expected[4] = {0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U};
    const struct random_stream stream = {0};
    uint32_t block[4];
    (void)state;
    random_block(&stream, 0, 0, block);
    assert_memory_equal(block, expected, sizeof block);
    random_blocks(&stream, 0, 0, 1, block);
    assert_memory_equal(block, expected, sizeof block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_blocks_are_the_blocks_one_by_one),
        cmocka_unit_test(blocks_have_the_published_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
