/*
 * work_queue - who does what next: streams, leases and heartbeats of one run in Redis.
 *
 * One stream for each stage, one consumer group "workers". Everything that changes state is a Lua
 * script on keys of one hash tag, {<store identity>:<run id>}. Redis holds names only, and nothing that storage
 * does not know: what is lost of it, all or a part, is put back from storage (stages/engine/queue_watch.h).
 *
 *   {tag}:life        text of this life of the queue, written by the rebuild that made it
 *   {tag}:queue:<stage>   stream; one entry a unit, field "unit"
 *   {tag}:queued      hash: unit -> its entry in the stream, or dead:<its entry in the dead list>
 *   {tag}:wait:<unit> set of the prerequisites of <unit> that are done
 *   {tag}:count       hash <stage>:done, <stage>:retried, for status
 *   {tag}:crashed     hash: unit -> <times its worker died>@<units done by then>
 *   {tag}:dead        stream of units given up: unit, reason, worker
 *   {tag}:workers     set of the names of workers
 *   {tag}:worker:<name>   hash with expiry: the worker's heartbeat
 *   {tag}:driver      text with expiry: the driver that is at work
 *   {tag}:rebuild     lock with expiry of the worker that rebuilds
 *   {tag}:check       text with expiry: somebody compared queue and storage just now
 *   {tag}:copy:<id>   text with expiry: who makes a second copy of a slow worker's unit
 *
 * When the run is finished all of these expire, and those of what waited are removed (work_queue_retire).
 *
 * A lease is a hint; what makes double work harmless is that records are published whole and first wins.
 * The delivery count of a stream entry is the fencing token: complete and renew compare owner and count.
 *
 * What becomes of a unit that is not completed: a lease that ends passes it to another worker, any number of
 * times, for workers may be killed and stopped without end; bad data is buried at once with its reason
 * (work_queue_bury); a fault of the host hands the unit to other workers (work_queue_hand_back). A unit whose worker
 * dies with it again and again while nothing else is done is buried too, after `crash_limit` deaths.
 *
 * Answers of Redis are not trusted (store/queue/queue_reply.h). A key of the wrong type, or contents on which a script
 * fails, empty the queue: it is then filled from storage.
 *
 * Threads: one handle is for one thread; a program that renews while it works opens two.
 */
#ifndef STORE_QUEUE_WORK_QUEUE_H
#define STORE_QUEUE_WORK_QUEUE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORKER_NAME_SIZE = 64, CLAIM_ID_SIZE = 48, QUEUE_UNIT_SIZE = 64, STAGE_NAME_SIZE = 24 };

struct work_queue_config {
    const char *url;           /* store/redis/redis_address.h */
    const char *password_file; /* NULL: none */
    const char *store_id;      /* store_identity() */
    const char *run_id;
    const char *worker; /* unique among the live workers of a run */
    const char *stage;  /* whose stream this worker reads; NULL: none (driver) */
    int64_t lease_ms;   /* 0: 10,000 */
    int crash_limit;    /* 0: 20 */
};

struct work_queue;

/* Whether the server can hold a queue, said before there is anything to put into one.
 * Fails: ERROR_UNAVAILABLE when nobody answers there, ERROR_INVALID for a bad URL, a wrong password, a server before 6.2, or one that
 * throws keys away when its memory is full (maxmemory with a maxmemory-policy other than noeviction). */
MUST_CHECK enum error_code work_queue_check_server(const char *url, const char *password_file,
                                                   struct error *err);

/* Fails: as work_queue_check_server(); ERROR_INVALID for names that are none. A worker (`stage` given) joins a server
 * that throws keys away: who starts a run refuses such a one, and a run that lives heals what it loses. */
MUST_CHECK enum error_code work_queue_open(const struct work_queue_config *config,
                                           struct work_queue **out, struct error *err);
void work_queue_close(struct work_queue *queue);

/* Fails: ERROR_INVALID when the server throws keys away; ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code work_queue_check_policy(struct work_queue *queue, struct error *err);

struct work_claim {
    char unit[QUEUE_UNIT_SIZE];
    char id[CLAIM_ID_SIZE];       /* of the stream entry */
    int64_t delivery_count;       /* the fencing token */
    char owner[WORKER_NAME_SIZE]; /* who holds the lease: this worker, but for a copy */
    bool is_copy; /* a second copy of what `owner` works on: its lease is not ours */
};

enum claim_result {
    CLAIM_UNIT,    /* *out is ours until the lease ends */
    CLAIM_NOTHING, /* nothing to do within block_ms */
    CLAIM_LOST,    /* the queue is empty of this run: rebuild it */
    CLAIM_REFUSED, /* an entry that names no unit was taken off the stream; out->id says which */
};

/* Takes the next unit: first what this worker name held before (a restarted worker: it died with the unit in
 * hand, which counts as a crash), then what expired from others, then new ones, waiting up to block_ms. A unit whose
 * worker died crash_limit times in a row, with no unit of the run done in between, goes to the dead list instead.
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
 * chain_rebuild() then lets it wait for that input. Also for an entry that is no unit of the run. */
MUST_CHECK enum error_code work_queue_give_back(struct work_queue *queue,
                                                const struct work_claim *claim, bool *fenced,
                                                struct error *err);
/* Queues the unit anew, for any worker, at once: it is as good as it was, this worker cannot do it now. */
MUST_CHECK enum error_code work_queue_hand_back(struct work_queue *queue,
                                                const struct work_claim *claim, bool *fenced,
                                                struct error *err);
/* Gives *claim for one of the next units that wait, for a worker that would rather do it: `wanted` [count] are names, or
 * beginnings of names that end with "/", the best first, and the first that any of the units has counts. What was held, and what waited before that one, goes to the end of
 * the line. *claim stays as it is when there is none such, or when it is not held any more. At most EXCHANGE_COUNT_MAX of them. */
enum { EXCHANGE_COUNT_MAX = 32 };
MUST_CHECK enum error_code work_queue_exchange(struct work_queue *queue, struct work_claim *claim,
                                               char (*wanted)[QUEUE_UNIT_SIZE], int count,
                                               struct error *err);
/* Puts the unit on the dead list with `reason`, at once: for bad data, which no retry mends. */
MUST_CHECK enum error_code work_queue_bury(struct work_queue *queue, const struct work_claim *claim,
                                           const char *reason, struct error *err);
/* The first dead unit and its reason, or *found false. */
MUST_CHECK enum error_code work_queue_first_dead(struct work_queue *queue, bool *found,
                                                 char unit[QUEUE_UNIT_SIZE], char *reason,
                                                 size_t reason_size, struct error *err);
/* The unit is not dead after all: it is done, or no unit of the run. */
MUST_CHECK enum error_code work_queue_forget_dead(struct work_queue *queue, const char *unit,
                                                  struct error *err);

/* --- second copies of slow units --- */

struct held_unit {
    char id[CLAIM_ID_SIZE];
    char owner[WORKER_NAME_SIZE];
    int64_t delivery_count;
};

/* Up to `capacity` units of the worker's stage that somebody holds. */
MUST_CHECK enum error_code work_queue_held(struct work_queue *queue, struct held_unit *out,
                                           int capacity, int *count, struct error *err);
/* Makes *out a second copy of what another worker holds, unless a copy was begun within `hold_ms` (*begun). It is
 * completed in the owner's name, by whoever is first; the lease stays where it is. */
MUST_CHECK enum error_code work_queue_begin_copy(struct work_queue *queue,
                                                 const struct held_unit *held, int64_t hold_ms,
                                                 bool *begun, struct work_claim *out,
                                                 struct error *err);

/* --- rebuild, by whoever finds the queue lost; see chain_rebuild() --- */

/* *won: this worker is to rebuild now; else another one does, and *alive says whether it is done. */
MUST_CHECK enum error_code work_queue_rebuild_begin(struct work_queue *queue, bool *won,
                                                    bool *alive, struct error *err);
/* One unit that is not done: its stage, how many prerequisites it has and which are done. Idempotent: a unit that
 * stands in its stream, where a worker can get it or has it, stays as it is; one that is only said to be queued is
 * queued. Fails: ERROR_BUSY when the rebuild was lost and has to be begun again. */
MUST_CHECK enum error_code work_queue_restore(struct work_queue *queue,
                                              const struct work_successor *unit,
                                              const char (*done)[QUEUE_UNIT_SIZE],
                                              int64_t done_count, struct error *err);
/* Units that work_queue_restore() queued since the handle was opened. */
int64_t work_queue_restored_count(const struct work_queue *queue);
/* The queue is whole again: sets its life and frees the lock. */
MUST_CHECK enum error_code work_queue_rebuild_end(struct work_queue *queue, struct error *err);

/* The queue at one glance, to tell whether anything moves. */
struct queue_look {
    bool alive;
    bool
        may_check; /* nobody compared queue and storage within the period that was asked for: do it */
    int64_t done; /* units completed since the queue was filled */
    int64_t waiting, leased;
};

/* `period_ms` 0: asks for nothing but the numbers. */
MUST_CHECK enum error_code work_queue_look(struct work_queue *queue, const char *const *stage,
                                           int stage_count, int64_t period_ms,
                                           struct queue_look *out, struct error *err);
/* The driver `token` is at work on this queue for the next `hold_ms`. *other: another one is. */
MUST_CHECK enum error_code work_queue_take_charge(struct work_queue *queue, const char *token,
                                                  int64_t hold_ms, bool *other, struct error *err);
/* The run is finished: what Redis holds of it goes in `keep_ms`, until when it can be looked at. Where there is more to do after
 * all, a queue that is lost is filled from storage, as ever. Whoever finds the run finished may call it. */
MUST_CHECK enum error_code work_queue_retire(struct work_queue *queue, const char *const *stage,
                                             int stage_count, int64_t keep_ms, struct error *err);
/* Removes every key of the run. */
MUST_CHECK enum error_code work_queue_wipe(struct work_queue *queue, struct error *err);

/* --- heartbeats and status --- */

struct worker_beat {
    char worker[WORKER_NAME_SIZE];
    char stage[STAGE_NAME_SIZE];
    char unit[QUEUE_UNIT_SIZE]; /* "" when idle */
    char host[64];
    char note[128]; /* what keeps it from working, "" when nothing does */
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
