/*
 * Transfers objects of any size: large ones are put in parts and read in ranges. Declared in
 * s3_place.h.
 *
 * The bytes of a part stay in memory until the server has it, so that it can be sent again without
 * reading the source again.
 */
#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/backends/s3/s3_names.h"
#include "store/backends/s3/s3_place.h"
#include "store/backends/s3/s3_xml.h"

#include <stdio.h>
#include <string.h>

enum {
    WHOLE_MAX = 32 << 20,  /* larger objects are put in parts */
    PART_BYTES = 16 << 20, /* ... of at least this size */
    PARTS_AT_ONCE = 4,
    PARTS_MAX = 9000, /* S3 allows 10,000 */
    PART_XML_SIZE = 96 + S3_ETAG_SIZE,
    RANGE_BYTES = 4 << 20, /* largest range in one request of a large object */
    RANGE_BYTES_MIN = 1 << 20,
    UPLOAD_ID_SIZE = 1024,
    CONFLICT_ATTEMPTS = 5,
};

/* --- put --- */

struct upload {
    struct s3_place *place;
    const char *object;
    const struct s3_source *source;
    char id[UPLOAD_ID_SIZE];
    size_t part_bytes;
    uint8_t *bytes; /* [PARTS_AT_ONCE][part_bytes] */
    char *list;     /* the XML that names the parts */
    size_t list_used, list_room;
};

/* Puts an object in one request. If the condition fails, an object exists; it may be ours, from an
 * attempt whose answer was lost. */
static enum error_code put_whole(struct s3_place *place, const char *object, const uint8_t *bytes,
                                 size_t size, bool if_absent, bool *existed, struct error *err)
{
    struct s3_request request = {.method = S3_PUT,
                                 .object = object,
                                 .body = bytes,
                                 .body_size = size,
                                 .if_absent = if_absent};
    const enum error_code rc = s3_perform_one(place->client, &request, err);
    s3_request_release(&request);
    *existed = rc == ERROR_BUSY;
    if (rc == ERROR_NOT_FOUND)
        return error_context(err, ERROR_IO, "the bucket is gone");
    return *existed ? ERROR_NONE : rc;
}

static enum error_code begin_upload(struct upload *u, struct error *err)
{
    struct s3_request request = {.method = S3_POST, .object = u->object, .query = "uploads="};
    enum error_code rc = s3_perform_one(u->place->client, &request, err);
    if (rc == ERROR_NONE)
        rc = s3_xml_find(request.answer, request.answer_size, "UploadId", u->id, sizeof u->id, err);
    if (rc == ERROR_NONE && !*u->id)
        rc = error_set(err, ERROR_IO, "%s: S3 began an upload and gave it no id", u->object);
    s3_request_release(&request);
    return rc;
}

static enum error_code add_to_list(struct upload *u, const char *text, struct error *err)
{
    const size_t size = strlen(text);
    const enum error_code rc =
        memory_grow(&u->list, &u->list_room, u->list_used + size + 1, "a list of parts", err);
    if (rc == ERROR_NONE) {
        memcpy(u->list + u->list_used, text, size + 1);
        u->list_used += size;
    }
    return rc;
}

/* Puts the parts `first` .. first + count, whose bytes are in u->bytes. */
static enum error_code put_parts(struct upload *u, int first, int count, const size_t *size,
                                 struct error *err)
{
    struct s3_request request[PARTS_AT_ONCE];
    char query[PARTS_AT_ONCE][S3_QUERY_SIZE], text[PART_XML_SIZE];
    enum error_code rc = ERROR_NONE;
    for (int i = 0; i < count; i++) {
        (void)snprintf(query[i], sizeof query[i], "partNumber=%d", first + i + 1);
        rc = rc == ERROR_NONE ? s3_query_add(query[i], "uploadId", u->id, err) : rc;
        request[i] = (struct s3_request){.method = S3_PUT,
                                         .object = u->object,
                                         .query = query[i],
                                         .body = u->bytes + (size_t)i * u->part_bytes,
                                         .body_size = size[i]};
    }
    if (rc != ERROR_NONE)
        return rc;
    s3_perform(u->place->client, request, (size_t)count);
    for (int i = 0; i < count; i++) {
        if (rc == ERROR_NONE && request[i].rc != ERROR_NONE) {
            rc = request[i].rc == ERROR_NOT_FOUND ? ERROR_IO : request[i].rc;
            if (err)
                *err = request[i].err;
        }
        (void)snprintf(text, sizeof text, "<Part><PartNumber>%d</PartNumber><ETag>%s</ETag></Part>",
                       first + i + 1, request[i].etag);
        if (rc == ERROR_NONE)
            rc = add_to_list(u, text, err);
        s3_request_release(&request[i]);
    }
    return rc;
}

static enum error_code put_all_parts(struct upload *u, struct error *err)
{
    uint64_t at = 0;
    enum error_code rc = add_to_list(u, "<CompleteMultipartUpload>", err);
    for (int part = 0; rc == ERROR_NONE && at < u->source->size;) {
        size_t size[PARTS_AT_ONCE];
        int count = 0;
        for (; rc == ERROR_NONE && count < PARTS_AT_ONCE && at < u->source->size; count++) {
            const uint64_t left = u->source->size - at;
            size[count] = left < u->part_bytes ? (size_t)left : u->part_bytes;
            rc = u->source->read(u->source->context, u->bytes + (size_t)count * u->part_bytes,
                                 size[count], err);
            at += size[count];
        }
        if (rc == ERROR_NONE)
            rc = put_parts(u, part, count, size, err);
        part += count;
    }
    return rc == ERROR_NONE ? add_to_list(u, "</CompleteMultipartUpload>", err) : rc;
}

/* Returns in *found whether the object exists. */
static enum error_code look(struct s3_place *place, const char *object, bool *found,
                            struct error *err)
{
    struct s3_request request = {.method = S3_HEAD, .object = object};
    const enum error_code rc = s3_perform_one(place->client, &request, err);
    s3_request_release(&request);
    *found = rc == ERROR_NONE;
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}

/* Completes the upload. If the server does not know the upload, an attempt whose answer was lost
 * has completed it, and the object exists. */
static enum error_code complete_upload(struct upload *u, bool if_absent, bool *existed,
                                       struct error *err)
{
    char query[S3_QUERY_SIZE] = "";
    bool found = false;
    enum error_code rc = s3_query_add(query, "uploadId", u->id, err);
    if (rc != ERROR_NONE)
        return rc;
    struct s3_request request = {.method = S3_POST,
                                 .object = u->object,
                                 .query = query,
                                 .body = u->list,
                                 .body_size = u->list_used,
                                 .if_absent = if_absent};
    rc = s3_perform_one(u->place->client, &request, err);
    const bool was_repeated = request.was_repeated;
    s3_request_release(&request);
    *existed = rc == ERROR_BUSY;
    if (*existed)
        return ERROR_NONE;
    if (rc != ERROR_NOT_FOUND)
        return rc;
    rc = was_repeated ? look(u->place, u->object, &found, err) : ERROR_NONE;
    *existed = found;
    if (rc == ERROR_NONE && !found)
        rc = error_set(err, ERROR_UNAVAILABLE, "%s: S3 has lost the parts of an upload", u->object);
    return rc;
}

/* Aborts the upload, because the parts of an unfinished upload cost money until they are
 * removed. */
static void abort_upload(struct upload *u)
{
    char query[S3_QUERY_SIZE] = "";
    if (!*u->id || s3_query_add(query, "uploadId", u->id, NULL) != ERROR_NONE)
        return;
    struct s3_request request = {.method = S3_DELETE, .object = u->object, .query = query};
    /* If that fails, a rule of the bucket removes it. */
    error_ignore(s3_perform_one(u->place->client, &request, NULL));
    s3_request_release(&request);
}

static enum error_code put_in_parts(struct s3_place *place, const char *object,
                                    const struct s3_source *source, bool if_absent, bool *existed,
                                    struct error *err)
{
    struct upload u = {.place = place, .object = object, .source = source};
    const uint64_t least = (source->size + PARTS_MAX - 1) / PARTS_MAX;
    u.part_bytes = least > PART_BYTES ? (size_t)least : PART_BYTES;
    enum error_code rc =
        memory_new(&u.bytes, PARTS_AT_ONCE * u.part_bytes, "parts of an upload", err);
    if (rc == ERROR_NONE)
        rc = begin_upload(&u, err);
    if (rc == ERROR_NONE)
        rc = put_all_parts(&u, err);
    if (rc == ERROR_NONE)
        rc = complete_upload(&u, if_absent, existed, err);
    if (rc != ERROR_NONE || *existed)
        abort_upload(&u);
    memory_free(u.list);
    memory_free(u.bytes);
    return rc;
}

enum error_code s3_put(struct s3_place *place, const char *object, const struct s3_source *source,
                       bool if_absent, bool *existed, struct error *err)
{
    uint8_t *bytes = NULL;
    *existed = false;
    if (source->size > WHOLE_MAX)
        return put_in_parts(place, object, source, if_absent, existed, err);
    enum error_code rc = memory_new(&bytes, (size_t)source->size, "an object for S3", err);
    if (rc == ERROR_NONE)
        rc = source->read(source->context, bytes, (size_t)source->size, err);
    if (rc == ERROR_NONE)
        rc = put_whole(place, object, bytes, (size_t)source->size, if_absent, existed, err);
    memory_free(bytes);
    return rc;
}

/* --- get --- */

/* Returns the size of a range: the bytes are divided among as many requests as may run at once,
 * within limits. */
static size_t range_size(size_t size)
{
    const size_t share = (size + S3_AT_ONCE - 1) / S3_AT_ONCE;
    return share < RANGE_BYTES_MIN ? RANGE_BYTES_MIN : share < RANGE_BYTES ? share : RANGE_BYTES;
}

/* Reads the ranges of an object, a few at a time. `etag` is the version; NULL: any version. */
static enum error_code get_ranges(struct s3_place *place, const char *object, const char *etag,
                                  uint64_t offset,
                                  uint8_t *to, /* NOLINT(readability-non-const-parameter) */
                                  size_t size, struct error *err)
{
    const size_t most = range_size(size);
    enum error_code rc = ERROR_NONE;
    for (size_t at = 0; rc == ERROR_NONE && at < size;) {
        struct s3_request request[S3_AT_ONCE];
        size_t count = 0;
        for (; count < S3_AT_ONCE && at < size; count++) {
            const size_t piece = size - at < most ? size - at : most;
            request[count] = (struct s3_request){.method = S3_GET,
                                                 .object = object,
                                                 .if_match = etag,
                                                 .has_range = true,
                                                 .offset = offset + at,
                                                 .into = to + at,
                                                 .into_size = piece};
            at += piece;
        }
        s3_perform(place->client, request, count);
        for (size_t i = 0; i < count; i++) {
            if (rc == ERROR_NONE && request[i].rc == ERROR_NONE &&
                request[i].answer_size < request[i].into_size)
                rc = error_set(err, ERROR_IO, "%s: expected %zu bytes from %llu on, found %zu",
                               object, request[i].into_size, (unsigned long long)request[i].offset,
                               request[i].answer_size);
            if (rc == ERROR_NONE && request[i].rc != ERROR_NONE) {
                rc = request[i].rc;
                if (err)
                    *err = request[i].err;
            }
            s3_request_release(&request[i]);
        }
    }
    return rc;
}

enum error_code s3_get_bytes(struct s3_place *place, const char *object, uint64_t offset, void *to,
                             size_t size, struct error *err)
{
    return get_ranges(place, object, NULL, offset, to, size, err);
}

/* Reads the rest of the object whose first bytes are in `head`. Fails: ERROR_BUSY when it was
 * replaced meanwhile. */
static enum error_code take_object(struct s3_place *place, const struct s3_request *head,
                                   struct stored_bytes *out, struct error *err)
{
    /* A request for a range of an empty object is answered with 416. */
    const uint64_t total = head->status == 416 ? 0
                           : head->status == 200
                               ? head->answer_size /* the server sent the whole object */
                               : head->total;
    const size_t first = head->status == 416 ? 0 : head->answer_size;
    if (head->rc != ERROR_NONE && head->status != 416) {
        if (err)
            *err = head->err;
        return head->no_bucket ? error_context(err, ERROR_IO, "the bucket is gone") : head->rc;
    }
    if (total > SIZE_MAX || first > total || (first < total && first < RANGE_BYTES))
        return error_set(err, ERROR_IO, "%s: expected %llu bytes, found %zu", head->object,
                         (unsigned long long)total, first);
    enum error_code rc = stored_bytes_new(out, (size_t)total, err);
    if (rc != ERROR_NONE)
        return rc;
    if (first)
        memcpy(out->data, head->answer, first);
    rc = get_ranges(place, head->object, head->etag, first, out->data + first,
                    (size_t)total - first, err);
    if (rc != ERROR_NONE)
        stored_bytes_release(out);
    return rc;
}

static struct s3_request head_of(const char *object)
{
    return (struct s3_request){
        .method = S3_GET, .object = object, .has_range = true, .range_size = RANGE_BYTES};
}

/* Reads the rest of an object, from the start again if it was replaced. A store does not replace an
 * object again and again, so that is an error. */
static void finish_object(struct s3_place *place, struct s3_request *head, struct object_get *get)
{
    get->rc = take_object(place, head, &get->bytes, &get->err);
    for (int i = 0; get->rc == ERROR_BUSY && i < CONFLICT_ATTEMPTS; i++) {
        const char *object = head->object;
        s3_request_release(head);
        *head = head_of(object);
        s3_perform(place->client, head, 1);
        get->rc = take_object(place, head, &get->bytes, &get->err);
    }
    s3_request_release(head);
}

void s3_get_objects(struct s3_place *place, const char (*object)[S3_OBJECT_SIZE],
                    struct object_get *get, size_t count)
{
    for (size_t first = 0; first < count; first += S3_AT_ONCE) {
        struct s3_request head[S3_AT_ONCE];
        const size_t together = count - first < S3_AT_ONCE ? count - first : S3_AT_ONCE;
        for (size_t i = 0; i < together; i++)
            head[i] = head_of(object[first + i]);
        s3_perform(place->client, head, together);
        for (size_t i = 0; i < together; i++)
            finish_object(place, &head[i], &get[first + i]);
    }
}

enum error_code s3_delete(struct s3_place *place, const char *object, struct error *err)
{
    struct s3_request request = {.method = S3_DELETE, .object = object};
    const enum error_code rc = s3_perform_one(place->client, &request, err);
    s3_request_release(&request);
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}
