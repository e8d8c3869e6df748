#include "stages/ingest/update/dataset_versions.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/ingest/update/update_reader.h"
#include "stages/ingest/update/version_chain.h"
#include "stages/ingest/update/version_writer.h"
#include "stages/plan/model/identity.h"
#include "store/objects/store_kept.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/records/dataset/dataset_merge.h"

#include <stdio.h>
#include <string.h>

/* The limit for attempts. Each failed attempt means that another update made the chain longer. */
enum { ATTEMPTS_MAX = 100 };

/* ---- making records again
 * --------------------------------------------------------------------- */

static enum error_code build(const struct version_place *place, const char *id,
                             const struct dataset_delta *delta, const struct update_places *places,
                             enum version_form form, struct error *err)
{
    const enum error_code rc = version_writer_run(place->store, place->settings, id, delta, places,
                                                  form, place->memory_bytes, err);
    return rc == ERROR_NONE && store_may_write(place->store) ? identity_note(place->store, id, err)
                                                             : rc;
}

static enum error_code get_delta(const struct version_place *place, const char *id,
                                 struct dataset_delta *delta, struct error *err)
{
    const enum error_code rc = dataset_delta_get(place->store, id, delta, err);
    if (rc == ERROR_CORRUPT)
        return error_context(
            err, rc,
            "dataset %s: graphmill update with the files that the version was made of "
            "makes its delta again",
            id);
    if (rc != ERROR_NOT_FOUND)
        return rc;
    return error_set(
        err, ERROR_CORRUPT,
        "dataset %s: expected the record %s, which says what this version changed: found "
        "none; graphmill update with the files that the version was made of makes it again",
        id, key_dataset(id, "delta").text);
}

/* Finds the earliest missing record set that reading `id` needs: *absent, "" when none is missing.
 * Candidates are the version itself and the versions before it, as long as they are merged, or
 * missing and thus to be made from the one before. */
static enum error_code find_absent(const struct version_place *place, const char *id,
                                   char absent[ID_SIZE], struct error *err)
{
    char at[ID_SIZE], base[ID_SIZE];
    absent[0] = '\0';
    (void)text_copy(at, sizeof at, id);
    for (;;) {
        struct dataset_delta delta;
        bool found = false;
        enum error_code rc = store_has(place->store, key_dataset(at, "schema").text, &found, err);
        if (rc == ERROR_NONE && found)
            rc = dataset_merge_base(place->store, at, base, err);
        if (rc != ERROR_NONE || (found && !base[0]))
            return rc;
        if (!found)
            (void)text_copy(absent, ID_SIZE, at);
        if (strcmp(at, place->root) == 0)
            return ERROR_NONE;
        rc = get_delta(place, at, &delta, err);
        if (rc != ERROR_NONE)
            return rc;
        (void)text_copy(at, sizeof at, delta.base);
        store_release_record(&delta.view);
    }
}

enum error_code dataset_versions_has(const struct version_place *place, const char *id, bool *found,
                                     struct error *err)
{
    char absent[ID_SIZE];
    bool has_schema = false;
    enum error_code rc = store_has(place->store, key_dataset(id, "schema").text, &has_schema, err);
    *found = false;
    if (rc != ERROR_NONE || !has_schema)
        return rc;
    rc = find_absent(place, id, absent, err);
    *found = rc == ERROR_NONE && !absent[0];
    return rc;
}

static enum error_code restore_one(const struct version_place *place, const char *id,
                                   enum version_form form, struct error *err)
{
    struct dataset_delta delta;
    enum error_code rc = get_delta(place, id, &delta, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = build(place, id, &delta, NULL, form, err);
    store_release_record(&delta.view);
    return rc;
}

enum error_code dataset_versions_restore(const struct version_place *place, const char *id,
                                         bool anew, bool *needs_root, struct error *err)
{
    char absent[ID_SIZE] = "", base[ID_SIZE] = "";
    bool found = false;
    *needs_root = false;
    enum error_code rc = find_absent(place, id, absent, err);
    while (rc == ERROR_NONE && absent[0]) {
        *needs_root = strcmp(absent, place->root) == 0;
        if (*needs_root)
            return ERROR_NONE;
        found |= strcmp(absent, id) == 0;
        rc = restore_one(place, absent, VERSION_AS_FITS, err);
        /* a replay compares and makes nothing */
        if (rc == ERROR_NONE && !store_may_write(place->store))
            break;
        if (rc == ERROR_NONE)
            rc = find_absent(place, id, absent, err);
    }
    if (rc != ERROR_NONE || !anew || found)
        return rc;
    rc = dataset_merge_base(place->store, id, base, err); /* in the form that it has already */
    return rc == ERROR_NONE ? restore_one(place, id, base[0] ? VERSION_MERGED : VERSION_WHOLE, err)
                            : rc;
}

/* ---- a further version
 * --------------------------------------------------------------------------- */

static enum error_code read_update(const struct version_place *place,
                                   const struct update_request *request, const char *base,
                                   struct update_reader *reader, struct dataset_schema *schema,
                                   struct error *err)
{
    *reader = (struct update_reader){.store = place->store,
                                     .settings = place->settings,
                                     .request = request,
                                     .schema = schema,
                                     .memory_bytes = place->memory_bytes};
    const enum error_code rc = dataset_schema_get(place->store, base, schema, err);
    return rc == ERROR_NONE ? update_reader_run(reader, err) : rc;
}

/* Computes the id of the version that the delta makes of `base`. */
static enum error_code name_version(const struct version_place *place, const char *base,
                                    struct dataset_delta *delta, char id[ID_SIZE],
                                    struct error *err)
{
    char text[ID_SIZE + CHECKSUM_TEXT_SIZE], content[CHECKSUM_TEXT_SIZE], before[ID_SIZE];
    char digits[IDENTITY_DIGITS_SIZE];
    bool has_delta = false;
    delta->depth = 1;
    (void)text_copy(delta->base, sizeof delta->base, base);
    (void)text_copy(delta->root, sizeof delta->root, place->root);
    if (strcmp(base, place->root) != 0) {
        const enum error_code rc =
            version_chain_base(place, base, before, &delta->depth, &has_delta, err);
        if (rc != ERROR_NONE)
            return rc;
        if (!delta->depth)
            return error_set(
                err, ERROR_CORRUPT,
                "dataset %s: its record %s and the ref that names the version before it are lost; "
                "graphmill update with the files that it was made of makes them again",
                base, key_dataset(base, "delta").text);
        delta->depth++;
    }
    /* The hash uses only the digits of ids, as all ids do: the name of a dataset does not count. */
    struct dataset_delta nameless = *delta;
    nameless.base[0] = nameless.root[0] = '\0';
    dataset_delta_content(&nameless, content);
    (void)snprintf(text, sizeof text, "%s %s", identity_digits_of(base), content);
    identity_digits("version", text, digits);
    return identity_find(place->store, digits, place->settings->name, id, err);
}

/* Finds the version that was made of the one that the files are for; later versions may have
 * followed. It is the newest one if there is none, or if the request does not say which version the
 * files are for. */
static enum error_code find_made(const struct version_place *place,
                                 const struct update_request *request, const char *newest,
                                 char id[ID_SIZE], struct error *err)
{
    (void)text_copy(id, ID_SIZE, newest);
    while (request->base && strcmp(id, place->root) != 0) {
        char base[ID_SIZE];
        uint64_t depth = 0;
        bool has_delta = false;
        const enum error_code rc = version_chain_base(place, id, base, &depth, &has_delta, err);
        if (rc != ERROR_NONE)
            return rc;
        if (strcmp(base, request->base) == 0)
            return ERROR_NONE;
        (void)text_copy(id, ID_SIZE, base);
    }
    (void)text_copy(id, ID_SIZE, newest);
    return ERROR_NONE;
}

/* The data that one attempt reads of an update. It is too large for the stack, so it is
 * allocated. */
struct attempt {
    struct update_reader reader;
    struct dataset_schema schema; /* schema of the base */
};

static void attempt_free(struct attempt *attempt)
{
    if (attempt)
        update_reader_release(&attempt->reader);
    memory_free(attempt);
}

/* Reads the files as an update of `base`, and computes the id of the version that they make. */
static enum error_code attempt_new(const struct version_place *place,
                                   const struct update_request *request, const char *base,
                                   struct attempt **out, char id[ID_SIZE], struct error *err)
{
    enum error_code rc = memory_new(out, 1, "an update", err);
    if (rc == ERROR_NONE)
        rc = read_update(place, request, base, &(*out)->reader, &(*out)->schema, err);
    return rc == ERROR_NONE ? name_version(place, base, &(*out)->reader.delta, id, err) : rc;
}

/* Stores the delta. A delta that a killed command left is kept, because it has the same content,
 * except for the names of its files. A damaged one is replaced. */
static enum error_code put_delta(const struct version_place *place, struct dataset_delta *delta,
                                 const char *id, struct error *err)
{
    struct dataset_delta there;
    if (dataset_delta_get(place->store, id, &there, NULL) != ERROR_NONE) {
        const enum error_code rc =
            store_remove_damaged(place->store, key_dataset(id, "delta").text, err);
        return rc == ERROR_NONE ? dataset_delta_put(place->store, id, delta, err) : rc;
    }
    must(text_copy(delta->negative_weight, sizeof delta->negative_weight, there.negative_weight));
    store_release_record(&there.view);
    return ERROR_NONE;
}

/* Sets *done to whether a version is what these files make of the one before it. If so, and its
 * delta is lost or damaged, makes the delta again. */
static enum error_code was_done(const struct version_place *place,
                                const struct update_request *request, const char *version,
                                bool *done, struct error *err)
{
    struct attempt *attempt = NULL;
    char base[ID_SIZE], id[ID_SIZE];
    uint64_t depth = 0;
    bool has_delta = false;
    *done = false;
    enum error_code rc = version_chain_base(place, version, base, &depth, &has_delta, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = attempt_new(place, request, base, &attempt, id, err);
    *done = rc == ERROR_NONE && strcmp(id, version) == 0;
    /* the version before is gone, or the files do not fit it: this is another update */
    if (rc == ERROR_INPUT || rc == ERROR_INVALID || rc == ERROR_NOT_FOUND)
        rc = ERROR_NONE;
    if (*done && !has_delta && store_may_write(place->store)) {
        rc = put_delta(place, &attempt->reader.delta, id, err);
        if (rc == ERROR_NONE)
            log_info("the delta of version %s was lost, and is made again from the same files", id);
    }
    attempt_free(attempt);
    return rc;
}

/* Restores the base if possible, and finds out whether the files make the version of it. */
static enum error_code try_files(const struct version_place *place,
                                 const struct update_request *request, const char *base,
                                 const char *version, bool *done, struct error *err)
{
    bool needs_root = false;
    const enum error_code rc = strcmp(base, place->root) == 0
                                   ? ERROR_NONE
                                   : dataset_versions_restore(place, base, false, &needs_root, err);
    return rc == ERROR_NONE ? was_done(place, request, version, done, err) : rc;
}

enum error_code dataset_versions_repair(const struct version_place *place,
                                        const struct update_request *request, const char *newest,
                                        bool *repaired, struct error *err)
{
    char at[ID_SIZE], base[ID_SIZE];
    (void)text_copy(at, sizeof at, newest);
    *repaired = false;
    while (!*repaired && strcmp(at, place->root) != 0) {
        uint64_t depth = 0;
        bool has_delta = false;
        enum error_code rc = version_chain_base(place, at, base, &depth, &has_delta, NULL);
        /* nothing shows what the base was made of */
        if (rc != ERROR_NONE)
            return rc == ERROR_CORRUPT ? ERROR_NONE : rc;
        if (!has_delta)
            rc = try_files(place, request, base, at, repaired, err);
        if (rc != ERROR_NONE && rc != ERROR_CORRUPT) /* the version before may be lost, too */
            return rc;
        (void)text_copy(at, sizeof at, base);
    }
    if (*repaired)
        store_kept_forget(place->store);
    return ERROR_NONE;
}

enum error_code dataset_versions_settle(const struct version_place *place,
                                        const struct update_request *request, bool *settled,
                                        struct error *err)
{
    struct attempt *attempt = NULL;
    char base[ID_SIZE], id[ID_SIZE], other[ID_SIZE];
    bool lost = false;
    *settled = false;
    enum error_code rc = version_chain_last(place, base, err);
    if (rc == ERROR_NONE)
        rc = attempt_new(place, request, base, &attempt, id, err);
    if (rc == ERROR_NONE)
        rc = store_has(place->store, key_dataset(id, "schema").text, settled, err);
    if (rc == ERROR_NONE && *settled)
        rc = version_chain_claim(place, base, id, &lost, other, err);
    attempt_free(attempt);
    return rc;
}

static enum error_code remove_key(void *store, const char *key, bool is_artifact, struct error *err)
{
    (void)is_artifact;
    return store_remove(store, key, err);
}

/* Removes a version that lost against a faster one. No other version will ever be made of it. */
static enum error_code discard(const struct version_place *place, const char *id, struct error *err)
{
    enum error_code rc = store_remove(place->store, key_dataset(id, "delta").text, err);
    if (rc == ERROR_NONE)
        rc = store_remove(place->store, key_dataset(id, "schema").text, err);
    return rc == ERROR_NONE
               ? store_list(place->store, key_dataset(id, "").text, remove_key, place->store, err)
               : rc;
}

/* Stores the version and makes it the next one. *lost: another version of the same base became the
 * next one, and this one is removed. If a version is refused while it is made, its delta is
 * removed, too. */
static enum error_code put_version(const struct version_place *place, struct update_reader *reader,
                                   const char *id, bool *lost, struct error *err)
{
    const struct update_request *request = reader->request;
    const struct update_places places = {.paths = &reader->paths,
                                         .edge_place = reader->edge_place,
                                         .nodes = &reader->nodes,
                                         .removal = request->remove_edges ? request->remove_edges
                                                                          : request->remove_nodes};
    char other[ID_SIZE] = "";
    bool found = false;
    enum error_code rc = store_has(place->store, key_dataset(id, "schema").text, &found, err);
    if (rc == ERROR_NONE)
        rc = put_delta(place, &reader->delta, id, err);
    if (rc == ERROR_NONE && !found)
        rc = build(place, id, &reader->delta, &places, VERSION_AS_FITS, err);
    if (rc == ERROR_INPUT)
        error_ignore(store_remove(place->store, key_dataset(id, "delta").text, NULL));
    if (rc == ERROR_NONE)
        rc = version_chain_claim(place, reader->delta.base, id, lost, other, err);
    if (rc != ERROR_NONE || !*lost)
        return rc;
    log_info("another update made the version %s of %s meanwhile: this one is applied to that",
             other, reader->delta.base);
    return discard(place, id, err);
}

static enum error_code check_base(const struct update_request *request, const char *newest,
                                  struct error *err)
{
    if (!request->base || strcmp(request->base, newest) == 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "--base: the files are for version %s, but the newest is %s: expected an "
                     "update of that one",
                     request->base, newest);
}

/* Makes one attempt on the current newest version. *lost: another update was faster. */
static enum error_code update_newest(const struct version_place *place,
                                     const struct update_request *request, char id[ID_SIZE],
                                     bool *unchanged, bool *lost, struct error *err)
{
    char newest[ID_SIZE], made[ID_SIZE];
    struct attempt *attempt = NULL;
    *lost = *unchanged = false;
    enum error_code rc = version_chain_newest(place, newest, err);
    const bool is_for_newest =
        rc == ERROR_NONE && request->base && strcmp(request->base, newest) == 0;
    if (rc == ERROR_NONE && strcmp(newest, place->root) != 0 && !is_for_newest) {
        rc = find_made(place, request, newest, made, err);
        if (rc == ERROR_NONE)
            rc = was_done(place, request, made, unchanged, err);
    }
    (void)text_copy(id, ID_SIZE, newest);
    if (rc != ERROR_NONE || *unchanged)
        return rc;
    rc = check_base(request, newest, err);
    if (rc == ERROR_NONE)
        rc = attempt_new(place, request, newest, &attempt, id, err);
    if (rc == ERROR_NONE)
        rc = put_version(place, &attempt->reader, id, lost, err);
    attempt_free(attempt);
    return rc;
}

enum error_code dataset_versions_update(const struct version_place *place,
                                        const struct update_request *request, char id[ID_SIZE],
                                        bool *unchanged, struct error *err)
{
    bool lost = true;
    enum error_code rc = ERROR_NONE;
    for (int i = 0; rc == ERROR_NONE && lost && i < ATTEMPTS_MAX; i++)
        rc = update_newest(place, request, id, unchanged, &lost, err);
    return rc == ERROR_NONE && lost ? error_set(err, ERROR_BUSY,
                                                "other updates of %s were faster %d times: " ADVICE
                                                "give this one again",
                                                place->root, ATTEMPTS_MAX)
                                    : rc;
}
