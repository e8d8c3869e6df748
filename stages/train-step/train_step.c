/*
 * train-step - one mini-batch forward and backward, or one validation batch forward.
 *
 *   weights of the round ────────────┐
 *   mini_batch of the slot ──────────┼─> forward ─> loss ─> backward ─> gradient of the slot
 *   feature rows, labels (shards) ───┘        └─> counts ─────────────> evaluation
 *
 * A slot is a micro-batch of a round; its gradient is that of the mean loss over its labelled seeds, and
 * aggregate makes one step out of all slots. Nothing is remembered from unit to unit but what was read:
 * any worker can do any slot. Numbers that are not finite are never published: a diverged run, or a
 * poisoned batch, stops with the round and slot it began in.
 */
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/nn/tasks/loss.h"
#include "common/nn/tasks/metrics.h"
#include "stages/engine/stage.h"
#include "stages/plan/run_model.h"
#include "stages/train-step/step_input.h"

#include <inttypes.h>
#include <math.h>

struct train_step {
    struct step_input input;
    struct arena arena; /* everything of one unit */
    size_t most_bytes;  /* that a unit took */
};

/* What a unit computes in; all in the arena. */
struct step {
    struct step_batch batch;
    struct step_labels labels;
    float *logits; /* [seeds, class_count] */
    float *slope;  /* [seeds, class_count]: gradient of the loss for the logits */
};

static bool classes_are_exclusive(const struct stage_context *context)
{
    return context->book->task == TASK_SINGLE_LABEL;
}

static enum error_code begin_step(const struct stage_context *context, struct train_step *t,
                                  int64_t version, enum batch_use use, const struct key *key,
                                  struct step *step, struct error *err)
{
    *step = (struct step){0};
    stage_times_enter(context->times, TIME_READ);
    enum error_code rc = step_input_weights(context, &t->input, version, err);
    if (rc == ERROR_NONE)
        rc = step_input_batch(context, &t->input, use, key, &t->arena, &step->batch, err);
    if (rc == ERROR_NONE)
        rc = step_input_labels(context, &t->input, &step->batch, &t->arena, &step->labels, err);
    stage_times_enter(context->times, TIME_COMPUTE);
    const size_t count = (size_t)step->batch.seed_count * context->book->class_count;
    if (rc == ERROR_NONE)
        rc = arena_new(&t->arena, &step->logits, count, "logits", err);
    if (rc == ERROR_NONE && use == BATCH_TRAINING)
        rc = arena_new(&t->arena, &step->slope, count, "the gradient of the logits", err);
    return rc;
}

static enum error_code forward(const struct stage_context *context, struct train_step *t,
                               const struct step *step, const struct random_stream *dropout,
                               struct model_trace **trace, struct error *err)
{
    const struct model_workspace workspace = {&t->arena, context->pool};
    const struct model_input input = {.block = step->batch.block,
                                      .seed_count = step->batch.seed_count,
                                      .rows = step->batch.rows,
                                      .aggregated = step->batch.aggregated,
                                      .aggregated_count = step->batch.aggregated_count,
                                      .dropout = dropout};
    return model_forward(&t->input.model, t->input.weights.value, &input, &workspace, step->logits,
                         trace, err);
}

static struct loss_result loss_of(const struct stage_context *context, const struct step *step)
{
    const size_t rows = step->batch.seed_count;
    const uint32_t class_count = context->book->class_count;
    if (classes_are_exclusive(context))
        return loss_softmax(step->logits, step->labels.single, rows, class_count, step->slope);
    return loss_binary(step->logits, step->labels.multi, rows, class_count, step->slope);
}

static enum error_code check_finite(const float *value, uint64_t count, const char *what,
                                    struct error *err)
{
    for (uint64_t i = 0; i < count; i++)
        if (!isfinite(value[i]))
            return error_set(err, ERROR_INPUT, "value %" PRIu64 " of the %s is %g", i, what,
                             (double)value[i]);
    return ERROR_NONE;
}

static enum error_code check_loss(const struct step *step, const struct loss_result *loss,
                                  uint32_t class_count, struct error *err)
{
    if (!isfinite(loss->sum))
        return error_set(err, ERROR_INPUT, "the loss over %" PRIu64 " seeds is %g",
                         loss->label_count, loss->sum);
    return check_finite(step->logits, (uint64_t)step->batch.seed_count * class_count, "logits",
                        err);
}

static enum error_code compute_gradient(const struct stage_context *context, struct train_step *t,
                                        const struct unit *unit, struct gradient *out,
                                        struct error *err)
{
    struct step step;
    struct model_trace *trace = NULL;
    float *gradient = NULL;
    const struct model_workspace workspace = {&t->arena, context->pool};
    int64_t source_round = 0;
    int32_t source_slot = 0;
    schedule_batch_source(context->schedule, unit->round, unit->slot, &source_round, &source_slot);
    const struct key key = key_mini_batch(context->run_id, source_round, source_slot);
    const struct random_stream dropout = random_stream_of(
        context->schedule->seed, RANDOM_DROPOUT, (uint32_t)unit->round, 0, (uint32_t)unit->slot);
    enum error_code rc = begin_step(context, t, unit->round, BATCH_TRAINING, &key, &step, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&t->arena, &gradient, t->input.model.value_count, "the gradient", err);
    if (rc == ERROR_NONE) {
        step_input_read_ahead(context, &t->input, unit->round, unit->slot);
        rc = forward(context, t, &step, &dropout, &trace, err);
    }
    if (rc != ERROR_NONE)
        return rc;
    const struct loss_result loss = loss_of(context, &step);
    rc = check_loss(&step, &loss, context->book->class_count, err);
    if (rc == ERROR_NONE)
        rc = model_backward(&t->input.model, t->input.weights.value, trace, step.slope, &workspace,
                            gradient, err);
    if (rc == ERROR_NONE)
        rc = check_finite(gradient, t->input.model.value_count, "gradient", err);
    *out = (struct gradient){.weights_version = (uint64_t)unit->round,
                             .value_count = t->input.model.value_count,
                             .value = gradient,
                             .seed_count = loss.label_count,
                             .correct_count = loss.correct_count,
                             .loss_sum = loss.sum};
    return rc;
}

static enum error_code train(const struct stage_context *context, struct train_step *t,
                             const struct unit *unit, struct error *err)
{
    struct gradient gradient = {0};
    const enum error_code rc = compute_gradient(context, t, unit, &gradient, err);
    if (rc == ERROR_INPUT)
        return error_context(err, rc, "poison batch: round %" PRId64 " slot %" PRId32, unit->round,
                             unit->slot);
    if (rc != ERROR_NONE)
        return rc;
    stage_times_enter(context->times, TIME_WRITE);
    return gradient_put(context->store, context->run_id, unit->round, unit->slot, &gradient, err);
}

static enum error_code count_answers(const struct stage_context *context, struct train_step *t,
                                     const struct step *step, struct evaluation *out,
                                     struct error *err)
{
    const uint32_t class_count = context->book->class_count;
    uint64_t *confusion = NULL;
    const enum error_code rc =
        arena_new(&t->arena, &confusion, (size_t)3 * class_count, "counts", err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t i = 0; i < (size_t)3 * class_count; i++)
        confusion[i] = 0;
    if (classes_are_exclusive(context))
        metrics_add_single(step->logits, step->labels.single, step->batch.seed_count, class_count,
                           confusion);
    else
        metrics_add_multi(step->logits, step->labels.multi, step->batch.seed_count, class_count,
                          confusion);
    out->class_count = class_count;
    out->confusion = confusion;
    return ERROR_NONE;
}

/* For two exclusive classes, of each labelled seed how much class 1 is preferred. The difference of the
 * logits orders seeds as the probability does, and does not saturate. */
static enum error_code score_two_classes(const struct stage_context *context, struct train_step *t,
                                         const struct step *step, struct evaluation *out,
                                         struct error *err)
{
    float *score = NULL;
    uint8_t *truth = NULL;
    if (!classes_are_exclusive(context) || context->book->class_count != 2)
        return ERROR_NONE;
    enum error_code rc = arena_new(&t->arena, &score, step->batch.seed_count, "scores", err);
    if (rc == ERROR_NONE)
        rc = arena_new(&t->arena, &truth, step->batch.seed_count, "scores", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t i = 0; i < step->batch.seed_count; i++) {
        if (step->labels.single[i] < 0)
            continue;
        score[out->score_count] = step->logits[2 * (size_t)i + 1] - step->logits[2 * (size_t)i];
        truth[out->score_count++] = (uint8_t)step->labels.single[i];
    }
    out->score = score;
    out->truth = truth;
    return ERROR_NONE;
}

static enum error_code compute_evaluation(const struct stage_context *context, struct train_step *t,
                                          const struct unit *unit, struct evaluation *out,
                                          struct error *err)
{
    struct step step;
    const struct key key = key_evaluation_mini_batch(context->run_id, unit->slot);
    enum error_code rc = begin_step(context, t, unit->round, BATCH_EVALUATION, &key, &step, err);
    if (rc == ERROR_NONE)
        rc = forward(context, t, &step, NULL, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct loss_result loss = loss_of(context, &step);
    *out = (struct evaluation){.version = (uint64_t)unit->round,
                               .seed_count = loss.label_count,
                               .correct_count = loss.correct_count,
                               .loss_sum = loss.sum};
    rc = check_loss(&step, &loss, context->book->class_count, err);
    if (rc == ERROR_NONE)
        rc = count_answers(context, t, &step, out, err);
    if (rc == ERROR_NONE)
        rc = score_two_classes(context, t, &step, out, err);
    return rc;
}

static enum error_code evaluate(const struct stage_context *context, struct train_step *t,
                                const struct unit *unit, struct error *err)
{
    struct evaluation evaluation = {0};
    const enum error_code rc = compute_evaluation(context, t, unit, &evaluation, err);
    if (rc == ERROR_INPUT)
        return error_context(err, rc, "poison batch: version %" PRId64 " validation slot %" PRId32,
                             unit->round, unit->slot);
    if (rc != ERROR_NONE)
        return rc;
    stage_times_enter(context->times, TIME_WRITE);
    return evaluation_put(context->store, context->run_id, unit->slot, &evaluation, err);
}

/* What the budget became, and what it had become when the program ends. */
static void tell_plan(const struct stage_context *context, const struct train_step *t)
{
    const struct step_memory *plan = &t->input.plan;
    char budget[32], step[32], records[32], features[32];
    log_info("memory: %s, of it up to %s for a step, %s for mini-batches, %s for features, %s",
             text_size(context->memory_bytes, budget), text_size(plan->step_bytes, step),
             text_size(plan->record_bytes, records),
             text_size(feature_source_is_resident(t->input.features)
                           ? feature_source_bytes(t->input.features)
                           : plan->feature_bytes,
                       features),
             feature_source_is_resident(t->input.features) ? "which all fit"
                                                           : "which are read as batches want them");
}

static void close_train_step(void *state)
{
    struct train_step *t = state;
    char most[32];
    if (!t)
        return;
    if (t->most_bytes)
        log_info("memory: a step took up to %s", text_size(t->most_bytes, most));
    step_input_close(&t->input);
    arena_release(&t->arena);
    memory_free(t);
}

static enum error_code open_train_step(const struct stage_context *context, void **state,
                                       struct error *err)
{
    struct train_step *t = NULL;
    enum error_code rc = memory_new(&t, 1, "the stage", err);
    if (rc != ERROR_NONE)
        return rc;
    rc = step_input_open(context, &t->input, &t->arena, err);
    if (rc != ERROR_NONE)
        close_train_step(t);
    else
        *state = t;
    if (rc == ERROR_NONE)
        tell_plan(context, t);
    return rc;
}

static enum error_code work_train_step(const struct stage_context *context, void *state,
                                       const struct unit *unit, struct error *err)
{
    struct train_step *t = state;
    must(unit->kind == UNIT_TRAIN_STEP || unit->kind == UNIT_EVALUATE);
    const enum error_code rc = unit->kind == UNIT_TRAIN_STEP ? train(context, t, unit, err)
                                                             : evaluate(context, t, unit, err);
    t->most_bytes = t->arena.used > t->most_bytes ? t->arena.used : t->most_bytes;
    if (rc == ERROR_NONE && unit->kind == UNIT_TRAIN_STEP)
        step_input_aggregate_ahead(&t->input, &t->arena);
    return rc;
}

static void rest_train_step(const struct stage_context *context, void *state,
                            const struct unit *unit, int64_t done_count)
{
    struct train_step *t = state;
    if (unit->kind != UNIT_TRAIN_STEP)
        return;
    step_input_rest(context, &t->input, done_count, &t->arena);
    if (context->schedule->reuse_epochs == 1) /* else later epochs read the batch again */
        store_let_go(context->store, key_mini_batch(context->run_id, unit->round, unit->slot).text);
}

const struct stage stage = {
    .name = "train-step",
    .summary = "computes the gradient of a mini-batch, or validates weights on one",
    .reads = "weights, mini_batch, partition_book, shard_seal",
    .writes = "gradient, evaluation",
    .form = STAGE_LOOP,
    .is_waited_for = true,
    .check = run_model_check_machine,
    .open = open_train_step,
    .work = work_train_step,
    .rest = rest_train_step,
    .close = close_train_step,
};
