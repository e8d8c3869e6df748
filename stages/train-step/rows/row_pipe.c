#include "stages/train-step/rows/row_pipe.h"

#include "common/base/memory.h"
#include "store/features/feature_walk.h"

#include <pthread.h>
#include <stdbool.h>

enum { SLOT_COUNT = 6 };

/* A stripe that is being read or visited. Slot s holds the stripes whose numbers are s modulo
 * SLOT_COUNT, one at a time. */
struct slot {
    struct feature_stripe stripe;
    bool is_read;
};

struct row_pipe {
    feature_visitor visitor;
    void *context;
    struct slot *slot; /* [SLOT_COUNT] */
    /* protects the fields below; a stripe that is being read or visited belongs to its thread */
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    int waiting; /* threads that wait for `moved` */
    struct feature_walk walk;
    uint64_t taken, visited; /* numbers of stripes so far */
    bool visiting, all_taken;
    enum error_code rc; /* the first failure; it ends the visit */
    struct error err;
};

uint64_t row_pipe_bytes(const struct feature_source *source)
{
    return SLOT_COUNT *
           (sizeof(struct slot) - sizeof(struct feature_stripe) + feature_stripe_bytes(source));
}

/* --- the next action of a thread; the mutex is held before and after --- */

static void tell(struct row_pipe *pipe)
{
    if (pipe->waiting)
        (void)pthread_cond_broadcast(&pipe->moved);
}

/* Visits the next stripe. Returns false if it is not read yet, or if another thread is visiting.
 * The mutex is released during the visit, so that other threads go on reading; `visiting` keeps
 * them from visiting at the same time. */
static bool visit_stripe(struct row_pipe *pipe)
{
    struct slot *slot = &pipe->slot[pipe->visited % SLOT_COUNT];
    if (pipe->visiting || pipe->visited == pipe->taken || !slot->is_read)
        return false;
    pipe->visiting = true;
    (void)pthread_mutex_unlock(&pipe->mutex);
    const struct feature_visit visit = feature_stripe_visit(&slot->stripe);
    pipe->visitor(pipe->context, &visit);
    feature_stripe_forget(&slot->stripe);
    (void)pthread_mutex_lock(&pipe->mutex);
    slot->is_read = false;
    pipe->visiting = false;
    pipe->visited++;
    tell(pipe);
    return true;
}

/* Reads the next stripe. Returns false if none is left, or if all slots are in use. Stripes are
 * taken under the mutex, so each is read once; the read itself runs without it. */
static bool read_stripe(struct row_pipe *pipe)
{
    struct slot *slot = &pipe->slot[pipe->taken % SLOT_COUNT];
    struct error err = {0};
    if (pipe->all_taken || pipe->taken - pipe->visited == SLOT_COUNT)
        return false;
    pipe->all_taken = !feature_walk_next(&pipe->walk, &slot->stripe);
    if (pipe->all_taken)
        return false;
    pipe->taken++;
    (void)pthread_mutex_unlock(&pipe->mutex);
    const enum error_code rc = feature_stripe_read(&slot->stripe, &err);
    (void)pthread_mutex_lock(&pipe->mutex);
    slot->is_read = rc == ERROR_NONE;
    if (rc != ERROR_NONE && pipe->rc == ERROR_NONE) {
        pipe->rc = rc;
        pipe->err = err;
    }
    tell(pipe);
    return true;
}

static bool is_over(const struct row_pipe *pipe)
{
    return pipe->rc != ERROR_NONE || (pipe->all_taken && pipe->visited == pipe->taken);
}

static void work(void *context, int64_t tile, int thread)
{
    struct row_pipe *pipe = context;
    (void)tile;
    (void)thread;
    (void)pthread_mutex_lock(&pipe->mutex);
    while (!is_over(pipe)) {
        if (visit_stripe(pipe) || read_stripe(pipe) || is_over(pipe))
            continue;
        pipe->waiting++;
        (void)pthread_cond_wait(&pipe->moved, &pipe->mutex);
        pipe->waiting--;
    }
    tell(pipe);
    (void)pthread_mutex_unlock(&pipe->mutex);
}

/* --- the visit --- */

static enum error_code open_slots(struct row_pipe *pipe, struct error *err)
{
    enum error_code rc = memory_new(&pipe->slot, SLOT_COUNT, "rows on their way", err);
    for (int s = 0; rc == ERROR_NONE && s < SLOT_COUNT; s++)
        rc = feature_stripe_init(&pipe->slot[s].stripe, pipe->walk.source, err);
    return rc;
}

static void close_slots(struct row_pipe *pipe)
{
    for (int s = 0; pipe->slot && s < SLOT_COUNT; s++)
        feature_stripe_release(&pipe->slot[s].stripe);
    memory_free(pipe->slot);
}

enum error_code row_pipe_visit(struct feature_source *source, const uint32_t *node, size_t count,
                               feature_visitor visitor, void *context, struct thread_pool *pool,
                               struct error *err)
{
    struct row_pipe pipe = {.visitor = visitor,
                            .context = context,
                            .walk = {.source = source, .node = node, .count = count}};
    enum error_code rc = feature_source_visit_begin(source, node, count, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = open_slots(&pipe, err);
    if (rc == ERROR_NONE) {
        (void)pthread_mutex_init(&pipe.mutex, NULL);
        (void)pthread_cond_init(&pipe.moved, NULL);
        thread_pool_run(pool, thread_pool_size(pool), work, &pipe);
        (void)pthread_cond_destroy(&pipe.moved);
        (void)pthread_mutex_destroy(&pipe.mutex);
        rc = pipe.rc;
        if (rc != ERROR_NONE && err)
            *err = pipe.err;
    }
    close_slots(&pipe);
    return rc;
}
