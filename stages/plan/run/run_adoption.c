#include "stages/plan/run/run_adoption.h"

#include "common/base/memory.h"
#include "common/nn/optimizer.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/metrics_log.h"
#include "stages/plan/chain/unit_records.h"
#include "stages/plan/chain/unit_row.h"
#include "stages/plan/model/identity.h"
#include "store/objects/keys.h"
#include "store/records/round/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SIBLINGS_MAX = 32, SIBLINGS_TEXT_SIZE = SIBLINGS_MAX * ID_SIZE, NOTE_ATTEMPTS = 100 };

/* --- which runs are siblings --- */

static enum error_code lineage_switch(const struct pipeline_settings *settings,
                                      const char *partition_id, struct key *out, struct error *err)
{
    char lines[SETTINGS_TEXT_SIZE], text[SETTINGS_TEXT_SIZE + ID_SIZE + 32];
    char digits[IDENTITY_DIGITS_SIZE];
    const bool by_epochs = settings->aggregate.schedule == RATE_COSINE;
    const enum error_code rc =
        pipeline_settings_identity(settings, SETTING_OF_TRAINING, lines, err);
    if (rc != ERROR_NONE)
        return rc;
    (void)snprintf(text, sizeof text, "%s %" PRId64 "\n%s", identity_digits_of(partition_id),
                   by_epochs ? settings->epochs : 0, lines);
    identity_digits("lineage", text, digits);
    *out = key_current("lineage", digits);
    return ERROR_NONE;
}

/* Reads the ids, each with a blank behind it; "" if there are none, or if the ref is damaged. */
static enum error_code read_siblings(struct store *store, const struct key *key,
                                     char text[SIBLINGS_TEXT_SIZE], struct error *err)
{
    text[0] = '\0';
    const enum error_code rc = store_switch_get(store, key->text, text, SIBLINGS_TEXT_SIZE, err);
    if (rc == ERROR_NONE)
        return rc;
    text[0] = '\0';
    return rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT ? ERROR_NONE : rc;
}

/* Adds the run in front of the others, unless another process has added one since `old` was
 * read. */
static enum error_code note_before(struct store *store, const struct key *key, const char *run_id,
                                   const char *old, bool *noted, struct error *err)
{
    char text[SIBLINGS_TEXT_SIZE];
    int at = snprintf(text, sizeof text, "%s ", run_id);
    for (const char *id = old; *id;) {
        const size_t size = strcspn(id, " ");
        const bool is_this = size == strlen(run_id) && memcmp(id, run_id, size) == 0;
        if (!is_this && (size_t)at + size + 2 < sizeof text)
            at += snprintf(text + at, sizeof text - (size_t)at, "%.*s ", (int)size, id);
        id += size + (id[size] == ' ');
    }
    return store_switch_exchange(store, key->text, *old ? old : NULL, text, noted, err);
}

enum error_code run_adoption_note(struct store *store, const struct pipeline_settings *settings,
                                  const struct run_plan *plan, struct error *err)
{
    struct key key;
    char old[SIBLINGS_TEXT_SIZE];
    bool noted = false;
    enum error_code rc = lineage_switch(settings, plan->partition_id, &key, err);
    for (int i = 0; rc == ERROR_NONE && !noted && i < NOTE_ATTEMPTS; i++) {
        rc = read_siblings(store, &key, old, err);
        if (rc == ERROR_NONE)
            rc = note_before(store, &key, plan->id, old, &noted, err);
    }
    return rc == ERROR_NONE && !noted
               ? error_set(err, ERROR_BUSY, "the ref %s changed each time it was read", key.text)
               : rc;
}

/* --- which snapshot can be taken over --- */

/* Returns whether the new run would have come this far and made this snapshot. */
static bool is_usable(const struct pipeline_settings *settings,
                      const struct pipeline_settings *theirs, const struct schedule *schedule,
                      const struct snapshot *snapshot)
{
    const int64_t patience = settings->checkpoint.patience;
    const int64_t their_patience = theirs->checkpoint.patience;
    return !schedule->keeps_residuals && /* residuals of a sibling are not taken over */
           snapshot->version <= schedule->round_count &&
           schedule_has_snapshot(schedule, snapshot->version) &&
           schedule_oldest_needed(schedule, snapshot->version) == snapshot->version &&
           (patience == 0 || (their_patience > 0 && their_patience <= patience));
}

/* Adds the weights before the snapshot that the rounds after it start from. */
static enum error_code add_bases(const struct schedule *schedule, int64_t version,
                                 struct unit_list *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int64_t v = schedule_base(schedule, version); v < version && rc == ERROR_NONE; v++)
        rc = unit_list_add(out, unit_at(schedule, UNIT_AGGREGATE, v, 0), err);
    return rc;
}

/* Adds the units that are taken over with a snapshot, by their rows, such as its validation. If its
 * best weights are older, adds also the units that are kept as long as those, such as rows of
 * embeddings: inference needs them. */
static enum error_code add_beside(const struct schedule *schedule, int64_t version,
                                  int64_t best_version, struct unit_list *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (enum unit_kind kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++) {
        const struct unit_row *row = unit_row_of(kind);
        const int64_t number = row->line == LINE_NONE ? 0 : version;
        if (!row->is_beside_snapshot)
            continue;
        if (rc == ERROR_NONE)
            rc = unit_list_add_slots(out, kind, number, unit_count_at(schedule, kind, number), err);
        if (rc == ERROR_NONE && row->retention == RETAINED_SNAPSHOTS && best_version != version)
            rc = unit_list_add_slots(out, kind, best_version,
                                     unit_count_at(schedule, kind, best_version), err);
    }
    return rc == ERROR_NONE ? add_bases(schedule, version, out, err) : rc;
}

static enum error_code has_beside(struct store *store, const struct schedule *schedule,
                                  const char *run_id, int64_t version, int64_t best_version,
                                  bool *all, struct error *err)
{
    struct unit_list units = {0};
    enum error_code rc = add_beside(schedule, version, best_version, &units, err);
    *all = true;
    for (int64_t i = 0; i < units.count && rc == ERROR_NONE && *all; i++) {
        struct key key[UNIT_KEYS_MAX];
        const int count = unit_keys(schedule, run_id, &units.unit[i], key);
        for (int k = 0; k < count && rc == ERROR_NONE && *all; k++)
            rc = store_has(store, key[k].text, all, err);
    }
    unit_list_release(&units);
    return rc;
}

/* Sets the plan to the newest usable snapshot of one sibling, if it is newer than the one found
 * before. */
static enum error_code look_at(struct store *store, const struct pipeline_settings *settings,
                               const struct schedule *schedule, const char *sibling,
                               struct run_plan *plan, struct error *err)
{
    struct run_plan theirs;
    struct pipeline_settings their_settings;
    /* a sibling that is damaged, or was removed, has no usable snapshot */
    if (run_plan_get(store, sibling, &theirs, NULL) != ERROR_NONE ||
        pipeline_settings_parse(&their_settings, theirs.settings, sibling, NULL) != ERROR_NONE ||
        strcmp(theirs.environment, plan->environment) != 0)
        return ERROR_NONE;
    for (int64_t limit = schedule->round_count + 1; limit > plan->first_version;) {
        struct snapshot snapshot = {0};
        enum error_code rc = snapshot_newest_whole(store, sibling, limit, &snapshot, err);
        if (rc == ERROR_NOT_FOUND)
            return ERROR_NONE;
        if (rc != ERROR_NONE)
            return rc;
        bool usable = is_usable(settings, &their_settings, schedule, &snapshot);
        limit = snapshot.version;
        const int64_t best_version = snapshot.best_version;
        store_release_record(&snapshot.view);
        if (usable)
            rc = has_beside(store, schedule, sibling, limit, best_version, &usable, err);
        if (rc != ERROR_NONE)
            return rc;
        if (!usable || limit <= plan->first_version)
            continue;
        plan->first_version = limit;
        (void)snprintf(plan->origin, sizeof plan->origin, "%s", sibling);
        return ERROR_NONE;
    }
    return ERROR_NONE;
}

enum error_code run_adoption_find(struct store *store, const struct pipeline_settings *settings,
                                  const struct schedule *schedule, struct run_plan *plan,
                                  struct error *err)
{
    struct key key;
    char ids[SIBLINGS_TEXT_SIZE];
    plan->first_version = 0;
    plan->origin[0] = '\0';
    enum error_code rc = lineage_switch(settings, plan->partition_id, &key, err);
    if (rc == ERROR_NONE)
        rc = read_siblings(store, &key, ids, err);
    for (char *id = ids; rc == ERROR_NONE && *id;) {
        char *end = id + strcspn(id, " ");
        const bool more = *end == ' ';
        *end = '\0';
        if (strcmp(id, plan->id) != 0)
            rc = look_at(store, settings, schedule, id, plan, err);
        id = end + more;
    }
    return rc;
}

/* --- taking a snapshot over --- */

static bool stops(const struct pipeline_settings *settings, const struct schedule *schedule,
                  const struct snapshot *snapshot)
{
    const int64_t patience = settings->checkpoint.patience;
    return snapshot->version >= schedule->round_count ||
           (patience > 0 && snapshot->since_best >= patience);
}

/* Copies lines of metrics.jsonl. In the copy the last line, of a snapshot, says by `stop` whether
 * training ends there. Sets *size to the size of the copy, which the caller owns. */
static char *copy_lines(const char *lines, uint64_t *size, bool stop)
{
    static const char before[] = "\"stop\":";
    const char *value = stop ? "true}\n" : "false}\n";
    char *copy = memory_alloc((size_t)*size + strlen(value) + 1, 1);
    if (!copy)
        return NULL;
    memcpy(copy, lines, (size_t)*size);
    for (size_t at = (size_t)*size; at >= sizeof before - 1; at--) {
        if (memcmp(copy + at - (sizeof before - 1), before, sizeof before - 1) != 0)
            continue;
        memcpy(copy + at, value, strlen(value));
        *size = at + strlen(value);
        break;
    }
    return copy;
}

static enum error_code take_snapshot(struct store *store, const struct run_plan *plan,
                                     struct snapshot *snapshot, bool stop, struct error *err)
{
    bool changed = false;
    char *log = copy_lines(snapshot->log, &snapshot->log_size, stop);
    if (!log)
        return error_set(err, ERROR_NO_MEMORY, "no memory for the lines of a snapshot");
    snapshot->stop = stop;
    snapshot->log = log;
    enum error_code rc = snapshot_put(store, plan->id, snapshot, err);
    if (rc == ERROR_NONE)
        rc = snapshot_restore(store, plan->id, snapshot->version, &changed, err);
    if (rc == ERROR_NONE)
        rc = snapshot_switch(store, plan->id, snapshot->version, err);
    memory_free(log);
    return rc;
}

static enum error_code copy_record(struct store *store, const struct run_plan *plan,
                                   struct key from, struct key to, struct error *err)
{
    struct record_view view = {0};
    enum error_code rc = store_get(store, from.text, plan->origin, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    struct record record = {
        .kind = view.kind, .version = view.version, .section_count = view.section_count};
    memcpy(record.section, view.section, sizeof record.section);
    rc = store_put(store, to.text, plan->id, &record, STORE_RECOMPUTABLE, err);
    store_release_record(&view);
    return rc;
}

static enum error_code take_beside(struct store *store, const struct schedule *schedule,
                                   const struct run_plan *plan, int64_t best_version,
                                   struct error *err)
{
    struct unit_list units = {0};
    enum error_code rc = add_beside(schedule, plan->first_version, best_version, &units, err);
    for (int64_t i = 0; i < units.count && rc == ERROR_NONE; i++) {
        struct key from[UNIT_KEYS_MAX], to[UNIT_KEYS_MAX];
        const int count = unit_keys(schedule, plan->origin, &units.unit[i], from);
        (void)unit_keys(schedule, plan->id, &units.unit[i], to);
        for (int k = 0; k < count && rc == ERROR_NONE; k++)
            rc = copy_record(store, plan, from[k], to[k], err);
        /* they must reach the disk before the snapshot: a snapshot without them is not whole
         * (snapshot_commit.c) */
        const enum unit_retention retention = unit_row_of(units.unit[i].kind)->retention;
        if (rc == ERROR_NONE && (retention == RETAINED_SNAPSHOTS || retention == RETAINED_BASES))
            rc = store_flush(store, chain_output_key(schedule, plan->id, &units.unit[i]).text, err);
    }
    unit_list_release(&units);
    return rc;
}

/* Brings the sibling's log up to the snapshot, whose worker may have been stopped before that, and
 * reads it. */
static enum error_code read_metrics(struct store *store, const struct run_plan *plan, char **text,
                                    struct error *err)
{
    size_t size = 0;
    const enum error_code rc =
        metrics_log_update(store, plan->origin, plan->first_version, NULL, err);
    return rc == ERROR_NONE
               ? store_note_get(store, metrics_log_note(plan->origin).text, text, &size, err)
               : rc;
}

/* Copies metrics.jsonl, which is for people: without the sibling's file, that of the new run begins
 * with the snapshot. */
static enum error_code take_metrics(struct store *store, const struct run_plan *plan, bool stop,
                                    struct error *err)
{
    char *text = NULL, *copy = NULL;
    enum error_code rc = read_metrics(store, plan, &text, err);
    if (rc != ERROR_NONE)
        return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
    uint64_t size = metrics_log_end_of_snapshot(text, plan->first_version);
    if (size)
        copy = copy_lines(text, &size, stop);
    if (copy)
        rc = store_note_put(store, metrics_log_note(plan->id).text, copy, (size_t)size, err);
    memory_free(copy);
    memory_free(text);
    return rc;
}

enum error_code run_adoption_take(struct store *store, const struct pipeline_settings *settings,
                                  const struct schedule *schedule, const struct run_plan *plan,
                                  struct error *err)
{
    struct snapshot snapshot = {0};
    enum error_code rc = snapshot_get(store, plan->origin, plan->first_version, &snapshot, err);
    if (rc != ERROR_NONE)
        return rc;
    const bool stop = stops(settings, schedule, &snapshot);
    rc = take_metrics(store, plan, stop, err);
    if (rc == ERROR_NONE)
        rc = take_beside(store, schedule, plan, snapshot.best_version, err);
    if (rc == ERROR_NONE)
        rc = take_snapshot(store, plan, &snapshot, stop, err);
    store_release_record(&snapshot.view);
    return rc;
}
