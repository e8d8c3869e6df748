/* temp_store - a directory store in a fresh folder, for one test. */
#ifndef TESTS_SUPPORT_TEMP_STORE_H
#define TESTS_SUPPORT_TEMP_STORE_H

#include "store/objects/store.h"

#include "tests/support/temp_dir.h"

struct temp_store {
    struct temp_dir dir;
    struct store *store;
    struct error err;
};

/* Setup and teardown for cmocka_unit_test_setup_teardown: *state is the struct temp_store. The
 * teardown fails when the test leaked memory. */
int temp_store_setup(void **state);
int temp_store_teardown(void **state);

#define test_with_store(function)                                                                  \
    cmocka_unit_test_setup_teardown(function, temp_store_setup, temp_store_teardown)

#endif
