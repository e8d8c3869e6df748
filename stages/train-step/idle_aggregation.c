#include "stages/train-step/idle_aggregation.h"

#include "common/base/clock.h"
#include "common/base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* For each thread between two looks at whether the unit has come: under a millisecond. */
enum { TILES_AT_ONCE = 1 };

struct idle_aggregation {
    const struct model *model;
    struct batch_reader *reader;
    struct thread_pool *pool;
    pthread_t thread;
    bool started;
    pthread_mutex_t mutex; /* over the next four; what follows is the thread's while it is busy */
    pthread_cond_t wake, rest;
    bool stopping, busy;
    struct arena *arena;
    struct key key; /* of `aggregation` */
    struct input_aggregation aggregation;
    double seconds;
    atomic_bool is_over; /* the unit has come */
};

/* False: there is nothing to aggregate, or no room for it. */
static bool begin(struct idle_aggregation *idle)
{
    const struct prepared_batch *batch = batch_reader_settle(idle->reader);
    arena_reset(idle->arena);
    if (!batch->has_rows || batch->aggregated ||
        !input_aggregation_is_possible(idle->model, &batch->rows))
        return false;
    const struct message_block block = mini_batch_block(&batch->batch, 0);
    const bool has_room =
        input_aggregation_begin(&idle->aggregation, idle->model, &block, &batch->rows,
                                thread_pool_size(idle->pool), idle->arena, NULL) == ERROR_NONE;
    if (has_room)
        idle->key = batch->key;
    return has_room;
}

static void aggregate(struct idle_aggregation *idle)
{
    const int64_t tiles = (int64_t)TILES_AT_ONCE * thread_pool_size(idle->pool);
    if (atomic_load(&idle->is_over) || !begin(idle))
        return;
    const double before = clock_seconds();
    while (!atomic_load(&idle->is_over) &&
           input_aggregation_advance(&idle->aggregation, tiles, idle->pool))
        continue;
    idle->seconds = clock_seconds() - before;
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
        aggregate(idle);
        (void)pthread_mutex_lock(&idle->mutex);
        idle->busy = false;
        (void)pthread_cond_signal(&idle->rest);
    }
    (void)pthread_mutex_unlock(&idle->mutex);
    return NULL;
}

enum error_code idle_aggregation_new(const struct model *model, struct batch_reader *reader,
                                     struct thread_pool *pool, struct idle_aggregation **out,
                                     struct error *err)
{
    struct idle_aggregation *idle = NULL;
    *out = NULL;
    const enum error_code rc = memory_new(&idle, 1, "aggregation while idle", err);
    if (rc != ERROR_NONE)
        return rc;
    idle->model = model;
    idle->reader = reader;
    idle->pool = pool;
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

void idle_aggregation_begin(struct idle_aggregation *idle, struct arena *arena)
{
    (void)idle_aggregation_end(idle, NULL, NULL);
    atomic_store(&idle->is_over, false);
    (void)pthread_mutex_lock(&idle->mutex);
    idle->arena = arena;
    idle->busy = true;
    (void)pthread_cond_signal(&idle->wake);
    (void)pthread_mutex_unlock(&idle->mutex);
}

struct input_aggregation idle_aggregation_end(struct idle_aggregation *idle, const struct key *key,
                                              double *seconds)
{
    struct input_aggregation aggregated = {0};
    atomic_store(&idle->is_over, true);
    (void)pthread_mutex_lock(&idle->mutex);
    while (idle->busy)
        (void)pthread_cond_wait(&idle->rest, &idle->mutex);
    (void)pthread_mutex_unlock(&idle->mutex);
    if (key && strcmp(idle->key.text, key->text) == 0) {
        aggregated = idle->aggregation;
        *seconds = idle->seconds;
    }
    idle->key = (struct key){0};
    return aggregated;
}
