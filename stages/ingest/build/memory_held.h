/*
 * memory_held - how much of its memory budget a process already uses.
 *
 * --memory is for the whole process. The next step may use what the program leaves of the budget:
 * code, arrays with one entry per node, and the ids and labels that are still needed are
 * subtracted. The number comes from the system, because counting it here would mean to count each
 * library, too.
 */
#ifndef STAGES_INGEST_BUILD_MEMORY_HELD_H
#define STAGES_INGEST_BUILD_MEMORY_HELD_H

#include <stdint.h>

/* The least budget of an ingest: the program itself, a buffer for each file that is read or
 * written, and a little for the graph. */
enum { MEMORY_HELD_LEAST = 32 << 20 };

/* Returns the resident bytes after freed memory is given back, plus 2 MiB for short-lived memory.
 * Returns 0 under a sanitizer, because a sanitizer holds several times that for itself. */
uint64_t memory_held_bytes(void);

#endif
