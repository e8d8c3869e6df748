/*
 * topology_artifact - makes the file of a part available on this host and compares it with its
 * seal.
 */
#ifndef STORE_TOPOLOGY_TOPOLOGY_ARTIFACT_H
#define STORE_TOPOLOGY_TOPOLOGY_ARTIFACT_H

#include "common/base/error.h"
#include "store/objects/artifact_cache.h"
#include "store/records/partition/topology_seal.h"

/* Returns a file on this host whose hash equals the one in the seal. A file that was just
 * downloaded was hashed as it arrived. The caller releases *out with artifact_release(). Fails:
 * ERROR_CORRUPT naming the artifact, hash expected and found; as artifact_acquire(). Threads: any
 * number. */
MUST_CHECK enum error_code topology_artifact_acquire(struct store *store, const char *key,
                                                     const struct topology_seal *seal,
                                                     struct artifact_handle *out,
                                                     struct error *err);

#endif
