/* child_end - the end of a forked child: at once, as _exit(), but what a coverage build has counted is kept. */
#ifndef TESTS_SUPPORT_CHILD_END_H
#define TESTS_SUPPORT_CHILD_END_H

#include <unistd.h>

/* gcc's; there is none in builds without --coverage. NOLINTNEXTLINE */
extern void __gcov_dump(void) __attribute__((weak));

static inline _Noreturn void child_end(int status)
{
    if (__gcov_dump)
        __gcov_dump();
    _exit(status);
}

#endif
