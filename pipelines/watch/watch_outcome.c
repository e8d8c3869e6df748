#include "pipelines/watch/watch_outcome.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 2048 };

static enum error_code copy(const char *text, char **out, struct error *err)
{
    const enum error_code rc = memory_new(out, strlen(text) + 1, "a line of the log", err);
    if (rc == ERROR_NONE)
        memcpy(*out, text, strlen(text) + 1);
    return rc;
}

static enum error_code take_json(struct json_writer *json, char **out, struct error *err)
{
    json_close_object(json);
    /* whoever prints the line adds the line feed */
    enum error_code rc = json_writer_finish(json, err);
    if (rc == ERROR_NONE)
        rc = copy(json->text, out, err);
    json_writer_release(json);
    return rc;
}

static void describe_training(const struct watch_outcome *o, char text[LINE_SIZE])
{
    const char *metric = metric_table[o->newer.metric].name;
    if (!o->trigger.run_id[0])
        (void)snprintf(text, LINE_SIZE,
                       "not trained: no run of this dataset is there to compare with");
    else if (!o->is_trained)
        (void)snprintf(text, LINE_SIZE, "not trained: %s; run %s stays", o->trigger.why,
                       o->trigger.run_id);
    else
        (void)snprintf(text, LINE_SIZE,
                       "trained: %s; validation %s %.4f, with the old model %.4f: kept the %s "
                       "one, run %s",
                       o->trigger.why, metric, o->newer.value, o->older.value,
                       o->is_newer_kept ? "new" : "old",
                       o->is_newer_kept ? o->newer.run_id : o->older.run_id);
}

static enum error_code describe(const struct watch_outcome *o, const char *name, char **out,
                                struct error *err)
{
    const struct dataset_delta *d = &o->version.delta;
    char training[LINE_SIZE], text[2 * LINE_SIZE];
    describe_training(o, training);
    (void)snprintf(text, sizeof text,
                   "%s: version %" PRIu64 ", %" PRIu32 " nodes (%" PRIu32 " added, %" PRIu64
                   " removed), %" PRIu64 " edges (%" PRIu64 " added, %" PRIu64 " removed), %" PRIu64
                   " feature rows; %s",
                   name, d->depth, o->version.schema.node_count, d->added_nodes, d->gone_nodes,
                   o->version.schema.edge_count, o->version.added_edges, o->version.removed_edges,
                   d->rows, training);
    return copy(text, out, err);
}

static enum error_code write_result(const struct watch_outcome *o, const char *name, char **out,
                                    struct error *err)
{
    struct json_writer json = {0};
    json_open_object(&json, NULL);
    json_put_string(&json, "update", name);
    json_put_string(&json, "status", "applied");
    dataset_version_put(&json, &o->version);
    if (o->trigger.run_id[0])
        retrain_trigger_put(&json, &o->trigger);
    if (o->is_trained) {
        json_put_string(&json, "new_run", o->newer.run_id);
        json_put_double(&json, "new_valid", o->newer.value);
        json_put_double(&json, "old_valid", o->older.value);
        json_put_string(&json, "kept", o->is_newer_kept ? "new" : "old");
        json_put_string(&json, "model", o->is_newer_kept ? o->newer.run_id : o->older.run_id);
    } else if (o->trigger.run_id[0]) {
        json_put_string(&json, "model", o->trigger.run_id);
    }
    json_put_double(&json, "seconds", o->seconds);
    return take_json(&json, out, err);
}

enum error_code watch_outcome_describe(const struct watch_outcome *outcome, const char *name,
                                       struct watch_state *state, struct error *err)
{
    const char *model = outcome->is_newer_kept ? outcome->newer.run_id : outcome->older.run_id;
    if (outcome->is_trained)
        memcpy(state->model, model, sizeof state->model);
    enum error_code rc = describe(outcome, name, &state->line, err);
    if (rc == ERROR_NONE)
        rc = write_result(outcome, name, &state->result, err);
    state->is_decided = rc == ERROR_NONE;
    return rc;
}

enum error_code watch_outcome_refused(const char *name, const char *why, char **line, char **result,
                                      struct error *err)
{
    struct json_writer json = {0};
    char text[LINE_SIZE];
    (void)snprintf(text, sizeof text, "%s: refused: %s", name, why);
    json_open_object(&json, NULL);
    json_put_string(&json, "update", name);
    json_put_string(&json, "status", "refused");
    json_put_string(&json, "why", why);
    const enum error_code rc = take_json(&json, result, err);
    return rc == ERROR_NONE ? copy(text, line, err) : rc;
}
