/* Running statistics of batch norms, merged from those of slots, equal PyTorch's of one batch. */
#include "common/base/memory.h"
#include "common/nn/running_statistics.h"

#include "tests/support/test.h"

#include <math.h>

enum { DIM = 3, ROWS = 40 };

static struct model a_model(void)
{
    struct error err = {0};
    struct model model;
    const struct model_outline outline = {.layer.kind = LAYER_SAGE,
                                          .hop_count = 3,
                                          .input_dim = 2,
                                          .layer.output_dim = DIM,
                                          .output_dim = 2,
                                          .layer.norm = NORM_BATCH};
    assert_ok(model_init_outline(&model, &outline, &err), &err);
    return model;
}

static double row_value(int layer, int row, int column)
{
    return 100 * layer + column + sin(row * 1.3 + column);
}

static size_t buffer_of(const struct model *model, int layer)
{
    return (size_t)model->parameter[model->layer[layer].buffer_parameter].offset;
}

/* Writes the statistics that train-step would compute from the rows first .. end - 1 for both
 * norms. */
static void fill_slot(const struct model *model, int first, int end, float *gradient)
{
    for (int layer = 0; layer < 2; layer++) {
        float *buffer = gradient + buffer_of(model, layer);
        for (int c = 0; c < DIM; c++) {
            double mean = 0, variance = 0;
            for (int row = first; row < end; row++)
                mean += row_value(layer, row, c) / (end - first);
            for (int row = first; row < end; row++)
                variance += pow(row_value(layer, row, c) - mean, 2) / (end - first);
            buffer[c] = (float)mean;
            buffer[DIM + c] = (float)variance;
        }
        buffer[(size_t)2 * DIM] = (float)(end - first);
    }
}

static void check_running(const struct model *model, const float *value, int rows)
{
    for (int layer = 0; layer < 2; layer++)
        for (int c = 0; c < DIM; c++) {
            const float *buffer = value + buffer_of(model, layer);
            double mean = 0, square = 0;
            for (int row = 0; row < rows; row++)
                mean += row_value(layer, row, c) / rows;
            for (int row = 0; row < rows; row++)
                square += pow(row_value(layer, row, c) - mean, 2);
            assert_float_equal(buffer[c], (float)(0.1 * mean), 1e-4F);
            assert_float_equal(buffer[DIM + c], (float)(0.9 + 0.1 * square / (rows - 1)), 1e-5F);
            assert_float_equal(buffer[(size_t)2 * DIM], 1, 0);
        }
}

static void buffers_lie_behind_what_is_trained(void **state)
{
    const struct model model = a_model();
    (void)state;
    assert_int_equal(running_statistics_size(&model), 2 * (2 * DIM + 1));
    assert_int_equal(buffer_of(&model, 0), model.trained_count);
    assert_int_equal(model.layer[2].buffer_parameter, -1);
    float *value = memory_alloc(model.value_count, sizeof *value);
    model_initialise(&model, 3, value);
    for (int c = 0; c < DIM; c++) {
        assert_float_equal(value[buffer_of(&model, 1) + (size_t)c], 0, 0);
        assert_float_equal(value[buffer_of(&model, 1) + DIM + (size_t)c], 1, 0);
    }
    memory_free(value);
}

/* The statistics of the round are those of all its rows, however the rows are cut into slots. */
static void slots_make_one_batch(void **state)
{
    static const int cuts[][4] = {{0, ROWS, ROWS, ROWS}, {0, 7, 30, ROWS}, {0, 1, 2, ROWS}};
    const struct model model = a_model();
    float *value = memory_alloc(model.value_count, sizeof *value);
    float *gradient = memory_alloc(model.value_count, sizeof *gradient);
    double sum[2 * (2 * DIM + 1)];
    (void)state;
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        model_initialise(&model, 3, value);
        const float first = value[0];
        running_statistics_reset(&model, sum);
        for (int slot = 0; slot < 3; slot++) {
            if (cuts[i][slot] == cuts[i][slot + 1])
                continue;
            fill_slot(&model, cuts[i][slot], cuts[i][slot + 1], gradient);
            running_statistics_add(&model, sum, gradient + model.trained_count);
        }
        running_statistics_apply(&model, sum, value);
        check_running(&model, value, ROWS);
        assert_float_equal(value[0], first, 0);
    }
    memory_free(value);
    memory_free(gradient);
}

/* A slot that used the running statistics adds no rows, and a single row has no variance. */
static void what_tells_nothing_moves_nothing(void **state)
{
    const struct model model = a_model();
    float *value = memory_alloc(model.value_count, sizeof *value);
    float *before = memory_alloc(model.value_count, sizeof *before);
    float *gradient = memory_alloc(model.value_count, sizeof *gradient);
    double sum[2 * (2 * DIM + 1)];
    (void)state;
    model_initialise(&model, 3, value);
    model_initialise(&model, 3, before);
    for (int rows = 0; rows < 2; rows++) {
        fill_slot(&model, 0, 1, gradient);
        for (int layer = 0; layer < 2; layer++)
            gradient[buffer_of(&model, layer) + 2 * (size_t)DIM] = (float)rows;
        running_statistics_reset(&model, sum);
        running_statistics_add(&model, sum, gradient + model.trained_count);
        running_statistics_apply(&model, sum, value);
        assert_memory_equal(value, before, model.value_count * sizeof *value);
    }
    memory_free(value);
    memory_free(before);
    memory_free(gradient);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_lie_behind_what_is_trained),
        cmocka_unit_test(slots_make_one_batch),
        cmocka_unit_test(what_tells_nothing_moves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
