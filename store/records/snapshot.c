#include "store/records/snapshot.h"

#include "common/base/text.h"
#include "store/objects/keys.h"
#include "store/records/parameter_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Places in the sections "cursor" and "metric". */
enum {
    CURSOR_VERSION,
    CURSOR_PREVIOUS,
    CURSOR_STOP,
    CURSOR_BEST,
    CURSOR_SINCE_BEST,
    CURSOR_EPOCH,
    CURSOR_LOSS_WARNINGS,
    CURSOR_COUNT = 8
};
enum {
    METRIC_OF_TRAIN_LOSS,
    METRIC_OF_TRAIN_ACCURACY,
    METRIC_OF_VALID_LOSS,
    METRIC_OF_VALID,
    METRIC_OF_BEST,
    METRIC_OF_LEARNING_RATE,
    METRIC_OF_VALID_ACCURACY,
    METRIC_OF_COUNT = 8
};
enum { SNAPSHOT_FORMAT = 2 };

static void fill_cursor(const struct snapshot *s, int64_t cursor[CURSOR_COUNT])
{
    cursor[CURSOR_VERSION] = s->version;
    cursor[CURSOR_PREVIOUS] = s->previous_version;
    cursor[CURSOR_STOP] = s->stop;
    cursor[CURSOR_BEST] = s->best_version;
    cursor[CURSOR_SINCE_BEST] = s->since_best;
    cursor[CURSOR_EPOCH] = s->epoch;
    cursor[CURSOR_LOSS_WARNINGS] = s->loss_warnings;
}

static void fill_metric(const struct snapshot *s, double metric[METRIC_OF_COUNT])
{
    metric[METRIC_OF_TRAIN_LOSS] = s->train_loss;
    metric[METRIC_OF_TRAIN_ACCURACY] = s->train_accuracy;
    metric[METRIC_OF_VALID_LOSS] = s->valid_loss;
    metric[METRIC_OF_VALID] = s->valid_metric;
    metric[METRIC_OF_BEST] = s->best_metric;
    metric[METRIC_OF_LEARNING_RATE] = s->learning_rate;
    metric[METRIC_OF_VALID_ACCURACY] = s->valid_accuracy;
}

enum error_code snapshot_put(struct store *store, const char *run_id, const struct snapshot *s,
                             struct error *err)
{
    int64_t cursor[CURSOR_COUNT] = {0};
    double metric[METRIC_OF_COUNT] = {0};
    fill_cursor(s, cursor);
    fill_metric(s, metric);
    struct record record = {.kind = RECORD_SNAPSHOT, .version = SNAPSHOT_FORMAT};
    record_add(&record, "cursor", ELEMENT_I64, cursor, CURSOR_COUNT);
    record_add(&record, "metric", ELEMENT_F64, metric, METRIC_OF_COUNT);
    record_add(&record, "value", ELEMENT_F32, s->value, s->value_count);
    record_add(&record, "first", ELEMENT_F32, s->first, s->value_count);
    if (s->second)
        record_add(&record, "second", ELEMENT_F32, s->second, s->value_count);
    record_add(&record, "step", ELEMENT_U64, &s->step, 1);
    record_add(&record, "table", ELEMENT_U8, s->table, s->table_size);
    record_add(&record, "progress", ELEMENT_F64, s->progress, PROGRESS_COUNT);
    if (s->best_version != s->version)
        record_add(&record, "best_value", ELEMENT_F32, s->best_value, s->value_count);
    if (s->rounds)
        record_add(&record, "rounds", ELEMENT_F64, s->rounds, s->round_count * PROGRESS_COUNT);
    record_add(&record, "log", ELEMENT_U8, s->log, s->log_size);
    return store_put(store, key_snapshot(run_id, s->version).text, run_id, &record,
                     STORE_RECOMPUTABLE, err);
}

static enum error_code get_cursor(const struct record_view *view, struct snapshot *s,
                                  struct error *err)
{
    const void *data = NULL;
    enum error_code rc =
        record_section_get(view, "cursor", ELEMENT_I64, CURSOR_COUNT, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const int64_t *cursor = data;
    s->version = cursor[CURSOR_VERSION];
    s->previous_version = cursor[CURSOR_PREVIOUS];
    s->best_version = cursor[CURSOR_BEST];
    s->since_best = cursor[CURSOR_SINCE_BEST];
    s->epoch = cursor[CURSOR_EPOCH];
    s->loss_warnings = cursor[CURSOR_LOSS_WARNINGS];
    s->stop = cursor[CURSOR_STOP] == 1;
    const bool valid = s->previous_version >= -1 && s->version > s->previous_version &&
                       s->best_version >= 0 && s->best_version <= s->version &&
                       s->since_best >= 0 && s->epoch >= 0 && cursor[CURSOR_STOP] >= 0 &&
                       cursor[CURSOR_STOP] <= 1;
    if (!valid)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section cursor: version %" PRId64 ", previous %" PRId64
                         ", stop %" PRId64 ", best %" PRId64 ", since best %" PRId64
                         ", epoch %" PRId64
                         ": expected previous < version, best <= version, stop 0 or 1",
                         view->key, s->version, s->previous_version, cursor[CURSOR_STOP],
                         s->best_version, s->since_best, s->epoch);
    return ERROR_NONE;
}

static enum error_code get_metric(const struct record_view *view, struct snapshot *s,
                                  struct error *err)
{
    const void *data = NULL;
    enum error_code rc =
        record_section_get(view, "metric", ELEMENT_F64, METRIC_OF_COUNT, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const double *metric = data;
    s->train_loss = metric[METRIC_OF_TRAIN_LOSS];
    s->train_accuracy = metric[METRIC_OF_TRAIN_ACCURACY];
    s->valid_loss = metric[METRIC_OF_VALID_LOSS];
    s->valid_metric = metric[METRIC_OF_VALID];
    s->best_metric = metric[METRIC_OF_BEST];
    s->learning_rate = metric[METRIC_OF_LEARNING_RATE];
    s->valid_accuracy = metric[METRIC_OF_VALID_ACCURACY];
    return ERROR_NONE;
}

static enum error_code get_values(const struct record_view *view, struct snapshot *s,
                                  struct error *err)
{
    uint64_t n = 0;
    enum error_code rc =
        parameter_values_get(view, "value", ANY_VALUE_COUNT, &s->value, &s->value_count, err);
    if (rc == ERROR_NONE)
        rc = parameter_values_get(view, "first", s->value_count, &s->first, &n, err);
    if (rc == ERROR_NONE && record_has(view, "second"))
        rc = parameter_values_get(view, "second", s->value_count, &s->second, &n, err);
    if (rc == ERROR_NONE)
        rc = parameter_table_get(view, s->value_count, &s->table, &s->table_size, err);
    if (rc != ERROR_NONE)
        return rc;
    s->best_value = s->value;
    if (s->best_version != s->version)
        return parameter_values_get(view, "best_value", s->value_count, &s->best_value, &n, err);
    if (record_has(view, "best_value"))
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section best_value stands in the best snapshot itself",
                         view->key);
    return ERROR_NONE;
}

static enum error_code get_progress_step_and_log(const struct record_view *view, struct snapshot *s,
                                                 struct error *err)
{
    const void *step = NULL, *log = NULL;
    enum error_code rc = parameter_progress_get(view, s->progress, PROGRESS_COUNT, err);
    if (rc == ERROR_NONE)
        rc = parameter_rounds_get(view, PROGRESS_COUNT, &s->rounds, &s->round_count, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "step", ELEMENT_U64, 1, &step, NULL, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "log", ELEMENT_U8, -1, &log, &s->log_size, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(&s->step, step, sizeof s->step);
    s->log = log;
    if (s->log_size && (s->log[s->log_size - 1] != '\n' || memchr(s->log, '\0', s->log_size)))
        return error_set(err, ERROR_CORRUPT, "record %s: section log: expected lines of text",
                         view->key);
    return ERROR_NONE;
}

enum error_code snapshot_decode(const struct record_view *view, struct snapshot *out,
                                struct error *err)
{
    struct snapshot s = {0};
    enum error_code rc = record_expect(view, RECORD_SNAPSHOT, SNAPSHOT_FORMAT, err);
    if (rc == ERROR_NONE)
        rc = get_cursor(view, &s, err);
    if (rc == ERROR_NONE)
        rc = get_metric(view, &s, err);
    if (rc == ERROR_NONE)
        rc = get_values(view, &s, err);
    if (rc == ERROR_NONE)
        rc = get_progress_step_and_log(view, &s, err);
    if (rc == ERROR_NONE)
        *out = s;
    return rc;
}

enum error_code snapshot_get(struct store *store, const char *run_id, int64_t version,
                             struct snapshot *out, struct error *err)
{
    struct record_view view = {0};
    enum error_code rc = store_get(store, key_snapshot(run_id, version).text, run_id, &view, err);
    if (rc == ERROR_NONE)
        rc = snapshot_decode(&view, out, err);
    if (rc == ERROR_NONE && out->version != version)
        rc = error_set(err, ERROR_CORRUPT, "record %s: version is %" PRId64 ", expected %" PRId64,
                       view.key, out->version, version);
    if (rc == ERROR_NONE) {
        out->view = view;
        return ERROR_NONE;
    }
    store_release_record(&view);
    *out = (struct snapshot){0};
    return rc;
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
