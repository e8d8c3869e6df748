/*
 * store_check - whether a place can hold a store, found out by using it: `graphmill doctor --store URI`.
 *
 * All goes on below the keys doctor/<16 random digits>/, which are removed in the end; nothing else is touched. Each check is a line: what was
 * promised and found, or the first thing that was not as promised.
 */
#ifndef PIPELINES_STORE_CHECK_H
#define PIPELINES_STORE_CHECK_H

#include "store/objects/store.h"

#include <stdbool.h>

typedef void (*store_check_visitor)(void *context, bool good, const char *name, const char *value);

/* Latency, rate, first writer, damaged records, list after write, switches, artifacts. Takes some seconds, and 40 MiB of
 * memory and of the store for a while. Threads of its own. */
void store_check(struct store *store, store_check_visitor visit, void *context);

#endif
