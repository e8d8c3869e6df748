/*
 * bench_queue_hop - the time from the release of a unit by one worker until another worker that
 * waits for it has it, through a private real Redis.
 *
 *   bench_queue_hop [hops]      prints: name value unit ratio
 *
 * Two processes pass one unit to each other; a hop is half of a round trip. The floor is the plain
 * round trip through the server: XADD by one process, a blocking XREADGROUP by the other. Ours is
 * work_queue_claim() and work_queue_complete() with one successor, which adds acknowledgement, the
 * lease and the sets of dependencies. A round has two hops in a row: train-step to aggregate, and
 * aggregate to train-step.
 */
#include "common/base/clock.h"
#include "common/base/stop_signal.h"
#include "common/files/file.h"
#include "store/queue/redis_server.h"
#include "store/queue/work_queue.h"
#include "store/redis/redis_connection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HOPS = 2000, REPEATS = 5, BLOCK_MS = 1000, SIDES = 2 };

static const char run_id[] = "bench-1";
static const char *const side_stage[SIDES] = {"train-step", "aggregate"};
static const char *const side_stream[SIDES] = {"{bench}:to", "{bench}:fro"};

typedef void (*side_runner)(const char *url, int side, long turns);

static void call(struct redis_connection *c, int argc, const char **argv, bool *answered)
{
    struct error err = {0};
    struct redisReply *reply = NULL;
    must(redis_connection_call(c, argc, argv, &reply, &err) == ERROR_NONE);
    *answered = redis_reply_count(reply) > 0;
    redis_reply_free(reply);
}

static struct redis_connection *connect_to(const char *url)
{
    struct error err = {0};
    struct redis_connection *connection = NULL;
    must(redis_connection_new(url, NULL, &connection, &err) == ERROR_NONE);
    return connection;
}

/* --- floor --- */

static void add_entry(struct redis_connection *c, int side)
{
    const char *argv[] = {"XADD", side_stream[side], "*", "unit", "x"};
    bool answered = false;
    call(c, 5, argv, &answered);
}

static void run_bare_side(const char *url, int side, long turns)
{
    struct redis_connection *c = connect_to(url);
    const char *argv[] = {"XREADGROUP", "GROUP",   "workers",         "me", "COUNT", "1", "BLOCK",
                          "1000",       "STREAMS", side_stream[side], ">"};
    for (long turn = 0; turn < turns; turn++) {
        bool answered = false;
        while (!answered)
            call(c, 11, argv, &answered);
        add_entry(c, 1 - side);
    }
    redis_connection_free(c);
}

static void begin_bare(const char *url)
{
    struct redis_connection *c = connect_to(url);
    bool answered = false;
    const char *wipe[] = {"FLUSHALL"};
    call(c, 1, wipe, &answered);
    for (int side = 0; side < SIDES; side++) {
        const char *group[] = {"XGROUP", "CREATE", side_stream[side], "workers", "0", "MKSTREAM"};
        call(c, 6, group, &answered);
    }
    add_entry(c, 0);
    redis_connection_free(c);
}

/* --- ours --- */

static struct work_queue *open_side(const char *url, int side)
{
    struct error err = {0};
    struct work_queue *queue = NULL;
    const struct work_queue_config config = {.url = url,
                                             .store_id = "bench",
                                             .run_id = run_id,
                                             .worker = side_stage[side],
                                             .stage = side_stage[side]};
    must(work_queue_open(&config, &queue, &err) == ERROR_NONE);
    return queue;
}

static struct work_successor unit_of(int side, long turn)
{
    struct work_successor unit = {.prerequisite_count = turn > 0};
    (void)snprintf(unit.unit, sizeof unit.unit, "%s/%ld", side_stage[side], turn);
    (void)snprintf(unit.stage, sizeof unit.stage, "%s", side_stage[side]);
    return unit;
}

static void run_our_side(const char *url, int side, long turns)
{
    struct error err = {0};
    struct work_queue *queue = open_side(url, side);
    for (long turn = 0; turn < turns; turn++) {
        enum claim_result result = CLAIM_NOTHING;
        struct work_claim claim = {0};
        int64_t done_count = 0;
        const struct work_successor next = unit_of(1 - side, 2 * turn + side + 1);
        while (result != CLAIM_UNIT)
            must(work_queue_claim(queue, BLOCK_MS, &result, &claim, &err) == ERROR_NONE);
        must(work_queue_complete(queue, &claim, &next, 1, &done_count, &err) == ERROR_NONE &&
             done_count);
    }
    work_queue_close(queue);
}

static void begin_ours(const char *url)
{
    struct error err = {0};
    struct work_queue *queue = open_side(url, 0);
    bool won = false, alive = false;
    const struct work_successor first = unit_of(0, 0);
    must(work_queue_wipe(queue, &err) == ERROR_NONE);
    must(work_queue_rebuild_begin(queue, &won, &alive, &err) == ERROR_NONE && won);
    must(work_queue_restore(queue, &first, NULL, 0, &err) == ERROR_NONE);
    must(work_queue_rebuild_end(queue, &err) == ERROR_NONE);
    work_queue_close(queue);
}

/* --- both --- */

/* Returns microseconds for each hop. The other side is a process of its own, as another worker
 * is. */
static double time_hops(const char *url, void (*begin)(const char *url), side_runner run, long hops)
{
    int status = 0;
    begin(url);
    const double before = clock_seconds();
    const pid_t pid = fork();
    must(pid >= 0);
    if (pid == 0) {
        run(url, 1, hops / SIDES);
        _exit(0);
    }
    run(url, 0, hops / SIDES);
    must(waitpid(pid, &status, 0) == pid && status == 0);
    return (clock_seconds() - before) * 1e6 / (double)hops;
}

static double time_ping(const char *url, long count)
{
    struct redis_connection *c = connect_to(url);
    const char *argv[] = {"PING"};
    bool answered = false;
    const double before = clock_seconds();
    for (long i = 0; i < count; i++)
        call(c, 1, argv, &answered);
    const double seconds = clock_seconds() - before;
    redis_connection_free(c);
    return seconds * 1e6 / (double)count;
}

static void keep_least(double *least, double value)
{
    if (*least <= 0 || value < *least)
        *least = value;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    struct redis_server *server = NULL;
    char folder[] = "/tmp/graphmill-bench-XXXXXX";
    double ping = 0, bare = 0, ours = 0;
    const long hops = argc > 1 ? strtol(argv[1], NULL, 10) : HOPS;
    if (hops < SIDES) {
        (void)fprintf(stderr, "usage: bench_queue_hop [hops]\n");
        return 64;
    }
    stop_signal_install();
    must(mkdtemp(folder) != NULL);
    if (redis_server_open(folder, &server, &err) != ERROR_NONE) {
        (void)fprintf(stderr, "bench_queue_hop: %s\n", err.message);
        return 77;
    }
    const char *url = redis_server_url(server);
    for (int i = 0; i < REPEATS; i++) {
        keep_least(&ping, time_ping(url, hops));
        keep_least(&bare, time_hops(url, begin_bare, run_bare_side, hops));
        keep_least(&ours, time_hops(url, begin_ours, run_our_side, hops));
    }
    printf("redis_round_trip %.1f us\n", ping);
    printf("queue_hop_floor %.1f us 1.00\n", bare);
    printf("queue_hop_ours %.1f us %.2f\n", ours, ours / bare);
    redis_server_close(server);
    return file_remove_all(folder, &err) == ERROR_NONE ? 0 : 74;
}
