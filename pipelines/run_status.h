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
    bool has_state; /* the driver is, or was when it died, in a stage before the run */
    struct run_state state;
    bool connected; /* the rest is from Redis */
    struct stage_counts counts[STAGE_LOOP_COUNT];
    struct worker_beat beat[BEAT_COUNT_MAX];
    int beat_count;
};

/* As run_folder_open(); but a folder in which ingest or partition is at work has no run yet, and gets a plan without an id. */
MUST_CHECK enum error_code run_status_open(struct run_folder *folder, const char *path,
                                           const char *run_id, struct error *err);
/* `redis`: its URL; NULL: the private one of the folder. That it cannot be reached is no failure. Fails: ERROR_CORRUPT,
 * ERROR_IO. */
MUST_CHECK enum error_code run_status_read(const struct run_folder *folder, const char *redis,
                                           const char *redis_password_file,
                                           struct run_status *status, struct error *err);
/* "ingest", "partition", "training", "inferring", "finished" or "not running". */
const char *run_status_word(const struct run_status *status);

#endif
