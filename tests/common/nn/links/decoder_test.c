/* Compares each decoder with its formula in double, and its gradients with central differences;
 * then checks the pairs of a batch. */
#include "common/nn/links/pair_pass.h"
#include "common/nn/model.h"
#include "common/numbers/random.h"
#include "common/parallel/thread_pool.h"

#include "tests/support/test.h"

#include <math.h>
#include <string.h>

enum { DIM = 19, SEEDS = 7, POSITIVES = 5, NEGATIVES = 3, PAIRS = POSITIVES * (1 + NEGATIVES) };
enum { OUTPUTS_MOST = 3, RELATIONS = 3, RELATION = 1 };

static int output; /* the output that the formulas compute */
static int outputs_of_trial;

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
        sum += s[i] * p[0][(RELATION * outputs_of_trial + output) * DIM + i] * t[i];
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

/* All numbers of a trial, in both precisions: the rows of two ends, then the parameters. */
enum { PARAMETERS_MOST = 3 * DIM * DIM + 4 * DIM + 3, VALUES_MOST = 2 * DIM + PARAMETERS_MOST };

struct numbers {
    size_t count;
    double value[VALUES_MOST];
    float single[VALUES_MOST];
    size_t first[DECODER_PARAMETER_COUNT_MAX]; /* where each parameter begins */
    int parameter_count;
};

static void make_numbers(const struct trial *trial, struct numbers *n)
{
    struct decoder_parameter own[DECODER_PARAMETER_COUNT_MAX] = {0};
    const struct random_stream stream = random_stream_of(3, RANDOM_WEIGHT, 0, 0, 0);
    n->parameter_count =
        decoder_type_of(trial->kind)->parameters(DIM, trial->outputs, RELATIONS, own);
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
    outputs_of_trial = (int)trial->outputs;
    for (int i = 0; i < n->parameter_count; i++)
        parameter[i] = copy.value + n->first[i];
    return trial->formula(copy.value, copy.value + DIM, parameter);
}

static struct decoder decoder_of(const struct trial *trial, const struct numbers *n)
{
    struct decoder decoder = {.type = decoder_type_of(trial->kind),
                              .dim = DIM,
                              .outputs = trial->outputs,
                              .relation_count = RELATIONS};
    for (int i = 0; i < n->parameter_count; i++)
        decoder.parameter[i] = n->single + n->first[i];
    return decoder;
}

/* Returns the derivative of the sum of scores times `slope` by number `i`, as a central
 * difference. */
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
        for (int end = 0; end < 2; end++) { /* both ends give the same */
            float *row = n.single + (size_t)end * DIM, *other = n.single + (size_t)(1 - end) * DIM;
            float query_gradient[OUTPUTS_MOST * DIM] = {0}, kept[DIM];
            const struct decoder_back back = {.decoder = &decoder,
                                              .end = (enum pair_end)end,
                                              .query = query,
                                              .other = other,
                                              .gradient = slope,
                                              .query_gradient = query_gradient,
                                              .parameter_gradient = parameter,
                                              .kept = kept};
            memset(gradient, 0, sizeof gradient);
            decoder.type->prepare(&decoder, back.end, RELATION, row, query);
            decoder.type->score(&decoder, back.end, query, other, NULL, 1, score, scratch);
            for (output = 0; output < (int)trials[t].outputs; output++)
                assert_true(fabs((double)score[output] - formula(&trials[t], &n)) < 1e-5);
            decoder.type->score_back(&back, NULL, 1, scratch);
            decoder.type->other_back(&decoder, back.end, query, other, slope, kept,
                                     gradient + (size_t)(1 - end) * DIM);
            decoder.type->prepare_back(&decoder, back.end, RELATION, row, query_gradient,
                                       gradient + (size_t)end * DIM, parameter);
            for (size_t i = 0; i < n.count; i++) {
                const double expected = slope_of(&trials[t], &n, i, slope);
                assert_true(fabs((double)gradient[i] - expected) < 1e-4 * (1 + fabs(expected)));
            }
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
        assert_true(type->parameters(DIM, trials[t].outputs, RELATIONS, own) <=
                    DECODER_PARAMETER_COUNT_MAX);
        assert_true(type->takes_outputs || trials[t].outputs == 1);
    }
    assert_int_equal(tried, (1U << DECODER_COUNT) - 2);
}

/* The decoder's tensors follow those of the layers, and are trained. */
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
    const int first = model.head_parameter;
    assert_string_equal(model.parameter[first].name, "decoder.lins.0.weight");
    assert_string_equal(model.parameter[first + 3].name, "decoder.lins.1.bias");
    assert_int_equal(model.parameter_count, first + 4);
    assert_int_equal(model.trained_count, model.value_count);
    config.decoder = DECODER_BILINEAR;
    config.decoder_outputs = 3;
    assert_ok(model_init(&model, &config, &err), &err);
    const struct parameter *weight = &model.parameter[model.head_parameter];
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
    float most = 0;
    for (int i = 0; i < 4; i++)
        most = fmaxf(most, fabsf(decoder.parameter[0][i]));
    /* Xavier bound of a relation with 4 columns */
    assert_true(most > 0.1F && most <= sqrtf(6.0F / (1 + 4)));
    config.decoder = DECODER_NONE;
    const int with = model.parameter_count;
    assert_ok(model_init(&model, &config, &err), &err);
    assert_int_equal(model.parameter_count, with - 1);
}

struct batch {
    float row[SEEDS * DIM];
    uint32_t source[POSITIVES], target[PAIRS];
    uint16_t relation[POSITIVES];
    struct pair_rows pairs;
};

/* Seed 2 is an end of many pairs. One of them joins it to itself. */
static void make_batch(struct batch *b, enum corrupted_end corrupt)
{
    const struct random_stream stream = random_stream_of(4, RANDOM_WEIGHT, 0, 0, 0);
    for (size_t i = 0; i < (size_t)SEEDS * DIM; i++)
        b->row[i] = 2 * random_unit(random_word(&stream, i, 0)) - 1;
    for (uint32_t i = 0; i < POSITIVES; i++) {
        b->source[i] = i % 3;
        b->relation[i] = (uint16_t)(i * 2 % RELATIONS);
    }
    for (uint32_t i = 0; i < PAIRS; i++)
        b->target[i] = i % 4 ? i % SEEDS : 2;
    b->pairs = (struct pair_rows){.row = b->row,
                                  .row_count = SEEDS,
                                  .positive_count = POSITIVES,
                                  .negatives_each = NEGATIVES,
                                  .source = b->source,
                                  .target = b->target,
                                  .relation = b->relation,
                                  .corrupt = corrupt};
}

/* The results of a pass, for comparison. */
struct result {
    float score[PAIRS * OUTPUTS_MOST], row_gradient[SEEDS * DIM], gradient[VALUES_MOST];
};

static void run(const struct trial *trial, const struct numbers *n, const struct pair_rows *pairs,
                const float *slope, struct thread_pool *pool, struct result *out)
{
    struct error err = {0};
    struct arena arena = {0};
    float *parameter[DECODER_PARAMETER_COUNT_MAX] = {NULL};
    const struct decoder decoder = decoder_of(trial, n);
    memset(out, 0, sizeof *out);
    for (int i = 0; i < n->parameter_count; i++)
        parameter[i] = out->gradient + n->first[i];
    assert_ok(pair_pass_scores(&decoder, pairs, &arena, pool, out->score, &err), &err);
    assert_ok(pair_pass_backward(&decoder, pairs, slope, &arena, pool, out->row_gradient, parameter,
                                 &err),
              &err);
    arena_release(&arena);
}

static void assert_close(const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_true(fabsf(a[i] - b[i]) < 1e-3F * (1 + fabsf(b[i])));
}

/* Computing all pairs one by one gives the same sums, and any number of threads gives the same
 * bits. */
static void pairs_of_a_batch_add_up(void **state)
{
    static struct numbers n;
    static struct batch b;
    static struct result whole, by_threads, one, sum;
    struct error err = {0};
    struct thread_pool *pool = NULL;
    float slope[PAIRS * OUTPUTS_MOST];
    (void)state;
    for (uint32_t i = 0; i < PAIRS * OUTPUTS_MOST; i++)
        slope[i] = (float)i - 8.5F;
    assert_ok(thread_pool_new(3, &pool, &err), &err);
    for (int t = 0; t < TRIALS * CORRUPT_COUNT; t++) {
        const struct trial *trial = &trials[t % TRIALS];
        make_batch(&b, (enum corrupted_end)(t / TRIALS));
        make_numbers(trial, &n);
        run(trial, &n, &b.pairs, slope, NULL, &whole);
        run(trial, &n, &b.pairs, slope, pool, &by_threads);
        assert_memory_equal(&whole, &by_threads, sizeof whole);
        memset(&sum, 0, sizeof sum);
        for (uint32_t at = 0; at < PAIRS; at++) {
            const uint32_t i = at < POSITIVES ? at : (at - POSITIVES) / NEGATIVES;
            const bool of_source = corrupts_source(b.pairs.corrupt, i);
            uint32_t source = b.source[i], target = b.target[i];
            if (at >= POSITIVES)
                *(of_source ? &source : &target) = b.target[at];
            const struct pair_rows pair = {.row = b.row,
                                           .row_count = SEEDS,
                                           .positive_count = 1,
                                           .source = &source,
                                           .target = &target,
                                           .relation = &b.relation[i],
                                           .corrupt = of_source ? CORRUPT_SOURCE : CORRUPT_TARGET};
            run(trial, &n, &pair, &slope[(size_t)at * trial->outputs], NULL, &one);
            assert_memory_equal(one.score, &whole.score[(size_t)at * trial->outputs],
                                trial->outputs * sizeof(float));
            for (size_t k = 0; k < (size_t)SEEDS * DIM; k++)
                sum.row_gradient[k] += one.row_gradient[k];
            for (size_t k = 0; k < n.count; k++)
                sum.gradient[k] += one.gradient[k];
        }
        assert_close(whole.row_gradient, sum.row_gradient, (size_t)SEEDS * DIM);
        assert_close(whole.gradient, sum.gradient, n.count);
    }
    thread_pool_free(pool);
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
