/*
 * artifact_kinds - what artifacts there are, and how the bytes of one are compared with its seal.
 *
 *   partition/<id>/part/<p>/topology             LMDB, one file
 *   partition/<id>/part/<p>/shard                RocksDB, a folder
 *   run/<id>/infer/<v>/<layer>/part/<p>/shard    RocksDB, a folder
 *   run/<id>/outputs/<v>[-<tag>]                 files for people
 *
 * The seal of an artifact is the record with "_seal" behind the artifact's key.
 */
#ifndef STORE_OBJECTS_ARTIFACT_KINDS_H
#define STORE_OBJECTS_ARTIFACT_KINDS_H

#include "common/base/error.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>

/* Reads all of it. Fails: ERROR_NOT_FOUND without seal or file; ERROR_CORRUPT, also for a key of no kind. */
MUST_CHECK enum error_code artifact_verify(struct store *store, const char *key, struct error *err);

/* The other one of an artifact and its seal; false for a key that is neither. */
bool artifact_counterpart(const char *key, struct key *out);

#endif
