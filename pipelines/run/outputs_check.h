/*
 * outputs_check - checks that the outputs of a run that has ended still match their manifest.
 *
 * Outputs lie where people work, so they get deleted, moved and edited. As long as the manifest
 * (outputs_seal) is there, storage alone would call the run finished. So before a run is called
 * finished its outputs are compared with the manifest: names and sizes always, hashes if all files
 * together have at most OUTPUTS_HASH_BYTES_MAX bytes, which takes well under a second. `graphmill
 * verify` reads every byte of larger ones.
 */
#ifndef PIPELINES_RUN_OUTPUTS_CHECK_H
#define PIPELINES_RUN_OUTPUTS_CHECK_H

#include "common/base/error.h"
#include "pipelines/shared/run_folder.h"
#include "stages/plan/chain/chain.h"

enum { OUTPUTS_HASH_BYTES_MAX = 512 << 20 };

/* Compares the outputs with their manifest. Outputs that differ, or that no intact manifest
 * describes, are removed, and *state is no longer finished, so that `infer` writes them again. An
 * intact manifest stays, and the new outputs must have its hashes. The log says what was wrong.
 * Only a driver that holds the folder may call it. */
MUST_CHECK enum error_code outputs_check(const struct run_folder *folder, struct chain_state *state,
                                         struct error *err);

#endif
