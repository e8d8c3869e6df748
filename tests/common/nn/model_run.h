/* model_run - runs a model on random blocks forward and backward, and compares it with the slow
 * reference. */
#ifndef TESTS_COMMON_NN_MODEL_RUN_H
#define TESTS_COMMON_NN_MODEL_RUN_H

#include "common/base/memory.h"
#include "common/nn/layers/layer.h"
#include "common/nn/model.h"

#include "tests/reference/model_reference.h"
#include "tests/support/block_fixture.h"
#include "tests/support/test.h"

#include <math.h>

struct sizes {
    int layer_count;
    uint32_t hop_end[5];
    uint32_t input, hidden, output, heads;
};

struct run {
    struct model model;
    struct block_fixture blocks;
    struct arena arena;
    float *value, *logits, *slope, *gradient;
    size_t logit_count;
};

/* Sets nine tenths of the features to zero and marks the rows as mostly zero. A row that is all
 * zero gives the bias, which is not zero, so it stays off the point where ReLU has no slope. */
static inline void thin_out(struct run *run, uint32_t input_dim)
{
    for (size_t i = 0; i < run->blocks.node_count * run->blocks.input.stride; i++)
        if (i % 10 != 3 && i % run->blocks.input.stride < input_dim)
            run->blocks.feature[i] = 0;
    for (uint64_t i = 0; i < run->model.value_count; i++)
        run->value[i] += 0.01F;
    run->blocks.input.mostly_zero = true;
}

/* Starts a run of the model `config` on random blocks for sizes->hop_end. */
static inline void run_start_config(struct run *run, const struct model_config *config,
                                    const struct sizes *sizes)
{
    struct error err = {0};
    *run = (struct run){0};
    assert_ok(model_init(&run->model, config, &err), &err);
    block_fixture_make(&run->blocks, run->model.hop_count, sizes->hop_end, config->input_dim, 11);
    run->logit_count = (size_t)sizes->hop_end[0] * model_output_dim(&run->model);
    run->value = memory_alloc(run->model.value_count, sizeof *run->value);
    run->gradient = memory_alloc(run->model.value_count, sizeof *run->gradient);
    run->logits = memory_alloc(run->logit_count, sizeof *run->logits);
    run->slope = memory_alloc(run->logit_count, sizeof *run->slope);
    model_initialise(&run->model, 5, run->value);
    /* Some biases start at zero, which would hide errors in them. */
    for (uint64_t i = 0; i < run->model.value_count; i += 3)
        run->value[i] += 0.05F;
    for (size_t i = 0; i < run->logit_count; i++)
        run->slope[i] = sinf((float)i * 1.7F) / (float)run->logit_count;
}

/* Returns the layers of a plain model of these sizes. */
static inline struct model_config config_of_sizes(enum layer_kind kind, const struct sizes *sizes,
                                                  float dropout)
{
    struct error err = {0};
    struct model_config config;
    const struct model_outline outline = {.layer.kind = kind,
                                          .hop_count = sizes->layer_count,
                                          .input_dim = sizes->input,
                                          .layer.output_dim = sizes->hidden,
                                          .output_dim = sizes->output,
                                          .layer.option = {.heads = sizes->heads},
                                          .layer.dropout = (double)dropout};
    assert_ok(model_config_of(&config, &outline, &err), &err);
    return config;
}

static inline void run_start(struct run *run, enum layer_kind kind, const struct sizes *sizes,
                             float dropout)
{
    const struct model_config config = config_of_sizes(kind, sizes, dropout);
    run_start_config(run, &config, sizes);
}

/* A model as the list of its layers. */
struct layer_list {
    int count;
    enum layer_kind kind[4];
    enum norm_kind norm; /* behind all layers but the last; the next field likewise */
    bool residual;
    bool values; /* edges have values */
};

static inline bool layer_list_keeps_width(const struct layer_list *list)
{
    for (int i = 0; i < list->count; i++)
        if (layer_type_of(list->kind[i])->keeps_width)
            return true;
    return false;
}

/* Returns the model of a list. If a kind keeps the width, hidden widths are those of the input.
 * With `is_hidden` the last layer is like the others. */
static inline struct model_config config_of_list(const struct layer_list *list,
                                                 const struct sizes *sizes,
                                                 enum activation_kind activation, bool is_hidden)
{
    struct model_config config = {.input_dim = sizes->input, .layer_count = list->count};
    for (int i = 0; i < list->count; i++) {
        const bool is_last = !is_hidden && i == list->count - 1;
        const uint32_t dim = is_last ? sizes->output : sizes->hidden;
        config.layer[i] =
            (struct layer_config){.kind = list->kind[i],
                                  .output_dim = layer_list_keeps_width(list) ? sizes->input : dim,
                                  .option = {.heads = 1, .alpha = 0.3},
                                  .residual = list->residual && !is_last,
                                  .norm = is_last ? NORM_NONE : list->norm,
                                  .activation = is_last ? ACTIVATION_NONE : activation};
        layer_config_set_inner(&config.layer[i], list->norm, activation);
    }
    return config;
}

/* Switches the run to bf16. Call it after run_start(). */
static inline void run_in_bf16(struct run *run)
{
    run->model.config.precision = PRECISION_BF16;
    block_fixture_round(&run->blocks, run->model.config.input_dim);
}

static inline void run_end(struct run *run)
{
    block_fixture_release(&run->blocks);
    arena_release(&run->arena);
    memory_free(run->value);
    memory_free(run->gradient);
    memory_free(run->logits);
    memory_free(run->slope);
}

static inline void run_both(struct run *run, const struct random_stream *dropout,
                            struct thread_pool *pool)
{
    struct error err = {0};
    struct model_trace *trace = NULL;
    const struct model_workspace workspace = {&run->arena, pool};
    const struct model_input input = {
        .block = run->blocks.block, .rows = run->blocks.input, .dropout = dropout};
    arena_reset(&run->arena);
    assert_ok(model_forward(&run->model, run->value, &input, &workspace, run->logits, &trace, &err),
              &err);
    assert_ok(
        model_backward(&run->model, run->value, trace, run->slope, &workspace, run->gradient, &err),
        &err);
}

/* Checks that every arena limit that is too small for a step gives ERROR_NO_MEMORY, wherever the
 * limit is reached. */
static inline void check_memory_refusals(struct run *run)
{
    struct error err = {0};
    const struct model_workspace workspace = {.arena = &run->arena};
    const struct model_input input = {.block = run->blocks.block, .rows = run->blocks.input};
    enum error_code rc = ERROR_NO_MEMORY;
    int refused = 0;
    for (size_t limit = 1; rc != ERROR_NONE; limit += 4096) {
        struct model_trace *trace = NULL;
        run->arena.limit = limit;
        arena_reset(&run->arena);
        rc = model_forward(&run->model, run->value, &input, &workspace, run->logits, &trace, &err);
        if (rc == ERROR_NONE)
            rc = model_backward(&run->model, run->value, trace, run->slope, &workspace,
                                run->gradient, &err);
        refused += rc != ERROR_NONE;
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
    }
    assert_true(refused > 10);
}

/* Checks that a NaN in the features reaches the first logit. */
static inline void check_nan_reaches_logits(struct run *run)
{
    run->blocks.feature[run->blocks.row_index[0] * run->blocks.input.stride] = NAN;
    run_both(run, NULL, NULL);
    assert_true(isnan(run->logits[0]));
}

static inline double *in_double(const struct run *run)
{
    double *value = memory_alloc(run->model.value_count, sizeof *value);
    for (uint64_t i = 0; i < run->model.value_count; i++)
        value[i] = (double)run->value[i];
    return value;
}

/* Returns a scalar that depends on every logit: their sum weighted with `slope`. */
static inline double reference_scalar(const struct run *run, const double *value,
                                      const struct random_stream *dropout)
{
    double *logits = model_reference_logits(&run->model, value, run->blocks.block,
                                            &run->blocks.input, dropout, true);
    double sum = 0;
    for (size_t i = 0; i < run->logit_count; i++)
        sum += logits[i] * (double)run->slope[i];
    memory_free(logits);
    return sum;
}

static inline void check_logits(const struct run *run, const struct random_stream *dropout)
{
    double *value = in_double(run);
    double *logits = model_reference_logits(&run->model, value, run->blocks.block,
                                            &run->blocks.input, dropout, true);
    for (size_t i = 0; i < run->logit_count; i++)
        if (!(fabs(logits[i] - (double)run->logits[i]) <= 1e-5 * (1 + fabs(logits[i]))))
            fail_msg("logit %zu of %zu is %g, expected %g", i, run->logit_count,
                     (double)run->logits[i], logits[i]);
    memory_free(logits);
    memory_free(value);
}

static inline void check_gradient(const struct run *run, const struct random_stream *dropout)
{
    double *value = in_double(run), size = 0;
    for (uint64_t i = 0; i < run->model.trained_count; i++)
        size = fmax(size, fabs((double)run->gradient[i]));
    for (uint64_t i = 0; i < run->model.trained_count; i++) {
        const double kept = value[i], step = 1e-6;
        value[i] = kept + step;
        const double above = reference_scalar(run, value, dropout);
        value[i] = kept - step;
        const double below = reference_scalar(run, value, dropout);
        value[i] = kept;
        const double expected = (above - below) / (2 * step);
        if (!(fabs(expected - (double)run->gradient[i]) <= 2e-5 * size + 1e-8))
            fail_msg("gradient of value %d is %g, expected %g", (int)i, (double)run->gradient[i],
                     expected);
    }
    memory_free(value);
}

/* Checks that forward gives the same logits whether or not it keeps values for backward. */
static inline void run_check_forward_alone(struct run *run)
{
    struct error err = {0};
    run_both(run, NULL, NULL);
    float *kept = memory_alloc(run->logit_count, sizeof *kept);
    memcpy(kept, run->logits, run->logit_count * sizeof *kept);
    const struct model_workspace workspace = {.arena = &run->arena};
    const struct model_input input = {.block = run->blocks.block, .rows = run->blocks.input};
    arena_reset(&run->arena);
    assert_ok(model_forward(&run->model, run->value, &input, &workspace, run->logits, NULL, &err),
              &err);
    assert_memory_equal(run->logits, kept, run->logit_count * sizeof *kept);
    memory_free(kept);
}

#endif
