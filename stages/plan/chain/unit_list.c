#include "stages/plan/chain/unit_list.h"

#include "common/base/memory.h"

enum error_code unit_list_add(struct unit_list *list, struct unit unit, struct error *err)
{
    if (list->only_counts) {
        list->count++;
        return ERROR_NONE;
    }
    const enum error_code rc =
        memory_grow(&list->unit, &list->capacity, (size_t)list->count + 1, "a list of units", err);
    if (rc == ERROR_NONE)
        list->unit[list->count++] = unit;
    return rc;
}

void unit_list_release(struct unit_list *list)
{
    memory_free(list->unit);
    *list = (struct unit_list){0};
}

enum error_code unit_list_add_slots(struct unit_list *list, enum unit_kind kind, int64_t round,
                                    int32_t count, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int32_t slot = 0; slot < count && rc == ERROR_NONE; slot++)
        rc = unit_list_add(list, (struct unit){.kind = kind, .round = round, .slot = slot}, err);
    return rc;
}

enum error_code unit_list_add_round(struct unit_list *list, const struct schedule *s,
                                    enum unit_kind kind, int64_t round, struct error *err)
{
    if (round >= s->round_count)
        return ERROR_NONE;
    return unit_list_add_slots(list, kind, round, schedule_slot_count(s, round), err);
}

enum error_code unit_list_add_first_samples(struct unit_list *list, const struct schedule *s,
                                            struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int64_t round = 0; rc == ERROR_NONE && round <= s->run_ahead && round < s->round_count;
         round++)
        if (schedule_samples(s, round))
            rc = unit_list_add_round(list, s, UNIT_SAMPLE, round, err);
    return rc;
}

enum error_code unit_list_add_layer(struct unit_list *list, const struct schedule *s,
                                    int64_t version, int32_t layer, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int32_t part = 0; part < s->part_count && rc == ERROR_NONE; part++)
        rc = unit_list_add(
            list, (struct unit){.kind = UNIT_INFER, .round = version, .slot = part, .layer = layer},
            err);
    return rc;
}
