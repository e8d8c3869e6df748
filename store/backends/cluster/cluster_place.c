#include "store/backends/cluster/cluster_place.h"

#include "common/base/memory.h"

#include <stdio.h>
#include <string.h>

int cluster_tag(const char *key)
{
    return cluster_slot(key, strlen(key)) % CLUSTER_TAG_COUNT;
}

struct cluster_name cluster_name(const struct cluster_place *place, int tag, const char *key,
                                 const char *what)
{
    struct cluster_name name;
    const int size = snprintf(name.text, sizeof name.text, "%s{%03x}%s!%s", place->address.prefix,
                              (unsigned)tag, key, what);
    must(size > 0 && size < CLUSTER_NAME_SIZE);
    return name;
}

struct cluster_command cluster_command(const struct cluster_place *place, int tag,
                                       const struct cluster_words *words)
{
    return (struct cluster_command){
        .argument = words->word, .count = (int)words->count, .slot = place->slot[tag]};
}

enum error_code cluster_perform_one(const struct cluster_place *place,
                                    struct cluster_command *command,
                                    const struct cluster_words *words, struct error *err)
{
    if (words->rc != ERROR_NONE)
        return error_set(err, words->rc, "no memory for a command");
    cluster_client_perform(place->client, command, 1);
    if (command->rc != ERROR_NONE && err)
        *err = command->err;
    return command->rc;
}

static enum error_code odd_answer(const struct cluster_words *words, struct error *err)
{
    return error_set(err, ERROR_IO, "the cluster's answer to %.*s is of another type",
                     (int)words->word[0].size, (const char *)words->word[0].data);
}

enum error_code cluster_ask_number(const struct cluster_place *place, int tag,
                                   const struct cluster_words *words, bool waits, int64_t *number,
                                   struct error *err)
{
    struct cluster_command command = cluster_command(place, tag, words);
    command.waits_for_replica = waits;
    *number = 0;
    enum error_code rc = cluster_perform_one(place, &command, words, err);
    if (rc == ERROR_NONE && !redis_reply_is_integer(command.reply, number))
        rc = odd_answer(words, err);
    cluster_command_release(&command);
    return rc;
}

enum error_code cluster_get_value(const struct cluster_place *place, int tag,
                                  const struct cluster_name *name, char **value, size_t *size,
                                  bool *found, struct error *err)
{
    struct cluster_words words = {0};
    cluster_words_add(&words, "GET");
    cluster_words_add(&words, name->text);
    struct cluster_command command = cluster_command(place, tag, &words);
    *value = NULL;
    enum error_code rc = cluster_perform_one(place, &command, &words, err);
    const char *bytes = rc == ERROR_NONE ? redis_reply_bytes(command.reply, size) : NULL;
    *found = bytes != NULL;
    if (*found)
        rc = memory_new(value, *size + 1, "a value of Redis", err);
    if (*value) {
        memcpy(*value, bytes, *size);
        (*value)[*size] = '\0';
    }
    cluster_command_release(&command);
    cluster_words_release(&words);
    return rc;
}

enum error_code cluster_put_value(const struct cluster_place *place, const char *key,
                                  const char *what, const char *value, size_t size, bool waits,
                                  bool *existed, struct error *err)
{
    const int tag = cluster_tag(key);
    const struct cluster_name name = cluster_name(place, tag, key, what),
                              index = cluster_name(place, tag, "", "index");
    char member[CLUSTER_NAME_SIZE];
    int64_t put = 0;
    struct cluster_words words = {0};
    (void)snprintf(member, sizeof member, "%s!%s", key, what);
    cluster_words_script(&words, CLUSTER_SCRIPT_PUT, 2);
    cluster_words_add(&words, name.text);
    cluster_words_add(&words, index.text);
    cluster_words_add_bytes(&words, value, size);
    cluster_words_add(&words, member);
    const enum error_code rc = cluster_ask_number(place, tag, &words, waits, &put, err);
    *existed = put == 0;
    cluster_words_release(&words);
    return rc;
}
