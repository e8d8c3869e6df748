/* Tests the contract of every backend between many threads and processes that put and remove the
 * same keys. */
#include "tests/store/objects/contract_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITER_COUNT = 4, RACE_COUNT = 50 };

struct writer {
    struct store *store;
    const char *name;
    uint32_t value; /* added to the number of the race */
    int won, alarmed, failed;
};

static void *write_races(void *context)
{
    struct writer *writer = context;
    for (uint32_t i = 0; i < RACE_COUNT; i++) {
        char key[48];
        struct error err = {0};
        (void)snprintf(key, sizeof key, "run/%s/weights/%u", writer->name ? writer->name : "race",
                       i);
        const enum error_code rc =
            put_number(writer->store, key, i + writer->value, STORE_RECOMPUTABLE, &err);
        writer->won += rc == ERROR_NONE;
        writer->alarmed += rc == ERROR_CORRUPT && strstr(err.message, "alarm") != NULL;
        writer->failed += rc != ERROR_NONE && rc != ERROR_CORRUPT;
    }
    return NULL;
}

static void run_writers(struct store *store, struct writer writer[WRITER_COUNT], uint32_t step)
{
    pthread_t thread[WRITER_COUNT];
    for (uint32_t i = 0; i < WRITER_COUNT; i++) {
        writer[i] = (struct writer){.store = store, .value = i * step};
        assert_int_equal(pthread_create(&thread[i], NULL, write_races, &writer[i]), 0);
    }
    for (int i = 0; i < WRITER_COUNT; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
}

static void threads_that_put_equal_records_all_succeed(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        struct writer writer[WRITER_COUNT];
        run_writers(f.store, writer, 0);
        for (int i = 0; i < WRITER_COUNT; i++)
            assert_int_equal(writer[i].won, RACE_COUNT);
    }
}

static void threads_that_put_different_records_raise_the_alarm(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        struct writer writer[WRITER_COUNT];
        int won = 0, alarmed = 0;
        run_writers(f.store, writer, 1000);
        for (int i = 0; i < WRITER_COUNT; i++) {
            won += writer[i].won;
            alarmed += writer[i].alarmed;
            assert_int_equal(writer[i].failed, 0);
        }
        assert_int_equal(won, RACE_COUNT);
        assert_int_equal(alarmed, RACE_COUNT * (WRITER_COUNT - 1));
    }
}

/* Several writers find a damaged record at once: one content wins, whole. */
static void threads_mend_a_damaged_record_once(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        struct writer writer[WRITER_COUNT];
        for (uint32_t i = 0; i < RACE_COUNT; i++) {
            char key[32];
            (void)snprintf(key, sizeof key, "run/race/weights/%u", i);
            assert_ok(put_number(f.store, key, i, STORE_RECOMPUTABLE, &f.err), &f.err);
            f.backend->damage(&f, key, "torn", 4);
        }
        run_writers(f.store, writer, 0);
        for (int i = 0; i < WRITER_COUNT; i++)
            assert_int_equal(writer[i].won, RACE_COUNT);
        for (uint32_t i = 0; i < RACE_COUNT; i++) {
            char key[32];
            (void)snprintf(key, sizeof key, "run/race/weights/%u", i);
            assert_int_equal(get_number(f.store, key), i);
        }
    }
}

/* Runs in a child; the parent shares *writer. */
static int write_in_child(const struct fixture *f, struct writer *writer)
{
    struct error err = {0};
    if (open_again(f, 0, &writer->store, &err) != ERROR_NONE)
        return 1;
    (void)write_races(writer);
    store_close(writer->store);
    return 0;
}

static void race_in_processes(const struct fixture *f, struct writer *writer, uint32_t step,
                              const char *name)
{
    enum { CHILD_COUNT = 2 };
    pid_t child[CHILD_COUNT];
    for (uint32_t i = 0; i < CHILD_COUNT; i++) {
        writer[i] = (struct writer){.name = name, .value = i * step};
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0)
            _exit(write_in_child(f, &writer[i]));
    }
    for (int i = 0; i < CHILD_COUNT; i++) {
        int status = -1;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
        assert_int_equal(writer[i].failed, 0);
        assert_int_equal(writer[i].won + writer[i].alarmed, RACE_COUNT);
    }
}

/* Tests that both writers of equal records succeed each time, and that of different ones one wins
 * and the other gets the alarm. */
static void processes_race_as_threads_do(void **state)
{
    (void)state;
    struct writer *writer =
        mmap(NULL, 2 * sizeof *writer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(writer != MAP_FAILED);
    FOR_EACH_BACKEND
    {
        if (!(store_capabilities(f.store) & STORE_IS_SHARED))
            continue; /* memory belongs to one process */
        race_in_processes(&f, writer, 0, "equal");
        assert_int_equal(writer[0].won + writer[1].won, 2 * RACE_COUNT);
        race_in_processes(&f, writer, 1000, "different");
        assert_int_equal(writer[0].won + writer[1].won, RACE_COUNT);
        for (uint32_t i = 0; i < RACE_COUNT; i++) {
            char key[48];
            (void)snprintf(key, sizeof key, "run/different/weights/%u", i);
            assert_int_equal(get_number(f.store, key) % 1000, i);
        }
    }
    assert_int_equal(munmap(writer, 2 * sizeof *writer), 0);
}

/* Counts up in a ref in which other processes count up too. */
static bool count_up(struct store *store, int times)
{
    struct error err = {0};
    for (int done = 0; done < times;) {
        char old[32] = "", next[32];
        bool matched = false;
        enum error_code rc = store_switch_get(store, "current/count", old, sizeof old, &err);
        if (rc != ERROR_NONE && rc != ERROR_NOT_FOUND)
            return false;
        const bool is_set = rc == ERROR_NONE;
        (void)snprintf(next, sizeof next, "%ld", (is_set ? strtol(old, NULL, 10) : 0) + 1);
        rc = store_switch_exchange(store, "current/count", is_set ? old : NULL, next, &matched,
                                   &err);
        if (rc != ERROR_NONE)
            return false;
        done += matched;
    }
    return true;
}

static void no_exchange_of_a_switch_is_lost(void **state)
{
    enum { TIMES = 50, COUNTERS = 4 };
    (void)state;
    FOR_EACH_BACKEND
    {
        char text[32];
        pid_t child[COUNTERS];
        if (!(store_capabilities(f.store) & STORE_IS_SHARED))
            continue;
        for (int i = 0; i < COUNTERS; i++) {
            child[i] = fork();
            assert_true(child[i] >= 0);
            if (child[i] == 0)
                _exit(!count_up(f.store, TIMES));
        }
        for (int i = 0; i < COUNTERS; i++) {
            int status = -1;
            assert_int_equal(waitpid(child[i], &status, 0), child[i]);
            assert_int_equal(status, 0);
        }
        assert_ok(store_switch_get(f.store, "current/count", text, sizeof text, &f.err), &f.err);
        assert_int_equal(strtol(text, NULL, 10), COUNTERS * TIMES);
    }
}

static void a_put_survives_that_its_folder_vanishes(void **state)
{
    (void)state;
    FOR_EACH_BACKEND
    {
        if (!(store_capabilities(f.store) & STORE_IS_SHARED))
            continue;
        /* Another process puts into the parent folders while they appear and disappear. */
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct error err = {0};
            int wrong = 0;
            for (int i = 0; i < 500; i++)
                wrong += store_remove(f.store, "run/deep/weights/2", &err) != ERROR_NONE;
            _exit(wrong != 0);
        }
        for (uint32_t i = 0; i < 500; i++) {
            assert_ok(put_number(f.store, "run/deep/weights/1", 1, STORE_RECOMPUTABLE, &f.err),
                      &f.err);
            assert_ok(store_remove(f.store, "run/deep/weights/1", &f.err), &f.err);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_put_equal_records_all_succeed),
        cmocka_unit_test(threads_that_put_different_records_raise_the_alarm),
        cmocka_unit_test(threads_mend_a_damaged_record_once),
        cmocka_unit_test(processes_race_as_threads_do),
        cmocka_unit_test(a_put_survives_that_its_folder_vanishes),
        cmocka_unit_test(no_exchange_of_a_switch_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
