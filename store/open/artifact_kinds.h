/*
 * artifact_kinds - the kinds of artifacts, and the comparison of an artifact with its seal.
 *
 *   partition/<id>/part/<p>/topology             LMDB, one file
 *   partition/<id>/part/<p>/shard                RocksDB, a folder
 *   run/<id>/infer/<v>/<layer>/part/<p>/shard    RocksDB, a folder
 *   run/<id>/outputs/<v>[-<tag>]                 files for people
 *
 * The seal of an artifact is the record whose key is the artifact's key followed by "_seal".
 */
#ifndef STORE_OPEN_ARTIFACT_KINDS_H
#define STORE_OPEN_ARTIFACT_KINDS_H

#include "common/base/error.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>

/* Reads the whole artifact and compares it with its seal. Fails: ERROR_NOT_FOUND without seal or
 * file; ERROR_CORRUPT, also for a key of no kind. */
MUST_CHECK enum error_code artifact_verify(struct store *store, const char *key, struct error *err);

/* Writes the key of the seal for the key of an artifact, and vice versa. Returns false for a key
 * that is neither. */
bool artifact_counterpart(const char *key, struct key *out);

#endif
