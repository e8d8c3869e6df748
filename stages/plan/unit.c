#include "stages/plan/unit.h"

#include "common/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Which numbers stand in a name: always in the order round (or version), layer, slot (or part). */
static const struct {
    const char *name, *stage;
    bool round, layer, slot;
} form[UNIT_KIND_COUNT] = {
    [UNIT_INGEST] = {"ingest", "ingest", false, false, false},
    [UNIT_PARTITION] = {"partition", "partition", false, false, false},
    [UNIT_INITIALISE] = {"initialise", "aggregate", false, false, false},
    [UNIT_SAMPLE] = {"sample", "sample", true, false, true},
    [UNIT_SAMPLE_EVALUATION] = {"sample-evaluation", "sample", false, false, true},
    [UNIT_TRAIN_STEP] = {"train-step", "train-step", true, false, true},
    [UNIT_EVALUATE] = {"evaluate", "train-step", true, false, true},
    [UNIT_AGGREGATE] = {"aggregate", "aggregate", true, false, false},
    [UNIT_CHECKPOINT] = {"checkpoint", "checkpoint", true, false, false},
    [UNIT_INFER] = {"infer", "infer", true, true, true},
    [UNIT_OUTPUTS] = {"outputs", "infer", true, false, false},
};

void unit_name(const struct unit *unit, char name[UNIT_NAME_SIZE])
{
    must(unit->kind > UNIT_UNKNOWN && unit->kind < UNIT_KIND_COUNT);
    int at = snprintf(name, UNIT_NAME_SIZE, "%s", form[unit->kind].name);
    if (form[unit->kind].round)
        at += snprintf(name + at, UNIT_NAME_SIZE - (size_t)at, "/%" PRId64, unit->round);
    if (form[unit->kind].layer)
        at += snprintf(name + at, UNIT_NAME_SIZE - (size_t)at, "/%" PRId32, unit->layer);
    if (form[unit->kind].slot)
        (void)snprintf(name + at, UNIT_NAME_SIZE - (size_t)at, "/%" PRId32, unit->slot);
}

/* Takes "/<number>" off *rest when `wanted`. */
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
        if (strlen(form[kind].name) != word || strncmp(form[kind].name, name, word) != 0)
            continue;
        const char *rest = name + word;
        int64_t layer = 0, round = 0, slot = 0;
        if (!take_number(&rest, form[kind].round, INT64_MAX / 2, &round) ||
            !take_number(&rest, form[kind].layer, 1000, &layer) ||
            !take_number(&rest, form[kind].slot, INT32_MAX, &slot) || *rest)
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
    return kind > UNIT_UNKNOWN && kind < UNIT_KIND_COUNT ? form[kind].stage : "unknown";
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
