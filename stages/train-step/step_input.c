#include "stages/train-step/step_input.h"

#include "common/base/clock.h"
#include "stages/plan/chain/layer_pipeline.h"
#include "stages/plan/model/run_model.h"
#include "stages/train-step/rows/row_update.h"

#include <inttypes.h>
#include <string.h>

/* Opens the labels of the nodes of the target type. */
static enum error_code open_labels(const struct stage_context *context, uint32_t dim,
                                   struct step_input *out, struct error *err)
{
    const struct partition_book *book = context->book;
    const struct feature_source_config config = {.store = context->store,
                                                 .origin = FEATURES_OF_PARTITION,
                                                 .id = book->id,
                                                 .node_type = book->target_type,
                                                 .part_count = book->part_count,
                                                 .book = out->features.book[book->target_type],
                                                 .tensor = "labels",
                                                 .precision = PRECISION_FP32,
                                                 .budget_bytes = out->plan.label_bytes,
                                                 .sharers = context->sharers,
                                                 .pool = context->pool};
    const enum error_code rc = feature_source_open(&config, &out->labels, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t found = feature_source_dim(out->labels);
    if (found != dim)
        return error_set(err, ERROR_CORRUPT,
                         "tensor labels of partition %s: expected rows of %" PRIu32
                         " values, found %" PRIu32,
                         book->id, dim, found);
    return ERROR_NONE;
}

/* Opens all parts. Their files are mapped, so their pages belong to the system and do not count
 * in the budget. */
static enum error_code open_topology(const struct stage_context *context, struct topology *out,
                                     struct error *err)
{
    enum error_code rc = topology_open(context->store, context->book, out, err);
    if (rc == ERROR_NONE)
        rc = topology_open_parts(out, context->pool, err);
    if (rc == ERROR_NONE && !edge_widths_equal(&out->width, &context->book->edge_width))
        rc = error_set(err, ERROR_CORRUPT,
                       "the topology of partition %s has other edge columns than its book",
                       context->book->id);
    return rc;
}

/* Returns the bytes left for a unit beside the rows; at least 1, since an arena with limit 0 has
 * no limit. */
static size_t left_for_step(const struct stage_context *context, const struct step_input *input)
{
    const struct step_memory *plan = &input->plan;
    const bool fits = node_features_are_resident(&input->features);
    const uint64_t held =
        (input->labels ? feature_source_bytes(input->labels) : 0) + plan->record_bytes +
        plan->embedding_bytes +
        (fits ? node_features_bytes(&input->features) + input->features.memory.used
              : plan->feature_bytes);
    return held < context->memory_bytes ? (size_t)(context->memory_bytes - held) : 1;
}

/* Returns the budget of the preparer. Rows of resident types are held elsewhere and subtracted. */
static uint64_t prepared_budget(const struct step_input *input)
{
    const uint64_t held = node_features_resident_bytes(&input->features);
    return held < input->plan.feature_bytes ? input->plan.feature_bytes - held : 0;
}

static enum error_code open_reader(const struct stage_context *context, struct step_input *input,
                                   struct error *err)
{
    input->preparer =
        (struct batch_preparer){.context = context,
                                .model = &input->model,
                                .edge_use = input->preparer.edge_use,
                                .features = &input->features,
                                .topology = input->topology.part ? &input->topology : NULL,
                                .wants_rows = input->embedding.width > 0,
                                .budget_bytes = prepared_budget(input)};
    enum error_code rc = ERROR_NONE;
    /* A layer skips zeros only if it reads floats, and only in rows of all nodes: listed rows
     * are those of some nodes. */
    if (input->model.config.precision == PRECISION_FP32 && !input->preparer.wants_rows &&
        !partition_book_lists_rows(context->book))
        rc = node_features_find_zeros(&input->features, input->plan.feature_bytes, context->pool,
                                      err);
    /* In a pipeline of layers, units read one batch after another and each many times. The next
     * one cannot be guessed. */
    if (rc != ERROR_NONE || context->is_replay || layer_pipeline_passes(context->schedule) > 0)
        return rc;
    rc = batch_reader_new(&input->preparer, &input->reader, err);
    const struct idle_config idle = {.model = &input->model,
                                     .reader = input->reader,
                                     .pool = context->pool,
                                     .context = context,
                                     .embedding =
                                         input->embedding.width ? &input->embedding : NULL};
    return rc == ERROR_NONE ? idle_aggregation_new(&idle, &input->idle, err) : rc;
}

/* Opens the sources of rows and labels, and plans the memory that they share with a step. */
static enum error_code open_rows(const struct stage_context *context, struct step_input *out,
                                 uint32_t label_dim, struct error *err)
{
    enum error_code rc =
        step_memory_plan(&out->model, context, &out->preparer.edge_use, label_dim, &out->plan, err);
    if (rc == ERROR_NONE)
        rc = node_features_open(context, out->model.config.precision, out->plan.feature_bytes,
                                &out->features, err);
    if (rc == ERROR_NONE && task_has(context->book->task, TASK_LABELS_NODES))
        rc = open_labels(context, label_dim, out, err);
    if (rc == ERROR_NONE && out->preparer.edge_use.columns >> EDGE_FEATURE & 1)
        rc = open_topology(context, &out->topology, err);
    return rc == ERROR_NONE ? embedding_input_open(context, &out->embedding, err) : rc;
}

enum error_code step_input_open(const struct stage_context *context, struct step_input *out,
                                struct arena *arena, struct error *err)
{
    const struct partition_book *book = context->book;
    const struct task *task = task_of(book->task);
    *out = (struct step_input){0};
    if (!task)
        return error_set(err, ERROR_INPUT, "partition %s has no labels to train on", book->id);
    const uint32_t label_dim = task->label_width(book->class_count);
    enum error_code rc = run_model_init(&out->model, context->settings, book, err);
    if (rc != ERROR_NONE)
        return rc;
    out->model.config.precision = context->settings->train_step.precision;
    rc = edge_use_of(context->settings, &out->model, &book->edge_width, &out->preparer.edge_use,
                     err);
    if (rc != ERROR_NONE)
        return rc;
    rc = open_rows(context, out, label_dim, err);
    if (rc == ERROR_NONE)
        rc = open_reader(context, out, err);
    if (rc == ERROR_NONE)
        arena->limit = left_for_step(context, out);
    else
        step_input_close(out);
    return rc;
}

static void drop_weights(struct step_input *input)
{
    if (input->has_weights)
        store_release_record(&input->weights.view);
    input->has_weights = false;
}

void step_input_close(struct step_input *input)
{
    idle_aggregation_free(input->idle);
    batch_reader_free(input->reader);
    drop_weights(input);
    for (int use = 0; use < BATCH_USE_COUNT; use++)
        prepared_batch_release(&input->preparer, &input->batch[use]);
    batch_preparer_release(&input->preparer);
    node_features_close(&input->features);
    feature_source_close(input->labels);
    embedding_input_close(&input->embedding);
    topology_close(&input->topology);
    *input = (struct step_input){0};
}

enum error_code step_input_weights(const struct stage_context *context, struct step_input *input,
                                   int64_t version, struct error *err)
{
    if (input->has_weights && input->weights.version == (uint64_t)version)
        return ERROR_NONE;
    drop_weights(input);
    enum error_code rc =
        weights_get(context->store, context->run_id, version, &input->weights, err);
    if (rc != ERROR_NONE)
        return rc;
    input->has_weights = true;
    rc = run_model_check_weights(&input->model, &input->weights, err);
    if (rc != ERROR_NONE) {
        drop_weights(input);
        return error_context(err, rc, "weights of version %" PRId64, version);
    }
    return ERROR_NONE;
}

/* Reads the rows of a batch. If features exceed the budget, the training and the evaluation
 * batch share one area, and one thread reads rows at a time. If the batch that was read ahead
 * takes the room, it is discarded. */
static enum error_code fill_batch(struct step_input *input, enum batch_use use, struct error *err)
{
    struct prepared_batch *batch = &input->batch[use];
    struct prepared_batch *other = &input->batch[BATCH_USE_COUNT - 1 - use];
    struct prepared_batch *ahead = input->reader ? batch_reader_settle(input->reader) : NULL;
    if (!batch->area.data && other->area.data)
        prepared_batch_lend(other, batch);
    const enum error_code rc = prepared_batch_fill(&input->preparer, batch, NULL, err);
    if (rc != ERROR_NO_MEMORY || !ahead || !ahead->area.data)
        return rc;
    prepared_batch_release(&input->preparer, ahead);
    return prepared_batch_fill(&input->preparer, batch, NULL, err);
}

/* Finds the batch in memory or reads it. With `is_ahead` the step uses rows aggregated from the
 * reader's batch, so that batch must be taken even if the last training batch is the same:
 * otherwise the reader would read the next batch into the rows that are in use. */
static enum error_code find_batch(struct step_input *input, enum batch_use use,
                                  const struct key *key, bool is_ahead, struct error *err)
{
    struct prepared_batch *batch = &input->batch[use];
    enum error_code rc = ERROR_NONE;
    const bool same = !is_ahead && batch->has_record && strcmp(batch->key.text, key->text) == 0;
    const bool read_ahead = !same && use == BATCH_TRAINING && input->reader &&
                            batch_reader_take(input->reader, key, batch);
    must(read_ahead || !is_ahead);
    if (!same && !read_ahead)
        rc = prepared_batch_read(&input->preparer, batch, key, err);
    return rc == ERROR_NONE && !batch->has_rows ? fill_batch(input, use, err) : rc;
}

/* Ends the aggregation. Returns whether *out is the batch with the rows that were aggregated
 * between units. */
static bool end_idle(const struct stage_context *context, struct step_input *input,
                     const struct key *key, struct arena *arena, struct step_batch *out)
{
    struct idle_span span = {0, 0};
    const bool is_there =
        input->idle &&
        idle_aggregation_end(input->idle, key, (int64_t)input->weights.version, out, &span);
    const double began = span.began > input->published_at ? span.began : input->published_at;
    const double seconds = span.ended > began ? span.ended - began : 0;
    input->is_aggregation = false;
    stage_times_add_ahead(context->times, seconds + input->ahead_seconds);
    input->ahead_seconds = 0;
    if (!is_there)
        arena_reset(arena);
    return is_there;
}

/* Reports the rows that the batch reads. */
static void count_rows(const struct stage_context *context, const struct step_input *input,
                       const struct step_batch *batch)
{
    uint64_t nodes = 0, bytes = 0;
    for (uint32_t t = 0; t < input->features.type_count; t++) {
        nodes += batch->count[t];
        bytes += batch->count[t] * (node_features_row_bytes(&input->features, t) +
                                    embedding_input_width(context, t) * sizeof(float));
    }
    stage_times_add_rows(context->times, nodes, bytes);
}

/* Divides the seconds of the unit among the parts, in proportion to the rows of each. */
static void share_among_parts(const struct stage_context *context, const struct step_batch *batch)
{
    const uint32_t types = partition_book_types(context->book);
    for (uint32_t t = 0; context->times && t < types; t++)
        stage_times_add_nodes(context->times, context->book, batch->node[t], batch->count[t]);
}

enum error_code step_input_batch(const struct stage_context *context, struct step_input *input,
                                 enum batch_use use, const struct key *key, struct arena *arena,
                                 struct step_batch *out, struct error *err)
{
    const bool is_there = end_idle(context, input, key, arena, out);
    enum error_code rc = find_batch(input, use, key, is_there, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!is_there)
        step_batch_take(context, &input->batch[use], out);
    count_rows(context, input, out);
    if (use == BATCH_TRAINING)
        share_among_parts(context, out);
    if (is_there || input->embedding.width == 0)
        return ERROR_NONE;
    rc = row_update_advance(context, &input->embedding.state, (int64_t)input->weights.version,
                            false, arena, err);
    return rc == ERROR_NONE
               ? step_batch_join(context, &input->embedding, use == BATCH_TRAINING, arena, out, err)
               : rc;
}

enum error_code step_input_layer(const struct stage_context *context, struct step_input *input,
                                 const struct key *key, int layer, struct arena *arena,
                                 struct step_batch *out, struct error *err)
{
    struct prepared_batch *batch = &input->batch[BATCH_TRAINING];
    const bool reads_rows = layer == 0 || input->preparer.topology; /* of nodes or edges */
    enum error_code rc = ERROR_NONE;
    arena_reset(arena);
    if (!batch->has_record || strcmp(batch->key.text, key->text) != 0)
        rc = prepared_batch_read(&input->preparer, batch, key, err);
    if (rc == ERROR_NONE && reads_rows && !batch->has_rows)
        rc = fill_batch(input, BATCH_TRAINING, err);
    if (rc != ERROR_NONE)
        return rc;
    step_batch_take(context, batch, out);
    if (reads_rows)
        count_rows(context, input, out);
    share_among_parts(context, out);
    return ERROR_NONE;
}

static struct key batch_key(const struct stage_context *context, int64_t round, int32_t slot)
{
    int64_t source_round = 0;
    int32_t source_slot = 0;
    schedule_batch_source(context->schedule, round, slot, &source_round, &source_slot);
    return key_mini_batch(context->run_id, source_round, source_slot);
}

void step_input_read_ahead(const struct stage_context *context, struct step_input *input,
                           int64_t round, int32_t slot)
{
    if (!input->reader || !unit_guess_next(&input->guess, context->schedule, &round, &slot))
        return;
    const struct key key = batch_key(context, round, slot);
    input->ahead_round = round;
    if (node_features_are_resident(&input->features)) {
        batch_reader_begin(input->reader, &key, true);
        return;
    }
    struct prepared_batch *ahead = batch_reader_settle(input->reader);
    const bool with_rows = input->preparer.from_disk;
    if (with_rows && !ahead->area.data && input->batch[BATCH_EVALUATION].area.data)
        prepared_batch_lend(&input->batch[BATCH_EVALUATION], ahead);
    if (!with_rows) /* the cache gets the room of its area */
        prepared_batch_release(&input->preparer, ahead);
    cache_policy_refresh(&input->cache, &input->preparer,
                         (with_rows ? 2 : 1) * input->batch[BATCH_TRAINING].area.bytes,
                         (int64_t)input->weights.version);
    batch_reader_begin(input->reader, &key, with_rows);
}

void step_input_aggregate_ahead(const struct stage_context *context, struct step_input *input,
                                struct arena *arena, size_t room)
{
    const int64_t version = schedule_base(context->schedule, input->ahead_round);
    if (!input->idle || !node_features_are_resident(&input->features) || input->is_aggregation ||
        (input->embedding.width > 0 && input->embedding.state.version != version))
        return;
    idle_aggregation_begin(input->idle, arena, room);
    input->is_aggregation = true;
}

void step_input_settle(struct step_input *input)
{
    if (input->idle)
        (void)idle_aggregation_end(input->idle, NULL, 0, NULL, NULL);
    input->is_aggregation = false;
}

/* Computes the rows of the next round in the idle time before its weights exist. */
static void take_rows_ahead(const struct stage_context *context, struct step_input *input,
                            int64_t round, struct arena *arena)
{
    const double before = clock_seconds();
    row_update_ahead(context, &input->embedding.state, round, arena);
    input->ahead_seconds = clock_seconds() - before;
}

void step_input_rest(const struct stage_context *context, struct step_input *input, int64_t round,
                     int64_t done_count, struct arena *arena)
{
    int32_t slot = 0;
    if (input->embedding.width > 0 && !input->is_aggregation)
        take_rows_ahead(context, input, round, arena);
    if (!input->reader || !node_features_are_resident(&input->features))
        return;
    if (unit_guess_after(&input->guess, context->schedule, done_count, &round, &slot)) {
        const struct key key = batch_key(context, round, slot);
        if (!batch_reader_has(input->reader, &key)) {
            step_input_settle(input);
            input->ahead_round = round;
            batch_reader_begin(input->reader, &key, true);
        }
    }
    step_input_aggregate_ahead(context, input, arena, arena->limit);
}

enum error_code step_input_labels(const struct stage_context *context, struct step_input *input,
                                  const struct step_batch *batch, struct arena *arena,
                                  const void **out, struct error *err)
{
    const struct task *task = task_of(context->book->task);
    const uint32_t class_count = context->book->class_count;
    const size_t width = task->label_width(class_count);
    struct feature_rows rows;
    float *label = NULL;
    const uint32_t *seed = batch->number[batch->target_type];
    enum error_code rc = arena_new(arena, &label, batch->seed_count * width, "labels", err);
    if (rc == ERROR_NONE)
        rc = feature_source_fetch(input->labels, seed, batch->seed_count, &rows, err);
    for (uint32_t i = 0; i < batch->seed_count && rc == ERROR_NONE; i++) {
        memcpy(label + i * width, feature_row(&rows, i), width * sizeof *label);
        rc = task->label_check(label + i * width, class_count, err);
        if (rc != ERROR_NONE)
            return error_context(err, rc, "label of node %" PRIu32,
                                 batch->node[batch->target_type][i]);
    }
    *out = label;
    return rc;
}
