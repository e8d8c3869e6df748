/*
 * run_binding - from a pipeline file or a run's id to everything a program of that run works with.
 *
 * A run is bound to one partition by its plan (store/records/run_plan.h), written once. What is wanted of a run
 * beyond its id - which outputs, how many snapshots are kept - may change in its life and lies under the switch
 * run/<id>/wanted: the lines of those settings that differ from their defaults, as the newest start had them.
 *
 * Only who starts a run (graphmill run and start, graphmill-partition --start) writes a plan or that switch. Workers
 * join what was started: one with other settings than the run would otherwise found and fill another one.
 */
#ifndef STAGES_PLAN_RUN_BINDING_H
#define STAGES_PLAN_RUN_BINDING_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"
#include "stages/plan/schedule.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"
#include "store/records/partition_book.h"
#include "store/records/run_plan.h"

struct run_binding { /* {0} is none */
    struct run_plan plan;
    struct pipeline_settings settings; /* the plan's, with what is wanted now */
    struct partition_book book;
    struct schedule schedule;
};

/* The switch that names the dataset ("dataset") or partition ("partition") which these settings made last. It is
 * how programs that cannot read the input find what it became: its name is a hash of the settings and of
 * the paths, made absolute. */
MUST_CHECK enum error_code run_input_switch(const struct pipeline_settings *settings,
                                            const char *what, struct key *out, struct error *err);

/* The id of the run that `settings` make on their partition, started or not. Fails: ERROR_UNAVAILABLE without a partition. */
MUST_CHECK enum error_code run_id_of(struct store *store, const struct pipeline_settings *settings,
                                     char run_id[ID_SIZE], struct error *err);

/* The schedule of a run with these settings on a partition. Fails as schedule_init() and embedding_tensors_of(). */
MUST_CHECK enum error_code run_schedule(struct schedule *out,
                                        const struct pipeline_settings *settings,
                                        const struct partition_book *book, struct error *err);
/* Starts the run that `settings` make on their partition, or finds it started, notes what is wanted of it,
 * names it as the newest run, and looks it through when verify asked for that (run_recheck.h).
 * Fails: ERROR_UNAVAILABLE while there is no partition yet; ERROR_INVALID when the run is not finished and was
 * started in another environment. */
MUST_CHECK enum error_code run_start(struct store *store, const struct pipeline_settings *settings,
                                     char run_id[ID_SIZE], struct error *err);
/* The same, but another run stays the newest one: for a run of which it is not known yet whether it is to be the one that
 * people see. */
MUST_CHECK enum error_code run_start_aside(struct store *store,
                                           const struct pipeline_settings *settings,
                                           char run_id[ID_SIZE], struct error *err);
/* From now on it is the newest one. */
MUST_CHECK enum error_code run_name_newest(struct store *store, const char *run_id,
                                           struct error *err);
/* What run_start() would do: the plan of the run that the settings make on this partition, as it would be written,
 * or its id alone when it was started. Writes nothing. */
MUST_CHECK enum error_code run_plan_of(struct store *store,
                                       const struct pipeline_settings *settings,
                                       const char *partition_id, struct run_plan *plan,
                                       bool *started, struct error *err);
/* Finds the run of these settings. Fails: ERROR_UNAVAILABLE when nobody has started it (with these outputs), saying
 * in which settings the newest run differs. */
MUST_CHECK enum error_code run_join(struct store *store, const struct pipeline_settings *settings,
                                    char run_id[ID_SIZE], struct error *err);
/* The run that was started last in this store. Fails: ERROR_NOT_FOUND. */
MUST_CHECK enum error_code run_newest(struct store *store, char run_id[ID_SIZE], struct error *err);
/* Reads plan, settings, book and schedule. Fails: ERROR_NOT_FOUND, ERROR_CORRUPT. */
MUST_CHECK enum error_code run_open(struct store *store, const char *run_id,
                                    struct run_binding *out, struct error *err);
/* Would a process in which OpenBLAS multiplies for `core` give the bits of the one that started the run?
 * Fails: ERROR_INVALID, saying in what it differs and how to go on. */
MUST_CHECK enum error_code run_check_environment(const struct run_binding *run, const char *core,
                                                 struct error *err);
/* The core type that the products of these settings are made for, in a process that is about to pin it if need be. */
const char *run_core_type(const struct pipeline_settings *settings);
void run_close(struct run_binding *run);

#endif
