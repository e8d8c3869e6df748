/*
 * stage - the interface of a program of the pipeline.
 *
 * A stage reads some kinds of record from the store, does one job, and writes other kinds. Each
 * stages/<name>/<name>.c defines one `stage`. stage_main.c supplies the only main() and does
 * everything that is the same for all: options, log, signals, store, run, the loop over units,
 * replay, exit status.
 *
 * To add a stage: see stages/README.md.
 */
#ifndef STAGES_ENGINE_STAGE_H
#define STAGES_ENGINE_STAGE_H

#include "common/base/error.h"
#include "common/parallel/thread_pool.h"
#include "stages/engine/stage_times.h"
#include "stages/plan/chain/schedule.h"
#include "stages/plan/chain/unit.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "stages/plan/settings/update_request.h"
#include "store/objects/store.h"
#include "store/records/partition/partition_book.h"

#include <stdbool.h>
#include <stdint.h>

/* Everything that a stage works with. Borrowed from stage_main. */
struct stage_context {
    struct store *store;
    const struct pipeline_settings *settings;
    /* The rest of this block is empty for ingest and partition, which come before a run. */
    const char *run_id;
    const struct partition_book *book;
    const struct schedule *schedule;
    /* These say where and how fast the stage works, and change no result. */
    struct thread_pool *pool;
    int threads;
    uint64_t memory_bytes; /* the --memory budget */
    /* Workers of this stage on this host, which share one copy of the graph's data. */
    int sharers;
    bool is_replay;  /* the store compares instead of writing */
    bool is_dry_run; /* ingest: only report what would be made */
    /* ingest: the update to apply to the newest version; NULL: none. */
    const struct update_request *update;
    /* partition: the file to which a trial writes its figures; NULL: no trial. */
    const char *trial_path;
    /* For a trial: the table of what a run read, to measure by; NULL: none. */
    const char *trial_loads;
    struct stage_times *times; /* NULL: times are not kept */
};

enum stage_form {
    STAGE_ONCE, /* ingest, partition: does one unit, then the program ends */
    STAGE_LOOP, /* claims units from the queue until the run is finished */
};

enum { STAGE_PREFERS_MAX = 32 };

struct stage {
    const char *name;    /* the name on the command line and in the pipeline file */
    const char *summary; /* one line, for --help */
    /* Kinds of records, separated by commas; a test compares them with stages/README.md. */
    const char *reads;
    const char *writes;
    enum stage_form form;
    /* Checks that this machine can do what the settings want, before anything is written. NULL: it
     * always can. Fails: ERROR_INVALID. */
    enum error_code (*check)(const struct pipeline_settings *settings, struct error *err);
    /* True if several threads may call work() at once, each with another unit. Then --threads is
     * the number of units at once; otherwise it is the number of threads that share one unit. */
    bool works_side_by_side;
    /* Its threads compute products of matrices: address_budget.h. */
    bool multiplies;
    /* True if others wait for its records. Then it prepares the memory of the next record between
     * units (store_preallocate()). A stage that works ahead of the others gains nothing by that. */
    bool is_waited_for;
    /* Opens what lasts longer than a unit: topology, features, buffers. *state belongs to the stage
     * and starts as NULL. After a failure close is called, too, with the *state of that moment.
     * open and close are NULL in a stage that keeps nothing. */
    enum error_code (*open)(const struct stage_context *context, void **state, struct error *err);
    /* Does one unit: reads its input records and publishes its output. For a given unit the
     * published bytes are always the same. A unit that was done before may be done again. The work
     * loop reads from the chain (hand_over.h) which units it sets free, and from the snapshot
     * whether the run ends. */
    enum error_code (*work)(const struct stage_context *context, void *state,
                            const struct unit *unit, struct error *err);
    /* Names the units that this worker would rather do than the one that it was given, the best
     * first, and returns their number. A name that ends with "/" stands for all units that begin
     * so. The worker gets only a unit that waits already. NULL: it has no preference. */
    int (*prefers)(const struct stage_context *context, const void *state, const struct unit *unit,
                   char wanted[STAGE_PREFERS_MAX][UNIT_NAME_SIZE]);
    /* Called after the unit was completed, as the done_count-th of the stage since its queue was
     * filled, and before the next one is awaited. Begins work that may be done meanwhile, and
     * returns at once. NULL: nothing. */
    void (*rest)(const struct stage_context *context, void *state, const struct unit *unit,
                 int64_t done_count);
    /* Frees *state; NULL is fine. */
    void (*close)(void *state);
};

extern const struct stage stage; /* exactly one is linked into each program */

#endif
