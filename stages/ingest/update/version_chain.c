#include "stages/ingest/update/version_chain.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/plan/model/identity.h"
#include "store/records/dataset/dataset_delta.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two updates at once leave two whole versions of one base until the faster one sets the link. A
 * search that sees both waits and tries again. */
enum { SEARCH_ATTEMPTS = 20, SEARCH_PAUSE_MS = 50, EXCHANGE_ATTEMPTS = 100 };

static struct key newest_key(const char *root)
{
    return key_current("version", identity_digits_of(root));
}

static struct key next_key(const char *id)
{
    return key_current("next", identity_digits_of(id));
}

/* Follows the links from `id` to the last version. */
static enum error_code follow_links(const struct version_place *place, char id[ID_SIZE],
                                    struct error *err)
{
    char next[ID_SIZE];
    for (;;) {
        const struct key key = next_key(id);
        const enum error_code rc = identity_named(place->store, &key, next, err);
        if (rc != ERROR_NONE || !next[0])
            return rc;
        (void)text_copy(id, ID_SIZE, next);
    }
}

enum error_code version_chain_leads(struct store *store, const char *from, const char *to,
                                    bool *leads, struct error *err)
{
    char at[ID_SIZE];
    (void)text_copy(at, sizeof at, from);
    for (;;) {
        *leads = strcmp(at, to) == 0;
        const struct key key = next_key(at);
        const enum error_code rc = *leads ? ERROR_NONE : identity_named(store, &key, at, err);
        if (rc != ERROR_NONE || *leads || !at[0])
            return rc;
    }
}

/* ---- versions that no link names
 * -------------------------------------------------------------- */

struct version_name {
    char id[ID_SIZE];
    char base[ID_SIZE]; /* if its delta can be read and no link names the version; else "" */
    bool is_base;       /* another version was made of it */
};

struct version_names {
    struct version_name *name; /* [count], owned */
    size_t count, capacity;
};

static enum error_code add_name(struct version_names *names, const char *id, size_t size,
                                struct error *err)
{
    struct version_name added = {0};
    if (size == 0 || size >= sizeof added.id)
        return ERROR_NONE;
    memcpy(added.id, id, size);
    const enum error_code rc =
        memory_grow(&names->name, &names->capacity, names->count + 1, "names of versions", err);
    if (rc == ERROR_NONE)
        names->name[names->count++] = added;
    return rc;
}

static int by_digits(const void *a, const void *b)
{
    const struct version_name *x = a, *y = b;
    return strcmp(identity_digits_of(x->id), identity_digits_of(y->id));
}

static void sort_names(struct version_names *names)
{
    if (names->count)
        qsort(names->name, names->count, sizeof *names->name, by_digits);
}

/* Finds the version of these digits, or NULL. */
static struct version_name *find_name(const struct version_names *names, const char *id)
{
    struct version_name name = {0};
    (void)text_copy(name.id, sizeof name.id, id);
    return names->count ? bsearch(&name, names->name, names->count, sizeof name, by_digits) : NULL;
}

/* A search for versions that no link names. */
struct search {
    const struct version_place *place;
    const char *last; /* the version where the links end */
    struct version_names deltas, whole, linked;
    char found[2][ID_SIZE];
    int count; /* number of entries of `found`; 2 may stand for more */
};

static void search_release(struct search *search)
{
    memory_free(search->deltas.name);
    memory_free(search->whole.name);
    memory_free(search->linked.name);
}

/* Notes the keys dataset/<id>/delta and dataset/<id>/schema. */
static enum error_code note_record(void *context, const char *key, bool is_artifact,
                                   struct error *err)
{
    struct search *search = context;
    const char *id = key + strlen("dataset/");
    const size_t size = strcspn(id, "/");
    if (is_artifact || (strcmp(id + size, "/delta") != 0 && strcmp(id + size, "/schema") != 0))
        return ERROR_NONE;
    return add_name(id[size + 1] == 'd' ? &search->deltas : &search->whole, id, size, err);
}

/* Notes the refs current/next/<digits> as linked, and current/id/<digits>, which is set once a
 * version is whole, as whole. */
static enum error_code note_switch(void *context, const char *key, bool is_artifact,
                                   struct error *err)
{
    static const char next[] = "current/next/", id[] = "current/id/";
    struct search *search = context;
    (void)is_artifact;
    if (strncmp(key, next, sizeof next - 1) == 0)
        return add_name(&search->linked, key + sizeof next - 1, strlen(key) - sizeof next + 1, err);
    if (strncmp(key, id, sizeof id - 1) == 0)
        return add_name(&search->whole, key + sizeof id - 1, strlen(key) - sizeof id + 1, err);
    return ERROR_NONE;
}

/* Reads the base of a version: "" for a version of another root, or if its delta cannot be read. */
static enum error_code read_base(const struct search *search, const char *id, char base[ID_SIZE],
                                 struct error *err)
{
    struct dataset_delta delta;
    const enum error_code rc = dataset_delta_get(search->place->store, id, &delta, err);
    base[0] = '\0';
    if (rc != ERROR_NONE)
        return rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT ? ERROR_NONE : rc;
    if (strcmp(delta.root, search->place->root) == 0)
        (void)text_copy(base, ID_SIZE, delta.base);
    store_release_record(&delta.view);
    return ERROR_NONE;
}

static enum error_code read_bases(struct search *search, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < search->deltas.count; i++) {
        struct version_name *version = &search->deltas.name[i];
        if (strcmp(version->id, search->last) == 0 || !find_name(&search->whole, version->id) ||
            find_name(&search->linked, version->id))
            continue;
        rc = read_base(search, version->id, version->base, err);
        struct version_name *base = find_name(&search->deltas, version->base);
        if (base)
            base->is_base = true;
    }
    return rc;
}

/* Sets *leads to whether the deltas lead from a version back to where the links end. */
static enum error_code leads_to_last(const struct search *search, const struct version_name *from,
                                     bool *leads, struct error *err)
{
    char at[ID_SIZE];
    (void)text_copy(at, sizeof at, from->base);
    while (at[0] && strcmp(at, search->last) != 0 && strcmp(at, search->place->root) != 0) {
        const struct version_name *known = find_name(&search->deltas, at);
        if (known && known->base[0]) {
            (void)text_copy(at, sizeof at, known->base);
            continue;
        }
        char base[ID_SIZE];
        const enum error_code rc = read_base(search, at, base, err);
        if (rc != ERROR_NONE)
            return rc;
        (void)text_copy(at, sizeof at, base);
    }
    *leads = strcmp(at, search->last) == 0;
    return ERROR_NONE;
}

static enum error_code seek_beyond(struct search *search, struct error *err)
{
    enum error_code rc = store_list(search->place->store, "dataset", note_record, search, err);
    if (rc == ERROR_NONE && search->deltas.count)
        rc = store_switch_list(search->place->store, note_switch, search, err);
    sort_names(&search->deltas);
    sort_names(&search->whole);
    sort_names(&search->linked);
    if (rc == ERROR_NONE)
        rc = read_bases(search, err);
    for (size_t i = 0; rc == ERROR_NONE && i < search->deltas.count; i++) {
        const struct version_name *version = &search->deltas.name[i];
        bool leads = false;
        if (!version->base[0] || version->is_base)
            continue;
        rc = leads_to_last(search, version, &leads, err);
        if (rc == ERROR_NONE && leads && search->count < 2)
            (void)text_copy(search->found[search->count++], ID_SIZE, version->id);
    }
    return rc;
}

/* Finds whole versions that were made of the last one but are named by no link. *count: 0, 1 or 2
 * (2 or more). */
static enum error_code find_beyond(const struct version_place *place, const char *last,
                                   char found[2][ID_SIZE], int *count, struct error *err)
{
    struct search search = {.place = place, .last = last};
    const enum error_code rc = seek_beyond(&search, err);
    *count = search.count;
    memcpy(found, search.found, sizeof search.found);
    search_release(&search);
    return rc;
}

/* ---- the newest ------------------------------------------------------------------------------ */

enum error_code version_chain_last(const struct version_place *place, char id[ID_SIZE],
                                   struct error *err)
{
    const struct key key = newest_key(place->root);
    const enum error_code rc = identity_named(place->store, &key, id, err);
    if (rc == ERROR_NONE && !id[0])
        (void)text_copy(id, ID_SIZE, place->root);
    return rc == ERROR_NONE ? follow_links(place, id, err) : rc;
}

static enum error_code say_two(const char *last, char found[2][ID_SIZE], struct error *err)
{
    return error_set(
        err, ERROR_CORRUPT,
        "dataset %s: the versions %s and %s were both made of it, and no ref says which one is the "
        "newest: expected one. graphmill update with the files of one of them makes it the newest "
        "version; the files of the other one can be given after that",
        last, found[0], found[1]);
}

enum error_code version_chain_newest(const struct version_place *place, char id[ID_SIZE],
                                     struct error *err)
{
    char found[2][ID_SIZE];
    int count = 2;
    for (int i = 0; i < SEARCH_ATTEMPTS && count == 2; i++) {
        if (i)
            clock_sleep_ms(SEARCH_PAUSE_MS);
        enum error_code rc = version_chain_last(place, id, err);
        if (rc == ERROR_NONE)
            rc = find_beyond(place, id, found, &count, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    if (count == 2)
        return say_two(id, found, err);
    if (count == 0)
        return ERROR_NONE;
    log_warn("dataset %s: the whole version %s was made of it, and the refs that name it are lost: "
             "it is the newest version",
             id, found[0]);
    (void)text_copy(id, ID_SIZE, found[0]);
    return ERROR_NONE;
}

/* ---- the one before -------------------------------------------------------------------------- */

/* A search for the link that names a version. */
struct link_search {
    const struct version_place *place;
    const char *id;
    char base[ID_SIZE]; /* "": not found */
};

static enum error_code visit_link(void *context, const char *key, bool is_artifact,
                                  struct error *err)
{
    static const char next[] = "current/next/";
    struct link_search *search = context;
    char id[ID_SIZE];
    (void)is_artifact;
    (void)err;
    if (strncmp(key, next, sizeof next - 1) != 0 ||
        store_switch_get(search->place->store, key, id, sizeof id, NULL) != ERROR_NONE ||
        strcmp(id, search->id) != 0)
        return ERROR_NONE;
    return identity_find(search->place->store, key + sizeof next - 1, search->place->settings->name,
                         search->base, err);
}

/* The links from the root do not lead to `id`. Either a link before it is lost: then the last link
 * still names `id`. Or that last link is lost: then the links end at the base, which only the id of
 * the version can confirm, and *depth is 0. */
static enum error_code find_by_link(const struct version_place *place, const char *id,
                                    char base[ID_SIZE], uint64_t *depth, struct error *err)
{
    struct link_search search = {.place = place, .id = id};
    struct dataset_delta delta;
    const enum error_code rc = store_switch_list(place->store, visit_link, &search, err);
    *depth = 0;
    if (rc != ERROR_NONE || !search.base[0])
        return rc;
    (void)text_copy(base, ID_SIZE, search.base);
    if (dataset_delta_get(place->store, base, &delta, NULL) == ERROR_NONE) {
        *depth = delta.depth + 1;
        store_release_record(&delta.view);
    }
    return ERROR_NONE;
}

/* Finds the base and the depth by following the links from the root. */
static enum error_code find_before(const struct version_place *place, const char *id,
                                   char base[ID_SIZE], uint64_t *depth, struct error *err)
{
    char next[ID_SIZE];
    (void)text_copy(base, ID_SIZE, place->root);
    for (*depth = 1;; ++*depth) {
        const struct key key = next_key(base);
        const enum error_code rc = identity_named(place->store, &key, next, err);
        if (rc != ERROR_NONE || strcmp(next, id) == 0)
            return rc;
        if (!next[0])
            return find_by_link(place, id, base, depth, err);
        (void)text_copy(base, ID_SIZE, next);
    }
}

enum error_code version_chain_base(const struct version_place *place, const char *id,
                                   char base[ID_SIZE], uint64_t *depth, bool *has_delta,
                                   struct error *err)
{
    struct dataset_delta delta;
    const enum error_code rc = dataset_delta_get(place->store, id, &delta, err);
    *has_delta = rc == ERROR_NONE;
    if (rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT)
        return find_before(place, id, base, depth, err);
    if (rc != ERROR_NONE)
        return rc;
    *depth = delta.depth;
    (void)text_copy(base, ID_SIZE, delta.base);
    store_release_record(&delta.view);
    return ERROR_NONE;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Sets the link unless there is one. *other: the version that an existing link names, "" if that is
 * `id`. */
static enum error_code set_link(const struct version_place *place, const char *base, const char *id,
                                char other[ID_SIZE], struct error *err)
{
    const struct key key = next_key(base);
    for (int i = 0; i < EXCHANGE_ATTEMPTS; i++) {
        bool matched = false;
        enum error_code rc = store_switch_exchange(place->store, key.text, NULL, id, &matched, err);
        other[0] = '\0';
        if (rc == ERROR_NONE && matched)
            return rc;
        /* ERROR_UNAVAILABLE: the answer is lost, and the ref may be set nevertheless */
        if (rc == ERROR_NONE || rc == ERROR_UNAVAILABLE)
            rc = identity_named(place->store, &key, other, err);
        if (rc != ERROR_NONE)
            return rc;
        if (strcmp(other, id) == 0)
            other[0] = '\0';
        /* the ref has been removed again */
        else if (!other[0])
            continue;
        return ERROR_NONE;
    }
    return error_set(err, ERROR_BUSY, "ref %s changes whenever it is read", key.text);
}

/* Advances the ref of the root to `id`, but never moves it back: a slower update may come after the
 * next one. */
static enum error_code move_switch(const struct version_place *place, const char *id,
                                   struct error *err)
{
    const struct key key = newest_key(place->root);
    for (int i = 0; i < EXCHANGE_ATTEMPTS; i++) {
        char now[ID_SIZE], last[ID_SIZE];
        bool matched = false;
        enum error_code rc = identity_named(place->store, &key, now, err);
        if (rc != ERROR_NONE || strcmp(now, id) == 0)
            return rc;
        (void)text_copy(last, sizeof last, id);
        rc = follow_links(place, last, err);
        if (rc == ERROR_NONE && strcmp(now, last) == 0)
            return rc;
        if (rc == ERROR_NONE)
            rc = store_switch_exchange(place->store, key.text, now[0] ? now : NULL, last, &matched,
                                       err);
        if (rc != ERROR_NONE || matched)
            return rc;
    }
    return error_set(err, ERROR_BUSY, "ref %s changes whenever it is read", key.text);
}

enum error_code version_chain_claim(const struct version_place *place, const char *base,
                                    const char *id, bool *lost, char other[ID_SIZE],
                                    struct error *err)
{
    const enum error_code rc = set_link(place, base, id, other, err);
    *lost = rc == ERROR_NONE && other[0];
    return rc == ERROR_NONE && !*lost ? move_switch(place, id, err) : rc;
}

enum error_code version_chain_mend(const struct version_place *place, const char *newest,
                                   struct error *err)
{
    char at[ID_SIZE], base[ID_SIZE], next[ID_SIZE] = "";
    (void)text_copy(at, sizeof at, newest);
    while (strcmp(at, place->root) != 0) {
        uint64_t depth = 0;
        bool has_delta = false;
        /* A version whose base is uncertain gets no link: if it is needed and cannot be read, an
         * error names it. */
        if (version_chain_base(place, at, base, &depth, &has_delta, NULL) != ERROR_NONE || !depth)
            break;
        const struct key key = next_key(base);
        enum error_code rc = identity_named(place->store, &key, next, err);
        if (rc == ERROR_NONE && strcmp(next, at) == 0)
            break;
        if (rc == ERROR_NONE)
            rc = set_link(place, base, at, next, err);
        if (rc != ERROR_NONE)
            return rc;
        (void)text_copy(at, sizeof at, base);
    }
    return move_switch(place, newest, err);
}
