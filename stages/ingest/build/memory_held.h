/*
 * memory_held - what a process has by now of its memory budget.
 *
 * --memory is for the whole process. What the next step may take is what the program and all that it holds leave of that: code,
 * the arrays of a node each, the ids and labels that are still wanted. The system knows how much that is; counting it would mean
 * to count each library, too.
 */
#ifndef STAGES_INGEST_BUILD_MEMORY_HELD_H
#define STAGES_INGEST_BUILD_MEMORY_HELD_H

#include <stdint.h>

/* Least budget of an ingest: the program itself, a buffer for each thing that is read or written, and a little for the graph. */
enum { MEMORY_HELD_LEAST = 32 << 20 };

/* Resident bytes, after memory that was freed is given back, and 2 MiB for what comes and goes; 0 under a sanitizer, which holds a multiple of its own. */
uint64_t memory_held_bytes(void);

#endif
