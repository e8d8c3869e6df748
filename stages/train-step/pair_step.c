#include "stages/train-step/pair_step.h"

#include "common/nn/links/pair_pass.h"

#include <string.h>

struct link_loss pair_step_loss(const struct pipeline_settings *settings)
{
    return (struct link_loss){.kind = settings->train_step.link_loss,
                              .margin = (float)settings->train_step.link_margin};
}

static struct pair_rows rows_of(const struct pair_step *step, uint32_t seed_count)
{
    struct pair_rows rows = {.row = step->row,
                             .row_count = seed_count,
                             .positive_count = step->pairs->positive_count,
                             .negatives_each = step->pairs->negatives_each,
                             .source = step->pairs->source,
                             .target = step->pairs->target,
                             .relation = step->pairs->relation,
                             .corrupt = step->pairs->corrupt};
    rows.shares_negatives = pair_rows_share_negatives(&rows, step->workspace->arena->counts);
    return rows;
}

static enum error_code find_label_loss(struct pair_step *step, struct loss_result *loss,
                                       struct error *err)
{
    struct arena *arena = step->workspace->arena;
    const size_t count = step->pairs->positive_count;
    const uint32_t outputs = step->model->config.decoder_outputs;
    float *labels = NULL;
    enum error_code rc = arena_new(arena, &labels, count, "the labels of edges", err);
    step->labels = labels;
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    if (!step->pairs->label)
        return error_set(err, ERROR_CORRUPT, "expected a section pair_label, found none");
    /* NOLINTNEXTLINE(readability-suspicious-call-argument) */
    rc = task_take_labels(step->task, step->pairs->label, count, outputs, step->labels, err);
    if (rc == ERROR_NONE)
        *loss = step->task->loss(step->rule, step->score, step->labels, count, outputs,
                                 step->score_gradient);
    return rc;
}

enum error_code pair_step_forward(struct pair_step *step, bool trains, struct loss_result *loss,
                                  struct error *err)
{
    struct arena *arena = step->workspace->arena;
    const struct decoder decoder = model_decoder(step->model, step->weights);
    const struct pair_rows rows = rows_of(step, 0);
    const size_t count = seed_pairs_count(step->pairs) * decoder.outputs;
    *loss = (struct loss_result){0};
    enum error_code rc = arena_new(arena, &step->score, count, "the scores of pairs", err);
    if (rc == ERROR_NONE && trains)
        rc = arena_new(arena, &step->score_gradient, count, "the gradient of scores", err);
    if (rc == ERROR_NONE)
        rc = pair_pass_scores(&decoder, &rows, arena, step->workspace->pool, step->score, err);
    if (rc == ERROR_NONE && step->task)
        return find_label_loss(step, loss, err);
    if (rc == ERROR_NONE && !arena->counts)
        *loss = link_loss_compute(&step->loss, step->score, rows.positive_count,
                                  rows.negatives_each, step->score_gradient);
    return rc;
}

enum error_code pair_step_backward(const struct pair_step *step, uint32_t seed_count,
                                   float *row_gradient, float **decoder_gradient, struct error *err)
{
    struct arena *arena = step->workspace->arena;
    const struct model *model = step->model;
    const struct decoder decoder = model_decoder(model, step->weights);
    const struct pair_rows rows = rows_of(step, seed_count);
    float *parameter_gradient[DECODER_PARAMETER_COUNT_MAX] = {NULL};
    const enum error_code rc = arena_new(arena, decoder_gradient, model->trained_count,
                                         "the gradient of the decoder", err);
    if (rc != ERROR_NONE)
        return rc;
    if (!arena->counts) {
        memset(*decoder_gradient, 0, model->trained_count * sizeof **decoder_gradient);
        memset(row_gradient, 0, (size_t)seed_count * decoder.dim * sizeof *row_gradient);
    }
    model_decoder_gradient(model, *decoder_gradient, parameter_gradient);
    return pair_pass_backward(&decoder, &rows, step->score_gradient, arena, step->workspace->pool,
                              row_gradient, parameter_gradient, err);
}

enum error_code pair_step_count(const struct pair_step *step, const struct loss_result *loss,
                                struct tally *tally, struct error *err)
{
    const size_t positives = step->pairs->positive_count, each = step->pairs->negatives_each;
    const size_t count = seed_pairs_count(step->pairs);
    uint8_t *truth = NULL;
    if (step->task)
        return tally_add(tally, step->score, step->labels, positives, err);
    enum error_code rc =
        arena_new(step->workspace->arena, &truth, count, "which pairs are edges", err);
    if (rc != ERROR_NONE)
        return rc;
    memset(truth, 0, count);
    memset(truth, 1, positives);
    rc = tally_add_pairs(tally, loss, step->score, truth, count, err);
    for (size_t i = 0; rc == ERROR_NONE && i < positives; i++) {
        const float *others = step->score + positives + i * each;
        uint64_t above = 0, equal = 0;
        for (size_t k = 0; k < each; k++) {
            above += others[k] > step->score[i];
            equal += others[k] >= step->score[i] && others[k] <= step->score[i];
        }
        tally_add_rank(tally, above, equal);
    }
    return rc;
}
