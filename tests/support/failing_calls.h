/*
 * failing_calls - lets a test make system calls fail, also those of RocksDB and LMDB.
 *
 * A program that uses this has its own functions for the calls below, which replace those of the C
 * library. There is one plan at a time, for the thread that made it.
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

/* Lets `passed` more calls of the kind succeed, and fails the next `count` with errno `number`;
 * count < 0: all. Replaces the previous plan. */
void failing_calls_plan(enum failing_call call, long passed, long count, int number);
/* Does the same, but the failing calls do their work before they report the failure, like a network
 * that loses an answer. */
void failing_calls_plan_lost_answers(enum failing_call call, long passed, long count, int number);
/* Ends the plan. Returns the number of calls that failed. */
long failing_calls_end(void);

#endif
