#include "stages/chain_repair.h"

#include "store/records/snapshot.h"

/* Can the record be made again from others that are kept as long? */
static bool recomputable(enum unit_kind kind)
{
    return kind == UNIT_SAMPLE || kind == UNIT_SAMPLE_EVALUATION || kind == UNIT_TRAIN_STEP ||
           kind == UNIT_EVALUATE || kind == UNIT_AGGREGATE || kind == UNIT_INITIALISE;
}

static enum error_code remove_if_damaged(struct store *store, const char *key, struct error *err)
{
    struct record_view view = {0};
    const enum error_code rc = store_get(store, key, NULL, &view, NULL);
    if (rc == ERROR_NONE)
        store_release_record(&view);
    return rc == ERROR_CORRUPT ? store_remove(store, key, err) : ERROR_NONE;
}

enum error_code chain_repair_inputs(const struct schedule *schedule, struct store *store,
                                    const char *run_id, const struct chain_state *state,
                                    const struct unit *unit, bool *missing, struct error *err)
{
    struct unit_list inputs = {0};
    *missing = false;
    enum error_code rc = chain_prerequisites(schedule, unit, state->snapshot_version, &inputs, err);
    for (int64_t i = 0; i < inputs.count && rc == ERROR_NONE; i++) {
        bool done = false;
        if (recomputable(inputs.unit[i].kind))
            rc = remove_if_damaged(store, chain_output_key(run_id, &inputs.unit[i]).text, err);
        if (rc == ERROR_NONE)
            rc = chain_is_done(store, run_id, state, &inputs.unit[i], &done, err);
        *missing = *missing || !done;
    }
    unit_list_release(&inputs);
    if (rc == ERROR_NONE && state->snapshot_version > 0) {
        /* what the snapshot covers no unit makes again, but it holds its weights itself */
        bool restored = false;
        rc = snapshot_restore(store, run_id, state->snapshot_version, &restored, err);
        *missing = *missing || restored;
    }
    return rc;
}
