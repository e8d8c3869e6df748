#include "pipelines/run/outputs_check.h"

#include "common/base/log.h"
#include "store/objects/artifact_cache.h"
#include "store/objects/keys.h"
#include "store/records/round/outputs_seal.h"

static bool is_damage(enum error_code rc)
{
    return rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT;
}

static enum error_code compare(struct store *store, const char *key,
                               const struct outputs_seal *seal, struct error *err)
{
    struct artifact_handle files;
    uint64_t bytes = 0;
    enum error_code rc = outputs_acquire(store, key, seal, &files, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = outputs_seal_check_sizes(seal, files.path, &bytes, err);
    if (rc == ERROR_NONE && bytes <= OUTPUTS_HASH_BYTES_MAX)
        rc = outputs_seal_check(seal, files.path, err);
    artifact_release(&files);
    return rc;
}

/* Removes what cannot be trusted: outputs without an intact manifest, and the manifest if it is
 * damaged. */
static enum error_code remove_unsealed(struct store *store, const char *outputs, const char *seal,
                                       enum error_code of_seal, struct error *err)
{
    bool found = false;
    enum error_code rc = store_has(store, outputs, &found, err);
    if (rc == ERROR_NONE && of_seal == ERROR_CORRUPT)
        rc = store_remove(store, seal, err);
    if (rc == ERROR_NONE && found)
        rc = store_remove(store, outputs, err);
    if (rc == ERROR_NONE && (found || of_seal == ERROR_CORRUPT))
        log_warn("outputs: without a seal that is whole, written again");
    return rc;
}

enum error_code outputs_check(const struct run_folder *folder, struct chain_state *state,
                              struct error *err)
{
    static struct outputs_seal seal;
    const char *run_id = folder->run.plan.id, *tag = folder->run.schedule.outputs_tag;
    const struct key outputs = key_outputs(run_id, state->weights_version, tag);
    const struct key seal_key = key_outputs_seal(run_id, state->weights_version, tag);
    struct error cause = {0};
    if (!state->stopped)
        return ERROR_NONE;
    enum error_code rc = outputs_seal_get(folder->store, seal_key.text, run_id, &seal, &cause);
    if (is_damage(rc)) {
        state->finished = false;
        return remove_unsealed(folder->store, outputs.text, seal_key.text, rc, err);
    }
    if (rc == ERROR_NONE)
        rc = compare(folder->store, outputs.text, &seal, &cause);
    if (rc == ERROR_NONE)
        return ERROR_NONE;
    if (!is_damage(rc)) {
        *err = cause;
        return rc;
    }
    if (state->finished)
        log_warn("outputs: %s; written again", cause.message);
    else
        log_warn("outputs: gone, written again");
    state->finished = false;
    return store_remove(folder->store, outputs.text, err);
}
