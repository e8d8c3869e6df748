#include "stages/plan/run/run_recheck.h"

#include "common/base/host.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/run/promised_records.h"
#include "stages/plan/run/run_binding.h"
#include "stages/plan/run/run_rewind.h"
#include "store/objects/keys.h"

#include <inttypes.h>
#include <stdio.h>

enum { RECHECK_SIZE = 32 };

static struct key recheck_switch(const char *run_id)
{
    return key_run(run_id, "recheck");
}

enum error_code run_recheck_ask(struct store *store, const char *run_id, struct error *err)
{
    char text[RECHECK_SIZE];
    (void)snprintf(text, sizeof text, "asked %016" PRIx64, host_random_64());
    /* The last writer may win: all writers ask for the same. Each text is different, so that a
     * process that has done the check does not remove a later request. */
    return store_switch_set(store, recheck_switch(run_id).text, text, err);
}

/* Sets `text` to the ref's text, "" for a damaged ref. */
static enum error_code is_asked(struct store *store, const char *run_id, char text[RECHECK_SIZE],
                                bool *asked, struct error *err)
{
    const enum error_code rc =
        store_switch_get(store, recheck_switch(run_id).text, text, RECHECK_SIZE, err);
    *asked = rc == ERROR_NONE || rc == ERROR_CORRUPT;
    if (rc != ERROR_NONE)
        text[0] = '\0';
    return *asked || rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}

struct losses {      /* {0} is empty */
    struct key *key; /* [count], owned */
    size_t count, capacity;
    bool no_memory;
};

static void note_loss(void *context, const char *key)
{
    struct losses *losses = context;
    if (memory_grow(&losses->key, &losses->capacity, losses->count + 1, "lost records", NULL) !=
        ERROR_NONE) {
        losses->no_memory = true;
        return;
    }
    (void)snprintf(losses->key[losses->count++].text, KEY_SIZE, "%s", key);
}

static enum error_code rewind_to_before(struct store *store, const struct run_binding *run,
                                        const struct losses *losses, struct error *err)
{
    const char **name = NULL;
    struct kept_rounds kept = {0};
    enum error_code rc = memory_new(&name, losses->count, "a list of lost records", err);
    for (size_t i = 0; rc == ERROR_NONE && i < losses->count; i++)
        name[i] = losses->key[i].text;
    if (rc == ERROR_NONE)
        rc = kept_rounds_read(store, run, &kept, err);
    if (rc == ERROR_NONE)
        rc = run_rewind(store, run, &kept, name, losses->count, err);
    memory_free(name);
    return rc;
}

static enum error_code look_through(struct store *store, const struct run_binding *run,
                                    struct error *err)
{
    struct losses losses = {0};
    struct chain_state state = {0};
    const char *id = run->plan.id;
    bool whole = false;
    enum error_code rc = promised_by_run(store, run, note_loss, &losses, &whole, err);
    if (rc == ERROR_NONE && losses.no_memory)
        rc = error_set(err, ERROR_NO_MEMORY, "no memory for a list of lost records");
    if (rc == ERROR_NONE && losses.count) {
        log_warn("run %s: %zu records are lost and made again, the first %s", id, losses.count,
                 losses.key[0].text);
        rc = rewind_to_before(store, run, &losses, err);
    }
    if (rc == ERROR_NONE)
        rc = chain_state_read(&run->schedule, store, id, &state, err);
    if (rc == ERROR_NONE)
        rc = chain_state_mend(store, id, &state, err);
    memory_free(losses.key);
    return rc;
}

enum error_code run_recheck(struct store *store, const char *run_id, struct error *err)
{
    struct run_binding *run = NULL;
    char text[RECHECK_SIZE];
    bool asked = false, removed = false;
    enum error_code rc = is_asked(store, run_id, text, &asked, err);
    if (rc != ERROR_NONE || !asked)
        return rc;
    rc = memory_new(&run, 1, "a run", err);
    if (rc == ERROR_NONE)
        rc = run_open(store, run_id, run, err);
    if (rc == ERROR_NONE) {
        rc = look_through(store, run, err);
        run_close(run);
    }
    if (rc == ERROR_NONE)
        rc = store_switch_exchange(store, recheck_switch(run_id).text, text[0] ? text : NULL, NULL,
                                   &removed, err); /* a later request has another text and stays */
    memory_free(run);
    return rc;
}
