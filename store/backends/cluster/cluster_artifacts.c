/*
 * Artifacts in a Redis Cluster. Declared in cluster_place.h.
 *
 * Files are put first, in pieces of 1 MiB spread over all nodes, under names that only this attempt
 * uses. The manifest that lists them is put last, unless there is one: with it the artifact
 * appears, whole. Artifacts use the cluster's memory, so large ones belong in another store
 * (tiered:).
 */
#include "common/base/memory.h"
#include "store/backends/cluster/cluster_batch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum error_code no_artifact(const char *key, struct error *err)
{
    return error_set(err, ERROR_NOT_FOUND, "artifact %s is not in the store", key);
}

/* Writes the name of a piece, "file/ATTEMPT/F/N", and returns its tag. */
enum { PIECE_WHAT_SIZE = ARTIFACT_ATTEMPT_SIZE + 64 };
static int name_piece(const char *key, const char *attempt, size_t file, uint64_t number,
                      char what[PIECE_WHAT_SIZE])
{
    char whole[CLUSTER_NAME_SIZE];
    (void)snprintf(what, PIECE_WHAT_SIZE, "file/%s/%zu/%" PRIu64, attempt, file, number);
    (void)snprintf(whole, sizeof whole, "%s!%s", key, what);
    return cluster_tag(whole);
}

static uint64_t piece_count(uint64_t size)
{
    return (size + CLUSTER_CHUNK_SIZE - 1) / CLUSTER_CHUNK_SIZE;
}

static size_t piece_size(uint64_t size, uint64_t number)
{
    const uint64_t left = size - number * CLUSTER_CHUNK_SIZE;
    return left < CLUSTER_CHUNK_SIZE ? (size_t)left : CLUSTER_CHUNK_SIZE;
}

/* --- manifests --- */

/* Makes the value of a manifest: "w" and the text, without a NUL. The caller frees *value with
 * memory_free(). */
static enum error_code value_of(const char *text, size_t size, char **value, struct error *err)
{
    const enum error_code rc = memory_new(value, size + 1, "a manifest", err);
    if (rc != ERROR_NONE)
        return rc;
    **value = 'w';
    for (size_t i = 0; i < size; i++)
        (*value)[i + 1] = text[i];
    return ERROR_NONE;
}

/* Reads the manifest and checks it. The caller frees *text with memory_free(). */
static enum error_code read_manifest(void *state, const char *key, char **text,
                                     char attempt[ARTIFACT_ATTEMPT_SIZE], struct error *err)
{
    struct cluster_place *place = state;
    const int tag = cluster_tag(key);
    const struct cluster_name name = cluster_name(place, tag, key, "artifact");
    bool found = false;
    size_t size = 0;
    enum error_code rc = cluster_get_value(place, tag, &name, text, &size, &found, err);
    if (rc == ERROR_NONE && !found)
        return no_artifact(key, err);
    if (rc != ERROR_NONE)
        return rc;
    memmove(*text, *text + (size > 0), size); /* drop the 'w' and move the NUL too */
    rc = artifact_manifest_check(key, *text, attempt, err);
    if (rc == ERROR_NONE) {
        kept_manifests_put(&place->manifests, key, *text);
    } else {
        memory_free(*text);
        *text = NULL;
    }
    return rc;
}

static enum error_code is_there(const struct cluster_place *place, const char *key, bool *found,
                                struct error *err)
{
    struct cluster_batch batch;
    int64_t number = 0;
    enum error_code rc = cluster_batch_init(&batch, place, 1, err);
    if (rc != ERROR_NONE)
        return rc;
    cluster_batch_add(&batch, cluster_tag(key), "EXISTS", key, "artifact");
    rc = cluster_batch_perform(&batch, err);
    *found = rc == ERROR_NONE && redis_reply_is_integer(cluster_batch_reply(&batch, 0), &number) &&
             number != 0;
    cluster_batch_release(&batch);
    return rc;
}

/* --- pieces of files --- */

/* Removes the pieces of one attempt. */
enum error_code cluster_artifact_drop(const struct cluster_place *place, const char *key,
                                      const char *manifest, const char *attempt, struct error *err)
{
    struct cluster_batch batch;
    struct artifact_file entry;
    enum error_code rc = cluster_batch_init(&batch, place, CLUSTER_COMMANDS_AT_ONCE, err);
    for (size_t file = 0; rc == ERROR_NONE && artifact_manifest_entry(manifest, file, &entry);
         file++)
        for (uint64_t i = 0; rc == ERROR_NONE && i < piece_count(entry.size); i++) {
            char what[PIECE_WHAT_SIZE];
            const int tag = name_piece(key, attempt, file, i, what);
            cluster_batch_add(&batch, tag, "UNLINK", key, what);
            if (batch.count < batch.most)
                continue;
            rc = cluster_batch_perform(&batch, err);
            cluster_batch_clear(&batch);
        }
    if (rc == ERROR_NONE && batch.count)
        rc = cluster_batch_perform(&batch, err);
    cluster_batch_release(&batch);
    return rc;
}

/* --- publish --- */

struct arrival {
    struct cluster_place *place;
    const char *path, *key;
    char attempt[ARTIFACT_ATTEMPT_SIZE];
    char *text;   /* the manifest */
    char *buffer; /* [CLUSTER_CHUNKS_AT_ONCE * CLUSTER_CHUNK_SIZE] */
};

/* Puts pieces of file number `file`, from `first` on. */
static enum error_code put_some(const struct arrival *a, struct cluster_batch *batch, int fd,
                                size_t file, uint64_t size, uint64_t first, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    cluster_batch_clear(batch);
    for (uint64_t i = first;
         rc == ERROR_NONE && i < piece_count(size) && batch->count < batch->most; i++) {
        char what[PIECE_WHAT_SIZE], *at = a->buffer + (i - first) * CLUSTER_CHUNK_SIZE;
        const int tag = name_piece(a->key, a->attempt, file, i, what);
        cluster_batch_add(batch, tag, "SET", a->key, what);
        cluster_words_add_bytes(cluster_batch_last(batch), at, piece_size(size, i));
        rc = file_read_at(fd, at, piece_size(size, i), i * CLUSTER_CHUNK_SIZE, a->path, err);
    }
    return rc == ERROR_NONE ? cluster_batch_perform(batch, err) : rc;
}

static enum error_code put_file(const struct arrival *a, struct cluster_batch *batch, size_t file,
                                const struct artifact_file *entry, struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum error_code rc =
        file_path(path, err, "%s%s%s", a->path, *entry->name ? "/" : "", entry->name);
    if (rc != ERROR_NONE)
        return rc;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set_errno(err, ERROR_IO, "%s", path);
    for (uint64_t first = 0; rc == ERROR_NONE && first < piece_count(entry->size);
         first += CLUSTER_CHUNKS_AT_ONCE)
        rc = put_some(a, batch, fd, file, entry->size, first, err);
    (void)close(fd);
    return rc;
}

static enum error_code put_files(struct arrival *a, struct error *err)
{
    struct cluster_batch batch;
    struct artifact_file entry;
    enum error_code rc = cluster_batch_init(&batch, a->place, CLUSTER_CHUNKS_AT_ONCE, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&a->buffer, (size_t)CLUSTER_CHUNKS_AT_ONCE * CLUSTER_CHUNK_SIZE,
                        "pieces of a file", err);
    for (size_t i = 0; rc == ERROR_NONE && artifact_manifest_entry(a->text, i, &entry); i++)
        rc = put_file(a, &batch, i, &entry, err);
    cluster_batch_release(&batch);
    memory_free(a->buffer);
    return rc;
}

/* Puts the manifest. *existed: the manifest of another attempt is there. If the command found a
 * manifest, it may be ours, from a first try whose answer was lost; the attempt tells. */
static enum error_code put_manifest(const struct arrival *a, bool *existed, struct error *err)
{
    char attempt[ARTIFACT_ATTEMPT_SIZE] = "", *text = NULL, *value = NULL;
    const size_t size = strlen(a->text);
    enum error_code rc = value_of(a->text, size, &value, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = cluster_put_value(a->place, a->key, "artifact", value, size + 1, true, existed, err);
    memory_free(value);
    if (rc != ERROR_NONE || !*existed)
        return rc;
    rc = read_manifest(a->place, a->key, &text, attempt, err);
    memory_free(text);
    *existed = rc == ERROR_NONE && strcmp(attempt, a->attempt) != 0;
    return rc;
}

enum error_code cluster_artifact_publish(void *state, const char *path, const char *key,
                                         bool *existed, struct error *err)
{
    struct arrival a = {.place = state, .path = path, .key = key};
    enum error_code rc = is_there(a.place, key, existed, err);
    if (rc != ERROR_NONE || *existed)
        return rc == ERROR_NONE ? scratch_space_remove(&a.place->scratch, path, err) : rc;
    rc = artifact_manifest_make(key, path, a.attempt, &a.text, err);
    if (rc == ERROR_NONE)
        rc = cluster_draft_put(a.place, key, a.attempt, a.text, err);
    if (rc == ERROR_NONE)
        rc = put_files(&a, err);
    if (rc == ERROR_NONE)
        rc = put_manifest(&a, existed, err);
    /* If the answer was lost, the manifest may have been put, so its files must stay until a sweep
     * decides. */
    const bool is_lost = rc == ERROR_NONE ? *existed : rc != ERROR_UNAVAILABLE && a.text;
    if (is_lost) {
        const enum error_code removed =
            cluster_artifact_drop(a.place, key, a.text, a.attempt, rc == ERROR_NONE ? err : NULL);
        rc = rc == ERROR_NONE ? removed : rc;
    }
    if (a.text && rc != ERROR_UNAVAILABLE)
        error_ignore(cluster_draft_end(a.place, key, a.attempt, NULL)); /* else a sweep ends it */
    memory_free(a.text);
    return rc == ERROR_NONE ? scratch_space_remove(&a.place->scratch, path, err) : rc;
}

/* --- read --- */

enum error_code cluster_artifact_files(void *state, const char *key, object_file_visitor visit,
                                       void *context, struct error *err)
{
    char *text = NULL, attempt[ARTIFACT_ATTEMPT_SIZE];
    struct artifact_file entry;
    enum error_code rc = read_manifest(state, key, &text, attempt, err);
    for (size_t i = 0; rc == ERROR_NONE && artifact_manifest_entry(text, i, &entry); i++)
        rc = visit(context, entry.name, entry.size, err);
    memory_free(text);
    return rc;
}

/* A range of a file that is to be read. */
struct piece_wish {
    const char *key, *attempt;
    size_t file;   /* its number */
    uint64_t size; /* of the file */
    uint64_t from, to;
    uint8_t *buffer; /* [to - from] */
};

/* Copies the wanted part of piece number `i` to its place in the buffer. */
static bool take_piece(const struct piece_wish *w, uint64_t i, const struct redisReply *reply)
{
    size_t size = 0;
    const char *bytes = redis_reply_bytes(reply, &size);
    const uint64_t begin = i * CLUSTER_CHUNK_SIZE, end = begin + piece_size(w->size, i);
    const uint64_t from = w->from > begin ? w->from : begin, to = w->to < end ? w->to : end;
    if (!bytes || size != piece_size(w->size, i))
        return false;
    memcpy(w->buffer + (from - w->from), bytes + (from - begin), (size_t)(to - from));
    return true;
}

static enum error_code read_pieces(const struct cluster_place *place, const struct piece_wish *w,
                                   struct error *err)
{
    struct cluster_batch batch;
    const uint64_t end = piece_count(w->to);
    enum error_code rc = cluster_batch_init(&batch, place, CLUSTER_CHUNKS_AT_ONCE, err);
    for (uint64_t first = w->from / CLUSTER_CHUNK_SIZE; rc == ERROR_NONE && first < end;
         first += CLUSTER_CHUNKS_AT_ONCE) {
        cluster_batch_clear(&batch);
        for (uint64_t i = first; i < end && batch.count < batch.most; i++) {
            char what[PIECE_WHAT_SIZE];
            const int tag = name_piece(w->key, w->attempt, w->file, i, what);
            cluster_batch_add(&batch, tag, "GET", w->key, what);
        }
        rc = cluster_batch_perform(&batch, err);
        for (size_t i = 0; rc == ERROR_NONE && i < batch.count; i++)
            if (!take_piece(w, first + i, cluster_batch_reply(&batch, i)))
                rc = no_artifact(w->key, err);
    }
    cluster_batch_release(&batch);
    return rc;
}

static enum error_code read_of_manifest(struct cluster_place *place, const char *file,
                                        struct piece_wish *w, size_t *got, bool *was_kept,
                                        struct error *err)
{
    char *text = NULL, attempt[ARTIFACT_ATTEMPT_SIZE];
    struct artifact_file entry = {.name = ""};
    enum error_code rc = kept_manifests_recall(&place->manifests, w->key, read_manifest, place,
                                               &text, attempt, was_kept, err);
    if (rc == ERROR_NONE && !artifact_manifest_find(text, file, &entry, &w->file))
        rc = no_artifact(w->key, err);
    memory_free(text);
    *got = 0;
    if (rc != ERROR_NONE || w->from >= entry.size)
        return rc;
    struct piece_wish cut = *w;
    cut.attempt = attempt;
    cut.size = entry.size;
    cut.to = cut.to < entry.size ? cut.to : entry.size;
    *got = (size_t)(cut.to - cut.from);
    return read_pieces(place, &cut, err);
}

enum error_code cluster_artifact_read(void *state, const char *key, const char *file,
                                      uint64_t offset, void *buffer, size_t size, size_t *got,
                                      struct error *err)
{
    struct cluster_place *place = state;
    struct piece_wish wish = {.key = key, .from = offset, .to = offset + size, .buffer = buffer};
    bool was_kept = false;
    const enum error_code rc = read_of_manifest(place, file, &wish, got, &was_kept, err);
    if (rc != ERROR_NOT_FOUND || !was_kept)
        return rc;
    kept_manifests_forget(&place->manifests,
                          key); /* the artifact was removed, and may have been made again */
    return read_of_manifest(place, file, &wish, got, &was_kept, err);
}

/* --- remove --- */

static enum error_code remove_manifest(const struct cluster_place *place, const char *key,
                                       const char *text, struct error *err)
{
    const int tag = cluster_tag(key);
    const struct cluster_name name = cluster_name(place, tag, key, "artifact"),
                              index = cluster_name(place, tag, "", "index");
    char member[CLUSTER_NAME_SIZE], *value = NULL;
    int64_t number = 0;
    struct cluster_words words = {0};
    const size_t size = strlen(text);
    enum error_code rc = value_of(text, size, &value, err);
    if (rc != ERROR_NONE)
        return rc;
    (void)snprintf(member, sizeof member, "%s!artifact", key);
    cluster_words_script(&words, CLUSTER_SCRIPT_REMOVE_IF, 2);
    cluster_words_add(&words, name.text);
    cluster_words_add(&words, index.text);
    cluster_words_add_bytes(&words, value, size + 1);
    cluster_words_add(&words, member);
    rc = cluster_ask_number(place, tag, &words, false, &number, err);
    cluster_words_release(&words);
    memory_free(value);
    return rc;
}

/* Removes a manifest that cannot be read. Its files are unknown and stay. */
static enum error_code remove_damaged(const struct cluster_place *place, const char *key,
                                      struct error *err)
{
    struct cluster_batch batch;
    char member[CLUSTER_NAME_SIZE];
    enum error_code rc = cluster_batch_init(&batch, place, 2, err);
    if (rc != ERROR_NONE)
        return rc;
    (void)snprintf(member, sizeof member, "%s!artifact", key);
    cluster_batch_add(&batch, cluster_tag(key), "UNLINK", key, "artifact");
    cluster_batch_add(&batch, cluster_tag(key), "ZREM", "", "index");
    cluster_words_add(cluster_batch_last(&batch), member);
    rc = cluster_batch_perform(&batch, err);
    cluster_batch_release(&batch);
    return rc;
}

enum error_code cluster_artifact_remove(struct cluster_place *place, const char *key,
                                        struct error *err)
{
    char *text = NULL, attempt[ARTIFACT_ATTEMPT_SIZE];
    enum error_code rc = read_manifest(place, key, &text, attempt, err);
    kept_manifests_forget(&place->manifests, key);
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc == ERROR_CORRUPT)
        return remove_damaged(place, key, err);
    if (rc == ERROR_NONE)
        rc = remove_manifest(place, key, text, err);
    if (rc == ERROR_NONE)
        rc = cluster_artifact_drop(place, key, text, attempt, err);
    memory_free(text);
    return rc;
}
