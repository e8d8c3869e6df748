#include "stages/train-step/batch_reader.h"

#include "common/base/memory.h"

#include <pthread.h>
#include <string.h>

struct batch_reader {
    struct batch_preparer *preparer;
    pthread_t thread;
    bool started;
    /* protects the fields below; while `busy`, `ahead` belongs to the thread */
    pthread_mutex_t mutex;
    pthread_cond_t wake, rest;
    bool stopping, busy, with_rows;
    struct key key; /* the batch that `ahead` has or will have */
    struct prepared_batch ahead;
    atomic_bool give_up;
};

static void prepare(struct batch_reader *reader, const struct key *key, bool with_rows)
{
    /* A failure is ignored here: the step that needs the batch prepares it again, and reports
     * the failure then. */
    enum error_code rc = prepared_batch_read(reader->preparer, &reader->ahead, key, NULL);
    if (rc == ERROR_NONE && with_rows)
        rc = prepared_batch_fill(reader->preparer, &reader->ahead, &reader->give_up, NULL);
    if (rc != ERROR_NONE)
        prepared_batch_forget(&reader->ahead);
}

static void *read_ahead(void *context)
{
    struct batch_reader *reader = context;
    (void)pthread_mutex_lock(&reader->mutex);
    while (!reader->stopping) {
        if (!reader->busy) {
            (void)pthread_cond_wait(&reader->wake, &reader->mutex);
            continue;
        }
        const struct key key = reader->key;
        const bool with_rows = reader->with_rows;
        (void)pthread_mutex_unlock(&reader->mutex);
        /* The mutex is released while the batch is read, so that the caller can set `give_up`
         * without waiting. `busy` keeps the caller from touching `ahead`. */
        prepare(reader, &key, with_rows);
        (void)pthread_mutex_lock(&reader->mutex);
        reader->busy = false;
        (void)pthread_cond_signal(&reader->rest);
    }
    (void)pthread_mutex_unlock(&reader->mutex);
    return NULL;
}

enum error_code batch_reader_new(struct batch_preparer *preparer, struct batch_reader **out,
                                 struct error *err)
{
    struct batch_reader *reader = NULL;
    *out = NULL;
    const enum error_code rc = memory_new(&reader, 1, "reading ahead", err);
    if (rc != ERROR_NONE)
        return rc;
    reader->preparer = preparer;
    (void)pthread_mutex_init(&reader->mutex, NULL);
    (void)pthread_cond_init(&reader->wake, NULL);
    (void)pthread_cond_init(&reader->rest, NULL);
    if (pthread_create(&reader->thread, NULL, read_ahead, reader) != 0) {
        batch_reader_free(reader);
        return error_set(err, ERROR_NO_MEMORY, "no thread for reading ahead");
    }
    reader->started = true;
    *out = reader;
    return ERROR_NONE;
}

void batch_reader_free(struct batch_reader *reader)
{
    if (!reader)
        return;
    atomic_store(&reader->give_up, true);
    (void)pthread_mutex_lock(&reader->mutex);
    reader->stopping = true;
    (void)pthread_cond_signal(&reader->wake);
    (void)pthread_mutex_unlock(&reader->mutex);
    if (reader->started)
        (void)pthread_join(reader->thread, NULL);
    prepared_batch_release(reader->preparer, &reader->ahead);
    (void)pthread_cond_destroy(&reader->rest);
    (void)pthread_cond_destroy(&reader->wake);
    (void)pthread_mutex_destroy(&reader->mutex);
    memory_free(reader);
}

struct prepared_batch *batch_reader_settle(struct batch_reader *reader)
{
    (void)pthread_mutex_lock(&reader->mutex);
    while (reader->busy)
        (void)pthread_cond_wait(&reader->rest, &reader->mutex);
    (void)pthread_mutex_unlock(&reader->mutex);
    return &reader->ahead;
}

/* Returns whether the reader has that batch. It needs no lock, because only the caller's thread
 * changes the key. */
bool batch_reader_has(const struct batch_reader *reader, const struct key *key)
{
    return strcmp(reader->key.text, key->text) == 0;
}

void batch_reader_begin(struct batch_reader *reader, const struct key *key, bool with_rows)
{
    struct prepared_batch *ahead = batch_reader_settle(reader);
    /* `ahead` is discarded and `give_up` cleared before `busy` is set: from then on `ahead`
     * belongs to the thread, and an old `give_up` would end the new read at once. */
    prepared_batch_forget(ahead);
    atomic_store(&reader->give_up, false);
    (void)pthread_mutex_lock(&reader->mutex);
    reader->key = *key;
    reader->with_rows = with_rows;
    reader->busy = true;
    (void)pthread_cond_signal(&reader->wake);
    (void)pthread_mutex_unlock(&reader->mutex);
}

bool batch_reader_take(struct batch_reader *reader, const struct key *key,
                       struct prepared_batch *out)
{
    if (!batch_reader_has(reader, key)) {
        atomic_store(&reader->give_up, true);
        (void)batch_reader_settle(reader);
        return false;
    }
    struct prepared_batch *ahead = batch_reader_settle(reader);
    if (!ahead->has_record)
        return false;
    /* The two batches are swapped, so that the memory of the old one is reused for the next
     * read. */
    const struct prepared_batch taken = *ahead;
    prepared_batch_forget(out);
    *ahead = *out;
    *out = taken;
    if (!out->area.data)
        prepared_batch_lend(ahead, out);
    return true;
}
