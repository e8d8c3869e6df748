/*
 * cluster_scripts - the Lua scripts that a Redis Cluster runs for a store (scripts/<name>.lua), and
 * the words of a command.
 *
 * A script sees the keys of one slot and runs as one atomic step. The text of a script is sent with
 * each call: it is short, and a node that has just become a master does not know it by its hash.
 */
#ifndef STORE_BACKENDS_CLUSTER_CLUSTER_SCRIPTS_H
#define STORE_BACKENDS_CLUSTER_CLUSTER_SCRIPTS_H

#include "common/base/error.h"
#include "store/redis/cluster_client.h"

#include <stddef.h>

enum cluster_script {
    CLUSTER_SCRIPT_PUT,
    CLUSTER_SCRIPT_NOTE_DRAFT,
    CLUSTER_SCRIPT_PUT_IN_CHUNKS,
    CLUSTER_SCRIPT_REMOVE_IF,
    CLUSTER_SCRIPT_REMOVE,
    CLUSTER_SCRIPT_EXCHANGE,
    CLUSTER_SCRIPT_OLD_DRAFTS,
    CLUSTER_SCRIPT_DROP_DRAFT,
    CLUSTER_SCRIPT_COUNT
};

extern const char *const cluster_script_text[CLUSTER_SCRIPT_COUNT];

/* The words of one command. Texts are borrowed until the command is answered. */
struct cluster_words { /* {0} is empty */
    struct redis_text *word;
    size_t count, room;
    char keys[16];      /* of a script: the number of its keys, as text */
    enum error_code rc; /* ERROR_NO_MEMORY once a word could not be added */
};

void cluster_words_add(struct cluster_words *words, const char *text);
void cluster_words_add_bytes(struct cluster_words *words, const void *data, size_t size);
/* Adds EVAL, the text of the script and the number of its keys. */
void cluster_words_script(struct cluster_words *words, enum cluster_script script, size_t keys);
void cluster_words_release(struct cluster_words *words);

#endif
