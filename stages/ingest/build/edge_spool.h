/*
 * edge_spool - the edges of the input in a scratch file, in input order.
 *
 * The builder writes each edge once and the sorter reads the file as often as it has ranges, so that
 * edges never have to fit into memory. An edge takes 8 bytes, and what its columns take. Several threads may read at once, each
 * with a piece of its own.
 */
#ifndef STAGES_INGEST_BUILD_EDGE_SPOOL_H
#define STAGES_INGEST_BUILD_EDGE_SPOOL_H

#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "stages/ingest/build/scratch_file.h"
#include "stages/ingest/build/weight_scale.h"

#include <stddef.h>
#include <stdint.h>

struct edge_spool { /* {0} is closed */
    struct scratch_file file;
    struct edge_widths width;
    size_t edge_bytes;
    uint64_t edge_count;
    const struct weight_scale
        *scale; /* of weights as edge_spool_read() gives them; NULL: as given */
    char *
        piece; /* [EDGE_SPOOL_PIECE * edge_bytes], edges on their way into the file; NULL before edge_spool_set_widths() */
    size_t piece_count;
};

enum { EDGE_SPOOL_PIECE = 4096 };

/* A run of edges as they are read. */
struct spool_piece { /* {0} is empty */
    size_t count;
    uint64_t next;             /* the edge that edge_spool_read() gives first */
    char *bytes;               /* [EDGE_SPOOL_PIECE * edge_bytes], as they are in the file, owned */
    uint32_t *source, *target; /* [EDGE_SPOOL_PIECE], owned */
    struct edge_columns columns; /* likewise */
};

MUST_CHECK enum error_code edge_spool_open(struct edge_spool *spool, const char *path,
                                           struct error *err);
/* Which columns edges have; before the first edge. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code
edge_spool_set_widths(struct edge_spool *spool, const struct edge_widths *width, struct error *err);
/* Removes the file; a closed one is fine. */
void edge_spool_close(struct edge_spool *spool);
/* Bytes a sorted edge takes in memory: neighbour and columns. */
size_t edge_spool_entry_bytes(const struct edge_spool *spool);
/* Bytes of the piece that a reader takes. */
size_t edge_spool_piece_bytes(const struct edge_spool *spool);

/* Edge `i` of `columns`. */
MUST_CHECK enum error_code edge_spool_append(struct edge_spool *spool, uint32_t source,
                                             uint32_t target,
                                             const struct edge_columns_view *columns, uint64_t i,
                                             struct error *err);
/* Before the first edge is read. No edge may be appended after this. */
MUST_CHECK enum error_code edge_spool_finish(struct edge_spool *spool, struct error *err);

MUST_CHECK enum error_code spool_piece_init(struct spool_piece *piece,
                                            const struct edge_spool *spool, struct error *err);
void spool_piece_release(struct spool_piece *piece);
/* The edges from piece->next on; none at the end. */
MUST_CHECK enum error_code edge_spool_read(const struct edge_spool *spool,
                                           struct spool_piece *piece, struct error *err);

#endif
