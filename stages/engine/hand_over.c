#include "stages/engine/hand_over.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/unit_row.h"
#include "store/records/round/snapshot.h"

/* Reads whether the unit ends the run, and which weights inference then uses. A snapshot that was
 * pruned meanwhile did not end the run: a later one is there. */
static enum error_code read_ending(const struct stage_context *context, const struct unit *unit,
                                   int64_t *weights_version, struct error *err)
{
    struct snapshot snapshot = {0};
    *weights_version = -1;
    if (!unit_row_of(unit->kind)->may_end_run)
        return ERROR_NONE;
    const enum error_code rc =
        snapshot_get(context->store, context->run_id, unit->round, &snapshot, err);
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc != ERROR_NONE)
        return rc;
    *weights_version = chain_weights_version(context->schedule, &snapshot);
    store_release_record(&snapshot.view);
    return ERROR_NONE;
}

/* Returns whether two units have the same number of prerequisites. With staleness, slots of a round
 * that uses mini-batches again may wait for nearby rounds in different numbers. */
static bool waits_alike(const struct schedule *s, const struct unit *a, const struct unit *b)
{
    return a->kind == b->kind && a->round == b->round && a->layer == b->layer &&
           !unit_row_of(a->kind)->slots_wait_differently &&
           (s->staleness == 0 || s->reuse_epochs == 1);
}

static void fill(struct hand_over *next, const struct schedule *schedule)
{
    for (int64_t i = 0; i < next->units.count; i++) {
        const struct unit *unit = &next->units.unit[i];
        struct work_successor *entry = &next->entry[i];
        unit_name(unit, entry->unit);
        (void)text_copy(entry->stage, sizeof entry->stage, unit_stage(unit->kind));
        /* counted once for all slots of a round and layer */
        entry->prerequisite_count = i > 0 && waits_alike(schedule, unit, unit - 1)
                                        ? entry[-1].prerequisite_count
                                        : (int32_t)chain_prerequisite_count(schedule, unit);
    }
}

enum error_code hand_over_name(struct hand_over *next, const struct stage_context *context,
                               const struct unit *unit, struct error *err)
{
    int64_t weights_version = -1;
    next->units.count = next->count = 0;
    enum error_code rc = read_ending(context, unit, &weights_version, err);
    if (rc == ERROR_NONE)
        rc = chain_successors(context->schedule, unit, weights_version, &next->units, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&next->entry, &next->capacity, (size_t)next->units.count,
                         "the successors of a unit", err);
    if (rc != ERROR_NONE)
        return rc;
    next->count = next->units.count;
    fill(next, context->schedule);
    return ERROR_NONE;
}

void hand_over_release(struct hand_over *next)
{
    unit_list_release(&next->units);
    memory_free(next->entry);
    *next = (struct hand_over){0};
}
