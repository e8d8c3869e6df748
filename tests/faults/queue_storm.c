/*
 * queue_storm - hundreds of thousands of duplicated, reordered, late and stolen deliveries through
 * a private real redis-server.
 *
 *   queue_storm [deliveries]     prints one line: name=value ...; status 1 when a promise was
 *                                broken
 *
 * It is a toy run of many rounds: each slot has a sample, a train-step after the sample and the
 * round before are done, and the round has an aggregate after all its train-steps. Records are
 * flags in memory. Workers claim and complete like work_loop. At random they add a second entry for
 * their unit, put it back at the end of the line, hold it longer than its lease, or repeat an
 * earlier report, as a rebuild while workers are running does. SEED=n repeats the draws.
 *
 * Promises: every unit is done once (its record is made, and by one worker); no unit is delivered
 * before its dependencies are done; no entry is completed twice; nothing is lost, so no unit ever
 * has to be rescued.
 */
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "store/queue/redis_server.h"
#include "store/queue/work_queue.h"
#include "store/redis/redis_connection.h"

#include "tests/support/redis_fixture.h"
#include "tests/support/temp_dir.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SLOTS = 8,
    UNITS_OF_ROUND = 2 * SLOTS + 1,
    WORKERS = 4,
    LEASE_MS = 150,
    STUCK_MS = 10000,
    DUPLICATED_PERCENT = 30,
    PUT_BACK_PERCENT = 5,
    TOLD_AGAIN_PERCENT = 2,
    LATE_PER_10000 = 3,
    DELIVERIES = 20000,
};

enum kind { SAMPLE, TRAIN_STEP, AGGREGATE };

static const char *const stage_name[] = {"sample", "train-step", "aggregate"};
static const enum kind worker_kind[WORKERS] = {SAMPLE, TRAIN_STEP, TRAIN_STEP, AGGREGATE};

struct toy_unit {
    int64_t round;
    enum kind kind;
    int slot;
};

static struct storm {
    const char *url;
    int64_t rounds;
    atomic_uchar *made;      /* [rounds * UNITS_OF_ROUND], the records */
    atomic_uchar *delivered; /* same shape: whether it was ever delivered */
    atomic_int_least64_t made_count, deliveries, duplicates, put_back, late, told_again, fenced;
    atomic_int_least64_t early, completed_twice, strange, rescued;
    atomic_bool over;
    unsigned seed;
} storm;

/* --- the toy run --- */

static int64_t index_of(const struct toy_unit *unit)
{
    const int64_t first = unit->round * UNITS_OF_ROUND;
    return unit->kind == AGGREGATE ? first + UNITS_OF_ROUND - 1
                                   : first + (int64_t)unit->kind * SLOTS + unit->slot;
}

static bool is_made(enum kind kind, int64_t round, int slot)
{
    const struct toy_unit unit = {round, kind, slot};
    return atomic_load(&storm.made[index_of(&unit)]) != 0;
}

static void name_unit(const struct toy_unit *unit, char name[QUEUE_UNIT_SIZE])
{
    (void)snprintf(name, QUEUE_UNIT_SIZE, "%s/%" PRId64 "/%d", stage_name[unit->kind], unit->round,
                   unit->slot);
}

/* Reads the number before `end`, if it can be one of a unit of this run. */
static bool take_number(const char **text, char end, int64_t limit, int64_t *out)
{
    const char *stop = strchr(*text, end);
    if (!stop || !text_int64(*text, (size_t)(stop - *text), out))
        return false;
    *text = stop + 1;
    return *out >= 0 && *out < limit;
}

static bool parse_unit(const char *name, struct toy_unit *unit)
{
    int64_t slot = 0;
    for (int kind = SAMPLE; kind <= AGGREGATE; kind++) {
        const size_t size = strlen(stage_name[kind]);
        const char *text = name + size + 1;
        if (strncmp(name, stage_name[kind], size) != 0 || name[size] != '/')
            continue;
        unit->kind = (enum kind)kind;
        const bool whole = take_number(&text, '/', storm.rounds, &unit->round) &&
                           take_number(&text, '\0', SLOTS, &slot);
        unit->slot = (int)slot;
        return whole;
    }
    return false;
}

/* Lists the dependencies of a unit, and counts those that are done. */
static int prerequisites_of(const struct toy_unit *unit, char done[SLOTS][QUEUE_UNIT_SIZE],
                            int *done_count)
{
    struct toy_unit input[SLOTS];
    int count = 0;
    *done_count = 0;
    if (unit->kind == AGGREGATE)
        for (int slot = 0; slot < SLOTS; slot++)
            input[count++] = (struct toy_unit){unit->round, TRAIN_STEP, slot};
    if (unit->kind == TRAIN_STEP)
        input[count++] = (struct toy_unit){unit->round, SAMPLE, unit->slot};
    if (unit->kind != AGGREGATE && unit->round > 0)
        input[count++] = (struct toy_unit){unit->round - 1, AGGREGATE, 0};
    for (int i = 0; i < count; i++)
        if (is_made(input[i].kind, input[i].round, input[i].slot))
            name_unit(&input[i], done[(*done_count)++]);
    return count;
}

static struct work_successor entry_of(const struct toy_unit *unit)
{
    char done[SLOTS][QUEUE_UNIT_SIZE];
    int done_count = 0;
    struct work_successor entry = {.prerequisite_count = prerequisites_of(unit, done, &done_count)};
    name_unit(unit, entry.unit);
    (void)snprintf(entry.stage, sizeof entry.stage, "%s", stage_name[unit->kind]);
    return entry;
}

static int successors_of(const struct toy_unit *unit, struct work_successor out[2 * SLOTS])
{
    int count = 0;
    if (unit->kind == SAMPLE)
        out[count++] = entry_of(&(struct toy_unit){unit->round, TRAIN_STEP, unit->slot});
    if (unit->kind == TRAIN_STEP)
        out[count++] = entry_of(&(struct toy_unit){unit->round, AGGREGATE, 0});
    if (unit->kind == AGGREGATE && unit->round + 1 < storm.rounds)
        for (int slot = 0; slot < SLOTS; slot++) {
            out[count++] = entry_of(&(struct toy_unit){unit->round + 1, SAMPLE, slot});
            out[count++] = entry_of(&(struct toy_unit){unit->round + 1, TRAIN_STEP, slot});
        }
    return count;
}

/* --- workers --- */

struct worker {
    pthread_t thread;
    int number;
    uint64_t draws;
    struct work_queue *queue;
    struct redis_connection *stranger; /* adds entries without the queue's knowledge */
    char stream[64];
};

static bool chance(struct worker *worker, uint64_t of, uint64_t out_of)
{
    worker->draws = worker->draws * 6364136223846793005ULL + 1442695040888963407ULL;
    return (worker->draws >> 33) % out_of < of;
}

static struct work_queue *open_queue(const char *name, const char *stage)
{
    struct error err = {0};
    struct work_queue *queue = NULL;
    const struct work_queue_config config = {.url = storm.url,
                                             .store_id = "storm",
                                             .run_id = "storm",
                                             .worker = name,
                                             .stage = stage,
                                             .lease_ms = stage ? LEASE_MS : 0};
    must(work_queue_open(&config, &queue, &err) == ERROR_NONE);
    return queue;
}

static void add_entry(struct worker *worker, const char *unit)
{
    struct redisReply *reply = NULL;
    const char *argv[] = {"XADD", worker->stream, "*", "unit", unit};
    must(redis_connection_call(worker->stranger, 5, argv, &reply, NULL) == ERROR_NONE);
    redis_reply_free(reply);
}

static void tell(struct work_queue *queue, const struct toy_unit *unit)
{
    char done[SLOTS][QUEUE_UNIT_SIZE];
    int done_count = 0;
    const struct work_successor entry = entry_of(unit);
    (void)prerequisites_of(unit, done, &done_count);
    if (!atomic_load(&storm.made[index_of(unit)]))
        must(work_queue_restore(queue, &entry, (const char(*)[QUEUE_UNIT_SIZE])done, done_count,
                                NULL) == ERROR_NONE);
}

/* Publishes the record, once. */
static void make(const struct toy_unit *unit)
{
    unsigned char none = 0;
    if (atomic_compare_exchange_strong(&storm.made[index_of(unit)], &none, 1))
        (void)atomic_fetch_add(&storm.made_count, 1);
}

static void work(struct worker *worker, const struct work_claim *claim)
{
    struct toy_unit unit;
    struct work_successor after[2 * SLOTS];
    char done[SLOTS][QUEUE_UNIT_SIZE];
    int64_t done_count = 0, again = 0;
    int inputs = 0;
    bool fenced = false;
    if (!parse_unit(claim->unit, &unit) || unit.kind != worker_kind[worker->number]) {
        (void)atomic_fetch_add(&storm.strange, 1);
        return;
    }
    (void)atomic_fetch_add(&storm.deliveries, 1);
    if (atomic_exchange(&storm.delivered[index_of(&unit)], 1))
        (void)atomic_fetch_add(&storm.duplicates, 1);
    if (prerequisites_of(&unit, done, &inputs) != inputs)
        (void)atomic_fetch_add(&storm.early, 1);
    if (chance(worker, DUPLICATED_PERCENT, 100))
        add_entry(worker, claim->unit);
    if (chance(worker, PUT_BACK_PERCENT, 100)) {
        must(work_queue_hand_back(worker->queue, claim, &fenced, NULL) == ERROR_NONE);
        (void)atomic_fetch_add(&storm.put_back, 1);
        return;
    }
    if (chance(worker, LATE_PER_10000, 10000)) {
        (void)atomic_fetch_add(&storm.late, 1);
        clock_sleep_ms((int64_t)2 * LEASE_MS);
    }
    make(&unit);
    const int count = successors_of(&unit, after);
    must(work_queue_complete(worker->queue, claim, after, count, &done_count, NULL) == ERROR_NONE);
    if (done_count == 0)
        (void)atomic_fetch_add(&storm.fenced, 1);
    if (chance(worker, TOLD_AGAIN_PERCENT, 100)) {
        (void)atomic_fetch_add(&storm.told_again, 1);
        must(work_queue_complete(worker->queue, claim, after, count, &again, NULL) == ERROR_NONE);
        if (again != 0)
            (void)atomic_fetch_add(&storm.completed_twice, 1);
        for (int i = 0; i < count; i++) {
            struct toy_unit next;
            if (parse_unit(after[i].unit, &next))
                tell(worker->queue, &next);
        }
    }
}

static void *run_worker(void *context)
{
    struct worker *worker = context;
    while (!atomic_load(&storm.over)) {
        enum claim_result result = CLAIM_NOTHING;
        struct work_claim claim;
        must(work_queue_claim(worker->queue, 50, &result, &claim, NULL) == ERROR_NONE);
        if (result == CLAIM_UNIT)
            work(worker, &claim);
        else if (result != CLAIM_NOTHING)
            (void)atomic_fetch_add(&storm.strange, 1);
    }
    return NULL;
}

static void start_worker(struct worker *worker, int number)
{
    char name[32];
    const char *stage = stage_name[worker_kind[number]];
    (void)snprintf(name, sizeof name, "worker-%d", number);
    *worker = (struct worker){.number = number,
                              .draws = storm.seed * (uint64_t)1000003 + (unsigned)number,
                              .queue = open_queue(name, stage)};
    (void)snprintf(worker->stream, sizeof worker->stream, "{storm:storm}:queue:%s", stage);
    must(redis_connection_new(storm.url, NULL, &worker->stranger, NULL) == ERROR_NONE);
    must(pthread_create(&worker->thread, NULL, run_worker, worker) == 0);
}

/* --- the storm --- */

static void fill(struct work_queue *queue)
{
    bool won = false, alive = false;
    must(work_queue_rebuild_begin(queue, &won, &alive, NULL) == ERROR_NONE && won);
    for (int slot = 0; slot < SLOTS; slot++)
        tell(queue, &(struct toy_unit){0, SAMPLE, slot});
    must(work_queue_rebuild_end(queue, NULL) == ERROR_NONE);
}

/* Does what queue_watch does when nothing makes progress. Nothing may be lost here, so each such
 * unit breaks a promise. */
static void rescue(struct work_queue *queue)
{
    const int64_t before = work_queue_restored_count(queue);
    for (int64_t round = 0; round < storm.rounds; round++) {
        if (is_made(AGGREGATE, round, 0))
            continue;
        for (int slot = 0; slot < SLOTS; slot++) {
            tell(queue, &(struct toy_unit){round, SAMPLE, slot});
            tell(queue, &(struct toy_unit){round, TRAIN_STEP, slot});
        }
        tell(queue, &(struct toy_unit){round, AGGREGATE, 0});
        break;
    }
    (void)atomic_fetch_add(&storm.rescued, work_queue_restored_count(queue) - before);
}

static bool wait_for_end(struct work_queue *queue, int64_t unit_count)
{
    int64_t made = 0, moved_ms = clock_ms();
    int rescues = 0;
    while (made < unit_count && rescues < 3) {
        clock_sleep_ms(20);
        const int64_t now = atomic_load(&storm.made_count);
        if (now != made)
            moved_ms = clock_ms();
        made = now;
        if (clock_ms() - moved_ms > STUCK_MS) {
            rescue(queue);
            rescues++;
            moved_ms = clock_ms();
        }
    }
    return made == unit_count;
}

static int report(int64_t unit_count, double seconds)
{
    const int64_t deliveries = storm.deliveries, duplicates = storm.duplicates;
    const int64_t undone = unit_count - storm.made_count;
    const int64_t violations =
        undone + storm.early + storm.completed_twice + storm.strange + storm.rescued;
    printf("units=%" PRId64 " deliveries=%" PRId64 " duplicates=%" PRId64 " duplicate_share=%.3f "
           "put_back=%" PRId64 " late=%" PRId64 " told_again=%" PRId64 " fenced=%" PRId64
           " undone=%" PRId64 " early=%" PRId64 " completed_twice=%" PRId64 " strange=%" PRId64
           " rescued=%" PRId64 " violations=%" PRId64 " seconds=%.1f seed=%u\n",
           unit_count, deliveries, duplicates, (double)duplicates / (double)deliveries,
           (int64_t)storm.put_back, (int64_t)storm.late, (int64_t)storm.told_again,
           (int64_t)storm.fenced, undone, (int64_t)storm.early, (int64_t)storm.completed_twice,
           (int64_t)storm.strange, (int64_t)storm.rescued, violations, seconds, storm.seed);
    return violations == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run_storm(int64_t wanted)
{
    struct worker worker[WORKERS];
    const double before = clock_seconds();
    storm.rounds = wanted / UNITS_OF_ROUND + 1;
    const int64_t unit_count = storm.rounds * UNITS_OF_ROUND;
    must(memory_new(&storm.made, (size_t)unit_count, "records", NULL) == ERROR_NONE);
    must(memory_new(&storm.delivered, (size_t)unit_count, "deliveries", NULL) == ERROR_NONE);
    struct work_queue *queue = open_queue("filler", NULL);
    fill(queue);
    for (int i = 0; i < WORKERS; i++)
        start_worker(&worker[i], i);
    (void)wait_for_end(queue, unit_count);
    atomic_store(&storm.over, true);
    for (int i = 0; i < WORKERS; i++) {
        (void)pthread_join(worker[i].thread, NULL);
        work_queue_close(worker[i].queue);
        redis_connection_free(worker[i].stranger);
    }
    work_queue_close(queue);
    const int status = report(unit_count, clock_seconds() - before);
    memory_free(storm.made);
    memory_free(storm.delivered);
    return status;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    struct temp_dir dir;
    struct redis_server *server = NULL;
    const char *seed = getenv("SEED");
    const long wanted = argc > 1 ? strtol(argv[1], NULL, 10) : DELIVERIES;
    if (wanted < 1) {
        (void)fprintf(stderr, "usage: queue_storm [deliveries]\n");
        return EXIT_FAILURE;
    }
    if (!redis_fixture_installed()) {
        printf("skipped: no redis-server\n");
        return 77;
    }
    stop_signal_install();
    storm.seed = seed ? (unsigned)strtoul(seed, NULL, 10) : (unsigned)getpid();
    temp_dir_make(&dir);
    if (redis_server_open(dir.path, &server, &err) != ERROR_NONE) {
        (void)fprintf(stderr, "%s\n", err.message);
        return EXIT_FAILURE;
    }
    storm.url = redis_server_url(server);
    const int status = run_storm(wanted);
    redis_server_close(server);
    temp_dir_remove(&dir);
    return status;
}
