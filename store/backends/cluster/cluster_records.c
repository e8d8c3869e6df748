/*
 * Puts and removes records in a Redis Cluster. Declared in cluster_place.h. cluster_record_reads.c
 * reads them.
 *
 * A small record is one value. One script puts it, with its line in the index, unless there is one.
 * A large record is put in chunks named by the hash of its content; its head is put last, by a
 * script that first checks that all chunks are there. Until then no reader sees the record. A
 * process that is killed before leaves chunks, which the next process that puts the same record
 * overwrites.
 */
#include "common/base/memory.h"
#include "common/files/checksum.h"
#include "store/backends/body_reader.h"
#include "store/backends/cluster/cluster_batch.h"
#include "store/backends/cluster/cluster_chunks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PUT_ATTEMPTS = 10 };

/* --- put --- */

static enum error_code hash_body(const struct object_body *body, char text[CHECKSUM_TEXT_SIZE],
                                 struct error *err)
{
    struct object_piece piece[OBJECT_PIECE_COUNT_MAX];
    struct checksum_stream *stream = NULL;
    uint64_t offset = 0;
    enum error_code rc = checksum_stream_new(&stream, err);
    for (size_t count = 1; rc == ERROR_NONE && count;) {
        rc = body->next(body->context, offset, piece, &count, err);
        for (size_t i = 0; rc == ERROR_NONE && i < count; offset += piece[i++].size)
            checksum_stream_add(stream, piece[i].data, piece[i].size);
    }
    if (rc == ERROR_NONE) {
        const struct checksum sum = checksum_stream_sum(stream);
        checksum_text(&sum, text);
    }
    checksum_stream_free(stream);
    return rc;
}

/* Adds the chunks from `first` on to a batch, as many as fit into `buffer`. */
static enum error_code add_chunks(const struct chunked *c, struct cluster_batch *batch,
                                  struct body_reader *reader, char *buffer, uint64_t first,
                                  struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint64_t i = 0; rc == ERROR_NONE && i < chunked_at_once(c, first); i++) {
        char *at = buffer + i * CLUSTER_CHUNK_SIZE, what[CHUNK_WHAT_SIZE];
        const size_t size = chunked_chunk_size(c, first + i);
        chunked_what(c, first + i, what);
        cluster_batch_add(batch, c->tag, "SET", c->key, what);
        cluster_words_add_bytes(cluster_batch_last(batch), at, size);
        rc = body_reader_read(reader, at, size, err);
    }
    return rc;
}

/* The keys and arguments of the script that puts the head. */
struct head_words {
    struct cluster_name head, index, drafts, *chunk; /* chunk: [chunked_count()] */
    char member[CLUSTER_NAME_SIZE], draft[CLUSTER_NAME_SIZE], whole[16], last[16];
};

static enum error_code head_words_init(struct head_words *w, const struct chunked *c,
                                       struct error *err)
{
    w->head = cluster_name(c->place, c->tag, c->key, "record");
    w->index = cluster_name(c->place, c->tag, "", "index");
    w->drafts = cluster_name(c->place, c->tag, "", "drafts");
    (void)snprintf(w->member, sizeof w->member, "%s!record", c->key);
    (void)snprintf(w->draft, sizeof w->draft, "%s!record %s", c->key, c->head);
    (void)snprintf(w->whole, sizeof w->whole, "%d", CLUSTER_CHUNK_SIZE);
    (void)snprintf(w->last, sizeof w->last, "%zu", chunked_chunk_size(c, chunked_count(c) - 1));
    return chunked_names(c, &w->chunk, err);
}

static void add_draft(const struct chunked *c, const struct head_words *w,
                      struct cluster_batch *batch)
{
    cluster_batch_add_script(batch, c->tag, CLUSTER_SCRIPT_NOTE_DRAFT, 1);
    cluster_words_add(cluster_batch_last(batch), w->drafts.text);
    cluster_words_add(cluster_batch_last(batch), w->draft);
}

static void add_head(const struct chunked *c, const struct head_words *w, bool waits,
                     struct cluster_batch *batch)
{
    const uint64_t count = chunked_count(c);
    cluster_batch_add_script(batch, c->tag, CLUSTER_SCRIPT_PUT_IN_CHUNKS, (size_t)count + 3);
    struct cluster_words *words = cluster_batch_last(batch);
    cluster_words_add(words, w->head.text);
    cluster_words_add(words, w->index.text);
    cluster_words_add(words, w->drafts.text);
    for (uint64_t i = 0; i < count; i++)
        cluster_words_add(words, w->chunk[i].text);
    cluster_words_add(words, c->head);
    cluster_words_add(words, w->member);
    cluster_words_add(words, w->draft);
    for (uint64_t i = 0; i < count; i++)
        cluster_words_add(words, i + 1 < count ? w->whole : w->last);
    if (waits)
        cluster_batch_wait_for_replica(batch);
}

/* Sends everything once. Draft, chunks and head are in one slot, so they may be sent together and
 * are done in order. If one had to be sent again, the order is lost and the script answers -1.
 * *result is its answer. */
static enum error_code put_pieces(const struct chunked *c, const struct object_body *body,
                                  const struct head_words *w, bool waits, char *buffer,
                                  int64_t *result, struct error *err)
{
    struct body_reader reader = {.body = body};
    struct cluster_batch batch;
    const uint64_t count = chunked_count(c);
    enum error_code rc = cluster_batch_init(&batch, c->place, CLUSTER_CHUNKS_AT_ONCE + 2, err);
    for (uint64_t first = 0; rc == ERROR_NONE && first < count; first += CLUSTER_CHUNKS_AT_ONCE) {
        cluster_batch_clear(&batch);
        if (first == 0)
            add_draft(c, w, &batch);
        rc = add_chunks(c, &batch, &reader, buffer, first, err);
        if (first + CLUSTER_CHUNKS_AT_ONCE >= count)
            add_head(c, w, waits, &batch);
        if (rc == ERROR_NONE)
            rc = cluster_batch_perform(&batch, err);
    }
    if (rc == ERROR_NONE &&
        !redis_reply_is_integer(cluster_batch_reply(&batch, batch.count - 1), result))
        rc = error_set(err, ERROR_IO, "record %s: the cluster sent an unexpected answer", c->key);
    cluster_batch_release(&batch);
    return rc;
}

static enum error_code record_is_there(const struct cluster_place *place, const char *key,
                                       bool *found, struct error *err)
{
    const int tag = cluster_tag(key);
    const struct cluster_name name = cluster_name(place, tag, key, "record");
    int64_t there = 0;
    struct cluster_words words = {0};
    cluster_words_add(&words, "EXISTS");
    cluster_words_add(&words, name.text);
    const enum error_code rc = cluster_ask_number(place, tag, &words, false, &there, err);
    *found = there != 0;
    cluster_words_release(&words);
    return rc;
}

static enum error_code put_chunked(const struct chunked *c, const struct object_body *body,
                                   bool waits, bool *existed, struct error *err)
{
    struct head_words w = {.chunk = NULL};
    char *buffer = NULL;
    int64_t result = -1;
    enum error_code rc = head_words_init(&w, c, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&buffer, (size_t)chunked_at_once(c, 0) * CLUSTER_CHUNK_SIZE,
                        "chunks of a record", err);
    for (int i = 0; rc == ERROR_NONE && result == -1 && i < PUT_ATTEMPTS; i++)
        rc = put_pieces(c, body, &w, waits, buffer, &result, err);
    memory_free(buffer);
    memory_free(w.chunk);
    if (rc == ERROR_NONE && result == -1)
        return error_set(err, ERROR_UNAVAILABLE,
                         "record %s: its chunks are lost as soon as they are put", c->key);
    *existed = result == 0;
    return rc;
}

/* Puts a large record. If it takes several batches, first looks whether it is there, so that they
 * are not sent in vain. */
static enum error_code put_large(const struct cluster_place *place, const char *key,
                                 const struct object_body *body, bool waits, bool *existed,
                                 struct error *err)
{
    struct chunked c;
    char hash[CHECKSUM_TEXT_SIZE] = "";
    enum error_code rc = ERROR_NONE;
    *existed = false;
    if (body->size > (uint64_t)CLUSTER_CHUNKS_AT_ONCE * CLUSTER_CHUNK_SIZE)
        rc = record_is_there(place, key, existed, err);
    if (rc != ERROR_NONE || *existed)
        return rc;
    rc = hash_body(body, hash, err);
    chunked_init(&c, place, key, body->size, hash);
    return rc == ERROR_NONE ? put_chunked(&c, body, waits, existed, err) : rc;
}

enum error_code cluster_record_put(void *state, const char *key, const struct object_body *body,
                                   enum store_durability durability, bool *existed,
                                   struct error *err)
{
    const struct cluster_place *place = state;
    const bool waits = durability == STORE_DURABLE;
    char *value = NULL;
    if (body->size >= CLUSTER_INLINE_MAX)
        return put_large(place, key, body, waits, existed, err);
    struct body_reader reader = {.body = body};
    enum error_code rc = memory_new(&value, (size_t)body->size + 1, "a record", err);
    if (rc == ERROR_NONE) {
        *value = 'w';
        rc = body_reader_read(&reader, value + 1, (size_t)body->size, err);
    }
    if (rc == ERROR_NONE)
        rc = cluster_put_value(place, key, "record", value, (size_t)body->size + 1, waits, existed,
                               err);
    memory_free(value);
    return rc;
}

/* --- remove --- */

/* Removes the record, with its chunks, if its value is still `value`; *removed says whether it
 * did. */
static enum error_code remove_value(const struct cluster_place *place, const char *key,
                                    const char *value, size_t size, bool *removed,
                                    struct error *err)
{
    const int tag = cluster_tag(key);
    const struct cluster_name name = cluster_name(place, tag, key, "record"),
                              index = cluster_name(place, tag, "", "index");
    struct chunked c;
    struct cluster_name *chunk = NULL;
    struct cluster_words words = {0};
    char member[CLUSTER_NAME_SIZE];
    int64_t number = 0;
    const bool has_chunks = chunked_is_head(&c, place, key, value, size);
    const size_t count = has_chunks ? (size_t)chunked_count(&c) : 0;
    enum error_code rc = has_chunks ? chunked_names(&c, &chunk, err) : ERROR_NONE;
    if (rc != ERROR_NONE)
        return rc;
    (void)snprintf(member, sizeof member, "%s!record", key);
    cluster_words_script(&words, CLUSTER_SCRIPT_REMOVE_IF, count + 2);
    cluster_words_add(&words, name.text);
    cluster_words_add(&words, index.text);
    for (size_t i = 0; i < count; i++)
        cluster_words_add(&words, chunk[i].text);
    cluster_words_add_bytes(&words, value, size);
    cluster_words_add(&words, member);
    rc = cluster_ask_number(place, tag, &words, false, &number, err);
    *removed = number == 1;
    cluster_words_release(&words);
    memory_free(chunk);
    return rc;
}

enum error_code cluster_record_discard(void *state, const char *key,
                                       const struct stored_bytes *seen, struct error *err)
{
    const struct cluster_place *place = state;
    const int tag = cluster_tag(key);
    const struct cluster_name name = cluster_name(place, tag, key, "record");
    struct stored_bytes now = {0};
    char *value = NULL;
    size_t size = 0;
    bool found = false, removed = false;
    enum error_code rc = cluster_get_value(place, tag, &name, &value, &size, &found, err);
    if (rc == ERROR_NONE && found)
        rc = cluster_record_bytes(place, key, value, size, &now, err);
    const bool is_same = rc == ERROR_NONE && found && now.size == seen->size &&
                         (!seen->size || memcmp(now.data, seen->data, seen->size) == 0);
    if (is_same)
        rc = remove_value(place, key, value, size, &removed, err);
    stored_bytes_release(&now);
    memory_free(value);
    return rc;
}

enum error_code cluster_record_remove(struct cluster_place *place, const char *key,
                                      struct error *err)
{
    const int tag = cluster_tag(key);
    const struct cluster_name name = cluster_name(place, tag, key, "record"),
                              index = cluster_name(place, tag, "", "index");
    char member[CLUSTER_NAME_SIZE];
    enum error_code rc = ERROR_NONE;
    (void)snprintf(member, sizeof member, "%s!record", key);
    for (bool again = true; again && rc == ERROR_NONE;) {
        struct cluster_words words = {0};
        cluster_words_script(&words, CLUSTER_SCRIPT_REMOVE, 2);
        cluster_words_add(&words, name.text);
        cluster_words_add(&words, index.text);
        cluster_words_add(&words, member);
        struct cluster_command command = cluster_command(place, tag, &words);
        rc = cluster_perform_one(place, &command, &words, err);
        size_t size = 0;
        bool removed = true;
        const char *head = rc == ERROR_NONE ? redis_reply_bytes(command.reply, &size) : NULL;
        if (head)
            rc = remove_value(place, key, head, size, &removed, err);
        again = !removed; /* another record was put meanwhile */
        cluster_command_release(&command);
        cluster_words_release(&words);
    }
    return rc;
}

enum error_code cluster_record_drop(const struct cluster_place *place, const char *key,
                                    const char *head_text, const char *draft, struct error *err)
{
    const int tag = cluster_tag(key);
    const struct cluster_name head = cluster_name(place, tag, key, "record"),
                              drafts = cluster_name(place, tag, "", "drafts");
    struct chunked c;
    struct cluster_name *chunk = NULL;
    struct cluster_words words = {0};
    int64_t number = 0;
    if (!chunked_parse(&c, place, key, head_text))
        return ERROR_NONE;
    enum error_code rc = chunked_names(&c, &chunk, err);
    if (rc != ERROR_NONE)
        return rc;
    cluster_words_script(&words, CLUSTER_SCRIPT_DROP_DRAFT, (size_t)chunked_count(&c) + 2);
    cluster_words_add(&words, head.text);
    cluster_words_add(&words, drafts.text);
    for (uint64_t i = 0; i < chunked_count(&c); i++)
        cluster_words_add(&words, chunk[i].text);
    cluster_words_add(&words, c.head);
    cluster_words_add(&words, draft);
    rc = cluster_ask_number(place, tag, &words, false, &number, err);
    cluster_words_release(&words);
    memory_free(chunk);
    return rc;
}
