/*
 * work_queue - who does what next: streams, leases and heartbeats of one run in Redis.
 *
 * One stream for each stage, one consumer group "workers". Everything that changes state is a Lua
 * script on keys of one hash tag, {<run id>}. Redis holds names only, and nothing that storage does not
 * know: when it is empty, or of another life, the queue is rebuilt from storage (stages/chain.h).
 *
 *   {run}:life        text of this life of the queue, written by the rebuild that made it
 *   {run}:queue:<stage>   stream; one entry a unit, field "unit"
 *   {run}:queued      set of the units that are in a stream, or dead
 *   {run}:wait:<unit> set of the prerequisites of <unit> that are done
 *   {run}:count       hash <stage>:done, <stage>:retried, for status
 *   {run}:dead        stream of poison units: unit, reason, worker
 *   {run}:workers     set of the names of workers
 *   {run}:worker:<name>   hash with expiry: the worker's heartbeat
 *   {run}:rebuild     lock with expiry of the worker that rebuilds
 *
 * A lease is a hint; what makes double work harmless is that records are published whole and first wins.
 * The delivery count of a stream entry is the fencing token: complete and renew compare owner and count.
 *
 * Threads: one handle is for one thread; a program that renews while it works opens two.
 */
#ifndef STORE_WORK_QUEUE_H
#define STORE_WORK_QUEUE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORKER_NAME_SIZE = 64, CLAIM_ID_SIZE = 48, QUEUE_UNIT_SIZE = 64, STAGE_NAME_SIZE = 24 };

struct work_queue_config {
    const char *url;           /* redis://host:port[/db], or unix:PATH */
    const char *password_file; /* NULL: none */
    const char *run_id;
    const char *worker; /* unique among the live workers of a run */
    const char *stage;  /* whose stream this worker reads; NULL: none (driver) */
    int64_t lease_ms;   /* 0: 10,000 */
    int max_deliveries; /* 0: 3 */
};

struct work_queue;

/* Fails: ERROR_INVALID for a bad URL, ERROR_UNAVAILABLE when Redis cannot be reached. */
MUST_CHECK enum error_code work_queue_open(const struct work_queue_config *config,
                                           struct work_queue **out, struct error *err);
void work_queue_close(struct work_queue *queue);

struct work_claim {
    char unit[QUEUE_UNIT_SIZE];
    char id[CLAIM_ID_SIZE]; /* of the stream entry */
    int64_t delivery_count; /* the fencing token */
};

enum claim_result {
    CLAIM_UNIT,    /* *out is ours until the lease ends */
    CLAIM_NOTHING, /* nothing to do within block_ms */
    CLAIM_LOST,    /* the queue is empty of this run: rebuild it */
};

/* Takes the next unit: first what this worker name held before (a restarted worker), then what expired
 * from others, then new ones, waiting up to block_ms. A unit delivered more than max_deliveries times
 * goes to the dead list instead.
 * Fails: ERROR_UNAVAILABLE; the connection is made anew by the next call. */
MUST_CHECK enum error_code work_queue_claim(struct work_queue *queue, int64_t block_ms,
                                            enum claim_result *result, struct work_claim *out,
                                            struct error *err);

/* What a finished unit sets free: `unit` runs on `stage` once `prerequisite_count` are done. */
struct work_successor {
    char unit[QUEUE_UNIT_SIZE];
    char stage[STAGE_NAME_SIZE];
    int32_t prerequisite_count;
};

/* Marks the unit done and moves the chain, in one script. *done_count: units of the stage that were completed
 * since the queue was filled, this one included; 0 when the lease was lost, which is ERROR_NONE too: another
 * worker completes it. */
MUST_CHECK enum error_code work_queue_complete(struct work_queue *queue,
                                               const struct work_claim *claim,
                                               const struct work_successor *successor,
                                               int64_t successor_count, int64_t *done_count,
                                               struct error *err);
/* Keeps the lease. *fenced: it is lost. */
MUST_CHECK enum error_code work_queue_renew(struct work_queue *queue,
                                            const struct work_claim *claim, bool *fenced,
                                            struct error *err);
/* Takes the unit off the queue, undone: whoever finds that an input is missing gives it back, and
 * chain_rebuild() then lets it wait for that input. */
MUST_CHECK enum error_code work_queue_give_back(struct work_queue *queue,
                                                const struct work_claim *claim, bool *fenced,
                                                struct error *err);
/* Puts the unit on the dead list with `reason`, at once: for bad data, which no retry mends. */
MUST_CHECK enum error_code work_queue_bury(struct work_queue *queue, const struct work_claim *claim,
                                           const char *reason, struct error *err);
/* The first dead unit and its reason, or *found false. */
MUST_CHECK enum error_code work_queue_first_dead(struct work_queue *queue, bool *found,
                                                 char unit[QUEUE_UNIT_SIZE], char *reason,
                                                 size_t reason_size, struct error *err);

/* --- rebuild, by whoever finds the queue lost; see chain_rebuild() --- */

/* *won: this worker is to rebuild now; else another one does, and *alive says whether it is done. */
MUST_CHECK enum error_code work_queue_rebuild_begin(struct work_queue *queue, bool *won,
                                                    bool *alive, struct error *err);
/* One unit that is not done: its stage, how many prerequisites it has and which are done. Idempotent:
 * a unit that is queued already stays as it is. Fails: ERROR_BUSY when the rebuild was lost and has to be
 * begun again. */
MUST_CHECK enum error_code work_queue_restore(struct work_queue *queue,
                                              const struct work_successor *unit,
                                              const char (*done)[QUEUE_UNIT_SIZE],
                                              int64_t done_count, struct error *err);
/* The queue is whole again: sets its life and frees the lock. */
MUST_CHECK enum error_code work_queue_rebuild_end(struct work_queue *queue, struct error *err);
/* True when no unit is queued, leased or dead on any stage: with work left, the chain has lost a link. */
MUST_CHECK enum error_code work_queue_is_idle(struct work_queue *queue, bool *idle,
                                              struct error *err);
/* Removes every key of the run. */
MUST_CHECK enum error_code work_queue_wipe(struct work_queue *queue, struct error *err);

/* --- heartbeats and status --- */

struct worker_beat {
    char worker[WORKER_NAME_SIZE];
    char stage[STAGE_NAME_SIZE];
    char unit[QUEUE_UNIT_SIZE]; /* "" when idle */
    char host[64];
    int64_t pid, done, memory_bytes;
    double busy_share;  /* of its life so far */
    double age_seconds; /* since the beat was written, by Redis' clock; only when read */
};

MUST_CHECK enum error_code work_queue_beat(struct work_queue *queue, const struct worker_beat *beat,
                                           struct error *err);

struct stage_counts {
    int64_t waiting, leased, done, retried;
};

MUST_CHECK enum error_code work_queue_counts(struct work_queue *queue, const char *stage,
                                             struct stage_counts *out, struct error *err);
/* Fills up to `capacity` beats, sorted by stage and name. */
MUST_CHECK enum error_code work_queue_beats(struct work_queue *queue, struct worker_beat *out,
                                            int capacity, int *count, struct error *err);

#endif
