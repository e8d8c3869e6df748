/* redis_fixture - a private Redis for one test; the test is skipped if there is none. */
#ifndef TESTS_SUPPORT_REDIS_FIXTURE_H
#define TESTS_SUPPORT_REDIS_FIXTURE_H

#include "store/queue/redis_server.h"
#include "store/queue/work_queue.h"

#include "tests/support/temp_dir.h"

struct redis_fixture {
    struct temp_dir dir;
    struct redis_server *server;
};

/* Use as cmocka's setup and teardown; *state is the fixture. A failure to start fails the test. */
int redis_fixture_set_up(void **state);
int redis_fixture_tear_down(void **state);
/* Returns whether redis-server is installed; if not, tests that need it end with skip(). */
bool redis_fixture_installed(void);

#endif
