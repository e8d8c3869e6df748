/*
 * outputs_seal - what lies in the outputs of a run, and how good the model is.
 *
 * Written by infer after the outputs artifact is published; read by the driver (run, status, verify). It
 * is the end of a run: chain.h takes a run with this record as finished.
 *
 *   key       run/<id>/outputs_seal
 *   sections  "files"   text, one line a file: name, bytes, XXH3-128; sorted by name
 *             "metrics" text: the JSON of outputs/metrics.json
 *             "version" U64 [1]: the weights used
 */
#ifndef STORE_RECORDS_OUTPUTS_SEAL_H
#define STORE_RECORDS_OUTPUTS_SEAL_H

#include "common/base/error.h"
#include "store/store.h"

#include <stdint.h>

enum { OUTPUTS_FILES_SIZE = 2048, OUTPUTS_METRICS_SIZE = 8192 };

struct outputs_seal {
    uint64_t version;
    char files[OUTPUTS_FILES_SIZE];
    char metrics[OUTPUTS_METRICS_SIZE];
};

MUST_CHECK enum error_code outputs_seal_put(struct store *store, const char *run_id,
                                            const struct outputs_seal *seal, struct error *err);
MUST_CHECK enum error_code outputs_seal_get(struct store *store, const char *run_id,
                                            struct outputs_seal *out, struct error *err);
/* Appends the line of one file of `folder` to seal->files. */
MUST_CHECK enum error_code outputs_seal_add_file(struct outputs_seal *seal, const char *folder,
                                                 const char *name, struct error *err);
/* Compares the files in `folder` with the seal. Fails: ERROR_CORRUPT naming the file, hash expected and
 * found. */
MUST_CHECK enum error_code outputs_seal_check(const struct outputs_seal *seal, const char *folder,
                                              struct error *err);

#endif
