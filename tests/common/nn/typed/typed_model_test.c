/* Models over node types and relations equal the slow reference and central differences, and give
 * the same bits for any number of threads. A new typed kind is rows of `trials`. */
#include "common/base/memory.h"
#include "common/nn/layers/layer.h"
#include "common/nn/model.h"
#include "common/nn/model_file.h"
#include "common/nn/typed/relation_input.h"
#include "common/nn/typed/typed_layer.h"
#include "common/numbers/cpu_level.h"

#include "tests/common/nn/layer_chain.h"
#include "tests/reference/typed_reference.h"
#include "tests/support/test.h"
#include "tests/support/typed_fixture.h"

#include <math.h>
#include <string.h>

struct trial {
    struct layer_options option;
    enum layer_kind kind;
    enum relation_aggr relation_aggr;
    enum norm_kind norm;
    enum activation_kind activation;
    bool own;          /* one type, three relations */
    bool values;       /* edges have values */
    uint32_t features; /* columns of edge features */
    bool project;      /* rows of authors and papers are projected */
    bool mlp;          /* mlp layers between the layers and behind them */
    bool begins;       /* the first layer is of the kind `first`, and there is one more mlp */
    enum layer_kind first;
    enum jumping_knowledge jump; /* jumping knowledge behind two layers */
    bool residual;
};

static const struct trial trials[] = {
    {.kind = LAYER_RGCN, .project = true},
    {.kind = LAYER_RGCN, .own = true, .values = true},
    {.kind = LAYER_RGCN,
     .option = {.bases = 2},
     .project = true,
     .norm = NORM_LAYER,
     .residual = true},
    {.kind = LAYER_RGCN, .option = {.bases = 2}, .own = true, .activation = ACTIVATION_ELU},
    {.kind = LAYER_RGCN, .option = {.blocks = 2}, .project = true, .values = true},
    {.kind = LAYER_RGCN, .option = {.blocks = 2, .aggr = LAYER_AGGR_ADD}, .own = true},
    {.kind = LAYER_SAGE, .project = false},
    {.kind = LAYER_SAGE, .project = true, .relation_aggr = RELATION_AGGR_MEAN, .values = true},
    {.kind = LAYER_SAGE,
     .option = {.aggr = LAYER_AGGR_MAX},
     .relation_aggr = RELATION_AGGR_MEAN,
     .residual = true},
    {.kind = LAYER_SAGE, .norm = NORM_BATCH, .activation = ACTIVATION_LEAKY_RELU},
    {.kind = LAYER_HGT, .option = {.heads = 2}, .project = true},
    {.kind = LAYER_HGT, .option = {.heads = 1}, .norm = NORM_LAYER, .residual = true},
    {.kind = LAYER_HGT, .option = {.heads = 4}, .own = true, .activation = ACTIVATION_NONE},
    {.kind = LAYER_HGT, .option = {.heads = 2}, .mlp = true},
    {.kind = LAYER_RGCN, .mlp = true, .project = true},
    {.kind = LAYER_GAT, .option = {.heads = 2}, .project = true},
    {.kind = LAYER_GAT,
     .option = {.heads = 1},
     .relation_aggr = RELATION_AGGR_MEAN,
     .residual = true},
    {.kind = LAYER_GAT,
     .option = {.heads = 4},
     .own = true,
     .activation = ACTIVATION_ELU,
     .norm = NORM_LAYER},
    {.kind = LAYER_GAT, .option = {.heads = 2}, .mlp = true},
    {.kind = LAYER_GAT, .option = {.heads = 2}, .features = 3, .project = true},
    {.kind = LAYER_GAT,
     .option = {.heads = 4},
     .features = 2,
     .own = true,
     .relation_aggr = RELATION_AGGR_MEAN},
    {.kind = LAYER_GATV2, .option = {.heads = 2}, .features = 3, .project = true},
    {.kind = LAYER_GATV2,
     .option = {.heads = 1},
     .features = 2,
     .own = true,
     .relation_aggr = RELATION_AGGR_MEAN},
    {.kind = LAYER_RGAT, .option = {.heads = 2}, .project = true},
    {.kind = LAYER_RGAT,
     .option = {.heads = 2, .bases = 2},
     .own = true,
     .activation = ACTIVATION_ELU},
    {.kind = LAYER_RGAT, .option = {.heads = 1, .blocks = 2}, .own = true, .norm = NORM_LAYER},
    {.kind = LAYER_RGAT, .option = {.heads = 4}, .mlp = true, .project = true},
    {.kind = LAYER_GIN, .own = true},
    {.kind = LAYER_GIN,
     .option = {.train_eps = true},
     .own = true,
     .relation_aggr = RELATION_AGGR_MEAN,
     .norm = NORM_LAYER},
    {.kind = LAYER_GIN, .option = {.train_eps = true}, .project = true},
    {.kind = LAYER_GIN, .activation = ACTIVATION_ELU, .own = true, .norm = NORM_LAYER},
    {.kind = LAYER_LE, .values = true},
    {.kind = LAYER_LE, .relation_aggr = RELATION_AGGR_MEAN, .residual = true, .project = true},
    {.kind = LAYER_GATV2, .option = {.heads = 2}},
    {.kind = LAYER_GATV2,
     .option = {.heads = 4},
     .own = true,
     .activation = ACTIVATION_ELU,
     .norm = NORM_LAYER},
    {.kind = LAYER_GATV2,
     .option = {.heads = 2},
     .relation_aggr = RELATION_AGGR_MEAN,
     .project = true,
     .mlp = true},
    {.kind = LAYER_GRAPH_CONV, .values = true},
    {.kind = LAYER_GRAPH_CONV, .own = true, .relation_aggr = RELATION_AGGR_MEAN},
    {.kind = LAYER_GCN},
    {.kind = LAYER_GCN, .values = true, .relation_aggr = RELATION_AGGR_MEAN, .project = true},
    {.kind = LAYER_GCN, .own = true, .norm = NORM_LAYER, .residual = true},
    {.kind = LAYER_GCN, .own = true, .values = true},
    {.kind = LAYER_SGC, .begins = true, .first = LAYER_PROPAGATE, .project = true, .values = true},
    {.kind = LAYER_SGC, .begins = true, .first = LAYER_PROPAGATE, .own = true},
    {.kind = LAYER_APPNP, .option = {.alpha = 0.2}, .begins = true, .first = LAYER_MLP},
    {.kind = LAYER_APPNP,
     .option = {.alpha = 0.3},
     .begins = true,
     .first = LAYER_MLP,
     .relation_aggr = RELATION_AGGR_MEAN,
     .own = true,
     .values = true},
    {.kind = LAYER_SAGE, .jump = JUMP_CAT, .project = true, .residual = true},
    {.kind = LAYER_RGCN, .jump = JUMP_MAX, .project = true, .norm = NORM_LAYER},
    {.kind = LAYER_GATV2, .option = {.heads = 2}, .jump = JUMP_LAST},
    {.kind = LAYER_RGCN, .option = {.bases = 2}, .project = true},
    {.kind = LAYER_SAGE, .project = true},
    {.kind = LAYER_SAGE,
     .project = true,
     .relation_aggr = RELATION_AGGR_MEAN,
     .activation = ACTIVATION_ELU},
};
enum { TRIAL_COUNT = sizeof trials / sizeof *trials };

struct sizes {
    uint32_t count[FIXTURE_HOPS_MAX + 1][FIXTURE_TYPES]; /* from the input side */
    uint32_t input[FIXTURE_TYPES], hidden, output, edges_most;
};

static const struct sizes small = {{{23, 17, 9}, {11, 7, 5}, {4, 0, 0}}, {5, 6, 4}, 4, 4, 3};
/* The last block has rows of other types than the target's, and the first block has none of one
 * type. */
static const struct sizes uneven = {{{9, 8, 0}, {7, 6, 0}, {3, 2, 0}}, {5, 6, 4}, 4, 4, 4};

/* The last block has rows of all types. */
static const struct sizes several = {{{9, 8, 7}, {7, 6, 5}, {3, 2, 4}}, {5, 6, 4}, 4, 4, 4};

struct run {
    struct model model;
    struct typed_fixture blocks;
    struct arena arena;
    float *value, *logits, *slope, *gradient;
    size_t logit_count;
    /* number of calls that aggregate rows before forward, plus one; 0: none, and no room */
    int64_t ahead;
};

static const struct relation_schema *schema_of(const struct trial *trial)
{
    return trial->own                                    ? &fixture_own_schema
           : layer_type_of(trial->kind)->divides_by_ends ? &fixture_reversed_schema
                                                         : &fixture_schema;
}

static enum layer_kind kind_of(const struct trial *trial, int number)
{
    if (trial->begins)
        return number == 0 ? trial->first : trial->kind;
    return (trial->mlp && number % 2) || (trial->jump && number == 2) ? LAYER_MLP : trial->kind;
}

/* Returns the width of a layer. A layer that moves rows unchanged is as wide as its input. */
static uint32_t width_of(const struct trial *trial, const struct sizes *sizes, int number,
                         bool is_last)
{
    if (is_last || layer_type_of(trial->kind)->keeps_width)
        return sizes->output;
    return layer_type_of(kind_of(trial, number))->keeps_width ? sizes->input[FIELD] : sizes->hidden;
}

static struct model_config config_of(const struct trial *trial, const struct sizes *sizes,
                                     float dropout)
{
    struct model_config config = {.edge_dim = trial->features};
    config.types.schema = *schema_of(trial);
    config.types.relation_aggr = trial->relation_aggr;
    config.types.projected_dim = sizes->input[FIELD];
    config.types.projected_activation = trial->values ? ACTIVATION_RELU : ACTIVATION_NONE;
    for (uint32_t t = 0; t < config.types.schema.type_count; t++) {
        config.types.input_dim[t] = sizes->input[trial->own ? FIELD : t];
        config.types.projects[t] = trial->project && t != FIELD;
    }
    config.layer_count = trial->mlp                                                    ? 4
                         : (trial->begins && trial->first == LAYER_MLP) || trial->jump ? 3
                                                                                       : 2;
    config.jumping_knowledge = trial->jump;
    for (int i = 0; i < config.layer_count; i++) {
        const bool is_last = i == config.layer_count - 1;
        config.layer[i] =
            (struct layer_config){.kind = kind_of(trial, i),
                                  .output_dim = width_of(trial, sizes, i, is_last),
                                  .option = trial->option,
                                  .residual = i == 0 && trial->residual,
                                  .norm = i == 0 ? trial->norm : NORM_NONE,
                                  .activation = is_last ? ACTIVATION_NONE : trial->activation,
                                  .dropout = (double)dropout};
        layer_config_set_inner(&config.layer[i], config.layer[i].norm, trial->activation);
    }
    return config;
}

static void start(struct run *run, const struct trial *trial, const struct sizes *sizes,
                  float dropout)
{
    struct error err = {0};
    const struct model_config config = config_of(trial, sizes, dropout);
    *run = (struct run){0};
    assert_ok(model_init(&run->model, &config, &err), &err);
    typed_fixture_make(&run->blocks, schema_of(trial), 2, sizes->count, config.types.input_dim,
                       sizes->edges_most, trial->values);
    typed_fixture_features(&run->blocks, trial->features);
    run->logit_count = (size_t)sizes->count[2][PAPER] * sizes->output;
    run->value = memory_alloc(run->model.value_count, sizeof *run->value);
    run->gradient = memory_alloc(run->model.value_count, sizeof *run->gradient);
    run->logits = memory_alloc(run->logit_count, sizeof *run->logits);
    run->slope = memory_alloc(run->logit_count, sizeof *run->slope);
    model_initialise(&run->model, 5, run->value);
    /* Some biases start at zero, which would hide errors in them and put rows without edges on the
     * kink of ReLU. */
    for (uint64_t i = 0; i < run->model.value_count; i++)
        run->value[i] += i % 3 ? 0.013F : 0.053F;
    for (size_t i = 0; i < run->logit_count; i++)
        run->slope[i] = sinf((float)i * 1.7F) / (float)run->logit_count;
}

static void end(struct run *run)
{
    typed_fixture_release(&run->blocks);
    arena_release(&run->arena);
    memory_free(run->value);
    memory_free(run->gradient);
    memory_free(run->logits);
    memory_free(run->slope);
}

static const bool all_wanted[FIXTURE_TYPES] = {true, true, true};

static enum error_code try_both(struct run *run, const struct random_stream *dropout,
                                struct thread_pool *pool, struct model_trace **trace,
                                struct error *err)
{
    const struct model_workspace workspace = {&run->arena, pool};
    struct model_input input = {.relations = run->blocks.block,
                                .type_rows = run->blocks.rows,
                                .wants_gradient = all_wanted,
                                .dropout = dropout};
    struct relation_input ahead;
    enum error_code rc = ERROR_NONE;
    arena_reset(&run->arena);
    if (run->ahead) {
        rc = relation_input_begin(&ahead, &run->model, run->blocks.block, run->blocks.rows,
                                  &run->arena, err);
        for (int64_t i = 1; rc == ERROR_NONE && i < run->ahead; i++)
            /* the last call */
            if (!relation_input_advance(&ahead, 1, pool))
                run->ahead = 1 - i;
        input.aggregated_relations = &ahead;
    }
    if (rc == ERROR_NONE)
        rc = model_forward(&run->model, run->value, &input, &workspace, run->logits, trace, err);
    return rc == ERROR_NONE ? model_backward(&run->model, run->value, *trace, run->slope,
                                             &workspace, run->gradient, err)
                            : rc;
}

static struct model_trace *run_both(struct run *run, const struct random_stream *dropout,
                                    struct thread_pool *pool)
{
    struct error err = {0};
    struct model_trace *trace = NULL;
    assert_ok(try_both(run, dropout, pool, &trace, &err), &err);
    return trace;
}

/* --- the reference --- */

struct doubles {
    double *value, *x[FIXTURE_TYPES];
};

static struct doubles in_double(const struct run *run)
{
    struct doubles out = {.value = memory_alloc(run->model.value_count, sizeof(double))};
    for (uint64_t i = 0; i < run->model.value_count; i++)
        out.value[i] = (double)run->value[i];
    for (uint32_t t = 0; t < run->blocks.schema->type_count; t++) {
        const size_t rows = run->blocks.count[0][t], dim = run->model.config.types.input_dim[t];
        out.x[t] = memory_alloc(rows * dim + 1, sizeof(double));
        for (size_t i = 0; i < rows * dim; i++)
            out.x[t][i] =
                (double)run->blocks
                    .feature[t][run->blocks.row_index[t][i / dim] * run->blocks.rows[t].stride +
                                i % dim];
    }
    return out;
}

static void release(struct doubles *doubles)
{
    memory_free(doubles->value);
    for (int t = 0; t < FIXTURE_TYPES; t++)
        memory_free(doubles->x[t]);
}

static double scalar(const struct run *run, const struct doubles *at,
                     const struct random_stream *dropout)
{
    double *logits =
        typed_reference_logits(&run->model, at->value, run->blocks.block, at->x, dropout, true);
    double sum = 0;
    for (size_t i = 0; i < run->logit_count; i++)
        sum += logits[i] * (double)run->slope[i];
    memory_free(logits);
    return sum;
}

static double slope_of(const struct run *run, const struct doubles *at, double *of,
                       const struct random_stream *dropout)
{
    const double kept = *of, step = 1e-6;
    *of = kept + step;
    const double above = scalar(run, at, dropout);
    *of = kept - step;
    const double below = scalar(run, at, dropout);
    *of = kept;
    return (above - below) / (2 * step);
}

static void check_logits(const struct run *run, const struct random_stream *dropout)
{
    struct doubles at = in_double(run);
    double *logits =
        typed_reference_logits(&run->model, at.value, run->blocks.block, at.x, dropout, true);
    for (size_t i = 0; i < run->logit_count; i++)
        if (!(fabs(logits[i] - (double)run->logits[i]) <= 1e-5 * (1 + fabs(logits[i]))))
            fail_msg("logit %zu of %zu is %g, expected %g", i, run->logit_count,
                     (double)run->logits[i], logits[i]);
    memory_free(logits);
    release(&at);
}

/* A slope takes two passes of the slow reference, which is most of this test's time. The test runs
 * once for each level of the processor, with and without dropout; each run checks a sixth of the
 * numbers, and together they check all. */
static bool slope_is_taken(size_t index, bool has_dropout)
{
    return index % 6 == 2 * ((size_t)cpu_level() % 3) + has_dropout;
}

/* Returns whether a tensor has no gradient: the eps of GIN, unless it is trained. */
static bool is_fixed(const struct model *model, const struct parameter *parameter)
{
    const size_t size = strlen(parameter->name);
    return size > 4 && strcmp(parameter->name + size - 4, ".eps") == 0 &&
           !model->layer[0].config.option.train_eps;
}

static void check_gradient(const struct run *run, const struct model_trace *trace,
                           const struct random_stream *dropout)
{
    struct doubles at = in_double(run);
    double size = 0;
    for (uint64_t i = 0; i < run->model.trained_count; i++)
        size = fmax(size, fabs((double)run->gradient[i]));
    for (int p = 0; p < run->model.parameter_count; p++) {
        const struct parameter *own = &run->model.parameter[p];
        for (uint64_t k = 0; k < (uint64_t)own->rows * own->cols; k++) {
            const uint64_t i = own->offset + k;
            if (i >= run->model.trained_count || !slope_is_taken((size_t)k, dropout != NULL))
                continue;
            const double expected =
                is_fixed(&run->model, own) ? 0 : slope_of(run, &at, &at.value[i], dropout);
            if (!(fabs(expected - (double)run->gradient[i]) <= 2e-5 * size + 1e-8))
                fail_msg("gradient of %s %d is %g, expected %g", own->name, (int)k,
                         (double)run->gradient[i], expected);
        }
    }
    for (uint32_t t = 0; t < run->blocks.schema->type_count; t++) {
        const float *gradient = model_input_gradient(trace, t);
        for (size_t i = 0;
             i < (size_t)run->blocks.count[0][t] * run->model.config.types.input_dim[t]; i++) {
            if (!slope_is_taken(i, dropout != NULL))
                continue;
            const double expected = slope_of(run, &at, &at.x[t][i], dropout);
            if (!(fabs(expected - (double)gradient[i]) <= 2e-5 * size + 1e-8))
                fail_msg("gradient of input %d of type %d is %g, expected %g", (int)i, (int)t,
                         (double)gradient[i], expected);
        }
    }
    release(&at);
}

static void check_all(float dropout)
{
    const struct random_stream stream = random_stream_of(99, RANDOM_DROPOUT, 4, 0, 2);
    const struct random_stream *draws = dropout > 0 ? &stream : NULL;
    for (size_t t = 0; t < TRIAL_COUNT; t++)
        for (int s = 0; s < 2; s++) {
            struct run run;
            if (s && (trials[t].norm == NORM_BATCH))
                continue;
            start(&run, &trials[t], s ? &uneven : &small, dropout);
            const struct model_trace *trace = run_both(&run, draws, NULL);
            check_logits(&run, draws);
            check_gradient(&run, trace, draws);
            end(&run);
        }
}

static void agree_with_the_reference_and_central_differences(void **state)
{
    (void)state;
    check_all(0);
}

static void dropout_goes_through_forward_and_backward_alike(void **state)
{
    (void)state;
    check_all(0.4F);
}

/* Some relations have several tiles. */
static const struct sizes tiles = {
    {{1300, 700, 90}, {1100, 600, 70}, {60, 0, 0}}, {5, 6, 4}, 4, 4, 3};

static void rows_aggregated_before_change_no_bit(void **state)
{
    (void)state;
    for (size_t t = 0; t < TRIAL_COUNT; t++) {
        struct run all, ahead;
        int64_t calls = 0;
        start(&all, &trials[t], &tiles, 0.4F);
        const struct random_stream draws = random_stream_of(9, RANDOM_DROPOUT, 4, 0, 2);
        run_both(&all, &draws, NULL);
        start(&ahead, &trials[t], &tiles, 0.4F);
        for (calls = 0; relation_input_is_possible(&all.model) && calls >= 0; calls++) {
            ahead.ahead = calls + 1;
            run_both(&ahead, &draws, NULL);
            assert_memory_equal(all.logits, ahead.logits, all.logit_count * sizeof(float));
            assert_memory_equal(all.gradient, ahead.gradient,
                                all.model.value_count * sizeof(float));
            calls = ahead.ahead <= 0 ? INT64_MIN : calls;
        }
        const struct typed_kind *typed = all.model.layer[0].typed;
        assert_int_equal(calls < 0, typed && typed->sums);
        end(&ahead);
        end(&all);
    }
}

static void rows_without_edges_may_be_left_out(void **state)
{
    (void)state;
    for (size_t t = 0; t < TRIAL_COUNT; t++) {
        struct run all, named;
        start(&all, &trials[t], &small, 0);
        run_both(&all, NULL, NULL);
        start(&named, &trials[t], &small, 0);
        typed_fixture_name_rows(&named.blocks);
        run_both(&named, NULL, NULL);
        assert_memory_equal(all.logits, named.logits, all.logit_count * sizeof(float));
        assert_memory_equal(all.gradient, named.gradient, all.model.value_count * sizeof(float));
        end(&named);
        end(&all);
    }
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    static const struct sizes sizes = {
        {{9000, 4000, 1500}, {2500, 1100, 600}, {700, 0, 0}}, {18, 6, 20}, 16, 8, 6};
    static const int threads[] = {1, 2, 4, 33};
    const struct random_stream stream = random_stream_of(3, RANDOM_DROPOUT, 1, 0, 0);
    (void)state;
    for (size_t t = 0; t < TRIAL_COUNT; t++) {
        struct run alone;
        start(&alone, &trials[t], &sizes, 0.5F);
        run_both(&alone, &stream, NULL);
        for (size_t n = 0; n < sizeof threads / sizeof *threads; n++) {
            struct error err = {0};
            struct thread_pool *pool = NULL;
            struct run run;
            assert_ok(thread_pool_new(threads[n], &pool, &err), &err);
            start(&run, &trials[t], &sizes, 0.5F);
            run_both(&run, &stream, pool);
            assert_memory_equal(run.logits, alone.logits, run.logit_count * sizeof(float));
            assert_memory_equal(run.gradient, alone.gradient,
                                run.model.value_count * sizeof(float));
            end(&run);
            thread_pool_free(pool);
        }
        end(&alone);
    }
}

/* More rows than a tile has, and rows of other types than the target's in the last block. */
static const struct sizes wide = {
    {{1500, 900, 130}, {1100, 600, 70}, {530, 20, 0}}, {9, 12, 8}, 8, 4, 4};

static void layers_alone_train_to_the_bits_of_the_whole_model(void **state)
{
    static const struct sizes *const all[] = {&small, &uneven, &wide};
    const struct random_stream stream = random_stream_of(9, RANDOM_DROPOUT, 1, 0, 0);
    struct error err = {0};
    struct thread_pool *pool = NULL;
    (void)state;
    assert_ok(thread_pool_new(3, &pool, &err), &err);
    for (size_t t = 0; t < TRIAL_COUNT; t++)
        for (int s = 0; s < 3; s++) {
            struct run run;
            start(&run, &trials[t], all[s], 0.4F);
            const struct model_input input = {
                .relations = run.blocks.block, .type_rows = run.blocks.rows, .dropout = &stream};
            layer_chain_check(&run.model, run.value, &input, run.slope, s ? pool : NULL);
            end(&run);
        }
    thread_pool_free(pool);
}

static void evaluation_gives_the_bits_of_training_without_dropout(void **state)
{
    (void)state;
    for (size_t t = 0; t < TRIAL_COUNT; t++) {
        struct run run;
        struct error err = {0};
        float kept[64];
        if (trials[t].norm == NORM_BATCH)
            continue;
        start(&run, &trials[t], &small, 0.5F);
        run_both(&run, NULL, NULL);
        memcpy(kept, run.logits, run.logit_count * sizeof *kept);
        const struct model_workspace workspace = {.arena = &run.arena};
        const struct model_input input = {.relations = run.blocks.block,
                                          .type_rows = run.blocks.rows};
        arena_reset(&run.arena);
        assert_ok(model_forward(&run.model, run.value, &input, &workspace, run.logits, NULL, &err),
                  &err);
        assert_memory_equal(run.logits, kept, run.logit_count * sizeof *kept);
        end(&run);
    }
}

/* The counted memory is at least the memory used, and each limit below it gives ERROR_NO_MEMORY. */
/* Returns the block for destinations of one type alone; arrays are the caller's. */
static struct relation_block block_of_type(const struct relation_schema *schema,
                                           const struct relation_block *block, uint32_t type,
                                           uint32_t *destination_count,
                                           struct relation_edges *edges)
{
    for (uint32_t t = 0; t < schema->type_count; t++)
        destination_count[t] = t == type ? block->destination_count[t] : 0;
    for (uint32_t r = 0; r < schema->relation_count; r++) {
        edges[r] = block->edges[r];
        if (schema->relation[r].target_type != type)
            edges[r] = (struct relation_edges){.block = {.is_bipartite = true}};
    }
    return (struct relation_block){destination_count, block->source_count, edges};
}

/* Infers all rows of a type that a layer gives, from the rows of all types that the layer below
 * gave. */
static float *infer_type(struct run *run, int layer, uint32_t type, const struct input_rows *rows,
                         const float *const *start)
{
    struct error err = {0};
    const struct model_layer *own = &run->model.layer[layer];
    const struct relation_schema *schema = run->blocks.schema;
    const bool uses_edges = own->type->uses_edges;
    const struct model_workspace workspace = {&run->arena, NULL};
    struct relation_edges edges[FIXTURE_RELATIONS];
    uint32_t destinations[FIXTURE_TYPES];
    const struct relation_block *whole =
        /* no edges: the hop that gave its rows */
        &run->blocks.block[uses_edges || own->hop == 0 ? own->hop : own->hop - 1];
    const struct relation_block block = block_of_type(schema, whole, type, destinations, edges);
    if (!uses_edges && own->hop == 0)
        destinations[type] = whole->source_count[type];
    const struct typed_layer_input input = {.block = uses_edges ? &block : NULL,
                                            .count = uses_edges ? NULL : destinations,
                                            .rows = rows,
                                            .start = start};
    float *output =
        memory_alloc((size_t)destinations[type] * own->config.output_dim + 1, sizeof *output);
    arena_reset(&run->arena);
    assert_ok(
        model_infer_types(&run->model, run->value, layer, &input, type, &workspace, output, &err),
        &err);
    return output;
}

/* Returns whether the model folds a projection (projection_fold.h). */
static bool folds_a_projection(const struct model *model, const struct trial *trial)
{
    const struct model_layer *first = &model->layer[0];
    return trial->project && !trial->values && !trial->residual && first->typed &&
           first->typed->sums && first->config.option.aggr == LAYER_AGGR_MEAN;
}

/* Returns the rows of the papers for a layer that reads all layers below it; the caller frees them
 * with memory_free(). */
static float *join_papers(const struct run *run, int layer, float *given[][FIXTURE_TYPES])
{
    const struct model_layer *own = &run->model.layer[layer];
    const uint32_t count = run->blocks.count[2][PAPER];
    const float *lower[LAYER_COUNT_MAX];
    size_t stride[LAYER_COUNT_MAX];
    if (!own->reads_all)
        return NULL;
    float *joined = memory_alloc((size_t)count * own->type_input_dim[PAPER] + 1, sizeof *joined);
    for (int l = 0; l < layer; l++) {
        lower[l] = given[l][PAPER];
        stride[l] = run->model.layer[l].config.output_dim;
    }
    model_join_rows(&run->model, lower, stride, count, joined);
    return joined;
}

static bool projects_first(const struct trial *trial)
{
    return trial->kind == LAYER_GCN || trial->kind == LAYER_SGC;
}

static void assert_close(float found, float expected)
{
    if (!(fabsf(found - expected) <= 1e-5F * (1 + fabsf(expected))))
        fail_msg("a logit is %.9g, expected %.9g", (double)found, (double)expected);
}

static void layer_by_layer_and_type_by_type_it_is_the_same_model(void **state)
{
    (void)state;
    for (size_t trial = 0; trial < TRIAL_COUNT; trial++) {
        struct run run;
        struct error err = {0};
        struct input_rows rows[FIXTURE_TYPES];
        float *given[LAYER_COUNT_MAX][FIXTURE_TYPES] = {{NULL}};
        start(&run, &trials[trial], &uneven, 0);
        const struct model_workspace workspace = {&run.arena, NULL};
        const struct model_input input = {.relations = run.blocks.block,
                                          .type_rows = run.blocks.rows};
        assert_ok(model_forward(&run.model, run.value, &input, &workspace, run.logits, NULL, &err),
                  &err);
        memcpy(rows, run.blocks.rows, sizeof rows);
        const int layers = run.model.config.layer_count;
        for (int layer = 0; layer < layers; layer++) {
            const int second = run.model.layer[layer].second_input;
            float *joined = join_papers(&run, layer, given);
            if (joined)
                rows[PAPER] = (struct input_rows){
                    .base = joined, .stride = run.model.layer[layer].type_input_dim[PAPER]};
            for (uint32_t t = 0; t < run.blocks.schema->type_count; t++)
                given[layer][t] = infer_type(
                    &run, layer, t, rows,
                    second < 0 ? NULL : (const float *const *)(const void *)given[second]);
            for (uint32_t t = 0; t < run.blocks.schema->type_count; t++)
                rows[t] = (struct input_rows){.base = given[layer][t],
                                              .stride = run.model.layer[layer].config.output_dim};
            memory_free(joined);
        }
        const float *found = given[layers - 1][PAPER];
        assert_non_null(found);
        /* Inference layer by layer folds no projection, and never projects before it aggregates. */
        for (size_t i = 0; found && i < run.logit_count; i++)
            if (folds_a_projection(&run.model, &trials[trial]) || projects_first(&trials[trial]))
                assert_close(found[i], run.logits[i]);
            else
                assert_memory_equal(&found[i], &run.logits[i], sizeof(float));
        for (int layer = 0; layer < layers; layer++)
            for (int t = 0; t < FIXTURE_TYPES; t++)
                memory_free(given[layer][t]);
        end(&run);
    }
}

/* Compares the logits of a model with logits of one type with those of a model that gives all
 * types, and adds its gradient to `sum`: `row` is the first row of the type. */
static void compare_type(const struct run *all, const struct trial *trial, uint32_t type,
                         size_t row, double *sum)
{
    struct run one;
    struct error err = {0};
    const struct model_config config = config_of(trial, &several, 0);
    const size_t values = (size_t)all->blocks.count[2][type] * several.output;
    struct model_config own = config;
    start(&one, trial, &several, 0);
    own.types.target_type = type;
    assert_ok(model_init(&one.model, &own, &err), &err);
    assert_int_equal(one.model.value_count, all->model.value_count);
    memcpy(one.value, all->value, all->model.value_count * sizeof *one.value);
    memory_free(one.logits);
    one.logits = memory_alloc(values + 1, sizeof *one.logits);
    memory_free(one.slope);
    one.slope = memory_alloc(values + 1, sizeof *one.slope);
    memcpy(one.slope, all->slope + row * several.output, values * sizeof *one.slope);
    (void)run_both(&one, NULL, NULL);
    assert_memory_equal(one.logits, all->logits + row * several.output,
                        values * sizeof *one.logits);
    for (uint64_t i = 0; i < one.model.trained_count; i++)
        sum[i] += (double)one.gradient[i];
    end(&one);
}

static void rows_of_all_types_are_those_of_each_one_behind_the_other(void **state)
{
    (void)state;
    for (size_t trial = 0; trial < TRIAL_COUNT; trial++) {
        struct run run;
        struct error err = {0};
        struct model_config config = config_of(&trials[trial], &several, 0);
        const uint32_t types = config.types.schema.type_count;
        size_t rows = 0, row = 0;
        /* other tensors; statistics that are not a sum */
        if (trials[trial].mlp || trials[trial].jump || trials[trial].norm == NORM_BATCH)
            continue;
        start(&run, &trials[trial], &several, 0);
        config.types.gives_all = true;
        assert_ok(model_init(&run.model, &config, &err), &err);
        for (uint32_t t = 0; t < types; t++)
            rows += run.blocks.count[2][t];
        run.logits = memory_resize(run.logits, rows * several.output, sizeof *run.logits);
        run.slope = memory_resize(run.slope, rows * several.output, sizeof *run.slope);
        for (size_t i = 0; i < rows * several.output; i++)
            run.slope[i] = sinf((float)i * 1.3F);
        (void)run_both(&run, NULL, NULL);
        double *sum = memory_alloc(run.model.value_count, sizeof *sum), size = 0;
        memset(sum, 0, run.model.value_count * sizeof *sum);
        for (uint32_t t = 0; t < types; t++) {
            compare_type(&run, &trials[trial], t, row, sum);
            row += run.blocks.count[2][t];
        }
        for (uint64_t i = 0; i < run.model.trained_count; i++)
            size = fmax(size, fabs(sum[i]));
        for (uint64_t i = 0; i < run.model.trained_count; i++)
            if (!(fabs(sum[i] - (double)run.gradient[i]) <= 1e-5 * size))
                fail_msg("trial %zu: value %llu of the gradient is %g, expected %g", trial,
                         (unsigned long long)i, (double)run.gradient[i], sum[i]);
        memory_free(sum);
        end(&run);
    }
}

static void memory_is_counted_and_its_want_is_noticed(void **state)
{
    (void)state;
    for (size_t t = 0; t < TRIAL_COUNT; t++) {
        struct run run, counted;
        struct error err = {0};
        struct model_trace *trace = NULL;
        start(&run, &trials[t], &small, 0.5F);
        run_both(&run, NULL, NULL);
        const size_t used = run.arena.used;
        start(&counted, &trials[t], &small, 0.5F);
        for (int h = 0; h < 2; h++)
            for (uint32_t r = 0; r < counted.blocks.schema->relation_count; r++) {
                struct message_block *block = &counted.blocks.edges[h][r].block;
                block->edge_count = message_block_edges(block);
                block->row_start = NULL;
            }
        counted.arena.counts = true;
        assert_ok(try_both(&counted, NULL, NULL, &trace, &err), &err);
        /* Memory for gat is counted for the more expensive of its two ways. */
        assert_true(counted.arena.used >= used && counted.arena.used < used + used / 3);
        end(&counted);
        int refused = 0;
        enum error_code rc = ERROR_NO_MEMORY;
        for (size_t limit = 1; rc != ERROR_NONE; limit += 8192) {
            run.arena.limit = limit;
            rc = try_both(&run, NULL, NULL, &trace, &err);
            refused += rc != ERROR_NONE;
            assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        }
        assert_true(refused > 3);
        run.arena.limit = 0;
        run.blocks.feature[PAPER][run.blocks.row_index[PAPER][0] * run.blocks.rows[PAPER].stride] =
            NAN;
        run_both(&run, NULL, NULL);
        assert_true(isnan(run.logits[0]));
        end(&run);
    }
}

/* --- one type and one relation --- */

static const struct relation only_relation[] = {{"a", 0, 0}};
static const struct relation_schema only_schema = {1, 1, fixture_type_names, only_relation};
enum { ONLY_HOPS = 2, ONLY_DIM = 5, ONLY_WIDTH = 6 };

/* Returns a model of the kind over one relation, or over the plain graph. */
static struct model_config only_config(enum layer_kind kind, bool is_typed)
{
    struct model_config config = {.layer_count = ONLY_HOPS};
    if (is_typed) {
        config.types.schema = only_schema;
        config.types.input_dim[0] = ONLY_DIM;
    } else {
        config.input_dim = ONLY_DIM;
    }
    for (int i = 0; i < ONLY_HOPS; i++)
        config.layer[i] = (struct layer_config){.kind = kind,
                                                .output_dim = ONLY_WIDTH,
                                                .option = {.train_eps = true},
                                                .activation = i < ONLY_HOPS - 1 ? ACTIVATION_RELU
                                                                                : ACTIVATION_NONE};
    return config;
}

/* Returns the block of a plain graph with the edges of the relation. All edges are there, and a
 * degree excludes loops. */
static struct message_block plain_block(struct typed_fixture *f, int hop)
{
    struct message_block block = f->edges[hop][0].block;
    uint32_t *relation_degree = f->array[hop][0][3];
    uint32_t *degree = memory_alloc(block.source_count, sizeof *degree);
    for (uint32_t i = 0; i < block.source_count; i++)
        degree[i] = 0;
    for (uint32_t i = 0; i < block.destination_count; i++) {
        relation_degree[i] = block.row_start[i + 1] - block.row_start[i];
        for (uint32_t e = block.row_start[i]; e < block.row_start[i + 1]; e++)
            degree[i] += block.neighbor[e] != i;
    }
    block.is_bipartite = false;
    block.degree = degree;
    block.value_sum = f->edges[hop][0].source_sum;
    f->edges[hop][0].source_degree = degree;
    return block;
}

static void assert_same_numbers(const float *found, const float *expected, size_t count,
                                const char *kind)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(found[i] - expected[i]) <= 1e-5F * (1 + fabsf(expected[i]))))
            fail_msg("%s: value %zu is %.9g, expected that of the plain graph, %.9g", kind, i,
                     (double)found[i], (double)expected[i]);
}

static void compare_with_plain(enum layer_kind kind, bool values)
{
    static const uint32_t count[ONLY_HOPS + 1][FIXTURE_TYPES] = {{1700}, {1200}, {700}};
    static const uint32_t dims[FIXTURE_TYPES] = {ONLY_DIM};
    static struct model typed, plain;
    const struct model_config of_relation = only_config(kind, true),
                              of_graph = only_config(kind, false);
    const size_t logits = (size_t)count[ONLY_HOPS][0] * ONLY_WIDTH;
    struct message_block block[ONLY_HOPS];
    struct typed_fixture f;
    struct arena arena = {0};
    struct error err = {0};
    struct model_trace *trace = NULL;
    const struct model_workspace workspace = {&arena, NULL};
    assert_ok(model_init(&typed, &of_relation, &err), &err);
    assert_ok(model_init(&plain, &of_graph, &err), &err);
    assert_int_equal(typed.value_count, plain.value_count);
    typed_fixture_make(&f, &only_schema, ONLY_HOPS, count, dims, 4, values);
    for (int hop = 0; hop < ONLY_HOPS; hop++)
        block[hop] = plain_block(&f, hop);
    float *value = memory_alloc(plain.value_count, sizeof *value);
    float *result[2][2]; /* of the relation, and of the plain graph: logits and gradient */
    float *slope = memory_alloc(logits, sizeof *slope);
    model_initialise(&plain, 3, value);
    for (size_t i = 0; i < logits; i++)
        slope[i] = sinf((float)i * 1.7F) / 100;
    for (int i = 0; i < 2; i++) {
        const struct model *model = i ? &plain : &typed;
        const struct model_input input = {.block = i ? block : NULL,
                                          .relations = i ? NULL : f.block,
                                          .type_rows = i ? NULL : f.rows,
                                          .rows = i ? f.rows[0] : (struct input_rows){0}};
        result[i][0] = memory_alloc(logits, sizeof(float));
        result[i][1] = memory_alloc(plain.value_count, sizeof(float));
        assert_ok(model_forward(model, value, &input, &workspace, result[i][0], &trace, &err),
                  &err);
        assert_ok(model_backward(model, value, trace, slope, &workspace, result[i][1], &err), &err);
    }
    assert_same_numbers(result[0][0], result[1][0], logits, layer_names[kind]);
    assert_same_numbers(result[0][1], result[1][1], plain.value_count, layer_names[kind]);
    for (int i = 0; i < 4; i++)
        memory_free(result[i / 2][i % 2]);
    for (int hop = 0; hop < ONLY_HOPS; hop++)
        memory_free((void *)block[hop].degree);
    memory_free(value);
    memory_free(slope);
    arena_release(&arena);
    typed_fixture_release(&f);
}

/* Tests all kinds but attention, which adds loops in a plain graph and none in a relation. */
static void one_type_and_one_relation_are_the_plain_graph(void **state)
{
    static const enum layer_kind kinds[] = {LAYER_SAGE, LAYER_GRAPH_CONV, LAYER_GIN, LAYER_LE,
                                            LAYER_GCN};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int values = 0; values < 2; values++)
            compare_with_plain(kinds[i], values);
}

/* --- what is refused --- */

static void refuse(const struct model_config *config, const char *words)
{
    static struct model model;
    struct error err = {0};
    assert_int_equal(model_init(&model, config, &err), ERROR_INVALID);
    if (!strstr(err.message, words))
        fail_msg("'%s' does not say '%s'", err.message, words);
}

static void what_no_model_can_be_is_refused_by_name(void **state)
{
    static const struct relation to_paper[] = {{"writes", AUTHOR, PAPER}};
    const struct relation_schema one_way = {2, 1, fixture_type_names, to_paper};
    const struct trial sage = {.kind = LAYER_SAGE}, rgcn = {.kind = LAYER_RGCN};
    struct model_config config = config_of(&rgcn, &small, 0);
    (void)state;
    refuse(&config, "rows of type author have 6 columns and those of paper 5");
    config = config_of(&trials[2], &small, 0);
    config.layer[1].option.blocks = 2;
    refuse(&config, "bases and blocks");
    config = config_of(&trials[4], &small, 0);
    config.layer[1].output_dim = 3;
    refuse(&config, "its 2 blocks do not divide the widths 4 and 3");
    config = config_of(&sage, &small, 0);
    config.types.schema = one_way;
    refuse(&config, "no relation leads to type author");
    config.types.target_type = AUTHOR;
    config.layer[0] = config.layer[1];
    config.layer_count = 1;
    refuse(&config, "no relation leads to type author, so the layer gives no rows of it, and its "
                    "logits are asked for");
    config.layer[0].kind = LAYER_MLP; /* an mlp could not say how many rows the other type has */
    refuse(&config, "no layer of the model reads neighbours, so it has no use for relations and "
                    "for several node types");
    config = config_of(&sage, &small, 0);
    config.types.input_dim[FIELD] = 0;
    refuse(&config, "the input width of field.of is 0");
    config = config_of(&sage, &small, 0);
    config.layer[0].kind = LAYER_GCN;
    refuse(&config, "layer 1 of the model (gcn): it divides by the degrees of both ends of an "
                    "edge, and relation never from "
                    "author to field.of has no reverse, which tells how many edges begin at a "
                    "node: write `add_reverse: true`");
    config.layer[0].kind = LAYER_PROPAGATE;
    refuse(&config, "it passes rows on as they are, and rows of type paper have 5 columns, not 4");
    config.layer[0].kind = LAYER_IDENTITY;
    refuse(&config, "it passes rows on as they are, and rows of type paper have 5 columns, not 4");
    config.layer[0].kind = LAYER_GIN;
    refuse(&config, "relation writes leads from rows of 6 columns to rows of 5: expected types of "
                    "one width");
    config = config_of(&sage, &small, 0);
    config.layer[0].kind = LAYER_GATV2;
    config.layer[0].option.heads = 3;
    refuse(&config, "the output width is 4, which its 3 heads do not divide");
    config = config_of(&rgcn, &small, 0);
    config.types.input_dim[AUTHOR] = config.types.input_dim[PAPER];
    config.types.relation_aggr = RELATION_AGGR_MAX;
    refuse(&config, "it sums what its relations give, and train-step.relation_aggr is max");
    config = (struct model_config){
        .input_dim = 3, .layer_count = 1, .layer = {{.kind = LAYER_RGCN, .output_dim = 2}}};
    refuse(&config, "this kind is for graphs with relations");
}

static void dgl_has_no_names_for_them(void **state)
{
    struct error err = {0};
    struct run run;
    (void)state;
    start(&run, &trials[0], &small, 0);
    assert_int_equal(model_file_write(&run.model, run.value, "run", 1, MODEL_FLAVOR_DGL, NULL,
                                      "/nowhere/at/all", &err),
                     ERROR_INVALID);
    assert_non_null(strstr(err.message, "models over relations are written for PyG alone"));
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agree_with_the_reference_and_central_differences),
        cmocka_unit_test(dropout_goes_through_forward_and_backward_alike),
        cmocka_unit_test(rows_aggregated_before_change_no_bit),
        cmocka_unit_test(rows_without_edges_may_be_left_out),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(layers_alone_train_to_the_bits_of_the_whole_model),
        cmocka_unit_test(evaluation_gives_the_bits_of_training_without_dropout),
        cmocka_unit_test(layer_by_layer_and_type_by_type_it_is_the_same_model),
        cmocka_unit_test(rows_of_all_types_are_those_of_each_one_behind_the_other),
        cmocka_unit_test(memory_is_counted_and_its_want_is_noticed),
        cmocka_unit_test(one_type_and_one_relation_are_the_plain_graph),
        cmocka_unit_test(what_no_model_can_be_is_refused_by_name),
        cmocka_unit_test(dgl_has_no_names_for_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
