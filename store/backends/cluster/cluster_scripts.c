#include "store/backends/cluster/cluster_scripts.h"

#include "common/base/memory.h"

#include <stdio.h>
#include <string.h>

void cluster_words_add_bytes(struct cluster_words *words, const void *data, size_t size)
{
    const enum error_code rc =
        memory_grow(&words->word, &words->room, words->count + 1, "a command", NULL);
    if (rc == ERROR_NONE)
        words->word[words->count++] = (struct redis_text){data, size};
    else
        words->rc = rc;
}

void cluster_words_add(struct cluster_words *words, const char *text)
{
    cluster_words_add_bytes(words, text, strlen(text));
}

void cluster_words_script(struct cluster_words *words, enum cluster_script script, size_t keys)
{
    (void)snprintf(words->keys, sizeof words->keys, "%zu", keys);
    cluster_words_add(words, "EVAL");
    cluster_words_add(words, cluster_script_text[script]);
    cluster_words_add(words, words->keys);
}

void cluster_words_release(struct cluster_words *words)
{
    memory_free(words->word);
    *words = (struct cluster_words){0};
}
