#include "stages/train-step/held_parts.h"

/* The number of following slots that are checked. A round is queued in the order of its slots,
 * so the waiting units are among the next ones. */
enum { LOOKS_MAX = 64 };

/* Returns how many parts of the mini-batch of a slot have shards that are not open. */
static int missing_parts(const struct stage_context *context, const struct node_features *features,
                         int64_t round, int32_t slot)
{
    const struct schedule *s = context->schedule;
    int64_t made = 0, first = 0, count = 0;
    int32_t made_as = 0;
    int missing = 0;
    schedule_batch_source(s, round, slot, &made, &made_as);
    schedule_cluster_range(s, made, made_as, &first, &count);
    for (int64_t i = 0; i < count; i++) {
        const int64_t part = schedule_shuffled_part(s, schedule_epoch(s, made), first + i);
        missing += !node_features_hold(features, (int)part);
    }
    return missing;
}

int held_parts_prefers(const struct stage_context *context, const struct node_features *features,
                       const struct unit *unit, char wanted[STAGE_PREFERS_MAX][UNIT_NAME_SIZE])
{
    const struct schedule *s = context->schedule;
    int missing[LOOKS_MAX + 1], count = 0;
    if (unit->kind != UNIT_TRAIN_STEP || s->cluster_count == 0 ||
        node_features_are_resident(features))
        return 0;
    const int32_t slots = schedule_slot_count(s, unit->round);
    const int32_t looks = slots <= LOOKS_MAX ? slots : LOOKS_MAX + 1;
    const int own = missing_parts(context, features, unit->round, unit->slot);
    for (int32_t i = 1; own > 0 && i < looks; i++)
        missing[i] = missing_parts(context, features, unit->round, (unit->slot + i) % slots);
    for (int fewest = 0; fewest < own; fewest++)
        for (int32_t i = 1; i < looks && count < STAGE_PREFERS_MAX; i++)
            if (missing[i] == fewest) {
                struct unit other = *unit;
                other.slot = (unit->slot + i) % slots;
                unit_name(&other, wanted[count++]);
            }
    return count;
}
