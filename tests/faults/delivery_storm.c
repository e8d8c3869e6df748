/*
 * delivery_storm - units of a work queue delivered twice, completed twice, late and out of order: each is to count once.
 *
 *   delivery_storm URL DELIVERIES SEED      prints a line of JSON; status 1 when something counted other than once
 *
 * Each round fills a queue of its own with units of a stage "first". Four of them set free one of "second". Threads
 * claim units; of twenty claims
 *
 *   three are handed back and two abandoned, so that their leases end: somebody else gets them as well
 *   six are completed twice, the second time at once or much later, from a pile of old claims
 *
 * A completion counts when the queue says so. Every unit must count exactly once, and none of "second" be delivered
 * before its four have counted. */
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "store/work_queue.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_COUNT = 8000,
    GROUP = 4,
    SECOND_COUNT = FIRST_COUNT / GROUP,
    UNIT_COUNT = FIRST_COUNT + SECOND_COUNT,
    THREAD_COUNT = 8,
    HANDLE_COUNT =
        2, /* names of a worker: while a claim of one is abandoned it works under the other */
    PILE_SIZE = 64,
    LEASE_MS = 100,
    HANG_MS = 30000,
};
static const char *const stage_name[] = {"first", "second"};

struct storm {
    const char *url;
    uint64_t seed;
    char run_id[32];
    _Atomic uint32_t delivered[UNIT_COUNT], counted[UNIT_COUNT];
    _Atomic int64_t left; /* units of this round that have not counted */
    _Atomic int64_t deliveries, again, repeated, too_early, failures;
};

struct worker {
    struct storm *storm;
    pthread_t thread;
    int number;
    uint64_t random;
    struct work_queue *queue[HANDLE_COUNT];
    struct {
        struct work_claim claim;
        int handle;
    } pile[PILE_SIZE];
    uint64_t piled;
};

/* xorshift64*; which thread gets which unit is up to the machine, so a seed repeats the mix alone. */
static uint32_t draw(struct worker *w, uint32_t bound)
{
    w->random ^= w->random >> 12;
    w->random ^= w->random << 25;
    w->random ^= w->random >> 27;
    return (uint32_t)((w->random * 0x2545F4914F6CDD1DU) >> 32) % bound;
}

static void fail(struct storm *storm, const char *what, const struct error *err)
{
    atomic_fetch_add(&storm->failures, 1);
    (void)fprintf(stderr, "delivery_storm: %s: %s\n", what, err->message);
}

static void name_unit(int index, struct work_successor *out)
{
    const int stage = index >= FIRST_COUNT;
    *out = (struct work_successor){.prerequisite_count = stage ? GROUP : 0};
    (void)snprintf(out->stage, sizeof out->stage, "%s", stage_name[stage]);
    (void)snprintf(out->unit, sizeof out->unit, "%s/%d", stage_name[stage],
                   stage ? index - FIRST_COUNT : index);
}

static int index_of(const char *unit)
{
    const char *slash = strchr(unit, '/');
    const int number = slash ? (int)strtol(slash + 1, NULL, 10) : 0;
    return unit[0] == 'f' ? number : FIRST_COUNT + number;
}

static struct work_queue *open_queue(struct storm *storm, const char *worker, const char *stage)
{
    struct error err = {0};
    struct work_queue *queue = NULL;
    const struct work_queue_config config = {.url = storm->url,
                                             .store_id = "storm",
                                             .run_id = storm->run_id,
                                             .worker = worker,
                                             .stage = stage,
                                             .lease_ms = LEASE_MS};
    if (work_queue_open(&config, &queue, &err) != ERROR_NONE)
        fail(storm, "opening the queue", &err);
    return queue;
}

static void complete(struct worker *w, int handle, const struct work_claim *claim)
{
    struct error err = {0};
    struct work_successor next = {0};
    int64_t done_count = 0;
    const int index = index_of(claim->unit);
    const bool has_next = index < FIRST_COUNT;
    if (has_next)
        name_unit(FIRST_COUNT + index / GROUP, &next);
    /* Before the call: a successor may be delivered to another thread while the answer is on its way. */
    atomic_fetch_add(&w->storm->counted[index], 1);
    if (work_queue_complete(w->queue[handle], claim, &next, has_next, &done_count, &err) !=
        ERROR_NONE)
        fail(w->storm, "completing", &err);
    if (done_count == 0)
        atomic_fetch_sub(&w->storm->counted[index], 1);
    else
        atomic_fetch_sub(&w->storm->left, 1);
}

/* Once more, what was completed or lost long ago. */
static void repeat_old(struct worker *w)
{
    const uint64_t held = w->piled < PILE_SIZE ? w->piled : PILE_SIZE;
    if (held == 0)
        return;
    const uint32_t at = draw(w, (uint32_t)held);
    atomic_fetch_add(&w->storm->repeated, 1);
    complete(w, w->pile[at].handle, &w->pile[at].claim);
}

static void keep(struct worker *w, int handle, const struct work_claim *claim)
{
    const uint64_t at = w->piled++ % PILE_SIZE;
    w->pile[at].claim = *claim;
    w->pile[at].handle = handle;
}

static void check_delivery(struct worker *w, const struct work_claim *claim)
{
    struct storm *storm = w->storm;
    const int index = index_of(claim->unit);
    atomic_fetch_add(&storm->deliveries, 1);
    if (atomic_fetch_add(&storm->delivered[index], 1) > 0)
        atomic_fetch_add(&storm->again, 1);
    for (int i = 0; index >= FIRST_COUNT && i < GROUP; i++)
        if (atomic_load(&storm->counted[(index - FIRST_COUNT) * GROUP + i]) == 0)
            atomic_fetch_add(&storm->too_early, 1);
}

/* Works under the next name when it abandoned a claim of this one. */
static int work(struct worker *w, int handle, const struct work_claim *claim)
{
    struct error err = {0};
    bool fenced = false;
    check_delivery(w, claim);
    keep(w, handle, claim);
    const uint32_t fate = draw(w, 20);
    if (fate < 3) {
        if (work_queue_hand_back(w->queue[handle], claim, &fenced, &err) != ERROR_NONE)
            fail(w->storm, "handing back", &err);
        return handle;
    }
    if (fate < 5)
        return (handle + 1) % HANDLE_COUNT;
    complete(w, handle, claim);
    if (fate < 8) {
        atomic_fetch_add(&w->storm->repeated, 1);
        complete(w, handle, claim);
    } else if (fate < 11) {
        repeat_old(w);
    }
    return handle;
}

static void *run_worker(void *context)
{
    struct worker *w = context;
    int handle = 0;
    int64_t until = clock_ms() + HANG_MS, seen = 0;
    while (atomic_load(&w->storm->left) > 0 && atomic_load(&w->storm->failures) == 0) {
        struct error err = {0};
        struct work_claim claim;
        enum claim_result result = CLAIM_NOTHING;
        if (work_queue_claim(w->queue[handle], 20, &result, &claim, &err) != ERROR_NONE)
            fail(w->storm, "claiming", &err);
        else if (result == CLAIM_UNIT)
            handle = work(w, handle, &claim);
        else if (result != CLAIM_NOTHING)
            fail(w->storm, "claiming: the queue is lost or an entry refused", &err);
        const int64_t left = atomic_load(&w->storm->left);
        if (left != seen)
            until = clock_ms() + HANG_MS;
        else if (clock_ms() > until)
            fail(w->storm, "nothing has counted for 30 s", &err);
        seen = left;
    }
    return NULL;
}

static void fill(struct storm *storm)
{
    struct error err = {0};
    bool won = false, alive = true;
    struct work_queue *queue = open_queue(storm, "filler", NULL);
    if (!queue)
        return;
    enum error_code rc = work_queue_rebuild_begin(queue, &won, &alive, &err);
    for (int i = 0; rc == ERROR_NONE && i < FIRST_COUNT; i++) {
        struct work_successor unit;
        name_unit(i, &unit);
        rc = work_queue_restore(queue, &unit, NULL, 0, &err);
    }
    if (rc == ERROR_NONE)
        rc = work_queue_rebuild_end(queue, &err);
    if (rc != ERROR_NONE || !won)
        fail(storm, "filling the queue", &err);
    work_queue_close(queue);
}

static void empty(struct storm *storm)
{
    struct error err = {0};
    struct work_queue *queue = open_queue(storm, "filler", NULL);
    if (queue && work_queue_wipe(queue, &err) != ERROR_NONE)
        fail(storm, "emptying the queue", &err);
    work_queue_close(queue);
}

static void begin_worker(struct worker *w, struct storm *storm, int number)
{
    *w = (struct worker){.storm = storm, .number = number};
    w->random = (storm->seed + 1) * 0x9E3779B97F4A7C15U ^ (uint64_t)(number + 1) << 32;
    for (int i = 0; i < HANDLE_COUNT; i++) {
        char name[WORKER_NAME_SIZE];
        (void)snprintf(name, sizeof name, "worker-%d-%d", number, i);
        w->queue[i] = open_queue(storm, name, stage_name[number % 2]);
    }
}

/* Units that counted other than once. */
static int64_t run_round(struct storm *storm, struct worker *workers)
{
    int64_t wrong = 0;
    for (int i = 0; i < UNIT_COUNT; i++) {
        atomic_store(&storm->delivered[i], 0);
        atomic_store(&storm->counted[i], 0);
    }
    atomic_store(&storm->left, UNIT_COUNT);
    fill(storm);
    for (int i = 0; i < THREAD_COUNT; i++)
        begin_worker(&workers[i], storm, i);
    for (int i = 0; i < THREAD_COUNT && atomic_load(&storm->failures) == 0; i++)
        if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) != 0)
            abort();
    for (int i = 0; i < THREAD_COUNT; i++)
        if (workers[i].thread)
            (void)pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREAD_COUNT; i++)
        repeat_old(&workers[i]);
    for (int i = 0; i < UNIT_COUNT; i++)
        wrong += atomic_load(&storm->counted[i]) != 1;
    for (int i = 0; i < THREAD_COUNT; i++)
        for (int handle = 0; handle < HANDLE_COUNT; handle++)
            work_queue_close(workers[i].queue[handle]);
    empty(storm);
    return wrong;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    struct storm *storm = NULL;
    struct worker *workers = NULL;
    if (argc != 4) {
        (void)fprintf(stderr, "usage: delivery_storm URL DELIVERIES SEED\n");
        return 64;
    }
    if (memory_new(&storm, 1, "the storm", &err) != ERROR_NONE ||
        memory_new(&workers, THREAD_COUNT, "the workers", &err) != ERROR_NONE)
        return 71;
    const int64_t wanted = strtoll(argv[2], NULL, 10);
    int64_t wrong = 0, units = 0;
    storm->url = argv[1];
    storm->seed = strtoull(argv[3], NULL, 10);
    for (int round = 0;
         atomic_load(&storm->deliveries) < wanted && atomic_load(&storm->failures) == 0; round++) {
        (void)snprintf(storm->run_id, sizeof storm->run_id, "storm-%d", round);
        wrong += run_round(storm, workers);
        units += UNIT_COUNT;
    }
    const int64_t too_early = atomic_load(&storm->too_early),
                  failures = atomic_load(&storm->failures);
    printf("{\"deliveries\":%" PRId64 ",\"again\":%" PRId64 ",\"repeated\":%" PRId64
           ",\"units\":%" PRId64 ",\"wrong\":%" PRId64 ",\"too_early\":%" PRId64
           ",\"failures\":%" PRId64 "}\n",
           atomic_load(&storm->deliveries), atomic_load(&storm->again),
           atomic_load(&storm->repeated), units, wrong, too_early, failures);
    memory_free(workers);
    memory_free(storm);
    return wrong || too_early || failures ? 1 : 0;
}
