/*
 * run_binding - from a pipeline file or a run's id to everything a program of that run works with.
 *
 * A run is bound to one partition by its plan (store/records/run_plan.h). Starting a run is a pure
 * function of settings and partition, so that it does not matter which program does it first.
 */
#ifndef STAGES_RUN_BINDING_H
#define STAGES_RUN_BINDING_H

#include "common/base/error.h"
#include "stages/pipeline_settings.h"
#include "stages/schedule.h"
#include "store/keys.h"
#include "store/records/partition_book.h"
#include "store/records/run_plan.h"
#include "store/store.h"

struct run_binding { /* {0} is none */
    struct run_plan plan;
    struct pipeline_settings settings;
    struct partition_book book;
    struct schedule schedule;
};

/* The switch that names the newest dataset ("dataset") or partition ("partition") of a pipeline. Its
 * name has the hash of the settings the thing depends on, so that a changed pipeline never finds what
 * another one made. */
MUST_CHECK enum error_code run_input_switch(const struct pipeline_settings *settings,
                                            const char *what, struct key *out, struct error *err);

/* What the bits of a run depend on: core type of the BLAS, its version, compiler. `portable`: as it is when
 * the core type is pinned; else as it is in this process. */
void run_environment(bool portable, char text[41]);

/* Writes the plan of the run that `settings` make on the newest partition, unless it is there, and
 * names it as the newest run. Fails: ERROR_UNAVAILABLE while there is no partition yet. */
MUST_CHECK enum error_code run_start(struct store *store, const struct pipeline_settings *settings,
                                     char run_id[ID_SIZE], struct error *err);
/* The run that was started last in this store. Fails: ERROR_NOT_FOUND. */
MUST_CHECK enum error_code run_newest(struct store *store, char run_id[ID_SIZE], struct error *err);
/* Reads plan, settings, book and schedule. Fails: ERROR_NOT_FOUND, ERROR_CORRUPT. */
MUST_CHECK enum error_code run_open(struct store *store, const char *run_id,
                                    struct run_binding *out, struct error *err);
/* For a process that computes. Fails: ERROR_INVALID when this process would give other bits than the one that started the run. */
MUST_CHECK enum error_code run_check_environment(const struct run_binding *run, struct error *err);
void run_close(struct run_binding *run);

#endif
