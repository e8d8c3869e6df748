/*
 * output_rows - embeddings, logits and labels of a range of nodes, in the order of the input.
 *
 * Shards are in the order of the partition, and what is next to each other in the input may lie anywhere in them. With
 * room for all rows, all threads take blocks and copy the rows to their places. Else a range of the input is as long as there is
 * room, and the rows are brought together by ranges in a file first (output_ranges.h). Each block is read once.
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
    /* Borrowed, set by the caller before output_rows_init(); NULL: not wanted. */
    struct feature_source *source[OUTPUT_TENSOR_COUNT];
    const struct node_permutation *permutation;
    struct thread_pool *pool;
    const char *folder; /* for the file of ranges */
    /* Of the range: */
    uint32_t first, end;            /* nodes of the dataset */
    char *row[OUTPUT_TENSOR_COUNT]; /* [end - first, dim of the tensor], of 4-byte elements */
    size_t row_bytes[OUTPUT_TENSOR_COUNT];
    uint32_t room; /* of a range at most */
    char *memory;
    size_t memory_bytes;
    struct output_ranges *ranges; /* NULL: all rows fit, or none was read yet */
    char *block;                  /* [threads, block_bytes]: a block of each tensor */
    size_t block_bytes;
    uint32_t *block_start; /* [block_count + 1]: nodes of the partition */
    uint32_t block_count;
};

/* Room for ranges of as many nodes as fit `budget_bytes`, a multiple of `piece` unless that is all; *rows may be released
 * whether this succeeds or not. Fails: ERROR_NO_MEMORY naming bytes wanted and budget. */
MUST_CHECK enum error_code output_rows_init(struct output_rows *rows, uint32_t piece,
                                            uint64_t budget_bytes, struct error *err);
/* The room alone, for a caller that brings the rows itself: rows->row_bytes are set, and the same fails. */
MUST_CHECK enum error_code output_rows_reserve(struct output_rows *rows, uint32_t node_count,
                                               uint32_t piece, uint64_t budget_bytes,
                                               struct error *err);
void output_rows_release(struct output_rows *rows);
/* Reads the rows of the next dataset nodes from `first` on, as many as there is room for; the first call is for node 0, and each
 * other one for rows->end. Fails: ERROR_CORRUPT naming shard, tensor and block; ERROR_IO, ERROR_NO_SPACE. */
MUST_CHECK enum error_code output_rows_read(struct output_rows *rows, uint32_t first,
                                            struct error *err);
/* The row of a node of the range. */
static inline const void *output_row(const struct output_rows *rows, enum output_tensor tensor,
                                     uint32_t node)
{
    return rows->row[tensor] + (node - rows->first) * rows->row_bytes[tensor];
}

#endif
