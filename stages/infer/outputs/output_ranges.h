/*
 * output_ranges - rows of the partition in a file, by ranges of the input that they belong to.
 *
 * Where the rows of the outputs do not fit the memory, they come in the order of the partition and go in that of the
 * input, and a range of the input that does fit has its rows anywhere. So each row is put to the others of its range
 * first, and then the ranges are read one after the other: each row is written once and read once more, however little
 * memory there is, where a pass over all shards for each range would read them all as often.
 *
 *   file      | range 0: room for `range_nodes` rows | range 1 | ...
 *   a row     its dataset node, its bytes, and the hash of both
 *   buffers   of each thread one for each range, written when it is full, behind what stands in the range
 *
 * In what order the rows of a range stand depends on the threads; each goes to the place that its node names. The file has no
 * name from the start, so nothing of it outlives the process.
 */
#ifndef STAGES_INFER_OUTPUTS_OUTPUT_RANGES_H
#define STAGES_INFER_OUTPUTS_OUTPUT_RANGES_H

#include "common/base/error.h"
#include "common/parallel/thread_pool.h"

#include <stddef.h>
#include <stdint.h>

struct output_ranges;

/* Bytes that a piece must have at least. */
size_t output_ranges_piece_least(size_t row_bytes);

struct output_ranges_config { /* borrowed until output_ranges_free() */
    const char *folder;       /* for the file */
    uint32_t node_count, range_nodes;
    size_t row_bytes;
    struct thread_pool *pool;
    char *
        memory; /* for buffers, until output_ranges_end(); where not a row a thread fits, more is allocated */
    size_t memory_bytes;
    char *piece; /* [threads, piece_bytes]: for reading */
    size_t piece_bytes;
};

/* Fails: ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code output_ranges_new(const struct output_ranges_config *config,
                                             struct output_ranges **out, struct error *err);
void output_ranges_free(struct output_ranges *ranges); /* NULL is fine */

/* Room for the row of dataset node `node`, which the caller fills before output_ranges_add(). Threads: side by side, each
 * with its own number. */
char *output_ranges_row(struct output_ranges *ranges, int thread, uint32_t node);
/* Fails: ERROR_IO, ERROR_NO_SPACE. */
MUST_CHECK enum error_code output_ranges_add(struct output_ranges *ranges, int thread,
                                             uint32_t node, struct error *err);
/* When all rows were added: writes what is in the buffers. */
MUST_CHECK enum error_code output_ranges_end(struct output_ranges *ranges, struct error *err);

/* Calls take(context, node, row) for each row of range `range`, by all threads and in any order. Fails: ERROR_CORRUPT for
 * a row that is not what was written; ERROR_IO. */
typedef void (*output_ranges_taker)(void *context, uint32_t node, const char *row);
MUST_CHECK enum error_code output_ranges_read(struct output_ranges *ranges, uint32_t range,
                                              output_ranges_taker take, void *context,
                                              struct error *err);

#endif
