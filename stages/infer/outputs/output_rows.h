/*
 * output_rows - reads embeddings, logits and labels of a range of nodes, in the order of the
 * input.
 *
 * Shards are in the order of the partition, so neighbours in the input may lie anywhere in them.
 * If all rows fit in memory, all threads read blocks and copy the rows to their places. Otherwise
 * a range of the input is as long as fits, and the rows are first sorted by range in a file
 * (output_ranges.h). Each block is read once.
 */
#ifndef STAGES_INFER_OUTPUTS_OUTPUT_ROWS_H
#define STAGES_INFER_OUTPUTS_OUTPUT_ROWS_H

#include "common/base/error.h"
#include "common/parallel/thread_pool.h"
#include "stages/infer/outputs/output_ranges.h"
#include "store/features/feature_source.h"
#include "store/records/partition/node_permutation.h"

#include <stddef.h>
#include <stdint.h>

enum output_tensor { OUTPUT_LOGITS, OUTPUT_LABELS, OUTPUT_EMBEDDINGS, OUTPUT_TENSOR_COUNT };

struct output_rows { /* {0} is empty; release with output_rows_release() */
    /* Borrowed; the caller sets these fields before output_rows_init(). NULL: not wanted. */
    struct feature_source *source[OUTPUT_TENSOR_COUNT];
    const struct node_permutation *permutation;
    struct thread_pool *pool;
    const char *folder; /* the file of ranges is created in it */
    /* The current range. */
    uint32_t first, end;            /* dataset nodes */
    char *row[OUTPUT_TENSOR_COUNT]; /* [end - first, dim of the tensor], elements of 4 bytes */
    size_t row_bytes[OUTPUT_TENSOR_COUNT];
    uint32_t room; /* nodes of the longest range */
    char *memory;
    size_t memory_bytes;
    struct output_ranges *ranges; /* NULL if all rows fit, or if none was read yet */
    char *block;                  /* [threads, block_bytes]: one block of each tensor */
    size_t block_bytes;
    uint32_t *block_start; /* [block_count + 1]: first partition node of each block */
    uint32_t block_count;
};

/* Allocates as many nodes as fit `budget_bytes`: all, or a multiple of `piece`. *rows may be
 * released after success and after failure. Fails: ERROR_NO_MEMORY naming the bytes wanted and
 * the budget. */
MUST_CHECK enum error_code output_rows_init(struct output_rows *rows, uint32_t piece,
                                            uint64_t budget_bytes, struct error *err);
/* Allocates only the range, for a caller that fills the rows itself and has set rows->row_bytes.
 * Fails as output_rows_init(). */
MUST_CHECK enum error_code output_rows_reserve(struct output_rows *rows, uint32_t node_count,
                                               uint32_t piece, uint64_t budget_bytes,
                                               struct error *err);
void output_rows_release(struct output_rows *rows);
/* Reads the rows of the dataset nodes from `first` on, as many as there is room for. The first
 * call is for node 0, each later one for rows->end. Fails: ERROR_CORRUPT naming shard, tensor
 * and block; ERROR_IO, ERROR_NO_SPACE. */
MUST_CHECK enum error_code output_rows_read(struct output_rows *rows, uint32_t first,
                                            struct error *err);
/* Returns the row of a node of the range. */
static inline const void *output_row(const struct output_rows *rows, enum output_tensor tensor,
                                     uint32_t node)
{
    return rows->row[tensor] + (node - rows->first) * rows->row_bytes[tensor];
}

#endif
