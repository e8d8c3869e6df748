#include "stages/plan/chosen_base.h"

#include "store/objects/keys.h"
#include "store/records/gradient.h"
#include "store/records/round_base.h"

#include <inttypes.h>

enum error_code chosen_base_get(const struct schedule *s, struct store *store, const char *run_id,
                                int64_t round, int64_t *base, struct error *err)
{
    const int64_t oldest = schedule_base(s, round);
    *base = oldest;
    return s->chooses_base ? round_base_get(store, run_id, round, oldest, base, err) : ERROR_NONE;
}

/* What a gradient of the round was made from; -1: there is none. */
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
        gradient_release(&gradient); /* one that is damaged is made again */
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
        if (is_there || *base == oldest) /* if not even these are there, reading them says so */
            return rc;
    }
    return rc;
}

enum error_code chosen_base_mend(const struct schedule *s, struct store *store, const char *run_id,
                                 int64_t round, bool *is_there, struct error *err)
{
    int64_t base = -1;
    *is_there = chosen_base_get(s, store, run_id, round, &base, NULL) == ERROR_NONE;
    if (*is_there)
        return ERROR_NONE;
    enum error_code rc = base_of_gradients(s, store, run_id, round, &base, err);
    if (rc == ERROR_NONE && base >= 0)
        rc = round_base_put(store, run_id, round, base, err);
    *is_there = rc == ERROR_NONE && base >= 0;
    return rc;
}

/* Another choice would give other weights than those that are there. */
static enum error_code check_that_none_was_made(const struct schedule *s, struct store *store,
                                                const char *run_id, int64_t round,
                                                struct error *err)
{
    const int64_t snapshot = schedule_snapshot_at_or_after(s, round + 1);
    bool has_weights = false, has_snapshot = false;
    enum error_code rc = store_has(store, key_weights(run_id, round + 1).text, &has_weights, err);
    if (rc == ERROR_NONE && snapshot > 0)
        rc = store_has(store, key_snapshot(run_id, snapshot).text, &has_snapshot, err);
    if (rc != ERROR_NONE || !(has_weights || has_snapshot))
        return rc;
    return error_set(err, ERROR_CORRUPT,
                     "record %s is lost, and no gradient of round %" PRId64
                     " is left that says which weights it was made from: what was made of them "
                     "cannot be made again; remove the run (graphmill gc) and begin anew",
                     key_round_base(run_id, round).text, round);
}

enum error_code chosen_base_take(const struct schedule *s, struct store *store, const char *run_id,
                                 int64_t round, int64_t *base, struct error *err)
{
    struct error cause = {0};
    enum error_code rc = chosen_base_get(s, store, run_id, round, base, &cause);
    if (rc != ERROR_NOT_FOUND) {
        if (rc != ERROR_NONE && err)
            *err = cause;
        return rc;
    }
    rc = base_of_gradients(s, store, run_id, round, base, err);
    const bool is_new = rc == ERROR_NONE && *base < 0;
    if (is_new)
        rc = check_that_none_was_made(s, store, run_id, round, err);
    if (rc == ERROR_NONE && is_new)
        rc = newest_weights(s, store, run_id, round, base, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = round_base_put(store, run_id, round, *base, &cause);
    if (rc != ERROR_CORRUPT) {
        if (rc != ERROR_NONE && err)
            *err = cause;
        return rc;
    }
    return chosen_base_get(s, store, run_id, round, base, err); /* another's came first */
}
