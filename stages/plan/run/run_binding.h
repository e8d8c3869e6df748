/*
 * run_binding - opens all that a program needs of a run, from a pipeline file or from the run's id.
 *
 * The plan of a run (store/records/round/run_plan.h), written once, binds it to one partition. Some
 * settings may change during the life of a run: which outputs are made, how many snapshots are
 * kept. They are in the ref run/<id>/wanted: the lines of those settings that differ from their
 * defaults, as the newest start had them.
 *
 * Only a program that starts a run (graphmill run and start, graphmill-partition --start) writes a
 * plan or that ref. Workers join a run that was started: otherwise a worker with other settings
 * would create another run and fill it.
 */
#ifndef STAGES_PLAN_RUN_RUN_BINDING_H
#define STAGES_PLAN_RUN_RUN_BINDING_H

#include "common/base/error.h"
#include "stages/plan/chain/schedule.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"
#include "store/records/partition/partition_book.h"
#include "store/records/round/run_plan.h"

struct run_binding { /* {0} is none */
    struct run_plan plan;
    struct pipeline_settings settings; /* those of the plan, and those of run/<id>/wanted */
    struct partition_book book;
    struct schedule schedule;
};

/* Computes the key of the ref that names the dataset ("dataset") or partition ("partition") that
 * these settings made last. Programs that cannot read the input find its result through this ref:
 * its name is a hash of the settings and of the paths, made absolute. */
MUST_CHECK enum error_code run_input_switch(const struct pipeline_settings *settings,
                                            const char *what, struct key *out, struct error *err);

/* Computes the id of the run that `settings` make on their partition, started or not. Fails:
 * ERROR_UNAVAILABLE without a partition. */
MUST_CHECK enum error_code run_id_of(struct store *store, const struct pipeline_settings *settings,
                                     char run_id[ID_SIZE], struct error *err);

/* Computes the schedule of a run with these settings on a partition. Fails as schedule_init() and
 * embedding_tensors_of(). */
MUST_CHECK enum error_code run_schedule(struct schedule *out,
                                        const struct pipeline_settings *settings,
                                        const struct partition_book *book, struct error *err);
/* Starts the run that `settings` make on their partition, or finds it started. Stores which outputs
 * and how many snapshots are wanted, makes it the newest run, and checks it when verify asked for
 * that (run_recheck.h). Fails: ERROR_UNAVAILABLE while there is no partition; ERROR_INVALID when
 * the run is not finished and was started in another environment. */
MUST_CHECK enum error_code run_start(struct store *store, const struct pipeline_settings *settings,
                                     char run_id[ID_SIZE], struct error *err);
/* Does the same, but another run stays the newest one: for a run that may turn out not to be the
 * one that people should see. */
MUST_CHECK enum error_code run_start_aside(struct store *store,
                                           const struct pipeline_settings *settings,
                                           char run_id[ID_SIZE], struct error *err);
/* Makes it the newest run. */
MUST_CHECK enum error_code run_name_newest(struct store *store, const char *run_id,
                                           struct error *err);
/* Sets *plan to what run_start() would write: the plan of the run that the settings make on this
 * partition, or its id alone if it was started. Writes nothing to the store. */
MUST_CHECK enum error_code run_plan_of(struct store *store,
                                       const struct pipeline_settings *settings,
                                       const char *partition_id, struct run_plan *plan,
                                       bool *started, struct error *err);
/* Finds the run of these settings. Fails: ERROR_UNAVAILABLE when nobody has started it (with these
 * outputs); the message says in which settings the newest run differs. */
MUST_CHECK enum error_code run_join(struct store *store, const struct pipeline_settings *settings,
                                    char run_id[ID_SIZE], struct error *err);
/* Sets `run_id` to the run that was started last in this store. Fails: ERROR_NOT_FOUND. */
MUST_CHECK enum error_code run_newest(struct store *store, char run_id[ID_SIZE], struct error *err);
/* Reads plan, settings, book and schedule. Fails: ERROR_NOT_FOUND, ERROR_CORRUPT. */
MUST_CHECK enum error_code run_open(struct store *store, const char *run_id,
                                    struct run_binding *out, struct error *err);
/* Checks that a process in which OpenBLAS multiplies for `core` gives the bits of the process that
 * started the run. Fails: ERROR_INVALID; the message says in what it differs and how to go on. */
MUST_CHECK enum error_code run_check_environment(const struct run_binding *run, const char *core,
                                                 struct error *err);
/* Returns the core type that products with these settings are made for, in a process that pins it
 * if needed. */
const char *run_core_type(const struct pipeline_settings *settings);
void run_close(struct run_binding *run);

#endif
