#include "stages/train-step/rows/embedding_state.h"

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

/* Returns the smallest table that is not open, and its bytes in *bytes. */
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

/* Opens the tables from the smallest to the largest. Each gets the bytes it needs, or an even
 * share of the rest of the budget. */
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
    const enum error_code rc = open_tables(out, err);
    if (rc != ERROR_NONE)
        embedding_state_close(out);
    return rc;
}

void embedding_state_close(struct embedding_state *state)
{
    for (int i = 0; i < RELATION_TYPE_COUNT_MAX; i++)
        embedding_table_close(state->table[i]);
    *state = (struct embedding_state){0};
}

bool embedding_state_is_resident(const struct embedding_state *state)
{
    for (int i = 0; i < RELATION_TYPE_COUNT_MAX; i++)
        if (state->table[i] && !embedding_table_is_resident(state->table[i]))
            return false;
    return true;
}

/* Returns the table that has the rows of a shard. */
static struct embedding_table *table_of(const struct embedding_state *state, int shard)
{
    const struct embedding_tensors *tensors = &state->config.schedule->embeddings;
    int i = 0;
    while (shard >= tensors->tensor[i].first_shard + tensors->tensor[i].shard_count)
        i++;
    return state->table[i];
}

static enum error_code clear(struct embedding_state *state, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int i = 0; i < state->config.schedule->embeddings.count && rc == ERROR_NONE; i++)
        rc = embedding_table_clear(state->table[i], err);
    /* INT64_MAX is newer than any version, so the next call clears again. */
    state->version = rc == ERROR_NONE ? 0 : INT64_MAX;
    return rc;
}

void embedding_state_begin_anew(struct embedding_state *state)
{
    error_ignore(clear(state, NULL));
}

static enum error_code has_seals(const struct embedding_state *state, int64_t version, bool *found,
                                 struct error *err)
{
    const struct embedding_state_config *config = &state->config;
    enum error_code rc = ERROR_NONE;
    *found = true;
    for (int shard = 0; rc == ERROR_NONE && *found && shard < config->schedule->embedding_shards;
         shard++)
        rc = store_has(config->store, key_embedding_seal(config->run_id, version, shard).text,
                       found, err);
    return rc;
}

/* Applies a seal. A seal has all rows that were ever changed, so it may be written over the
 * current rows. */
static enum error_code take_seal(struct embedding_state *state, int64_t version, int shard,
                                 struct error *err)
{
    struct embedding_rows rows = {0};
    enum error_code rc =
        embedding_rows_get(state->config.store, state->config.run_id, version, shard, &rows, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = embedding_table_apply(table_of(state, shard), &rows, err);
    store_release_record(&rows.view);
    return rc;
}

static enum error_code take_seals(struct embedding_state *state, int64_t version, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int shard = 0; rc == ERROR_NONE && shard < state->config.schedule->embedding_shards;
         shard++)
        rc = take_seal(state, version, shard, err);
    if (rc == ERROR_NONE)
        state->version = version;
    else
        embedding_state_begin_anew(state);
    return rc;
}

enum error_code embedding_state_seek(struct embedding_state *state, int64_t version, bool before,
                                     struct error *err)
{
    const struct schedule *s = state->config.schedule;
    enum error_code rc = state->version > version ? clear(state, err) : ERROR_NONE;
    int64_t sealed = schedule_has_snapshot(s, version) && !before
                         ? version
                         : schedule_snapshot_before(s, version);
    bool found = false;
    for (; rc == ERROR_NONE && sealed > state->version;
         sealed = schedule_snapshot_before(s, sealed)) {
        rc = has_seals(state, sealed, &found, err);
        if (rc == ERROR_NONE && found)
            return take_seals(state, sealed, err);
    }
    return rc;
}
