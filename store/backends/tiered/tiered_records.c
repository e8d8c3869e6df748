/* Puts, reads, flushes and removes the records of a tiered store. */
#include "store/backends/tiered/tiered_place.h"
#include "store/objects/record.h"
#include "store/objects/stored_bytes.h"

#include <string.h>

enum { FLUSH_ATTEMPTS = 100 };

/* --- one record of one store --- */

static enum error_code get_one(const struct tier_store *from, const char *key,
                               struct stored_bytes *out, struct error *err)
{
    struct object_get get = {.key = key};
    from->backend->get_many(from->state, &get, 1);
    *out = get.bytes;
    if (get.rc != ERROR_NONE && err)
        *err = get.err;
    return get.rc;
}

static enum error_code next_of_bytes(void *context, uint64_t offset,
                                     struct object_piece piece[OBJECT_PIECE_COUNT_MAX],
                                     size_t *count, struct error *err)
{
    const struct stored_bytes *bytes = context;
    (void)err;
    *count = offset == 0;
    piece[0] = (struct object_piece){bytes->data, bytes->size};
    return ERROR_NONE;
}

static enum error_code put_bytes(const struct tier_store *to, const char *key,
                                 struct stored_bytes *bytes, bool *existed, struct error *err)
{
    const struct object_body body = {.size = bytes->size, .next = next_of_bytes, .context = bytes};
    return to->backend->put_if_absent(to->state, key, &body, STORE_DURABLE, existed, err);
}

/* --- flushing --- */

/* Handles a record that the durable store has already: an equal one is success, a damaged one is
 * removed (*again), and other content is the same alarm as in store_record.c. */
static enum error_code meet_durable(const struct tier_store *durable,
                                    const struct record_view *fast, bool *again, struct error *err)
{
    struct stored_bytes bytes = {0};
    struct record_view stored;
    *again = true;
    enum error_code rc = get_one(durable, fast->key, &bytes, err);
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE; /* it was removed meanwhile */
    if (rc != ERROR_NONE)
        return rc;
    rc = record_decode(bytes.data, bytes.size, fast->key, NULL, &stored, err);
    if (rc == ERROR_CORRUPT) {
        rc = durable->backend->delete_if_match(durable->state, fast->key, &bytes, err);
    } else if (rc == ERROR_NONE) {
        *again = false;
        if (stored.kind != fast->kind || stored.version != fast->version ||
            !checksum_equal(&stored.content, &fast->content))
            rc = error_set(err, ERROR_CORRUPT,
                           "alarm: record %s was made again with other content than the durable "
                           "store has (made on '%s', now on '%s')",
                           fast->key, stored.environment, fast->environment);
        else
            rc = durable->backend->flush(durable->state, fast->key, err);
        if (rc == ERROR_NOT_FOUND) { /* it was removed meanwhile */
            *again = true;
            rc = ERROR_NONE;
        }
    }
    stored_bytes_release(&bytes);
    return rc;
}

/* Copies a record from the fast store to the durable one. Damaged bytes are not copied. */
static enum error_code copy_durably(const struct tier_store *durable, struct stored_bytes *bytes,
                                    const struct record_view *view, struct error *err)
{
    bool again = true, existed = false;
    enum error_code rc = durable->backend->has(durable->state, view->key, &existed, err);
    for (int i = 0; rc == ERROR_NONE && again && i < FLUSH_ATTEMPTS; i++) {
        again = false;
        if (!existed)
            rc = put_bytes(durable, view->key, bytes, &existed, err);
        if (rc == ERROR_NONE && existed)
            rc = meet_durable(durable, view, &again, err);
        existed = false;
    }
    return rc == ERROR_NONE && again
               ? error_set(err, ERROR_IO, "record %s vanishes whenever it is flushed", view->key)
               : rc;
}

static enum error_code flush_both(struct tiered_place *place, const struct tier_store *fast,
                                  const char *key, struct error *err)
{
    struct stored_bytes bytes = {0};
    struct record_view view;
    enum error_code rc = ERROR_NOT_FOUND;
    if (fast->backend)
        rc = get_one(fast, key, &bytes, err);
    if (rc == ERROR_NOT_FOUND) /* it was flushed before, or is in neither store */
        return place->durable.backend->flush(place->durable.state, key, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = record_decode(bytes.data, bytes.size, key, NULL, &view, err);
    if (rc == ERROR_NONE)
        rc = copy_durably(&place->durable, &bytes, &view, err);
    stored_bytes_release(&bytes);
    return rc;
}

enum error_code tiered_flush(void *state, const char *key, struct error *err)
{
    struct tiered_place *place = state;
    struct tier_store fast = {0};
    const enum tier tier = tier_of_key(key);
    if (tier == TIER_DURABLE)
        return place->durable.backend->flush(place->durable.state, key, err);
    const enum error_code rc = tiered_fast(place, false, &fast, err);
    if (rc != ERROR_NONE)
        return rc;
    if (tier == TIER_BOTH)
        return flush_both(place, &fast, key, err);
    return fast.backend ? fast.backend->flush(fast.state, key, err)
                        : error_set(err, ERROR_NOT_FOUND, "%s", key);
}

/* --- putting --- */

/* Puts a record. In the fast store the first writer wins. A record that must last is durable once
 * it is in the durable store too. If the fast store is lost in between, nothing is left to copy,
 * and the record is put once more. */
enum error_code tiered_put(void *state, const char *key, const struct object_body *body,
                           enum store_durability durability, bool *existed, struct error *err)
{
    struct tiered_place *place = state;
    struct tier_store to = place->durable;
    const enum tier tier = tier_of_key(key);
    const bool is_copied = tier == TIER_BOTH && durability == STORE_DURABLE;
    enum error_code rc = ERROR_NOT_FOUND;
    for (int i = 0; rc == ERROR_NOT_FOUND && i < FLUSH_ATTEMPTS; i++) {
        rc = tier == TIER_DURABLE ? ERROR_NONE : tiered_fast(place, true, &to, err);
        if (rc == ERROR_NONE)
            rc = to.backend->put_if_absent(
                to.state, key, body, is_copied ? STORE_RECOMPUTABLE : durability, existed, err);
        if (rc != ERROR_NONE || !is_copied || *existed)
            return rc;
        rc = flush_both(place, &to, key, err);
    }
    return rc == ERROR_NOT_FOUND
               ? error_set(err, ERROR_IO, "record %s vanishes whenever it is put", key)
               : rc;
}

/* --- reading --- */

static void fail_all(struct object_get *get, size_t count, enum error_code rc,
                     const struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        get[i].rc = rc;
        get[i].err = *err;
    }
}

/* Returns whether a record is still to be requested: first from the fast store, then from the
 * durable one. */
static bool is_wanted(const struct object_get *get, bool of_fast)
{
    const enum tier tier = tier_of_key(get->key);
    if (of_fast)
        return tier != TIER_DURABLE;
    return tier == TIER_DURABLE || (tier == TIER_BOTH && get->rc == ERROR_NOT_FOUND);
}

static void get_from(const struct tier_store *from, bool is_fast, struct object_get *get,
                     size_t count)
{
    struct object_get some[STORE_TOGETHER_MAX];
    size_t at[STORE_TOGETHER_MAX], wanted = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_wanted(&get[i], is_fast))
            continue;
        some[wanted] = (struct object_get){.key = get[i].key};
        at[wanted++] = i;
    }
    if (wanted && from->backend)
        from->backend->get_many(from->state, some, wanted);
    for (size_t i = 0; i < wanted; i++) {
        if (!from->backend)
            some[i].rc = error_set(&some[i].err, ERROR_NOT_FOUND, "%s", some[i].key);
        get[at[i]] = some[i];
    }
}

void tiered_get_many(void *state, struct object_get *get, size_t count)
{
    struct tiered_place *place = state;
    struct tier_store fast = {0};
    struct error err = {0};
    const enum error_code rc = tiered_fast(place, false, &fast, &err);
    if (rc != ERROR_NONE) {
        fail_all(get, count, rc, &err);
        return;
    }
    for (size_t first = 0; first < count; first += STORE_TOGETHER_MAX) {
        const size_t left = count - first;
        const size_t together = left < STORE_TOGETHER_MAX ? left : STORE_TOGETHER_MAX;
        get_from(&fast, true, get + first, together);
        get_from(&place->durable, false, get + first, together);
    }
}

/* --- functions that treat both stores alike --- */

/* Returns the stores that may have the key, the one that is read first in front; *count of them. */
static enum error_code stores_of(struct tiered_place *place, const char *key,
                                 struct tier_store out[2], int *count, struct error *err)
{
    const enum tier tier = tier_of_key(key);
    enum error_code rc = ERROR_NONE;
    *count = 0;
    if (tier != TIER_DURABLE)
        rc = tiered_fast(place, false, &out[0], err);
    if (rc == ERROR_NONE && tier != TIER_DURABLE)
        *count = out[0].backend != NULL;
    if (tier != TIER_FAST)
        out[(*count)++] = place->durable;
    return rc;
}

/* Removes a damaged record from the store where it is damaged; a sound copy in the other store is
 * read from then on. */
enum error_code tiered_delete_if_match(void *state, const char *key,
                                       const struct stored_bytes *seen, struct error *err)
{
    struct tier_store store[2];
    int count = 0;
    enum error_code rc = stores_of(state, key, store, &count, err);
    for (int i = 0; i < count && rc == ERROR_NONE; i++)
        rc = store[i].backend->delete_if_match(store[i].state, key, seen, err);
    return rc;
}

enum error_code tiered_has(void *state, const char *key, bool *found, struct error *err)
{
    struct tier_store store[2];
    int count = 0;
    enum error_code rc = stores_of(state, key, store, &count, err);
    *found = false;
    for (int i = 0; i < count && rc == ERROR_NONE && !*found; i++)
        rc = store[i].backend->has(store[i].state, key, found, err);
    return rc;
}

/* Removes a record. Of keys that both stores may have, the durable store has few, so it is asked
 * first: asking is quicker than removing. */
enum error_code tiered_remove(void *state, const char *key, struct error *err)
{
    struct tier_store store[2];
    int count = 0;
    const enum tier tier = tier_of_key(key);
    enum error_code rc = stores_of(state, key, store, &count, err);
    for (int i = 0; i < count && rc == ERROR_NONE; i++) {
        bool found = true;
        if (tier == TIER_BOTH && i == count - 1)
            rc = store[i].backend->has(store[i].state, key, &found, err);
        if (rc == ERROR_NONE && found)
            rc = store[i].backend->remove(store[i].state, key, err);
    }
    return rc;
}
