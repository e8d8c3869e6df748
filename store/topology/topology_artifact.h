/*
 * topology_artifact - the file of a part, on this host and compared with its seal.
 */
#ifndef STORE_TOPOLOGY_TOPOLOGY_ARTIFACT_H
#define STORE_TOPOLOGY_TOPOLOGY_ARTIFACT_H

#include "common/base/error.h"
#include "store/objects/artifact_cache.h"
#include "store/records/topology_seal.h"

/* A file of this host that is what the seal says. One that was just fetched was hashed on its way.
 * Fails: ERROR_CORRUPT naming the artifact, hash expected and found; as artifact_acquire(). Release with
 * artifact_release(). Threads: any number. */
MUST_CHECK enum error_code topology_artifact_acquire(struct store *store, const char *key,
                                                     const struct topology_seal *seal,
                                                     struct artifact_handle *out,
                                                     struct error *err);

#endif
