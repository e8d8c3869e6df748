/*
 * run_plan - the settings of a run, and the partition that it works on.
 *
 * Written once when a run starts, and read by every program of the run. stages/plan/model/identity.h says
 * what the id of a run is computed from, so that the same pipeline on the same data is the same
 * run, and resumes.
 *
 *   key       run/<id>/plan
 *   sections  "settings"    text: all effective settings, as lines "section.key = value". Settings
 *                           of outputs and operation may change while a run lives; the switch
 *                           run/<id>/wanted has the newest ones (stages/plan/run/run_binding.h)
 *             "partition"   text: the id of the partition
 *             "environment" text: what the bits depend on (stages/plan/run/environment.h); a program
 *                           with another environment refuses to work on the run
 *             "first"       I64 [1]: the version of the weights that the run starts from: 0, or
 *                           that of a snapshot that the run took over from another run, whose later
 *                           rounds it does not share
 *             "origin"      text: the id of that other run; empty for version 0
 *   version   2: has "first", "origin" and a longer "environment"
 *   valid     ids are [A-Za-z0-9._-]+, the settings are not empty, first >= 0, and origin is empty
 *             exactly if first is 0
 */
#ifndef STORE_RECORDS_ROUND_RUN_PLAN_H
#define STORE_RECORDS_ROUND_RUN_PLAN_H

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
/* Checks and reads a record that is in memory; leaves out->id empty. */
MUST_CHECK enum error_code run_plan_decode(const struct record_view *view, struct run_plan *out,
                                           struct error *err);

#endif
