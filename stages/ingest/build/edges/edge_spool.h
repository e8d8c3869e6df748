/*
 * edge_spool - the edges of the input in a scratch file, in input order.
 *
 * The builder writes each edge once, and the sorter reads the file once for each of its ranges, so
 * edges never have to fit into memory. An edge takes 8 bytes plus its columns. Several threads may
 * read at once, each with a piece of its own.
 */
#ifndef STAGES_INGEST_BUILD_EDGES_EDGE_SPOOL_H
#define STAGES_INGEST_BUILD_EDGES_EDGE_SPOOL_H

#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "stages/ingest/build/edges/scratch_file.h"
#include "stages/ingest/build/edges/weight_scale.h"

#include <stddef.h>
#include <stdint.h>

struct edge_spool { /* {0} is closed */
    struct scratch_file file;
    struct edge_widths width;
    size_t edge_bytes;
    uint64_t edge_count;
    const struct weight_scale
        *scale; /* scale of the weights that edge_spool_read() returns; NULL: as given */
    /* [EDGE_SPOOL_PIECE * edge_bytes], edges not yet written to the file; NULL before
     * edge_spool_set_widths() */
    char *piece;
    size_t piece_count;
};

enum { EDGE_SPOOL_PIECE = 4096 };

/* A run of edges that a reader holds. */
struct spool_piece { /* {0} is empty */
    size_t count;
    uint64_t next;               /* the edge that edge_spool_read() starts with */
    char *bytes;                 /* [EDGE_SPOOL_PIECE * edge_bytes], the bytes of the file, owned */
    uint32_t *source, *target;   /* [EDGE_SPOOL_PIECE], owned */
    struct edge_columns columns; /* [EDGE_SPOOL_PIECE], owned */
};

MUST_CHECK enum error_code edge_spool_open(struct edge_spool *spool, const char *path,
                                           struct error *err);
/* Sets the columns of the edges. Call it before the first edge. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code
edge_spool_set_widths(struct edge_spool *spool, const struct edge_widths *width, struct error *err);
/* Removes the file. Closing a closed spool is allowed. */
void edge_spool_close(struct edge_spool *spool);
/* Returns the bytes that a sorted edge takes in memory: neighbour and columns. */
size_t edge_spool_entry_bytes(const struct edge_spool *spool);
/* Returns the bytes of the piece that each reader holds. */
size_t edge_spool_piece_bytes(const struct edge_spool *spool);

/* Appends an edge; its columns are those of edge `i` of `columns`. */
MUST_CHECK enum error_code edge_spool_append(struct edge_spool *spool, uint32_t source,
                                             uint32_t target,
                                             const struct edge_columns_view *columns, uint64_t i,
                                             struct error *err);
/* Writes the last edges to the file. Call it before the first edge is read; no edge may be appended
 * after it. */
MUST_CHECK enum error_code edge_spool_finish(struct edge_spool *spool, struct error *err);

MUST_CHECK enum error_code spool_piece_init(struct spool_piece *piece,
                                            const struct edge_spool *spool, struct error *err);
void spool_piece_release(struct spool_piece *piece);
/* Reads the edges from piece->next on; the piece is empty at the end of the file. */
MUST_CHECK enum error_code edge_spool_read(const struct edge_spool *spool,
                                           struct spool_piece *piece, struct error *err);

#endif
