#include "store/backends/kept_manifests.h"

#include "common/base/memory.h"
#include "common/base/text.h"

#include <string.h>

void kept_manifests_init(struct kept_manifests *kept)
{
    *kept = (struct kept_manifests){0};
    must(pthread_mutex_init(&kept->lock, NULL) == 0);
}

void kept_manifests_release(struct kept_manifests *kept)
{
    for (int i = 0; i < KEPT_MANIFEST_COUNT; i++)
        memory_free(kept->entry[i].text);
    (void)pthread_mutex_destroy(&kept->lock);
}

static struct kept_manifest *entry_of(struct kept_manifests *kept, const char *key)
{
    for (int i = 0; i < KEPT_MANIFEST_COUNT; i++)
        if (strcmp(kept->entry[i].key, key) == 0)
            return &kept->entry[i];
    return NULL;
}

void kept_manifests_put(struct kept_manifests *kept, const char *key, const char *text)
{
    char *copy = memory_alloc(strlen(text) + 1, 1);
    if (!copy)
        return; /* without a copy the manifest is read again */
    memcpy(copy, text, strlen(text) + 1);
    (void)pthread_mutex_lock(&kept->lock);
    struct kept_manifest *at = entry_of(kept, key);
    if (!at)
        at = &kept->entry[kept->next++ % KEPT_MANIFEST_COUNT];
    memory_free(at->text);
    at->text = copy;
    must(text_copy(at->key, sizeof at->key, key));
    (void)pthread_mutex_unlock(&kept->lock);
}

enum error_code kept_manifests_get(struct kept_manifests *kept, const char *key, char **text,
                                   struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *text = NULL;
    (void)pthread_mutex_lock(&kept->lock);
    const struct kept_manifest *at = entry_of(kept, key);
    if (at) {
        rc = memory_new(text, strlen(at->text) + 1, "a manifest", err);
        if (rc == ERROR_NONE)
            memcpy(*text, at->text, strlen(at->text) + 1);
    }
    (void)pthread_mutex_unlock(&kept->lock);
    return rc;
}

void kept_manifests_forget(struct kept_manifests *kept, const char *key)
{
    (void)pthread_mutex_lock(&kept->lock);
    struct kept_manifest *at = entry_of(kept, key);
    if (at) {
        memory_free(at->text);
        *at = (struct kept_manifest){.key = ""};
    }
    (void)pthread_mutex_unlock(&kept->lock);
}

enum error_code kept_manifests_recall(struct kept_manifests *kept, const char *key,
                                      manifest_reader read, void *place, char **text,
                                      char attempt[ARTIFACT_ATTEMPT_SIZE], bool *was_kept,
                                      struct error *err)
{
    const enum error_code rc = kept_manifests_get(kept, key, text, err);
    *was_kept = *text != NULL;
    if (rc != ERROR_NONE)
        return rc;
    return *was_kept ? artifact_manifest_check(key, *text, attempt, err)
                     : read(place, key, text, attempt, err);
}
