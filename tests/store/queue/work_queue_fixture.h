/* work_queue_fixture - a queue of a run in a real Redis, and one-line forms of its calls. */
#ifndef TESTS_STORE_QUEUE_WORK_QUEUE_FIXTURE_H
#define TESTS_STORE_QUEUE_WORK_QUEUE_FIXTURE_H

#include "store/queue/work_queue.h"

#include "tests/support/redis_fixture.h"
#include "tests/support/test.h"

#include <stdio.h>

enum { SHORT_LEASE_MS = 150 };

static inline struct work_queue *open_queue_of(void **state, const char *store_id,
                                               const char *worker, const char *stage,
                                               int64_t lease_ms)
{
    const struct redis_fixture *fixture = *state;
    struct error err = {0};
    struct work_queue *queue = NULL;
    const struct work_queue_config config = {
        .url = redis_server_url(fixture->server),
        .store_id = store_id,
        .run_id = "cora-1",
        .worker = worker,
        .stage = stage,
        .lease_ms = lease_ms,
    };
    assert_ok(work_queue_open(&config, &queue, &err), &err);
    return queue;
}

static inline struct work_queue *open_queue(void **state, const char *worker, const char *stage,
                                            int64_t lease_ms)
{
    return open_queue_of(state, "store-1", worker, stage, lease_ms);
}

static inline struct work_successor unit_of(const char *unit, const char *stage,
                                            int32_t prerequisites)
{
    struct work_successor entry = {.prerequisite_count = prerequisites};
    (void)snprintf(entry.unit, sizeof entry.unit, "%s", unit);
    (void)snprintf(entry.stage, sizeof entry.stage, "%s", stage);
    return entry;
}

static inline void restore(struct work_queue *queue, const char *unit, const char *stage)
{
    struct error err = {0};
    const struct work_successor entry = unit_of(unit, stage, 0);
    assert_ok(work_queue_restore(queue, &entry, NULL, 0, &err), &err);
}

/* Fills the queue with `count` units sample/0/<i> and gives it a life. */
static inline void fill(struct work_queue *queue, int count)
{
    struct error err = {0};
    bool won = false, alive = true;
    assert_ok(work_queue_rebuild_begin(queue, &won, &alive, &err), &err);
    assert_true(won);
    assert_false(alive);
    for (int i = 0; i < count; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "sample/0/%d", i);
        restore(queue, name, "sample");
    }
    assert_ok(work_queue_rebuild_end(queue, &err), &err);
}

static inline enum claim_result claim(struct work_queue *queue, struct work_claim *out)
{
    struct error err = {0};
    enum claim_result result = CLAIM_NOTHING;
    assert_ok(work_queue_claim(queue, 0, &result, out, &err), &err);
    return result;
}

static inline bool complete(struct work_queue *queue, const struct work_claim *of,
                            const struct work_successor *successor, int64_t count)
{
    struct error err = {0};
    int64_t done_count = 0;
    assert_ok(work_queue_complete(queue, of, successor, count, &done_count, &err), &err);
    return done_count > 0;
}

static inline struct stage_counts counts_of(struct work_queue *queue, const char *stage)
{
    struct error err = {0};
    struct stage_counts counts = {0};
    assert_ok(work_queue_counts(queue, stage, &counts, &err), &err);
    return counts;
}

static inline bool idle(struct work_queue *queue)
{
    struct error err = {0};
    const char *const stage[] = {"sample", "train-step", "aggregate"};
    struct queue_look look = {0};
    assert_ok(work_queue_look(queue, stage, 3, 0, &look, &err), &err);
    return look.waiting + look.leased == 0;
}

#define NEED_REDIS(state)                                                                          \
    do {                                                                                           \
        if (!((const struct redis_fixture *)*(state))->server)                                     \
            skip();                                                                                \
    } while (0)

#define WITH_REDIS(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, redis_fixture_set_up, redis_fixture_tear_down)

#endif
