/*
 * Artifacts in a bucket. Declared in s3_place.h.
 *
 * Files are put first, under names that only this attempt uses. The manifest that lists them is put
 * last, unless there is one: with it the artifact appears, whole. The winner removes the files that
 * unfinished attempts left under the same key.
 */
#include "common/base/host.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/backends/artifact_manifest.h"
#include "store/backends/s3/s3_place.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum error_code no_artifact(const char *key, struct error *err)
{
    return error_set(err, ERROR_NOT_FOUND, "artifact %s is not in the store", key);
}

static void name_manifest(const char *key, char object[S3_OBJECT_SIZE])
{
    (void)snprintf(object, S3_OBJECT_SIZE, "%s!artifact", key);
}

static void name_file(const char *key, const char *attempt, size_t number,
                      char object[S3_OBJECT_SIZE])
{
    (void)snprintf(object, S3_OBJECT_SIZE, "%s!files/%s/%zu", key, attempt, number);
}

static enum error_code read_manifest_once(void *state, const char *key, char **text,
                                          char attempt[ARTIFACT_ATTEMPT_SIZE], struct error *err)
{
    struct s3_place *place = state;
    char object[1][S3_OBJECT_SIZE];
    struct object_get get = {.key = key};
    name_manifest(key, object[0]);
    s3_get_objects(place, (const char(*)[S3_OBJECT_SIZE])object, &get, 1);
    if (get.rc == ERROR_NOT_FOUND)
        return no_artifact(key, err);
    if (get.rc != ERROR_NONE && err)
        *err = get.err;
    if (get.rc != ERROR_NONE)
        return get.rc;
    enum error_code rc = memory_new(text, get.bytes.size + 1, "a manifest", err);
    if (rc == ERROR_NONE) {
        memcpy(*text, get.bytes.data, get.bytes.size);
        rc = artifact_manifest_check(key, *text, attempt, err);
    }
    if (rc == ERROR_NONE) {
        kept_manifests_put(&place->manifests, key, *text);
    } else {
        memory_free(*text);
        *text = NULL;
    }
    stored_bytes_release(&get.bytes);
    return rc;
}

/* Reads the manifest and checks it. Reads a damaged one a second time, because the damage may have
 * happened on the way. The caller frees *text with memory_free(). */
static enum error_code read_manifest(void *state, const char *key, char **text,
                                     char attempt[ARTIFACT_ATTEMPT_SIZE], struct error *err)
{
    const enum error_code rc = read_manifest_once(state, key, text, attempt, err);
    return rc == ERROR_CORRUPT ? read_manifest_once(state, key, text, attempt, err) : rc;
}

/* --- publish --- */

struct arrival {
    struct s3_place *place;
    const char *path, *key;
    char attempt[ARTIFACT_ATTEMPT_SIZE];
    char *text; /* the manifest */
};

struct open_file {
    int fd;
    uint64_t offset;
    const char *path;
};

static enum error_code read_file(void *context, void *to, size_t size, struct error *err)
{
    struct open_file *file = context;
    const enum error_code rc = file_read_at(file->fd, to, size, file->offset, file->path, err);
    file->offset += size;
    return rc;
}

static enum error_code put_file(const struct arrival *a, size_t number,
                                const struct artifact_file *entry, struct error *err)
{
    char object[S3_OBJECT_SIZE], path[FILE_PATH_SIZE];
    bool existed = false;
    struct open_file file = {.path = path};
    const struct s3_source source = {.read = read_file, .context = &file, .size = entry->size};
    enum error_code rc =
        file_path(path, err, "%s%s%s", a->path, *entry->name ? "/" : "", entry->name);
    if (rc != ERROR_NONE)
        return rc;
    file.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (file.fd < 0)
        return error_set_errno(err, ERROR_IO, "%s", path);
    name_file(a->key, a->attempt, number, object);
    rc = s3_put(a->place, object, &source, false, &existed, err);
    (void)close(file.fd);
    return rc;
}

static enum error_code put_files(const struct arrival *a, struct error *err)
{
    struct artifact_file entry;
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && artifact_manifest_entry(a->text, i, &entry); i++)
        rc = put_file(a, i, &entry, err);
    return rc;
}

static enum error_code read_text(void *context, void *to, size_t size, struct error *err)
{
    (void)err;
    memcpy(to, context, size);
    return ERROR_NONE;
}

/* Puts the manifest. *existed: the manifest of another attempt is there. If the request found a
 * manifest, it may be ours, from a first try whose answer was lost; the attempt tells. */
static enum error_code put_manifest(struct arrival *a, bool *existed, struct error *err)
{
    char object[S3_OBJECT_SIZE], attempt[ARTIFACT_ATTEMPT_SIZE] = "", *text = NULL;
    const struct s3_source source = {
        .read = read_text, .context = a->text, .size = strlen(a->text)};
    name_manifest(a->key, object);
    enum error_code rc = s3_put(a->place, object, &source, true, existed, err);
    if (rc != ERROR_NONE || !*existed)
        return rc;
    rc = read_manifest(a->place, a->key, &text, attempt, err);
    memory_free(text);
    *existed = rc == ERROR_NONE && strcmp(attempt, a->attempt) != 0;
    return rc;
}

/* A removal of files of attempts under a key. */
struct removal {
    struct s3_place *place;
    const char *key;
    const char *attempt; /* remove only this attempt or, with `others`, all but this one */
    bool others;
};

static enum error_code remove_file(void *context, const char *name, struct error *err)
{
    const struct removal *r = context;
    char object[S3_OBJECT_SIZE];
    const size_t size = strlen(r->attempt);
    const bool is_named = size && strncmp(name, r->attempt, size) == 0 && name[size] == '/';
    if (is_named == r->others)
        return ERROR_NONE;
    const int length = snprintf(object, sizeof object, "%s!files/%s", r->key, name);
    return length < S3_OBJECT_SIZE ? s3_delete(r->place, object, err) : ERROR_NONE;
}

static enum error_code remove_files(struct s3_place *place, const char *key, const char *attempt,
                                    bool others, struct error *err)
{
    char prefix[S3_OBJECT_SIZE];
    struct removal removal = {place, key, attempt, others};
    (void)snprintf(prefix, sizeof prefix, "%s!files/", key);
    return s3_list_names(place, prefix, remove_file, &removal, err);
}

static enum error_code is_there(struct s3_place *place, const char *key, bool *found,
                                struct error *err)
{
    char object[S3_OBJECT_SIZE];
    name_manifest(key, object);
    struct s3_request request = {.method = S3_HEAD, .object = object};
    const enum error_code rc = s3_perform_one(place->client, &request, err);
    s3_request_release(&request);
    *found = rc == ERROR_NONE;
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}

enum error_code s3_artifact_publish(void *state, const char *path, const char *key, bool *existed,
                                    struct error *err)
{
    struct arrival a = {.place = state, .path = path, .key = key};
    enum error_code rc = is_there(a.place, key, existed, err);
    if (rc != ERROR_NONE || *existed)
        return rc == ERROR_NONE ? scratch_space_remove(&a.place->scratch, path, err) : rc;
    rc = artifact_manifest_make(key, path, a.attempt, &a.text, err);
    if (rc == ERROR_NONE)
        rc = put_files(&a, err);
    if (rc == ERROR_NONE)
        rc = put_manifest(&a, existed, err);
    memory_free(a.text);
    if (rc != ERROR_NONE) {
        /* If the answer was lost, the manifest may still arrive, so its files must stay. */
        if (rc != ERROR_UNAVAILABLE)
            /* if that fails, the winner removes them */
            error_ignore(remove_files(a.place, key, a.attempt, false, NULL));
        return rc;
    }
    rc = remove_files(a.place, key, a.attempt, !*existed, err);
    return rc == ERROR_NONE ? scratch_space_remove(&a.place->scratch, path, err) : rc;
}

/* --- read --- */

enum error_code s3_artifact_files(void *state, const char *key, object_file_visitor visit,
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

/* A range of a file that is to be read, and its destination. */
struct read_wish {
    uint64_t offset;
    void *buffer; /* [size] */
    size_t size;
};

static enum error_code read_of_manifest(struct s3_place *place, const char *key, const char *file,
                                        const struct read_wish *wish, size_t *got, bool *was_kept,
                                        struct error *err)
{
    char *text = NULL, attempt[ARTIFACT_ATTEMPT_SIZE], object[S3_OBJECT_SIZE];
    struct artifact_file entry = {.name = ""};
    size_t number = 0;
    enum error_code rc = kept_manifests_recall(&place->manifests, key, read_manifest, place, &text,
                                               attempt, was_kept, err);
    if (rc == ERROR_NONE && !artifact_manifest_find(text, file, &entry, &number))
        rc = no_artifact(key, err);
    memory_free(text);
    *got = 0;
    if (rc != ERROR_NONE || wish->offset >= entry.size)
        return rc;
    const uint64_t left = entry.size - wish->offset;
    *got = left < wish->size ? (size_t)left : wish->size;
    name_file(key, attempt, number, object);
    rc = s3_get_bytes(place, object, wish->offset, wish->buffer, *got, err);
    return rc == ERROR_NOT_FOUND ? no_artifact(key, err) : rc;
}

enum error_code s3_artifact_read(void *state, const char *key, const char *file, uint64_t offset,
                                 void *buffer, size_t size, size_t *got, struct error *err)
{
    const struct read_wish wish = {offset, buffer, size};
    bool was_kept = false;
    const enum error_code rc = read_of_manifest(state, key, file, &wish, got, &was_kept, err);
    if (rc != ERROR_NOT_FOUND || !was_kept)
        return rc;
    kept_manifests_forget(&((struct s3_place *)state)->manifests,
                          key); /* the artifact was removed, and may have been made again */
    return read_of_manifest(state, key, file, &wish, got, &was_kept, err);
}

enum error_code s3_artifact_remove(struct s3_place *place, const char *key, struct error *err)
{
    char object[S3_OBJECT_SIZE];
    bool found = false;
    enum error_code rc = is_there(place, key, &found, err);
    if (rc != ERROR_NONE || !found)
        return rc;
    kept_manifests_forget(&place->manifests, key);
    name_manifest(key, object);
    rc = s3_delete(place, object, err);
    return rc == ERROR_NONE ? remove_files(place, key, "", true, err) : rc;
}
