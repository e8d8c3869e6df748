/*
 * outputs_check - are the outputs of a run that has ended still those that were sealed?
 *
 * Outputs lie where people work with them: they get deleted, moved and edited. Storage alone would take a run
 * for finished as long as their seal is there. So before a run is called finished its outputs are compared
 * with the seal: names and sizes always, hashes as long as all files together are at most
 * OUTPUTS_HASH_BYTES_MAX, which takes well under a second; of larger ones `graphmill verify` reads every byte.
 */
#ifndef PIPELINES_OUTPUTS_CHECK_H
#define PIPELINES_OUTPUTS_CHECK_H

#include "common/base/error.h"
#include "pipelines/run_folder.h"
#include "stages/plan/chain.h"

enum { OUTPUTS_HASH_BYTES_MAX = 512 << 20 };

/* What differs from its seal is taken away and *state is no longer finished, so that `infer` writes it again,
 * and so is what has no seal that vouches for it. An intact seal stays: the new outputs must have its hashes.
 * Says in the log what was wrong. For a driver that holds the folder. */
MUST_CHECK enum error_code outputs_check(const struct run_folder *folder, struct chain_state *state,
                                         struct error *err);

#endif
