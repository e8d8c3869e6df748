#include "stages/train-step/idle_aggregation.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "stages/train-step/step_ahead.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* Tiles for each thread between two checks of `is_over`. They take less than a millisecond, so
 * the unit hardly waits. */
enum { TILES_AT_ONCE = 1 };

struct idle_aggregation {
    struct idle_config config;
    pthread_t thread;
    bool started;
    /* protects `stopping` and `busy`; while `busy`, the fields below belong to the thread */
    pthread_mutex_t mutex;
    pthread_cond_t wake, rest;
    bool stopping, busy;
    struct arena *arena;
    size_t room;     /* bytes of the arena that may be used */
    struct key key;  /* the batch in `batch`; empty: none */
    int64_t version; /* of the learnable rows in `batch` */
    struct step_batch batch;
    struct step_ahead ahead; /* the aggregation of its rows */
    struct idle_span span;
    atomic_bool is_over; /* set when the next unit has come */
};

/* Joins the rows of the batch. Returns false if there is nothing to aggregate, or no room for
 * it. */
static bool begin(struct idle_aggregation *idle)
{
    const struct idle_config *config = &idle->config;
    const struct prepared_batch *batch = batch_reader_settle(config->reader);
    enum error_code rc = ERROR_NONE;
    idle->span.began = clock_seconds();
    arena_reset(idle->arena);
    if (!batch->has_rows)
        return false;
    step_batch_take(config->context, batch, &idle->batch);
    if (!step_ahead_is_possible(config->model, &idle->batch))
        return false;
    if (config->embedding)
        rc = step_batch_join(config->context, config->embedding, true, idle->arena, &idle->batch,
                             NULL);
    if (rc == ERROR_NONE)
        rc = step_ahead_begin(&idle->ahead, config->model, &idle->batch, config->pool, idle->arena,
                              NULL);
    if (rc != ERROR_NONE)
        return false;
    idle->key = batch->key;
    idle->version = config->embedding ? config->embedding->state.version : 0;
    return true;
}

static void aggregate(struct idle_aggregation *idle)
{
    const int64_t tiles = (int64_t)TILES_AT_ONCE * thread_pool_size(idle->config.pool);
    struct arena *arena = idle->arena;
    const size_t limit = arena->limit;
    if (atomic_load(&idle->is_over))
        return;
    arena->limit = idle->room;
    const bool is_begun = begin(idle);
    arena->limit = limit;
    if (!is_begun)
        return;
    while (!atomic_load(&idle->is_over) &&
           step_ahead_advance(&idle->ahead, tiles, idle->config.pool))
        continue;
    idle->span.ended = clock_seconds();
}

static void *aggregate_when_idle(void *context)
{
    struct idle_aggregation *idle = context;
    (void)pthread_mutex_lock(&idle->mutex);
    while (!idle->stopping) {
        if (!idle->busy) {
            (void)pthread_cond_wait(&idle->wake, &idle->mutex);
            continue;
        }
        (void)pthread_mutex_unlock(&idle->mutex);
        /* The mutex is released during the aggregation, so that idle_aggregation_end() can begin
         * to wait. */
        aggregate(idle);
        (void)pthread_mutex_lock(&idle->mutex);
        idle->busy = false;
        (void)pthread_cond_signal(&idle->rest);
    }
    (void)pthread_mutex_unlock(&idle->mutex);
    return NULL;
}

enum error_code idle_aggregation_new(const struct idle_config *config,
                                     struct idle_aggregation **out, struct error *err)
{
    struct idle_aggregation *idle = NULL;
    *out = NULL;
    const enum error_code rc = memory_new(&idle, 1, "aggregation while idle", err);
    if (rc != ERROR_NONE)
        return rc;
    idle->config = *config;
    (void)pthread_mutex_init(&idle->mutex, NULL);
    (void)pthread_cond_init(&idle->wake, NULL);
    (void)pthread_cond_init(&idle->rest, NULL);
    if (pthread_create(&idle->thread, NULL, aggregate_when_idle, idle) != 0) {
        idle_aggregation_free(idle);
        return error_set(err, ERROR_NO_MEMORY, "no thread for aggregation while idle");
    }
    idle->started = true;
    *out = idle;
    return ERROR_NONE;
}

void idle_aggregation_free(struct idle_aggregation *idle)
{
    if (!idle)
        return;
    atomic_store(&idle->is_over, true);
    (void)pthread_mutex_lock(&idle->mutex);
    idle->stopping = true;
    (void)pthread_cond_signal(&idle->wake);
    (void)pthread_mutex_unlock(&idle->mutex);
    if (idle->started)
        (void)pthread_join(idle->thread, NULL);
    (void)pthread_cond_destroy(&idle->rest);
    (void)pthread_cond_destroy(&idle->wake);
    (void)pthread_mutex_destroy(&idle->mutex);
    memory_free(idle);
}

void idle_aggregation_begin(struct idle_aggregation *idle, struct arena *arena, size_t room)
{
    (void)idle_aggregation_end(idle, NULL, 0, NULL, NULL);
    /* `is_over` is cleared before `busy` is set. Otherwise the thread could start, see the old
     * value and stop at once. */
    atomic_store(&idle->is_over, false);
    (void)pthread_mutex_lock(&idle->mutex);
    idle->arena = arena;
    idle->room = room;
    idle->busy = true;
    (void)pthread_cond_signal(&idle->wake);
    (void)pthread_mutex_unlock(&idle->mutex);
}

bool idle_aggregation_end(struct idle_aggregation *idle, const struct key *key, int64_t version,
                          struct step_batch *out, struct idle_span *span)
{
    atomic_store(&idle->is_over, true);
    (void)pthread_mutex_lock(&idle->mutex);
    while (idle->busy)
        (void)pthread_cond_wait(&idle->rest, &idle->mutex);
    (void)pthread_mutex_unlock(&idle->mutex);
    const bool is_there = key && strcmp(idle->key.text, key->text) == 0 &&
                          (!idle->config.embedding || idle->version == version);
    if (is_there) {
        *out = idle->batch;
        *span = idle->span;
    }
    idle->key = (struct key){0};
    return is_there;
}
