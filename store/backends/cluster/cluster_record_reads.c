/*
 * Reads records of a Redis Cluster. Declared in cluster_place.h and cluster_chunks.h.
 *
 * The values of all records are requested together. For those that are heads, the chunks are
 * requested next, CLUSTER_CHUNKS_AT_ONCE at a time across all records: no round trip serves only
 * one record, and the memory in flight is bounded. If chunks of a head are lost, the record ends
 * before the first missing one; its hashes then show that it is not whole.
 */
#include "common/base/memory.h"
#include "store/backends/cluster/cluster_batch.h"
#include "store/backends/cluster/cluster_chunks.h"

#include <string.h>

/* A record whose chunks are being read into get->bytes. */
struct chunk_read {
    struct chunked c;
    struct object_get *get;
    uint64_t asked, whole; /* chunks that were requested; chunks that were received in order */
    bool is_over;          /* a chunk is missing or cannot be read; get->rc says which */
};

/* A chunk that was requested. */
struct chunk_wish {
    struct chunk_read *read;
    uint64_t number;
};

/* Allocates the bytes that the head announces. */
static void begin_read(struct chunk_read *read, const struct chunked *c, struct object_get *get)
{
    *read = (struct chunk_read){.c = *c, .get = get};
    get->rc = stored_bytes_new(&get->bytes, (size_t)c->size, &get->err);
    read->is_over = get->rc != ERROR_NONE;
}

/* Fills the batch with the next chunks of all records. Returns how many there are. */
static size_t ask(struct cluster_batch *batch, struct chunk_read *read, size_t count,
                  struct chunk_wish wish[CLUSTER_CHUNKS_AT_ONCE])
{
    size_t asked = 0;
    cluster_batch_clear(batch);
    for (struct chunk_read *r = read; r < read + count; r++)
        while (!r->is_over && r->asked < chunked_count(&r->c) && asked < CLUSTER_CHUNKS_AT_ONCE) {
            char what[CHUNK_WHAT_SIZE];
            chunked_what(&r->c, r->asked, what);
            cluster_batch_add(batch, r->c.tag, "GET", r->c.key, what);
            wish[asked++] = (struct chunk_wish){r, r->asked++};
        }
    return asked;
}

static void take(const struct chunk_wish *wish, const struct cluster_command *command)
{
    struct chunk_read *r = wish->read;
    size_t size = 0;
    const char *bytes = redis_reply_bytes(command->reply, &size);
    if (r->is_over)
        return;
    r->is_over = !bytes || size != chunked_chunk_size(&r->c, wish->number);
    if (command->rc != ERROR_NONE) {
        r->is_over = true;
        r->get->rc = command->rc;
        r->get->err = command->err;
    } else if (bytes && !r->is_over) {
        memcpy(r->get->bytes.data + wish->number * CLUSTER_CHUNK_SIZE, bytes, size);
        r->whole++;
    }
}

/* Cuts the record before the first missing chunk. */
static void end_read(struct chunk_read *read)
{
    struct object_get *get = read->get;
    if (get->rc != ERROR_NONE)
        stored_bytes_release(&get->bytes);
    else if (read->whole < chunked_count(&read->c))
        get->bytes.size = (size_t)(read->whole * CLUSTER_CHUNK_SIZE);
}

/* Reads the chunks of all records. Each record gets its own code. */
static void read_chunks(const struct cluster_place *place, struct chunk_read *read, size_t count)
{
    struct chunk_wish wish[CLUSTER_CHUNKS_AT_ONCE];
    struct cluster_batch batch;
    struct error err = {0};
    const enum error_code rc = cluster_batch_init(&batch, place, CLUSTER_CHUNKS_AT_ONCE, &err);
    for (size_t i = 0; rc != ERROR_NONE && i < count; i++)
        if (!read[i].is_over) {
            read[i].get->rc = rc;
            read[i].get->err = err;
        }
    for (size_t asked = 1; rc == ERROR_NONE && asked;) {
        asked = ask(&batch, read, count, wish);
        if (asked)
            error_ignore(cluster_batch_perform(&batch, NULL)); /* each record has its own code */
        for (size_t i = 0; i < asked; i++)
            take(&wish[i], &batch.command[i]);
    }
    cluster_batch_release(&batch);
    for (size_t i = 0; i < count; i++)
        end_read(&read[i]);
}

/* Copies a value that is no head: the bytes after its "w". */
static enum error_code copy_value(const char *value, size_t size, struct stored_bytes *out,
                                  struct error *err)
{
    const size_t skipped = size && *value == 'w';
    const enum error_code rc = stored_bytes_new(out, size - skipped, err);
    if (rc == ERROR_NONE && size > skipped)
        memcpy(out->data, value + skipped, size - skipped);
    return rc;
}

enum error_code cluster_record_bytes(const struct cluster_place *place, const char *key,
                                     const char *value, size_t size, struct stored_bytes *out,
                                     struct error *err)
{
    struct chunked c;
    struct object_get get = {.key = key};
    struct chunk_read read;
    if (!chunked_is_head(&c, place, key, value, size))
        return copy_value(value, size, out, err);
    begin_read(&read, &c, &get);
    read_chunks(place, &read, 1);
    *out = get.bytes;
    if (get.rc != ERROR_NONE && err)
        *err = get.err;
    return get.rc;
}

/* Reads a record in chunks again. If its chunks were removed meanwhile, so was its head, or another
 * head replaced it. */
static enum error_code get_again(const struct cluster_place *place, const char *key,
                                 struct stored_bytes *out, struct error *err)
{
    const int tag = cluster_tag(key);
    const struct cluster_name name = cluster_name(place, tag, key, "record");
    char *value = NULL;
    size_t size = 0;
    bool found = false;
    enum error_code rc = cluster_get_value(place, tag, &name, &value, &size, &found, err);
    if (rc == ERROR_NONE)
        rc = found ? cluster_record_bytes(place, key, value, size, out, err)
                   : error_set(err, ERROR_NOT_FOUND, "%s", key);
    memory_free(value);
    return rc;
}

/* Takes the value of a record's key. *begun: it is a head, and its chunks must be read. */
static void take_value(const struct cluster_place *place, struct object_get *get,
                       const struct cluster_command *command, struct chunk_read *read, bool *begun)
{
    struct chunked c;
    size_t size = 0;
    const char *value = redis_reply_bytes(command->reply, &size);
    get->rc = command->rc;
    get->err = command->err;
    if (get->rc == ERROR_NONE && !value)
        get->rc = error_set(&get->err, ERROR_NOT_FOUND, "%s", get->key);
    if (get->rc != ERROR_NONE || !value)
        return;
    *begun = chunked_is_head(&c, place, get->key, value, size);
    if (*begun)
        begin_read(read, &c, get);
    else
        get->rc = copy_value(value, size, &get->bytes, &get->err);
}

/* Reads at most STORE_TOGETHER_MAX records together. */
static enum error_code get_together(const struct cluster_place *place, struct object_get *get,
                                    size_t count, struct error *err)
{
    struct chunk_read read[STORE_TOGETHER_MAX];
    size_t large = 0;
    struct cluster_batch batch;
    const enum error_code rc = cluster_batch_init(&batch, place, count, err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t i = 0; i < count; i++)
        cluster_batch_add(&batch, cluster_tag(get[i].key), "GET", get[i].key, "record");
    error_ignore(cluster_batch_perform(&batch, NULL)); /* each record has its own code */
    for (size_t i = 0; i < count; i++) {
        bool begun = false;
        take_value(place, &get[i], &batch.command[i], &read[large], &begun);
        large += begun;
    }
    cluster_batch_release(&batch);
    if (large)
        read_chunks(place, read, large);
    for (struct chunk_read *r = read; r < read + large; r++)
        if (r->get->rc == ERROR_NONE && r->whole < chunked_count(&r->c)) {
            stored_bytes_release(&r->get->bytes);
            r->get->rc = get_again(place, r->get->key, &r->get->bytes, &r->get->err);
        }
    return ERROR_NONE;
}

void cluster_record_get_many(void *state, struct object_get *get, size_t count)
{
    struct error err = {0};
    for (size_t first = 0; first < count; first += STORE_TOGETHER_MAX) {
        const size_t left = count - first;
        const size_t together = left < STORE_TOGETHER_MAX ? left : (size_t)STORE_TOGETHER_MAX;
        const enum error_code rc = get_together(state, get + first, together, &err);
        for (size_t i = 0; rc != ERROR_NONE && i < together; i++) {
            get[first + i].rc = rc;
            get[first + i].err = err;
        }
    }
}
