/*
 * chain - which unit of work waits for which: the pipeline as a graph, in one place.
 *
 *   initialise ──────────────┐
 *   sample/r/k ──────────────┴─> train-step/r/k ─(all slots)─> aggregate/r ─┬─> train-step/r+1/all
 *                            │                                              ├─> seal-rows/v/s
 *                            │                                              ├> sample/r+1+ahead/all
 *   sample-evaluation/k ─(first snapshot)──┬─────> evaluate/v/k <───────────┤    (v = r + 1)
 *   evaluate/<snapshot before>/k ──────────┘            └─(all)─> checkpoint/v
 *   seal-rows/v/s ─(all shards)─> checkpoint/v
 *   the last checkpoint ─> infer/w/1/p ─(all parts)─> infer/w/2/p ...
 *   ... ─(all parts of the last two layers)─> outputs/w
 *
 * w is the version of the weights that inference uses: the last weights, or the best ones. The
 * snapshot that ends the run holds both, and only that snapshot says which w is, so no unit of
 * infer exists before it.
 * The settings change the graph as follows:
 * - A sampler that counts walks: count-walks comes before the mini-batches that wait for nothing
 *   else.
 * - Learnable embeddings: there is a seal-rows unit for each shard s, and inference begins with
 *   infer/w/0/p.
 * - aggregate.ranges and fan_in: sums come between train-step and aggregate (gradient_sums.h), and
 *   aggregate/r also waits for the weights that it starts from: train-step/r/all ─>
 *   sum-gradients/r/n ─(the last of each range)─> aggregate/r.
 * - train-step.pipeline: layers: train-step/r/k is the last pass of a step (layer_pipeline.h). The
 *   units that would set it free set step-layer/r/1/k free, which sets step-layer/r/2/k free, and
 *   so on.
 * - aggregate.staleness: s: train-step/r/k waits only for weights r - s, and aggregate/r also waits
 *   for weights r: aggregate/r sets train-step/r+1+s and aggregate/r+1 free. No round waits for the
 *   gradients of the round before.
 * - Early stopping, or learnable embeddings: the rounds after a snapshot wait for its checkpoint;
 *   otherwise they do not.
 *
 * There is no coordinator: a worker that finishes a unit asks chain_successors() which units become
 * free, and tells Redis in one script. Storage says which units are done (chain_state.h), so the
 * queue can be rebuilt from storage at any time (chain_rebuild.h). The rows in units/ implement
 * this drawing. tests/stages/plan/chain/chain_test.c checks that successors and prerequisites are
 * inverse.
 */
#ifndef STAGES_PLAN_CHAIN_CHAIN_H
#define STAGES_PLAN_CHAIN_CHAIN_H

#include "common/base/error.h"
#include "stages/plan/chain/chain_state.h"
#include "stages/plan/chain/schedule.h"
#include "stages/plan/chain/unit.h"
#include "stages/plan/chain/unit_list.h"
#include "store/objects/keys.h"

#include <stdint.h>

/* Checks that this run has a unit with these numbers; `unit` may come from anyone.
 * `weights_version` is the version of the weights that inference uses, and -1 until the run has
 * ended; units of inference exist for that version only. Fails: ERROR_INVALID, and the message says
 * which units exist. */
MUST_CHECK enum error_code chain_check_unit(const struct schedule *schedule,
                                            const struct unit *unit, int64_t weights_version,
                                            struct error *err);

/* Appends to `out` the units that must be done before `unit`. `last_version` is the version of the
 * snapshot that ends the run (chain_last_version()); the first layer of infer needs it. */
MUST_CHECK enum error_code chain_prerequisites(const struct schedule *schedule,
                                               const struct unit *unit, int64_t last_version,
                                               struct unit_list *out, struct error *err);
/* Appends to `out` the units whose records `unit` reads without waiting for them, because they were
 * done before the units that it waits for: the mini-batches of the validation nodes and, with
 * reuse_epochs, those of an earlier epoch. */
MUST_CHECK enum error_code chain_reads(const struct schedule *schedule, const struct unit *unit,
                                       struct unit_list *out, struct error *err);
/* Returns the number of prerequisites. All units of one kind, round and layer that a unit sets free
 * have the same number, unless mini-batches are used again with staleness. */
int64_t chain_prerequisite_count(const struct schedule *schedule, const struct unit *unit);
/* Appends to `out` the units that have `unit` as a prerequisite. `weights_version` is the version
 * of the weights that inference uses, if `unit` is the checkpoint that ends the run, and -1
 * otherwise. */
MUST_CHECK enum error_code chain_successors(const struct schedule *schedule,
                                            const struct unit *unit, int64_t weights_version,
                                            struct unit_list *out, struct error *err);
/* Appends to `out` the units without prerequisites. */
MUST_CHECK enum error_code chain_roots(const struct schedule *schedule, struct unit_list *out,
                                       struct error *err);

/* Returns the key of the record whose presence says that the unit is done. For a unit of infer that
 * is the manifest of its artifact. */
struct key chain_output_key(const struct schedule *schedule, const char *run_id,
                            const struct unit *unit);

#endif
