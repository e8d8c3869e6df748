/*
 * run_plan - what a run is: its settings, and the partition it works on.
 *
 * Written once when a run starts, read by every program of the run. What the id of a run is made of, so that the
 * same pipeline on the same data is the same run, and resumes: stages/plan/identity.h.
 *
 *   key       run/<id>/plan
 *   sections  "settings"    text: all effective settings, "section.key = value" lines. What outputs and operation
 *                           settings are wanted may change in a run's life: the switch run/<id>/wanted has
 *                           the newest (stages/plan/run_binding.h)
 *             "partition"   text: id of the partition
 *             "environment" text: what the bits depend on (stages/plan/environment.h); a program that differs refuses
 *                           to work on the run
 *             "first"       I64 [1]: the version of the weights that the run starts from: 0, or that of the
 *                           snapshot that it took over from another run, whose later rounds it does not share
 *             "origin"      text: the id of that run; empty for version 0
 *   version   2: "first", "origin", a longer "environment"
 *   valid     ids are [A-Za-z0-9._-]+, the settings are not empty, first >= 0, and origin is empty exactly when first
 *             is 0
 */
#ifndef STORE_RECORDS_RUN_PLAN_H
#define STORE_RECORDS_RUN_PLAN_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

struct run_plan {
    char id[80];
    char partition_id[80];
    char origin[80]; /* "" with first_version 0 */
    int64_t first_version;
    char environment[512];
    char settings[16384];
};

MUST_CHECK enum error_code run_plan_put(struct store *store, const struct run_plan *plan,
                                        struct error *err);
MUST_CHECK enum error_code run_plan_get(struct store *store, const char *run_id,
                                        struct run_plan *out, struct error *err);
/* The check alone, of a record of any origin; leaves out->id empty. */
MUST_CHECK enum error_code run_plan_decode(const struct record_view *view, struct run_plan *out,
                                           struct error *err);

#endif
