#include "common/numbers/cpu_level.h"
#include "stages/sampling/rows/distinct_positions.h"

#include "tests/reference/slow_sampler.h"
#include "tests/support/random_graph.h"
#include "tests/support/test.h"

#include <math.h>

static uint64_t scratch[4096];

static void draw(const struct random_stream *stream, uint32_t item, uint32_t length, uint32_t count,
                 uint32_t *out)
{
    assert_true(distinct_positions_scratch(length, count) <= sizeof scratch / sizeof *scratch);
    distinct_positions_draw(stream, item, length, count, scratch, out);
}

static void equals_floyds_algorithm_with_flags(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {1, 2, 3, 15, 16, 63, 64, 65, 127, 128, 1000, 8193, 200000};
    static const uint32_t counts[] = {1, 2, 5, 10, 15, 31, 32, 33, 63, 64, 65, 500, 8000};
    static bool chosen[200000];
    static uint32_t position[8000];
    const struct random_stream stream =
        random_stream_of(random_graph_seed(7), RANDOM_NEIGHBOR, 3, 1, 2);
    for (size_t a = 0; a < sizeof lengths / sizeof *lengths; a++)
        for (size_t b = 0; b < sizeof counts / sizeof *counts; b++)
            for (uint32_t item = 0; item < 20 && counts[b] <= lengths[a]; item++) {
                uint32_t at = 0;
                slow_choose(&stream, item, lengths[a], counts[b], chosen);
                draw(&stream, item, lengths[a], counts[b], position);
                for (uint32_t k = 0; k < lengths[a]; k++)
                    if (chosen[k])
                        assert_int_equal(position[at++], k);
                assert_int_equal(at, counts[b]);
            }
}

/* Compares rows of any length drawn side by side with rows drawn alone, for every instruction
 * set. */
static void rows_side_by_side_are_the_rows_alone(void **state)
{
    (void)state;
    const struct random_stream stream =
        random_stream_of(random_graph_seed(9), RANDOM_NEIGHBOR, 5, 2, 1);
    uint32_t many[DISTINCT_LANES_COUNT_MAX + 1][DISTINCT_LANES];
    static bool chosen[40000];
    for (int level = CPU_PLAIN; level <= CPU_AVX512; level++)
        for (uint32_t count = 1; count <= DISTINCT_LANES_COUNT_MAX; count++) {
            uint32_t item[DISTINCT_LANES], length[DISTINCT_LANES];
            for (uint32_t lane = 0; lane < DISTINCT_LANES; lane++) {
                item[lane] = random_word(&stream, count, lane);
                length[lane] = count + (lane * lane * lane * lane * count) % (40000 - count);
                many[count][lane] = 7;
            }
            cpu_level_limit((enum cpu_level)level);
            distinct_positions_draw_lanes(&stream, item, length, count, many);
            cpu_level_limit(CPU_BF16);
            for (uint32_t lane = 0; lane < DISTINCT_LANES; lane++) {
                slow_choose(&stream, item[lane], length[lane], count, chosen);
                for (uint32_t k = 0; k < count; k++) {
                    assert_true(chosen[many[k][lane]]);
                    assert_true(k == 0 || many[k - 1][lane] < many[k][lane]);
                }
                assert_int_equal(many[count][lane], 7);
            }
        }
}

static void leaves_the_scratch_zero(void **state)
{
    (void)state;
    uint32_t position[100];
    const struct random_stream stream = random_stream_of(1, RANDOM_NEIGHBOR, 0, 0, 0);
    draw(&stream, 5, 20000, 100, position);
    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++)
        assert_true(scratch[i] == 0);
}

/* Returns the value that chi-square with `freedom` degrees exceeds once in a million (Wilson and
 * Hilferty). */
static double chi_square_limit(double freedom)
{
    const double part = 2.0 / (9.0 * freedom);
    return freedom * pow(1.0 - part + 4.753 * sqrt(part), 3.0);
}

static void every_set_is_equally_likely(void **state)
{
    (void)state;
    enum { LENGTH = 7, COUNT = 3, SETS = 35, DRAWS = 70000 };
    static uint32_t seen[1 << LENGTH];
    const uint64_t seed = random_graph_seed(11);
    for (uint32_t i = 0; i < DRAWS; i++) {
        /* Half of the draws differ by node, the other half by round. */
        const struct random_stream stream =
            random_stream_of(seed, RANDOM_NEIGHBOR, i % 2 ? i : 0, 0, 0);
        uint32_t position[COUNT], set = 0;
        draw(&stream, i % 2 ? 0 : i, LENGTH, COUNT, position);
        for (uint32_t k = 0; k < COUNT; k++)
            set |= 1U << position[k];
        seen[set]++;
    }
    double chi_square = 0.0;
    uint32_t sets = 0;
    for (uint32_t set = 0; set < 1 << LENGTH; set++)
        if (__builtin_popcount(set) == COUNT) {
            const double expected = (double)DRAWS / SETS, off = (double)seen[set] - expected;
            chi_square += off * off / expected;
            sets++;
        } else {
            assert_int_equal(seen[set], 0);
        }
    assert_int_equal(sets, SETS);
    if (chi_square > chi_square_limit(SETS - 1))
        fail_msg("chi-square %.1f above %.1f", chi_square, chi_square_limit(SETS - 1));
}

static void long_rows_are_covered_evenly(void **state)
{
    (void)state;
    enum { LENGTH = 64000, COUNT = 15, BINS = 64, DRAWS = 20000 };
    uint32_t seen[BINS] = {0};
    const struct random_stream stream =
        random_stream_of(random_graph_seed(13), RANDOM_NEIGHBOR, 0, 0, 0);
    assert_int_equal(distinct_positions_scratch(LENGTH, COUNT), 0); /* 0: the sorted list is used */
    for (uint32_t i = 0; i < DRAWS; i++) {
        uint32_t position[COUNT];
        draw(&stream, i, LENGTH, COUNT, position);
        for (uint32_t k = 0; k < COUNT; k++)
            seen[position[k] / (LENGTH / BINS)]++;
    }
    double chi_square = 0.0;
    for (uint32_t bin = 0; bin < BINS; bin++) {
        const double expected = (double)DRAWS * COUNT / BINS, off = (double)seen[bin] - expected;
        chi_square += off * off / expected;
    }
    if (chi_square > chi_square_limit(BINS - 1))
        fail_msg("chi-square %.1f above %.1f", chi_square, chi_square_limit(BINS - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_floyds_algorithm_with_flags),
        cmocka_unit_test(rows_side_by_side_are_the_rows_alone),
        cmocka_unit_test(leaves_the_scratch_zero),
        cmocka_unit_test(every_set_is_equally_likely),
        cmocka_unit_test(long_rows_are_covered_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
