#include "tests/support/redis_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

bool redis_fixture_installed(void)
{
    return system("command -v redis-server > /dev/null") == 0; /* NOLINT(cert-env33-c) */
}

int redis_fixture_set_up(void **state)
{
    static struct redis_fixture fixture;
    struct error err = {0};
    fixture = (struct redis_fixture){0};
    (void)signal(SIGPIPE, SIG_IGN); /* as stop_signal_install() does for the programs */
    temp_dir_make(&fixture.dir);
    *state = &fixture;
    if (redis_fixture_installed() &&
        redis_server_open(fixture.dir.path, &fixture.server, &err) != ERROR_NONE) {
        (void)fprintf(stderr, "%s\n", err.message);
        return -1;
    }
    return 0;
}

int redis_fixture_tear_down(void **state)
{
    struct redis_fixture *fixture = *state;
    redis_server_close(fixture->server);
    temp_dir_remove(&fixture->dir);
    return 0;
}
