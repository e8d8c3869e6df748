#include "stages/plan/chain/unit.h"

#include "common/base/text.h"
#include "stages/plan/chain/unit_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct unit_row *row_of(const struct unit *unit)
{
    return unit_row_of(unit->kind);
}

void unit_name(const struct unit *unit, char name[UNIT_NAME_SIZE])
{
    const struct unit_row *row = row_of(unit);
    int at = snprintf(name, UNIT_NAME_SIZE, "%s", row->name);
    if (row->line != LINE_NONE)
        at += snprintf(name + at, UNIT_NAME_SIZE - (size_t)at, "/%" PRId64, unit->round);
    if (row->has_layer)
        at += snprintf(name + at, UNIT_NAME_SIZE - (size_t)at, "/%" PRId32, unit->layer);
    if (row->has_slot)
        (void)snprintf(name + at, UNIT_NAME_SIZE - (size_t)at, "/%" PRId32, unit->slot);
}

/* Takes "/<number>" off *rest if `wanted`. */
static bool take_number(const char **rest, bool wanted, int64_t most, int64_t *out)
{
    *out = 0;
    if (!wanted)
        return true;
    if (**rest != '/')
        return false;
    const char *digits = *rest + 1;
    const size_t size = strcspn(digits, "/");
    *rest = digits + size;
    return text_int64(digits, size, out) && *out >= 0 && *out <= most;
}

enum error_code unit_parse(const char *name, struct unit *out, struct error *err)
{
    const size_t word = strcspn(name, "/");
    for (int kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++) {
        const struct unit_row *row = unit_row_of((enum unit_kind)kind);
        if (strlen(row->name) != word || strncmp(row->name, name, word) != 0)
            continue;
        const char *rest = name + word;
        int64_t layer = 0, round = 0, slot = 0;
        if (!take_number(&rest, row->line != LINE_NONE, INT64_MAX / 2, &round) ||
            !take_number(&rest, row->has_layer, 1000, &layer) ||
            !take_number(&rest, row->has_slot, INT32_MAX, &slot) || *rest)
            break;
        *out = (struct unit){.kind = (enum unit_kind)kind,
                             .round = round,
                             .slot = (int32_t)slot,
                             .layer = (int32_t)layer};
        return ERROR_NONE;
    }
    return error_set(err, ERROR_INVALID, "'%s' names no unit of work", name);
}

const char *unit_stage(enum unit_kind kind)
{
    return kind > UNIT_UNKNOWN && kind < UNIT_KIND_COUNT ? unit_row_of(kind)->stage : "unknown";
}

enum unit_kind unit_of_stage(const char *stage)
{
    for (enum unit_kind kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++)
        if (strcmp(unit_row_of(kind)->stage, stage) == 0)
            return kind;
    return UNIT_UNKNOWN;
}

enum error_code unit_check_stage(const struct unit *unit, const char *stage, struct error *err)
{
    if (strcmp(unit_stage(unit->kind), stage) == 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID, "a unit of graphmill-%s, this is graphmill-%s",
                     unit_stage(unit->kind), stage);
}

bool unit_equal(const struct unit *a, const struct unit *b)
{
    return a->kind == b->kind && a->round == b->round && a->slot == b->slot && a->layer == b->layer;
}
