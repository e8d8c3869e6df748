#include "stages/plan/embedding_state.h"

#include "common/base/memory.h"

#include <string.h>

enum error_code embedding_state_open(const struct embedding_table_config *table,
                                     const struct schedule *schedule, const char *run_id,
                                     struct embedding_state *out, struct error *err)
{
    *out = (struct embedding_state){.store = table->store, .run_id = run_id, .schedule = schedule};
    enum error_code rc = memory_new(&out->version, (size_t)schedule->embedding_shards,
                                    "the versions of embeddings", err);
    if (rc == ERROR_NONE)
        rc = embedding_table_open(table, &out->table, err);
    if (rc != ERROR_NONE)
        embedding_state_close(out);
    return rc;
}

void embedding_state_close(struct embedding_state *state)
{
    embedding_table_close(state->table);
    memory_free(state->version);
    *state = (struct embedding_state){0};
}

static enum error_code begin_anew(struct embedding_state *state, struct error *err)
{
    memset(state->version, 0, (size_t)state->schedule->embedding_shards * sizeof *state->version);
    return embedding_table_clear(state->table, err);
}

/* Rows of a record over those that are there. A part of them over the rows of an older version would be of no version: after
 * a failure all begins anew. */
static enum error_code take(struct embedding_state *state, enum embedding_record kind, int shard,
                            int64_t version, struct error *err)
{
    struct embedding_rows rows = {0};
    enum error_code rc =
        embedding_rows_get(state->store, state->run_id, kind, version, shard, &rows, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = embedding_table_apply(state->table, &rows, err);
    store_release_record(&rows.view);
    if (rc == ERROR_NONE)
        state->version[shard] = version;
    else if (begin_anew(state, NULL) != ERROR_NONE)
        state->version[shard] = INT64_MAX; /* ahead of all: the next call tries again */
    return rc;
}

/* The newest seal from `newest` down to above the version that is there, if there is one. */
static enum error_code take_seal(struct embedding_state *state, int shard, int64_t newest,
                                 struct error *err)
{
    struct error cause = {0};
    enum error_code rc = ERROR_NOT_FOUND;
    for (int64_t v = newest; rc == ERROR_NOT_FOUND && v > state->version[shard];
         v = schedule_snapshot_before(state->schedule, v))
        rc = take(state, EMBEDDING_SEAL, shard, v, &cause);
    if (rc == ERROR_NONE || rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (err)
        *err = cause;
    return rc;
}

enum error_code embedding_state_advance(struct embedding_state *state, int shard, int64_t version,
                                        bool from_updates, struct error *err)
{
    const struct schedule *s = state->schedule;
    enum error_code rc = ERROR_NONE;
    if (state->version[shard] > version)
        rc = begin_anew(state, err);
    if (rc == ERROR_NONE && version - state->version[shard] == 1) {
        struct error cause = {0};
        rc = take(state, EMBEDDING_UPDATE, shard, version, &cause);
        if (rc == ERROR_NOT_FOUND) /* pruned, or not made: what follows finds out */
            rc = ERROR_NONE;
        else if (rc != ERROR_NONE && err)
            *err = cause;
    }
    const bool has_own = schedule_has_snapshot(s, version) && !from_updates;
    const int64_t newest = has_own ? version : schedule_snapshot_before(s, version);
    if (rc == ERROR_NONE)
        rc = take_seal(state, shard, newest, err);
    while (rc == ERROR_NONE && state->version[shard] < version)
        rc = take(state, EMBEDDING_UPDATE, shard, state->version[shard] + 1, err);
    return rc;
}

enum error_code embedding_state_advance_all(struct embedding_state *state, int64_t version,
                                            struct error *err)
{
    enum error_code rc = ERROR_NONE;
    bool is_ahead = false;
    for (int shard = 0; shard < state->schedule->embedding_shards; shard++)
        is_ahead = is_ahead || state->version[shard] > version;
    if (is_ahead)
        rc = begin_anew(state, err);
    for (int shard = 0; rc == ERROR_NONE && shard < state->schedule->embedding_shards; shard++)
        rc = embedding_state_advance(state, shard, version, false, err);
    return rc;
}

enum error_code embedding_state_add(struct embedding_state *state,
                                    const struct embedding_rows *update, struct error *err)
{
    const int shard = (int)update->shard;
    const enum error_code rc = embedding_table_apply(state->table, update, err);
    if (rc == ERROR_NONE)
        state->version[shard] = (int64_t)update->version;
    else if (begin_anew(state, NULL) != ERROR_NONE)
        state->version[shard] = INT64_MAX;
    return rc;
}
