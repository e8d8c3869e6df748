/*
 * artifact_publish - publishing what a seal will vouch for.
 *
 * store_publish() keeps an artifact that is there already. Before its builder seals it, the builder has
 * to know whether it is its own, or another's that must be looked at first.
 */
#ifndef STORE_OBJECTS_ARTIFACT_PUBLISH_H
#define STORE_OBJECTS_ARTIFACT_PUBLISH_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdbool.h>

/* As store_publish(). *existed: another artifact of that key was there and stayed; it lies at `found`. A
 * replay store publishes nothing, and nothing has existed. */
MUST_CHECK enum error_code artifact_publish(struct store *store, const char *path, const char *key,
                                            bool *existed, char found[FILE_PATH_SIZE],
                                            struct error *err);

#endif
