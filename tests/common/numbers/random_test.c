#include "common/numbers/cpu_level.h"
#include "common/numbers/random.h"

#include "tests/support/test.h"

#include <math.h>
#include <stdbool.h>

static const enum cpu_level levels[] = {CPU_PLAIN, CPU_AVX2, CPU_AVX512};
enum { LEVEL_COUNT = sizeof levels / sizeof *levels };

static int use_every_instruction(void **state)
{
    (void)state;
    cpu_level_limit(CPU_BF16);
    return 0;
}

static void many_items_are_the_items_one_by_one(void **state)
{
    const struct random_stream stream =
        random_stream_of(0xfedcba9876543210U, RANDOM_NEIGHBOR, 0xffffffffU, 2, 41);
    (void)state;
    for (int level = 0; level < LEVEL_COUNT; level++) {
        cpu_level_limit(levels[level]);
        for (uint32_t count = 1; count <= 5; count++) {
            const uint32_t words = 4 * count;
            uint32_t item[RANDOM_LANES], many[4 * 5 + 1][RANDOM_LANES], one[4];
            for (uint32_t i = 0; i < RANDOM_LANES; i++) {
                item[i] = (count * RANDOM_LANES + i) * 2654435761U;
                many[words][i] = 7;
            }
            random_items(&stream, item, 0xfffffeU, count, many);
            for (uint32_t i = 0; i < RANDOM_LANES; i++) {
                for (uint32_t k = 0; k < words; k++) {
                    random_block(&stream, item[i], 0xfffffeU + k / 4, one);
                    assert_int_equal(many[k][i], one[k % 4]);
                }
                assert_int_equal(many[words][i], 7);
            }
        }
    }
}

static void comparisons_are_those_of_the_blocks(void **state)
{
    static const uint32_t counts[] = {1, 7, 8, 9, 16, 17, 50},
                          bounds[] = {0, 1, 32768, 60000, 65535};
    const struct random_stream stream = random_stream_of(77, RANDOM_DROPOUT, 7, 3, 5);
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++) {
            cpu_level_limit(levels[(i + k) % LEVEL_COUNT]);
            uint64_t bits[8];
            memset(bits, 0xff, sizeof bits);
            random_at_least(&stream, 0x1234567890U, 9, counts[i], bounds[k], bits);
            for (uint32_t at = 0; at < (counts[i] + 7) / 8 * 64; at++) {
                uint32_t word[4];
                random_block(&stream, 0x1234567890U, 9 + at / 8, word);
                const uint32_t draw = word[at % 8 / 2] >> (at % 2 ? 16 : 0) & 0xffffU;
                const bool expected = at < 8 * counts[i] && draw >= bounds[k];
                assert_int_equal(bits[at / 64] >> at % 64 & 1, expected);
            }
            if (counts[i] < 50)
                assert_true(bits[7] == ~0ULL);
        }
}

/* Known answers of Philox4x32-10 from Random123's own test vectors (kat_vectors). */
/* Checks every form of the lanes, which take items below 2^32. */
static void check_lanes_of_block(const struct random_stream *stream, uint64_t item, uint32_t number,
                                 const uint32_t expected[4])
{
    uint32_t items[RANDOM_LANES], lanes[4][RANDOM_LANES];
    if (item > UINT32_MAX)
        return;
    for (uint32_t i = 0; i < RANDOM_LANES; i++)
        items[i] = (uint32_t)item;
    for (int level = 0; level < LEVEL_COUNT; level++) {
        cpu_level_limit(levels[level]);
        random_items(stream, items, number, 1, lanes);
        for (int k = 0; k < 4; k++)
            assert_int_equal(lanes[k][RANDOM_LANES - 1], expected[k]);
    }
}

static void blocks_have_the_published_values(void **state)
{
    static const struct {
        uint32_t counter[4];
        uint64_t key;
        uint32_t expected[4];
    } cases[] = {
        {{0, 0, 0, 0}, 0, {0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}},
        {{0xffffffffU, 0xffffffffU, 0xffffffffU, 0xffffffffU},
         0xffffffffffffffffU,
         {0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}},
        {{0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U},
         0x299f31d0a4093822U,
         {0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t *counter = cases[i].counter;
        const struct random_stream stream = {cases[i].key, counter[2], counter[3]};
        const uint64_t item = (uint64_t)(counter[1] >> 24) << 32 | counter[0];
        const uint32_t number = counter[1] & 0xffffffU;
        uint32_t block[4];
        random_block(&stream, item, number, block);
        assert_memory_equal(block, cases[i].expected, sizeof block);
        check_lanes_of_block(&stream, item, number, cases[i].expected);
        for (uint32_t w = 0; w < 4; w++)
            if (number < 1U << 20)
                assert_int_equal(random_word(&stream, item, 4 * number + w), block[w]);
    }
}

static void a_permutation_is_one_to_one(void **state)
{
    static const uint64_t counts[] = {1, 2, 3, 5, 64, 65, 1000, 4097};
    static bool seen[4097];
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const struct random_stream stream = random_stream_of(i, RANDOM_SHUFFLE, 0, 0, 0);
        uint64_t moved = 0;
        memset(seen, 0, sizeof seen);
        for (uint64_t k = 0; k < counts[i]; k++) {
            const uint64_t to = random_permute(&stream, k, counts[i]);
            assert_true(to < counts[i] && !seen[to]);
            seen[to] = true;
            moved += to != k;
        }
        assert_true(counts[i] < 64 || moved > counts[i] / 2);
    }
    const struct random_stream stream = random_stream_of(1, RANDOM_SHUFFLE, 0, 0, 0);
    for (uint64_t k = 0; k < 100; k++)
        assert_true(random_permute(&stream, k, 5000000000U) < 5000000000U);
}

static void streams_for_different_uses_differ(void **state)
{
    const struct random_stream streams[] = {random_stream_of(1, RANDOM_NEIGHBOR, 2, 3, 4),
                                            random_stream_of(2, RANDOM_NEIGHBOR, 2, 3, 4),
                                            random_stream_of(1, RANDOM_SHUFFLE, 2, 3, 4),
                                            random_stream_of(1, RANDOM_NEIGHBOR, 3, 3, 4),
                                            random_stream_of(1, RANDOM_NEIGHBOR, 2, 4, 4),
                                            random_stream_of(1, RANDOM_NEIGHBOR, 2, 3, 5)};
    uint32_t one[4], other[4];
    (void)state;
    random_block(&streams[0], 7, 0, one);
    for (size_t i = 1; i < sizeof streams / sizeof *streams; i++) {
        random_block(&streams[i], 7, 0, other);
        assert_memory_not_equal(one, other, sizeof one);
    }
}

static void draws_have_the_moments_of_their_distribution(void **state)
{
    enum { DRAWS = 40000 };
    const struct random_stream stream = random_stream_of(3, RANDOM_FEATURE, 0, 0, 0);
    double sum = 0, squares = 0, unit_sum = 0;
    uint64_t below[7] = {0};
    (void)state;
    for (uint32_t i = 0; i < DRAWS; i++) {
        float normal[4];
        random_normal(&stream, i, 0, normal);
        for (int k = 0; k < 4; k++) {
            sum += (double)normal[k];
            squares += (double)normal[k] * (double)normal[k];
        }
        const double unit = random_unit_double(&stream, i, 3);
        assert_true(unit >= 0 && unit < 1);
        unit_sum += unit;
        below[random_below(random_word(&stream, i, 9), 7)]++;
    }
    assert_true(fabs(sum / (4 * DRAWS)) < 0.01);
    assert_true(fabs(squares / (4 * DRAWS) - 1) < 0.02);
    assert_true(fabs(unit_sum / DRAWS - 0.5) < 0.01);
    for (int i = 0; i < 7; i++)
        assert_true(fabs((double)below[i] - DRAWS / 7.0) < 400);
    assert_true(random_unit(0xffffffffU) < 1);
    assert_int_equal(random_below(0xffffffffU, 5), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(comparisons_are_those_of_the_blocks, use_every_instruction),
        cmocka_unit_test_teardown(many_items_are_the_items_one_by_one, use_every_instruction),
        cmocka_unit_test_teardown(blocks_have_the_published_values, use_every_instruction),
        cmocka_unit_test(a_permutation_is_one_to_one),
        cmocka_unit_test(streams_for_different_uses_differ),
        cmocka_unit_test(draws_have_the_moments_of_their_distribution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
