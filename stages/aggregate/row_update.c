#include "stages/aggregate/row_update.h"

#include "common/base/memory.h"
#include "common/parallel/first_failure.h"
#include "stages/aggregate/row_gradients.h"
#include "store/records/parameter_values.h"

#include <inttypes.h>
#include <string.h>

enum { ROWS_AT_ONCE = 256 };

enum error_code row_update_open(const struct stage_context *context, const struct rate_config *rate,
                                struct row_update *out, struct error *err)
{
    const struct pipeline_settings *settings = context->settings;
    *out = (struct row_update){.rule = (enum sparse_rule)settings->aggregate.embedding_optimizer,
                               .rate = *rate};
    const struct embedding_state_config state = {.store = context->store,
                                                 .run_id = context->run_id,
                                                 .schedule = context->schedule,
                                                 .book = context->book,
                                                 .pool = context->pool,
                                                 .rule = out->rule,
                                                 .budget_bytes = context->memory_bytes / 2};
    out->arena.limit = (size_t)(context->memory_bytes / 2);
    return embedding_state_open(&state, &out->state, err);
}

static void release_slots(struct row_update *u)
{
    for (int32_t k = u->slot_count - 1; u->slot && k >= 0; k--)
        gradient_release(&u->slot[k]);
    memory_free(u->slot);
    u->slot = NULL;
    u->slot_count = 0;
}

void row_update_close(struct row_update *update)
{
    release_slots(update);
    embedding_state_close(&update->state);
    arena_release(&update->arena);
}

/* The shard that a unit is of. */
struct shard {
    int number;
    struct embedding_shard rows;
    const struct embedding_tensor *tensor;
    struct embedding_table *table;
    uint32_t row_count; /* of the tensor */
};

static struct shard shard_of(const struct stage_context *context, const struct row_update *u,
                             int number)
{
    const struct embedding_tensors *tensors = &context->schedule->embeddings;
    struct shard out = {.number = number,
                        .rows = embedding_shard_of(tensors, context->book, number)};
    out.tensor = &tensors->tensor[out.rows.tensor];
    out.table = u->state.table[out.rows.tensor];
    out.row_count = embedding_tensor_rows(out.tensor, context->book);
    return out;
}

/* --- rows that are going to be a record --- */

struct new_rows { /* as in struct embedding_rows; in the arena */
    uint32_t *node;
    float *value, *first, *second;
    uint32_t *updates;
};

static enum error_code new_rows(struct row_update *u, const struct shard *shard, size_t count,
                                struct new_rows *out, struct error *err)
{
    static const char what[] = "rows of embeddings (more shards have fewer each)";
    const int moments = sparse_rule_moments(u->rule);
    const size_t values = count * shard->tensor->width;
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
static void set_row(enum sparse_rule rule, size_t width, struct new_rows *rows, size_t i,
                    const float *row)
{
    const size_t bytes = width * sizeof *row;
    const float *rest = row + width;
    memcpy(rows->value + i * width, row, bytes);
    if (rows->first)
        memcpy(rows->first + i * width, rest, bytes);
    if (rows->second)
        memcpy(rows->second + i * width, rest + width, bytes);
    if (rows->updates)
        memcpy(&rows->updates[i], row + (size_t)(1 + sparse_rule_moments(rule)) * width,
               sizeof *row);
}

static struct embedding_rows record_of(const struct shard *shard, const struct new_rows *rows,
                                       size_t count, int64_t since, int64_t version)
{
    return (struct embedding_rows){.since = (uint64_t)since,
                                   .version = (uint64_t)version,
                                   .shard = (uint32_t)shard->number,
                                   .width = shard->tensor->width,
                                   .count = count,
                                   .node = rows->node,
                                   .value = rows->value,
                                   .first = rows->first,
                                   .second = rows->second,
                                   .updates = rows->updates};
}

/* --- the update of a round --- */

/* Of a graph with relations a mini-batch may have read no row of a type. */
static enum error_code check_rows(const struct stage_context *context, const struct shard *shard,
                                  const struct gradient *gradient, struct error *err)
{
    static const struct gradient_rows none;
    const struct gradient_rows *found = gradient_rows_of(gradient, shard->tensor->type);
    if (!found && context->book->type_count > 0)
        return ERROR_NONE;
    const struct gradient_rows *rows = found ? found : &none;
    if (rows->width == shard->tensor->width && rows->node[rows->count - 1] < shard->row_count)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "record %s: gradients of %" PRIu64 " rows of %" PRIu32
                     " values, expected rows of %" PRIu32 " of nodes below %" PRIu32,
                     gradient->view.key, rows->count, rows->width, shard->tensor->width,
                     shard->row_count);
}

static enum error_code read_slot(const struct stage_context *context, int64_t round, int32_t slot,
                                 struct gradient *out, struct error *err)
{
    const enum error_code rc = gradient_get(context->store, context->run_id, round, slot, out, err);
    if (rc != ERROR_NONE)
        return rc;
    if (out->weights_version != (uint64_t)round)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: made from weights version %" PRIu64 ", expected %" PRId64,
                         out->view.key, out->weights_version, round);
    return ERROR_NONE;
}

/* Afterwards u->slot has those of the round. */
static enum error_code read_slots(const struct stage_context *context, struct row_update *u,
                                  const struct shard *shard, int64_t round, struct error *err)
{
    const int32_t count = schedule_slot_count(context->schedule, round);
    enum error_code rc = ERROR_NONE;
    if (!u->slot || u->round != round) {
        release_slots(u);
        rc = memory_new(&u->slot, (size_t)count, "the gradients of a round", err);
        u->slot_count = rc == ERROR_NONE ? count : 0;
        u->round = round;
        for (int32_t slot = 0; slot < count && rc == ERROR_NONE; slot++)
            rc = read_slot(context, round, slot, &u->slot[slot], err);
    }
    for (int32_t slot = 0; slot < count && rc == ERROR_NONE; slot++)
        rc = check_rows(context, shard, &u->slot[slot], err);
    return rc;
}

/* `row`, of the table, after one more update. */
static void step_row(enum sparse_rule rule, size_t width, double rate, float *row, float *gradient)
{
    const int moments = sparse_rule_moments(rule);
    float *first = moments >= 1 ? row + width : NULL;
    float *second = moments == 2 ? row + 2 * width : NULL;
    uint32_t updates = 0;
    if (sparse_rule_counts_updates(rule)) {
        float *counted = row + (size_t)(1 + moments) * width;
        memcpy(&updates, counted, sizeof updates);
        updates += updates < UINT32_MAX;
        memcpy(counted, &updates, sizeof updates);
    }
    sparse_update_row(rule, rate, updates, width, row, gradient, first, second);
}

/* Rows that tiles of a round change, side by side. */
struct step_job {
    const struct shard *shard;
    enum sparse_rule rule;
    double rate;
    const struct row_gradients *gradients;
    struct new_rows *rows;
    /* Of each thread: [ROWS_AT_ONCE, row size], [width], [width] */
    float *row, *gradient;
    double *sum;
    struct first_failure failure;
};

static enum error_code new_scratch(struct row_update *u, const struct shard *shard, size_t threads,
                                   struct step_job *out, struct error *err)
{
    const size_t row_size = embedding_table_row_size(shard->table), width = shard->tensor->width;
    enum error_code rc = arena_new(&u->arena, &out->row, threads * ROWS_AT_ONCE * row_size,
                                   "rows of embeddings", err);
    if (rc == ERROR_NONE)
        rc = arena_new(&u->arena, &out->sum, threads * width, "the gradient of a row", err);
    if (rc == ERROR_NONE)
        rc = arena_new(&u->arena, &out->gradient, threads * width, "the gradient of a row", err);
    return rc;
}

static void step_tile(void *context, int64_t tile, int thread)
{
    struct step_job *job = context;
    const struct row_gradients *gradients = job->gradients;
    const size_t row_size = embedding_table_row_size(job->shard->table);
    const size_t width = job->shard->tensor->width, at = (size_t)tile * ROWS_AT_ONCE;
    const size_t n = gradients->count - at < ROWS_AT_ONCE ? gradients->count - at : ROWS_AT_ONCE;
    float *row = job->row + (size_t)thread * ROWS_AT_ONCE * row_size;
    float *gradient = job->gradient + (size_t)thread * width;
    struct error error = {0};
    const enum error_code rc =
        embedding_table_load(job->shard->table, gradients->node + at, n, row, NULL, &error);
    first_failure_keep(&job->failure, rc, tile, &error);
    for (size_t i = 0; rc == ERROR_NONE && i < n; i++, row += row_size) {
        row_gradients_mean(gradients, at + i, job->sum + (size_t)thread * width, gradient);
        step_row(job->rule, width, job->rate, row, gradient);
        job->rows->node[at + i] = gradients->node[at + i];
        set_row(job->rule, width, job->rows, at + i, row);
    }
}

static enum error_code step_rows(const struct stage_context *context, struct row_update *u,
                                 const struct shard *shard, const struct row_gradients *gradients,
                                 double rate, struct new_rows *rows, struct error *err)
{
    struct step_job job = {
        .shard = shard, .rule = u->rule, .rate = rate, .gradients = gradients, .rows = rows};
    const enum error_code rc =
        new_scratch(u, shard, (size_t)thread_pool_size(context->pool), &job, err);
    if (rc != ERROR_NONE)
        return rc;
    first_failure_init(&job.failure);
    thread_pool_run(context->pool, (int64_t)((gradients->count + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE),
                    step_tile, &job);
    return first_failure_end(&job.failure, err);
}

static enum error_code check_numbers(const struct stage_context *context, const struct shard *shard,
                                     const struct embedding_rows *rows, const float *value,
                                     const char *what, struct error *err)
{
    const struct partition_book *book = context->book;
    const size_t values = rows->count * rows->width;
    const size_t bad = value ? parameter_values_first_bad(value, values) : values;
    if (bad == values)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "round %" PRIu64 ": the %s of the embedding of %s node %" PRIu32
                     " is %g, not a finite number: training diverged; a smaller "
                     "aggregate.embedding_rate may help",
                     rows->since, what,
                     book->type_count ? book->type_name[shard->tensor->type] : "partition",
                     rows->node[bad / rows->width], (double)value[bad]);
}

static enum error_code check_finite(const struct stage_context *context, const struct shard *shard,
                                    const struct embedding_rows *rows, struct error *err)
{
    enum error_code rc = check_numbers(context, shard, rows, rows->value, "new value", err);
    if (rc == ERROR_NONE)
        rc = check_numbers(context, shard, rows, rows->first, "first moment", err);
    if (rc == ERROR_NONE)
        rc = check_numbers(context, shard, rows, rows->second, "second moment", err);
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
                                 int64_t round, int number, struct error *err)
{
    const struct shard shard = shard_of(context, u, number);
    const double rate = learning_rate_of_epoch(&u->rate, schedule_epoch(context->schedule, round));
    struct row_gradients gradients = {0};
    struct new_rows rows = {0};
    arena_reset(&u->arena);
    stage_times_enter(context->times, TIME_READ);
    enum error_code rc = read_slots(context, u, &shard, round, err);
    if (rc == ERROR_NONE)
        rc = embedding_state_advance(&u->state, number, round, false, err);
    stage_times_enter(context->times, TIME_COMPUTE);
    if (rc == ERROR_NONE)
        rc = row_gradients_find(u->slot, u->slot_count, shard.tensor, &shard.rows, &u->arena,
                                &gradients, err);
    if (rc == ERROR_NONE)
        rc = new_rows(u, &shard, gradients.count, &rows, err);
    if (rc == ERROR_NONE)
        rc = step_rows(context, u, &shard, &gradients, rate, &rows, err);
    if (rc != ERROR_NONE) /* what was read may be what was damaged, and is made again meanwhile */
        release_slots(u);
    const struct embedding_rows record =
        record_of(&shard, &rows, gradients.count, round, round + 1);
    if (rc == ERROR_NONE)
        rc = check_finite(context, &shard, &record, err);
    return rc == ERROR_NONE ? put_update(context, u, &record, err) : rc;
}

/* --- the seal of a version --- */

struct seal {
    const struct shard *shard;
    enum sparse_rule rule;
    struct new_rows *rows; /* NULL: they are only counted */
    size_t count;
};

static enum error_code seal_row(void *context, uint32_t node, const float *row, struct error *err)
{
    struct seal *seal = context;
    (void)err;
    if (!embedding_shard_has(&seal->shard->rows, node))
        return ERROR_NONE;
    if (seal->rows) {
        seal->rows->node[seal->count] = node;
        set_row(seal->rule, seal->shard->tensor->width, seal->rows, seal->count, row);
    }
    seal->count++;
    return ERROR_NONE;
}

enum error_code row_update_seal(const struct stage_context *context, struct row_update *u,
                                int64_t version, int number, struct error *err)
{
    const struct shard shard = shard_of(context, u, number);
    const uint32_t first = shard.rows.first, end = shard.rows.end;
    struct new_rows rows = {0};
    struct seal count = {.shard = &shard, .rule = u->rule};
    struct seal fill = {.shard = &shard, .rule = u->rule, .rows = &rows};
    arena_reset(&u->arena);
    stage_times_enter(context->times, TIME_READ);
    enum error_code rc = embedding_state_advance(&u->state, number, version, true, err);
    if (rc == ERROR_NONE)
        rc = embedding_table_scan(shard.table, first, end, seal_row, &count, err);
    if (rc == ERROR_NONE)
        rc = new_rows(u, &shard, count.count, &rows, err);
    if (rc == ERROR_NONE)
        rc = embedding_table_scan(shard.table, first, end, seal_row, &fill, err);
    if (rc != ERROR_NONE)
        return rc;
    stage_times_enter(context->times, TIME_WRITE);
    const struct embedding_rows record = record_of(&shard, &rows, fill.count, 0, version);
    return embedding_rows_put(context->store, context->run_id, EMBEDDING_SEAL, &record, err);
}
