/*
 * failing_calls - system calls that fail when a test says so, also those that RocksDB and LMDB make.
 *
 * A program that uses this has functions of its own for the calls below; they stand before the C library's. One
 * plan at a time, for the thread that made it.
 */
#ifndef TESTS_SUPPORT_FAILING_CALLS_H
#define TESTS_SUPPORT_FAILING_CALLS_H

enum failing_call {
    CALL_NONE,
    CALL_OPEN,
    CALL_STAT, /* by name: stat, lstat */
    CALL_FSTAT,
    CALL_PREAD,
    CALL_READ,  /* read, recv */
    CALL_WRITE, /* write, writev, pwrite, send */
    CALL_FSYNC, /* fsync, fdatasync */
    CALL_FTRUNCATE,
    CALL_LINK,
    CALL_RENAME,
    CALL_RENAMEAT2,
    CALL_MKDIR,
    CALL_UNLINK,
    CALL_FLOCK,
    CALL_MMAP,
    CALL_CLOSE,
    CALL_SOCKET,
    CALL_CONNECT,
    CALL_COUNT
};

/* After `passed` more calls of the kind, the next `count` fail with errno `number`; count < 0: all. Replaces the
 * plan before. */
void failing_calls_plan(enum failing_call call, long passed, long count, int number);
/* The same, but the calls do what they should before they say that they failed, as over a network that loses an
 * answer. */
void failing_calls_plan_lost_answers(enum failing_call call, long passed, long count, int number);
/* No call fails any more; how many did. */
long failing_calls_end(void);

#endif
