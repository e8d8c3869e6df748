/*
 * The order of the steps makes a kill between any two of them harmless. Until the ref names v,
 * everything that the snapshot before it needs is there, so the unit can be done again and gives
 * the same bytes. The file of metrics is the same if it is updated twice. If retention is
 * interrupted after the ref names v, the next commit finishes it.
 *
 * The ref goes back only to a whole snapshot: a slow worker that ends after others have made later
 * snapshots leaves it where it is. If it overtakes them between its look and its step, the queue
 * runs out of work before the run is finished, and the checkpoints after it are done once more,
 * from their records. The ref does not jump ahead to later snapshots that are there already: a run
 * that was set back, to make lost records again, passes them one by one.
 */
#include "stages/checkpoint/snapshot_commit.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "stages/checkpoint/record_pruner.h"
#include "stages/plan/chain/retention_rule.h"
#include "store/objects/keys.h"

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

/* Reads the position of the run: {-1} if the ref is lost, or if it names a snapshot after `version`
 * that is lost. */
static enum error_code read_position(const struct stage_context *context, int64_t version,
                                     struct snapshot_position *out, struct error *err)
{
    struct snapshot named = {0};
    enum error_code rc = snapshot_position_get(context->store, context->run_id, out, err);
    if (rc == ERROR_NONE && out->version > version) {
        rc = snapshot_get(context->store, context->run_id, out->version, &named, err);
        store_release_record(&named.view);
    }
    if (rc != ERROR_NOT_FOUND && rc != ERROR_CORRUPT)
        return rc;
    *out = (struct snapshot_position){.version = -1};
    return ERROR_NONE;
}

/* Flushes the records beside the snapshot: rows of embeddings, and the weights before it that the
 * rounds after it start from. Readers notice if any of these is lost. Fails: ERROR_NOT_FOUND. */
static enum error_code flush_beside(const struct stage_context *context, int64_t version,
                                    struct error *err)
{
    const struct schedule *schedule = context->schedule;
    enum error_code rc = ERROR_NONE;
    for (int32_t part = 0; part < schedule->embedding_shards && rc == ERROR_NONE; part++)
        rc = store_flush(context->store, key_embedding_seal(context->run_id, version, part).text,
                         err);
    for (int64_t v = schedule_base(schedule, version); v < version && rc == ERROR_NONE; v++) {
        rc = store_flush(context->store, key_weights(context->run_id, v).text, err);
        rc = rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
    }
    return rc;
}

/* Flushes the snapshots between the ref and `version` that are kept, such as the best so far. */
static enum error_code flush_kept(const struct stage_context *context,
                                  const struct retention *retention, int64_t current,
                                  int64_t version, struct error *err)
{
    const struct schedule *schedule = context->schedule;
    enum error_code rc = ERROR_NONE;
    for (int64_t v = schedule_snapshot_before(schedule, version); rc == ERROR_NONE && v > current;
         v = schedule_snapshot_before(schedule, v))
        if (retention_rule_keeps_snapshot(retention, v)) {
            rc = flush_beside(context, v, err);
            if (rc == ERROR_NONE)
                rc = store_flush(context->store, key_snapshot(context->run_id, v).text, err);
            rc =
                rc == ERROR_NOT_FOUND ? ERROR_NONE : rc; /* pruned by a worker that is further on */
        }
    return rc;
}

/* Updates metrics.jsonl. The file is for people: a disk that does not take it now must not delay
 * training. Lines that were not written stay in memory for the next commit. */
static void tell_metrics(struct snapshot_commit *commit, const struct stage_context *context,
                         int64_t version)
{
    struct error cause = {0};
    if (metrics_log_update(context->store, context->run_id, version, &commit->lines, &cause) ==
        ERROR_NONE)
        metrics_lines_reset(&commit->lines);
    else
        log_warn("%s; metrics.jsonl gets these lines with a later snapshot", cause.message);
}

enum error_code snapshot_commit_run(struct snapshot_commit *commit,
                                    const struct stage_context *context,
                                    const struct snapshot *newest, struct error *err)
{
    const int64_t version = newest->version, keep = context->settings->checkpoint.keep;
    const struct retention retention =
        retention_rule_of(context->schedule, version, keep, newest->best_version);
    struct snapshot_position current = {0}, next = {.version = version};
    enum error_code rc = read_position(context, version, &current, err);
    next.kept_from =
        retention.oldest_version > current.kept_from ? retention.oldest_version : current.kept_from;
    if (rc == ERROR_NONE)
        rc = flush_kept(context, &retention, current.version, version, err);
    if (rc == ERROR_NONE && current.version < version)
        rc = flush_beside(context, version, err);
    if (rc == ERROR_NONE)
        tell_metrics(commit, context, version);
    if (rc == ERROR_NONE && current.version < version)
        rc = snapshot_position_advance(context->store, context->run_id, next, err);
    if (rc == ERROR_NONE && keep > 0)
        rc = record_pruner_run(context, &retention, err);
    if (rc != ERROR_NONE)
        return rc;
    commit->last_ms = clock_ms();
    return ERROR_NONE;
}
