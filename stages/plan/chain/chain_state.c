#include "stages/plan/chain/chain_state.h"

#include "common/base/log.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/unit_row.h"

#include <inttypes.h>

int64_t chain_weights_version(const struct schedule *s, const struct snapshot *snapshot)
{
    if (!snapshot->stop)
        return -1;
    return s->infers_best ? snapshot->best_version : snapshot->version;
}

int64_t chain_last_version(const struct schedule *s, const struct chain_state *state)
{
    return state->stopped ? state->snapshot_version : s->round_count;
}

/* Sets *stored to whether the unit's record is there, with its artifact and its companion. The
 * companion counts, because a run that was killed may be rounds ahead of its snapshot and may have
 * lost the optimizer state of a version: no unit would miss it, since units read that of later
 * versions. */
static enum error_code is_stored(const struct schedule *s, struct store *store, const char *run_id,
                                 const struct unit *unit, bool *stored, struct error *err)
{
    const struct unit_row *row = unit_row_of(unit->kind);
    enum error_code rc = store_has(store, row->output(s, run_id, unit).text, stored, err);
    if (rc == ERROR_NONE && *stored && row->artifact)
        rc = store_has(store, row->artifact(s, run_id, unit).text, stored, err);
    if (rc != ERROR_NONE || !*stored || !row->companion)
        return rc;
    const struct key companion = row->companion(s, run_id, unit);
    return companion.text[0] ? store_has(store, companion.text, stored, err) : ERROR_NONE;
}

enum error_code chain_state_refresh(const struct schedule *s, struct store *store,
                                    const char *run_id, struct chain_state *state,
                                    struct error *err)
{
    int64_t version = -1;
    bool is_named = false;
    enum error_code rc = snapshot_current_version(store, run_id, &version, &is_named, err);
    while (rc == ERROR_NONE && version != state->snapshot_version) {
        struct snapshot snapshot = {0};
        rc = snapshot_get_current(store, run_id, &snapshot, err);
        if (rc == ERROR_NONE)
            *state = (struct chain_state){.snapshot_version = snapshot.version,
                                          .stopped = snapshot.stop,
                                          .weights_version = chain_weights_version(s, &snapshot)};
        store_release_record(&snapshot.view);
        if (rc != ERROR_NONE || state->snapshot_version == version)
            break;
        const int64_t named = version; /* the snapshot is damaged, or the run went on meanwhile */
        rc = snapshot_current_version(store, run_id, &version, &is_named, err);
        if (rc == ERROR_NONE && version == named) {
            is_named = false;
            break;
        }
    }
    if (rc == ERROR_NOT_FOUND)
        *state = (struct chain_state){.snapshot_version = -1, .weights_version = -1};
    state->is_named = is_named;
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc != ERROR_NONE || !state->stopped)
        return rc;
    const struct unit outputs = {.kind = UNIT_OUTPUTS, .round = state->weights_version};
    return is_stored(s, store, run_id, &outputs, &state->finished, err);
}

enum error_code chain_state_read(const struct schedule *s, struct store *store, const char *run_id,
                                 struct chain_state *out, struct error *err)
{
    *out = (struct chain_state){.snapshot_version = -1, .weights_version = -1};
    return chain_state_refresh(s, store, run_id, out, err);
}

enum error_code chain_state_and_snapshot(const struct schedule *s, struct store *store,
                                         const char *run_id, struct chain_state *state,
                                         struct snapshot *snapshot, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    int64_t before = -1;
    *snapshot = (struct snapshot){0};
    *state = (struct chain_state){.snapshot_version = -1};
    do {
        before = state->snapshot_version;
        rc = chain_state_read(s, store, run_id, state, err);
        if (rc == ERROR_NONE && state->snapshot_version >= 0)
            rc = snapshot_get(store, run_id, state->snapshot_version, snapshot, err);
    } while (rc == ERROR_NOT_FOUND && state->snapshot_version != before);
    return rc;
}

enum error_code chain_state_mend(struct store *store, const char *run_id,
                                 const struct chain_state *state, struct error *err)
{
    struct error cause = {0};
    struct snapshot_position position = {0};
    if (state->is_named)
        return ERROR_NONE;
    const int64_t version = state->snapshot_version > 0 ? state->snapshot_version : 0;
    const enum error_code rc = snapshot_position_get(store, run_id, &position, &cause);
    const bool is_lost = rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT;
    if (rc == ERROR_NONE ? position.version == version : rc == ERROR_NOT_FOUND && version == 0)
        return ERROR_NONE;
    if (rc != ERROR_NONE && !is_lost) {
        *err = cause;
        return rc;
    }
    if (is_lost)
        log_warn("%s; run %s goes on from snapshot %" PRId64 ", the newest whole one",
                 cause.message, run_id, version);
    else
        log_warn("snapshot %" PRId64 " of run %s is lost; it goes on from snapshot %" PRId64,
                 position.version, run_id, version);
    /* records between the lost snapshot and a later one may be missing */
    if (is_lost || position.kept_from > version || position.version < version)
        position.kept_from = version;
    position.version = version;
    return snapshot_position_set(store, run_id, position, err);
}

enum error_code chain_is_done(const struct schedule *s, struct store *store, const char *run_id,
                              const struct chain_state *state, const struct unit *unit, bool *done,
                              struct error *err)
{
    *done = chain_is_covered(s, state, unit);
    return *done || unit_row_of(unit->kind)->done_when_covered
               ? ERROR_NONE
               : is_stored(s, store, run_id, unit, done, err);
}

bool chain_is_covered(const struct schedule *s, const struct chain_state *state,
                      const struct unit *unit)
{
    return unit_row_of(unit->kind)->is_covered(s, state, unit);
}

enum error_code chain_is_open(const struct schedule *s, struct store *store, const char *run_id,
                              const struct chain_state *state, const char *name, bool *open,
                              struct error *err)
{
    struct unit unit = {0};
    bool done = false;
    *open = false;
    if (unit_parse(name, &unit, NULL) != ERROR_NONE ||
        chain_check_unit(s, &unit, state->weights_version, NULL) != ERROR_NONE)
        return ERROR_NONE;
    const enum error_code rc = chain_is_done(s, store, run_id, state, &unit, &done, err);
    *open = rc == ERROR_NONE && !done;
    return rc;
}
