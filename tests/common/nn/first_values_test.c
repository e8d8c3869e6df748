/*
 * The first values of every tensor have the distribution that PyG draws them from.
 *
 * A trial is a model. Its rows name the initialiser that PyG uses for the tensors whose names
 * contain a word. A tensor that no row names fails the test. The kinds of layer and the decoders
 * are taken from their lists, so a new one fails until it has a trial.
 */
#include "common/base/memory.h"
#include "common/nn/layers/layer.h"
#include "common/nn/model.h"

#include "tests/support/test.h"
#include "tests/support/typed_fixture.h"

#include <math.h>
#include <string.h>

enum {
    INPUT = 48,
    HIDDEN = 40,
    OUTPUT = 24,
    HEADS = 4,
    CHANNELS = HIDDEN / HEADS,
    EDGE_FEATURES = 12,
    EXPECTED_MAX = 9
};

/* LINEAR(a) is uniform in +-1 / sqrt(a), as the weight and the bias of torch.nn.Linear and PyG's
 * Linear are. GLOROT(a, b) is uniform in +-sqrt(6 / (a + b)), as PyG's glorot() and torch's
 * xavier_uniform_(). CONSTANT(a) is the value a. */
enum rule { LINEAR = 1, GLOROT, CONSTANT };

struct expected {
    const char *part; /* part of the tensor's name; the first row that matches is used */
    enum rule rule;
    double a, b;
};

struct trial {
    enum layer_kind kind;                 /* of the first layer; the second layer is a matrix */
    const struct relation_schema *schema; /* NULL: a plain model */
    struct layer_options option;
    bool projects, residual;
    enum norm_kind norm;
    enum decoder_kind decoder;
    uint32_t relations, outputs; /* numbers of the decoder */
    enum readout_kind readout;
    struct expected expected[EXPECTED_MAX];
};

/* clang-format off */
static const struct trial trials[] = {
    {.kind = LAYER_SAGE, .expected = {{"convs.0", LINEAR, INPUT, 0}}},
    {.kind = LAYER_GCN, .expected = {{"lin.weight", GLOROT, INPUT, HIDDEN}, {"convs.0.bias", CONSTANT, 0, 0}}},
    {.kind = LAYER_GAT, .option = {.heads = HEADS},
     .expected = {{"lin.weight", GLOROT, INPUT, HIDDEN}, {"att_", GLOROT, HEADS, CHANNELS},
                  {"lin_edge.weight", GLOROT, EDGE_FEATURES, HIDDEN}, {"convs.0.bias", CONSTANT, 0, 0}}},
    {.kind = LAYER_GATV2, .option = {.heads = HEADS},
     .expected = {{"lin_l.weight", GLOROT, INPUT, HIDDEN}, {"lin_r.weight", GLOROT, INPUT, HIDDEN},
                  {"lin_l.bias", LINEAR, INPUT, 0}, {"lin_r.bias", LINEAR, INPUT, 0},
                  {"att", GLOROT, HEADS, CHANNELS},
                  {"lin_edge.weight", GLOROT, EDGE_FEATURES, HIDDEN}, {"convs.0.bias", CONSTANT, 0, 0}}},
    {.kind = LAYER_MLP, .expected = {{"lins.0", LINEAR, INPUT, 0}}},
    {.kind = LAYER_GRAPH_CONV, .expected = {{"convs.0", LINEAR, INPUT, 0}}},
    {.kind = LAYER_GIN,
     .expected = {{"eps", CONSTANT, 0, 0}, {"nn.lins.0", LINEAR, INPUT, 0}, {"nn.lins.1", LINEAR, HIDDEN, 0}}},
    {.kind = LAYER_GIN, .norm = NORM_BATCH,
     .expected = {{"eps", CONSTANT, 0, 0}, {"nn.lins.0", LINEAR, INPUT, 0}, {"nn.lins.1", LINEAR, HIDDEN, 0},
                  {"module.weight", CONSTANT, 1, 0}, {"module.bias", CONSTANT, 0, 0},
                  {"running_mean", CONSTANT, 0, 0}, {"running_var", CONSTANT, 1, 0}, {"num_batches", CONSTANT, 0, 0}}},
    {.kind = LAYER_SGC, .expected = {{"lin.", LINEAR, INPUT, 0}}},
    {.kind = LAYER_LE, .expected = {{"convs.0", LINEAR, INPUT, 0}}},

    {.kind = LAYER_RGCN, .schema = &fixture_own_schema,
     .expected = {{"convs.0.weight", GLOROT, INPUT, HIDDEN}, {"root", GLOROT, INPUT, HIDDEN},
                  {"convs.0.bias", CONSTANT, 0, 0}}},
    {.kind = LAYER_RGCN, .schema = &fixture_own_schema, .option = {.bases = 7},
     .expected = {{"convs.0.weight", GLOROT, INPUT, HIDDEN}, {"comp", GLOROT, 3, 7},
                  {"root", GLOROT, INPUT, HIDDEN}, {"convs.0.bias", CONSTANT, 0, 0}}},
    {.kind = LAYER_RGCN, .schema = &fixture_own_schema, .option = {.blocks = 4},
     .expected = {{"convs.0.weight", GLOROT, INPUT / 4.0, HIDDEN / 4.0}, {"root", GLOROT, INPUT, HIDDEN},
                  {"convs.0.bias", CONSTANT, 0, 0}}},
    /* RGCNConv does not support several types. Its authors' and OGB's models give each type a
     * torch.nn.Linear of its own. */
    {.kind = LAYER_RGCN, .schema = &fixture_schema,
     .expected = {{"convs.0.weight", GLOROT, INPUT, HIDDEN}, {"roots.0", LINEAR, INPUT, 0}}},
    {.kind = LAYER_HGT, .schema = &fixture_schema, .projects = true, .option = {.heads = HEADS},
     .expected = {{"lin_dict", LINEAR, INPUT, 0}, {"kqv_lin", LINEAR, HIDDEN, 0}, {"out_lin", LINEAR, HIDDEN, 0},
                  {"k_rel", LINEAR, CHANNELS, 0}, {"v_rel", LINEAR, CHANNELS, 0},
                  {"skip", CONSTANT, 1, 0}, {"p_rel", CONSTANT, 1, 0}}},
    {.kind = LAYER_RGAT, .schema = &fixture_own_schema, .option = {.heads = HEADS, .bases = 7},
     .expected = {{"basis", GLOROT, INPUT, HIDDEN}, {"att", GLOROT, 3, 7}, {"0.q", GLOROT, HIDDEN, HEADS},
                  {"0.k", GLOROT, HIDDEN, HEADS}, {"0.w", CONSTANT, 1, 0}, {"0.l1", CONSTANT, 1, 0},
                  /* b1, b2 and the bias */
                  {"0.l2", CONSTANT, 1.0 / CHANNELS, 0}, {"0.b", CONSTANT, 0, 0}}},
    {.kind = LAYER_SAGE, .schema = &fixture_schema, .expected = {{"convs.0", LINEAR, INPUT, 0}}},
    {.kind = LAYER_GRAPH_CONV, .schema = &fixture_schema, .expected = {{"convs.0", LINEAR, INPUT, 0}}},
    {.kind = LAYER_GAT, .schema = &fixture_schema, .option = {.heads = HEADS},
     .expected = {{"lin_", GLOROT, INPUT, HIDDEN}, {"att_", GLOROT, HEADS, CHANNELS}, {">.bias", CONSTANT, 0, 0}}},
    {.kind = LAYER_GATV2, .schema = &fixture_schema, .option = {.heads = HEADS},
     .expected = {{"lin_l.weight", GLOROT, INPUT, HIDDEN}, {"lin_r.weight", GLOROT, INPUT, HIDDEN},
                  {"lin_l.bias", LINEAR, INPUT, 0}, {"lin_r.bias", LINEAR, INPUT, 0},
                  {"att", GLOROT, HEADS, CHANNELS}, {">.bias", CONSTANT, 0, 0}}},
    {.kind = LAYER_GIN, .schema = &fixture_schema,
     .expected = {{"eps", CONSTANT, 0, 0}, {"nn.lins.0", LINEAR, INPUT, 0}, {"nn.lins.1", LINEAR, HIDDEN, 0}}},
    {.kind = LAYER_GIN, .schema = &fixture_schema, .norm = NORM_LAYER,
     .expected = {{"eps", CONSTANT, 0, 0}, {"nn.lins.0", LINEAR, INPUT, 0}, {"nn.lins.1", LINEAR, HIDDEN, 0},
                  {"norms.0.weight", CONSTANT, 1, 0}, {"paper.weight", CONSTANT, 1, 0},
                  {"author.weight", CONSTANT, 1, 0}, {"field#of.weight", CONSTANT, 1, 0}, {"norms.0", CONSTANT, 0, 0}}},
    {.kind = LAYER_LE, .schema = &fixture_schema, .expected = {{"convs.0", LINEAR, INPUT, 0}}},
    {.kind = LAYER_GCN, .schema = &fixture_reversed_schema,
     .expected = {{">.lin.weight", GLOROT, INPUT, HIDDEN}, {">.bias", CONSTANT, 0, 0}}},
    {.kind = LAYER_SGC, .schema = &fixture_reversed_schema, .expected = {{">.lin.", LINEAR, INPUT, 0}}},

    {.kind = LAYER_SAGE, .norm = NORM_BATCH, .residual = true,
     .expected = {{"convs.0", LINEAR, INPUT, 0}, {"residuals.0", LINEAR, INPUT, 0},
                  {"module.weight", CONSTANT, 1, 0}, {"module.bias", CONSTANT, 0, 0},
                  {"running_mean", CONSTANT, 0, 0}, {"running_var", CONSTANT, 1, 0}, {"num_batches", CONSTANT, 0, 0}}},
    {.kind = LAYER_SAGE, .schema = &fixture_schema, .norm = NORM_LAYER, .residual = true,
     .expected = {{"convs.0", LINEAR, INPUT, 0}, {"residuals.0", LINEAR, INPUT, 0},
                  {"paper.weight", CONSTANT, 1, 0}, {"author.weight", CONSTANT, 1, 0},
                  {"field#of.weight", CONSTANT, 1, 0}, {"norms.0", CONSTANT, 0, 0}}},
    {.kind = LAYER_MLP, .readout = READOUT_MEAN,
     .expected = {{"lins.0", LINEAR, INPUT, 0}, {"classifier", LINEAR, OUTPUT, 0}}},

    {.kind = LAYER_MLP, .decoder = DECODER_DISTMULT, .relations = 237,
     .expected = {{"lins.0", LINEAR, INPUT, 0}, {"rel_emb", GLOROT, 237, OUTPUT}}},
    {.kind = LAYER_MLP, .decoder = DECODER_DISTMULT, .relations = 5, .outputs = 3,
     .expected = {{"lins.0", LINEAR, INPUT, 0}, {"rel_emb", GLOROT, 5 * 3, OUTPUT}}},
    {.kind = LAYER_MLP, .decoder = DECODER_BILINEAR, .outputs = 3,
     .expected = {{"lins.0", LINEAR, INPUT, 0}, {"decoder", LINEAR, OUTPUT, 0}}},
    {.kind = LAYER_MLP, .decoder = DECODER_MLP, .outputs = 3,
     .expected = {{"decoder", LINEAR, OUTPUT, 0}, {"lins.0", LINEAR, INPUT, 0}}},
    {.kind = LAYER_MLP, .decoder = DECODER_CONCAT, .outputs = 3,
     .expected = {{"decoder.lins.0", LINEAR, 2 * OUTPUT, 0}, {"decoder.lins.1", LINEAR, OUTPUT, 0},
                  {"lins.0", LINEAR, INPUT, 0}}},
};
/* clang-format on */
enum { TRIAL_COUNT = sizeof trials / sizeof *trials };

static const struct expected second_layer[] = {{"lins.1", LINEAR, HIDDEN, 0},
                                               {"lin.", LINEAR, HIDDEN, 0}};

static const struct expected *expected_of(const struct trial *trial, const char *name)
{
    for (int i = 0; i < EXPECTED_MAX && trial->expected[i].part; i++)
        if (strstr(name, trial->expected[i].part))
            return &trial->expected[i];
    for (size_t i = 0; i < sizeof second_layer / sizeof *second_layer; i++)
        if (strstr(name, second_layer[i].part))
            return &second_layer[i];
    fail_msg("%s: no row of the trial names this tensor", name);
    return NULL;
}

/* Checks bounds, mean and variance. A correct distribution fails each check with a probability
 * below 1e-5; the seed is fixed. */
static void check_uniform(const char *name, const float *value, size_t count, double bound)
{
    const double n = (double)count;
    double sum = 0, square = 0, greatest = 0;
    for (size_t i = 0; i < count; i++) {
        const double v = (double)value[i];
        sum += v;
        square += v * v;
        greatest = fabs(v) > greatest ? fabs(v) : greatest;
    }
    if (greatest > bound * (1 + 1e-6) || greatest < bound * (1 - 12 / n))
        fail_msg("%s: values reach %g, expected %g", name, greatest, bound);
    if (fabs(sum / n) > 4.5 * bound / sqrt(3 * n))
        fail_msg("%s: the mean of %zu values is %g, expected 0", name, count, sum / n);
    if (fabs(square / n / (bound * bound / 3) - 1) > 4.5 * sqrt(0.8 / n))
        fail_msg("%s: the variance is %g, expected %g", name, square / n, bound * bound / 3);
}

static void check_tensor(const struct trial *trial, const struct parameter *parameter,
                         const float *value)
{
    const struct expected *expected = expected_of(trial, parameter->name);
    const size_t count = (size_t)parameter->rows * parameter->cols;
    if (expected->rule == LINEAR)
        check_uniform(parameter->name, value, count, 1 / sqrt(expected->a));
    else if (expected->rule == GLOROT)
        check_uniform(parameter->name, value, count, sqrt(6 / (expected->a + expected->b)));
    for (size_t i = 0; expected->rule == CONSTANT && i < count; i++)
        if (value[i] < (float)expected->a || value[i] > (float)expected->a)
            fail_msg("%s: value %zu is %g, expected %g", parameter->name, i, (double)value[i],
                     expected->a);
}

static struct model_config config_of(const struct trial *trial)
{
    struct model_config config = {.input_dim = INPUT,
                                  .edge_dim = trial->schema ? 0 : EDGE_FEATURES,
                                  .decoder = trial->decoder,
                                  .decoder_outputs = trial->outputs,
                                  .readout = trial->readout,
                                  .graph_outputs = trial->readout ? 7 : 0,
                                  .layer_count = 2};
    config.layer[0] = (struct layer_config){.kind = trial->kind,
                                            .output_dim = HIDDEN,
                                            .option = trial->option,
                                            .residual = trial->residual,
                                            .norm = trial->norm,
                                            .activation = ACTIVATION_RELU};
    layer_config_set_inner(&config.layer[0], trial->norm, ACTIVATION_RELU);
    config.layer[1] = (struct layer_config){
        .kind = LAYER_MLP, .output_dim = OUTPUT, .activation = ACTIVATION_NONE};
    config.types.pair_relations = trial->relations;
    for (uint32_t t = 0; trial->schema && t < trial->schema->type_count; t++) {
        config.types.schema = *trial->schema;
        config.types.input_dim[t] = INPUT;
        config.types.projects[t] = trial->projects;
        config.types.projected_dim = HIDDEN;
    }
    return config;
}

static void every_tensor_begins_as_pyg_draws_it(void **state)
{
    (void)state;
    for (int t = 0; t < TRIAL_COUNT; t++) {
        struct error err = {0};
        struct model model;
        const struct model_config config = config_of(&trials[t]);
        assert_ok(model_init(&model, &config, &err), &err);
        float *value = memory_alloc(model.value_count, sizeof *value);
        model_initialise(&model, 3, value);
        for (int i = 0; i < model.parameter_count; i++)
            check_tensor(&trials[t], &model.parameter[i], value + model.parameter[i].offset);
        memory_free(value);
    }
}

static void every_kind_with_tensors_has_a_trial(void **state)
{
    (void)state;
    for (int kind = 0; kind < LAYER_KIND_COUNT; kind++) {
        const struct layer_type *type = layer_type_of((enum layer_kind)kind);
        const struct model_layer layer = {.input_dim = INPUT, .config.output_dim = INPUT};
        struct layer_parameter own[LAYER_PARAMETER_COUNT_MAX];
        bool found = !type->only_typed && type->parameters(&layer, own) == 0,
             /* every trial's second layer is an mlp */
            typed = !type->typed || found || kind == LAYER_MLP;
        for (int t = 0; t < TRIAL_COUNT; t++) {
            const bool is_own = (int)trials[t].kind == kind;
            found = found || (is_own && (!trials[t].schema || type->only_typed));
            typed = typed || (is_own && trials[t].schema);
        }
        if (!found || !typed)
            fail_msg("layer %s has no trial here", layer_names[kind]);
    }
    for (int kind = DECODER_NONE + 1; kind < DECODER_COUNT; kind++) {
        const struct decoder_type *type = decoder_type_of((enum decoder_kind)kind);
        struct decoder_parameter own[DECODER_PARAMETER_COUNT_MAX];
        bool found = type->parameters(OUTPUT, 1, 1, own) == 0;
        for (int t = 0; t < TRIAL_COUNT; t++)
            found = found || (int)trials[t].decoder == kind;
        if (!found)
            fail_msg("decoder %s has no trial here", type->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tensor_begins_as_pyg_draws_it),
        cmocka_unit_test(every_kind_with_tensors_has_a_trial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
