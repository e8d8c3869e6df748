/*
 * outputs_seal - what lies in the outputs of a run, how good the model is, and which weights it
 * has.
 *
 * Written by infer after the outputs artifact is published; read by the driver (run, status,
 * verify). It is the end of a run: chain.h takes a run with this record as finished.
 *
 *   key       run/<id>/outputs/<v>[-<tag>]_seal
 *   sections  "files"   text, one line a file: name, bytes, XXH3-128; sorted by name
 *             "metrics" text: the JSON of outputs/metrics.json
 *             "weights", "weights_sum": those used (weights_identity.h)
 */
#ifndef STORE_RECORDS_ROUND_OUTPUTS_SEAL_H
#define STORE_RECORDS_ROUND_OUTPUTS_SEAL_H

#include "common/base/error.h"
#include "store/objects/artifact_cache.h"
#include "store/objects/store.h"
#include "store/records/round/weights_identity.h"

#include <stdint.h>

enum { OUTPUTS_FILES_SIZE = 2048, OUTPUTS_METRICS_SIZE = 8192 };

struct outputs_seal {
    struct weights_identity weights;
    char files[OUTPUTS_FILES_SIZE];
    char metrics[OUTPUTS_METRICS_SIZE];
};

MUST_CHECK enum error_code outputs_seal_put(struct store *store, const char *key,
                                            const char *run_id, const struct outputs_seal *seal,
                                            struct error *err);
MUST_CHECK enum error_code outputs_seal_get(struct store *store, const char *key,
                                            const char *run_id, struct outputs_seal *out,
                                            struct error *err);
/* Appends the line of a file with known size and hash to seal->files. */
MUST_CHECK enum error_code outputs_seal_add(struct outputs_seal *seal, const char *name,
                                            uint64_t size, const struct checksum *sum,
                                            struct error *err);
/* Reads a file of `folder`, and appends its line. */
MUST_CHECK enum error_code outputs_seal_add_file(struct outputs_seal *seal, const char *folder,
                                                 const char *name, struct error *err);
/* Compares names and sizes alone; *bytes is how many there are in all. Fails: ERROR_NOT_FOUND
 * naming the file; ERROR_CORRUPT with size expected and found. */
MUST_CHECK enum error_code outputs_seal_check_sizes(const struct outputs_seal *seal,
                                                    const char *folder, uint64_t *bytes,
                                                    struct error *err);
/* Compares the files in `folder` with the seal. Fails: ERROR_CORRUPT naming the file, hash expected
 * and found. */
MUST_CHECK enum error_code outputs_seal_check(const struct outputs_seal *seal, const char *folder,
                                              struct error *err);

/* Acquires outputs as artifact_acquire() does. A copy is compared with the seal (NULL: the stored
 * one), and fetched again if it differs: it may have been damaged on its way.
 * Fails: ERROR_CORRUPT, and as artifact_acquire(). */
MUST_CHECK enum error_code outputs_acquire(struct store *store, const char *key,
                                           const struct outputs_seal *seal,
                                           struct artifact_handle *out, struct error *err);

#endif
