/*
 * piece_spool - edges as they were read, kept until the nodes are numbered.
 *
 * The spool lets a text be read, unpacked and split only once, although its nodes have no numbers
 * before its last line is read. The spool keeps the ends of the edges as the reader knows them by
 * then, and the line and file of each piece for messages. The first MiB stays in memory, the rest
 * goes to a scratch file of the builder: 8 bytes an edge if ids are small, else 16, and the
 * columns.
 */
#ifndef STAGES_INGEST_BUILD_PIECE_SPOOL_H
#define STAGES_INGEST_BUILD_PIECE_SPOOL_H

#include "common/files/file.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/build/edges/scratch_file.h"

#include <stddef.h>
#include <stdint.h>

struct piece_spool { /* {0} is empty; release with piece_spool_release() */
    char *memory;    /* [memory_size], the first bytes of the spool */
    size_t memory_size, memory_capacity, memory_read;
    struct scratch_file file;   /* the bytes after those in memory */
    char where[FILE_PATH_SIZE]; /* the file of the piece that was added or read last */
};

/* Adds a copy of the piece. All pieces have the same columns. Fails: ERROR_IO, ERROR_NO_SPACE,
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code piece_spool_add(struct piece_spool *spool,
                                           struct dataset_builder *builder,
                                           const struct edge_piece *piece, struct error *err);
/* Starts reading from the first piece. Nothing may be added after it. */
MUST_CHECK enum error_code piece_spool_rewind(struct piece_spool *spool, struct error *err);
/* Reads the next piece into source, target and columns, which have room for the largest one;
 * out->count is 0 after the last piece. out->where lives until the next call. */
MUST_CHECK enum error_code piece_spool_read(struct piece_spool *spool, int64_t *source,
                                            int64_t *target, const struct edge_columns *columns,
                                            struct edge_piece *out, struct error *err);
void piece_spool_release(struct piece_spool *spool);

#endif
