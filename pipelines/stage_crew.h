/*
 * stage_crew - the worker processes of a local run: started, watched, replaced when they die.
 *
 * A worker that is killed, that asks for another try (75), or whose host failed it (71, 74) is started again under
 * its own name, so that it takes up at once what it held (pipelines/child_restart.h says how often). A worker that
 * fails for good ends the run.
 *
 * Workers come in sets of one of each stage. A set may be added, and the last one taken back: its workers end the unit that
 * they have in hand, hand back what they were just given, and are gone. Or each stage gets a number of its own
 * (stage_crew_scale()): then memory and threads are divided anew, and who has another share than it was started with ends its
 * unit and is started again with that, when all who leave are gone, so that the budget holds at every moment.
 */
#ifndef PIPELINES_STAGE_CREW_H
#define PIPELINES_STAGE_CREW_H

#include "common/base/error.h"
#include "pipelines/child_restart.h"
#include "pipelines/memory_kill.h"
#include "pipelines/memory_shares.h"
#include "pipelines/run_folder.h"
#include "stages/engine/stage_list.h"
#include "store/queue/work_queue.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CREW_SIZE_MAX = 320, CREW_SILENCE_MS = 15000, CREW_FRESH_MS = 5000 };

struct crew_config {
    const struct run_folder *folder;
    const char *redis_url, *redis_password_file;
    int workers; /* of each stage, at most: what threads and memory are divided by */
    int workers_at_start;
    int threads; /* of all of a stage's workers together; 0: the cores */
    const struct memory_shares *shares;
    int64_t lease_ms;
    bool debug;             /* workers log everything */
    const char *only_stage; /* whose workers alone are started; NULL: all */
    /* How many units all workers have done; asked only when one of them ended badly. */
    int64_t (*units_done)(void *context);
    void *context;
};

/* What a worker is told of its part of the machine. */
struct crew_share {
    int threads, sharers;
    uint64_t memory_bytes;
};

struct crew_member {
    char name[WORKER_NAME_SIZE];
    int stage_index; /* in stage_loop */
    int number;      /* among the workers of that stage */
    char log_path[FILE_PATH_SIZE];
    uint64_t log_start; /* where its log ended when it was started last */
    pid_t pid;          /* 0: not running */
    bool finished;
    bool
        failed; /* it ended, or was not started, as it was not asked to: the next start is a restart */
    bool is_leaving;         /* taken back: it is not started again */
    bool is_renewed;         /* asked to end, to be started again with another share */
    struct crew_share share; /* that it was started with */
    struct child_restart restart;
    int64_t start_ms; /* when it is to be started again */
    int64_t beat_ms;  /* when a fresh heartbeat of it was seen last, since its start; 0: none yet */
};

struct stage_crew { /* {0} is empty */
    struct crew_config config;
    struct crew_member member[CREW_SIZE_MAX];
    int count;
    int sets; /* that are not taken back: the first `sets` of each stage */
    int restarts;
    struct crew_share share[STAGE_LOOP_COUNT];
    uint64_t run_bytes, least_bytes; /* as in memory_shares.h */
    struct memory_kill_watch kills;
};

MUST_CHECK enum error_code stage_crew_start(struct stage_crew *crew,
                                            const struct crew_config *config, struct error *err);
/* One more worker of each stage; there is room for config->workers. */
MUST_CHECK enum error_code stage_crew_add_set(struct stage_crew *crew, struct error *err);
/* One fewer, the last of each stage; there are two or more. They leave when their unit is done, which may take a while. */
void stage_crew_take_back_set(struct stage_crew *crew);
/* From now on `count[i]` workers of stage_loop[i], 1 or more (0: of a stage that has none), which divide memory as `shares` says. They
 * come and go in the calls of stage_crew_check(). Sets are no more. Fails: ERROR_INVALID for a path that is too long. */
MUST_CHECK enum error_code stage_crew_scale(struct stage_crew *crew,
                                            const int count[STAGE_LOOP_COUNT],
                                            const struct memory_shares *shares, struct error *err);
/* Workers of each stage that are not taken back. */
void stage_crew_count(const struct stage_crew *crew, int count[STAGE_LOOP_COUNT]);
/* Whether all who should be there gave a sign of life since their start, and who was taken back is gone. */
bool stage_crew_is_settled(const struct stage_crew *crew);
/* Workers that are not taken back. */
int stage_crew_size(const struct stage_crew *crew);
/* Takes note of who ended; starts replacements. *all_finished: every worker found the run finished.
 * Fails: with the code and last words of a worker that failed for good. */
MUST_CHECK enum error_code stage_crew_check(struct stage_crew *crew, bool *all_finished,
                                            struct error *err);
/* Kills, so that it is started again, who gave signs of life through the queue and gives none for CREW_SILENCE_MS while
 * others do: stopped, or on a host where its connection or its disk fails it for good. */
void stage_crew_heed_beats(struct stage_crew *crew, const struct worker_beat *beat, int count);
/* SIGTERM to all, SIGKILL to who is still there after CHILD_STOP_MS. */
void stage_crew_stop(struct stage_crew *crew);

#endif
