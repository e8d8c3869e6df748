/*
 * work_queue - decides which worker does which unit next: streams, leases and heartbeats of one run
 * in Redis.
 *
 * There is one stream for each stage, with one consumer group "workers". Every change of state is a
 * Lua script on keys with one hash tag, {<store identity>:<run id>}. Redis holds only names, and
 * nothing that the store does not know: what it loses is restored from the store
 * (stages/engine/queue_watch.h).
 *
 *   {tag}:life        text that identifies this filling of the queue; a rebuild writes it
 *   {tag}:queue:<stage>   stream; one entry for each unit, field "unit"
 *   {tag}:queued      hash: unit -> its entry in the stream, or dead:<its entry in the dead list>
 *   {tag}:wait:<unit> set of the prerequisites of <unit> that are done
 *   {tag}:count       hash <stage>:done, <stage>:retried, for status
 *   {tag}:crashed     hash: unit -> <times its worker died>@<units done by then>
 *   {tag}:dead        stream of units given up: unit, reason, worker
 *   {tag}:workers     set of the names of workers
 *   {tag}:worker:<name>   hash with expiry: the worker's heartbeat
 *   {tag}:driver      text with expiry: the driver that is at work
 *   {tag}:rebuild     lock with expiry of the worker that rebuilds
 *   {tag}:check       text with expiry: a worker compared queue and store recently
 *   {tag}:copy:<id>   text with expiry: the worker that runs a second copy of a slow unit
 *
 * When the run is finished, all of these expire, and those of waiting units are removed
 * (work_queue_retire).
 *
 * A lease is only a hint. Double work is harmless because records are published whole and the first
 * wins. The delivery count of a stream entry is the fencing token: complete and renew compare owner
 * and count.
 *
 * If a unit is not completed: a lease that ends passes it to another worker, any number of times,
 * because workers may be killed and stopped without end; bad data is buried at once with its reason
 * (work_queue_bury); a fault of the host hands the unit to other workers (work_queue_hand_back). A
 * unit whose worker dies again and again while no other unit is done is buried too, after
 * `crash_limit` deaths.
 *
 * Answers of Redis are not trusted (store/queue/queue_reply.h). A key of the wrong type, or
 * contents on which a script fails, empty the queue, which is then filled from the store.
 *
 * Threads: one handle is for one thread; a program that renews leases while it works opens two.
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
    const char *password_file; /* NULL if there is none */
    const char *store_id;      /* store_identity() */
    const char *run_id;
    const char *worker; /* unique among the live workers of a run */
    const char *stage;  /* the stream that this worker reads; NULL: none (driver) */
    int64_t lease_ms;   /* 0: 10,000 */
    int crash_limit;    /* 0: 20 */
};

struct work_queue;

/* Checks that the server can hold a queue, before there is anything to put into one. Fails:
 * ERROR_UNAVAILABLE when no server answers; ERROR_INVALID for a bad URL, a wrong password, a server
 * before 6.2, or one that evicts keys when its memory is full (maxmemory with a maxmemory-policy
 * other than noeviction). */
MUST_CHECK enum error_code work_queue_check_server(const char *url, const char *password_file,
                                                   struct error *err);

/* Opens a queue. A worker (`stage` given) accepts a server that evicts keys: the driver refuses
 * such a server at the start of a run, and a running run restores what is lost. Fails: as
 * work_queue_check_server(); ERROR_INVALID for names that are not allowed. */
MUST_CHECK enum error_code work_queue_open(const struct work_queue_config *config,
                                           struct work_queue **out, struct error *err);
void work_queue_close(struct work_queue *queue);

/* Checks that the server does not evict keys. Fails: ERROR_INVALID when it does;
 * ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code work_queue_check_policy(struct work_queue *queue, struct error *err);

struct work_claim {
    char unit[QUEUE_UNIT_SIZE];
    char id[CLAIM_ID_SIZE];       /* of the stream entry */
    int64_t delivery_count;       /* the fencing token */
    char owner[WORKER_NAME_SIZE]; /* holder of the lease: this worker, unless it is a copy */
    bool is_copy; /* a second copy of the unit that `owner` works on; the lease is not ours */
};

enum claim_result {
    CLAIM_UNIT,    /* *out is ours until the lease ends */
    CLAIM_NOTHING, /* nothing to do within block_ms */
    CLAIM_LOST,    /* Redis has nothing of this run: rebuild the queue */
    CLAIM_REFUSED, /* the entry out->id named no unit and was removed from the stream */
};

/* Takes the next unit. The order is: units that this worker name held before (it was restarted
 * after dying with the unit, which counts as a crash), units whose lease expired, new units. Waits
 * up to block_ms. A unit whose worker died crash_limit times in a row, with no unit of the run done
 * in between, is buried instead. Fails: ERROR_UNAVAILABLE; the next call makes a new connection. */
MUST_CHECK enum error_code work_queue_claim(struct work_queue *queue, int64_t block_ms,
                                            enum claim_result *result, struct work_claim *out,
                                            struct error *err);

/* A unit that a finished unit may release: `unit` runs on `stage` once `prerequisite_count` units
 * are done. */
struct work_successor {
    char unit[QUEUE_UNIT_SIZE];
    char stage[STAGE_NAME_SIZE];
    int32_t prerequisite_count;
};

/* Marks the unit done and queues the successors that are ready, in one script. *done_count is the
 * number of units of the stage that were completed since the queue was filled, this one included.
 * It is 0 if the lease was lost, which is not an error: another worker completes the unit. */
MUST_CHECK enum error_code work_queue_complete(struct work_queue *queue,
                                               const struct work_claim *claim,
                                               const struct work_successor *successor,
                                               int64_t successor_count, int64_t *done_count,
                                               struct error *err);
/* Extends the lease. *fenced says that it was lost. */
MUST_CHECK enum error_code work_queue_renew(struct work_queue *queue,
                                            const struct work_claim *claim, bool *fenced,
                                            struct error *err);
/* Takes the unit off the queue without completing it, because one of its inputs is missing;
 * chain_rebuild() then makes it wait for that input. Also for an entry that is not a unit of the
 * run. */
MUST_CHECK enum error_code work_queue_give_back(struct work_queue *queue,
                                                const struct work_claim *claim, bool *fenced,
                                                struct error *err);
/* Queues the unit again at once, for any worker, because this worker cannot do it now. */
MUST_CHECK enum error_code work_queue_hand_back(struct work_queue *queue,
                                                const struct work_claim *claim, bool *fenced,
                                                struct error *err);
/* Exchanges *claim for one of the next waiting units if the worker prefers it. `wanted` [count]
 * lists names, or prefixes that end with "/", best first; the first one that matches a waiting unit
 * decides. The unit that was held, and those that waited before the new one, go to the end of the
 * stream. *claim is unchanged if none matches, or if the lease was lost. `count` is at most
 * EXCHANGE_COUNT_MAX. */
enum { EXCHANGE_COUNT_MAX = 32 };
MUST_CHECK enum error_code work_queue_exchange(struct work_queue *queue, struct work_claim *claim,
                                               char (*wanted)[QUEUE_UNIT_SIZE], int count,
                                               struct error *err);
/* Puts the unit on the dead list with `reason`, at once. For bad data, which no retry cures. */
MUST_CHECK enum error_code work_queue_bury(struct work_queue *queue, const struct work_claim *claim,
                                           const char *reason, struct error *err);
/* Returns the first dead unit and its reason; *found is false if there is none. */
MUST_CHECK enum error_code work_queue_first_dead(struct work_queue *queue, bool *found,
                                                 char unit[QUEUE_UNIT_SIZE], char *reason,
                                                 size_t reason_size, struct error *err);
/* Removes the unit from the dead list, because it is done, or is no unit of the run. */
MUST_CHECK enum error_code work_queue_forget_dead(struct work_queue *queue, const char *unit,
                                                  struct error *err);

/* --- second copies of slow units --- */

struct held_unit {
    char id[CLAIM_ID_SIZE];
    char owner[WORKER_NAME_SIZE];
    int64_t delivery_count;
};

/* Lists up to `capacity` units of the worker's stage that are held by any worker. */
MUST_CHECK enum error_code work_queue_held(struct work_queue *queue, struct held_unit *out,
                                           int capacity, int *count, struct error *err);
/* Makes *out a second copy of a unit that another worker holds, unless a copy was begun within
 * `hold_ms` (*begun). The first of the two to finish completes it in the owner's name; the lease
 * stays with the owner. */
MUST_CHECK enum error_code work_queue_begin_copy(struct work_queue *queue,
                                                 const struct held_unit *held, int64_t hold_ms,
                                                 bool *begun, struct work_claim *out,
                                                 struct error *err);

/* --- rebuild, by the worker that finds the queue lost; see chain_rebuild() --- */

/* Starts a rebuild. *won: this worker rebuilds now. Otherwise another one does, and *alive says
 * whether it has finished. */
MUST_CHECK enum error_code work_queue_rebuild_begin(struct work_queue *queue, bool *won,
                                                    bool *alive, struct error *err);
/* Restores one unit that is not done: its stage, how many prerequisites it has and which of them
 * are done. Idempotent: a unit that is in its stream stays; one that is only marked as queued is
 * queued. Fails: ERROR_BUSY when the rebuild was lost and must be begun again. */
MUST_CHECK enum error_code work_queue_restore(struct work_queue *queue,
                                              const struct work_successor *unit,
                                              const char (*done)[QUEUE_UNIT_SIZE],
                                              int64_t done_count, struct error *err);
/* Returns how many units work_queue_restore() queued since the handle was opened. */
int64_t work_queue_restored_count(const struct work_queue *queue);
/* Ends the rebuild: writes the queue's life and frees the lock. */
MUST_CHECK enum error_code work_queue_rebuild_end(struct work_queue *queue, struct error *err);

/* A summary of the queue, to notice that nothing moves. */
struct queue_look {
    bool alive;
    bool may_check; /* nobody compared queue and store within the given period: the caller should */
    int64_t done;   /* units completed since the queue was filled */
    int64_t waiting, leased;
};

/* Reads the summary. `period_ms` 0 reads only the numbers and does not claim the check. */
MUST_CHECK enum error_code work_queue_look(struct work_queue *queue, const char *const *stage,
                                           int stage_count, int64_t period_ms,
                                           struct queue_look *out, struct error *err);
/* Registers the driver `token` as at work on this queue for the next `hold_ms`. *other says that
 * another one is. */
MUST_CHECK enum error_code work_queue_take_charge(struct work_queue *queue, const char *token,
                                                  int64_t hold_ms, bool *other, struct error *err);
/* Sets everything that Redis holds of a finished run to expire after `keep_ms`; until then it can
 * be inspected. If there is more to do after all, the lost queue is filled from the store as usual.
 * Any worker that finds the run finished may call it. */
MUST_CHECK enum error_code work_queue_retire(struct work_queue *queue, const char *const *stage,
                                             int stage_count, int64_t keep_ms, struct error *err);
/* Removes every key of the run. */
MUST_CHECK enum error_code work_queue_wipe(struct work_queue *queue, struct error *err);

/* --- heartbeats and status --- */

struct worker_beat {
    char worker[WORKER_NAME_SIZE];
    char stage[STAGE_NAME_SIZE];
    char unit[QUEUE_UNIT_SIZE]; /* "" if idle */
    char host[64];
    char note[128]; /* the reason why it cannot work; "" if there is none */
    int64_t pid, done, memory_bytes;
    double busy_share;  /* of its lifetime so far */
    double age_seconds; /* age of the beat by Redis' clock; only set when read */
};

MUST_CHECK enum error_code work_queue_beat(struct work_queue *queue, const struct worker_beat *beat,
                                           struct error *err);

struct stage_counts {
    int64_t waiting, leased, done, retried;
};

MUST_CHECK enum error_code work_queue_counts(struct work_queue *queue, const char *stage,
                                             struct stage_counts *out, struct error *err);
/* Lists up to `capacity` beats, sorted by stage and name. */
MUST_CHECK enum error_code work_queue_beats(struct work_queue *queue, struct worker_beat *out,
                                            int capacity, int *count, struct error *err);

#endif
