/* Tests the table of parameters. first_values_test.c tests their first values, model_pass_test.c
 * the arithmetic. */
#include "common/base/memory.h"
#include "common/nn/model.h"

#include "tests/support/test.h"

#include <math.h>

static struct model_outline config_of(enum layer_kind kind)
{
    return (struct model_outline){.layer.kind = kind,
                                  .hop_count = 2,
                                  .input_dim = 30,
                                  .layer.output_dim = 20,
                                  .output_dim = 4,
                                  .layer.dropout = 0.5};
}

static void the_table_has_the_names_of_pyg(void **state)
{
    struct error err = {0};
    struct model model;
    char text[400];
    struct model_outline config = config_of(LAYER_SAGE);
    (void)state;
    assert_ok(model_init_outline(&model, &config, &err), &err);
    assert_false(model.needs_degree);
    assert_ok(model_table_text(&model, text, sizeof text, &err), &err);
    assert_string_equal(text, "convs.0.lin_l.weight 20 30\nconvs.0.lin_l.bias 20 1\n"
                              "convs.0.lin_r.weight 20 30\nconvs.1.lin_l.weight 4 20\n"
                              "convs.1.lin_l.bias 4 1\nconvs.1.lin_r.weight 4 20\n");
    assert_int_equal(model.value_count, 20 * 61 + 4 * 41);
    config = config_of(LAYER_GCN);
    assert_ok(model_init_outline(&model, &config, &err), &err);
    assert_true(model.needs_degree);
    assert_ok(model_table_text(&model, text, sizeof text, &err), &err);
    assert_string_equal(text, "convs.0.lin.weight 20 30\nconvs.0.bias 20 1\n"
                              "convs.1.lin.weight 4 20\nconvs.1.bias 4 1\n");
    assert_int_equal(model.value_count, 20 * 31 + 4 * 21);
}

static void a_table_that_does_not_fit_is_an_error(void **state)
{
    struct error err = {0};
    struct model model;
    char text[60];
    const struct model_outline config = config_of(LAYER_SAGE);
    (void)state;
    assert_ok(model_init_outline(&model, &config, &err), &err);
    assert_fails(model_table_text(&model, text, sizeof text, &err), ERROR_INVALID, "60 bytes",
                 &err);
}

static void settings_out_of_range_are_named(void **state)
{
    struct error err = {0};
    struct model model;
    struct model_outline config = config_of(LAYER_SAGE);
    (void)state;
    config.hop_count = LAYER_COUNT_MAX + 1;
    assert_fails(model_init_outline(&model, &config, &err), ERROR_INVALID,
                 "with 17 fan-outs has more than 16 layers", &err);
    config = config_of(LAYER_GCN);
    config.layer.output_dim = 0;
    assert_fails(model_init_outline(&model, &config, &err), ERROR_INVALID,
                 "layer 1 of the model (gcn): the output width is 0", &err);
    config = config_of(LAYER_GCN);
    config.layer.dropout = 1;
    assert_fails(model_init_outline(&model, &config, &err), ERROR_INVALID, "dropout is 1", &err);
    config.layer.dropout = (double)NAN;
    assert_fails(model_init_outline(&model, &config, &err), ERROR_INVALID, "dropout is nan", &err);
}

static void sixteen_layers_fit(void **state)
{
    struct error err = {0};
    struct model model;
    struct model_outline config = config_of(LAYER_SAGE);
    (void)state;
    config.hop_count = LAYER_COUNT_MAX;
    assert_ok(model_init_outline(&model, &config, &err), &err);
    assert_int_equal(model.parameter_count, 3 * LAYER_COUNT_MAX);
    assert_string_equal(model.parameter[3 * LAYER_COUNT_MAX - 1].name, "convs.15.lin_r.weight");
}

static void first_values_follow_the_seed(void **state)
{
    struct error err = {0};
    struct model model;
    const struct model_outline config = config_of(LAYER_SAGE);
    (void)state;
    assert_ok(model_init_outline(&model, &config, &err), &err);
    const size_t bytes = model.value_count * sizeof(float);
    float *one = memory_alloc(1, bytes), *same = memory_alloc(1, bytes);
    model_initialise(&model, 8, one);
    model_initialise(&model, 8, same);
    assert_memory_equal(one, same, bytes);
    model_initialise(&model, 9, same);
    assert_memory_not_equal(one, same, bytes);
    memory_free(one);
    memory_free(same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_has_the_names_of_pyg),
        cmocka_unit_test(a_table_that_does_not_fit_is_an_error),
        cmocka_unit_test(settings_out_of_range_are_named),
        cmocka_unit_test(sixteen_layers_fit),
        cmocka_unit_test(first_values_follow_the_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
