/*
 * edge_buffer - collects edges line by line and pushes them into the dataset builder in pieces.
 *
 * A piece is a run of consecutive lines, so that the builder can name the line of each edge. A
 * comment or a blank line between two edges therefore ends the piece.
 */
#ifndef STAGES_INGEST_BUILD_EDGE_BUFFER_H
#define STAGES_INGEST_BUILD_EDGE_BUFFER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/build/piece_spool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EDGE_BUFFER_SIZE = 1 << 16 };

struct edge_buffer { /* {0} is releasable */
    struct dataset_builder *builder;
    const char *where; /* borrowed */
    int64_t first_line;
    size_t count;
    uint64_t total;              /* edges added so far */
    int64_t *source, *target;    /* [EDGE_BUFFER_SIZE] */
    struct edge_columns columns; /* [EDGE_BUFFER_SIZE] */
    bool has_columns;
    /* Fills in the columns that the lines do not have, for edges [first, first + count) of the
     * table. NULL: the lines have all columns. */
    enum error_code (*bring)(const void *context, uint64_t first, size_t count,
                             const struct edge_columns *out, struct error *err);
    const void *bring_context;
    /* where pieces wait until nodes are numbered; NULL: they go to the builder at once */
    struct piece_spool *aside;
};

/* `width` has the widths of the edge columns. */
MUST_CHECK enum error_code edge_buffer_init(struct edge_buffer *buffer,
                                            struct dataset_builder *builder, const char *where,
                                            const struct edge_widths *width, struct error *err);
void edge_buffer_release(struct edge_buffer *buffer);
/* Adds the edge in line `line`; `values` holds the columns of this one edge. */
MUST_CHECK enum error_code edge_buffer_add(struct edge_buffer *buffer, int64_t line, int64_t source,
                                           int64_t target, const struct edge_columns_view *values,
                                           struct error *err);
/* Pushes the remaining edges. Call it once, after the last edge. */
MUST_CHECK enum error_code edge_buffer_flush(struct edge_buffer *buffer, struct error *err);

#endif
