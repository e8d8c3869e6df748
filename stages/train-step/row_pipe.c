#include "stages/train-step/row_pipe.h"

#include "common/base/memory.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* A slot is some blocks' worth of rows, so that the threads meet seldom; the ring stays in a cache. */
enum { SLOT_ROWS = 4 * FEATURE_VISIT_MAX, SLOT_COUNT = 4 };

struct slot {
    uint32_t count;
    uint32_t place[SLOT_ROWS];
    const void *row[SLOT_ROWS]; /* into `rows` */
    char *rows;                 /* [SLOT_ROWS, row_bytes] */
};

struct row_pipe {
    struct feature_source *source;
    const uint32_t *node;
    size_t count;
    size_t row_bytes;
    char *rows;            /* [SLOT_COUNT, SLOT_ROWS, row_bytes] */
    struct slot *slot;     /* [SLOT_COUNT] */
    pthread_mutex_t mutex; /* over what follows */
    pthread_cond_t moved;
    uint64_t put, taken; /* slots so far */
    bool done;
    enum error_code rc;
    struct error err;
};

uint64_t row_pipe_bytes(size_t row_bytes)
{
    return SLOT_COUNT * (sizeof(struct slot) + (uint64_t)SLOT_ROWS * row_bytes);
}

/* --- the thread that reads --- */

static struct slot *open_slot(struct row_pipe *pipe)
{
    return &pipe->slot[pipe->put % SLOT_COUNT]; /* `put` changes on this thread alone */
}

static void put_slot(struct row_pipe *pipe)
{
    (void)pthread_mutex_lock(&pipe->mutex);
    pipe->put++;
    (void)pthread_cond_broadcast(&pipe->moved);
    while (pipe->put - pipe->taken == SLOT_COUNT)
        (void)pthread_cond_wait(&pipe->moved, &pipe->mutex);
    (void)pthread_mutex_unlock(&pipe->mutex);
    open_slot(pipe)->count = 0;
}

static void put_rows(void *context, const struct feature_visit *visit)
{
    struct row_pipe *pipe = context;
    if (open_slot(pipe)->count + visit->count > SLOT_ROWS)
        put_slot(pipe);
    struct slot *slot = open_slot(pipe);
    memcpy(slot->place + slot->count, visit->place, visit->count * sizeof *slot->place);
    for (uint32_t i = 0; i < visit->count; i++)
        memcpy(slot->rows + (size_t)(slot->count + i) * pipe->row_bytes, visit->row[i],
               pipe->row_bytes);
    slot->count += visit->count;
}

static void *read_rows(void *context)
{
    struct row_pipe *pipe = context;
    struct error err = {0};
    const enum error_code rc =
        feature_source_visit(pipe->source, pipe->node, pipe->count, put_rows, pipe, NULL, &err);
    (void)pthread_mutex_lock(&pipe->mutex);
    pipe->put += open_slot(pipe)->count > 0;
    pipe->done = true;
    pipe->rc = rc;
    pipe->err = err;
    (void)pthread_cond_broadcast(&pipe->moved);
    (void)pthread_mutex_unlock(&pipe->mutex);
    return NULL;
}

/* --- the thread that works --- */

static struct slot *next_slot(struct row_pipe *pipe)
{
    struct slot *next = NULL;
    (void)pthread_mutex_lock(&pipe->mutex);
    while (pipe->taken == pipe->put && !pipe->done)
        (void)pthread_cond_wait(&pipe->moved, &pipe->mutex);
    if (pipe->taken < pipe->put)
        next = &pipe->slot[pipe->taken % SLOT_COUNT];
    (void)pthread_mutex_unlock(&pipe->mutex);
    return next;
}

static void give_back(struct row_pipe *pipe)
{
    (void)pthread_mutex_lock(&pipe->mutex);
    pipe->taken++;
    (void)pthread_cond_broadcast(&pipe->moved);
    (void)pthread_mutex_unlock(&pipe->mutex);
}

static void take_rows(struct row_pipe *pipe, feature_visitor visitor, void *context)
{
    for (struct slot *slot = next_slot(pipe); slot; slot = next_slot(pipe)) {
        const struct feature_visit visit = {
            .count = slot->count, .place = slot->place, .row = slot->row};
        visitor(context, &visit);
        give_back(pipe);
    }
}

static enum error_code open_pipe(struct row_pipe *pipe, struct error *err)
{
    enum error_code rc = memory_new(&pipe->slot, SLOT_COUNT, "rows on their way", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&pipe->rows, (size_t)SLOT_COUNT * SLOT_ROWS * pipe->row_bytes,
                        "rows on their way", err);
    for (size_t s = 0; rc == ERROR_NONE && s < SLOT_COUNT; s++) {
        pipe->slot[s].rows = pipe->rows + s * SLOT_ROWS * pipe->row_bytes;
        for (size_t i = 0; i < SLOT_ROWS; i++)
            pipe->slot[s].row[i] = pipe->slot[s].rows + i * pipe->row_bytes;
    }
    return rc;
}

enum error_code row_pipe_visit(struct feature_source *source, const uint32_t *node, size_t count,
                               feature_visitor visitor, void *context, struct error *err)
{
    pthread_t reader;
    struct row_pipe pipe = {.source = source,
                            .node = node,
                            .count = count,
                            .row_bytes = feature_source_row_bytes(source)};
    enum error_code rc = open_pipe(&pipe, err);
    (void)pthread_mutex_init(&pipe.mutex, NULL);
    (void)pthread_cond_init(&pipe.moved, NULL);
    if (rc == ERROR_NONE && pthread_create(&reader, NULL, read_rows, &pipe) != 0)
        rc = error_set(err, ERROR_NO_MEMORY, "no thread to read rows");
    if (rc == ERROR_NONE) {
        take_rows(&pipe, visitor, context);
        (void)pthread_join(reader, NULL);
        rc = pipe.rc;
        if (rc != ERROR_NONE && err)
            *err = pipe.err;
    }
    (void)pthread_cond_destroy(&pipe.moved);
    (void)pthread_mutex_destroy(&pipe.mutex);
    memory_free(pipe.rows);
    memory_free(pipe.slot);
    return rc;
}
