/*
 * The order of the steps is what makes a kill between any two of them harmless. Until the switch names v, all
 * that the snapshot before it needs is there, so the unit can be done again, and gives the same bytes; the
 * file of metrics is the same when it is updated twice; and retention, once the switch names v, is made good
 * by the next commit.
 *
 * The switch never goes back: a slow worker that ends after others have made later snapshots moves it on to
 * the newest there is.
 */
#include "stages/checkpoint/snapshot_commit.h"

#include "common/base/clock.h"
#include "stages/checkpoint/record_pruner.h"
#include "stages/checkpoint/retention_rule.h"
#include "store/keys.h"

enum error_code snapshot_commit_note(struct snapshot_commit *commit,
                                     const struct snapshot *snapshot, struct error *err)
{
    return metrics_lines_add(&commit->lines, snapshot, err);
}

void snapshot_commit_release(struct snapshot_commit *commit)
{
    metrics_lines_release(&commit->lines);
    *commit = (struct snapshot_commit){0};
}

bool snapshot_commit_is_due(const struct snapshot_commit *commit, const struct snapshot *newest)
{
    return newest->stop || commit->last_ms == 0 ||
           clock_ms() - commit->last_ms >= SNAPSHOT_COMMIT_MS;
}

static enum error_code read_switch(const struct stage_context *context, int64_t *version,
                                   struct error *err)
{
    *version = -1;
    const enum error_code rc =
        snapshot_current_version(context->store, context->run_id, version, err);
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}

/* The snapshots between the switch and `version` that outlive it: such as the best so far. */
static enum error_code flush_kept(const struct stage_context *context,
                                  const struct retention *retention, int64_t current,
                                  int64_t version, struct error *err)
{
    const struct schedule *schedule = context->schedule;
    enum error_code rc = ERROR_NONE;
    for (int64_t v = schedule_snapshot_before(schedule, version); rc == ERROR_NONE && v > current;
         v = schedule_snapshot_before(schedule, v))
        if (retention_rule_keeps_snapshot(retention, v))
            rc = store_flush(context->store, key_snapshot(context->run_id, v).text, err);
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc; /* pruned by a worker that is further on */
}

static enum error_code advance_switch(const struct stage_context *context, int64_t current,
                                      int64_t version, struct error *err)
{
    const struct schedule *schedule = context->schedule;
    bool found = current < version;
    enum error_code rc =
        found ? snapshot_switch(context->store, context->run_id, version, err) : ERROR_NONE;
    /* were there later ones in the meantime? */
    for (int64_t v = version; rc == ERROR_NONE && found && v < schedule->round_count;) {
        v = schedule_snapshot_at_or_after(schedule, v + 1);
        rc = store_has(context->store, key_snapshot(context->run_id, v).text, &found, err);
        if (rc == ERROR_NONE && found)
            rc = snapshot_switch(context->store, context->run_id, v, err);
    }
    return rc;
}

enum error_code snapshot_commit_run(struct snapshot_commit *commit,
                                    const struct stage_context *context,
                                    const struct snapshot *newest, struct error *err)
{
    const int64_t version = newest->version, keep = context->settings->checkpoint.keep;
    const struct retention retention =
        retention_rule_of(context->schedule, version, keep, newest->best_version);
    int64_t current = -1;
    enum error_code rc = read_switch(context, &current, err);
    if (rc == ERROR_NONE)
        rc = flush_kept(context, &retention, current, version, err);
    if (rc == ERROR_NONE)
        rc = metrics_log_update(context->store, context->run_id, version, &commit->lines, err);
    if (rc == ERROR_NONE)
        rc = advance_switch(context, current, version, err);
    if (rc == ERROR_NONE && keep > 0)
        rc = record_pruner_run(context, &retention, err);
    if (rc != ERROR_NONE)
        return rc;
    metrics_lines_reset(&commit->lines);
    commit->last_ms = clock_ms();
    return ERROR_NONE;
}
