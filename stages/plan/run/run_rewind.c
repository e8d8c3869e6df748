#include "stages/plan/run/run_rewind.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/plan/chain/chosen_base.h"
#include "stages/plan/chain/unit_records.h"
#include "stages/plan/chain/unit_row.h"
#include "store/records/round/snapshot.h"

#include <string.h>

struct rewind {
    struct store *store;
    const struct run_binding *run;
    const struct kept_rounds *kept;
};

/* A record that is lost. */
struct lost_record {
    struct unit unit; /* the unit that makes it */
    bool is_known;    /* a unit makes it */
    int64_t limit;    /* the newest version from which the run may go on */
};

/* --- how far back --- */

/* Restores the weights of this version from its snapshot, if it has one. Sets *restored. */
static enum error_code restore(const struct rewind *r, int64_t version, bool *restored,
                               struct error *err)
{
    bool changed = false;
    *restored = false;
    if (!schedule_has_snapshot(&r->run->schedule, version))
        return ERROR_NONE;
    const enum error_code rc = snapshot_restore(r->store, r->run->plan.id, version, &changed, err);
    *restored = rc == ERROR_NONE;
    return rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT ? ERROR_NONE : rc;
}

/* Returns the newest version from which a run can go on and make this unit again: that of its
 * round, or the one before. */
static int64_t version_before(const struct unit *unit)
{
    const bool is_of_round = unit_row_of(unit->kind)->line == LINE_ROUNDS;
    return is_of_round || unit->round == 0 ? unit->round : unit->round - 1;
}

/* Returns the limit for a lost mini-batch. Mini-batches of a pass that began before the records
 * that the run keeps are still used by later rounds. */
static int64_t limit_of_pass(const struct rewind *r, const struct unit *lost)
{
    const struct schedule *s = &r->run->schedule;
    const struct kept_rounds *kept = r->kept;
    if (lost->round >= kept->oldest)
        return lost->round;
    const bool is_kept = lost->round >= schedule_oldest_needed(s, kept->oldest);
    const bool is_passed = lost->round < schedule_oldest_needed(s, kept->version);
    return is_kept && is_passed ? kept->oldest : kept->version;
}

/* Returns the next round for which mini-batches are made, rather than used again; if there is none,
 * the last such round. */
static int64_t sampled_round(const struct rewind *r)
{
    const struct unit_row *row = unit_row_of(UNIT_SAMPLE);
    const struct schedule *s = &r->run->schedule;
    const int64_t next = row->number_after(s, r->kept->version - 1);
    return !r->kept->stopped && next < s->round_count ? next
                                                      : row->number_before(s, r->kept->version);
}

/* Returns the version whose validation must wait for its mini-batch: the next one, or the last. A
 * run may be killed between the validation of its last weights and their snapshot. Then no unit
 * would wait for the mini-batch, and the run might end before it is made. */
static int64_t validated_version(const struct rewind *r)
{
    const int64_t version = r->kept->version;
    return r->kept->stopped ? version
                            : schedule_snapshot_at_or_after(&r->run->schedule, version + 1);
}

/* Sets *limit to the newest version from which the run may go on so that the lost record is made
 * again. A record that is older than those the run keeps, or newer than its newest snapshot, sets
 * no limit: it is made again anyway, or never needed. */
static enum error_code limit_of(const struct rewind *r, const struct unit *lost, int64_t *limit,
                                struct error *err)
{
    const struct unit_row *row = unit_row_of(lost->kind);
    const struct kept_rounds *kept = r->kept;
    const int64_t number = unit_number(lost);
    const int64_t oldest = row->retention == RETAINED_BASES
                               ? schedule_base(&r->run->schedule, kept->oldest)
                               : kept->oldest;
    bool restored = false;
    enum error_code rc = ERROR_NONE;
    *limit = kept->version;
    if (row->retention == RETAINED_PASSES)
        *limit = limit_of_pass(r, lost);
    else if (row->retention == RETAINED_TO_THE_END) {
        const int64_t waits = lost->kind == UNIT_COUNT_WALKS ? sampled_round(r)
                              : row->line == LINE_NONE       ? validated_version(r) - 1
                                                             : kept->version;
        *limit = waits < kept->version ? waits : kept->version;
    } else if (row->companion_oldest && !unit_companion_is_chosen(row, &r->run->schedule) &&
               number < kept->oldest &&
               number >= row->companion_oldest(&r->run->schedule, kept->oldest))
        *limit = number; /* a companion, which is kept longer */
    else if (number >= oldest) {
        if (row->is_in_snapshot && number <= kept->version)
            rc = restore(r, number, &restored, err);
        if (!restored)
            *limit = version_before(lost);
    }
    return rc;
}

/* --- removing the units that must wait for the lost record --- */

static enum error_code remove_slots(const struct rewind *r, enum unit_kind kind, int64_t round,
                                    int32_t count, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int32_t slot = 0; slot < count && rc == ERROR_NONE; slot++) {
        const struct unit unit = unit_of_number(&r->run->schedule, kind, round, slot);
        rc = unit_remove(&r->run->schedule, r->store, r->run->plan.id, &unit, err);
    }
    return rc;
}

/* Removes the records of round or version `number` that units of this line made and that the run
 * keeps as long as its rounds. */
static enum error_code remove_line(const struct rewind *r, enum unit_line line, int64_t number,
                                   struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (enum unit_kind kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++) {
        const struct unit_row *row = unit_row_of(kind);
        if (rc == ERROR_NONE && row->line == line &&
            (row->retention == RETAINED_ROUNDS || row->retention == RETAINED_BASES))
            rc = remove_slots(r, kind, number, unit_count_at(&r->run->schedule, kind, number), err);
    }
    return rc;
}

/* Removes the records of the rounds from `round` on, up to the next snapshot. */
static enum error_code remove_after(const struct rewind *r, int64_t round, struct error *err)
{
    const int64_t end = schedule_snapshot_at_or_after(&r->run->schedule, round + 1);
    enum error_code rc = ERROR_NONE;
    for (; round < end && rc == ERROR_NONE; round++)
        rc = remove_line(r, LINE_ROUNDS, round, err);
    return rc == ERROR_NONE ? remove_line(r, LINE_VERSIONS, end, err) : rc;
}

/* Removes the mini-batches that read the lost record, and the records made from them. */
static enum error_code remove_sampled(const struct rewind *r, struct error *err)
{
    const struct schedule *s = &r->run->schedule;
    const int64_t round = sampled_round(r);
    const enum error_code rc =
        remove_slots(r, UNIT_SAMPLE, round, unit_count_at(s, UNIT_SAMPLE, round), err);
    return rc == ERROR_NONE ? remove_after(r, round, err) : rc;
}

/* Removes the layers above, and the outputs that the run wants: so it is not finished before they
 * are made again. */
static enum error_code remove_above(const struct rewind *r, const struct unit *lost,
                                    struct error *err)
{
    const struct schedule *s = &r->run->schedule;
    struct unit_list above = {0};
    enum error_code rc = ERROR_NONE;
    for (int32_t layer = lost->layer + 1; layer <= s->layer_count && rc == ERROR_NONE; layer++)
        rc = unit_list_add_layer(&above, s, lost->round, layer, err);
    if (rc == ERROR_NONE)
        rc = unit_list_add_slots(&above, UNIT_OUTPUTS, lost->round, 1, err);
    for (int64_t i = 0; i < above.count && rc == ERROR_NONE; i++)
        rc = unit_remove(s, r->store, r->run->plan.id, &above.unit[i], err);
    unit_list_release(&above);
    return rc;
}

static enum error_code remove_what_waits(const struct rewind *r, const struct lost_record *loss,
                                         struct error *err)
{
    const struct unit *lost = &loss->unit;
    const struct unit_row *row = unit_row_of(lost->kind);
    const int64_t version = r->kept->version;
    if (row->has_layer && row->line == LINE_WEIGHTS)
        return remove_above(r, lost, err);
    if (lost->kind == UNIT_COUNT_WALKS)
        return remove_sampled(r, err);
    if (row->line == LINE_NONE && row->has_slot) { /* a mini-batch of validation */
        const struct unit reader = {
            .kind = UNIT_EVALUATE, .round = validated_version(r), .slot = lost->slot};
        return unit_remove(&r->run->schedule, r->store, r->run->plan.id, &reader, err);
    }
    const bool leads_to_weights = row->line == LINE_ROUNDS || row->is_in_snapshot;
    /* Rounds before `limit` are not done again, but a mini-batch of theirs is used by later
     * rounds. */
    const int64_t first = loss->limit > lost->round ? loss->limit : lost->round;
    return leads_to_weights && first < version ? remove_after(r, first, err) : ERROR_NONE;
}

static void note_missing(void *context, const char *key)
{
    (void)key;
    *(bool *)context = true;
}

/* Sets *version to the newest whole snapshot, at most `limit`, that has everything beside it that
 * the rounds after it need; 0: there is none. */
static enum error_code newest_to_stand_at(const struct rewind *r, int64_t limit, int64_t *version,
                                          struct error *err)
{
    bool is_alone = true;
    enum error_code rc = ERROR_NONE;
    *version = limit + 1;
    while (is_alone && rc == ERROR_NONE) {
        struct snapshot snapshot = {0};
        is_alone = false;
        rc = snapshot_newest_whole(r->store, r->run->plan.id, *version, &snapshot, err);
        *version = rc == ERROR_NONE ? snapshot.version : 0;
        store_release_record(&snapshot.view);
        if (rc == ERROR_NONE)
            rc = promised_beside_snapshot(r->store, r->run, *version, note_missing, &is_alone, err);
    }
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}

/* Sets the ref back. *stands: the version from which the run then goes on. */
static enum error_code set_back(const struct rewind *r, int64_t limit, int64_t *stands,
                                struct error *err)
{
    const enum error_code rc = newest_to_stand_at(r, limit, stands, err);
    struct snapshot_position position = {.version = *stands, .kept_from = *stands};
    if (r->kept->oldest < *stands)
        position.kept_from = r->kept->oldest;
    return rc == ERROR_NONE ? snapshot_position_set(r->store, r->run->plan.id, position, err) : rc;
}

/* --- lost choices --- */

/* Finds the records in the folder of a kind by their version. */
struct newer_search {
    struct store *store;
    size_t folder_size; /* bytes of a key before its version */
    int64_t version;
};

static enum error_code remove_newer(void *context, const char *key, bool is_artifact,
                                    struct error *err)
{
    const struct newer_search *search = context;
    const char *name = key + search->folder_size + 1;
    int64_t version = 0;
    (void)is_artifact;
    return text_int64(name, strcspn(name, "/-_"), &version) && version > search->version
               ? store_remove(search->store, key, err)
               : ERROR_NONE;
}

/* Removes snapshots, and the records that inference made from weights newer than `version`. */
static enum error_code remove_beside_rounds(const struct rewind *r, int64_t version,
                                            struct error *err)
{
    const char *folder[UNIT_KIND_COUNT] = {"snapshot"};
    int count = 1;
    enum error_code rc = ERROR_NONE;
    for (enum unit_kind kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++)
        if (unit_row_of(kind)->folder && unit_row_of(kind)->line == LINE_WEIGHTS)
            folder[count++] = unit_row_of(kind)->folder;
    while (count-- > 0 && rc == ERROR_NONE) {
        const struct key key = key_run(r->run->plan.id, folder[count]);
        struct newer_search search = {r->store, strlen(key.text), version};
        rc = store_list(r->store, key.text, remove_newer, &search, err);
    }
    return rc;
}

/* Removes everything that was made from a lost choice, later snapshots and outputs included:
 * another choice gives other weights. */
static enum error_code forget_after_lost_choice(const struct rewind *r, int64_t stands,
                                                struct error *err)
{
    const struct schedule *s = &r->run->schedule;
    const char *id = r->run->plan.id;
    int64_t first = -1, newest = -1;
    enum error_code rc = chosen_base_first_lost(s, r->store, id, stands, &first, err);
    if (rc != ERROR_NONE || first < 0)
        return rc;
    rc = chosen_base_newest_made(r->store, id, first, &newest, err);
    /* rounds after the newest weights were begun with them */
    for (int64_t round = first;
         rc == ERROR_NONE && round < s->round_count && round <= newest + s->staleness; round++) {
        rc = remove_line(r, LINE_ROUNDS, round, err);
        if (rc == ERROR_NONE) /* later rounds choose anew, too */
            rc = store_remove(r->store, key_round_base(id, round).text, err);
        if (rc == ERROR_NONE && schedule_has_snapshot(s, round + 1))
            rc = remove_line(r, LINE_VERSIONS, round + 1, err);
    }
    return rc == ERROR_NONE ? remove_beside_rounds(r, first, err) : rc;
}

/* Stores a lost choice again if gradients have it. Then it does not count as lost. */
static enum error_code mend_choice(const struct rewind *r, const char *key, const struct unit *unit,
                                   bool *is_lost, struct error *err)
{
    const struct unit_row *row = unit_row_of(unit->kind);
    bool is_there = false;
    if (!unit_companion_is_chosen(row, &r->run->schedule) ||
        strcmp(row->companion(&r->run->schedule, r->run->plan.id, unit).text, key) != 0)
        return ERROR_NONE;
    const enum error_code rc =
        chosen_base_mend(&r->run->schedule, r->store, r->run->plan.id, unit->round, &is_there, err);
    *is_lost = !is_there;
    return rc;
}

/* Returns whether units of later rounds, or of inference, read this one. */
static bool has_readers(const struct unit *lost)
{
    const struct unit_row *row = unit_row_of(lost->kind);
    return row->line == LINE_WEIGHTS ||
           (row->line == LINE_NONE && row->retention == RETAINED_TO_THE_END);
}

enum error_code run_rewind(struct store *store, const struct run_binding *run,
                           const struct kept_rounds *kept, const char *const *lost, size_t count,
                           struct error *err)
{
    const struct rewind r = {store, run, kept};
    struct lost_record *loss = NULL;
    int64_t back_to = kept->version;
    enum error_code rc = memory_new(&loss, count, "what a run has lost", err);
    for (size_t i = 0; i < count && rc == ERROR_NONE; i++) {
        loss[i].limit = kept->version;
        loss[i].is_known = unit_of_key(&run->schedule, run->plan.id, lost[i], &loss[i].unit);
        if (loss[i].is_known)
            rc = mend_choice(&r, lost[i], &loss[i].unit, &loss[i].is_known, err);
        if (rc == ERROR_NONE && loss[i].is_known)
            rc = limit_of(&r, &loss[i].unit, &loss[i].limit, err);
        back_to = loss[i].limit < back_to ? loss[i].limit : back_to;
    }
    /* Only after all snapshots have restored their records: one of these may have to wait for
     * another loss. */
    for (size_t i = 0; i < count && rc == ERROR_NONE; i++)
        if (loss[i].is_known && (loss[i].limit < kept->version || has_readers(&loss[i].unit)))
            rc = remove_what_waits(&r, &loss[i], err);
    memory_free(loss);
    int64_t stands = kept->version;
    if (rc == ERROR_NONE && back_to < kept->version)
        rc = set_back(&r, back_to, &stands, err);
    return rc == ERROR_NONE ? forget_after_lost_choice(&r, stands, err) : rc;
}
