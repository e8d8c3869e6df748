/* child_end - ends a forked child at once, like _exit(), but keeps the counts of a coverage
 * build. */
#ifndef TESTS_SUPPORT_CHILD_END_H
#define TESTS_SUPPORT_CHILD_END_H

#include <unistd.h>

/* A function of gcc, which exists only in builds with --coverage. NOLINTNEXTLINE */
extern void __gcov_dump(void) __attribute__((weak));

static inline _Noreturn void child_end(int status)
{
    if (__gcov_dump)
        __gcov_dump();
    _exit(status);
}

#endif
