#include "stages/plan/chain/chain_repair.h"

#include "stages/plan/chain/chosen_base.h"
#include "stages/plan/chain/unit_records.h"
#include "stages/plan/chain/unit_row.h"
#include "store/features/feature_shard.h"
#include "store/records/round/snapshot.h"

/* Reads a part of a layer block by block, so that damage anywhere in it is found, and removes a
 * damaged one. A whole manifest stays: the rows that are made again must have its hashes. */
static enum error_code remove_part_if_damaged(const struct schedule *schedule, struct store *store,
                                              const char *run_id, const struct unit *unit,
                                              struct error *err)
{
    struct feature_shard *shard = NULL;
    const struct unit_row *row = unit_row_of(unit->kind);
    const struct key key = row->artifact(schedule, run_id, unit);
    const struct key seal = row->output(schedule, run_id, unit);
    enum error_code rc = store_remove_damaged(store, seal.text, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = feature_shard_open(store, key.text, seal.text, run_id, &shard, err);
    if (rc == ERROR_NONE)
        rc = feature_shard_verify(shard, err);
    feature_shard_close(shard);
    if (rc == ERROR_CORRUPT)
        return store_remove(store, key.text, err);
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}

static enum error_code is_whole(struct store *store, const char *key, bool *whole,
                                struct error *err)
{
    enum error_code rc = store_remove_damaged(store, key, err);
    if (rc == ERROR_NONE)
        rc = store_has(store, key, whole, err);
    return rc;
}

/* Removes the unit's output if a piece of it is missing. A unit counts as done when its output is
 * there, so it would not be done again otherwise. */
static enum error_code remove_without_pieces(const struct schedule *schedule, struct store *store,
                                             const char *run_id, const struct unit *unit,
                                             struct error *err)
{
    const struct unit_row *row = unit_row_of(unit->kind);
    const int count = row->piece_count ? row->piece_count(schedule) : 0;
    enum error_code rc = ERROR_NONE;
    bool all = true;
    for (int i = 0; i < count && rc == ERROR_NONE; i++) {
        bool whole = false;
        rc = is_whole(store, row->piece(run_id, unit, i).text, &whole, err);
        all = all && whole;
    }
    return rc == ERROR_NONE && !all
               ? store_remove(store, row->output(schedule, run_id, unit).text, err)
               : rc;
}

/* Removes both records of a version if one is lost. One unit makes weights and optimizer state, and
 * it counts as done when the weights are there. */
static enum error_code repair_version(const struct schedule *schedule, struct store *store,
                                      const char *run_id, int64_t version, bool needs_state,
                                      bool *missing, struct error *err)
{
    const struct unit maker = unit_at(schedule, UNIT_AGGREGATE, version, 0);
    const struct unit_row *row = unit_row_of(maker.kind);
    const struct key weights = row->output(schedule, run_id, &maker);
    const struct key optimizer = row->companion(schedule, run_id, &maker);
    bool has_weights = false, has_state = true;
    enum error_code rc = is_whole(store, weights.text, &has_weights, err);
    if (rc == ERROR_NONE && needs_state)
        rc = is_whole(store, optimizer.text, &has_state, err);
    if (rc == ERROR_NONE && has_weights && !has_state)
        rc = store_remove(store, weights.text, err);
    *missing = *missing || !has_weights || !has_state;
    return rc;
}

/* Repairs the weights and optimizer state that the unit reads. The unit does not wait for these
 * records but for others that were made from them. If they have to be made again, those others are
 * removed, too, or the unit would not wait. */
static enum error_code repair_versions(const struct schedule *schedule, struct store *store,
                                       const char *run_id, const struct chain_state *state,
                                       const struct unit *unit, const struct unit_list *inputs,
                                       bool *missing, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    bool lost = false;
    const struct unit_row *row = unit_row_of(unit->kind);
    const int64_t last = unit->round;
    int64_t before = row->reads_weights_after ? row->reads_weights_after(schedule, unit) : last;
    /* weights of a snapshot are restored from it */
    before = before > state->snapshot_version ? before : state->snapshot_version;
    for (int64_t version = before + 1; version <= last && rc == ERROR_NONE; version++)
        rc = repair_version(schedule, store, run_id, version, version == last, &lost, err);
    for (int64_t i = 0; lost && i < inputs->count && rc == ERROR_NONE; i++)
        if (unit_row_of(inputs->unit[i].kind)->is_made_of_weights)
            rc =
                store_remove(store, chain_output_key(schedule, run_id, &inputs->unit[i]).text, err);
    *missing = *missing || lost;
    return rc;
}

/* --- rows of embeddings: gradients are inputs like others (unit_row.h), sealed rows are not --- */

/* Sets *whole to whether the sealed rows of this version are whole. Removes damaged ones. */
static enum error_code check_seals(const struct schedule *schedule, struct store *store,
                                   const char *run_id, int64_t version, bool *whole,
                                   struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *whole = true;
    for (int32_t part = 0; part < schedule->embedding_shards && rc == ERROR_NONE; part++) {
        bool found = false;
        rc = is_whole(store, key_embedding_seal(run_id, version, part).text, &found, err);
        *whole = *whole && found;
    }
    return rc;
}

/* Removes snapshots that lack sealed rows, and those after them: the run then goes on from the
 * snapshot before them, and makes all of them again. */
static enum error_code remove_snapshots(const struct schedule *schedule, struct store *store,
                                        const char *run_id, int64_t first, int64_t last,
                                        struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int64_t v = last; rc == ERROR_NONE && v >= first && v > 0;
         v = schedule_snapshot_before(schedule, v))
        rc = store_remove(store, key_snapshot(run_id, v).text, err);
    return rc;
}

/* Sets *is_set_back if the run now goes on from an earlier snapshot than `state` says. */
static enum error_code repair_embeddings(const struct schedule *schedule, struct store *store,
                                         const char *run_id, const struct chain_state *state,
                                         const struct unit *unit, bool *missing, bool *is_set_back,
                                         struct error *err)
{
    const int64_t newest = state->snapshot_version > 0 ? state->snapshot_version : 0;
    const int64_t read = unit->round < newest ? unit->round : newest; /* inference reads the best
                                                                       * version */
    bool whole = true;
    if (schedule->embedding_shards == 0 || !unit_row_of(unit->kind)->reads_embeddings ||
        !schedule_has_snapshot(schedule, read))
        return ERROR_NONE;
    const enum error_code rc = check_seals(schedule, store, run_id, read, &whole, err);
    if (rc != ERROR_NONE || whole)
        return rc;
    *missing = *is_set_back = true;
    return remove_snapshots(schedule, store, run_id, read, newest, err);
}

/* --- companions, which are kept longer than the record they were made with --- */

/* Removes the output of a unit that lacks its companion, so that the unit is done again. If a
 * snapshot covers the unit, the snapshots after it are removed, too, and the run goes back to the
 * one before. */
static enum error_code repair_companion(const struct schedule *schedule, struct store *store,
                                        const char *run_id, const struct chain_state *state,
                                        const struct unit *input, bool *is_set_back,
                                        struct error *err)
{
    const struct unit_row *row = unit_row_of(input->kind);
    bool whole = true;
    if (!row->companion_oldest)
        return ERROR_NONE;
    const struct key key = row->companion(schedule, run_id, input);
    enum error_code rc = key.text[0] ? is_whole(store, key.text, &whole, err) : ERROR_NONE;
    if (rc != ERROR_NONE || whole)
        return rc;
    if (unit_companion_is_chosen(row, schedule)) {
        rc = chosen_base_mend(schedule, store, run_id, input->round, &whole, err);
        if (rc != ERROR_NONE || whole)
            return rc;
    }
    rc = store_remove(store, chain_output_key(schedule, run_id, input).text, err);
    if (rc != ERROR_NONE || !row->is_covered(schedule, state, input))
        return rc;
    *is_set_back = true;
    return remove_snapshots(schedule, store, run_id,
                            schedule_snapshot_at_or_after(schedule, input->round + 1),
                            state->snapshot_version, err);
}

/* Repairs the choice of weights that a step starts from. A damaged choice is stored again from the
 * gradients of its round, or chosen anew if nothing was made from it. */
static enum error_code repair_choice(const struct schedule *schedule, struct store *store,
                                     const char *run_id, const struct unit *unit, struct error *err)
{
    bool whole = false;
    if (!schedule->chooses_base || unit->kind != UNIT_TRAIN_STEP)
        return ERROR_NONE;
    const enum error_code rc =
        is_whole(store, key_round_base(run_id, unit->round).text, &whole, err);
    return rc == ERROR_NONE && !whole
               ? chosen_base_mend(schedule, store, run_id, unit->round, &whole, err)
               : rc;
}

/* --- weights older than the newest snapshot, from which with staleness the rounds after it start
 * --- */

/* Removes a snapshot that lacks such weights, like one without its rows of embeddings. */
static enum error_code repair_base(const struct schedule *schedule, struct store *store,
                                   const char *run_id, const struct chain_state *state,
                                   int64_t version, bool *missing, bool *is_set_back,
                                   struct error *err)
{
    bool whole = false, restored = false;
    enum error_code rc = is_whole(store, key_weights(run_id, version).text, &whole, err);
    if (rc != ERROR_NONE || whole)
        return rc;
    *missing = true;
    if (schedule_has_snapshot(schedule, version) &&
        snapshot_restore(store, run_id, version, &restored, NULL) == ERROR_NONE)
        return ERROR_NONE;
    *is_set_back = true;
    return remove_snapshots(schedule, store, run_id,
                            schedule_snapshot_at_or_after(schedule, version + 1),
                            state->snapshot_version, err);
}

static enum error_code repair_bases(const struct schedule *schedule, struct store *store,
                                    const char *run_id, const struct chain_state *state,
                                    const struct unit_list *inputs, bool *missing,
                                    bool *is_set_back, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int64_t i = 0; i < inputs->count && rc == ERROR_NONE; i++) {
        const int64_t version = unit_number(&inputs->unit[i]);
        if (unit_row_of(inputs->unit[i].kind)->retention == RETAINED_BASES &&
            version < state->snapshot_version)
            rc = repair_base(schedule, store, run_id, state, version, missing, is_set_back, err);
    }
    return rc;
}

enum error_code chain_repair_inputs(const struct schedule *schedule, struct store *store,
                                    const char *run_id, const struct chain_state *state,
                                    const struct unit *unit, bool *missing, struct error *err)
{
    struct unit_list inputs = {0};
    bool is_set_back = false;
    *missing = false;
    enum error_code rc =
        chain_prerequisites(schedule, unit, chain_last_version(schedule, state), &inputs, err);
    if (rc == ERROR_NONE)
        rc = chain_reads(schedule, unit, &inputs, err);
    if (rc == ERROR_NONE)
        rc = repair_choice(schedule, store, run_id, unit, err);
    if (rc == ERROR_NONE)
        rc = chosen_base_reads(schedule, store, run_id, unit, &inputs, err);
    for (int64_t i = 0; i < inputs.count && rc == ERROR_NONE; i++) {
        bool done = false;
        const struct unit_row *row = unit_row_of(inputs.unit[i].kind);
        if (row->recomputable)
            rc = store_remove_damaged(
                store, chain_output_key(schedule, run_id, &inputs.unit[i]).text, err);
        if (rc == ERROR_NONE)
            rc = remove_without_pieces(schedule, store, run_id, &inputs.unit[i], err);
        if (rc == ERROR_NONE)
            rc = repair_companion(schedule, store, run_id, state, &inputs.unit[i], &is_set_back,
                                  err);
        if (rc == ERROR_NONE && row->artifact)
            rc = remove_part_if_damaged(schedule, store, run_id, &inputs.unit[i], err);
        if (rc == ERROR_NONE)
            rc = chain_is_done(schedule, store, run_id, state, &inputs.unit[i], &done, err);
        *missing = *missing || !done || is_set_back;
    }
    if (rc == ERROR_NONE)
        rc = repair_versions(schedule, store, run_id, state, unit, &inputs, missing, err);
    if (rc == ERROR_NONE && schedule->staleness > 0)
        rc = repair_bases(schedule, store, run_id, state, &inputs, missing, &is_set_back, err);
    unit_list_release(&inputs);
    if (rc == ERROR_NONE)
        rc = repair_embeddings(schedule, store, run_id, state, unit, missing, &is_set_back, err);
    if (rc == ERROR_NONE && state->snapshot_version > 0 && !is_set_back) {
        /* no unit makes again what the snapshot covers, but the snapshot holds its own weights */
        bool restored = false;
        rc = snapshot_restore(store, run_id, state->snapshot_version, &restored, err);
        *missing = *missing || restored;
    }
    return rc;
}
