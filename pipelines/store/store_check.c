#include "pipelines/store/store_check.h"

#include "common/base/clock.h"
#include "common/base/host.h"
#include "common/base/memory.h"
#include "store/objects/object_store.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALL_RECORDS = 30,
    LARGE_BYTES = 40 << 20, /* large enough that a store in S3 uploads it in parts */
    WRITERS = 8,
    RACES = 5,
    TEXT_SIZE = 256,
    PREFIX_SIZE = 32,
};

static const char owner[] = "doctor";

struct check {
    struct store *store;
    char prefix[PREFIX_SIZE]; /* prefix of all keys */
    char text[TEXT_SIZE];     /* measured values or the failure */
};

static struct key key_of(const struct check *c, const char *name, int number)
{
    struct key key;
    (void)snprintf(key.text, sizeof key.text, "%s/%s/%d", c->prefix, name, number);
    return key;
}

static enum error_code put_values(const struct check *c, struct key key, const uint32_t *value,
                                  uint64_t count, enum store_durability durability,
                                  struct error *err)
{
    struct record record = {.kind = RECORD_GRADIENT, .version = 1};
    record_add(&record, "value", ELEMENT_U32, value, count);
    return store_put(c->store, key.text, owner, &record, durability, err);
}

/* Reads a record and compares it. */
static enum error_code expect_values(const struct check *c, struct key key, const uint32_t *value,
                                     uint64_t count, struct error *err)
{
    struct record_view view;
    const void *data = NULL;
    enum error_code rc = store_get(c->store, key.text, owner, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = record_section_get(&view, "value", ELEMENT_U32, (int64_t)count, &data, NULL, err);
    if (rc == ERROR_NONE && memcmp(data, value, count * sizeof *value) != 0)
        rc = error_set(err, ERROR_CORRUPT, "%s: other bytes come back than were put", key.text);
    store_release_record(&view);
    return rc;
}

/* --- latency and rate --- */

static int compare_seconds(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Computes the median and the maximum, in ms. */
static void describe(double seconds[SMALL_RECORDS], double *middle, double *most)
{
    qsort(seconds, SMALL_RECORDS, sizeof *seconds, compare_seconds);
    *middle = seconds[SMALL_RECORDS / 2] * 1e3;
    *most = seconds[SMALL_RECORDS - 1] * 1e3;
}

static enum error_code check_latency(struct check *c, struct error *err)
{
    double put[SMALL_RECORDS], get[SMALL_RECORDS], middle[2], most[2];
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < SMALL_RECORDS; i++) {
        const struct key key = key_of(c, "small", (int)i);
        const double begun = clock_seconds();
        rc = put_values(c, key, &i, 1, STORE_RECOMPUTABLE, err);
        const double between = clock_seconds();
        if (rc == ERROR_NONE)
            rc = expect_values(c, key, &i, 1, err);
        put[i] = between - begun;
        get[i] = clock_seconds() - between;
    }
    if (rc != ERROR_NONE)
        return rc;
    describe(put, &middle[0], &most[0]);
    describe(get, &middle[1], &most[1]);
    (void)snprintf(c->text, sizeof c->text,
                   "small records: %.2f ms to put, %.2f ms to get (longest of %d: %.2f, %.2f)",
                   middle[0], middle[1], SMALL_RECORDS, most[0], most[1]);
    return ERROR_NONE;
}

static enum error_code check_rate(struct check *c, struct error *err)
{
    const uint64_t count = LARGE_BYTES / sizeof(uint32_t);
    const struct key key = key_of(c, "large", 0);
    uint32_t *value = NULL;
    enum error_code rc = memory_new(&value, count, "a large record", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint64_t i = 0; i < count; i++)
        value[i] = (uint32_t)(i * 2654435761U);
    const double begun = clock_seconds();
    rc = put_values(c, key, value, count, STORE_DURABLE, err);
    const double between = clock_seconds();
    if (rc == ERROR_NONE)
        rc = expect_values(c, key, value, count, err);
    const double ended = clock_seconds();
    memory_free(value);
    (void)snprintf(c->text, sizeof c->text,
                   "%d MiB: %.0f MiB/s to put durably, %.0f MiB/s to get and verify",
                   LARGE_BYTES >> 20, (LARGE_BYTES >> 20) / (between - begun),
                   (LARGE_BYTES >> 20) / (ended - between));
    return rc;
}

/* --- who is first --- */

struct writer {
    const struct check *check;
    uint32_t value;
    int won, told, failed; /* told: the store reported that the record of another writer is there */
    struct error err;
};

/* Returns whether an intact record is stored under the key. So a put that is refused was refused
 * for its content, and not because the stored record is damaged. */
static bool is_whole(const struct check *c, struct key key)
{
    struct record_view view = {0};
    const bool whole = store_get(c->store, key.text, NULL, &view, NULL) == ERROR_NONE;
    store_release_record(&view);
    return whole;
}

static void *write_races(void *context)
{
    struct writer *w = context;
    for (int i = 0; i < RACES; i++) {
        const struct key key = key_of(w->check, "race", i);
        const enum error_code rc =
            put_values(w->check, key, &w->value, 1, STORE_RECOMPUTABLE, &w->err);
        w->won += rc == ERROR_NONE;
        w->told += rc == ERROR_CORRUPT && is_whole(w->check, key);
        w->failed += rc != ERROR_NONE && rc != ERROR_CORRUPT;
    }
    return NULL;
}

static enum error_code run_writers(struct writer writer[WRITERS], struct error *err)
{
    pthread_t thread[WRITERS];
    int started = 0;
    while (started < WRITERS &&
           pthread_create(&thread[started], NULL, write_races, &writer[started]) == 0)
        started++;
    for (int i = 0; i < started; i++)
        (void)pthread_join(thread[i], NULL);
    return started == WRITERS ? ERROR_NONE
                              : error_set(err, ERROR_UNAVAILABLE, "no thread can be started");
}

static enum error_code check_first_writer(struct check *c, struct error *err)
{
    struct writer writer[WRITERS];
    int won = 0, told = 0;
    for (uint32_t i = 0; i < WRITERS; i++)
        writer[i] = (struct writer){.check = c, .value = i};
    enum error_code rc = run_writers(writer, err);
    for (int i = 0; rc == ERROR_NONE && i < WRITERS; i++) {
        won += writer[i].won;
        told += writer[i].told;
        if (writer[i].failed) {
            if (err)
                *err = writer[i].err;
            rc = writer[i].err.code;
        }
    }
    if (rc == ERROR_NONE && (won != RACES || told != RACES * (WRITERS - 1)))
        rc = error_set(err, ERROR_CORRUPT,
                       "%d threads put different records under each of %d keys: expected %d to "
                       "win and %d to be told, found %d and %d: this place cannot hold a store",
                       WRITERS, RACES, RACES, RACES * (WRITERS - 1), won, told);
    (void)snprintf(c->text, sizeof c->text,
                   "of %d threads that put different records under one key, one wins (%d times)",
                   WRITERS, RACES);
    return rc;
}

/* Checks that a record is removed only if its bytes are the ones that were read before. */
static enum error_code check_conditional_removal(struct check *c, struct error *err)
{
    void *inner = NULL;
    const struct object_backend *backend = store_backend_of(c->store, &inner);
    const struct key key = key_of(c, "seen", 0);
    const uint32_t value = 1;
    struct object_get get = {.key = key.text};
    bool found = false;
    enum error_code rc = put_values(c, key, &value, 1, STORE_RECOMPUTABLE, err);
    if (rc != ERROR_NONE)
        return rc;
    backend->get_many(inner, &get, 1);
    rc = get.rc;
    if (rc != ERROR_NONE && err)
        *err = get.err;
    if (rc == ERROR_NONE) {
        struct stored_bytes part = {.data = get.bytes.data, .size = get.bytes.size - 1};
        rc = backend->delete_if_match(inner, key.text, &part, err);
    }
    if (rc == ERROR_NONE)
        rc = store_has(c->store, key.text, &found, err);
    if (rc == ERROR_NONE && !found)
        rc =
            error_set(err, ERROR_CORRUPT, "a record goes although it is not the one that was seen");
    if (rc == ERROR_NONE)
        rc = backend->delete_if_match(inner, key.text, &get.bytes, err);
    if (rc == ERROR_NONE)
        rc = store_has(c->store, key.text, &found, err);
    if (rc == ERROR_NONE && found)
        rc = error_set(err, ERROR_CORRUPT, "a record stays although it is the one that was seen");
    stored_bytes_release(&get.bytes);
    (void)snprintf(c->text, sizeof c->text, "a record goes if it is the one that was seen");
    return rc;
}

/* --- lists --- */

static enum error_code count_key(void *context, const char *key, bool is_artifact,
                                 struct error *err)
{
    (void)key, (void)is_artifact, (void)err;
    ++*(int *)context;
    return ERROR_NONE;
}

static enum error_code expect_listed(const struct check *c, int expected, const char *when,
                                     double *seconds, struct error *err)
{
    char prefix[PREFIX_SIZE + 8];
    int count = 0;
    const double begun = clock_seconds();
    (void)snprintf(prefix, sizeof prefix, "%s/list", c->prefix);
    const enum error_code rc = store_list(c->store, prefix, count_key, &count, err);
    *seconds = clock_seconds() - begun;
    if (rc == ERROR_NONE && count != expected)
        return error_set(err, ERROR_CORRUPT,
                         "expected a list of %d keys after %s, found %d: lists of this place lag",
                         expected, when, count);
    return rc;
}

static enum error_code check_list(struct check *c, struct error *err)
{
    double seconds = 0;
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < SMALL_RECORDS; i++)
        rc = put_values(c, key_of(c, "list", (int)i), &i, 1, STORE_RECOMPUTABLE, err);
    if (rc == ERROR_NONE)
        rc = expect_listed(c, SMALL_RECORDS, "they were put", &seconds, err);
    if (rc == ERROR_NONE)
        rc = store_remove(c->store, key_of(c, "list", 0).text, err);
    (void)snprintf(c->text, sizeof c->text, "%d keys are there as soon as they are put, in %.1f ms",
                   SMALL_RECORDS, seconds * 1e3);
    return rc == ERROR_NONE
               ? expect_listed(c, SMALL_RECORDS - 1, "one of them was removed", &seconds, err)
               : rc;
}

/* --- switches --- */

static enum error_code check_switches(struct check *c, struct error *err)
{
    static const struct {
        const char *expected, *text;
        bool matches;
    } steps[] = {{NULL, "one", true},
                 {NULL, "two", false},
                 {"two", "three", false},
                 {"one", "two", true},
                 {"one", "three", false}};
    const struct key key = key_of(c, "switch", 0);
    char text[16] = "";
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof steps / sizeof *steps; i++) {
        bool matched = false;
        rc = store_switch_exchange(c->store, key.text, steps[i].expected, steps[i].text, &matched,
                                   err);
        if (rc == ERROR_NONE && matched != steps[i].matches)
            rc = error_set(err, ERROR_CORRUPT,
                           "step %zu: a switch was%s exchanged although it was%s what was expected",
                           i + 1, matched ? "" : " not", matched ? " not" : "");
    }
    if (rc == ERROR_NONE)
        rc = store_switch_get(c->store, key.text, text, sizeof text, err);
    if (rc == ERROR_NONE && strcmp(text, "two") != 0)
        rc = error_set(err, ERROR_CORRUPT, "expected a switch to be 'two', found '%s'", text);
    (void)snprintf(c->text, sizeof c->text, "they are exchanged if they are what was expected");
    const enum error_code removed = store_switch_remove(c->store, key.text, NULL);
    return rc == ERROR_NONE && removed != ERROR_NONE
               ? error_set(err, removed, "a switch cannot be removed")
               : rc;
}

/* --- artifacts --- */

static enum error_code publish(const struct check *c, const char *key, const char *text,
                               bool *existed, struct error *err)
{
    char folder[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    enum error_code rc = store_scratch(c->store, folder, err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/file", folder);
    if (rc == ERROR_NONE)
        rc = file_replace(path, text, strlen(text), false, err);
    return rc == ERROR_NONE ? store_publish(c->store, folder, key, existed, err) : rc;
}

static enum error_code check_artifacts(struct check *c, struct error *err)
{
    void *inner = NULL;
    const struct object_backend *backend = store_backend_of(c->store, &inner);
    const struct key key = key_of(c, "artifact", 0);
    bool existed[2] = {false, false};
    char bytes[8] = "";
    size_t got = 0;
    enum error_code rc = publish(c, key.text, "first", &existed[0], err);
    if (rc == ERROR_NONE)
        rc = publish(c, key.text, "other", &existed[1], err);
    if (rc == ERROR_NONE)
        rc = backend->get_range(inner, key.text, "file", 0, bytes, sizeof bytes, &got, err);
    if (rc == ERROR_NONE && (existed[0] || !existed[1] || strncmp(bytes, "first", got) != 0))
        rc = error_set(err, ERROR_CORRUPT, "expected the first of two artifacts to stay");
    (void)snprintf(c->text, sizeof c->text, "the first one that is published stays");
    return rc;
}

/* --- all --- */

static const struct {
    const char *name;
    enum error_code (*look)(struct check *c, struct error *err);
} checks[] = {
    {"store latency", check_latency},     {"store rate", check_rate},
    {"first writer", check_first_writer}, {"conditional removal", check_conditional_removal},
    {"list after write", check_list},     {"switches", check_switches},
    {"artifacts", check_artifacts},
};

/* The keys of a prefix, to be removed one by one: a list must not be walked while it changes. */
struct sweeping {
    struct key key;
    bool found;
};

static enum error_code take_key(void *context, const char *key, bool is_artifact, struct error *err)
{
    struct sweeping *s = context;
    (void)is_artifact;
    (void)snprintf(s->key.text, sizeof s->key.text, "%s", key);
    s->found = true;
    return error_set(err, ERROR_BUSY, "one at a time");
}

static enum error_code remove_all(const struct check *c, struct error *err)
{
    for (;;) {
        struct sweeping s = {.found = false};
        enum error_code rc = store_list(c->store, c->prefix, take_key, &s, err);
        if (!s.found)
            return rc;
        rc = store_remove(c->store, s.key.text, err);
        if (rc != ERROR_NONE)
            return rc;
    }
}

void store_check(struct store *store, store_check_visitor visit, void *context)
{
    struct check c = {.store = store};
    struct error err = {0};
    (void)snprintf(c.prefix, sizeof c.prefix, "doctor/%016" PRIx64, host_random_64());
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const enum error_code rc = checks[i].look(&c, &err);
        visit(context, rc == ERROR_NONE, checks[i].name, rc == ERROR_NONE ? c.text : err.message);
    }
    if (remove_all(&c, &err) != ERROR_NONE)
        visit(context, false, "store", err.message);
}
