#include "stages/plan/chain/unit_records.h"

#include "common/base/text.h"
#include "stages/plan/chain/unit_row.h"

#include <string.h>

/* --- their keys --- */

int unit_keys(const struct schedule *s, const char *run_id, const struct unit *unit,
              struct key out[UNIT_KEYS_MAX])
{
    const struct unit_row *row = unit_row_of(unit->kind);
    int count = 0;
    if (row->artifact)
        out[count++] = row->artifact(s, run_id, unit);
    out[count++] = row->output(s, run_id, unit);
    if (row->companion)
        out[count] = row->companion(s, run_id, unit);
    count += row->companion && out[count].text[0];
    const int pieces = row->piece_count ? row->piece_count(s) : 0;
    for (int i = 0; i < pieces; i++)
        out[count++] = row->piece(run_id, unit, i);
    return count;
}

enum { NUMBERS_MAX = 3 };

/* Reads the numbers in a path, at most as many as a unit may have. Returns their count. */
static int numbers_in(const char *path, int64_t out[NUMBERS_MAX])
{
    int count = 0;
    while (*path && count < NUMBERS_MAX) {
        const size_t size = strcspn(path, "/-_"); /* outputs have a tag after their number */
        count += text_int64(path, size, &out[count]) && out[count] >= 0;
        path += size + (path[size] != '\0');
    }
    return count;
}

static bool has_key(const struct schedule *s, const char *run_id, const struct unit *unit,
                    const char *key)
{
    struct key keys[UNIT_KEYS_MAX];
    for (int i = unit_keys(s, run_id, unit, keys) - 1; i >= 0; i--)
        if (strcmp(keys[i].text, key) == 0)
            return true;
    return false;
}

/* Makes a unit from the numbers in a key. They are in this order in the key, or if slot_first in
 * the reverse order. */
static struct unit unit_of_numbers(enum unit_kind kind, const int64_t number[NUMBERS_MAX],
                                   bool slot_first)
{
    const struct unit_row *row = unit_row_of(kind);
    const bool has_line = row->line != LINE_NONE;
    const int line_at = slot_first && row->has_slot ? 1 + row->has_layer : 0;
    const int rest = has_line && !slot_first ? 1 : 0;
    struct unit unit = {.kind = kind, .round = has_line ? number[line_at] : 0};
    if (row->begun_by != UNIT_UNKNOWN) {
        unit.kind = unit.round > 0 ? kind : row->begun_by;
        unit.round -= unit.round > 0;
    }
    if (row->has_layer)
        unit.layer = (int32_t)number[rest];
    if (row->has_slot)
        unit.slot = (int32_t)number[rest + row->has_layer];
    return unit;
}

bool unit_of_key(const struct schedule *s, const char *run_id, const char *key, struct unit *out)
{
    const struct key run = key_run(run_id, "");
    const size_t front = strlen(run.text);
    int64_t number[NUMBERS_MAX] = {0};
    if (strncmp(key, run.text, front) != 0)
        return false;
    (void)numbers_in(key + front, number);
    for (enum unit_kind kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++)
        for (int slot_first = 0; unit_row_of(kind)->output && slot_first < 2; slot_first++) {
            *out = unit_of_numbers(kind, number, slot_first);
            if (has_key(s, run_id, out, key))
                return true;
        }
    return false;
}

/* Returns the key of the choice that the unit starts from, if it stores one: a choice is no
 * result. */
static struct key key_of_choice(const struct schedule *s, const char *run_id,
                                const struct unit *unit)
{
    const struct unit_row *row = unit_row_of(unit->kind);
    return unit_companion_is_chosen(row, s) ? row->companion(s, run_id, unit) : (struct key){""};
}

enum error_code unit_is_whole(const struct schedule *s, struct store *store, const char *run_id,
                              const struct unit *unit, bool *whole, struct error *err)
{
    const struct key choice = key_of_choice(s, run_id, unit);
    struct key keys[UNIT_KEYS_MAX];
    enum error_code rc = ERROR_NONE;
    *whole = true;
    for (int i = unit_keys(s, run_id, unit, keys) - 1; i >= 0 && *whole && rc == ERROR_NONE; i--)
        if (strcmp(keys[i].text, choice.text) != 0)
            rc = store_has(store, keys[i].text, whole, err);
    return rc;
}

enum error_code unit_remove(const struct schedule *s, struct store *store, const char *run_id,
                            const struct unit *unit, struct error *err)
{
    const struct unit_row *row = unit_row_of(unit->kind);
    const struct key output = row->output(s, run_id, unit);
    const struct key kept = key_of_choice(s, run_id, unit);
    struct key keys[UNIT_KEYS_MAX];
    enum error_code rc = store_remove(store, output.text, err);
    for (int i = unit_keys(s, run_id, unit, keys) - 1; i >= 0 && rc == ERROR_NONE; i--)
        if (strcmp(keys[i].text, output.text) != 0 && strcmp(keys[i].text, kept.text) != 0)
            rc = store_remove(store, keys[i].text, err);
    return rc;
}

/* --- where records lie --- */

int64_t unit_number(const struct unit *unit)
{
    return unit->round + (unit_row_of(unit->kind)->begun_by != UNIT_UNKNOWN);
}

static int32_t slots_at(const struct schedule *s, const struct unit_row *row, int64_t number)
{
    return row->slot_count ? row->slot_count(s, number) : 1;
}

int32_t unit_count_at(const struct schedule *s, enum unit_kind kind, int64_t number)
{
    const struct unit_row *row = unit_row_of(kind);
    return slots_at(s, row, number) * (row->layer_count ? row->layer_count(s) : 1);
}

struct unit unit_of_number(const struct schedule *s, enum unit_kind kind, int64_t number,
                           int32_t index)
{
    const struct unit_row *row = unit_row_of(kind);
    const int32_t slots = row->layer_count ? slots_at(s, row, number) : 0;
    if (slots == 0)
        return (struct unit){.kind = kind, .round = number, .slot = index};
    return (struct unit){
        .kind = kind, .round = number, .slot = index % slots, .layer = 1 + index / slots};
}

struct unit unit_at(const struct schedule *s, enum unit_kind kind, int64_t number, int32_t index)
{
    const enum unit_kind begun_by = unit_row_of(kind)->begun_by;
    if (begun_by != UNIT_UNKNOWN && number == 0)
        return (struct unit){.kind = begun_by, .slot = index};
    return unit_of_number(s, kind, number - (begun_by != UNIT_UNKNOWN), index);
}

int64_t unit_number_before(const struct schedule *s, enum unit_kind kind, int64_t number)
{
    const struct unit_row *row = unit_row_of(kind);
    if (row->number_before)
        return row->number_before(s, number);
    return row->line == LINE_VERSIONS ? schedule_snapshot_before(s, number) : number - 1;
}

int64_t unit_number_after(const struct schedule *s, enum unit_kind kind, int64_t number)
{
    const struct unit_row *row = unit_row_of(kind);
    if (row->number_after)
        return row->number_after(s, number);
    return row->line == LINE_VERSIONS && number < s->round_count
               ? schedule_snapshot_at_or_after(s, number + 1)
               : number + 1;
}
