#include "stages/plan/chain/chain_soundness.h"

#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/unit_records.h"
#include "stages/plan/chain/unit_row.h"

/* Sets *found to whether this snapshot is there, with the records that are kept as long. */
static enum error_code has_snapshot(const struct chain_soundness *c, int64_t version, bool *found,
                                    struct error *err)
{
    const struct schedule *s = c->schedule;
    enum error_code rc = ERROR_NONE;
    *found = true;
    for (enum unit_kind kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++) {
        const bool is_kept = unit_row_of(kind)->retention == RETAINED_SNAPSHOTS;
        const int32_t count = is_kept ? unit_count_at(s, kind, version) : 0;
        for (int32_t slot = 0; slot < count && *found && rc == ERROR_NONE; slot++) {
            const struct unit unit = unit_at(s, kind, version, slot);
            rc = store_has(c->store, chain_output_key(s, c->run_id, &unit).text, found, err);
        }
    }
    return rc;
}

/* Returns whether the records after a snapshot of this version wait for the unit. */
static bool is_of_version(const struct unit *unit)
{
    const struct unit_row *row = unit_row_of(unit->kind);
    return row->line == LINE_VERSIONS || row->begun_by != UNIT_UNKNOWN;
}

/* Sets *founded to whether `before`, which the unit waited for, is done or covered by a snapshot
 * before the unit. That snapshot may be there before the ref names it. */
static enum error_code is_founded(const struct chain_soundness *c, const struct unit *unit,
                                  const struct unit *before, bool *founded, struct error *err)
{
    const struct schedule *s = c->schedule;
    const int64_t version = unit_number(before);
    const int64_t last = unit->round - (unit_row_of(unit->kind)->line == LINE_VERSIONS);
    const enum error_code rc =
        chain_is_done(s, c->store, c->run_id, c->state, before, founded, err);
    if (rc != ERROR_NONE || *founded || !is_of_version(before) || version > last ||
        !schedule_has_snapshot(s, version))
        return rc;
    return has_snapshot(c, version, founded, err);
}

/* Sets *sound to whether everything is there that the unit made and waited for. A step that chooses
 * its weights is not made from the versions that it waits for, so with choices one loss makes all
 * later units unsound (is_broken). */
static enum error_code is_sound(struct chain_soundness *c, const struct unit *unit, bool *sound,
                                struct error *err)
{
    const struct schedule *s = c->schedule;
    enum error_code rc = unit_is_whole(s, c->store, c->run_id, unit, sound, err);
    if (rc != ERROR_NONE || !*sound)
        return rc;
    c->before.count = 0;
    rc = chain_prerequisites(s, unit, chain_last_version(s, c->state), &c->before, err);
    for (int64_t i = 0; i < c->before.count && *sound && rc == ERROR_NONE; i++)
        if (!s->chooses_base || !is_of_version(&c->before.unit[i]))
            rc = is_founded(c, unit, &c->before.unit[i], sound, err);
    return rc;
}

/* Sets *may to whether the unit's records may be removed: not gradients that are the only record of
 * a choice. */
static enum error_code may_go(const struct chain_soundness *c, const struct unit *unit, bool *may,
                              struct error *err)
{
    const struct unit_row *row = unit_row_of(unit->kind);
    *may = (row->retention == RETAINED_ROUNDS || row->retention == RETAINED_BASES) &&
           !chain_is_covered(c->schedule, c->state, unit);
    return *may && unit_companion_is_chosen(row, c->schedule)
               ? store_has(c->store, row->companion(c->schedule, c->run_id, unit).text, may, err)
               : ERROR_NONE;
}

enum error_code chain_drop_unsound(struct chain_soundness *c, const struct unit *unit,
                                   bool *is_done, struct error *err)
{
    struct chain_state now = {0};
    bool sound = true, may = false;
    enum error_code rc = may_go(c, unit, &may, err);
    if (rc == ERROR_NONE && may)
        rc = is_sound(c, unit, &sound, err);
    if (rc != ERROR_NONE || !may || (sound && !c->is_broken))
        return rc;
    rc = chain_state_read(c->schedule, c->store, c->run_id, &now, err);
    if (rc != ERROR_NONE || now.snapshot_version != c->state->snapshot_version)
        return rc;
    *is_done = false;
    c->is_broken = c->schedule->chooses_base;
    return unit_remove(c->schedule, c->store, c->run_id, unit, err);
}
