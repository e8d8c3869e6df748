#include "stages/unit.h"

#include "common/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Which numbers stand in a name, in order. */
static const struct {
    const char *name, *stage;
    bool layer, round, slot;
} form[UNIT_KIND_COUNT] = {
    [UNIT_INGEST] = {"ingest", "ingest", false, false, false},
    [UNIT_PARTITION] = {"partition", "partition", false, false, false},
    [UNIT_INITIALISE] = {"initialise", "aggregate", false, false, false},
    [UNIT_SAMPLE] = {"sample", "sample", false, true, true},
    [UNIT_SAMPLE_EVALUATION] = {"sample-evaluation", "sample", false, false, true},
    [UNIT_TRAIN_STEP] = {"train-step", "train-step", false, true, true},
    [UNIT_EVALUATE] = {"evaluate", "train-step", false, true, true},
    [UNIT_AGGREGATE] = {"aggregate", "aggregate", false, true, false},
    [UNIT_CHECKPOINT] = {"checkpoint", "checkpoint", false, true, false},
    [UNIT_INFER] = {"infer", "infer", true, false, true},
    [UNIT_OUTPUTS] = {"outputs", "infer", false, false, false},
};

void unit_name(const struct unit *unit, char name[UNIT_NAME_SIZE])
{
    must(unit->kind > UNIT_UNKNOWN && unit->kind < UNIT_KIND_COUNT);
    int at = snprintf(name, UNIT_NAME_SIZE, "%s", form[unit->kind].name);
    if (form[unit->kind].layer)
        at += snprintf(name + at, UNIT_NAME_SIZE - (size_t)at, "/%" PRId32, unit->layer);
    if (form[unit->kind].round)
        at += snprintf(name + at, UNIT_NAME_SIZE - (size_t)at, "/%" PRId64, unit->round);
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
        if (!take_number(&rest, form[kind].layer, 1000, &layer) ||
            !take_number(&rest, form[kind].round, INT64_MAX / 2, &round) ||
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

bool unit_equal(const struct unit *a, const struct unit *b)
{
    return a->kind == b->kind && a->round == b->round && a->slot == b->slot && a->layer == b->layer;
}
