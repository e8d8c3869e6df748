/*
 * Refs and notes in a bucket. Declared in s3_place.h.
 *
 * A ref is exchanged with If-Match. If the answer is lost and the request is repeated, its
 * condition may fail because the first request succeeded. Each request therefore stores a random
 * word with the text, by which it recognises its own result.
 */
#include "common/base/host.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/backends/s3/s3_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { REF_SIZE = 8192, EXCHANGE_ATTEMPTS = 100 };

static void name_ref(const char *name, char object[S3_OBJECT_SIZE])
{
    (void)snprintf(object, S3_OBJECT_SIZE, "!switch/%s!text", name);
}

static void name_note(const char *name, char object[S3_OBJECT_SIZE])
{
    (void)snprintf(object, S3_OBJECT_SIZE, "!note/%s!text", name);
}

/* A ref as it was read. */
struct ref_text {
    char text[REF_SIZE];
    char etag[S3_ETAG_SIZE], writer[S3_WRITER_SIZE];
};

static enum error_code read_ref(struct s3_place *place, const char *name, struct ref_text *out,
                                struct error *err)
{
    char object[S3_OBJECT_SIZE];
    name_ref(name, object);
    struct s3_request request = {.method = S3_GET, .object = object};
    enum error_code rc = s3_perform_one(place->client, &request, err);
    if (rc == ERROR_NOT_FOUND && request.no_bucket)
        rc = error_context(err, ERROR_IO, "the bucket is gone");
    const size_t size = request.answer_size;
    if (rc == ERROR_NONE &&
        (size >= sizeof out->text || (size && memchr(request.answer, '\0', size))))
        rc = error_set(err, ERROR_CORRUPT, "%s: expected text of at most %d bytes, found %zu",
                       object, REF_SIZE - 1, size);
    if (rc == ERROR_NONE) {
        if (size)
            memcpy(out->text, request.answer, size);
        out->text[size] = '\0';
        memcpy(out->etag, request.etag, sizeof out->etag);
        memcpy(out->writer, request.found_writer, sizeof out->writer);
    }
    s3_request_release(&request);
    return rc;
}

enum error_code s3_ref_get(void *state, const char *name, char *text, size_t size,
                           struct error *err)
{
    struct ref_text ref;
    const enum error_code rc = read_ref(state, name, &ref, err);
    if (rc == ERROR_NONE && !text_copy(text, size, ref.text))
        return error_set(err, ERROR_CORRUPT, "%s: expected text of at most %zu bytes, found %zu",
                         name, size - 1, strlen(ref.text));
    return rc;
}

enum error_code s3_ref_set(void *state, const char *name, const char *text, struct error *err)
{
    struct s3_place *place = state;
    char object[S3_OBJECT_SIZE];
    name_ref(name, object);
    if (!text)
        return s3_delete(place, object, err);
    struct s3_request request = {
        .method = S3_PUT, .object = object, .body = text, .body_size = strlen(text)};
    const enum error_code rc = s3_perform_one(place->client, &request, err);
    s3_request_release(&request);
    return rc;
}

/* The result of one attempt to exchange. */
enum exchange { EXCHANGED, NOT_MATCHED, LOOK_AGAIN };

/* Puts or removes the ref if it still equals `seen` (NULL: it does not exist). */
static enum error_code try_exchange(struct s3_place *place, const char *name,
                                    const struct ref_text *seen, const char *text,
                                    enum exchange *out, struct error *err)
{
    char object[S3_OBJECT_SIZE], writer[S3_WRITER_SIZE];
    struct ref_text now;
    name_ref(name, object);
    (void)snprintf(writer, sizeof writer, "%016" PRIx64, host_random_64());
    struct s3_request request = {.method = text ? S3_PUT : S3_DELETE,
                                 .object = object,
                                 .body = text,
                                 .body_size = text ? strlen(text) : 0,
                                 .if_absent = !seen,
                                 .if_match = seen ? seen->etag : NULL,
                                 .writer = text ? writer : NULL};
    enum error_code rc = s3_perform_one(place->client, &request, err);
    const bool was_repeated = request.was_repeated;
    s3_request_release(&request);
    *out = rc == ERROR_NONE ? EXCHANGED : LOOK_AGAIN;
    if (rc != ERROR_BUSY && rc != ERROR_NOT_FOUND)
        return rc;
    if (!was_repeated)
        return ERROR_NONE;
    rc = read_ref(place, name, &now, err);
    const bool is_ours =
        text ? rc == ERROR_NONE && strcmp(now.writer, writer) == 0 : rc == ERROR_NOT_FOUND;
    *out = is_ours ? EXCHANGED : LOOK_AGAIN;
    if (is_ours || (rc == ERROR_NONE && seen && strcmp(now.etag, seen->etag) == 0))
        return ERROR_NONE;
    if (rc != ERROR_NONE && rc != ERROR_NOT_FOUND)
        return rc;
    return error_set(err, ERROR_UNAVAILABLE,
                     "switch %s: the answer was lost, and another process has changed it since",
                     name);
}

enum error_code s3_ref_exchange(void *state, const char *name, const char *expected,
                                const char *text, bool *matched, struct error *err)
{
    struct s3_place *place = state;
    *matched = false;
    for (int i = 0; i < EXCHANGE_ATTEMPTS; i++) {
        struct ref_text seen;
        enum exchange result = NOT_MATCHED;
        enum error_code rc = read_ref(place, name, &seen, err);
        if (rc != ERROR_NONE && rc != ERROR_NOT_FOUND)
            return rc;
        const bool is_there = rc == ERROR_NONE;
        if (expected ? !is_there || strcmp(seen.text, expected) != 0 : is_there)
            return ERROR_NONE;
        if (!is_there && !text) {
            *matched = true;
            return ERROR_NONE;
        }
        rc = try_exchange(place, name, is_there ? &seen : NULL, text, &result, err);
        *matched = rc == ERROR_NONE && result == EXCHANGED;
        if (rc != ERROR_NONE || *matched)
            return rc;
    }
    return error_set(err, ERROR_BUSY, "switch %s is changed by others each time it is exchanged",
                     name);
}

struct ref_list {
    store_visitor visit;
    void *context;
};

static enum error_code visit_ref(void *context, const char *name, struct error *err)
{
    const struct ref_list *list = context;
    char key[KEY_SIZE];
    const size_t size = strcspn(name, "!");
    if (strcmp(name + size, "!text") != 0 || size >= sizeof key)
        return ERROR_NONE;
    (void)snprintf(key, sizeof key, "%.*s", (int)size, name);
    return list->visit(list->context, key, false, err);
}

enum error_code s3_ref_list(void *state, store_visitor visit, void *context, struct error *err)
{
    struct ref_list list = {visit, context};
    return s3_list_names(state, "!switch/", visit_ref, &list, err);
}

enum error_code s3_note_put(void *state, const char *name, const char *text, size_t size,
                            struct error *err)
{
    const struct s3_place *place = state;
    char object[S3_OBJECT_SIZE];
    name_note(name, object);
    struct s3_request request = {
        .method = S3_PUT, .object = object, .body = text, .body_size = size};
    const enum error_code rc = s3_perform_one(place->client, &request, err);
    s3_request_release(&request);
    return rc;
}

enum error_code s3_note_get(void *state, const char *name, char **text, size_t *size,
                            struct error *err)
{
    char object[1][S3_OBJECT_SIZE];
    struct object_get get = {.key = name};
    name_note(name, object[0]);
    s3_get_objects(state, (const char(*)[S3_OBJECT_SIZE])object, &get, 1);
    if (get.rc != ERROR_NONE) {
        if (err)
            *err = get.err;
        return get.rc;
    }
    const enum error_code rc = memory_new(text, get.bytes.size + 1, "a note", err);
    if (rc == ERROR_NONE) {
        memcpy(*text, get.bytes.data, get.bytes.size);
        *size = get.bytes.size;
    }
    stored_bytes_release(&get.bytes);
    return rc;
}
