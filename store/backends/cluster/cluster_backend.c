#include "store/backends/cluster/cluster_backend.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/backends/cluster/cluster_batch.h"

#include <stdio.h>
#include <string.h>

enum { OPEN_MS_MAX = 10 * 1000 };

static const char mark_text[] = "graphmill store v1";

/* --- open and close --- */

static void close_place(void *state)
{
    struct cluster_place *place = state;
    scratch_space_close(&place->scratch);
    cluster_client_close(place->client);
    kept_manifests_release(&place->manifests);
    memory_free(place);
}

/* Puts the mark of a store, or looks for it. */
static enum error_code look_for_store(const struct cluster_place *place, bool makes,
                                      struct error *err)
{
    const int tag = cluster_tag("store");
    struct cluster_batch batch;
    int64_t found = 0;
    enum error_code rc = cluster_batch_init(&batch, place, 2, err);
    if (rc != ERROR_NONE)
        return rc;
    if (makes) {
        cluster_batch_add(&batch, tag, "SET", "", "store");
        cluster_words_add(cluster_batch_last(&batch), mark_text);
        cluster_words_add(cluster_batch_last(&batch), "NX");
    }
    cluster_batch_add(&batch, tag, "EXISTS", "", "store");
    rc = cluster_batch_perform(&batch, err);
    if (rc == ERROR_NONE)
        (void)redis_reply_is_integer(cluster_batch_reply(&batch, batch.count - 1), &found);
    cluster_batch_release(&batch);
    if (rc == ERROR_NONE && found == 0)
        return error_set(err, ERROR_NOT_FOUND, "there is no store at redis+cluster://%s:%d/%s",
                         place->address.seed[0].host, place->address.seed[0].port,
                         place->address.prefix);
    return rc;
}

static enum error_code find_cluster(struct cluster_place *place,
                                    const struct object_options *options, struct error *err)
{
    const struct cluster_address *address = &place->address;
    struct cluster_access access = {.seed_count = address->seed_count,
                                    .like = address->like,
                                    .what = "records",
                                    .timeout_ms = options->timeout_ms};
    memcpy(access.seed, address->seed, sizeof access.seed);
    must(text_copy(access.login.user, sizeof access.login.user, address->like.user));
    enum error_code rc = redis_login_read(*address->password_file ? address->password_file : NULL,
                                          &access.login, err);
    if (rc == ERROR_NONE)
        rc = cluster_client_open(
            &access, options->timeout_ms < OPEN_MS_MAX ? options->timeout_ms : OPEN_MS_MAX,
            &place->client, err);
    redis_login_wipe(&access.login);
    return rc;
}

static enum error_code open_either(const char *name, bool is_tls,
                                   const struct object_options *options, void **state,
                                   struct error *err)
{
    struct cluster_place *place = NULL;
    enum error_code rc = memory_new(&place, 1, "a store in a Redis Cluster", err);
    if (rc != ERROR_NONE)
        return rc;
    rc = cluster_address_parse(name, is_tls, &place->address, err);
    if (rc == ERROR_NONE)
        rc = find_cluster(place, options, err);
    for (int tag = 0; tag < CLUSTER_TAG_COUNT; tag++) {
        const struct cluster_name any = cluster_name(place, tag, "", "");
        place->slot[tag] = cluster_slot(any.text, strlen(any.text));
    }
    if (rc == ERROR_NONE)
        rc = look_for_store(place, options->make, err);
    if (rc == ERROR_NONE)
        rc = scratch_space_init_on_host(&place->scratch, err);
    if (rc != ERROR_NONE) {
        cluster_client_close(place->client);
        memory_free(place);
        return rc;
    }
    kept_manifests_init(&place->manifests);
    *state = place;
    return ERROR_NONE;
}

static enum error_code open_plain(const char *name, const struct object_options *options,
                                  void **state, struct error *err)
{
    return open_either(name, false, options, state, err);
}

static enum error_code open_tls(const char *name, const struct object_options *options,
                                void **state, struct error *err)
{
    return open_either(name, true, options, state, err);
}

static unsigned capabilities_of(const void *state)
{
    (void)state;
    return STORE_IS_SHARED | STORE_HAS_CHEAP_RECORDS;
}

static const char *no_folder(const void *state)
{
    (void)state;
    return NULL;
}

/* --- records and artifacts --- */

/* Waits until a replica has the record. A replica that acknowledges has everything that its master
 * was sent before. */
static enum error_code flush_record(void *state, const char *key, struct error *err)
{
    const int tag = cluster_tag(key);
    struct cluster_batch batch;
    int64_t found = 0;
    enum error_code rc = cluster_batch_init(&batch, state, 2, err);
    if (rc != ERROR_NONE)
        return rc;
    cluster_batch_add(&batch, tag, "EXISTS", key, "record");
    cluster_batch_add(&batch, tag, "SET", "", "flushed");
    cluster_words_add(cluster_batch_last(&batch), "1");
    cluster_batch_wait_for_replica(&batch);
    rc = cluster_batch_perform(&batch, err);
    if (rc == ERROR_NONE)
        (void)redis_reply_is_integer(cluster_batch_reply(&batch, 0), &found);
    cluster_batch_release(&batch);
    return rc == ERROR_NONE && found == 0 ? error_set(err, ERROR_NOT_FOUND, "%s", key) : rc;
}

static enum error_code has_key(void *state, const char *key, bool *found, struct error *err)
{
    const int tag = cluster_tag(key);
    struct cluster_batch batch;
    int64_t number = 0;
    enum error_code rc = cluster_batch_init(&batch, state, 2, err);
    if (rc != ERROR_NONE)
        return rc;
    cluster_batch_add(&batch, tag, "EXISTS", key, "record");
    cluster_batch_add(&batch, tag, "EXISTS", key, "artifact");
    rc = cluster_batch_perform(&batch, err);
    *found = false;
    for (size_t i = 0; rc == ERROR_NONE && i < 2; i++)
        if (redis_reply_is_integer(cluster_batch_reply(&batch, i), &number))
            *found |= number != 0;
    cluster_batch_release(&batch);
    return rc;
}

/* Computes the age from the time of the last use, since Redis stores no time of writing. Reading
 * through this store counts as a use. */
static enum error_code age_of(void *state, const char *key, bool is_ref, int64_t *seconds,
                              struct error *err)
{
    static const char *const kinds[] = {"record", "artifact"};
    const int tag = cluster_tag(key);
    if (is_ref)
        return cluster_ref_age(state, key, seconds, err);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct cluster_name name = cluster_name(state, tag, key, kinds[i]);
        struct cluster_words words = {0};
        cluster_words_add(&words, "OBJECT");
        cluster_words_add(&words, "IDLETIME");
        cluster_words_add(&words, name.text);
        struct cluster_command command = cluster_command(state, tag, &words);
        const enum error_code rc = cluster_perform_one(state, &command, &words, err);
        const bool found = rc == ERROR_NONE && redis_reply_is_integer(command.reply, seconds);
        cluster_command_release(&command);
        cluster_words_release(&words);
        if (rc != ERROR_NONE || found)
            return rc;
    }
    return error_set(err, ERROR_NOT_FOUND, "%s", key);
}

static enum error_code remove_key(void *state, const char *key, struct error *err)
{
    const enum error_code rc = cluster_record_remove(state, key, err);
    return rc == ERROR_NONE ? cluster_artifact_remove(state, key, err) : rc;
}

/* --- scratch --- */

static enum error_code make_scratch(void *state, char path[FILE_PATH_SIZE], struct error *err)
{
    struct cluster_place *place = state;
    return scratch_space_folder(&place->scratch, path, err);
}

static enum error_code sweep(void *state, struct error *err)
{
    struct cluster_place *place = state;
    const enum error_code rc = cluster_drafts_sweep(place, err);
    return rc == ERROR_NONE ? scratch_space_sweep(&place->scratch, err) : rc;
}

/* --- where it is --- */

static enum error_code locate(const char *place, bool is_tls, struct store_location *out,
                              struct error *err)
{
    struct cluster_address address;
    enum error_code rc = cluster_address_parse(place, is_tls, &address, err);
    for (int i = 0; rc == ERROR_NONE && i < address.seed_count; i++)
        rc = store_location_add_port(out, address.seed[i].port, err);
    return rc;
}

static enum error_code locate_plain(const char *place, struct store_location *out,
                                    struct error *err)
{
    return locate(place, false, out, err);
}

static enum error_code locate_tls(const char *place, struct store_location *out, struct error *err)
{
    return locate(place, true, out, err);
}

/* --- tests --- */

void cluster_store_damage(void *state, const char *key, const void *bytes, size_t size)
{
    struct cluster_batch batch;
    must(cluster_batch_init(&batch, state, 1, NULL) == ERROR_NONE);
    cluster_batch_add(&batch, cluster_tag(key), "SET", key, "record");
    cluster_words_add_bytes(cluster_batch_last(&batch), bytes, size);
    must(cluster_batch_perform(&batch, NULL) == ERROR_NONE);
    cluster_batch_release(&batch);
}

/* The entries that both backends share; names and open() differ. */
#define CLUSTER_FUNCTIONS                                                                          \
    .close = close_place, .capabilities = capabilities_of, .folder = no_folder,                    \
    .put_if_absent = cluster_record_put, .flush = flush_record,                                    \
    .get_many = cluster_record_get_many, .delete_if_match = cluster_record_discard,                \
    .scratch = make_scratch, .publish = cluster_artifact_publish, .files = cluster_artifact_files, \
    .get_range = cluster_artifact_read, .sweep = sweep, .has = has_key, .remove = remove_key,      \
    .age = age_of, .list = cluster_list_keys, .ref_get = cluster_ref_get,                          \
    .ref_set = cluster_ref_set, .ref_cas = cluster_ref_exchange, .ref_list = cluster_ref_list,     \
    .note_put = cluster_note_put, .note_get = cluster_note_get,                                    \
    .memory_share = cluster_memory_share

const struct object_backend cluster_backend = {
    .scheme = "redis+cluster", .open = open_plain, .locate = locate_plain, CLUSTER_FUNCTIONS};

const struct object_backend cluster_tls_backend = {
    .scheme = "rediss+cluster", .open = open_tls, .locate = locate_tls, CLUSTER_FUNCTIONS};
