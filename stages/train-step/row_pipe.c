#include "stages/train-step/row_pipe.h"

#include "common/base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* A slot takes a stripe, some blocks' worth of rows, so that the threads meet seldom; the rings stay in a
 * cache. */
enum { SLOT_ROWS = FEATURE_STRIPE_ROWS, SLOT_COUNT = 3, READER_COUNT = 2 };

struct slot {
    uint64_t stripe;
    uint32_t count;
    uint32_t place[SLOT_ROWS];
    const void *row[SLOT_ROWS]; /* into `rows` */
    char *rows;                 /* [SLOT_ROWS, row_bytes] */
};

/* One that reads its share of the stripes, and its ring. */
struct reader {
    struct row_pipe *pipe;
    pthread_t thread;
    bool started;
    struct slot *slot;   /* [SLOT_COUNT] */
    uint64_t put, taken; /* slots so far; under the pipe's mutex */
    bool done;
    enum error_code rc;
    struct error err;
};

struct row_pipe {
    struct feature_source *source;
    const uint32_t *node;
    size_t count;
    size_t row_bytes;
    char *rows;        /* [READER_COUNT, SLOT_COUNT, SLOT_ROWS, row_bytes] */
    struct slot *slot; /* [READER_COUNT, SLOT_COUNT] */
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    atomic_bool stop; /* nobody takes any more */
    struct reader reader[READER_COUNT];
};

uint64_t row_pipe_bytes(size_t row_bytes)
{
    const uint64_t rings = (uint64_t)READER_COUNT * SLOT_COUNT;
    return rings * (sizeof(struct slot) + (uint64_t)SLOT_ROWS * row_bytes) +
           (READER_COUNT - 1) * (uint64_t)FEATURE_VISIT_MAX * row_bytes;
}

/* --- the threads that read --- */

static struct slot *open_slot(struct reader *reader)
{
    return &reader->slot[reader->put % SLOT_COUNT]; /* `put` changes on this thread alone */
}

static void put_slot(struct reader *reader)
{
    struct row_pipe *pipe = reader->pipe;
    (void)pthread_mutex_lock(&pipe->mutex);
    reader->put++;
    (void)pthread_cond_broadcast(&pipe->moved);
    while (reader->put - reader->taken == SLOT_COUNT && !atomic_load(&pipe->stop))
        (void)pthread_cond_wait(&pipe->moved, &pipe->mutex);
    (void)pthread_mutex_unlock(&pipe->mutex);
    open_slot(reader)->count = 0;
}

static void put_rows(void *context, const struct feature_visit *visit)
{
    struct reader *reader = context;
    const size_t row_bytes = reader->pipe->row_bytes;
    if (open_slot(reader)->count && open_slot(reader)->stripe != visit->stripe)
        put_slot(reader);
    struct slot *slot = open_slot(reader);
    slot->stripe = visit->stripe;
    memcpy(slot->place + slot->count, visit->place, visit->count * sizeof *slot->place);
    for (uint32_t i = 0; i < visit->count; i++)
        memcpy(slot->rows + (size_t)(slot->count + i) * row_bytes, visit->row[i], row_bytes);
    slot->count += visit->count;
}

static void *read_rows(void *context)
{
    struct reader *reader = context;
    struct row_pipe *pipe = reader->pipe;
    struct error err = {0};
    const struct feature_share share = {(uint32_t)(reader - pipe->reader), READER_COUNT};
    const enum error_code rc = feature_source_visit_share(
        pipe->source, pipe->node, pipe->count, share, put_rows, reader, &pipe->stop, &err);
    (void)pthread_mutex_lock(&pipe->mutex);
    reader->put += rc == ERROR_NONE && open_slot(reader)->count > 0;
    reader->done = true;
    reader->rc = rc;
    reader->err = err;
    (void)pthread_cond_broadcast(&pipe->moved);
    (void)pthread_mutex_unlock(&pipe->mutex);
    return NULL;
}

/* --- the thread that works --- */

/* The slot of a stripe, or NULL when there is no such stripe or it could not be read. */
static struct slot *wait_for(struct row_pipe *pipe, uint64_t stripe)
{
    struct slot *next = NULL;
    struct reader *reader = &pipe->reader[stripe % READER_COUNT];
    (void)pthread_mutex_lock(&pipe->mutex);
    while (reader->taken == reader->put && !reader->done)
        (void)pthread_cond_wait(&pipe->moved, &pipe->mutex);
    if (reader->taken < reader->put)
        next = &reader->slot[reader->taken % SLOT_COUNT];
    (void)pthread_mutex_unlock(&pipe->mutex);
    return next;
}

static void give_back(struct row_pipe *pipe, uint64_t stripe)
{
    (void)pthread_mutex_lock(&pipe->mutex);
    pipe->reader[stripe % READER_COUNT].taken++;
    (void)pthread_cond_broadcast(&pipe->moved);
    (void)pthread_mutex_unlock(&pipe->mutex);
}

static void take_rows(struct row_pipe *pipe, feature_visitor visitor, void *context)
{
    struct slot *slot = NULL;
    for (uint64_t stripe = 0; (slot = wait_for(pipe, stripe)) != NULL; stripe++) {
        const struct feature_visit visit = {
            .stripe = stripe, .count = slot->count, .place = slot->place, .row = slot->row};
        must(slot->stripe == stripe);
        visitor(context, &visit);
        give_back(pipe, stripe);
    }
}

static enum error_code start_readers(struct row_pipe *pipe, struct error *err)
{
    for (int r = 0; r < READER_COUNT; r++) {
        struct reader *reader = &pipe->reader[r];
        reader->started = pthread_create(&reader->thread, NULL, read_rows, reader) == 0;
        if (!reader->started)
            return error_set(err, ERROR_NO_MEMORY, "no thread to read rows");
    }
    return ERROR_NONE;
}

/* A reader that was stopped says so with ERROR_BUSY, which is not what went wrong. */
static enum error_code join_readers(struct row_pipe *pipe, enum error_code rc, struct error *err)
{
    (void)pthread_mutex_lock(&pipe->mutex);
    atomic_store(&pipe->stop, true);
    (void)pthread_cond_broadcast(&pipe->moved);
    (void)pthread_mutex_unlock(&pipe->mutex);
    for (int r = 0; r < READER_COUNT; r++) {
        struct reader *reader = &pipe->reader[r];
        if (!reader->started)
            continue;
        (void)pthread_join(reader->thread, NULL);
        if (rc != ERROR_NONE || reader->rc == ERROR_NONE || reader->rc == ERROR_BUSY)
            continue;
        rc = reader->rc;
        if (err)
            *err = reader->err;
    }
    return rc;
}

static enum error_code open_pipe(struct row_pipe *pipe, struct error *err)
{
    const size_t rings = (size_t)READER_COUNT * SLOT_COUNT;
    enum error_code rc = memory_new(&pipe->slot, rings, "rows on their way", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&pipe->rows, rings * SLOT_ROWS * pipe->row_bytes, "rows on their way", err);
    for (size_t s = 0; rc == ERROR_NONE && s < rings; s++) {
        pipe->slot[s].rows = pipe->rows + s * SLOT_ROWS * pipe->row_bytes;
        for (size_t i = 0; i < SLOT_ROWS; i++)
            pipe->slot[s].row[i] = pipe->slot[s].rows + i * pipe->row_bytes;
    }
    for (size_t r = 0; rc == ERROR_NONE && r < READER_COUNT; r++)
        pipe->reader[r] = (struct reader){.pipe = pipe, .slot = pipe->slot + r * SLOT_COUNT};
    return rc;
}

enum error_code row_pipe_visit(struct feature_source *source, const uint32_t *node, size_t count,
                               feature_visitor visitor, void *context, struct error *err)
{
    struct row_pipe pipe = {.source = source,
                            .node = node,
                            .count = count,
                            .row_bytes = feature_source_row_bytes(source)};
    enum error_code rc = feature_source_visit_begin(source, node, count, err);
    if (rc != ERROR_NONE || count == 0)
        return rc;
    rc = open_pipe(&pipe, err);
    (void)pthread_mutex_init(&pipe.mutex, NULL);
    (void)pthread_cond_init(&pipe.moved, NULL);
    if (rc == ERROR_NONE)
        rc = start_readers(&pipe, err);
    if (rc == ERROR_NONE)
        take_rows(&pipe, visitor, context);
    rc = join_readers(&pipe, rc, err);
    (void)pthread_cond_destroy(&pipe.moved);
    (void)pthread_mutex_destroy(&pipe.mutex);
    memory_free(pipe.rows);
    memory_free(pipe.slot);
    return rc;
}
