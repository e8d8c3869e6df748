#include "stages/train-step/step_input.h"

#include "stages/run_model.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static uint32_t label_dim_of(const struct partition_book *book)
{
    return book->task == TASK_MULTI_LABEL ? book->class_count : 1;
}

static enum error_code open_source(const struct stage_context *context, const char *tensor,
                                   uint32_t dim, uint64_t budget_bytes, struct feature_source **out,
                                   struct error *err)
{
    const struct partition_book *book = context->book;
    const struct feature_source_config config = {.store = context->store,
                                                 .origin = FEATURES_OF_PARTITION,
                                                 .id = book->id,
                                                 .part_count = book->part_count,
                                                 .book = book->book,
                                                 .tensor = tensor,
                                                 .budget_bytes = budget_bytes};
    const enum error_code rc = feature_source_open(&config, out, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t found = feature_source_dim(*out);
    if (found != dim)
        return error_set(err, ERROR_CORRUPT,
                         "tensor %s of partition %s: expected rows of %" PRIu32
                         " values, found %" PRIu32,
                         tensor, book->id, dim, found);
    return ERROR_NONE;
}

/* What is left for a unit when the rows are held; an arena without a limit would be 0. */
static size_t left_for_step(const struct stage_context *context, const struct step_input *input)
{
    const uint64_t held =
        feature_source_bytes(input->features) + feature_source_bytes(input->labels);
    return held < context->memory_bytes ? (size_t)(context->memory_bytes - held) : 1;
}

enum error_code step_input_open(const struct stage_context *context, struct step_input *out,
                                struct arena *arena, struct error *err)
{
    const struct partition_book *book = context->book;
    const uint32_t label_dim = label_dim_of(book);
    *out = (struct step_input){0};
    if (book->task != TASK_SINGLE_LABEL && book->task != TASK_MULTI_LABEL)
        return error_set(err, ERROR_INPUT, "partition %s has no labels to train on", book->id);
    enum error_code rc = run_model_init(&out->model, context->settings, book, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct step_memory plan = step_memory_plan(&out->model, context, label_dim);
    rc = open_source(context, "labels", label_dim, plan.label_bytes, &out->labels, err);
    if (rc == ERROR_NONE)
        rc = open_source(context, "features", book->feature_dim, plan.feature_bytes, &out->features,
                         err);
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

static void drop_batch(struct step_input *input, struct held_batch *held)
{
    if (held->held)
        store_release_record(&held->batch.view);
    held->held = false;
    if (input->fetched == held)
        input->fetched = NULL;
}

void step_input_close(struct step_input *input)
{
    drop_weights(input);
    for (int use = 0; use < BATCH_USE_COUNT; use++)
        drop_batch(input, &input->held[use]);
    feature_source_close(input->features);
    feature_source_close(input->labels);
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

/* The record is sound in itself (mini_batch_get); does it suit this model and this partition? */
static enum error_code check_batch(const struct stage_context *context, const struct model *model,
                                   const struct mini_batch *batch, struct error *err)
{
    uint32_t largest = 0;
    if (batch->hop_count != model->config.layer_count)
        return error_set(err, ERROR_CORRUPT, "expected %d hops, found %d",
                         model->config.layer_count, batch->hop_count);
    if (model->needs_degree && !batch->degree)
        return error_set(err, ERROR_CORRUPT, "expected a section degree, found none");
    for (uint32_t i = 0; i < batch->node_count; i++)
        largest = batch->node[i] > largest ? batch->node[i] : largest;
    if (largest >= context->book->node_count)
        return error_set(err, ERROR_CORRUPT, "expected nodes below %" PRIu32 ", found %" PRIu32,
                         context->book->node_count, largest);
    return ERROR_NONE;
}

static enum error_code hold_batch(const struct stage_context *context, struct step_input *input,
                                  struct held_batch *held, const struct key *key, struct error *err)
{
    if (held->held && strcmp(held->key.text, key->text) == 0)
        return ERROR_NONE;
    drop_batch(input, held);
    enum error_code rc =
        mini_batch_get(context->store, key->text, context->run_id, &held->batch, err);
    if (rc != ERROR_NONE)
        return rc;
    held->held = true;
    held->key = *key;
    rc = check_batch(context, &input->model, &held->batch, err);
    if (rc != ERROR_NONE) {
        drop_batch(input, held);
        return error_context(err, rc, "record %s", key->text);
    }
    return ERROR_NONE;
}

static enum error_code fetch_rows(struct step_input *input, const struct held_batch *held,
                                  struct error *err)
{
    if (input->fetched == held)
        return ERROR_NONE;
    input->fetched = NULL;
    const enum error_code rc = feature_source_fetch(input->features, held->batch.node,
                                                    held->batch.node_count, &input->rows, err);
    if (rc == ERROR_NONE)
        input->fetched = held;
    return rc;
}

enum error_code step_input_batch(const struct stage_context *context, struct step_input *input,
                                 enum batch_use use, const struct key *key, struct step_batch *out,
                                 struct error *err)
{
    struct held_batch *held = &input->held[use];
    enum error_code rc = hold_batch(context, input, held, key, err);
    if (rc == ERROR_NONE)
        rc = fetch_rows(input, held, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct mini_batch *batch = &held->batch;
    stage_times_add_rows(context->times, batch->node_count,
                         batch->node_count * (uint64_t)input->rows.dim * sizeof(float));
    *out = (struct step_batch){.seed_count = batch->seed_count,
                               .node = batch->node,
                               .rows = {.base = input->rows.base,
                                        .stride = input->rows.stride,
                                        .row_index = input->rows.row_index}};
    for (int layer = 0; layer < batch->hop_count; layer++)
        out->block[layer] = (struct message_block){
            .destination_count = batch->hop_end[batch->hop_count - 1 - layer],
            .source_count = batch->hop_end[batch->hop_count - layer],
            .row_start = batch->row_start,
            .neighbor = batch->neighbor,
            .degree = batch->degree};
    return ERROR_NONE;
}

static const float *label_row(const struct feature_rows *rows, uint32_t seed)
{
    return rows->base + rows->row_index[seed] * rows->stride;
}

/* The rows hold int32 in the bytes of a float. */
static enum error_code copy_single(const struct feature_rows *rows, const struct step_batch *batch,
                                   uint32_t class_count, int32_t *label, struct error *err)
{
    for (uint32_t i = 0; i < batch->seed_count; i++) {
        memcpy(&label[i], label_row(rows, i), sizeof label[i]);
        if (label[i] < -1 || label[i] >= (int64_t)class_count)
            return error_set(err, ERROR_CORRUPT,
                             "label of node %" PRIu32 ": expected -1 to %" PRIu32
                             ", found %" PRId32,
                             batch->node[i], class_count - 1, label[i]);
    }
    return ERROR_NONE;
}

static bool is_label_row(const float *label, uint32_t class_count)
{
    if (isnan(label[0]))
        return true;
    for (uint32_t c = 0; c < class_count; c++)
        if (!(label[c] <= 0 && label[c] >= 0) && !(label[c] <= 1 && label[c] >= 1))
            return false;
    return true;
}

static enum error_code copy_multi(const struct feature_rows *rows, const struct step_batch *batch,
                                  uint32_t class_count, float *label, struct error *err)
{
    for (uint32_t i = 0; i < batch->seed_count; i++) {
        float *row = label + (size_t)i * class_count;
        memcpy(row, label_row(rows, i), class_count * sizeof *row);
        if (!is_label_row(row, class_count))
            return error_set(err, ERROR_CORRUPT,
                             "labels of node %" PRIu32 ": expected values of 0 and 1 or all NaN",
                             batch->node[i]);
    }
    return ERROR_NONE;
}

enum error_code step_input_labels(const struct stage_context *context, struct step_input *input,
                                  const struct step_batch *batch, struct arena *arena,
                                  struct step_labels *out, struct error *err)
{
    const uint32_t class_count = context->book->class_count;
    const bool is_single = context->book->task == TASK_SINGLE_LABEL;
    const size_t count = (size_t)batch->seed_count * (is_single ? 1 : class_count);
    struct feature_rows rows;
    void *label = NULL;
    *out = (struct step_labels){0};
    _Static_assert(sizeof(float) == sizeof(int32_t), "labels are four bytes of either type");
    enum error_code rc = arena_new_bytes(arena, &label, count, sizeof(float), "labels", err);
    if (rc == ERROR_NONE)
        rc = feature_source_fetch(input->labels, batch->node, batch->seed_count, &rows, err);
    if (rc != ERROR_NONE)
        return rc;
    if (is_single) {
        out->single = label;
        return copy_single(&rows, batch, class_count, label, err);
    }
    out->multi = label;
    return copy_multi(&rows, batch, class_count, label, err);
}
