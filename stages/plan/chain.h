/*
 * chain - which unit of work waits for which; the pipeline as a graph, in one place.
 *
 *   initialise ──────────────┐
 *   sample/r/k ──────────────┴─> train-step/r/k ─(all slots)─> aggregate/r ─┬─> train-step/r+1/all
 *                            │                                              ├─> seal-rows/v/s ─(all shards)─> checkpoint/v
 *   sample-evaluation/k ─(first snapshot)──┬─────> evaluate/v/k <───────────┤    (v = r + 1)
 *   evaluate/<snapshot before>/k ──────────┘            └─(all)─> checkpoint/v  └─> sample/r+1+ahead/all
 *   the last checkpoint ─> infer/w/1/p ─(all parts)─> infer/w/2/p ... ─(all parts of the last two)─> outputs/w
 *
 * w is the version of the weights that inference takes: those of the snapshot that ends the run, or the best
 * ones, which that snapshot holds too. Only that snapshot says which, so no unit of infer is made before it.
 * count-walks, of the one sampler that wants it, comes before the mini-batches that wait for nothing else.
 * seal-rows is of learnable embeddings, s of the shards; inference then begins with infer/w/0/p.
 * With aggregate.ranges and fan_in there are sums between train-step and aggregate (gradient_sums.h), and aggregate/r waits for
 * the weights it starts from, too: train-step/r/all ─> sum-gradients/r/n ─(the last of each range)─> aggregate/r.
 * With train-step.pipeline: layers there are passes before train-step/r/k, which is the last of them (layer_pipeline.h): what would set it
 * free sets step-layer/r/1/k free, that one step-layer/r/2/k, and so on.
 * With aggregate.staleness: s, train-step/r/k waits for weights r - s alone, and aggregate/r for weights r, too: aggregate/r sets
 * train-step/r+1+s free, and aggregate/r+1. No round waits for the gradients of the one before.
 * With early stopping, and with learnable embeddings, the rounds after a snapshot wait for its checkpoint; else they do not.
 * There is no coordinator: a worker that finishes a unit asks chain_successors() what that sets free and
 * tells Redis in one script. Storage says what is done (chain_state.h), so the queue can be rebuilt from
 * it at any time (chain_rebuild.h). What this drawing says stands in the rows of units/. tests/stages/plan/chain_test.c checks that successors and prerequisites are inverse.
 */
#ifndef STAGES_PLAN_CHAIN_H
#define STAGES_PLAN_CHAIN_H

#include "common/base/error.h"
#include "stages/plan/chain_state.h"
#include "stages/plan/schedule.h"
#include "stages/plan/unit.h"
#include "stages/plan/unit_list.h"
#include "store/objects/keys.h"

#include <stdint.h>

/* Are the numbers of the unit, which may be anyone's, such as this run has? `weights_version`: of the weights
 * that inference takes, -1 as long as the run has not ended; a unit of inference is of no other.
 * Fails: ERROR_INVALID saying what there is. */
MUST_CHECK enum error_code chain_check_unit(const struct schedule *schedule,
                                            const struct unit *unit, int64_t weights_version,
                                            struct error *err);

/* Units that must be done before `unit`, appended to `out`. `last_version`: of the snapshot that ends the run
 * (chain_last_version()), for the first layer of infer. */
MUST_CHECK enum error_code chain_prerequisites(const struct schedule *schedule,
                                               const struct unit *unit, int64_t last_version,
                                               struct unit_list *out, struct error *err);
/* Units whose records `unit` reads and that it does not wait for, because they were done before those it waits
 * for: the validation nodes' mini-batches, and with reuse_epochs those of an earlier epoch. */
MUST_CHECK enum error_code chain_reads(const struct schedule *schedule, const struct unit *unit,
                                       struct unit_list *out, struct error *err);
/* How many prerequisites there are: the same for all of one kind, round and layer that a unit sets free, unless mini-batches
 * are taken again with staleness. */
int64_t chain_prerequisite_count(const struct schedule *schedule, const struct unit *unit);
/* Units for which `unit` is a prerequisite. `weights_version`: of a checkpoint that ends the run, the weights
 * that inference takes; else -1. */
MUST_CHECK enum error_code chain_successors(const struct schedule *schedule,
                                            const struct unit *unit, int64_t weights_version,
                                            struct unit_list *out, struct error *err);
/* Units without prerequisites. */
MUST_CHECK enum error_code chain_roots(const struct schedule *schedule, struct unit_list *out,
                                       struct error *err);

/* The record whose presence says that the unit is done; for one of infer, the seal of its artifact. */
struct key chain_output_key(const struct schedule *schedule, const char *run_id,
                            const struct unit *unit);

#endif
