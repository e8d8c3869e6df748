/*
 * stage - what a program of the pipeline is.
 *
 * A stage reads some kinds of record from the store, does one job, and writes other kinds. Each
 * stages/<name>/<name>.c defines one `stage`; stage_main.c supplies the only main() and does what is the
 * same for all: options, log, signals, store, run, the loop over work units, replay, exit status.
 *
 * To add a stage: see stages/README.md.
 */
#ifndef STAGES_ENGINE_STAGE_H
#define STAGES_ENGINE_STAGE_H

#include "common/base/error.h"
#include "common/parallel/thread_pool.h"
#include "stages/engine/stage_times.h"
#include "stages/plan/pipeline_settings.h"
#include "stages/plan/schedule.h"
#include "stages/plan/unit.h"
#include "stages/plan/update_request.h"
#include "store/objects/store.h"
#include "store/records/partition_book.h"

#include <stdbool.h>
#include <stdint.h>

/* Everything a stage works with. Borrowed from stage_main. */
struct stage_context {
    struct store *store;
    const struct pipeline_settings *settings;
    /* The rest of this block is empty for ingest and partition, which come before a run. */
    const char *run_id;
    const struct partition_book *book;
    const struct schedule *schedule;
    /* Where and how fast; never what. */
    struct thread_pool *pool;
    int threads;
    uint64_t memory_bytes; /* the --memory budget */
    int sharers;     /* workers of this stage on this host, which hold the graph's data once */
    bool is_replay;  /* the store compares instead of writing */
    bool is_dry_run; /* ingest: only say what would be made */
    const struct update_request *update; /* ingest: apply it to the newest version; NULL: none */
    const char *trial_path; /* partition: only assign and measure, for this file; NULL: all of it */
    const char *trial_loads;   /* with it: what a run read, to measure by; NULL: nothing */
    struct stage_times *times; /* NULL: not kept */
};

enum stage_form {
    STAGE_ONCE, /* ingest, partition: one unit, then the program ends */
    STAGE_LOOP, /* claims units from the queue until the run is finished */
};

enum { STAGE_PREFERS_MAX = 32 };

struct stage {
    const char *name;    /* as on the command line and in the pipeline file */
    const char *summary; /* one line, for --help */
    const char *reads;   /* record kinds, comma separated; a test compares with stages/README.md */
    const char *writes;
    enum stage_form form;
    /* Whether this machine can do what the settings want; NULL: it always can. Asked before anything is
     * written. Fails: ERROR_INVALID. */
    enum error_code (*check)(const struct pipeline_settings *settings, struct error *err);
    /* work() may be called from several threads at once, each with another unit: then --threads is the
     * number of units in hand, and else of threads that share out one unit. */
    bool works_side_by_side;
    bool multiplies; /* its threads compute products of matrices: address_budget.h */
    /* Others stand still until its records are there, so between units it prepares the memory of the next
     * (store_preallocate()). A stage that works ahead of the others gains nothing by that. */
    bool is_waited_for;
    /* Opens what lasts longer than a unit: topology, features, buffers. *state is the stage's own and
     * starts as NULL. After a failure close is called as well, with what *state is by then. open and close are NULL in a stage
     * that keeps nothing. */
    enum error_code (*open)(const struct stage_context *context, void **state, struct error *err);
    /* Does one unit: reads its input records, publishes its output. For a given unit the published
     * bytes are always the same. A unit that was done before may be done again. What it sets free is none of the stage's
     * business: the work loop reads that from the chain (hand_over.h), and from the snapshot whether the run ends. */
    enum error_code (*work)(const struct stage_context *context, void *state,
                            const struct unit *unit, struct error *err);
    /* Names of units, or beginnings of names that end with "/", that this worker would rather do than the one that it was given, the best
     * first; how many. What it gets for it is one that waits already. NULL: it takes what comes. */
    int (*prefers)(const struct stage_context *context, const void *state, const struct unit *unit,
                   char wanted[STAGE_PREFERS_MAX][UNIT_NAME_SIZE]);
    /* Called when the unit was completed, as the done_count-th of the stage since its queue was filled, before
     * the next one is waited for: a worker has nothing to do now. Begins what may be done meanwhile and
     * returns at once. NULL: nothing. */
    void (*rest)(const struct stage_context *context, void *state, const struct unit *unit,
                 int64_t done_count);
    /* Frees *state; NULL is fine. */
    void (*close)(void *state);
};

extern const struct stage stage; /* exactly one is linked into each program */

#endif
