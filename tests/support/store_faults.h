/*
 * store_faults - a store whose calls fail when a test says so.
 *
 * A backend in front of another one: it counts the calls that a program makes of the store, all threads together,
 * and lets those of a plan fail. One plan at a time.
 */
#ifndef TESTS_SUPPORT_STORE_FAULTS_H
#define TESTS_SUPPORT_STORE_FAULTS_H

#include "store/objects/object_store.h"

#include <stdbool.h>

struct store_fault_plan {
    long passed;          /* calls that succeed first */
    long count;           /* calls that fail then; -1: all */
    enum error_code code; /* with which they fail */
    bool after;           /* they have done their work, but say that they failed */
    /* Or nothing fails, and this is done once, before the first call that is not passed: by another program, as it
     * were. It must not call the store that was opened here. */
    void (*meanwhile)(void *context);
    void *context;
};

/* Opens `place` of the backend `inner`. Close with store_close(). Aborts when that fails. */
struct store *store_faults_open(const struct object_backend *inner, const char *place);
void store_faults_plan(const struct store_fault_plan *plan);
/* No call fails any more; how many did. */
long store_faults_end(void);

#endif
