/*
 * run_plan - what a run is: its settings, and the partition it works on.
 *
 * Written once when a run starts, read by every program of the run. The run's id is the pipeline's name
 * and eight hexadecimal digits of the hash of settings and partition id, so that the same pipeline on
 * the same data is the same run, and resumes.
 *
 *   key       run/<id>/plan
 *   sections  "settings"    text: all effective settings, "section.key = value" lines
 *             "partition"   text: id of the partition
 *             "environment" text: what the bits depend on; a program that differs refuses to join
 *   valid     the partition's id is [A-Za-z0-9._-]+ and the settings are not empty
 */
#ifndef STORE_RECORDS_RUN_PLAN_H
#define STORE_RECORDS_RUN_PLAN_H

#include "common/base/error.h"
#include "store/store.h"

struct run_plan {
    char id[80];
    char partition_id[80];
    char environment[41];
    char settings[8192];
};

MUST_CHECK enum error_code run_plan_put(struct store *store, const struct run_plan *plan,
                                        struct error *err);
MUST_CHECK enum error_code run_plan_get(struct store *store, const char *run_id,
                                        struct run_plan *out, struct error *err);
/* The check alone, of a record of any origin; leaves out->id empty. */
MUST_CHECK enum error_code run_plan_decode(const struct record_view *view, struct run_plan *out,
                                           struct error *err);

#endif
