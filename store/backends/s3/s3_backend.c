#include "store/backends/s3/s3_backend.h"

#include "common/base/memory.h"
#include "store/backends/body_reader.h"
#include "store/backends/s3/s3_place.h"

#include <stdio.h>
#include <string.h>

enum { OPEN_MS_MAX = 10 * 1000 };

static const char mark_object[] = "!store", mark_text[] = "graphmill store v1\n";

/* --- open and close --- */

/* Puts the mark of a store, or looks for it. */
static enum error_code look_for_store(struct s3_client *client, bool makes, struct error *err)
{
    const struct s3_address *address = s3_client_address(client);
    struct s3_request request = {.method = S3_GET, .object = mark_object};
    enum error_code rc = s3_perform_one(client, &request, err);
    bool no_bucket = request.no_bucket;
    s3_request_release(&request);
    if (rc == ERROR_NOT_FOUND && !no_bucket && makes) {
        request = (struct s3_request){.method = S3_PUT,
                                      .object = mark_object,
                                      .body = mark_text,
                                      .body_size = sizeof mark_text - 1,
                                      .if_absent = true};
        rc = s3_perform_one(client, &request, err);
        no_bucket = request.no_bucket;
        s3_request_release(&request);
    }
    if (no_bucket)
        return error_set(err, ERROR_NOT_FOUND,
                         "there is no bucket %s at %s: " ADVICE "make it, or name another one",
                         address->bucket, address->host);
    if (rc == ERROR_NOT_FOUND)
        return error_set(err, rc, "there is no store at s3://%s/%s (%s)", address->bucket,
                         address->prefix, address->host);
    return rc == ERROR_BUSY ? ERROR_NONE : rc; /* another process has put the mark */
}

/* Looks for the store with a short timeout, so that an endpoint that does not answer is reported at
 * open. */
static enum error_code find_store(const struct s3_address *address,
                                  const struct object_options *options, struct error *err)
{
    struct s3_client *client = NULL;
    const int64_t most = options->timeout_ms < OPEN_MS_MAX ? options->timeout_ms : OPEN_MS_MAX;
    enum error_code rc = s3_client_new(address, most, &client, err);
    if (rc == ERROR_NONE)
        rc = look_for_store(client, options->make, err);
    s3_client_close(client);
    return rc;
}

static void close_place(void *state)
{
    struct s3_place *place = state;
    scratch_space_close(&place->scratch);
    s3_client_close(place->client);
    kept_manifests_release(&place->manifests);
    memory_free(place);
}

static enum error_code open_place(const char *name, const struct object_options *options,
                                  void **state, struct error *err)
{
    struct s3_address address;
    struct s3_place *place = NULL;
    enum error_code rc = s3_address_parse(name, &address, err);
    if (rc == ERROR_NONE)
        rc = find_store(&address, options, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&place, 1, "a store in S3", err);
    if (rc != ERROR_NONE)
        return rc;
    rc = s3_client_new(&address, options->timeout_ms, &place->client, err);
    if (rc == ERROR_NONE)
        rc = scratch_space_init_on_host(&place->scratch, err);
    if (rc != ERROR_NONE) {
        s3_client_close(place->client);
        memory_free(place);
        return rc;
    }
    kept_manifests_init(&place->manifests);
    *state = place;
    return ERROR_NONE;
}

static unsigned capabilities_of(const void *state)
{
    (void)state;
    return STORE_IS_SHARED | STORE_IS_DURABLE;
}

static enum error_code locate(const char *place, struct store_location *out, struct error *err)
{
    int64_t port = 0;
    const enum error_code rc = s3_address_port(place, &port, err);
    return rc == ERROR_NONE ? store_location_add_port(out, port, err) : rc;
}

static const char *no_folder(const void *state)
{
    (void)state;
    return NULL;
}

/* --- records --- */

static void name_record(const char *key, char object[S3_OBJECT_SIZE])
{
    (void)snprintf(object, S3_OBJECT_SIZE, "%s!record", key);
}

/* Puts a record. Durability is ignored: S3 answers only when the object is on its disks. */
static enum error_code put_record(void *state, const char *key, const struct object_body *body,
                                  enum store_durability durability, bool *existed,
                                  struct error *err)
{
    char object[S3_OBJECT_SIZE];
    struct body_reader reader = {.body = body};
    const struct s3_source source = {
        .read = body_reader_read, .context = &reader, .size = body->size};
    (void)durability;
    name_record(key, object);
    return s3_put(state, object, &source, true, existed, err);
}

static enum error_code flush_record(void *state, const char *key, struct error *err)
{
    const struct s3_place *place = state;
    char object[S3_OBJECT_SIZE];
    name_record(key, object);
    struct s3_request request = {.method = S3_HEAD, .object = object};
    const enum error_code rc = s3_perform_one(place->client, &request, err);
    s3_request_release(&request);
    return rc;
}

static void get_records(void *state, struct object_get *get, size_t count)
{
    char object[STORE_TOGETHER_MAX][S3_OBJECT_SIZE];
    for (size_t first = 0; first < count; first += STORE_TOGETHER_MAX) {
        const size_t left = count - first;
        const size_t together = left < STORE_TOGETHER_MAX ? left : STORE_TOGETHER_MAX;
        for (size_t i = 0; i < together; i++)
            name_record(get[first + i].key, object[i]);
        s3_get_objects(state, (const char(*)[S3_OBJECT_SIZE])object, get + first, together);
    }
}

/* Removes a record if it still equals `seen`. Reads it again for its ETag, so that the removal
 * fails if another object replaces it meanwhile. */
static enum error_code discard_record(void *state, const char *key, const struct stored_bytes *seen,
                                      struct error *err)
{
    const struct s3_place *place = state;
    char object[S3_OBJECT_SIZE];
    name_record(key, object);
    struct s3_request now = {.method = S3_GET, .object = object};
    enum error_code rc = s3_perform_one(place->client, &now, err);
    const bool is_same = rc == ERROR_NONE && now.answer_size == seen->size &&
                         (!seen->size || memcmp(now.answer, seen->data, seen->size) == 0);
    if (is_same) {
        struct s3_request request = {.method = S3_DELETE, .object = object, .if_match = now.etag};
        rc = s3_perform_one(place->client, &request, err);
        s3_request_release(&request);
    }
    s3_request_release(&now);
    return rc == ERROR_NOT_FOUND || rc == ERROR_BUSY ? ERROR_NONE : rc;
}

static enum error_code age_of_object(const struct s3_place *place, const char *object,
                                     int64_t *seconds, struct error *err)
{
    struct s3_request request = {.method = S3_HEAD, .object = object};
    enum error_code rc = s3_perform_one(place->client, &request, err);
    if (rc == ERROR_NONE && (!request.modified_s || !request.now_s))
        rc = error_set(err, ERROR_IO,
                       "S3 does not say when %s was put: expected the headers Date and "
                       "Last-Modified",
                       object);
    *seconds = request.now_s - request.modified_s;
    s3_request_release(&request);
    return rc;
}

static enum error_code age_of(void *state, const char *key, bool is_ref, int64_t *seconds,
                              struct error *err)
{
    char object[S3_OBJECT_SIZE];
    if (is_ref)
        (void)snprintf(object, sizeof object, "!switch/%s!text", key);
    else
        name_record(key, object);
    const enum error_code rc = age_of_object(state, object, seconds, err);
    if (rc != ERROR_NOT_FOUND || is_ref)
        return rc;
    (void)snprintf(object, sizeof object, "%s!artifact", key);
    return age_of_object(state, object, seconds, err);
}

/* --- scratch --- */

static enum error_code make_scratch(void *state, char path[FILE_PATH_SIZE], struct error *err)
{
    struct s3_place *place = state;
    return scratch_space_folder(&place->scratch, path, err);
}

static enum error_code sweep(void *state, struct error *err)
{
    struct s3_place *place = state;
    return scratch_space_sweep(&place->scratch, err);
}

/* --- records and artifacts --- */

static enum error_code has_key(void *state, const char *key, bool *found, struct error *err)
{
    const struct s3_place *place = state;
    char object[2][S3_OBJECT_SIZE];
    struct s3_request request[2];
    name_record(key, object[0]);
    (void)snprintf(object[1], sizeof object[1], "%s!artifact", key);
    for (int i = 0; i < 2; i++)
        request[i] = (struct s3_request){.method = S3_HEAD, .object = object[i]};
    s3_perform(place->client, request, 2);
    for (int i = 0; i < 2; i++)
        s3_request_release(&request[i]);
    *found = request[0].rc == ERROR_NONE || request[1].rc == ERROR_NONE;
    for (int i = 0; !*found && i < 2; i++) {
        if (request[i].rc == ERROR_NOT_FOUND)
            continue;
        if (err)
            *err = request[i].err;
        return request[i].rc;
    }
    return ERROR_NONE;
}

static enum error_code remove_key(void *state, const char *key, struct error *err)
{
    char object[S3_OBJECT_SIZE];
    name_record(key, object);
    const enum error_code rc = s3_delete(state, object, err);
    return rc == ERROR_NONE ? s3_artifact_remove(state, key, err) : rc;
}

/* --- tests --- */

void s3_store_damage(void *state, const char *key, const void *bytes, size_t size)
{
    const struct s3_place *place = state;
    char object[S3_OBJECT_SIZE];
    name_record(key, object);
    struct s3_request request = {
        .method = S3_PUT, .object = object, .body = bytes, .body_size = size};
    must(s3_perform_one(place->client, &request, NULL) == ERROR_NONE);
    s3_request_release(&request);
}

enum error_code s3_bucket_make(const char *place, struct error *err)
{
    struct s3_address address;
    struct s3_client *client = NULL;
    struct s3_request request = {.method = S3_PUT};
    enum error_code rc = s3_address_parse(place, &address, err);
    if (rc == ERROR_NONE)
        rc = s3_client_new(&address, OPEN_MS_MAX, &client, err);
    if (rc == ERROR_NONE)
        rc = s3_perform_one(client, &request, err);
    const bool is_there = request.status == 409; /* BucketAlreadyOwnedByYou, BucketAlreadyExists */
    s3_request_release(&request);
    s3_client_close(client);
    return is_there ? ERROR_NONE : rc;
}

const struct object_backend s3_backend = {
    .scheme = "s3",
    .open = open_place,
    .close = close_place,
    .capabilities = capabilities_of,
    .locate = locate,
    .folder = no_folder,
    .put_if_absent = put_record,
    .flush = flush_record,
    .get_many = get_records,
    .delete_if_match = discard_record,
    .scratch = make_scratch,
    .publish = s3_artifact_publish,
    .files = s3_artifact_files,
    .get_range = s3_artifact_read,
    .sweep = sweep,
    .has = has_key,
    .remove = remove_key,
    .list = s3_list_keys,
    .age = age_of,
    .ref_get = s3_ref_get,
    .ref_set = s3_ref_set,
    .ref_cas = s3_ref_exchange,
    .ref_list = s3_ref_list,
    .note_put = s3_note_put,
    .note_get = s3_note_get,
};
