#include "stages/plan/chain/metrics_log.h"

#include "common/base/memory.h"
#include "common/base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- lines --- */

void metrics_log_add_round(struct json_writer *log, const struct schedule *schedule,
                           bool has_accuracy, int64_t round, const double progress[PROGRESS_COUNT])
{
    const double seeds = progress[PROGRESS_SEEDS];
    json_open_object(log, NULL);
    json_put_int64(log, "round", round);
    json_put_int64(log, "epoch", schedule_epoch(schedule, round) + 1);
    json_put_double(log, "loss", seeds > 0 ? progress[PROGRESS_LOSS] : (double)NAN);
    if (has_accuracy)
        json_put_double(log, "accuracy",
                        seeds > 0 ? progress[PROGRESS_CORRECT] / seeds : (double)NAN);
    json_put_double(log, "learning_rate", progress[PROGRESS_LEARNING_RATE]);
    json_put_double(log, "gradient_norm", progress[PROGRESS_GRADIENT_NORM]);
    if (progress[PROGRESS_GRADIENT_ERROR] > 0)
        json_put_double(log, "gradient_error", progress[PROGRESS_GRADIENT_ERROR]);
    json_close_object(log);
    json_put_raw(log, "\n");
}

void metrics_log_add_snapshot(struct json_writer *log, const struct snapshot *snapshot,
                              bool has_accuracy, enum metric metric, const char *warning)
{
    char key[64];
    (void)snprintf(key, sizeof key, "valid_%s", metric_table[metric].name);
    json_open_object(log, NULL);
    json_put_int64(log, "snapshot", snapshot->version);
    json_put_int64(log, "epoch", snapshot->epoch);
    json_put_double(log, "train_loss", snapshot->train_loss);
    if (has_accuracy)
        json_put_double(log, "train_accuracy", snapshot->train_accuracy);
    json_put_double(log, "valid_loss", snapshot->valid_loss);
    if (has_accuracy)
        json_put_double(log, "valid_accuracy", snapshot->valid_accuracy);
    if (metric != METRIC_LOSS && metric != METRIC_ACCURACY)
        json_put_double(log, key, snapshot->valid_metric);
    json_put_int64(log, "best", snapshot->best_version);
    json_put_bool(log, "stop", snapshot->stop);
    if (warning[0])
        json_put_string(log, "warning", warning);
    json_close_object(log);
    json_put_raw(log, "\n");
}

/* --- lines in memory --- */

void metrics_lines_reset(struct metrics_lines *lines)
{
    lines->after = lines->version = 0;
    lines->size = 0;
}

void metrics_lines_release(struct metrics_lines *lines)
{
    memory_free(lines->text);
    *lines = (struct metrics_lines){0};
}

enum error_code metrics_lines_add(struct metrics_lines *lines, const struct snapshot *snapshot,
                                  struct error *err)
{
    if (lines->size == 0 || lines->version != snapshot->previous_version) {
        metrics_lines_reset(lines);
        lines->after = snapshot->previous_version;
    }
    const size_t size = lines->size + snapshot->log_size;
    const enum error_code rc =
        memory_grow(&lines->text, &lines->capacity, size, "the lines of metrics.jsonl", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(lines->text + lines->size, snapshot->log, snapshot->log_size);
    lines->size = size;
    lines->version = snapshot->version;
    return ERROR_NONE;
}

/* --- the file --- */

/* A text that grows at its beginning. */
struct pieces { /* {0} is empty */
    char *text;
    size_t size, capacity;
};

static enum error_code put_before(struct pieces *pieces, const char *text, size_t size,
                                  struct error *err)
{
    if (size == 0)
        return ERROR_NONE;
    const enum error_code rc = memory_grow(&pieces->text, &pieces->capacity, pieces->size + size,
                                           "the lines of metrics.jsonl", err);
    if (rc != ERROR_NONE)
        return rc;
    memmove(pieces->text + size, pieces->text, pieces->size);
    memcpy(pieces->text, text, size);
    pieces->size += size;
    return ERROR_NONE;
}

/* Returns the version in a snapshot's line, or -1 for another line. */
static int64_t snapshot_of_line(const char *line, size_t size)
{
    static const char start[] = "{\"snapshot\":";
    const size_t prefix = sizeof start - 1;
    int64_t version = -1;
    if (size <= prefix || memcmp(line, start, prefix) != 0)
        return -1;
    const char *comma = memchr(line, ',', size);
    if (!comma || !text_int64(line + prefix, (size_t)(comma - line) - prefix, &version))
        return -1;
    return version;
}

size_t metrics_log_end_of_snapshot(const char *text, int64_t version)
{
    for (const char *line = text, *feed = strchr(text, '\n'); feed; feed = strchr(line, '\n')) {
        if (snapshot_of_line(line, (size_t)(feed - line)) == version)
            return (size_t)(feed + 1 - text);
        line = feed + 1;
    }
    return 0;
}

/* Returns the last snapshot that `text` has a line of, or -1, and sets *end to the end of its
 * line. */
static int64_t last_snapshot(const char *text, size_t size, size_t *end)
{
    int64_t last = -1;
    size_t at = 0;
    *end = 0;
    while (at < size) {
        const char *feed = memchr(text + at, '\n', size - at);
        if (!feed)
            break;
        const size_t next = (size_t)(feed - text) + 1;
        const int64_t version = snapshot_of_line(text + at, next - at);
        if (version >= 0) {
            last = version;
            *end = next;
        }
        at = next;
    }
    return last;
}

/* Collects the lines of `version` and of the snapshots before it, down to `last`, which is left
 * out. A snapshot that was pruned has its lines in the file; otherwise they are lost. */
static enum error_code collect(struct store *store, const char *run_id, int64_t version,
                               int64_t last, const struct metrics_lines *known, struct pieces *out,
                               struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (known && known->size && known->version == version && known->after >= last) {
        rc = put_before(out, known->text, known->size, err);
        version = known->after;
    }
    for (int64_t v = version; v > last && rc == ERROR_NONE;) {
        struct snapshot snapshot = {0};
        rc = snapshot_get(store, run_id, v, &snapshot, err);
        if (rc == ERROR_NOT_FOUND && (v != version || out->size))
            return ERROR_NONE;
        if (rc == ERROR_NONE)
            rc = put_before(out, snapshot.log, snapshot.log_size, err);
        v = snapshot.previous_version;
        store_release_record(&snapshot.view);
    }
    return rc;
}

struct key metrics_log_note(const char *run_id)
{
    struct key key;
    must(snprintf(key.text, sizeof key.text, "%s/metrics.jsonl", run_id) < (int)sizeof key.text);
    return key;
}

enum error_code metrics_log_update(struct store *store, const char *run_id, int64_t version,
                                   const struct metrics_lines *known, struct error *err)
{
    const struct key note = metrics_log_note(run_id);
    char *old = NULL;
    size_t old_size = 0, end = 0;
    struct pieces text = {0};
    enum error_code rc = store_note_get(store, note.text, &old, &old_size, err);
    if (rc == ERROR_NOT_FOUND)
        rc = ERROR_NONE;
    const int64_t last = rc == ERROR_NONE ? last_snapshot(old, old_size, &end) : -1;
    if (rc != ERROR_NONE || last >= version)
        goto cleanup;
    rc = collect(store, run_id, version, last, known, &text, err);
    if (rc == ERROR_NONE)
        rc = put_before(&text, old, end, err);
    if (rc == ERROR_NONE)
        rc = store_note_put(store, note.text, text.text, text.size, err);
cleanup:
    memory_free(old);
    memory_free(text.text);
    return rc;
}
