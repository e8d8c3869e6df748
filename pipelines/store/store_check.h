/*
 * store_check - tests whether a place can hold a store by using it: `graphmill doctor --store URI`.
 *
 * All its keys are below doctor/<16 random digits>/ and are removed at the end; it touches nothing
 * else. Each check is a line: the promise and the measured value, or the first thing that did not
 * hold.
 */
#ifndef PIPELINES_STORE_STORE_CHECK_H
#define PIPELINES_STORE_STORE_CHECK_H

#include "store/objects/store.h"

#include <stdbool.h>

typedef void (*store_check_visitor)(void *context, bool good, const char *name, const char *value);

/* Checks latency, rate, first writer, damaged records, list after write, refs and artifacts. It
 * takes some seconds, 40 MiB of memory, for a while 40 MiB of the store, and starts threads of its
 * own. */
void store_check(struct store *store, store_check_visitor visit, void *context);

#endif
