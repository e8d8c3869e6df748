#include "stages/checkpoint/record_pruner.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/objects/keys.h"

#include <string.h>

/* --- the series --- */

struct series {
    struct key (*key)(const char *run_id, int64_t number, int slot);
    int32_t (*slot_count)(const struct schedule *schedule, int64_t number);
    int64_t (*before)(const struct schedule *schedule, int64_t number); /* below 0: none */
    int64_t (*after)(const struct schedule *schedule, int64_t number);
};

static struct key weights_key(const char *run_id, int64_t version, int slot)
{
    (void)slot;
    return key_weights(run_id, version);
}

static struct key optimizer_key(const char *run_id, int64_t version, int slot)
{
    (void)slot;
    return key_optimizer_state(run_id, version);
}

static int32_t one_slot(const struct schedule *schedule, int64_t number)
{
    (void)schedule;
    (void)number;
    return 1;
}

static int32_t evaluation_slots(const struct schedule *schedule, int64_t version)
{
    (void)version;
    return schedule->evaluation_slot_count;
}

static int64_t number_before(const struct schedule *schedule, int64_t number)
{
    (void)schedule;
    return number - 1;
}

static int64_t number_after(const struct schedule *schedule, int64_t number)
{
    (void)schedule;
    return number + 1;
}

/* The rounds in which mini-batches are made: those of the first epoch of each sampling pass. */
static int64_t sampled_round_before(const struct schedule *schedule, int64_t round)
{
    const int64_t before = round - 1;
    if (before < 0 || schedule_samples(schedule, before))
        return before;
    const int64_t epoch = schedule_epoch(schedule, before);
    return (epoch - epoch % schedule->reuse_epochs + 1) * schedule->rounds_per_epoch - 1;
}

static int64_t sampled_round_after(const struct schedule *schedule, int64_t round)
{
    const int64_t after = round + 1;
    if (schedule_samples(schedule, after))
        return after;
    const int64_t epoch = schedule_epoch(schedule, after);
    return (epoch - epoch % schedule->reuse_epochs + schedule->reuse_epochs) *
           schedule->rounds_per_epoch;
}

static int64_t snapshot_after(const struct schedule *schedule, int64_t version)
{
    return schedule_snapshot_at_or_after(schedule, version + 1);
}

static const struct series mini_batches = {key_mini_batch, schedule_slot_count,
                                           sampled_round_before, sampled_round_after};
static const struct series gradients = {key_gradient, schedule_slot_count, number_before,
                                        number_after};
static const struct series weights = {weights_key, one_slot, number_before, number_after};
static const struct series optimizer_states = {optimizer_key, one_slot, number_before,
                                               number_after};
static const struct series evaluations = {key_evaluation, evaluation_slots,
                                          schedule_snapshot_before, snapshot_after};

/* --- pruning one --- */

static enum error_code remove_slots(const struct stage_context *context,
                                    const struct series *series, int64_t number, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int32_t slot = series->slot_count(context->schedule, number) - 1;
         slot >= 0 && rc == ERROR_NONE; slot--)
        rc = store_remove(context->store, series->key(context->run_id, number, slot).text, err);
    return rc;
}

static enum error_code prune(const struct stage_context *context, const struct series *series,
                             int64_t limit, struct error *err)
{
    const struct schedule *schedule = context->schedule;
    enum error_code rc = ERROR_NONE;
    int64_t oldest = limit;
    for (int64_t number = series->before(schedule, limit); number >= 0;
         number = series->before(schedule, number)) {
        bool found = false;
        rc = store_has(context->store, series->key(context->run_id, number, 0).text, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        oldest = number;
    }
    for (int64_t number = oldest; number < limit && rc == ERROR_NONE;
         number = series->after(schedule, number))
        rc = remove_slots(context, series, number, err);
    return rc;
}

/* --- snapshots: few, so they are simply listed --- */

struct snapshot_search {
    const struct retention *retention;
    int64_t *superfluous; /* [count] versions */
    size_t count, capacity;
};

static enum error_code add_superfluous(struct snapshot_search *search, int64_t version,
                                       struct error *err)
{
    const enum error_code rc = memory_grow(&search->superfluous, &search->capacity,
                                           search->count + 1, "a list of snapshots", err);
    if (rc == ERROR_NONE)
        search->superfluous[search->count++] = version;
    return rc;
}

static enum error_code visit_snapshot(void *context, const char *key, bool is_artifact,
                                      struct error *err)
{
    struct snapshot_search *search = context;
    const char *name = strrchr(key, '/') + 1;
    int64_t version = 0;
    if (is_artifact || !text_int64(name, strlen(name), &version) ||
        retention_rule_keeps_snapshot(search->retention, version))
        return ERROR_NONE;
    return add_superfluous(search, version, err);
}

static enum error_code prune_snapshots(const struct stage_context *context,
                                       const struct retention *retention, struct error *err)
{
    struct snapshot_search search = {.retention = retention};
    enum error_code rc = store_list(context->store, key_run(context->run_id, "snapshot").text,
                                    visit_snapshot, &search, err);
    for (size_t i = 0; i < search.count && rc == ERROR_NONE; i++)
        rc = store_remove(context->store, key_snapshot(context->run_id, search.superfluous[i]).text,
                          err);
    memory_free(search.superfluous);
    return rc;
}

enum error_code record_pruner_run(const struct stage_context *context,
                                  const struct retention *retention, struct error *err)
{
    enum error_code rc = prune_snapshots(context, retention, err);
    if (rc == ERROR_NONE)
        rc = prune(context, &mini_batches, retention->oldest_mini_batch, err);
    if (rc == ERROR_NONE)
        rc = prune(context, &gradients, retention->oldest_version, err);
    if (rc == ERROR_NONE)
        rc = prune(context, &weights, retention->oldest_version, err);
    if (rc == ERROR_NONE)
        rc = prune(context, &optimizer_states, retention->oldest_version, err);
    if (rc == ERROR_NONE && context->schedule->evaluation_slot_count > 0)
        rc = prune(context, &evaluations, retention->oldest_version, err);
    return rc;
}
