#include "stages/plan/embedding_state.h"

#include "common/base/memory.h"

#include <string.h>

static struct embedding_table_config table_config(const struct embedding_tensor *tensor,
                                                  const struct partition_book *book,
                                                  enum sparse_rule rule)
{
    return (struct embedding_table_config){.node_count = embedding_tensor_rows(tensor, book),
                                           .width = tensor->width,
                                           .rule = rule,
                                           .type = tensor->type};
}

uint64_t embedding_state_bytes(const struct embedding_tensors *tensors,
                               const struct partition_book *book, enum sparse_rule rule)
{
    uint64_t bytes = 0;
    for (int i = 0; i < tensors->count; i++) {
        const struct embedding_table_config table = table_config(&tensors->tensor[i], book, rule);
        bytes += embedding_table_resident_bytes(&table);
    }
    return bytes;
}

/* The smallest of the tables that are not open, of `bytes`. */
static int next_to_open(const struct embedding_state *state, uint64_t *bytes)
{
    const struct embedding_tensors *tensors = &state->config.schedule->embeddings;
    int found = -1;
    for (int i = 0; i < tensors->count; i++) {
        const struct embedding_table_config table =
            table_config(&tensors->tensor[i], state->config.book, state->config.rule);
        const uint64_t wants = embedding_table_resident_bytes(&table);
        if (state->table[i] || (found >= 0 && wants >= *bytes))
            continue;
        found = i;
        *bytes = wants;
    }
    return found;
}

/* From the smallest table on, each has what it wants, or an even share of what is left. */
static enum error_code open_tables(struct embedding_state *state, struct error *err)
{
    const struct embedding_state_config *config = &state->config;
    const struct embedding_tensors *tensors = &config->schedule->embeddings;
    uint64_t left = config->budget_bytes;
    enum error_code rc = ERROR_NONE;
    for (int to_open = tensors->count; to_open > 0 && rc == ERROR_NONE; to_open--) {
        uint64_t wants = 0;
        const int i = next_to_open(state, &wants);
        struct embedding_table_config table =
            table_config(&tensors->tensor[i], config->book, config->rule);
        table.store = config->store;
        table.pool = config->pool;
        table.seed = config->schedule->seed;
        table.budget_bytes = wants < left / (uint64_t)to_open ? wants : left / (uint64_t)to_open;
        left -= table.budget_bytes;
        rc = embedding_table_open(&table, &state->table[i], err);
    }
    return rc;
}

enum error_code embedding_state_open(const struct embedding_state_config *config,
                                     struct embedding_state *out, struct error *err)
{
    *out = (struct embedding_state){.config = *config};
    enum error_code rc = memory_new(&out->version, (size_t)config->schedule->embedding_shards,
                                    "the versions of embeddings", err);
    if (rc == ERROR_NONE)
        rc = open_tables(out, err);
    if (rc != ERROR_NONE)
        embedding_state_close(out);
    return rc;
}

void embedding_state_close(struct embedding_state *state)
{
    for (int i = 0; i < RELATION_TYPE_COUNT_MAX; i++)
        embedding_table_close(state->table[i]);
    memory_free(state->version);
    *state = (struct embedding_state){0};
}

bool embedding_state_is_resident(const struct embedding_state *state)
{
    for (int i = 0; i < RELATION_TYPE_COUNT_MAX; i++)
        if (state->table[i] && !embedding_table_is_resident(state->table[i]))
            return false;
    return true;
}

/* The table that the rows of a shard lie in. */
static struct embedding_table *table_of(const struct embedding_state *state, int shard)
{
    const struct embedding_tensors *tensors = &state->config.schedule->embeddings;
    int i = 0;
    while (shard >= tensors->tensor[i].first_shard + tensors->tensor[i].shard_count)
        i++;
    return state->table[i];
}

static enum error_code begin_anew(struct embedding_state *state, struct error *err)
{
    const struct schedule *schedule = state->config.schedule;
    enum error_code rc = ERROR_NONE;
    memset(state->version, 0, (size_t)schedule->embedding_shards * sizeof *state->version);
    for (int i = 0; i < schedule->embeddings.count && rc == ERROR_NONE; i++)
        rc = embedding_table_clear(state->table[i], err);
    return rc;
}

/* Rows of a record over those that are there. A part of them over the rows of an older version would be of no version: after
 * a failure all begins anew. */
static enum error_code take(struct embedding_state *state, enum embedding_record kind, int shard,
                            int64_t version, struct error *err)
{
    struct embedding_rows rows = {0};
    enum error_code rc = embedding_rows_get(state->config.store, state->config.run_id, kind,
                                            version, shard, &rows, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = embedding_table_apply(table_of(state, shard), &rows, err);
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
         v = schedule_snapshot_before(state->config.schedule, v))
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
    const struct schedule *s = state->config.schedule;
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
    for (int shard = 0; shard < state->config.schedule->embedding_shards; shard++)
        is_ahead = is_ahead || state->version[shard] > version;
    if (is_ahead)
        rc = begin_anew(state, err);
    for (int shard = 0; rc == ERROR_NONE && shard < state->config.schedule->embedding_shards;
         shard++)
        rc = embedding_state_advance(state, shard, version, false, err);
    return rc;
}

enum error_code embedding_state_add(struct embedding_state *state,
                                    const struct embedding_rows *update, struct error *err)
{
    const int shard = (int)update->shard;
    const enum error_code rc = embedding_table_apply(table_of(state, shard), update, err);
    if (rc == ERROR_NONE)
        state->version[shard] = (int64_t)update->version;
    else if (begin_anew(state, NULL) != ERROR_NONE)
        state->version[shard] = INT64_MAX;
    return rc;
}
