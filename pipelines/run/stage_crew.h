/*
 * stage_crew - the worker processes of a local run: starts them, watches them, and replaces those
 * that die.
 *
 * A worker that is killed, asks for another try (75), or fails because of its host (71, 74) is
 * started again under its own name, so that it resumes the units it had claimed
 * (pipelines/shared/child_restart.h has the limits). A worker that fails for good ends the run.
 *
 * Workers come in sets of one for each stage. A set may be added, and the last one removed: its
 * workers complete their current unit, return the units that they have not begun, and end.
 * Alternatively each stage gets its own number of workers (stage_crew_scale()). Memory and threads
 * are then divided again, and a worker whose share changed completes its unit and is restarted with
 * the new share. That happens only after all removed workers have ended, so that the sum stays
 * within the budget at every moment.
 */
#ifndef PIPELINES_RUN_STAGE_CREW_H
#define PIPELINES_RUN_STAGE_CREW_H

#include "common/base/error.h"
#include "pipelines/shared/child_restart.h"
#include "pipelines/shared/memory_kill.h"
#include "pipelines/shared/memory_shares.h"
#include "pipelines/shared/run_folder.h"
#include "stages/engine/stage_list.h"
#include "store/queue/work_queue.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CREW_SIZE_MAX = 320, CREW_SILENCE_MS = 15000, CREW_FRESH_MS = 5000 };

struct crew_config {
    const struct run_folder *folder;
    const char *redis_url, *redis_password_file;
    int workers; /* most workers of each stage; threads and memory are divided by it */
    int workers_at_start;
    int threads; /* for all workers of a stage together; 0: the number of cores */
    const struct memory_shares *shares;
    int64_t lease_ms;
    bool debug;             /* workers log at level debug */
    const char *only_stage; /* the only stage whose workers are started; NULL: all stages */
    /* Returns how many units all workers have completed. It is called only when a worker failed. */
    int64_t (*units_done)(void *context);
    void *context;
};

/* A worker's share of the machine. */
struct crew_share {
    int threads, sharers;
    uint64_t memory_bytes;
};

struct crew_member {
    char name[WORKER_NAME_SIZE];
    int stage_index; /* index in stage_loop */
    int number;      /* among the workers of its stage */
    char log_path[FILE_PATH_SIZE];
    uint64_t log_start; /* size of its log at its last start */
    pid_t pid;          /* 0: not running */
    bool finished;
    /* it ended, or was not started, without being asked to end: the next start is a restart */
    bool failed;
    bool is_leaving;         /* removed: it is not started again */
    bool is_renewed;         /* asked to end, so that it starts again with another share */
    struct crew_share share; /* the share that it was started with */
    struct child_restart restart;
    int64_t start_ms; /* when it is to be started again */
    int64_t beat_ms;  /* time of its last fresh heartbeat since its start; 0: none yet */
};

struct stage_crew { /* {0} is empty */
    struct crew_config config;
    struct crew_member member[CREW_SIZE_MAX];
    int count;
    int sets; /* sets that are not removed: the first `sets` workers of each stage */
    int restarts;
    struct crew_share share[STAGE_LOOP_COUNT];
    uint64_t run_bytes, least_bytes; /* as in memory_shares.h */
    struct memory_kill_watch kills;
};

MUST_CHECK enum error_code stage_crew_start(struct stage_crew *crew,
                                            const struct crew_config *config, struct error *err);
/* Adds one worker of each stage, up to config->workers. */
MUST_CHECK enum error_code stage_crew_add_set(struct stage_crew *crew, struct error *err);
/* Removes the last worker of each stage; there must be two or more. They end when their unit is
 * done, which may take a while. */
void stage_crew_take_back_set(struct stage_crew *crew);
/* Sets the number of workers of stage_loop[i] to `count[i]`, 1 or more, or 0 for a stage that has
 * none, with the memory that `shares` says. Later calls of stage_crew_check() start and end the
 * workers. Sets can no longer be used. Fails: ERROR_INVALID for a path that is too long. */
MUST_CHECK enum error_code stage_crew_scale(struct stage_crew *crew,
                                            const int count[STAGE_LOOP_COUNT],
                                            const struct memory_shares *shares, struct error *err);
/* Counts the workers of each stage that are not removed. */
void stage_crew_count(const struct stage_crew *crew, int count[STAGE_LOOP_COUNT]);
/* Returns whether all wanted workers have sent a heartbeat since their start, and all removed ones
 * have ended. */
bool stage_crew_is_settled(const struct stage_crew *crew);
/* Returns the number of workers that are not removed. */
int stage_crew_size(const struct stage_crew *crew);
/* Collects the workers that ended, and starts replacements. *all_finished: every worker found the
 * run finished. Fails: with the code and last words of a worker that failed for good. */
MUST_CHECK enum error_code stage_crew_check(struct stage_crew *crew, bool *all_finished,
                                            struct error *err);
/* Kills workers that have sent heartbeats through the queue and have sent none for CREW_SILENCE_MS
 * while other workers did; they are then started again. Such a worker is suspended, or its
 * connection or disk no longer works. */
void stage_crew_heed_beats(struct stage_crew *crew, const struct worker_beat *beat, int count);
/* Sends SIGTERM to all workers, and SIGKILL to those still running after CHILD_STOP_MS. */
void stage_crew_stop(struct stage_crew *crew);

#endif
