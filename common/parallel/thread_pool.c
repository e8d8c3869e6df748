#include "common/parallel/thread_pool.h"

#include "common/base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct worker {
    struct thread_pool *pool;
    pthread_t thread;
    int number;
};

struct thread_pool {
    int size;
    struct worker *worker; /* [size - 1]; the caller is thread 0 */
    int started;
    int arrived; /* number of threads that have come to rest after their start */
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    uint64_t turn; /* counts the loops, so that a thread joins each loop once */
    bool open;     /* tiles may be left: a thread that wakes joins the loop */
    int busy;      /* number of threads in the loop */
    bool stop;
    thread_pool_body body;
    void *context;
    int64_t tile_count;
    atomic_llong next_tile;
};

static void take_tiles(struct thread_pool *pool, int number)
{
    for (;;) {
        const int64_t tile = atomic_fetch_add(&pool->next_tile, 1);
        if (tile >= pool->tile_count)
            return;
        pool->body(pool->context, tile, number);
    }
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct thread_pool *pool = worker->pool;
    uint64_t seen = 0;
    (void)pthread_mutex_lock(&pool->lock);
    pool->arrived++;
    (void)pthread_cond_signal(&pool->idle);
    for (;;) {
        while (!pool->stop && pool->turn == seen)
            (void)pthread_cond_wait(&pool->wake, &pool->lock);
        if (pool->stop)
            break;
        seen = pool->turn;
        if (!pool->open)
            continue;
        pool->busy++;
        (void)pthread_mutex_unlock(&pool->lock);
        take_tiles(pool, worker->number);
        (void)pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            (void)pthread_cond_signal(&pool->idle);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Waits until all threads are at rest. A process that forks while a thread starts may copy a lock
 * that the thread holds, and nobody would release the copy. */
static void wait_for_arrival(struct thread_pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    while (pool->arrived < pool->started)
        (void)pthread_cond_wait(&pool->idle, &pool->lock);
    (void)pthread_mutex_unlock(&pool->lock);
}

enum error_code thread_pool_new(int threads, struct thread_pool **out, struct error *err)
{
    struct thread_pool *pool = NULL;
    *out = NULL;
    must(threads >= 1);
    enum error_code rc = memory_new(&pool, 1, "a thread pool", err);
    if (rc != ERROR_NONE)
        return rc;
    pool->size = threads;
    (void)pthread_mutex_init(&pool->lock, NULL);
    (void)pthread_cond_init(&pool->wake, NULL);
    (void)pthread_cond_init(&pool->idle, NULL);
    rc = memory_new(&pool->worker, (size_t)threads, "threads", err);
    for (int i = 0; rc == ERROR_NONE && i < threads - 1; i++) {
        pool->worker[i] = (struct worker){.pool = pool, .number = i + 1};
        if (pthread_create(&pool->worker[i].thread, NULL, worker_main, &pool->worker[i]) != 0)
            rc = error_set(err, ERROR_NO_MEMORY,
                           "no memory for thread %d of %d, or no more threads are allowed", i + 1,
                           threads);
        else
            pool->started++;
    }
    if (rc != ERROR_NONE) {
        thread_pool_free(pool);
        return rc;
    }
    wait_for_arrival(pool);
    *out = pool;
    return ERROR_NONE;
}

void thread_pool_free(struct thread_pool *pool)
{
    if (!pool)
        return;
    (void)pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    (void)pthread_cond_broadcast(&pool->wake);
    (void)pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->started; i++)
        (void)pthread_join(pool->worker[i].thread, NULL);
    (void)pthread_cond_destroy(&pool->idle);
    (void)pthread_cond_destroy(&pool->wake);
    (void)pthread_mutex_destroy(&pool->lock);
    memory_free(pool->worker);
    memory_free(pool);
}

int thread_pool_size(const struct thread_pool *pool)
{
    return pool ? pool->size : 1;
}

/* When no tile is left, it waits only for threads that have a tile. A thread that the system has
 * not scheduled yet, because another program uses its core, is not waited for: on a small graph a
 * loop is shorter than that wait. */
void thread_pool_run(struct thread_pool *pool, int64_t tile_count, thread_pool_body body,
                     void *context)
{
    if (!pool || pool->size == 1 || tile_count <= 1) {
        for (int64_t tile = 0; tile < tile_count; tile++)
            body(context, tile, 0);
        return;
    }
    (void)pthread_mutex_lock(&pool->lock);
    pool->body = body;
    pool->context = context;
    pool->tile_count = tile_count;
    atomic_store(&pool->next_tile, 0);
    pool->open = true;
    pool->turn++;
    (void)pthread_cond_broadcast(&pool->wake);
    (void)pthread_mutex_unlock(&pool->lock);
    take_tiles(pool, 0);
    (void)pthread_mutex_lock(&pool->lock);
    pool->open = false;
    while (pool->busy > 0)
        (void)pthread_cond_wait(&pool->idle, &pool->lock);
    (void)pthread_mutex_unlock(&pool->lock);
}
