#include "stages/aggregate/row_update.h"

#include "stages/aggregate/row_gradients.h"
#include "store/records/parameter_values.h"
#include "store/records/parameters.h"

#include <inttypes.h>
#include <string.h>

enum { ROWS_AT_ONCE = 256 };

enum error_code row_update_open(const struct stage_context *context, const struct rate_config *rate,
                                struct row_update *out, struct error *err)
{
    const struct pipeline_settings *settings = context->settings;
    *out = (struct row_update){.rule = (enum sparse_rule)settings->aggregate.embedding_optimizer,
                               .rate = *rate,
                               .width = (uint32_t)settings->train_step.embedding};
    const struct embedding_table_config table = {.store = context->store,
                                                 .node_count = context->book->node_count,
                                                 .width = out->width,
                                                 .rule = out->rule,
                                                 .seed = context->schedule->seed,
                                                 .budget_bytes = context->memory_bytes / 2};
    out->arena.limit = (size_t)(context->memory_bytes / 2);
    return embedding_state_open(&table, context->schedule, context->run_id, &out->state, err);
}

void row_update_close(struct row_update *update)
{
    embedding_state_close(&update->state);
    arena_release(&update->arena);
}

/* --- rows that are going to be a record --- */

struct new_rows { /* as in struct embedding_rows; in the arena */
    uint32_t *node;
    float *value, *first, *second;
    uint32_t *updates;
};

static enum error_code new_rows(struct row_update *u, size_t count, struct new_rows *out,
                                struct error *err)
{
    static const char what[] = "rows of embeddings (more shards have fewer each)";
    const int moments = sparse_rule_moments(u->rule);
    const size_t values = count * u->width;
    *out = (struct new_rows){0};
    enum error_code rc = arena_new(&u->arena, &out->node, count, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&u->arena, &out->value, values, what, err);
    if (rc == ERROR_NONE && moments >= 1)
        rc = arena_new(&u->arena, &out->first, values, what, err);
    if (rc == ERROR_NONE && moments == 2)
        rc = arena_new(&u->arena, &out->second, values, what, err);
    if (rc == ERROR_NONE && sparse_rule_counts_updates(u->rule))
        rc = arena_new(&u->arena, &out->updates, count, what, err);
    return rc;
}

/* Row `i` from one of the table. */
static void set_row(const struct row_update *u, struct new_rows *rows, size_t i, const float *row)
{
    const size_t bytes = u->width * sizeof *row;
    const float *rest = row + u->width;
    memcpy(rows->value + i * u->width, row, bytes);
    if (rows->first)
        memcpy(rows->first + i * u->width, rest, bytes);
    if (rows->second)
        memcpy(rows->second + i * u->width, rest + u->width, bytes);
    if (rows->updates)
        memcpy(&rows->updates[i], row + (size_t)(1 + sparse_rule_moments(u->rule)) * u->width,
               sizeof *row);
}

static struct embedding_rows record_of(const struct row_update *u, const struct new_rows *rows,
                                       size_t count, int64_t since, int64_t version, int shard)
{
    return (struct embedding_rows){.since = (uint64_t)since,
                                   .version = (uint64_t)version,
                                   .shard = (uint32_t)shard,
                                   .width = u->width,
                                   .count = count,
                                   .node = rows->node,
                                   .value = rows->value,
                                   .first = rows->first,
                                   .second = rows->second,
                                   .updates = rows->updates};
}

/* --- the update of a round --- */

static enum error_code read_slot(const struct stage_context *context, const struct row_update *u,
                                 int64_t round, int32_t slot, struct gradient *out,
                                 struct error *err)
{
    const enum error_code rc = gradient_get(context->store, context->run_id, round, slot, out, err);
    if (rc != ERROR_NONE)
        return rc;
    if (out->weights_version != (uint64_t)round)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: made from weights version %" PRIu64 ", expected %" PRId64,
                         out->view.key, out->weights_version, round);
    if (out->row_width != u->width ||
        out->row_node[out->row_count - 1] >= context->book->node_count)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: gradients of %" PRIu64 " rows of %" PRIu32
                         " values, expected rows of %" PRIu32 " of nodes below %" PRIu32,
                         out->view.key, out->row_count, out->row_width, u->width,
                         context->book->node_count);
    return ERROR_NONE;
}

static enum error_code read_slots(const struct stage_context *context, struct row_update *u,
                                  int64_t round, struct gradient **out, struct error *err)
{
    const int32_t count = schedule_slot_count(context->schedule, round);
    enum error_code rc = arena_new(&u->arena, out, (size_t)count, "the gradients of a round", err);
    if (rc != ERROR_NONE)
        return rc;
    memset(*out, 0, (size_t)count * sizeof **out);
    for (int32_t slot = 0; slot < count && rc == ERROR_NONE; slot++)
        rc = read_slot(context, u, round, slot, &(*out)[slot], err);
    return rc;
}

static void release_slots(const struct stage_context *context, int64_t round, struct gradient *slot)
{
    for (int32_t k = schedule_slot_count(context->schedule, round) - 1; slot && k >= 0; k--)
        store_release_record(&slot[k].view);
}

/* `row`, of the table, after one more update. */
static void step_row(const struct row_update *u, double rate, float *row, float *gradient)
{
    const int moments = sparse_rule_moments(u->rule);
    float *first = moments >= 1 ? row + u->width : NULL;
    float *second = moments == 2 ? row + 2 * (size_t)u->width : NULL;
    uint32_t updates = 0;
    if (sparse_rule_counts_updates(u->rule)) {
        float *counted = row + (size_t)(1 + moments) * u->width;
        memcpy(&updates, counted, sizeof updates);
        updates += updates < UINT32_MAX;
        memcpy(counted, &updates, sizeof updates);
    }
    sparse_update_row(u->rule, rate, updates, u->width, row, gradient, first, second);
}

struct scratch {
    float *row; /* [ROWS_AT_ONCE, row size] */
    double *sum;
    float *gradient; /* [width], as is sum */
};

static enum error_code new_scratch(struct row_update *u, struct scratch *out, struct error *err)
{
    const size_t row_size = embedding_table_row_size(u->state.table);
    enum error_code rc =
        arena_new(&u->arena, &out->row, ROWS_AT_ONCE * row_size, "rows of embeddings", err);
    if (rc == ERROR_NONE)
        rc = arena_new(&u->arena, &out->sum, u->width, "the gradient of a row", err);
    if (rc == ERROR_NONE)
        rc = arena_new(&u->arena, &out->gradient, u->width, "the gradient of a row", err);
    return rc;
}

static enum error_code step_rows(const struct stage_context *context, struct row_update *u,
                                 const struct row_gradients *gradients, double rate,
                                 struct new_rows *rows, struct error *err)
{
    const size_t row_size = embedding_table_row_size(u->state.table);
    struct scratch scratch = {0};
    enum error_code rc = new_scratch(u, &scratch, err);
    for (size_t at = 0, n = 0; rc == ERROR_NONE && at < gradients->count; at += n) {
        n = gradients->count - at < ROWS_AT_ONCE ? gradients->count - at : ROWS_AT_ONCE;
        rc = embedding_table_load(u->state.table, gradients->node + at, n, scratch.row,
                                  context->pool, err);
        for (size_t i = 0; rc == ERROR_NONE && i < n; i++) {
            float *row = scratch.row + i * row_size;
            row_gradients_mean(gradients, at + i, scratch.sum, scratch.gradient);
            step_row(u, rate, row, scratch.gradient);
            rows->node[at + i] = gradients->node[at + i];
            set_row(u, rows, at + i, row);
        }
    }
    return rc;
}

static enum error_code check_numbers(const struct row_update *u, const float *value, size_t count,
                                     const struct new_rows *rows, int64_t round, const char *what,
                                     struct error *err)
{
    const size_t values = count * u->width;
    const size_t bad = value ? parameter_values_first_bad(value, values) : values;
    if (bad == values)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "round %" PRId64 ": the %s of the embedding of partition node %" PRIu32
                     " is %g, not a finite number: training diverged; a smaller "
                     "aggregate.embedding_rate may help",
                     round, what, rows->node[bad / u->width], (double)value[bad]);
}

static enum error_code check_finite(const struct row_update *u, const struct new_rows *rows,
                                    size_t count, int64_t round, struct error *err)
{
    enum error_code rc = check_numbers(u, rows->value, count, rows, round, "new value", err);
    if (rc == ERROR_NONE)
        rc = check_numbers(u, rows->first, count, rows, round, "first moment", err);
    if (rc == ERROR_NONE)
        rc = check_numbers(u, rows->second, count, rows, round, "second moment", err);
    return rc;
}

static enum error_code put_update(const struct stage_context *context, struct row_update *u,
                                  const struct embedding_rows *rows, struct error *err)
{
    stage_times_enter(context->times, TIME_WRITE);
    const enum error_code rc =
        embedding_rows_put(context->store, context->run_id, EMBEDDING_UPDATE, rows, err);
    /* a replay stores nothing: what was computed may differ from what the next unit should read */
    return rc == ERROR_NONE && !context->is_replay ? embedding_state_add(&u->state, rows, err) : rc;
}

enum error_code row_update_round(const struct stage_context *context, struct row_update *u,
                                 int64_t round, int shard, struct error *err)
{
    const struct embedding_shard nodes =
        embedding_shard_of(context->settings, context->book, shard);
    const double rate = learning_rate_of_epoch(&u->rate, schedule_epoch(context->schedule, round));
    struct gradient *slot = NULL;
    struct row_gradients gradients = {0};
    struct new_rows rows = {0};
    arena_reset(&u->arena);
    stage_times_enter(context->times, TIME_READ);
    enum error_code rc = read_slots(context, u, round, &slot, err);
    if (rc == ERROR_NONE)
        rc = embedding_state_advance(&u->state, shard, round, false, err);
    stage_times_enter(context->times, TIME_COMPUTE);
    if (rc == ERROR_NONE)
        rc = row_gradients_find(slot, schedule_slot_count(context->schedule, round), u->width,
                                &nodes, &u->arena, &gradients, err);
    if (rc == ERROR_NONE)
        rc = new_rows(u, gradients.count, &rows, err);
    if (rc == ERROR_NONE)
        rc = step_rows(context, u, &gradients, rate, &rows, err);
    release_slots(context, round, slot);
    if (rc == ERROR_NONE)
        rc = check_finite(u, &rows, gradients.count, round, err);
    const struct embedding_rows record =
        record_of(u, &rows, gradients.count, round, round + 1, shard);
    return rc == ERROR_NONE ? put_update(context, u, &record, err) : rc;
}

/* --- the seal of a version --- */

struct seal {
    const struct row_update *update;
    struct embedding_shard nodes;
    struct new_rows *rows; /* NULL: they are only counted */
    size_t count;
};

static enum error_code seal_row(void *context, uint32_t node, const float *row, struct error *err)
{
    struct seal *seal = context;
    (void)err;
    if (!embedding_shard_has(&seal->nodes, node))
        return ERROR_NONE;
    if (seal->rows) {
        seal->rows->node[seal->count] = node;
        set_row(seal->update, seal->rows, seal->count, row);
    }
    seal->count++;
    return ERROR_NONE;
}

enum error_code row_update_seal(const struct stage_context *context, struct row_update *u,
                                int64_t version, int shard, struct error *err)
{
    const struct embedding_shard nodes =
        embedding_shard_of(context->settings, context->book, shard);
    struct new_rows rows = {0};
    struct seal count = {.update = u, .nodes = nodes};
    struct seal fill = {.update = u, .nodes = nodes, .rows = &rows};
    arena_reset(&u->arena);
    stage_times_enter(context->times, TIME_READ);
    enum error_code rc = embedding_state_advance(&u->state, shard, version, true, err);
    if (rc == ERROR_NONE)
        rc = embedding_table_scan(u->state.table, nodes.first, nodes.end, seal_row, &count, err);
    if (rc == ERROR_NONE)
        rc = new_rows(u, count.count, &rows, err);
    if (rc == ERROR_NONE)
        rc = embedding_table_scan(u->state.table, nodes.first, nodes.end, seal_row, &fill, err);
    if (rc != ERROR_NONE)
        return rc;
    stage_times_enter(context->times, TIME_WRITE);
    const struct embedding_rows record = record_of(u, &rows, fill.count, 0, version, shard);
    return embedding_rows_put(context->store, context->run_id, EMBEDDING_SEAL, &record, err);
}
