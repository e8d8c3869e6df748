/*
 * run_status - where a run stands: from storage always, and from Redis while one can be reached.
 */
#ifndef PIPELINES_RUN_STATUS_H
#define PIPELINES_RUN_STATUS_H

#include "common/base/error.h"
#include "pipelines/run_folder.h"
#include "pipelines/run_state.h"
#include "stages/engine/stage_list.h"
#include "stages/plan/chain.h"
#include "store/queue/work_queue.h"

#include <stdbool.h>
#include <stdint.h>

enum { BEAT_COUNT_MAX = 512 };

struct run_status { /* too large for a stack */
    struct chain_state chain;
    double gradient_error; /* of the newest snapshot's last round; 0: nothing is lost */
    double train_loss, valid_metric, best_metric;
    int64_t epoch;
    bool has_dataset, has_partition; /* before there is a run: some are in the store */
    bool has_state;                  /* a driver is at work in the folder, or ended early there */
    struct run_state state;
    char failed_stage[32];      /* the one that cannot go on, "" when none says so */
    char failure[768];          /* ... and why */
    char redis[FILE_PATH_SIZE]; /* the one that was asked, "" when none is known */
    bool connected;             /* it answered: the rest is from there */
    struct stage_counts counts[STAGE_LOOP_COUNT];
    struct worker_beat beat[BEAT_COUNT_MAX];
    int beat_count;
};

/* As run_folder_open(); but where ingest or partition is at work, or was, there is no run yet, and the plan has no id.
 * `path` may be the address of a store. */
MUST_CHECK enum error_code run_status_open(struct run_folder *folder, const char *path,
                                           const char *run_id, struct error *err);
/* `redis`: its URL; NULL: the private one of the folder, or the one that the folder was started with. That it cannot be reached
 * is no failure. Fails: ERROR_CORRUPT, ERROR_IO. */
MUST_CHECK enum error_code run_status_read(const struct run_folder *folder, const char *redis,
                                           const char *redis_password_file,
                                           struct run_status *status, struct error *err);
/* "ingest", "partition", "training", "inferring", "finished", "failed", "stopped" (by a person, or killed), "waiting for
 * workers" or "not running" (nothing is known of workers). */
const char *run_status_word(const struct run_status *status);
/* What the queue counts of a stage; NULL without a queue, and of a stage that is not in it. Lives as long as `status`. */
const struct stage_counts *run_status_counts(const struct run_status *status, const char *stage);
/* Of one stage, by its name: "done", "at work", "waiting", "failed", "stopped", "lost" or "not running". */
const char *run_status_stage(const struct run_folder *folder, const struct run_status *status,
                             const char *stage);

#endif
