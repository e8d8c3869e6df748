/*
 * output_lines - what is said of each node in a line, and counted: predictions.csv and the metrics of the splits.
 *
 * Nodes of the dataset are taken in pieces of OUTPUT_PIECE_ROWS, whatever the memory and the threads. Threads make pieces
 * side by side, each in memory of its own, and put them behind each other in the order of the nodes. Counts and losses are
 * summed in each piece and then piece after piece: the same bits for any number of threads.
 */
#ifndef STAGES_INFER_OUTPUTS_OUTPUT_LINES_H
#define STAGES_INFER_OUTPUTS_OUTPUT_LINES_H

#include "common/base/error.h"
#include "common/files/checksum.h"
#include "common/nn/tasks/tally.h"
#include "common/parallel/thread_pool.h"
#include "stages/infer/outputs/output_rows.h"
#include "stages/infer/outputs/prediction_table.h"
#include "store/records/dataset/node_splits.h"

#include <stdint.h>

enum { OUTPUT_PIECE_ROWS = 256 };

extern const char *const output_split_name[SPLIT_COUNT];

struct output_lines;

struct output_lines_config { /* borrowed until output_lines_close() */
    const struct output_rows *rows;
    const struct prediction_table *table;
    const uint32_t *to_partition; /* [node_count]: the number of each row; NULL: the same */
    const uint8_t
        *split_of; /* [node_count] by number (output_nodes.h): enum split + 1, 0 for none */
    uint32_t label_classes; /* labels are below */
    const uint32_t *node;   /* [rows]: the nodes that they are of; NULL: row i of node i */
    struct tally *tally;    /* [SPLIT_COUNT], added to */
    struct thread_pool *pool;
    const char *path; /* of predictions.csv, which is created; NULL: nodes are counted alone */
};

/* Fails: ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code output_lines_open(const struct output_lines_config *config,
                                             struct output_lines **out, struct error *err);
/* Makes the lines of the rows first .. end - 1, a piece of the range that config->rows has, in the memory of a thread. Threads:
 * side by side, each with its own number. Fails: ERROR_CORRUPT for a label out of range. */
MUST_CHECK enum error_code output_lines_make(struct output_lines *lines, int thread, uint32_t first,
                                             uint32_t end, struct error *err);
/* Puts them behind those that were put before: one thread at a time, in the order of the nodes.
 * Fails: ERROR_IO, ERROR_NO_SPACE. */
MUST_CHECK enum error_code output_lines_put(struct output_lines *lines, int thread,
                                            struct error *err);
/* node_ids.csv: the ids of the dataset's nodes alone, or of node [node_count] where that is not NULL. */
MUST_CHECK enum error_code output_lines_write_ids(const char *path,
                                                  const struct prediction_table *table,
                                                  const uint32_t *node, uint32_t node_count,
                                                  struct error *err);
/* Closes the file; its bytes and their hash, as they were written. */
MUST_CHECK enum error_code output_lines_finish(struct output_lines *lines, uint64_t *size_bytes,
                                               struct checksum *sum, struct error *err);
void output_lines_close(struct output_lines *lines); /* NULL is fine */

#endif
