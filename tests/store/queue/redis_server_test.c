#include "common/base/clock.h"
#include "store/queue/redis_server.h"
#include "store/redis/redis_connection.h"

#include "tests/support/child_end.h"
#include "tests/support/failing_calls.h"
#include "tests/support/redis_fixture.h"
#include "tests/support/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool answers(const char *url)
{
    struct redis_connection *connection = NULL;
    struct redisReply *reply = NULL;
    const char *argv[] = {"PING"};
    const bool ok = redis_connection_new(url, NULL, &connection, NULL) == ERROR_NONE &&
                    redis_connection_call(connection, 1, argv, &reply, NULL) == ERROR_NONE &&
                    strcmp(redis_reply_text(reply), "PONG") == 0;
    redis_reply_free(reply);
    redis_connection_free(connection);
    return ok;
}

static void config_is(const char *url, const char *name, const char *expected)
{
    struct error err = {0};
    struct redis_connection *connection = NULL;
    struct redisReply *reply = NULL;
    const char *argv[] = {"CONFIG", "GET", name};
    assert_ok(redis_connection_new(url, NULL, &connection, &err), &err);
    assert_ok(redis_connection_call(connection, 3, argv, &reply, &err), &err);
    assert_string_equal(redis_reply_text(redis_reply_item(reply, 1)), expected);
    redis_reply_free(reply);
    redis_connection_free(connection);
}

static void starts_answers_and_stops(void **state)
{
    const struct temp_dir *dir = *state;
    struct error err = {0};
    struct redis_server *server = NULL;
    if (!redis_fixture_installed())
        skip();
    assert_ok(redis_server_open(dir->path, &server, &err), &err);
    const pid_t pid = redis_server_pid(server);
    char url[200];
    (void)snprintf(url, sizeof url, "%s", redis_server_url(server));
    assert_true(answers(url));
    config_is(url, "port", "0");
    config_is(url, "appendonly", "no");
    config_is(url, "save", "");
    config_is(url, "maxmemory-policy", "noeviction");
    redis_server_close(server);
    assert_false(answers(url));
    assert_int_equal(kill(pid, 0), -1);
}

static void starts_again_when_it_was_killed(void **state)
{
    const struct temp_dir *dir = *state;
    struct error err = {0};
    struct redis_server *server = NULL;
    bool restarted = true;
    if (!redis_fixture_installed())
        skip();
    assert_ok(redis_server_open(dir->path, &server, &err), &err);
    assert_ok(redis_server_check(server, &restarted, &err), &err);
    assert_false(restarted);
    const pid_t first = redis_server_pid(server);
    assert_int_equal(kill(first, SIGKILL), 0);
    for (int i = 0; i < 500 && !restarted; i++) {
        clock_sleep_ms(10);
        assert_ok(redis_server_check(server, &restarted, &err), &err);
    }
    assert_true(restarted);
    assert_int_not_equal(redis_server_pid(server), first);
    assert_true(answers(redis_server_url(server)));
    redis_server_close(server);
}

static void serves_a_folder_whose_path_is_too_long_for_a_socket(void **state)
{
    const struct temp_dir *dir = *state;
    struct error err = {0};
    struct redis_server *server = NULL;
    char folder[FILE_PATH_SIZE], name[121];
    if (!redis_fixture_installed())
        skip();
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_ok(file_path(folder, &err, "%s/%s", dir->path, name), &err);
    assert_ok(redis_server_open(folder, &server, &err), &err);
    assert_true(answers(redis_server_url(server)));
    char socket[200];
    (void)snprintf(socket, sizeof socket, "%s", redis_server_url(server) + strlen("unix:"));
    assert_true(file_exists(socket));
    redis_server_close(server);
    assert_false(file_exists(socket));
    *strrchr(socket, '/') = '\0';
    assert_false(file_exists(socket));
}

static void dies_with_the_process_that_started_it(void **state)
{
    const struct temp_dir *dir = *state;
    int pipe_end[2];
    pid_t server_pid = 0;
    if (!redis_fixture_installed())
        skip();
    assert_int_equal(pipe(pipe_end), 0);
    const pid_t child = fork();
    if (child == 0) {
        struct redis_server *server = NULL;
        if (redis_server_open(dir->path, &server, NULL) != ERROR_NONE)
            child_end(1);
        const pid_t pid = redis_server_pid(server);
        (void)!write(pipe_end[1], &pid, sizeof pid);
        for (;;)
            (void)pause();
    }
    (void)close(pipe_end[1]);
    assert_int_equal(read(pipe_end[0], &server_pid, sizeof server_pid), sizeof server_pid);
    (void)close(pipe_end[0]);
    char url[FILE_PATH_SIZE + 32];
    (void)snprintf(url, sizeof url, "unix:%s/redis.sock", dir->path);
    assert_true(answers(url));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    for (int i = 0; i < 500 && answers(url); i++)
        clock_sleep_ms(10);
    assert_false(answers(url));
}

static void says_which_package_has_the_server(void **state)
{
    const struct temp_dir *dir = *state;
    struct error err = {0};
    struct redis_server *server = NULL;
    char path[4096];
    (void)snprintf(path, sizeof path, "%s", getenv("PATH") ? getenv("PATH") : "");
    assert_int_equal(setenv("PATH", dir->path, 1), 0);
    assert_fails(redis_server_open(dir->path, &server, &err), ERROR_UNAVAILABLE,
                 "install the package redis-server", &err);
    assert_null(server);
    assert_int_equal(setenv("PATH", path, 1), 0);
}

static void shows_the_log_of_a_server_that_does_not_start(void **state)
{
    const struct temp_dir *dir = *state;
    struct error err = {0};
    struct redis_server *server = NULL;
    char path[4096], program[FILE_PATH_SIZE];
    static const char script[] = "#!/bin/sh\necho out of luck\nexit 3\n";
    (void)snprintf(program, sizeof program, "%s",
                   temp_dir_write(dir, "redis-server", script, sizeof script - 1));
    assert_int_equal(chmod(program, 0755), 0);
    (void)snprintf(path, sizeof path, "%s", getenv("PATH") ? getenv("PATH") : "");
    assert_int_equal(setenv("PATH", dir->path, 1), 0);
    const enum error_code rc = redis_server_open(dir->path, &server, &err);
    assert_int_equal(setenv("PATH", path, 1), 0);
    assert_int_equal(rc, ERROR_UNAVAILABLE);
    assert_non_null(strstr(err.message, "out of luck"));
}

/* Kills the first two servers before they answer; the third one is real. */
static void starts_again_when_it_is_killed_while_it_starts(void **state)
{
    const struct temp_dir *dir = *state;
    struct error err = {0};
    struct redis_server *server = NULL;
    char path[4096], program[FILE_PATH_SIZE], with_ours[3 * 4096], script[4 * 8192];
    (void)snprintf(path, sizeof path, "%s", getenv("PATH") ? getenv("PATH") : "");
    (void)snprintf(script, sizeof script,
                   "#!/bin/sh\nfor n in 1 2; do mkdir '%s/'$n 2>/dev/null && kill -KILL $$; done\n"
                   "PATH='%s' exec redis-server \"$@\"\n",
                   dir->path, path);
    (void)snprintf(program, sizeof program, "%s",
                   temp_dir_write(dir, "redis-server", script, strlen(script)));
    assert_int_equal(chmod(program, 0755), 0);
    (void)snprintf(with_ours, sizeof with_ours, "%s:%s", dir->path, path);
    assert_int_equal(setenv("PATH", with_ours, 1), 0);
    const enum error_code rc = redis_server_open(dir->path, &server, &err);
    assert_int_equal(setenv("PATH", path, 1), 0);
    assert_ok(rc, &err);
    redis_server_close(server);
}

static void is_found_by_its_folder_while_it_runs(void **state)
{
    const struct temp_dir *dir = *state;
    struct error err = {0};
    struct redis_server *server = NULL;
    char url[200], small[8], deep[FILE_PATH_SIZE];
    if (!redis_fixture_installed())
        skip();
    assert_fails(redis_server_find(dir->path, url, sizeof url, &err), ERROR_NOT_FOUND, "/url",
                 &err);
    assert_ok(redis_server_open(dir->path, &server, &err), &err);
    assert_ok(redis_server_find(dir->path, url, sizeof url, &err), &err);
    assert_string_equal(url, redis_server_url(server));
    assert_fails(redis_server_find(dir->path, small, sizeof small, &err), ERROR_INPUT, "/url",
                 &err);
    redis_server_close(server);
    assert_fails(redis_server_find(dir->path, url, sizeof url, &err), ERROR_NOT_FOUND, "/url",
                 &err);
    memset(deep, 'd', sizeof deep - 2);
    deep[sizeof deep - 2] = '\0';
    assert_fails(redis_server_find(deep, url, sizeof url, &err), ERROR_INVALID, "path is longer",
                 &err);
    assert_fails(redis_server_open(deep, &server, &err), ERROR_IO, "ddd", &err);
    assert_null(server);
}

/* On a full disk nobody else finds the server, but the run continues. */
static void works_where_its_address_cannot_be_written(void **state)
{
    const struct temp_dir *dir = *state;
    struct error err = {0};
    struct redis_server *server = NULL;
    char path[FILE_PATH_SIZE];
    if (!redis_fixture_installed())
        skip();
    failing_calls_plan(CALL_RENAME, 0, -1, ENOSPC);
    assert_ok(redis_server_open(dir->path, &server, &err), &err);
    assert_true(failing_calls_end() > 0);
    assert_ok(file_path(path, &err, "%s/url", dir->path), &err);
    assert_false(file_exists(path));
    assert_true(answers(redis_server_url(server)));
    redis_server_close(server);
}

/* Tests that a failed check, which proves nothing about the server, leaves it alone. */
static void is_left_alone_when_it_cannot_be_asked(void **state)
{
    const struct temp_dir *dir = *state;
    struct error err = {0};
    struct redis_server *server = NULL;
    static const enum failing_call calls[] = {CALL_SOCKET, CALL_CONNECT, CALL_WRITE, CALL_READ};
    if (!redis_fixture_installed())
        skip();
    assert_ok(redis_server_open(dir->path, &server, &err), &err);
    const pid_t pid = redis_server_pid(server);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        bool restarted = true;
        failing_calls_plan(calls[i], 0, -1, EMFILE);
        for (int look = 0; look < 2; look++)
            assert_ok(redis_server_check(server, &restarted, &err), &err);
        assert_true(failing_calls_end() > 0);
        assert_false(restarted);
    }
    assert_int_equal(redis_server_pid(server), pid);
    assert_true(answers(redis_server_url(server)));
    redis_server_close(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(starts_answers_and_stops, temp_dir_setup,
                                        temp_dir_teardown),
        cmocka_unit_test_setup_teardown(starts_again_when_it_is_killed_while_it_starts,
                                        temp_dir_setup, temp_dir_teardown),
        cmocka_unit_test_setup_teardown(starts_again_when_it_was_killed, temp_dir_setup,
                                        temp_dir_teardown),
        cmocka_unit_test_setup_teardown(serves_a_folder_whose_path_is_too_long_for_a_socket,
                                        temp_dir_setup, temp_dir_teardown),
        cmocka_unit_test_setup_teardown(dies_with_the_process_that_started_it, temp_dir_setup,
                                        temp_dir_teardown),
        cmocka_unit_test_setup_teardown(is_found_by_its_folder_while_it_runs, temp_dir_setup,
                                        temp_dir_teardown),
        cmocka_unit_test_setup_teardown(works_where_its_address_cannot_be_written, temp_dir_setup,
                                        temp_dir_teardown),
        cmocka_unit_test_setup_teardown(is_left_alone_when_it_cannot_be_asked, temp_dir_setup,
                                        temp_dir_teardown),
        cmocka_unit_test_setup_teardown(says_which_package_has_the_server, temp_dir_setup,
                                        temp_dir_teardown),
        cmocka_unit_test_setup_teardown(shows_the_log_of_a_server_that_does_not_start,
                                        temp_dir_setup, temp_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
