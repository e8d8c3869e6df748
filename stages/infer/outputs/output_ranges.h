/*
 * output_ranges - collects rows that come in the order of the partition in a file, by the range of
 * the input that they belong to.
 *
 * If the rows of the outputs do not fit in memory, they are read in the order of the partition but
 * written in the order of the input. The rows of one range of the input that does fit may lie in
 * any shard. So each row is first appended to its range in a file, and then the ranges are read
 * one after the other. Each row is written once and read once more, with any amount of memory.
 * Reading all shards for each range would read every row once per range instead.
 *
 *   file      | range 0: room for `range_nodes` rows | range 1 | ...
 *   a row     its dataset node, its bytes, and the hash of both
 *   buffers   of each thread one for each range; a full buffer is appended to the range
 *
 * The order of rows inside a range depends on the threads; each row says which node it belongs to.
 * The file is unlinked when it is created, so it never outlives the process.
 */
#ifndef STAGES_INFER_OUTPUTS_OUTPUT_RANGES_H
#define STAGES_INFER_OUTPUTS_OUTPUT_RANGES_H

#include "common/base/error.h"
#include "common/parallel/thread_pool.h"

#include <stddef.h>
#include <stdint.h>

struct output_ranges;

/* Returns the least bytes that a piece must have. */
size_t output_ranges_piece_least(size_t row_bytes);

struct output_ranges_config { /* borrowed until output_ranges_free() */
    const char *folder;       /* the file is created in it */
    uint32_t node_count, range_nodes;
    size_t row_bytes;
    struct thread_pool *pool;
    /* for buffers, until output_ranges_end(); if it cannot hold one row per thread, more is
     * allocated */
    char *memory;
    size_t memory_bytes;
    char *piece; /* [threads, piece_bytes], for reading */
    size_t piece_bytes;
};

/* Creates the file and the buffers. Fails: ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code output_ranges_new(const struct output_ranges_config *config,
                                             struct output_ranges **out, struct error *err);
void output_ranges_free(struct output_ranges *ranges); /* NULL is fine */

/* Returns the room for the row of dataset node `node`. The caller fills it before
 * output_ranges_add(). Threads: in parallel, each with its own number. */
char *output_ranges_row(struct output_ranges *ranges, int thread, uint32_t node);
/* Adds the row that output_ranges_row() gave room for. Fails: ERROR_IO, ERROR_NO_SPACE. */
MUST_CHECK enum error_code output_ranges_add(struct output_ranges *ranges, int thread,
                                             uint32_t node, struct error *err);
/* Writes what is left in the buffers. Called after all rows were added. */
MUST_CHECK enum error_code output_ranges_end(struct output_ranges *ranges, struct error *err);

/* Calls take(context, node, row) for each row of range `range`, from all threads and in any
 * order. Fails: ERROR_CORRUPT for a row that differs from what was written; ERROR_IO. */
typedef void (*output_ranges_taker)(void *context, uint32_t node, const char *row);
MUST_CHECK enum error_code output_ranges_read(struct output_ranges *ranges, uint32_t range,
                                              output_ranges_taker take, void *context,
                                              struct error *err);

#endif
