/* Each decoder against its formula in double, and its gradients against central differences; then pairs of a batch. */
#include "common/base/random.h"
#include "common/nn/links/pair_pass.h"
#include "common/nn/model.h"
#include "common/parallel/thread_pool.h"

#include "tests/support/test.h"

#include <math.h>
#include <string.h>

enum { DIM = 19, SEEDS = 7, POSITIVES = 5, NEGATIVES = 3, PAIRS = POSITIVES * (1 + NEGATIVES) };
enum { OUTPUTS_MOST = 3 };

static int output; /* that the formulas are of */

struct trial {
    uint32_t outputs;
    enum decoder_kind kind;
    double (*formula)(const double *s, const double *t, double *const *p);
};

static double dot(const double *s, const double *t, double *const *p)
{
    double sum = 0;
    (void)p;
    for (int i = 0; i < DIM; i++)
        sum += s[i] * t[i];
    return sum;
}

static double cosine(const double *s, const double *t, double *const *p)
{
    return dot(s, t, p) / (sqrt(dot(s, s, p)) * sqrt(dot(t, t, p)));
}

static double distmult(const double *s, const double *t, double *const *p)
{
    double sum = 0;
    for (int i = 0; i < DIM; i++)
        sum += s[i] * p[0][output * DIM + i] * t[i];
    return sum;
}

static double bilinear(const double *s, const double *t, double *const *p)
{
    double sum = p[1][output];
    for (int i = 0; i < DIM; i++)
        for (int j = 0; j < DIM; j++)
            sum += s[i] * p[0][(output * DIM + i) * DIM + j] * t[j];
    return sum;
}

static double mlp(const double *s, const double *t, double *const *p)
{
    double sum = p[3][output];
    for (int h = 0; h < DIM; h++) {
        double hidden = p[1][h];
        for (int i = 0; i < DIM; i++)
            hidden += p[0][h * DIM + i] * s[i] * t[i];
        sum += p[2][output * DIM + h] * (hidden > 0 ? hidden : 0);
    }
    return sum;
}

static double concat(const double *s, const double *t, double *const *p)
{
    double sum = p[3][output];
    for (int h = 0; h < DIM; h++) {
        const double *weight = p[0] + (size_t)h * 2 * DIM;
        double hidden = p[1][h];
        for (int i = 0; i < DIM; i++)
            hidden += weight[i] * s[i] + weight[DIM + i] * t[i];
        sum += p[2][output * DIM + h] * (hidden > 0 ? hidden : 0);
    }
    return sum;
}

static const struct trial trials[] = {
    {1, DECODER_DOT, dot},           {1, DECODER_COSINE, cosine},
    {1, DECODER_DISTMULT, distmult}, {3, DECODER_DISTMULT, distmult},
    {1, DECODER_BILINEAR, bilinear}, {2, DECODER_BILINEAR, bilinear},
    {1, DECODER_MLP, mlp},           {3, DECODER_MLP, mlp},
    {1, DECODER_CONCAT, concat},     {3, DECODER_CONCAT, concat}};
enum { TRIALS = sizeof trials / sizeof *trials };

/* All numbers of a trial, in both precisions: rows of two ends, then parameters. */
enum { PARAMETERS_MOST = 2 * DIM * DIM + 4 * DIM + 3, VALUES_MOST = 2 * DIM + PARAMETERS_MOST };

struct numbers {
    size_t count;
    double value[VALUES_MOST];
    float single[VALUES_MOST];
    size_t first[DECODER_PARAMETER_COUNT_MAX]; /* of each parameter */
    int parameter_count;
};

static void make_numbers(const struct trial *trial, struct numbers *n)
{
    struct decoder_parameter own[DECODER_PARAMETER_COUNT_MAX] = {0};
    const struct random_stream stream = random_stream_of(3, RANDOM_WEIGHT, 0, 0, 0);
    n->parameter_count = decoder_type_of(trial->kind)->parameters(DIM, trial->outputs, own);
    n->count = (size_t)2 * DIM;
    for (int i = 0; i < n->parameter_count; i++) {
        n->first[i] = n->count;
        n->count += (size_t)own[i].rows * own[i].cols;
    }
    assert_true(n->count <= VALUES_MOST);
    for (size_t i = 0; i < n->count; i++) {
        n->single[i] = 2 * random_unit(random_word(&stream, i, 0)) - 1;
        n->value[i] = (double)n->single[i];
    }
}

static double formula(const struct trial *trial, const struct numbers *n)
{
    double *parameter[DECODER_PARAMETER_COUNT_MAX] = {NULL};
    struct numbers copy = *n;
    for (int i = 0; i < n->parameter_count; i++)
        parameter[i] = copy.value + n->first[i];
    return trial->formula(copy.value, copy.value + DIM, parameter);
}

static struct decoder decoder_of(const struct trial *trial, const struct numbers *n)
{
    struct decoder decoder = {
        .type = decoder_type_of(trial->kind), .dim = DIM, .outputs = trial->outputs};
    for (int i = 0; i < n->parameter_count; i++)
        decoder.parameter[i] = n->single + n->first[i];
    return decoder;
}

/* Of the sum of the scores times `slope` by number `i`: a central difference. */
static double slope_of(const struct trial *trial, const struct numbers *n, size_t i,
                       const float *slope)
{
    static struct numbers moved;
    const double step = 1e-5;
    double sum = 0;
    for (output = 0; output < (int)trial->outputs; output++) {
        moved = *n;
        moved.value[i] += step;
        const double above = formula(trial, &moved);
        moved.value[i] -= 2 * step;
        sum += (double)slope[output] * (above - formula(trial, &moved)) / (2 * step);
    }
    output = 0;
    return sum;
}

static void scores_and_gradients_are_those_of_the_formula(void **state)
{
    (void)state;
    for (int t = 0; t < TRIALS; t++) {
        static struct numbers n;
        static const float slope[OUTPUTS_MOST] = {2, -1, 0.5F};
        float query[OUTPUTS_MOST * DIM], scratch[3 * DIM], score[OUTPUTS_MOST] = {0};
        float gradient[VALUES_MOST] = {0};
        float *parameter[DECODER_PARAMETER_COUNT_MAX] = {NULL};
        make_numbers(&trials[t], &n);
        const struct decoder decoder = decoder_of(&trials[t], &n);
        for (int i = 0; i < n.parameter_count; i++)
            parameter[i] = gradient + n.first[i];
        decoder.type->prepare(&decoder, n.single, query);
        decoder.type->score(&decoder, query, n.single + DIM, NULL, 1, score, scratch);
        for (output = 0; output < (int)trials[t].outputs; output++)
            assert_true(fabs((double)score[output] - formula(&trials[t], &n)) < 1e-5);
        decoder.type->backward(&decoder, n.single, n.single + DIM, slope, gradient, gradient + DIM,
                               parameter, scratch);
        for (size_t i = 0; i < n.count; i++) {
            const double expected = slope_of(&trials[t], &n, i, slope);
            assert_true(fabs((double)gradient[i] - expected) < 1e-4 * (1 + fabs(expected)));
        }
    }
}

static void every_row_has_its_name_and_tensors(void **state)
{
    (void)state;
#define NAME(number, of, help) assert_string_equal(decoder_type_of(number)->name, #of);
    DECODER_LIST(NAME)
    struct decoder_parameter own[DECODER_PARAMETER_COUNT_MAX];
    unsigned tried = 0;
    for (int t = 0; t < TRIALS; t++) {
        const struct decoder_type *type = decoder_type_of(trials[t].kind);
        tried |= 1U << trials[t].kind;
        assert_true(type->parameters(DIM, trials[t].outputs, own) <= DECODER_PARAMETER_COUNT_MAX);
        assert_true(type->takes_outputs || trials[t].outputs == 1);
    }
    assert_int_equal(tried, (1U << DECODER_COUNT) - 2);
}

/* The tensors stand behind those of the layers, and are trained. */
static void a_model_has_the_tensors_of_its_decoder(void **state)
{
    static struct model model;
    struct error err = {0};
    struct model_config config = {
        .input_dim = 3,
        .layer_count = 1,
        .decoder = DECODER_MLP,
        .layer = {{.kind = LAYER_SAGE, .output_dim = 4, .activation = ACTIVATION_NONE}}};
    (void)state;
    assert_ok(model_init(&model, &config, &err), &err);
    const int first = model.decoder_parameter;
    assert_string_equal(model.parameter[first].name, "decoder.lins.0.weight");
    assert_string_equal(model.parameter[first + 3].name, "decoder.lins.1.bias");
    assert_int_equal(model.parameter_count, first + 4);
    assert_int_equal(model.trained_count, model.value_count);
    config.decoder = DECODER_BILINEAR;
    config.decoder_outputs = 3;
    assert_ok(model_init(&model, &config, &err), &err);
    const struct parameter *weight = &model.parameter[model.decoder_parameter];
    assert_int_equal(weight->dim_count, 3);
    assert_true(weight->dim[0] == 3 && weight->dim[1] == 4 && weight->dim[2] == 4);
    assert_int_equal(weight[1].dim[0], 3);
    config.decoder_outputs = 0;
    config.decoder = DECODER_DISTMULT;
    assert_ok(model_init(&model, &config, &err), &err);
    float value[64];
    assert_true(model.value_count <= 64);
    model_initialise(&model, 1, value);
    const struct decoder decoder = model_decoder(&model, value);
    for (int i = 0; i < 4; i++)
        assert_true(decoder.parameter[0][i] > 0.999F && decoder.parameter[0][i] < 1.001F);
    config.decoder = DECODER_NONE;
    const int with = model.parameter_count;
    assert_ok(model_init(&model, &config, &err), &err);
    assert_int_equal(model.parameter_count, with - 1);
}

struct batch {
    float row[SEEDS * DIM];
    uint32_t source[POSITIVES], target[PAIRS];
    struct pair_rows pairs;
};

/* Seed 2 is an end of many pairs, one of them with itself. */
static void make_batch(struct batch *b)
{
    const struct random_stream stream = random_stream_of(4, RANDOM_WEIGHT, 0, 0, 0);
    for (size_t i = 0; i < (size_t)SEEDS * DIM; i++)
        b->row[i] = 2 * random_unit(random_word(&stream, i, 0)) - 1;
    for (uint32_t i = 0; i < POSITIVES; i++)
        b->source[i] = i % 3;
    for (uint32_t i = 0; i < PAIRS; i++)
        b->target[i] = i % 4 ? i % SEEDS : 2;
    b->pairs = (struct pair_rows){b->row, POSITIVES, NEGATIVES, b->source, b->target};
}

static void pairs_of_a_batch_add_up(void **state)
{
    static struct numbers n;
    static struct batch b;
    (void)state;
    make_batch(&b);
    for (int t = 0; t < TRIALS; t++) {
        struct error err = {0};
        struct arena arena = {0};
        struct thread_pool *pool = NULL;
        float score[2][PAIRS * OUTPUTS_MOST] = {{0}}, slope[PAIRS * OUTPUTS_MOST];
        float scratch[3 * DIM];
        const uint32_t outputs = trials[t].outputs;
        float row_gradient[SEEDS * DIM] = {0}, wanted[SEEDS * DIM] = {0};
        float gradient[VALUES_MOST] = {0}, wanted_gradient[VALUES_MOST] = {0};
        float *parameter[DECODER_PARAMETER_COUNT_MAX],
            *wanted_parameter[DECODER_PARAMETER_COUNT_MAX];
        make_numbers(&trials[t], &n);
        const struct decoder decoder = decoder_of(&trials[t], &n);
        for (int i = 0; i < n.parameter_count; i++) {
            parameter[i] = gradient + n.first[i];
            wanted_parameter[i] = wanted_gradient + n.first[i];
        }
        assert_ok(thread_pool_new(3, &pool, &err), &err);
        assert_ok(pair_pass_scores(&decoder, &b.pairs, &arena, NULL, score[0], &err), &err);
        assert_ok(pair_pass_scores(&decoder, &b.pairs, &arena, pool, score[1], &err), &err);
        assert_memory_equal(score[0], score[1], sizeof score[0]);
        for (uint32_t i = 0; i < PAIRS * OUTPUTS_MOST; i++)
            slope[i] = (float)i - 8.5F;
        assert_ok(
            pair_pass_backward(&decoder, &b.pairs, slope, &arena, row_gradient, parameter, &err),
            &err);
        for (uint32_t i = 0; i < POSITIVES; i++)
            for (uint32_t k = 0; k <= NEGATIVES; k++) {
                const uint32_t at = k ? POSITIVES + i * NEGATIVES + k - 1 : i;
                const size_t s = b.source[i] * (size_t)DIM, e = b.target[at] * (size_t)DIM;
                float query[OUTPUTS_MOST * DIM], one[OUTPUTS_MOST] = {0};
                decoder.type->prepare(&decoder, b.row + s, query);
                decoder.type->score(&decoder, query, b.row + e, NULL, 1, one, scratch);
                assert_memory_equal(one, score[0] + at * (size_t)outputs, outputs * sizeof *one);
                decoder.type->backward(&decoder, b.row + s, b.row + e, slope + at * (size_t)outputs,
                                       wanted + s, wanted + e, wanted_parameter, scratch);
            }
        assert_memory_equal(row_gradient, wanted, sizeof wanted);
        assert_memory_equal(gradient, wanted_gradient, sizeof gradient);
        thread_pool_free(pool);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_and_gradients_are_those_of_the_formula),
        cmocka_unit_test(every_row_has_its_name_and_tensors),
        cmocka_unit_test(a_model_has_the_tensors_of_its_decoder),
        cmocka_unit_test(pairs_of_a_batch_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
