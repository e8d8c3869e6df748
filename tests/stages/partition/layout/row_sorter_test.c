#include "common/numbers/random.h"
#include "stages/partition/layout/row_sorter.h"

#include "tests/support/test.h"

enum { WIDEST = 3000 };

/* The slow reference: each edge goes before the later ones with an equal or larger id. */
static void insertion_sort(uint32_t *node, float *weight, double *time, uint16_t *type, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && node[j - 1] > node[j]; j--) {
            const uint32_t v = node[j];
            const float w = weight[j];
            const double t = time[j];
            const uint16_t y = type[j];
            node[j] = node[j - 1], weight[j] = weight[j - 1];
            time[j] = time[j - 1], type[j] = type[j - 1];
            node[j - 1] = v, weight[j - 1] = w, time[j - 1] = t, type[j - 1] = y;
        }
}

static void check_width(struct row_sorter *sorter, uint32_t width, uint32_t ids, uint64_t seed)
{
    static uint32_t node[2][WIDEST];
    static float weight[2][WIDEST];
    static double time[2][WIDEST];
    static uint16_t type[2][WIDEST];
    static float wide[2][WIDEST][5];
    struct error err = {0};
    bool unchanged = false;
    const struct random_stream stream = random_stream_of(seed, RANDOM_SHUFFLE, 0, 0, 0);
    for (uint32_t i = 0; i < width; i++) {
        node[0][i] = node[1][i] = random_below(random_word(&stream, i, 0), ids);
        weight[0][i] = weight[1][i] = (float)i;
        time[0][i] = time[1][i] = (double)i + 0.5;
        type[0][i] = type[1][i] = (uint16_t)i;
        for (int k = 0; k < 5; k++)
            wide[1][i][k] = (float)i + (float)k * 0.125F;
    }
    insertion_sort(node[0], weight[0], time[0], type[0], width);
    assert_ok(row_sorter_sort(sorter, node[1], width, &unchanged, &err), &err);
    if (!unchanged) {
        assert_ok(row_sorter_move(sorter, weight[1], width, sizeof(float), &err), &err);
        assert_ok(row_sorter_move(sorter, time[1], width, sizeof(double), &err), &err);
        assert_ok(row_sorter_move(sorter, type[1], width, sizeof(uint16_t), &err), &err);
        assert_ok(row_sorter_move(sorter, wide[1], width, sizeof *wide[1], &err), &err);
    }
    assert_memory_equal(node[0], node[1], width * sizeof(uint32_t));
    assert_memory_equal(weight[0], weight[1], width * sizeof(float));
    assert_memory_equal(time[0], time[1], width * sizeof(double));
    assert_memory_equal(type[0], type[1], width * sizeof(uint16_t));
    for (uint32_t i = 0; i < width && !unchanged; i++)
        assert_true(wide[1][i][4] == weight[0][i] + 0.5F);
}

static void sorts_every_width_as_the_reference_does(void **state)
{
    (void)state;
    struct row_sorter sorter = {0};
    for (uint32_t width = 0; width < 140; width++)
        check_width(&sorter, width, width % 3 ? 1000000000U : 5, width);
    check_width(&sorter, WIDEST, 0xffffffffU, 1);
    check_width(&sorter, WIDEST - 1, 40, 2);
    row_sorter_release(&sorter);
}

static void a_sorted_row_is_left_alone(void **state)
{
    (void)state;
    struct row_sorter sorter = {0};
    struct error err = {0};
    uint32_t node[] = {1, 1, 4, 0xffffffffU};
    bool unchanged = false;
    assert_ok(row_sorter_sort(&sorter, node, 4, &unchanged, &err), &err);
    assert_true(unchanged);
    assert_null(sorter.key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_every_width_as_the_reference_does),
        cmocka_unit_test(a_sorted_row_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
