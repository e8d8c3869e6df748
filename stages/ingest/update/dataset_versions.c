#include "stages/ingest/update/dataset_versions.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/ingest/update/update_reader.h"
#include "stages/ingest/update/version_writer.h"
#include "stages/plan/identity.h"
#include "store/records/dataset_delta.h"
#include "store/records/dataset_merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct key newest_key(const char *root)
{
    return key_current("version", identity_digits_of(root));
}

/* ---- the newest --------------------------------------------------------------------------------- */

struct search {
    const struct version_place *place;
    uint64_t depth;
    char id[ID_SIZE];
};

/* Every whole version of the root. A damaged delta is not one that could be gone on from. */
static enum error_code consider(void *context, const char *key, bool is_artifact, struct error *err)
{
    static const char before[] = "dataset/", behind[] = "/delta";
    struct search *search = context;
    const size_t size = strlen(key);
    char id[ID_SIZE];
    struct dataset_delta delta;
    bool found = false;
    const size_t around = sizeof before - 1 + sizeof behind - 1;
    if (is_artifact || size <= around || size - around >= sizeof id ||
        strcmp(key + size - (sizeof behind - 1), behind) != 0)
        return ERROR_NONE;
    (void)snprintf(id, sizeof id, "%.*s", (int)(size - around), key + sizeof before - 1);
    if (dataset_delta_get(search->place->store, id, &delta, NULL) != ERROR_NONE)
        return ERROR_NONE;
    const bool is_longer =
        strcmp(delta.root, search->place->root) == 0 && delta.depth > search->depth;
    const uint64_t depth = delta.depth;
    store_release_record(&delta.view);
    const enum error_code rc =
        store_has(search->place->store, key_dataset(id, "schema").text, &found, err);
    if (rc != ERROR_NONE || !found || !is_longer)
        return rc;
    search->depth = depth;
    (void)text_copy(search->id, sizeof search->id, id);
    return ERROR_NONE;
}

static enum error_code find_longest(const struct version_place *place, char id[ID_SIZE],
                                    struct error *err)
{
    struct search search = {.place = place};
    (void)text_copy(search.id, sizeof search.id, place->root);
    const enum error_code rc = store_list(place->store, "dataset", consider, &search, err);
    (void)text_copy(id, ID_SIZE, search.id);
    if (rc == ERROR_NONE && search.depth)
        log_info("%s is the newest version that the store has, and the switch %s was not set", id,
                 newest_key(place->root).text);
    return rc;
}

enum error_code dataset_versions_newest(const struct version_place *place, char id[ID_SIZE],
                                        struct error *err)
{
    const enum error_code rc =
        store_switch_get(place->store, newest_key(place->root).text, id, ID_SIZE, err);
    if (rc != ERROR_NOT_FOUND && rc != ERROR_CORRUPT)
        return rc;
    return find_longest(place, id, err);
}

enum error_code dataset_versions_mend(const struct version_place *place, const char *newest,
                                      struct error *err)
{
    const struct key key = newest_key(place->root);
    char now[ID_SIZE];
    const enum error_code rc = store_switch_get(place->store, key.text, now, sizeof now, err);
    if (rc == ERROR_NONE || (rc != ERROR_NOT_FOUND && rc != ERROR_CORRUPT))
        return rc;
    return store_switch_set(place->store, key.text, newest, err);
}

/* ---- made again ---------------------------------------------------------------------------------- */

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
    if (rc != ERROR_NOT_FOUND)
        return rc;
    return error_set(err, ERROR_CORRUPT,
                     "dataset %s: expected the record %s, from which what is lost of this version "
                     "can be made again: found none; a folder of another name begins anew",
                     id, key_dataset(id, "delta").text);
}

/* What `id` is read with and is not there, the furthest back: *absent, "" when nothing is. That is the version itself and, as long as they
 * are merged, or absent and so made of it, the ones before. */
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
        if (rc == ERROR_NONE && !store_may_write(place->store))
            break; /* a replay compares, and makes nothing */
        if (rc == ERROR_NONE)
            rc = find_absent(place, id, absent, err);
    }
    if (rc != ERROR_NONE || !anew || found)
        return rc;
    rc = dataset_merge_base(place->store, id, base, err); /* in the form that it has */
    return rc == ERROR_NONE ? restore_one(place, id, base[0] ? VERSION_MERGED : VERSION_WHOLE, err)
                            : rc;
}

/* ---- a further one ------------------------------------------------------------------------------- */

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

/* The id of the version that the delta makes of `base`. */
static enum error_code name_version(const struct version_place *place, const char *base,
                                    struct dataset_delta *delta, char id[ID_SIZE],
                                    struct error *err)
{
    struct dataset_delta before;
    char text[ID_SIZE + CHECKSUM_TEXT_SIZE], content[CHECKSUM_TEXT_SIZE];
    char digits[IDENTITY_DIGITS_SIZE];
    delta->depth = 1;
    (void)text_copy(delta->base, sizeof delta->base, base);
    (void)text_copy(delta->root, sizeof delta->root, place->root);
    if (strcmp(base, place->root) != 0) {
        const enum error_code rc = dataset_delta_get(place->store, base, &before, err);
        if (rc != ERROR_NONE)
            return rc;
        delta->depth = before.depth + 1;
        store_release_record(&before.view);
    }
    /* By the digits alone, as all ids: what a dataset is called does not count. */
    struct dataset_delta nameless = *delta;
    nameless.base[0] = nameless.root[0] = '\0';
    dataset_delta_content(&nameless, content);
    (void)snprintf(text, sizeof text, "%s %s", identity_digits_of(base), content);
    identity_digits("version", text, digits);
    return identity_find(place->store, digits, place->settings->name, id, err);
}

/* The version of the chain that was made of the one that the files are for, which others may stand on by now; the newest where
 * there is none, or nothing says which they are for. */
static enum error_code find_made(const struct version_place *place,
                                 const struct update_request *request, const char *newest,
                                 char id[ID_SIZE], struct error *err)
{
    (void)text_copy(id, ID_SIZE, newest);
    while (request->base && strcmp(id, place->root) != 0) {
        struct dataset_delta delta;
        const enum error_code rc = dataset_delta_get(place->store, id, &delta, err);
        if (rc != ERROR_NONE)
            return rc;
        const bool is_made = strcmp(delta.base, request->base) == 0;
        if (!is_made)
            (void)text_copy(id, ID_SIZE, delta.base);
        store_release_record(&delta.view);
        if (is_made)
            return ERROR_NONE;
    }
    (void)text_copy(id, ID_SIZE, newest);
    return ERROR_NONE;
}

/* Whether a version is what these files made of the one before it. */
static enum error_code was_done(const struct version_place *place,
                                const struct update_request *request, const char *version,
                                bool *done, struct error *err)
{
    struct dataset_delta last;
    struct update_reader *reader = NULL;
    struct dataset_schema *schema = NULL;
    char id[ID_SIZE];
    *done = false;
    enum error_code rc = dataset_delta_get(place->store, version, &last, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = memory_new(&reader, 1, "an update", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&schema, 1, "a schema", err);
    if (rc == ERROR_NONE)
        rc = read_update(place, request, last.base, reader, schema, err);
    if (rc == ERROR_NONE)
        rc = name_version(place, last.base, &reader->delta, id, err);
    *done = rc == ERROR_NONE && strcmp(id, version) == 0;
    if (rc == ERROR_INPUT || rc == ERROR_INVALID || rc == ERROR_NOT_FOUND)
        rc =
            ERROR_NONE; /* the version before is gone, or the files do not fit it: another update */
    if (reader)
        update_reader_release(reader);
    memory_free(reader);
    memory_free(schema);
    store_release_record(&last.view);
    return rc;
}

/* One that is there, of a command that was killed, says the same, but for what its files were called, by which it stays. */
static enum error_code put_delta(const struct version_place *place, struct dataset_delta *delta,
                                 const char *id, struct error *err)
{
    struct dataset_delta there;
    if (dataset_delta_get(place->store, id, &there, NULL) != ERROR_NONE)
        return dataset_delta_put(place->store, id, delta, err);
    must(text_copy(delta->negative_weight, sizeof delta->negative_weight, there.negative_weight));
    store_release_record(&there.view);
    return ERROR_NONE;
}

/* What is refused while the version is made leaves no delta behind. */
static enum error_code put_version(const struct version_place *place, struct update_reader *reader,
                                   const char *id, struct error *err)
{
    const struct update_request *request = reader->request;
    const struct update_places places = {.paths = &reader->paths,
                                         .edge_place = reader->edge_place,
                                         .nodes = &reader->nodes,
                                         .removal = request->remove_edges ? request->remove_edges
                                                                          : request->remove_nodes};
    bool found = false;
    enum error_code rc = store_has(place->store, key_dataset(id, "schema").text, &found, err);
    if (rc == ERROR_NONE)
        rc = put_delta(place, &reader->delta, id, err);
    if (rc == ERROR_NONE && !found)
        rc = build(place, id, &reader->delta, &places, VERSION_AS_FITS, err);
    if (rc == ERROR_INPUT)
        error_ignore(store_remove(place->store, key_dataset(id, "delta").text, NULL));
    return rc == ERROR_NONE ? store_switch_set(place->store, newest_key(place->root).text, id, err)
                            : rc;
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

enum error_code dataset_versions_update(const struct version_place *place,
                                        const struct update_request *request, char id[ID_SIZE],
                                        bool *unchanged, struct error *err)
{
    char newest[ID_SIZE], made[ID_SIZE];
    struct update_reader *reader = NULL;
    struct dataset_schema *schema = NULL;
    *unchanged = false;
    enum error_code rc = dataset_versions_newest(place, newest, err);
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
        rc = memory_new(&reader, 1, "an update", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&schema, 1, "a schema", err);
    if (rc == ERROR_NONE)
        rc = read_update(place, request, newest, reader, schema, err);
    if (rc == ERROR_NONE)
        rc = name_version(place, newest, &reader->delta, id, err);
    if (rc == ERROR_NONE)
        rc = put_version(place, reader, id, err);
    if (reader)
        update_reader_release(reader);
    memory_free(reader);
    memory_free(schema);
    return rc;
}
