#include "store/records/round/snapshot.h"

#include "common/base/text.h"
#include "store/records/parameter_values.h"
#include "store/records/section_checks.h"
#include "store/records/section_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum error_code check_cursor(const struct record_view *view, void *out, struct error *err)
{
    const struct snapshot *s = out;
    if (s->previous_version >= -1 && s->version > s->previous_version && s->best_version >= 0 &&
        s->best_version <= s->version && s->since_best >= 0 && s->epoch >= 0)
        return ERROR_NONE;
    return error_set(
        err, ERROR_CORRUPT,
        "record %s: section cursor: version %" PRId64 ", previous %" PRId64 ", best %" PRId64
        ", since best %" PRId64 ", epoch %" PRId64 ": expected previous < version, best <= version",
        view->key, s->version, s->previous_version, s->best_version, s->since_best, s->epoch);
}

static enum error_code check_table(const struct record_view *view, void *out, struct error *err)
{
    const struct snapshot *s = out;
    return parameter_table_check(view, s->table, s->table_size, s->value_count, err);
}

static const char best_name[] = "best_value";

static void add_best(struct record *record, const void *from, struct section_scratch *scratch)
{
    const struct snapshot *s = from;
    (void)scratch;
    if (s->best_version != s->version)
        record_add(record, best_name, ELEMENT_F32, s->best_value, s->value_count);
}

/* The best weights are in a section of their own only if they are not those of this snapshot. */
static enum error_code read_best(const struct record_view *view, void *out, struct error *err)
{
    const struct element_bounds bounds = {.checks = SECTION_FINITE};
    struct snapshot *s = out;
    const void *data = NULL;
    s->best_value = s->value;
    if (s->best_version == s->version)
        return !record_has(view, best_name)
                   ? ERROR_NONE
                   : error_set(err, ERROR_CORRUPT,
                               "record %s: section best_value stands in the best snapshot itself",
                               view->key);
    const enum error_code rc =
        record_section_get(view, best_name, ELEMENT_F32, (int64_t)s->value_count, &data, NULL, err);
    s->best_value = data;
    return rc == ERROR_NONE ? section_elements_check(view, best_name, ELEMENT_F32, data,
                                                     s->value_count, &bounds, err)
                            : rc;
}

static enum error_code check_log(const struct record_view *view, void *out, struct error *err)
{
    const struct snapshot *s = out;
    if (!s->log_size || (s->log[s->log_size - 1] == '\n' && !memchr(s->log, '\0', s->log_size)))
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT, "record %s: section log: expected lines of text",
                     view->key);
}

#define SECTION_STRUCT struct snapshot
static const struct section_number cursor[] = {
    {"version", AT(version), 0, 0},
    {"previous", AT(previous_version), 0, 0},
    {"stop", AT(stop), 0, 0},
    {"best", AT(best_version), 0, 0},
    {"since best", AT(since_best), 0, 0},
    {"epoch", AT(epoch), 0, 0},
    {"loss warnings", AT(loss_warnings), 0, 0},
    {NULL, {0, 0}, 0, 0},
};
static const struct section_number metric[] = {
    {"train loss", AT(train_loss), 0, 0},         {"train accuracy", AT(train_accuracy), 0, 0},
    {"valid loss", AT(valid_loss), 0, 0},         {"valid metric", AT(valid_metric), 0, 0},
    {"best metric", AT(best_metric), 0, 0},       {"learning rate", AT(learning_rate), 0, 0},
    {"valid accuracy", AT(valid_accuracy), 0, 0}, {NULL, {0, 0}, 0, 0},
};
static const struct section_row rows[] = {
    {SECTION_NUMBERS("cursor", I64, cursor), .read = check_cursor},
    {SECTION_NUMBERS("metric", F64, metric)},
    {SECTION_ARRAY("value", F32, value), .sets = AT(value_count), .checks = SECTION_FINITE},
    {SECTION_ARRAY("first", F32, first), .count = AT(value_count), .checks = SECTION_FINITE},
    {SECTION_ARRAY("second", F32, second), .count = AT(value_count), .if_there = true,
     .checks = SECTION_FINITE},
    {SECTION_VALUE("step", U64, step)},
    {SECTION_ARRAY("table", U8, table), .sets = AT(table_size), .read = check_table},
    {SECTION_VALUE("progress", F64, progress), .checks = SECTION_FINITE},
    {SECTION_HAND(add_best, read_best)},
    {SECTION_ARRAY("rounds", F64, rounds), .sets = AT(round_count), .unit = PROGRESS_COUNT,
     .least = 1, .if_there = true, .checks = SECTION_FINITE},
    {SECTION_ARRAY("log", U8, log), .sets = AT(log_size), .read = check_log},
};
static const struct section_table table = SECTION_TABLE(RECORD_SNAPSHOT, 2, 2, rows);

enum error_code snapshot_put(struct store *store, const char *run_id, const struct snapshot *s,
                             struct error *err)
{
    return section_table_put(store, &table, key_snapshot(run_id, s->version).text, run_id, s,
                             STORE_RECOMPUTABLE, err);
}

enum error_code snapshot_decode(const struct record_view *view, struct snapshot *out,
                                struct error *err)
{
    return section_table_decode(&table, view, out, err);
}

enum error_code snapshot_get(struct store *store, const char *run_id, int64_t version,
                             struct snapshot *out, struct error *err)
{
    enum error_code rc =
        section_table_get(store, &table, key_snapshot(run_id, version).text, run_id, out, err);
    if (rc == ERROR_NONE)
        rc = parameter_version_check(&out->view, (uint64_t)out->version, version, err);
    return section_table_keep(&table, rc, out);
}

static bool is_lost(enum error_code rc)
{
    return rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT;
}

/* --- where a run stands --- */

enum { POSITION_SIZE = 48, ADVANCE_ATTEMPTS = 100 };

static enum error_code read_position(const struct key *key, const char *text,
                                     struct snapshot_position *out, struct error *err)
{
    const size_t first = strcspn(text, " ");
    const char *second = text[first] ? text + first + 1 : "";
    if (!text_int64(text, first, &out->version) ||
        !text_int64(second, strlen(second), &out->kept_from) || out->kept_from < 0 ||
        out->kept_from > out->version)
        return error_set(err, ERROR_CORRUPT,
                         "%s is '%s', expected the version of a snapshot and one up to it",
                         key->text, text);
    return ERROR_NONE;
}

static void write_position(struct snapshot_position position, char text[POSITION_SIZE])
{
    (void)snprintf(text, POSITION_SIZE, "%" PRId64 " %" PRId64, position.version,
                   position.kept_from);
}

enum error_code snapshot_position_get(struct store *store, const char *run_id,
                                      struct snapshot_position *out, struct error *err)
{
    char text[POSITION_SIZE];
    const struct key key = key_current_snapshot(run_id);
    const enum error_code rc = store_switch_get(store, key.text, text, sizeof text, err);
    return rc == ERROR_NONE ? read_position(&key, text, out, err) : rc;
}

enum error_code snapshot_position_set(struct store *store, const char *run_id,
                                      struct snapshot_position position, struct error *err)
{
    char text[POSITION_SIZE];
    enum error_code rc = ERROR_NONE;
    must(position.kept_from >= 0 && position.kept_from <= position.version);
    if (position.version > 0)
        rc = store_flush(store, key_snapshot(run_id, position.version).text, err);
    if (rc != ERROR_NONE)
        return rc;
    write_position(position, text);
    /* The last writer may win: this sets a run back, or begins one. If a worker moves it on at the
     * same time, the newest whole snapshot is found where the run is read next. */
    return store_switch_set(store, key_current_snapshot(run_id).text, text, err);
}

/* Whether the switch names a snapshot of `version` or a later one that is whole. */
static enum error_code is_further(struct store *store, const char *run_id, const struct key *key,
                                  const char *text, int64_t version, bool *further,
                                  struct error *err)
{
    struct snapshot_position position;
    struct snapshot named = {0};
    *further =
        read_position(key, text, &position, NULL) == ERROR_NONE && position.version >= version;
    if (!*further || position.version == version)
        return ERROR_NONE;
    const enum error_code rc = snapshot_get(store, run_id, position.version, &named, err);
    store_release_record(&named.view);
    *further = rc == ERROR_NONE;
    return is_lost(rc) ? ERROR_NONE : rc;
}

enum error_code snapshot_position_advance(struct store *store, const char *run_id,
                                          struct snapshot_position next, struct error *err)
{
    const struct key key = key_current_snapshot(run_id);
    char now[POSITION_SIZE], text[POSITION_SIZE];
    enum error_code rc = store_flush(store, key_snapshot(run_id, next.version).text, err);
    for (int i = 0; rc == ERROR_NONE && i < ADVANCE_ATTEMPTS; i++) {
        bool moved = false, further = false;
        rc = store_switch_get(store, key.text, now, sizeof now, err);
        const bool is_there = rc == ERROR_NONE;
        if (!is_lost(rc) && rc != ERROR_NONE)
            return rc;
        rc = is_there ? is_further(store, run_id, &key, now, next.version, &further, err)
                      : ERROR_NONE;
        if (rc != ERROR_NONE || further)
            return rc;
        write_position(next, text);
        rc = store_switch_exchange(store, key.text, is_there ? now : NULL, text, &moved, err);
        if (rc != ERROR_NONE || moved)
            return rc;
    }
    return rc == ERROR_NONE
               ? error_set(err, ERROR_BUSY, "switch %s changes whenever it is read", key.text)
               : rc;
}

enum error_code snapshot_switch(struct store *store, const char *run_id, int64_t version,
                                struct error *err)
{
    const struct snapshot_position position = {.version = version, .kept_from = version};
    return snapshot_position_set(store, run_id, position, err);
}

struct search {
    int64_t limit, newest; /* below `limit`; -1: none yet */
};

static enum error_code visit_snapshot(void *context, const char *key, bool is_artifact,
                                      struct error *err)
{
    struct search *search = context;
    const char *digits = strrchr(key, '/') + 1;
    int64_t version = 0;
    (void)err;
    if (!is_artifact && text_int64(digits, strlen(digits), &version) && version < search->limit &&
        version > search->newest)
        search->newest = version;
    return ERROR_NONE;
}

enum error_code snapshot_newest_whole(struct store *store, const char *run_id, int64_t limit,
                                      struct snapshot *out, struct error *err)
{
    const struct key folder = key_run(run_id, "snapshot");
    for (;;) {
        struct search search = {.limit = limit, .newest = -1};
        enum error_code rc = store_list(store, folder.text, visit_snapshot, &search, err);
        if (rc != ERROR_NONE)
            return rc;
        if (search.newest < 0)
            return error_set(err, ERROR_NOT_FOUND, "there is no whole snapshot in %s", folder.text);
        rc = snapshot_get(store, run_id, search.newest, out, err);
        if (!is_lost(rc))
            return rc;
        limit = search.newest;
    }
}

/* The snapshot that a run stands at may be let go before it is read, by a run that goes on: then
 * the switch names another one by now. */
static bool moved_on(struct store *store, const char *run_id, struct snapshot_position *position)
{
    const int64_t before = position->version;
    return snapshot_position_get(store, run_id, position, NULL) == ERROR_NONE &&
           position->version > before;
}

enum error_code snapshot_get_current(struct store *store, const char *run_id, struct snapshot *out,
                                     struct error *err)
{
    struct snapshot_position position = {0};
    enum error_code rc = snapshot_position_get(store, run_id, &position, err);
    if (rc == ERROR_NONE && position.version == 0)
        return error_set(err, ERROR_NOT_FOUND, "run %s stands at its start", run_id);
    if (rc == ERROR_NONE) {
        do
            rc = snapshot_get(store, run_id, position.version, out, err);
        while (rc == ERROR_NOT_FOUND && moved_on(store, run_id, &position));
    }
    return is_lost(rc) ? snapshot_newest_whole(store, run_id, INT64_MAX, out, err) : rc;
}

enum error_code snapshot_current_version(struct store *store, const char *run_id, int64_t *version,
                                         bool *is_named, struct error *err)
{
    struct snapshot_position position = {0};
    struct snapshot snapshot = {0};
    bool found = false;
    enum error_code rc = snapshot_position_get(store, run_id, &position, err);
    const bool says_none = rc == ERROR_NOT_FOUND || (rc == ERROR_NONE && position.version == 0);
    if (rc == ERROR_NONE && position.version > 0) {
        do
            rc = store_has(store, key_snapshot(run_id, position.version).text, &found, err);
        while (rc == ERROR_NONE && !found && moved_on(store, run_id, &position));
    }
    if (rc == ERROR_NONE && found) {
        *version = position.version;
        if (is_named)
            *is_named = true;
        return ERROR_NONE;
    }
    if (rc != ERROR_NONE && !is_lost(rc))
        return rc;
    rc = snapshot_get_current(store, run_id, &snapshot, err);
    if (rc == ERROR_NONE)
        *version = snapshot.version;
    if (is_named)
        *is_named = rc == ERROR_NOT_FOUND && says_none;
    store_release_record(&snapshot.view);
    return rc;
}

/* --- what comes back from one --- */

static enum error_code restore_state(struct store *store, const char *run_id,
                                     const struct snapshot *s, bool *changed, struct error *err)
{
    struct optimizer_state there = {0};
    const struct optimizer_state state = {.version = (uint64_t)s->version,
                                          .step = s->step,
                                          .value_count = s->value_count,
                                          .first = s->first,
                                          .second = s->second,
                                          .rounds = s->rounds,
                                          .round_count = s->round_count};
    const enum error_code rc = optimizer_state_get(store, run_id, s->version, &there, err);
    store_release_record(&there.view);
    *changed = *changed || is_lost(rc);
    return is_lost(rc) ? optimizer_state_put(store, run_id, &state, err) : rc;
}

static enum error_code restore_weights(struct store *store, const char *run_id,
                                       const struct snapshot *s, bool *changed, struct error *err)
{
    struct weights there = {0};
    struct weights weights = {.version = (uint64_t)s->version,
                              .value_count = s->value_count,
                              .value = s->value,
                              .table = s->table,
                              .table_size = s->table_size};
    memcpy(weights.progress, s->progress, sizeof weights.progress);
    const enum error_code rc = weights_get(store, run_id, s->version, &there, err);
    store_release_record(&there.view);
    *changed = *changed || is_lost(rc);
    return is_lost(rc) ? weights_put(store, run_id, &weights, err) : rc;
}

enum error_code snapshot_restore(struct store *store, const char *run_id, int64_t version,
                                 bool *changed, struct error *err)
{
    *changed = false;
    struct snapshot snapshot = {0};
    enum error_code rc = snapshot_get(store, run_id, version, &snapshot, err);
    if (rc == ERROR_NONE)
        rc = restore_state(store, run_id, &snapshot, changed, err);
    if (rc == ERROR_NONE)
        rc = restore_weights(store, run_id, &snapshot, changed, err);
    store_release_record(&snapshot.view);
    return rc;
}
