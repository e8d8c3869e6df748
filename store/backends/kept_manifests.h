/*
 * kept_manifests - caches the manifests that were read last, so that reading a range of a file does
 * not read the manifest each time.
 *
 * Threads: any.
 */
#ifndef STORE_BACKENDS_KEPT_MANIFESTS_H
#define STORE_BACKENDS_KEPT_MANIFESTS_H

#include "common/base/error.h"
#include "store/backends/artifact_manifest.h"
#include "store/objects/keys.h"

#include <pthread.h>
#include <stdbool.h>

enum { KEPT_MANIFEST_COUNT = 8 };

struct kept_manifest {
    char key[KEY_SIZE]; /* "" if the entry is free */
    char *text;
};

struct kept_manifests {
    pthread_mutex_t lock; /* guards the members below */
    struct kept_manifest entry[KEPT_MANIFEST_COUNT];
    unsigned next;
};

void kept_manifests_init(struct kept_manifests *kept);
void kept_manifests_release(struct kept_manifests *kept);
void kept_manifests_put(struct kept_manifests *kept, const char *key, const char *text);
/* Copies the kept manifest to *text, which the caller frees with memory_free(); NULL if none is
 * kept. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code kept_manifests_get(struct kept_manifests *kept, const char *key,
                                              char **text, struct error *err);
/* Reads the manifest of `key` in `place`, checks it and copies its attempt. The caller frees *text
 * with memory_free(). */
typedef enum error_code (*manifest_reader)(void *place, const char *key, char **text,
                                           char attempt[ARTIFACT_ATTEMPT_SIZE], struct error *err);
/* Copies the kept manifest (*was_kept), or reads it with `read`. The caller frees *text with
 * memory_free(); it is NULL on failure. */
MUST_CHECK enum error_code kept_manifests_recall(struct kept_manifests *kept, const char *key,
                                                 manifest_reader read, void *place, char **text,
                                                 char attempt[ARTIFACT_ATTEMPT_SIZE],
                                                 bool *was_kept, struct error *err);
void kept_manifests_forget(struct kept_manifests *kept, const char *key);

#endif
