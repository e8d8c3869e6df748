/*
 * run_status - the status of a run: always from storage, and from Redis too if it can be reached.
 */
#ifndef PIPELINES_QUESTIONS_RUN_STATUS_H
#define PIPELINES_QUESTIONS_RUN_STATUS_H

#include "common/base/error.h"
#include "pipelines/shared/run_folder.h"
#include "pipelines/shared/run_state.h"
#include "stages/engine/stage_list.h"
#include "stages/plan/chain/chain.h"
#include "store/queue/work_queue.h"

#include <stdbool.h>
#include <stdint.h>

enum { BEAT_COUNT_MAX = 512 };

struct run_status { /* too large for a stack */
    struct chain_state chain;
    /* quantisation error in the newest snapshot's last round; 0: gradients are exact */
    double gradient_error;
    double train_loss, valid_metric, best_metric;
    int64_t epoch;
    bool has_dataset, has_partition; /* set before there is a run: the store has one */
    bool has_state;                  /* a driver is running in the folder, or ended early there */
    struct run_state state;
    char failed_stage[32];      /* the stage that cannot continue; "" if none reported that */
    char failure[768];          /* and the reason */
    char redis[FILE_PATH_SIZE]; /* the Redis that was asked; "" if none is known */
    bool connected;             /* Redis answered, so the fields below are set */
    struct stage_counts counts[STAGE_LOOP_COUNT];
    struct worker_beat beat[BEAT_COUNT_MAX];
    int beat_count;
};

/* Does the same as run_folder_open(), but accepts a folder in which ingest or partition is running,
 * or was: there is no run yet, and the plan has no id. `path` may be the address of a store. */
MUST_CHECK enum error_code run_status_open(struct run_folder *folder, const char *path,
                                           const char *run_id, struct error *err);
/* Reads the status. `redis` is a URL; NULL selects the private Redis of the folder, or the one that
 * the run was started with. It is no failure if Redis cannot be reached. Fails: ERROR_CORRUPT,
 * ERROR_IO. */
MUST_CHECK enum error_code run_status_read(const struct run_folder *folder, const char *redis,
                                           const char *redis_password_file,
                                           struct run_status *status, struct error *err);
/* Returns "ingest", "partition", "training", "inferring", "finished", "failed", "stopped" (by a
 * person, or killed), "waiting for workers", or "not running" (nothing is known of workers). */
const char *run_status_word(const struct run_status *status);
/* Returns the counts of the queue for a stage; NULL without a queue, or if the queue does not have
 * the stage. Valid as long as `status`. */
const struct stage_counts *run_status_counts(const struct run_status *status, const char *stage);
/* Returns the state of the named stage: "done", "at work", "waiting", "failed", "stopped", "lost"
 * or "not running". */
const char *run_status_stage(const struct run_folder *folder, const struct run_status *status,
                             const char *stage);

#endif
