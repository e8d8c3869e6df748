/* test - the header that every test includes. */
#ifndef TESTS_SUPPORT_TEST_H
#define TESTS_SUPPORT_TEST_H

/* cmocka 1.1.5 needs these before it; the formatter would sort them after. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "common/base/error.h"

/* Fails with the error's own message, which says more than "3 != 0". */
#define assert_ok(call, err)                                                                       \
    do {                                                                                           \
        if ((call) != ERROR_NONE)                                                                  \
            fail_msg("%s: %s", #call, (err)->message);                                             \
    } while (0)

/* Asserts that the call fails with `code` and a message that contains `part`. The message of an
 * earlier failure does not count. */
#define assert_fails(call, code_, part, err)                                                       \
    do {                                                                                           \
        *(err) = (struct error){0};                                                                \
        const enum error_code assert_fails_rc = (call);                                            \
        assert_failed_so(#call, assert_fails_rc, code_, part, err);                                \
    } while (0)

/* Asserts the same for an earlier call that returned `rc`. */
#define assert_failed(rc, code_, part, err) assert_failed_so(#rc, rc, code_, part, err)

#define assert_failed_so(call, rc, code_, part, err)                                               \
    do {                                                                                           \
        if ((rc) != (code_))                                                                       \
            fail_msg("%s: code %d, expected %d: %s", call, (int)(rc), (int)(code_),                \
                     (err)->message);                                                              \
        if (!strstr((err)->message, part))                                                         \
            fail_msg("%s: message '%s' does not contain '%s'", call, (err)->message, part);        \
    } while (0)

#include <string.h>

#endif
