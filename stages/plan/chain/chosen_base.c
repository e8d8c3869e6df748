#include "stages/plan/chain/chosen_base.h"

#include "common/base/text.h"
#include "stages/plan/chain/unit_row.h"
#include "store/objects/keys.h"
#include "store/records/round/gradient.h"
#include "store/records/round/round_base.h"

#include <inttypes.h>
#include <string.h>

enum error_code chosen_base_get(const struct schedule *s, struct store *store, const char *run_id,
                                int64_t round, int64_t *base, struct error *err)
{
    const int64_t oldest = schedule_base(s, round);
    *base = oldest;
    return s->chooses_base ? round_base_get(store, run_id, round, oldest, base, err) : ERROR_NONE;
}

/* Sets *base to the version that a gradient of the round was computed with; -1: there is no
 * gradient. */
static enum error_code base_of_gradients(const struct schedule *s, struct store *store,
                                         const char *run_id, int64_t round, int64_t *base,
                                         struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *base = -1;
    for (int32_t slot = 0; rc == ERROR_NONE && *base < 0 && slot < schedule_slot_count(s, round);
         slot++) {
        struct gradient gradient = {0};
        bool is_there = false;
        rc = store_has(store, key_gradient(run_id, round, slot).text, &is_there, err);
        if (rc != ERROR_NONE || !is_there)
            continue;
        if (gradient_get(store, run_id, round, slot, &gradient, NULL) == ERROR_NONE)
            *base = (int64_t)gradient.weights_version;
        gradient_release(&gradient); /* a damaged gradient is made again */
    }
    return rc;
}

static enum error_code newest_weights(const struct schedule *s, struct store *store,
                                      const char *run_id, int64_t round, int64_t *base,
                                      struct error *err)
{
    const int64_t oldest = schedule_base(s, round);
    enum error_code rc = ERROR_NONE;
    bool is_there = false;
    for (*base = round; rc == ERROR_NONE; (*base)--) {
        rc = store_has(store, key_weights(run_id, *base).text, &is_there, err);
        if (is_there || *base == oldest) /* if not even the oldest are there, reading them fails
                                          * with the right message */
            return rc;
    }
    return rc;
}

/* Sets *base to the choice in the record, or if there is none (*is_stored is false) to the choice
 * in the gradients; -1: neither has it. */
static enum error_code told_base(const struct schedule *s, struct store *store, const char *run_id,
                                 int64_t round, bool *is_stored, int64_t *base, struct error *err)
{
    *is_stored = chosen_base_get(s, store, run_id, round, base, NULL) == ERROR_NONE;
    return *is_stored ? ERROR_NONE : base_of_gradients(s, store, run_id, round, base, err);
}

enum error_code chosen_base_mend(const struct schedule *s, struct store *store, const char *run_id,
                                 int64_t round, bool *is_there, struct error *err)
{
    int64_t base = -1;
    bool is_stored = false;
    enum error_code rc = told_base(s, store, run_id, round, &is_stored, &base, err);
    if (rc == ERROR_NONE && !is_stored && base >= 0)
        rc = round_base_put(store, run_id, round, base, err);
    *is_there = rc == ERROR_NONE && base >= 0;
    return rc;
}

/* --- records made from a choice --- */

struct newest_search {
    size_t folder_size; /* bytes of a key before its version */
    int64_t newest;
};

static enum error_code note_version(void *context, const char *key, bool is_artifact,
                                    struct error *err)
{
    struct newest_search *search = context;
    const char *name = key + search->folder_size + 1;
    int64_t version = 0;
    (void)is_artifact, (void)err;
    if (text_int64(name, strcspn(name, "/"), &version) && version > search->newest)
        search->newest = version;
    return ERROR_NONE;
}

enum error_code chosen_base_newest_made(struct store *store, const char *run_id, int64_t version,
                                        int64_t *newest, struct error *err)
{
    static const char *const folder[] = {"weights", "snapshot"};
    struct newest_search search = {.newest = version};
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; i < sizeof folder / sizeof *folder && rc == ERROR_NONE; i++) {
        const struct key key = key_run(run_id, folder[i]);
        search.folder_size = strlen(key.text);
        rc = store_list(store, key.text, note_version, &search, err);
    }
    *newest = search.newest;
    return rc;
}

enum error_code chosen_base_first_lost(const struct schedule *s, struct store *store,
                                       const char *run_id, int64_t from, int64_t *round,
                                       struct error *err)
{
    int64_t newest = from;
    enum error_code rc =
        s->chooses_base ? chosen_base_newest_made(store, run_id, from, &newest, err) : ERROR_NONE;
    *round = -1;
    for (int64_t r = from; r < newest && *round < 0 && rc == ERROR_NONE; r++) {
        int64_t base = -1;
        bool is_stored = false;
        rc = told_base(s, store, run_id, r, &is_stored, &base, err);
        if (rc == ERROR_NONE && base < 0)
            *round = r;
    }
    return rc;
}

enum error_code chosen_base_reads(const struct schedule *s, struct store *store, const char *run_id,
                                  const struct unit *unit, struct unit_list *out, struct error *err)
{
    const bool is_step = unit->kind == UNIT_TRAIN_STEP;
    const int64_t awaited = is_step ? schedule_base(s, unit->round) : unit->round;
    int64_t base = -1;
    if (!s->chooses_base || !(is_step || (unit->kind == UNIT_AGGREGATE && s->reads_base)) ||
        chosen_base_get(s, store, run_id, unit->round, &base, NULL) != ERROR_NONE)
        return ERROR_NONE;
    return base == awaited ? ERROR_NONE : unit_list_add_maker(out, base, err);
}

/* Returns whether a later round began with weights that were made from the choice of this round. */
static bool is_begun_behind(const struct schedule *s, struct store *store, const char *run_id,
                            int64_t round)
{
    int64_t base = -1;
    for (int64_t later = round + 1; later <= round + s->staleness; later++)
        if (later < s->round_count &&
            chosen_base_get(s, store, run_id, later, &base, NULL) == ERROR_NONE && base > round)
            return true;
    return false;
}

/* Fails with ERROR_CORRUPT if weights were made from the lost choice of the round: another choice
 * would give other weights. */
static enum error_code check_that_none_was_made(const struct schedule *s, struct store *store,
                                                const char *run_id, int64_t round,
                                                struct error *err)
{
    int64_t newest = round;
    const enum error_code rc = chosen_base_newest_made(store, run_id, round, &newest, err);
    if (rc != ERROR_NONE || (newest == round && !is_begun_behind(s, store, run_id, round)))
        return rc;
    return error_set(
        err, ERROR_CORRUPT,
        "record %s is lost, and no gradient of round %" PRId64
        " is left that says which weights it was made from: records made from them cannot be made "
        "again; stop the run, and `graphmill verify --remove` sets it back to before that round",
        key_round_base(run_id, round).text, round);
}

/* Chooses, unless gradients of the round have a choice, or records were made from one. */
static enum error_code choose(const struct schedule *s, struct store *store, const char *run_id,
                              int64_t round, int64_t *base, struct error *err)
{
    enum error_code rc = base_of_gradients(s, store, run_id, round, base, err);
    if (rc != ERROR_NONE || *base >= 0)
        return rc;
    rc = check_that_none_was_made(s, store, run_id, round, err);
    return rc == ERROR_NONE ? newest_weights(s, store, run_id, round, base, err) : rc;
}

enum error_code chosen_base_take(const struct schedule *s, struct store *store, const char *run_id,
                                 int64_t round, int64_t *base, struct error *err)
{
    struct error cause = {0};
    enum error_code rc = chosen_base_get(s, store, run_id, round, base, &cause);
    if (rc == ERROR_NOT_FOUND) {
        rc = choose(s, store, run_id, round, base, &cause);
        if (rc == ERROR_NONE)
            rc = round_base_put(store, run_id, round, *base, &cause);
        /* Another worker's record came first. A worker that was paused since it looked for a choice
         * may even find weights that were made from that one, so the error is no error. */
        if (rc == ERROR_CORRUPT &&
            chosen_base_get(s, store, run_id, round, base, NULL) == ERROR_NONE)
            return ERROR_NONE;
    }
    if (rc != ERROR_NONE && err)
        *err = cause;
    return rc;
}
