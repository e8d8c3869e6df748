/*
 * output_lines - writes one line for each node to predictions.csv, and counts the metrics of the
 * splits.
 *
 * Nodes of the dataset are processed in pieces of OUTPUT_PIECE_ROWS, for any memory and number of
 * threads. Threads make pieces in parallel, each in its own memory, and append them in the order
 * of the nodes. Counts and losses are summed inside each piece and then piece after piece, so the
 * bits are the same for any number of threads.
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
    const uint32_t *to_partition; /* [node_count]: the number of each row; NULL: rows are numbers */
    /* [node_count] by number (output_nodes.h): enum split + 1, 0 for none */
    const uint8_t *split_of;
    uint32_t label_classes; /* all labels are below */
    const uint32_t *node;   /* [rows]: node of each row; NULL: row i is node i */
    struct tally *tally;    /* [SPLIT_COUNT]; results are added */
    struct thread_pool *pool;
    const char *path; /* path of predictions.csv, which is created; NULL: only count */
};

/* Opens the file and allocates the pieces of the threads. Fails: ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code output_lines_open(const struct output_lines_config *config,
                                             struct output_lines **out, struct error *err);
/* Makes the lines of rows first .. end - 1, one piece of the range in config->rows, in the
 * memory of a thread. Threads: in parallel, each with its own number. Fails: ERROR_CORRUPT for a
 * label out of range. */
MUST_CHECK enum error_code output_lines_make(struct output_lines *lines, int thread, uint32_t first,
                                             uint32_t end, struct error *err);
/* Appends the lines of a thread to the file. Threads: one at a time, in the order of the nodes.
 * Fails: ERROR_IO, ERROR_NO_SPACE. */
MUST_CHECK enum error_code output_lines_put(struct output_lines *lines, int thread,
                                            struct error *err);
/* Writes node_ids.csv: the ids of the first node_count nodes of the table, or of node
 * [node_count] if it is not NULL. */
MUST_CHECK enum error_code output_lines_write_ids(const char *path,
                                                  const struct prediction_table *table,
                                                  const uint32_t *node, uint32_t node_count,
                                                  struct error *err);
/* Closes the file, and returns its size and its hash, which were computed while writing. */
MUST_CHECK enum error_code output_lines_finish(struct output_lines *lines, uint64_t *size_bytes,
                                               struct checksum *sum, struct error *err);
void output_lines_close(struct output_lines *lines); /* NULL is fine */

#endif
