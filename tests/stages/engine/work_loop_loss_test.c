/* A toy pipeline (toy_pipeline.h) that loses its queue, Redis or workers. */
#include "tests/stages/engine/toy_pipeline.h"
#include "tests/support/redis_command.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Sends the command `words` to Redis once the run has begun: "%s" in it is the tag of the run's
 * keys. */
struct saboteur {
    const char *url, *store_path, *words;
};

static void *sabotage(void *argument)
{
    const struct saboteur *saboteur = argument;
    char tag[200], life[256], words[512], answer[REDIS_ANSWER_SIZE] = "";
    tag_of(saboteur->store_path, tag, sizeof tag);
    (void)snprintf(life, sizeof life, "GET %slife", tag);
    while (!answer[0]) {
        redis_command(saboteur->url, life, answer);
        clock_sleep_ms(5);
    }
    clock_sleep_ms(150);
    const char *at = strstr(saboteur->words, "%s");
    (void)snprintf(words, sizeof words, "%.*s%s%s", (int)(at ? at - saboteur->words : 0),
                   saboteur->words, at ? tag : "", at ? at + 2 : saboteur->words);
    redis_command(saboteur->url, words, NULL);
    return NULL;
}

/* Each loss must be repaired within a few seconds: the queue is compared with storage when nothing
 * moves. */
static void a_run_goes_on_whatever_is_lost_of_its_queue(void **state)
{
    NEED_REDIS(state);
    static const char *const loss[] = {
        "DEL %squeue:train-step",
        "XTRIM %squeue:sample MAXLEN 0",
        "DEL %squeued",
        "HSET %squeued aggregate/1 1-1 train-step/2/0 1-1 sample/2/1 x checkpoint/2 1-1",
        "XGROUP SETID %squeue:aggregate workers $",
        "XGROUP DESTROY %squeue:train-step workers",
        "SET %squeue:aggregate text EX 600",
        "SET %squeued text",
        "FLUSHALL",
        "XADD %sdead * unit train-step/2/0 reason none",
    };
    const struct redis_fixture *fixture = *state;
    (void)undisturbed(state);
    for (size_t i = 0; i < sizeof loss / sizeof *loss; i++) {
        char path[FILE_PATH_SIZE];
        struct toy_worker worker[WORKER_COUNT];
        struct error err = {0};
        pthread_t thread;
        store_in(state, path);
        assert_ok(file_remove_all(path, &err), &err);
        struct saboteur saboteur = {redis_server_url(fixture->server), path, loss[i]};
        atomic_store(&unit_sleep_ms, 40);
        const int64_t from = clock_ms();
        assert_int_equal(pthread_create(&thread, NULL, sabotage, &saboteur), 0);
        run_pipeline(state, path, worker);
        assert_int_equal(pthread_join(thread, NULL), 0);
        if (clock_ms() - from > HANG_MS)
            fail_msg("%s: %lld ms", loss[i], (long long)(clock_ms() - from));
        expect_undisturbed(state, path, worker);
    }
}

static void entries_that_are_no_units_of_the_stage_are_dropped(void **state)
{
    NEED_REDIS(state);
    static const char *const junk[] = {
        "XADD %squeue:aggregate * unit sample/0/0", "XADD %squeue:aggregate * unit nonsense",
        "XADD %squeue:aggregate * other thing",     "XADD %squeue:train-step * unit aggregate/0",
        "XADD %squeue:infer * unit ingest",
    };
    const struct redis_fixture *fixture = *state;
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    pthread_t thread[sizeof junk / sizeof *junk];
    struct saboteur saboteur[sizeof junk / sizeof *junk];
    store_in(state, path);
    atomic_store(&unit_sleep_ms, 40);
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        saboteur[i] = (struct saboteur){redis_server_url(fixture->server), path, junk[i]};
        assert_int_equal(pthread_create(&thread[i], NULL, sabotage, &saboteur[i]), 0);
    }
    run_pipeline(state, path, worker);
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    expect_undisturbed(state, path, worker);
}

/* The lease is long and is renewed, so only a second copy brings the run to its end. */
static void stall_one(void **state, enum mischief how)
{
    char path[FILE_PATH_SIZE];
    struct toy_worker worker[WORKER_COUNT];
    pthread_t thread[WORKER_COUNT];
    (void)undisturbed(state);
    store_in(state, path);
    atomic_store(&unit_sleep_ms, 25);
    atomic_store(&mischief, how);
    const int64_t from = clock_ms();
    for (int i = 0; i < WORKER_COUNT; i++) {
        worker[i] = worker_of(state, path, i);
        worker[i].lease_ms = 60000;
        assert_int_equal(pthread_create(&thread[i], NULL, run_worker, &worker[i]), 0);
    }
    for (int i = 0; i < WORKER_COUNT; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(atomic_load(&mischief), DO_NOTHING);
    assert_true(clock_ms() - from < HANG_MS);
    expect_undisturbed(state, path, worker);
}

static void a_unit_of_a_stalled_worker_is_done_by_another(void **state)
{
    NEED_REDIS(state);
    stall_one(state, STALL);
}

/* The stalled worker finds a round that is over and pruned, which looks like damage: it must repair
 * nothing. */
static void a_stalled_worker_takes_what_is_over_for_no_damage(void **state)
{
    NEED_REDIS(state);
    stall_one(state, STALL_AND_MISREAD);
}

static pid_t start_process(void **state, const char *path, int number)
{
    struct toy_worker worker = worker_of(state, path, number);
    const pid_t pid = fork();
    if (pid != 0)
        return pid;
    (void)run_worker(&worker);
    if (worker.rc != ERROR_NONE)
        (void)fprintf(stderr, "worker %d: %s\n", number, worker.err.message);
    _exit(worker.rc == ERROR_NONE ? 0 : 1);
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

/* Kills a worker, or Redis with all its data. */
static void kill_something(struct redis_fixture *fixture, const pid_t *pid, unsigned *seed)
{
    const unsigned which = next_random(seed) % (WORKER_COUNT + 1);
    if (which == WORKER_COUNT)
        (void)kill(redis_server_pid(fixture->server), SIGKILL);
    else if (pid[which] > 0)
        (void)kill(pid[which], SIGKILL);
}

static void workers_and_redis_killed_at_random_change_nothing(void **state)
{
    NEED_REDIS(state);
    struct redis_fixture *fixture = *state;
    char path[FILE_PATH_SIZE];
    const char *seed_text = getenv("SEED");
    unsigned seed = seed_text ? (unsigned)strtoul(seed_text, NULL, 10) : (unsigned)getpid();
    (void)printf("SEED=%u\n", seed);
    pid_t pid[WORKER_COUNT];
    int running = WORKER_COUNT, kills = 0;
    store_in(state, path);
    atomic_store(&unit_sleep_ms, 25);
    for (int i = 0; i < WORKER_COUNT; i++)
        pid[i] = start_process(state, path, i);
    const int64_t until = clock_ms() + 200000;
    for (int64_t next_kill = clock_ms() + 30; running > 0;) {
        struct error err = {0};
        bool restarted = false;
        int status = 0;
        clock_sleep_ms(5);
        assert_true(clock_ms() < until);
        if (clock_ms() > next_kill && kills < 25) {
            kill_something(fixture, pid, &seed);
            kills++;
            next_kill = clock_ms() + 10 + next_random(&seed) % 80;
        }
        assert_ok(redis_server_check(fixture->server, &restarted, &err), &err);
        for (int i = 0; i < WORKER_COUNT; i++) {
            if (pid[i] <= 0 || waitpid(pid[i], &status, WNOHANG) != pid[i])
                continue;
            const bool finished = WIFEXITED(status) && WEXITSTATUS(status) == 0;
            assert_true(finished || WIFSIGNALED(status));
            pid[i] = finished ? 0 : start_process(state, path, i);
            running -= finished;
        }
    }
    assert_true(kills > 5);
    assert_true(result_of(path) == undisturbed(state));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_REDIS(a_run_goes_on_whatever_is_lost_of_its_queue),
        WITH_REDIS(entries_that_are_no_units_of_the_stage_are_dropped),
        WITH_REDIS(a_unit_of_a_stalled_worker_is_done_by_another),
        WITH_REDIS(a_stalled_worker_takes_what_is_over_for_no_damage),
        WITH_REDIS(workers_and_redis_killed_at_random_change_nothing),
    };
    log_open("work_loop_loss_test", LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
