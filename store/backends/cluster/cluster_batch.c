#include "store/backends/cluster/cluster_batch.h"

#include "common/base/memory.h"

struct cluster_batch_entry {
    struct cluster_words words;
    struct cluster_name name;
};

enum error_code cluster_batch_init(struct cluster_batch *batch, const struct cluster_place *place,
                                   size_t most, struct error *err)
{
    *batch = (struct cluster_batch){.place = place, .most = most};
    enum error_code rc = memory_new(&batch->entry, most, "commands to a cluster", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&batch->command, most, "commands to a cluster", err);
    if (rc != ERROR_NONE)
        cluster_batch_release(batch);
    return rc;
}

static struct cluster_words *add(struct cluster_batch *batch, int tag)
{
    must(batch->count < batch->most);
    batch->command[batch->count] = (struct cluster_command){.slot = batch->place->slot[tag]};
    return &batch->entry[batch->count++].words;
}

void cluster_batch_add(struct cluster_batch *batch, int tag, const char *command, const char *key,
                       const char *what)
{
    struct cluster_words *words = add(batch, tag);
    struct cluster_name *name = &batch->entry[batch->count - 1].name;
    *name = cluster_name(batch->place, tag, key, what);
    cluster_words_add(words, command);
    cluster_words_add(words, name->text);
}

void cluster_batch_add_plain(struct cluster_batch *batch, int slot, const char *command,
                             const char *word)
{
    struct cluster_words *words = add(batch, 0);
    batch->command[batch->count - 1].slot = slot;
    cluster_words_add(words, command);
    cluster_words_add(words, word);
}

void cluster_batch_add_script(struct cluster_batch *batch, int tag, enum cluster_script script,
                              size_t keys)
{
    cluster_words_script(add(batch, tag), script, keys);
}

struct cluster_words *cluster_batch_last(struct cluster_batch *batch)
{
    return &batch->entry[batch->count - 1].words;
}

void cluster_batch_wait_for_replica(struct cluster_batch *batch)
{
    batch->command[batch->count - 1].waits_for_replica = true;
}

/* Fails all commands. Nothing is sent. */
static enum error_code no_memory(struct cluster_batch *batch, struct error *err)
{
    for (size_t i = 0; i < batch->count; i++)
        batch->command[i].rc =
            error_set(&batch->command[i].err, ERROR_NO_MEMORY, "no memory for a command");
    return error_set(err, ERROR_NO_MEMORY, "no memory for a command");
}

enum error_code cluster_batch_perform(struct cluster_batch *batch, struct error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct cluster_words *words = &batch->entry[i].words;
        if (words->rc != ERROR_NONE)
            return no_memory(batch, err);
        batch->command[i].argument = words->word;
        batch->command[i].count = (int)words->count;
    }
    cluster_client_perform(batch->place->client, batch->command, batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->command[i].rc == ERROR_NONE)
            continue;
        if (err)
            *err = batch->command[i].err;
        return batch->command[i].rc;
    }
    return ERROR_NONE;
}

const struct redisReply *cluster_batch_reply(const struct cluster_batch *batch, size_t index)
{
    return batch->command[index].reply;
}

void cluster_batch_clear(struct cluster_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        cluster_command_release(&batch->command[i]);
        cluster_words_release(&batch->entry[i].words);
    }
    batch->count = 0;
}

void cluster_batch_release(struct cluster_batch *batch)
{
    cluster_batch_clear(batch);
    memory_free(batch->entry);
    memory_free(batch->command);
    *batch = (struct cluster_batch){0};
}
