/*
 * store_faults - a store whose calls a test can make fail.
 *
 * It is a backend in front of another one: it counts the program's calls of the store, over all
 * threads, and fails those of a plan. There is one plan at a time.
 */
#ifndef TESTS_SUPPORT_STORE_FAULTS_H
#define TESTS_SUPPORT_STORE_FAULTS_H

#include "store/objects/object_store.h"

#include <stdbool.h>

struct store_fault_plan {
    long passed;          /* number of calls that succeed first */
    long count;           /* number of calls that fail then; -1: all */
    enum error_code code; /* the code of the failure */
    bool after;           /* failing calls do their work before they report the failure */
    /* Alternatively nothing fails, and this is called once, before the first call that is not
     * passed, as if by another program. It must not call the store that was opened here. */
    void (*meanwhile)(void *context);
    void *context;
};

/* Opens `place` of the backend `inner`. Close with store_close(). Aborts when that fails. */
struct store *store_faults_open(const struct object_backend *inner, const char *place);
void store_faults_plan(const struct store_fault_plan *plan);
/* Ends the plan. Returns the number of calls that failed. */
long store_faults_end(void);

#endif
