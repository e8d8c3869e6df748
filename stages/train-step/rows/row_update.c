#include "stages/train-step/rows/row_update.h"

#include "common/base/memory.h"
#include "stages/plan/model/run_rate.h"
#include "stages/train-step/rows/row_gradients.h"
#include "store/records/parameter_values.h"
#include "store/records/round/gradient.h"

#include <inttypes.h>
#include <string.h>

/* --- the gradients of a round --- */

struct slots {
    const struct gradient *gradient; /* [count] */
    int32_t count;
};

static void release_slots(struct gradient *gradient, int32_t count)
{
    for (int32_t k = count - 1; gradient && k >= 0; k--)
        gradient_release(&gradient[k]);
    memory_free(gradient);
}

/* Checks the rows of a tensor in a gradient. In a graph with node types, a mini-batch may have
 * read no row of the type. */
static enum error_code check_rows(const struct stage_context *context,
                                  const struct embedding_tensor *tensor,
                                  const struct gradient *gradient, struct error *err)
{
    static const struct gradient_rows none;
    const uint32_t row_count = embedding_tensor_rows(tensor, context->book);
    const struct gradient_rows *found = gradient_rows_of(gradient, tensor->type);
    if (!found && context->book->type_count > 0)
        return ERROR_NONE;
    const struct gradient_rows *rows = found ? found : &none;
    if (rows->width == tensor->width && rows->node[rows->count - 1] < row_count)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "record %s: gradients of %" PRIu64 " rows of %" PRIu32
                     " values, expected rows of %" PRIu32 " of nodes below %" PRIu32,
                     gradient->view.key, rows->count, rows->width, tensor->width, row_count);
}

static enum error_code read_slot(const struct stage_context *context, int64_t round, int32_t slot,
                                 struct gradient *out, struct error *err)
{
    const struct embedding_tensors *tensors = &context->schedule->embeddings;
    enum error_code rc = gradient_get(context->store, context->run_id, round, slot, out, err);
    if (rc == ERROR_NONE && out->weights_version != (uint64_t)round)
        rc = error_set(err, ERROR_CORRUPT,
                       "record %s: made from weights version %" PRIu64 ", expected %" PRId64,
                       out->view.key, out->weights_version, round);
    for (int i = 0; rc == ERROR_NONE && i < tensors->count; i++)
        rc = check_rows(context, &tensors->tensor[i], out, err);
    return rc;
}

/* Reads the gradients of a round into *out [count]. The caller releases them, also after a
 * failure. */
static enum error_code read_slots(const struct stage_context *context, int64_t round, int32_t count,
                                  struct gradient **out, struct error *err)
{
    enum error_code rc = memory_new(out, (size_t)count, "the gradients of a round", err);
    for (int32_t slot = 0; slot < count && rc == ERROR_NONE; slot++)
        rc = read_slot(context, round, slot, &(*out)[slot], err);
    return rc;
}

/* --- the update of a round --- */

/* The update of the rows of one tensor. */
struct round_step {
    const struct stage_context *context;
    const struct embedding_tensor *tensor;
    enum sparse_rule rule;
    double rate;
    int64_t round;
    struct row_gradients gradients;
    double *sum;     /* [threads, width] */
    float *gradient; /* [threads, width] */
};

static enum error_code diverged(const struct round_step *step, uint32_t node, size_t at,
                                float found, struct error *err)
{
    static const char *const what[] = {"new value", "first moment", "second moment"};
    const struct partition_book *book = step->context->book;
    return error_set(err, ERROR_INPUT,
                     "round %" PRId64 ": the %s of the embedding of %s node %" PRIu32
                     " is %g, not a finite number: training diverged; a smaller "
                     "aggregate.embedding_rate may help",
                     step->round, what[at / step->tensor->width],
                     book->type_name ? book->type_name[step->tensor->type] : "partition", node,
                     (double)found);
}

/* Updates row `i` of the round by its mean gradient. */
static enum error_code step_row(void *context, size_t i, float *row, int thread, struct error *err)
{
    const struct round_step *step = context;
    const size_t width = step->tensor->width;
    const int moments = sparse_rule_moments(step->rule);
    const size_t numbers = width * (size_t)(1 + moments);
    float *gradient = step->gradient + (size_t)thread * width;
    uint32_t updates = 0;
    if (sparse_rule_counts_updates(step->rule)) {
        memcpy(&updates, row + numbers, sizeof updates);
        updates += updates < UINT32_MAX;
        memcpy(row + numbers, &updates, sizeof updates);
    }
    row_gradients_mean(&step->gradients, i, step->sum + (size_t)thread * width, gradient);
    sparse_update_row(step->rule, step->rate, updates, width, row, gradient,
                      moments >= 1 ? row + width : NULL, moments == 2 ? row + 2 * width : NULL);
    const size_t bad = parameter_values_first_bad(row, numbers);
    return bad == numbers ? ERROR_NONE
                          : diverged(step, step->gradients.node[i], bad, row[bad], err);
}

static enum error_code step_tensor(const struct stage_context *context,
                                   struct embedding_state *state, int number, int64_t round,
                                   const struct slots *slots, struct arena *arena,
                                   struct error *err)
{
    static const char what[] = "the gradient of a row"; /* names the memory in messages */
    const struct embedding_tensor *tensor = &context->schedule->embeddings.tensor[number];
    const size_t numbers = (size_t)thread_pool_size(context->pool) * tensor->width;
    const struct rate_config rate = run_rate_of(context->settings, tensor->rate);
    struct round_step step = {
        .context = context,
        .tensor = tensor,
        .rule = state->config.rule,
        .rate = learning_rate_of_epoch(&rate, schedule_epoch(context->schedule, round)),
        .round = round};
    const struct embedding_change change = {step_row, &step};
    arena_reset(arena);
    enum error_code rc =
        row_gradients_find(slots->gradient, slots->count, tensor, arena, &step.gradients, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &step.sum, numbers, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &step.gradient, numbers, what, err);
    return rc == ERROR_NONE ? embedding_table_change(state->table[number], step.gradients.node,
                                                     step.gradients.count, &change, err)
                            : rc;
}

/* Advances the rows by one version. state->version changes only after all tensors were updated.
 * After a failure some rows have the new version and others the old one, so the state begins
 * anew. */
static enum error_code step_by(const struct stage_context *context, struct embedding_state *state,
                               const struct slots *slots, struct arena *arena, struct error *err)
{
    const int64_t round = state->version;
    enum error_code rc = ERROR_NONE;
    for (int i = 0; rc == ERROR_NONE && i < context->schedule->embeddings.count; i++)
        rc = step_tensor(context, state, i, round, slots, arena, err);
    if (rc == ERROR_NONE)
        state->version = round + 1;
    else
        embedding_state_begin_anew(state);
    return rc;
}

/* Advances the rows by one version, with the stored gradients. */
static enum error_code step_round(const struct stage_context *context,
                                  struct embedding_state *state, struct arena *arena,
                                  struct error *err)
{
    const int32_t count = schedule_slot_count(context->schedule, state->version);
    struct gradient *gradient = NULL;
    enum error_code rc = read_slots(context, state->version, count, &gradient, err);
    if (rc == ERROR_NONE)
        rc = step_by(context, state, &(struct slots){gradient, count}, arena, err);
    release_slots(gradient, count);
    return rc;
}

enum error_code row_update_advance(const struct stage_context *context,
                                   struct embedding_state *state, int64_t version, bool before,
                                   struct arena *arena, struct error *err)
{
    enum error_code rc = ERROR_NOT_FOUND;
    /* The gradients of the round may have been pruned. The rows are then read from seals. */
    if (version - state->version == 1) {
        struct error cause = {0};
        rc = step_round(context, state, arena, &cause);
        if (rc != ERROR_NONE && rc != ERROR_NOT_FOUND && err)
            *err = cause;
    }
    if (rc == ERROR_NOT_FOUND)
        rc = embedding_state_seek(state, version, before, err);
    while (rc == ERROR_NONE && state->version < version)
        rc = step_round(context, state, arena, err);
    arena_reset(arena);
    return rc;
}

void row_update_ahead(const struct stage_context *context, struct embedding_state *state,
                      int64_t round, struct arena *arena)
{
    const int32_t count = schedule_slot_count(context->schedule, round);
    bool found = state->version == round;
    for (int32_t slot = 0; found && slot < count; slot++)
        if (store_has(context->store, key_gradient(context->run_id, round, slot).text, &found,
                      NULL) != ERROR_NONE)
            found = false;
    if (found)
        error_ignore(step_round(context, state, arena, NULL));
    arena_reset(arena);
}

void row_update_with(const struct stage_context *context, struct embedding_state *state,
                     int64_t round, const struct gradient *gradient, struct arena *arena)
{
    must(schedule_slot_count(context->schedule, round) == 1);
    if (state->version == round)
        error_ignore(step_by(context, state, &(struct slots){gradient, 1}, arena, NULL));
    arena_reset(arena);
}

/* --- the seal of a version --- */

struct seal {
    struct embedding_shard nodes;
    enum sparse_rule rule;
    uint32_t width;
    size_t count;
    /* as in struct embedding_rows, in the arena; NULL while rows are only counted */
    uint32_t *node;
    float *value, *first, *second;
    uint32_t *updates;
};

static enum error_code new_rows(struct seal *seal, size_t count, struct arena *arena,
                                struct error *err)
{
    static const char what[] = "rows of embeddings (more shards have fewer each)";
    const int moments = sparse_rule_moments(seal->rule);
    const size_t values = count * seal->width;
    enum error_code rc = arena_new(arena, &seal->node, count, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &seal->value, values, what, err);
    if (rc == ERROR_NONE && moments >= 1)
        rc = arena_new(arena, &seal->first, values, what, err);
    if (rc == ERROR_NONE && moments == 2)
        rc = arena_new(arena, &seal->second, values, what, err);
    if (rc == ERROR_NONE && sparse_rule_counts_updates(seal->rule))
        rc = arena_new(arena, &seal->updates, count, what, err);
    return rc;
}

static void set_row(const struct seal *seal, size_t i, const float *row)
{
    const size_t width = seal->width, bytes = width * sizeof *row;
    memcpy(seal->value + i * width, row, bytes);
    if (seal->first)
        memcpy(seal->first + i * width, row + width, bytes);
    if (seal->second)
        memcpy(seal->second + i * width, row + 2 * width, bytes);
    if (seal->updates)
        memcpy(&seal->updates[i], row + (size_t)(1 + sparse_rule_moments(seal->rule)) * width,
               sizeof *row);
}

static enum error_code seal_row(void *context, uint32_t node, const float *row, struct error *err)
{
    struct seal *seal = context;
    (void)err;
    if (!embedding_shard_has(&seal->nodes, node))
        return ERROR_NONE;
    if (seal->node) {
        seal->node[seal->count] = node;
        set_row(seal, seal->count, row);
    }
    seal->count++;
    return ERROR_NONE;
}

enum error_code row_update_seal(const struct stage_context *context, struct embedding_state *state,
                                int64_t version, int shard, struct arena *arena, struct error *err)
{
    const struct embedding_tensors *tensors = &context->schedule->embeddings;
    struct seal seal = {.nodes = embedding_shard_of(tensors, context->book, shard),
                        .rule = state->config.rule};
    const struct embedding_table *table = state->table[seal.nodes.tensor];
    seal.width = tensors->tensor[seal.nodes.tensor].width;
    /* `before`: a unit that is done again computes its seal from the gradients, never from the
     * seal that it wrote the first time. The first scan only counts the rows, to know how much
     * memory they need. */
    enum error_code rc = row_update_advance(context, state, version, true, arena, err);
    if (rc == ERROR_NONE)
        rc = embedding_table_scan(table, seal.nodes.first, seal.nodes.end, seal_row, &seal, err);
    if (rc == ERROR_NONE)
        rc = new_rows(&seal, seal.count, arena, err);
    seal.count = 0;
    if (rc == ERROR_NONE)
        rc = embedding_table_scan(table, seal.nodes.first, seal.nodes.end, seal_row, &seal, err);
    const struct embedding_rows record = {.version = (uint64_t)version,
                                          .shard = (uint32_t)shard,
                                          .width = seal.width,
                                          .count = seal.count,
                                          .node = seal.node,
                                          .value = seal.value,
                                          .first = seal.first,
                                          .second = seal.second,
                                          .updates = seal.updates};
    stage_times_enter(context->times, TIME_WRITE);
    return rc == ERROR_NONE ? embedding_rows_put(context->store, context->run_id, &record, err)
                            : rc;
}
