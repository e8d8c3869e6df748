/*
 * train-step - computes one mini-batch forward and backward, or one validation batch forward. Also
 * updates the learnable rows and writes their seals.
 *
 *   weights of the round ────────────┐
 *   mini_batch of the slot ──────────┼─> forward ─> loss ─> backward ─> gradient of the slot
 *   feature rows, labels (shards) ───┘        └─> counts ─────────────> evaluation
 *
 * A slot is a micro-batch of a round. Its gradient is the gradient of the mean loss over its
 * labelled seeds, and aggregate makes one optimizer step from all slots. Between units a worker
 * keeps only what it has read, so any worker can compute any slot. Numbers that are not finite are
 * never published: a diverged run, or a poisoned batch, stops with the round and the slot in which
 * it began.
 */
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/nn/tasks/tally.h"
#include "stages/engine/stage.h"
#include "stages/plan/chain/chosen_base.h"
#include "stages/plan/chain/layer_pipeline.h"
#include "stages/plan/model/run_loss.h"
#include "stages/plan/model/run_model.h"
#include "stages/train-step/graph_step.h"
#include "stages/train-step/held_parts.h"
#include "stages/train-step/layer_step.h"
#include "stages/train-step/pair_step.h"
#include "stages/train-step/rows/error_feedback.h"
#include "stages/train-step/rows/row_update.h"
#include "stages/train-step/step_input.h"
#include "stages/train-step/step_loss.h"
#include "stages/train-step/step_publish.h"
#include "store/records/round/gradient.h"

#include <inttypes.h>
#include <stdio.h>

struct train_step {
    struct step_input input;
    struct arena arena; /* everything of one unit except the gradient */
    /* the gradient; it is stored while the next batch is prepared in `arena` */
    struct arena gradient_arena;
    size_t limit; /* of both arenas together */
    /* for the update of learnable rows, which runs while the gradient is stored */
    struct arena row_arena;
    struct run_loss loss;
    struct graph_targets targets; /* in a task of graphs */
    struct tally tally;           /* of the current validation batch */
    size_t most_bytes;            /* the most that a unit took */
    int layer;                    /* number of the last pass's layer + 1; 0: none yet */
};

/* The arrays of a unit; all in the arena. */
struct step {
    struct step_batch batch;
    const void *labels; /* rows in the form of the task */
    /* [seeds, class_count]; in a task of pairs or graphs [seeds, hidden], the input of the
     * decoder or the readout */
    float *logits;
    float *slope; /* gradient of the loss for the logits, of the same size */
    struct model_workspace workspace;
    struct pair_step pairs;   /* in tasks with a decoder */
    struct graph_step graphs; /* in tasks with a readout */
    float *head_gradient;     /* [trained_count], gradient of the decoder or the readout */
};

/* --- heads --- */

/* A head computes the outputs of examples from the output of the last layer. `begin` is NULL if
 * there is nothing to prepare. */
struct head {
    const char *examples; /* name of the examples in messages */
    enum error_code (*begin)(const struct stage_context *context, struct train_step *t,
                             enum batch_use use, struct step *step, struct error *err);
    /* Computes the loss, and its gradient for the logits and for the tensors of the head. */
    enum error_code (*find_loss)(const struct stage_context *context, struct train_step *t,
                                 struct step *step, struct loss_result *loss, struct error *err);
    enum error_code (*count)(struct train_step *t, struct step *step, struct error *err);
};

static const struct head *head_of(const struct stage_context *context);

static enum error_code check_loss(const struct stage_context *context, const struct train_step *t,
                                  const struct step *step, const struct loss_result *loss,
                                  struct error *err)
{
    const uint64_t columns = model_output_dim(&t->input.model);
    return step_loss_check(loss, head_of(context)->examples, step->logits,
                           step->batch.seed_count * columns, err);
}

/* Finds the graphs of the batch. */
static enum error_code begin_graphs(const struct stage_context *context, struct train_step *t,
                                    enum batch_use use, struct step *step, struct error *err)
{
    const struct schedule *s = context->schedule;
    const bool trains = use == BATCH_TRAINING;
    const uint32_t most = (uint32_t)(trains ? s->batch_size : s->evaluation_batch_size);
    step->graphs = (struct graph_step){.model = &t->input.model,
                                       .weights = t->input.weights.value,
                                       .targets = &t->targets,
                                       .row = step->logits,
                                       .workspace = &step->workspace,
                                       .task = task_of(context->book->task),
                                       .rule = &t->loss.rule};
    const uint32_t room = most < step->batch.seed_count ? most : step->batch.seed_count;
    const enum error_code rc = graph_step_reserve(&step->graphs, room, trains, err);
    return rc == ERROR_NONE
               ? graph_step_find(&step->graphs, step->batch.node[step->batch.target_type],
                                 step->batch.seed_count, room, err)
               : rc;
}

static enum error_code begin_pairs(const struct stage_context *context, struct train_step *t,
                                   enum batch_use use, struct step *step, struct error *err)
{
    (void)use;
    (void)err;
    step->pairs = (struct pair_step){.model = &t->input.model,
                                     .weights = t->input.weights.value,
                                     .pairs = &step->batch.pairs,
                                     .row = step->logits,
                                     .workspace = &step->workspace,
                                     .loss = pair_step_loss(context->settings)};
    return ERROR_NONE;
}

static enum error_code begin_edges(const struct stage_context *context, struct train_step *t,
                                   enum batch_use use, struct step *step, struct error *err)
{
    const enum error_code rc = begin_pairs(context, t, use, step, err);
    step->pairs.task = task_of(context->book->task);
    step->pairs.rule = &t->loss.rule;
    return rc;
}

static enum error_code loss_of_nodes(const struct stage_context *context, struct train_step *t,
                                     struct step *step, struct loss_result *loss, struct error *err)
{
    return step_loss_of_seeds(context, &t->loss.rule, &step->batch, step->logits, step->labels,
                              step->slope, loss, err);
}

static enum error_code loss_of_graphs(const struct stage_context *context, struct train_step *t,
                                      struct step *step, struct loss_result *loss,
                                      struct error *err)
{
    *loss = graph_step_forward(&step->graphs);
    const enum error_code rc = check_loss(context, t, step, loss, err);
    return rc == ERROR_NONE
               ? graph_step_backward(&step->graphs, step->slope, &step->head_gradient, err)
               : rc;
}

static enum error_code loss_of_pairs(const struct stage_context *context, struct train_step *t,
                                     struct step *step, struct loss_result *loss, struct error *err)
{
    enum error_code rc = pair_step_forward(&step->pairs, true, loss, err);
    if (rc == ERROR_NONE)
        rc = check_loss(context, t, step, loss, err);
    return rc == ERROR_NONE ? pair_step_backward(&step->pairs, step->batch.seed_count, step->slope,
                                                 &step->head_gradient, err)
                            : rc;
}

static enum error_code count_pairs(struct train_step *t, struct step *step, struct error *err)
{
    struct loss_result loss;
    const enum error_code rc = pair_step_forward(&step->pairs, false, &loss, err);
    return rc == ERROR_NONE ? pair_step_count(&step->pairs, &loss, &t->tally, err) : rc;
}

static enum error_code count_graphs(struct train_step *t, struct step *step, struct error *err)
{
    (void)graph_step_forward(&step->graphs);
    return tally_add(&t->tally, step->graphs.output, step->graphs.label, step->graphs.graph_count,
                     err);
}

static enum error_code count_nodes(struct train_step *t, struct step *step, struct error *err)
{
    return tally_add(&t->tally, step->logits, step->labels, step->batch.seed_count, err);
}

static const struct head *head_of(const struct stage_context *context)
{
    static const struct head heads[EXAMPLE_COUNT] = {
        [EXAMPLE_NODE] = {"seeds", NULL, loss_of_nodes, count_nodes},
        [EXAMPLE_PAIR] = {"pairs", begin_pairs, loss_of_pairs, count_pairs},
        [EXAMPLE_EDGE] = {"pairs", begin_edges, loss_of_pairs, count_pairs},
        [EXAMPLE_GRAPH] = {"graphs", begin_graphs, loss_of_graphs, count_graphs},
    };
    return &heads[task_example_of(context->book->task)];
}

/* Returns how many bytes of `limit` remain for the second arena once the first holds `used`
 * bytes. */
static size_t left_beside(const struct train_step *t, size_t used)
{
    return t->limit > used ? t->limit - used : 1;
}

static void note_bytes(struct train_step *t)
{
    const size_t bytes = t->arena.used + t->gradient_arena.used;
    t->most_bytes = bytes > t->most_bytes ? bytes : t->most_bytes;
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
    if (rc == ERROR_NONE && t->input.labels)
        rc = step_input_labels(context, &t->input, &step->batch, &t->arena, &step->labels, err);
    stage_times_enter(context->times, TIME_COMPUTE);
    const size_t count = (size_t)step->batch.seed_count * model_output_dim(&t->input.model);
    if (rc == ERROR_NONE)
        rc = arena_new(&t->arena, &step->logits, count, "logits", err);
    if (rc == ERROR_NONE && use == BATCH_TRAINING)
        rc = arena_new(&t->arena, &step->slope, count, "the gradient of the logits", err);
    step->workspace = (struct model_workspace){&t->arena, context->pool};
    return rc == ERROR_NONE && head_of(context)->begin
               ? head_of(context)->begin(context, t, use, step, err)
               : rc;
}

static enum error_code forward(const struct stage_context *context, struct train_step *t,
                               const struct step *step, const struct random_stream *dropout,
                               struct model_trace **trace, struct error *err)
{
    const struct model_workspace workspace = {&t->arena, context->pool};
    const struct model_input input = step_batch_input(&step->batch, dropout);
    return model_forward(&t->input.model, t->input.weights.value, &input, &workspace, step->logits,
                         trace, err);
}

/* Computes the gradient into gradient [value_count]. With a learnable embedding, also computes
 * the sparse sections of `out`. */
static enum error_code backward(const struct stage_context *context, struct train_step *t,
                                const struct step *step, struct model_trace *trace, float *gradient,
                                struct gradient *out, struct error *err)
{
    const struct model_workspace workspace = {&t->arena, context->pool};
    struct embedding_nodes nodes[RELATION_TYPE_COUNT_MAX];
    const int types = step_batch_nodes(context, &step->batch, nodes);
    const enum error_code rc = model_backward(&t->input.model, t->input.weights.value, trace,
                                              step->slope, &workspace, gradient, err);
    t->gradient_arena.limit = left_beside(t, t->arena.used);
    for (int i = 0; rc == ERROR_NONE && i < types; i++)
        nodes[i].input_gradient = model_input_gradient(trace, nodes[i].type);
    return rc == ERROR_NONE && types > 0
               ? embedding_input_gradient(context, nodes, types, &t->arena, &t->gradient_arena, out,
                                          err)
               : rc;
}

/* Finds the version of the weights for a round. A replay reads the stored choice and never makes
 * one. */
static enum error_code find_base(const struct stage_context *context, int64_t round, int64_t *base,
                                 struct error *err)
{
    return (context->is_replay ? chosen_base_get : chosen_base_take)(
        context->schedule, context->store, context->run_id, round, base, err);
}

static enum error_code compute_gradient(const struct stage_context *context, struct train_step *t,
                                        const struct unit *unit, float **value,
                                        struct gradient *out, struct error *err)
{
    struct step step;
    struct model_trace *trace = NULL;
    float *gradient = NULL;
    int64_t source_round = 0;
    int32_t source_slot = 0;
    schedule_batch_source(context->schedule, unit->round, unit->slot, &source_round, &source_slot);
    const struct key key = key_mini_batch(context->run_id, source_round, source_slot);
    const struct random_stream dropout = random_stream_of(
        context->schedule->seed, RANDOM_DROPOUT, (uint32_t)unit->round, 0, (uint32_t)unit->slot);
    int64_t version = 0;
    arena_reset(&t->gradient_arena);
    enum error_code rc = find_base(context, unit->round, &version, err);
    if (rc == ERROR_NONE)
        rc = begin_step(context, t, version, BATCH_TRAINING, &key, &step, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&t->gradient_arena, &gradient, t->input.model.value_count, "the gradient",
                       err);
    if (rc == ERROR_NONE) {
        step_input_read_ahead(context, &t->input, unit->round, unit->slot);
        rc = forward(context, t, &step, &dropout, &trace, err);
    }
    if (rc != ERROR_NONE)
        return rc;
    struct loss_result loss;
    rc = head_of(context)->find_loss(context, t, &step, &loss, err);
    const struct loss_result of_slot = step_loss_of_slot(&loss);
    *value = gradient;
    *out = (struct gradient){.weights_version = (uint64_t)version,
                             .value_count = t->input.model.value_count,
                             .value = gradient,
                             .seed_count = of_slot.label_count,
                             .correct_count = of_slot.correct_count,
                             .loss_sum = of_slot.sum};
    if (rc == ERROR_NONE)
        rc = backward(context, t, &step, trace, gradient, out, err);
    if (rc == ERROR_NONE && step.head_gradient)
        model_take_head_gradient(&t->input.model, step.head_gradient, gradient);
    return rc == ERROR_NONE
               ? step_check_finite(gradient, t->input.model.value_count, "gradient", err)
               : rc;
}

static struct layer_step layer_step_of(const struct stage_context *context, struct train_step *t)
{
    return (struct layer_step){context, &t->input, &t->loss, &t->arena};
}

/* Computes the last pass of a pipeline of layers. */
static enum error_code gather_gradient(const struct stage_context *context, struct train_step *t,
                                       const struct unit *unit, float **value, struct gradient *out,
                                       struct error *err)
{
    const struct layer_step step = layer_step_of(context, t);
    arena_reset(&t->gradient_arena);
    const enum error_code rc =
        arena_new(&t->gradient_arena, value, t->input.model.value_count, "the gradient", err);
    return rc == ERROR_NONE ? layer_step_last(&step, unit, *value, out, err) : rc;
}

static enum error_code poisoned(const struct unit *unit, struct error *err)
{
    return error_context(err, ERROR_INPUT, "poison batch: round %" PRId64 " slot %" PRId32,
                         unit->round, unit->slot);
}

static enum error_code pass_layer(const struct stage_context *context, struct train_step *t,
                                  const struct unit *unit, struct error *err)
{
    const struct layer_step step = layer_step_of(context, t);
    const enum error_code rc = layer_step_pass(&step, unit, err);
    note_bytes(t);
    return rc == ERROR_INPUT ? poisoned(unit, err) : rc;
}

/* Splits the gradient by error feedback. Its time counts as encoding, of which finding the
 * largest numbers is a part. */
static enum error_code feed_back(const struct stage_context *context, struct train_step *t,
                                 const struct unit *unit, float *value, struct gradient *gradient,
                                 struct error *err)
{
    const double began = clock_seconds();
    const enum error_code rc = error_feedback_apply(
        context, unit, &t->arena, value, (size_t)t->input.model.trained_count, gradient, err);
    stage_times_add_encoding(context->times,
                             &(struct encoding_work){.seconds = clock_seconds() - began});
    return rc;
}

/* Stores the gradient, and prepares the next batch meanwhile. The gradient lies in its own
 * arena, so the other one is free. If storing fails, the aggregation is ended first, because it
 * reads the learnable rows that the undo changes. */
static enum error_code publish(const struct stage_context *context, struct train_step *t,
                               const struct unit *unit, const struct gradient *gradient,
                               struct error *err)
{
    struct publication publication;
    step_publish_begin(&publication, context, unit, gradient, t->input.model.trained_count,
                       t->input.embedding.width ? &t->input.embedding.state : NULL, &t->row_arena);
    step_input_aggregate_ahead(context, &t->input, &t->arena,
                               left_beside(t, t->gradient_arena.used));
    const enum error_code rc = step_publish_end(&publication, err);
    t->input.published_at = clock_seconds();
    if (rc == ERROR_NONE)
        return rc;
    step_input_settle(&t->input);
    step_publish_undo(&publication);
    return rc;
}

static enum error_code train(const struct stage_context *context, struct train_step *t,
                             const struct unit *unit, struct error *err)
{
    struct gradient gradient = {0};
    float *value = NULL;
    enum error_code rc = layer_pipeline_passes(context->schedule) > 0
                             ? gather_gradient(context, t, unit, &value, &gradient, err)
                             : compute_gradient(context, t, unit, &value, &gradient, err);
    if (rc != ERROR_NONE)
        return rc == ERROR_INPUT ? poisoned(unit, err) : rc;
    stage_times_enter(context->times, TIME_WRITE);
    if (context->schedule->keeps_residuals)
        /* The residual is stored before the gradient. After a crash in between, the unit runs
         * again and writes the same residual. In the other order, a stored gradient would mark
         * the slot as done without its residual. */
        rc = feed_back(context, t, unit, value, &gradient, err);
    note_bytes(t);
    return rc == ERROR_NONE ? publish(context, t, unit, &gradient, err) : rc;
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
    tally_reset(&t->tally);
    rc = head_of(context)->count(t, &step, err);
    if (rc == ERROR_NONE)
        rc = check_loss(context, t, &step, &t->tally.loss, err);
    *out = (struct evaluation){.version = (uint64_t)unit->round,
                               .seed_count = t->tally.loss.label_count,
                               .correct_count = t->tally.loss.correct_count,
                               .loss_sum = t->tally.loss.sum,
                               .tally_size = t->tally.count_size,
                               .tally = t->tally.count,
                               .score_count = t->tally.score_count,
                               .score = t->tally.score,
                               .truth = t->tally.truth};
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
    note_bytes(t);
    return evaluation_put(context->store, context->run_id, unit->slot, &evaluation, err);
}

static enum error_code seal_rows(const struct stage_context *context, struct train_step *t,
                                 const struct unit *unit, struct error *err)
{
    stage_times_enter(context->times, TIME_READ);
    step_input_settle(&t->input);
    return row_update_seal(context, &t->input.embedding.state, unit->round, unit->slot, &t->arena,
                           err);
}

/* Logs how the budget is divided. train_step_close() logs how much of it was used. */
static void tell_plan(const struct stage_context *context, const struct train_step *t)
{
    const struct step_memory *plan = &t->input.plan;
    char budget[32], step[32], records[32], features[32];
    log_info("memory: %s, of it up to %s for a step, %s for mini-batches, %s for features, %s",
             text_size(context->memory_bytes, budget), text_size(plan->step_bytes, step),
             text_size(plan->record_bytes, records),
             text_size(node_features_are_resident(&t->input.features)
                           ? node_features_bytes(&t->input.features)
                           : plan->feature_bytes,
                       features),
             node_features_are_resident(&t->input.features)
                 ? "which all fit"
                 : "which are read as batches want them");
    if (t->input.embedding.width)
        log_info("memory: %s of it for learnable rows, which %s",
                 text_size(plan->embedding_bytes, features),
                 embedding_state_is_resident(&t->input.embedding.state)
                     ? "all fit"
                     : "lie in a file on scratch");
}

static void train_step_close(void *state)
{
    struct train_step *t = state;
    char most[32];
    if (!t)
        return;
    if (t->most_bytes)
        log_info("memory: a step took up to %s", text_size(t->most_bytes, most));
    step_input_close(&t->input);
    tally_release(&t->tally);
    graph_targets_close(&t->targets);
    run_loss_release(&t->loss);
    arena_release(&t->arena);
    arena_release(&t->gradient_arena);
    arena_release(&t->row_arena);
    memory_free(t);
}

static enum error_code train_step_open(const struct stage_context *context, void **state,
                                       struct error *err)
{
    struct train_step *t = NULL;
    enum error_code rc = memory_new(&t, 1, "the stage", err);
    if (rc != ERROR_NONE)
        return rc;
    rc = run_loss_init(&t->loss, context->store, context->settings, context->book, err);
    if (rc == ERROR_NONE)
        rc = graph_targets_open(&t->targets, context->store, context->book, err);
    if (rc == ERROR_NONE)
        rc = step_input_open(context, &t->input, &t->arena, err);
    if (rc == ERROR_NONE) {
        const size_t values = (size_t)t->input.model.value_count * sizeof(float);
        t->gradient_arena.limit = t->limit = t->arena.limit;
        t->arena.limit = left_beside(t, values);
    }
    if (rc == ERROR_NONE) {
        const bool all = task_metric_needs_all(task_of(context->book->task),
                                               (enum metric)context->settings->checkpoint.metric);
        const struct tally_form form = run_loss_tally(&t->loss, context->book, all);
        rc = tally_init(&t->tally, &form, err);
    }
    if (rc != ERROR_NONE)
        train_step_close(t);
    else
        *state = t;
    if (rc == ERROR_NONE)
        tell_plan(context, t);
    return rc;
}

/* Returns the pass of a unit of a pipeline of layers; 0 for any other unit. */
static int32_t pass_of(const struct schedule *s, const struct unit *unit)
{
    if (unit->kind == UNIT_STEP_LAYER)
        return unit->layer;
    return unit->kind == UNIT_TRAIN_STEP && layer_pipeline_passes(s) > 0 ? layer_pipeline_window(s)
                                                                         : 0;
}

static enum error_code train_step_work(const struct stage_context *context, void *state,
                                       const struct unit *unit, struct error *err)
{
    struct train_step *t = state;
    if (pass_of(context->schedule, unit) > 0)
        t->layer =
            1 + layer_pipeline_pass(context->schedule, pass_of(context->schedule, unit)).layer;
    if (unit->kind == UNIT_SEAL_ROWS)
        return seal_rows(context, t, unit, err);
    if (unit->kind == UNIT_STEP_LAYER)
        return pass_layer(context, t, unit, err);
    must(unit->kind == UNIT_TRAIN_STEP || unit->kind == UNIT_EVALUATE);
    return unit->kind == UNIT_TRAIN_STEP ? train(context, t, unit, err)
                                         : evaluate(context, t, unit, err);
}

static void name_pass(const struct schedule *s, int64_t round, int32_t pass,
                      char name[UNIT_NAME_SIZE])
{
    if (pass > layer_pipeline_passes(s))
        (void)snprintf(name, UNIT_NAME_SIZE, "train-step/%" PRId64 "/", round);
    else
        (void)snprintf(name, UNIT_NAME_SIZE, "step-layer/%" PRId64 "/%" PRId32 "/", round, pass);
}

/* Prefers, for a whole step, batches whose rows are open (held_parts.h). For a pass, prefers the
 * layer of the last pass, the backward pass before the forward pass. So a worker alternates one
 * forward and one backward. */
static int train_step_prefers(const struct stage_context *context, const void *state,
                              const struct unit *unit,
                              char beginning[STAGE_PREFERS_MAX][UNIT_NAME_SIZE])
{
    const struct train_step *t = state;
    const struct schedule *s = context->schedule;
    const int32_t given = pass_of(s, unit);
    if (given == 0)
        return held_parts_prefers(context, &t->input.features, unit, beginning);
    const int32_t forth = t->layer, back = layer_pipeline_window(s) + 1 - t->layer;
    if (t->layer == 0 || given == back)
        return 0;
    name_pass(s, unit->round, back, beginning[0]);
    if (given == forth)
        return 1;
    name_pass(s, unit->round, forth, beginning[1]);
    return 2;
}

static void train_step_rest(const struct stage_context *context, void *state,
                            const struct unit *unit, int64_t done_count)
{
    struct train_step *t = state;
    if (unit->kind != UNIT_TRAIN_STEP)
        return;
    step_input_rest(context, &t->input, unit->round, done_count, &t->arena);
    if (context->schedule->reuse_epochs == 1) /* otherwise later epochs read the batch again */
        store_drop_cache(context->store,
                         key_mini_batch(context->run_id, unit->round, unit->slot).text);
}

const struct stage stage = {
    .name = "train-step",
    .summary =
        "computes the gradient of a mini-batch, validates weights on one, or seals learnable rows",
    .reads = "weights, mini_batch, partition_book, topology_seal, partition_delta, shard_seal, "
             "node_labels, "
             "node_splits, graph_index, embedding_rows, residual, round_base, pass_output, "
             "pass_gradient",
    .writes = "gradient, gradient_range, residual, round_base, evaluation, embedding_rows, "
              "pass_output, pass_gradient",
    .form = STAGE_LOOP,
    .multiplies = true,
    .is_waited_for = true,
    .check = run_model_check_machine,
    .open = train_step_open,
    .work = train_step_work,
    .prefers = train_step_prefers,
    .rest = train_step_rest,
    .close = train_step_close,
};
