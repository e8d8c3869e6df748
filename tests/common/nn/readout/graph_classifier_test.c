/* Tests the linear layer after a readout as part of a model: its parameters, its outputs against
 * double precision, and its gradient against central differences. */
#include "common/base/memory.h"
#include "common/nn/model.h"
#include "common/nn/readout/graph_classifier.h"

#include "tests/support/test.h"

#include <math.h>
#include <string.h>

enum { DIM = 11, OUTPUTS = 3, GRAPHS = 5 };

static float element(size_t i)
{
    return (float)((i * 2654435761U >> 7) % 2001) / 1000 - 1;
}

static const struct model_config config = {
    .input_dim = 4,
    .layer_count = 1,
    .layer = {{.kind = LAYER_MLP, .output_dim = DIM, .activation = ACTIVATION_NONE}},
    .readout = READOUT_SUM,
    .graph_outputs = OUTPUTS};

/* Returns the sum of the outputs, each multiplied by its slope. */
static double loss_of(const float *weight, const float *bias, const float *pooled,
                      const float *slope)
{
    double sum = 0;
    for (size_t g = 0; g < GRAPHS; g++)
        for (size_t o = 0; o < OUTPUTS; o++) {
            double output = (double)bias[o];
            for (size_t i = 0; i < DIM; i++)
                output += (double)weight[o * DIM + i] * (double)pooled[g * DIM + i];
            sum += output * (double)slope[g * OUTPUTS + o];
        }
    return sum;
}

struct fixture {
    float weight[OUTPUTS * DIM], bias[OUTPUTS], pooled[GRAPHS * DIM], slope[GRAPHS * OUTPUTS];
    float weight_gradient[OUTPUTS * DIM], bias_gradient[OUTPUTS], pooled_gradient[GRAPHS * DIM];
};

static void check_slopes(const struct fixture *f, float *value, const float *gradient, size_t count)
{
    const float step = 0.125F;
    for (size_t i = 0; i < count; i++) {
        const float kept = value[i];
        value[i] = kept + step;
        const double above = loss_of(f->weight, f->bias, f->pooled, f->slope);
        value[i] = kept - step;
        const double below = loss_of(f->weight, f->bias, f->pooled, f->slope);
        value[i] = kept;
        assert_true(fabs((above - below) / (2 * (double)step) - (double)gradient[i]) < 1e-5);
    }
}

static void its_gradient_is_the_derivative(void **state)
{
    struct fixture f;
    float output[GRAPHS * OUTPUTS];
    double sum = 0;
    (void)state;
    for (size_t i = 0; i < sizeof f / sizeof(float); i++)
        ((float *)&f)[i] = element(i);
    const struct graph_classifier classifier = {
        .dim = DIM, .outputs = OUTPUTS, .weight = f.weight, .bias = f.bias};
    graph_classifier_forward(&classifier, f.pooled, GRAPHS, output);
    for (size_t i = 0; i < sizeof output / sizeof *output; i++)
        sum += (double)output[i] * (double)f.slope[i];
    assert_true(fabs(sum - loss_of(f.weight, f.bias, f.pooled, f.slope)) < 1e-5);
    graph_classifier_backward(&classifier, f.pooled, f.slope, GRAPHS, f.pooled_gradient,
                              f.weight_gradient, f.bias_gradient);
    check_slopes(&f, f.weight, f.weight_gradient, sizeof f.weight / sizeof *f.weight);
    check_slopes(&f, f.bias, f.bias_gradient, OUTPUTS);
    check_slopes(&f, f.pooled, f.pooled_gradient, sizeof f.pooled / sizeof *f.pooled);
}

static void it_stands_behind_the_layers_of_a_model(void **state)
{
    struct model *model = NULL;
    struct error err = {0};
    char table[400];
    float value[400], gradient[400], own[400], *weight = NULL, *bias = NULL;
    (void)state;
    assert_ok(memory_new(&model, 1, "a model", &err), &err);
    assert_ok(model_init(model, &config, &err), &err);
    assert_ok(model_table_text(model, table, sizeof table, &err), &err);
    assert_non_null(strstr(table, "classifier.weight 3 11\nclassifier.bias 3"));
    assert_true(model->trained_count == model->value_count && model->value_count < 400);
    model_initialise(model, 3, value);
    const struct graph_classifier classifier = model_graph_classifier(model, value);
    assert_int_equal(classifier.dim, DIM);
    assert_int_equal(classifier.outputs, OUTPUTS);
    assert_ptr_equal(classifier.bias, value + model->value_count - OUTPUTS);
    for (size_t i = 0; i < (size_t)OUTPUTS * (DIM + 1); i++)
        assert_true(fabs((double)classifier.weight[i]) <= 1 / sqrt(DIM));
    memset(gradient, 0, sizeof gradient);
    memset(own, 0, sizeof own);
    model_graph_classifier_gradient(model, own, &weight, &bias);
    assert_ptr_equal(weight, own + (classifier.weight - value));
    for (uint64_t i = 0; i < model->value_count; i++)
        own[i] = 1;
    model_take_head_gradient(model, own, gradient);
    for (uint64_t i = 0; i < model->value_count; i++)
        assert_int_equal(gradient[i] > 0, &own[i] >= weight);
    memory_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_gradient_is_the_derivative),
        cmocka_unit_test(it_stands_behind_the_layers_of_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
