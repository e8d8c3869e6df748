/*
 * cluster_scripts - the scripts that a Redis Cluster runs for a store, each scripts/<name>.lua, and commands put together.
 *
 * A script sees keys of one slot and is one atomic step. They are sent whole: they are short, and a node that has just become a master
 * does not know them by their hashes.
 */
#ifndef STORE_BACKENDS_CLUSTER_SCRIPTS_H
#define STORE_BACKENDS_CLUSTER_SCRIPTS_H

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

/* The arguments of one command. Texts that are given stay the caller's until it is answered. */
struct cluster_words { /* {0} is empty */
    struct redis_text *word;
    size_t count, room;
    char keys[16];      /* of a script: how many, as text */
    enum error_code rc; /* ERROR_NO_MEMORY once a word found no room */
};

void cluster_words_add(struct cluster_words *words, const char *text);
void cluster_words_add_bytes(struct cluster_words *words, const void *data, size_t size);
/* EVAL, the script, and how many keys follow. */
void cluster_words_script(struct cluster_words *words, enum cluster_script script, size_t keys);
void cluster_words_release(struct cluster_words *words);

#endif
