/*
 * piece_spool - edges as they were read, put aside until the nodes are numbered.
 *
 * Text is so read, unpacked and split once, although nodes have their numbers only behind its last line. What is put aside has the ends
 * as the reader has them by then, and the line and file of each piece for messages. The first MiB of it stays in memory, the rest
 * lies in a scratch file of the builder: 8 bytes an edge where ids are small, else 16, and its columns.
 */
#ifndef STAGES_INGEST_BUILD_PIECE_SPOOL_H
#define STAGES_INGEST_BUILD_PIECE_SPOOL_H

#include "common/base/file.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/build/scratch_file.h"

#include <stddef.h>
#include <stdint.h>

struct piece_spool { /* {0} is empty; release with piece_spool_release() */
    char *memory;    /* [memory_size], the first bytes */
    size_t memory_size, memory_capacity, memory_read;
    struct scratch_file file;   /* the bytes behind them */
    char where[FILE_PATH_SIZE]; /* of the piece that was added or read last */
};

/* The next piece, copied; pieces have the same columns. Fails: ERROR_IO, ERROR_NO_SPACE, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code piece_spool_add(struct piece_spool *spool,
                                           struct dataset_builder *builder,
                                           const struct edge_piece *piece, struct error *err);
/* From the first piece again; nothing is added behind this. */
MUST_CHECK enum error_code piece_spool_rewind(struct piece_spool *spool, struct error *err);
/* The next piece into source, target and columns, which have room for any; out->count is 0 behind the last. out->where lives until
 * the next call. */
MUST_CHECK enum error_code piece_spool_read(struct piece_spool *spool, int64_t *source,
                                            int64_t *target, const struct edge_columns *columns,
                                            struct edge_piece *out, struct error *err);
void piece_spool_release(struct piece_spool *spool);

#endif
