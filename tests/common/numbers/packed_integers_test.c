#include "common/base/memory.h"
#include "common/numbers/packed_integers.h"
#include "common/numbers/random.h"

#include "tests/support/test.h"

enum { COUNT_MAX = 330 };

static const struct random_stream *stream_of_values(void)
{
    static struct random_stream stream;
    stream = random_stream_of(1, RANDOM_GENERATOR, 0, 0, 0);
    return &stream;
}

/* Fills values below 2^width; every fifth is the largest. */
static void fill(uint32_t *value, size_t count, unsigned width)
{
    const struct random_stream *stream = stream_of_values();
    const uint32_t largest = (uint32_t)((1ULL << width) - 1);
    for (size_t i = 0; i < count; i++)
        value[i] = i % 5 == 4 ? largest : random_word(stream, i, width) & largest;
}

/* Packs bit by bit. */
static void pack_slowly(const uint32_t *value, size_t count, unsigned width, uint64_t *out)
{
    for (size_t bit = 0; bit < count * width; bit++)
        out[bit / 64] |= (uint64_t)(value[bit / width] >> bit % width & 1) << bit % 64;
}

/* The heap blocks have exactly the permitted size, so that a sanitizer reports any access beyond
 * it. */
static void check(size_t count, unsigned width)
{
    const size_t words = packed_integers_words(count, width);
    uint32_t *value = memory_alloc(count, sizeof *value), *back = memory_alloc(count, sizeof *back);
    uint64_t *expected = memory_alloc(words, sizeof *expected);
    uint64_t *packed = memory_alloc(words, sizeof *packed);
    assert_int_equal(words, (count * width + 63) / 64);
    fill(value, count, width);
    pack_slowly(value, count, width, expected);
    memset(packed, 0xff, words * sizeof *packed);
    packed_integers_pack(value, count, width, packed);
    assert_memory_equal(packed, expected, words * sizeof *packed);
    assert_true(packed_integers_end_in_zeros(packed, count, width));
    memset(back, 0xff, count * sizeof *back);
    packed_integers_unpack(packed, count, width, back);
    assert_memory_equal(back, value, count * sizeof *back);
    struct packed_writer writer = {.out = packed};
    memset(packed, 0xff, words * sizeof *packed);
    for (size_t i = 0; i < count; i++)
        packed_writer_add(&writer, value[i], width);
    packed_writer_finish(&writer);
    assert_ptr_equal(writer.out, packed + words);
    assert_memory_equal(packed, expected, words * sizeof *packed);
    memory_free(value);
    memory_free(back);
    memory_free(expected);
    memory_free(packed);
}

static void every_width_and_length_is_packed_as_bit_after_bit(void **state)
{
    (void)state;
    for (unsigned width = 0; width <= PACKED_WIDTH_MAX; width++) {
        for (size_t count = 0; count <= COUNT_MAX; count++)
            check(count, width);
        check(10007, width);
    }
}

static void the_width_is_that_of_the_largest(void **state)
{
    (void)state;
    uint32_t value[100] = {0};
    assert_int_equal(packed_integers_width(value, 0), 0);
    assert_int_equal(packed_integers_width(value, 100), 0);
    for (unsigned width = 1; width <= PACKED_WIDTH_MAX; width++) {
        const uint32_t power = 1U << (width - 1);
        value[61] = power;
        assert_int_equal(packed_integers_width(value, 100), width);
        value[61] = power | (power - 1);
        assert_int_equal(packed_integers_width(value, 100), width);
        assert_int_equal(packed_integers_width(value, 61), 0);
    }
}

static void bits_behind_the_last_value_are_found(void **state)
{
    (void)state;
    for (unsigned width = 0; width <= PACKED_WIDTH_MAX; width++)
        for (size_t count = 1; count < 130; count++) {
            uint64_t packed[65] = {0};
            const size_t bits = count * width, words = packed_integers_words(count, width);
            memset(packed, 0xff, bits / 8);
            assert_true(packed_integers_end_in_zeros(packed, count, width));
            for (size_t bit = bits; bit < 64 * words; bit++) {
                packed[bit / 64] |= 1ULL << bit % 64;
                assert_false(packed_integers_end_in_zeros(packed, count, width));
                packed[bit / 64] &= ~(1ULL << bit % 64);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_and_length_is_packed_as_bit_after_bit),
        cmocka_unit_test(the_width_is_that_of_the_largest),
        cmocka_unit_test(bits_behind_the_last_value_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
