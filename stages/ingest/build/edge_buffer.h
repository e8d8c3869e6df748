/*
 * edge_buffer - collects edges line by line and pushes them into the dataset builder in pieces.
 *
 * A piece is a run of consecutive lines, so that the builder can name the line of each edge: a comment
 * or blank line between two edges ends it.
 */
#ifndef STAGES_INGEST_BUILD_EDGE_BUFFER_H
#define STAGES_INGEST_BUILD_EDGE_BUFFER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EDGE_BUFFER_SIZE = 1 << 16 };

struct edge_buffer { /* {0} is releasable */
    struct dataset_builder *builder;
    const char *where; /* borrowed */
    int64_t first_line;
    size_t count;
    uint64_t total;           /* edges added so far */
    int64_t *source, *target; /* [EDGE_BUFFER_SIZE]; likewise below, NULL when there is none */
    float *weight;
    double *time;
    uint16_t *edge_type;
};

enum edge_extra { EDGE_WEIGHT = 1, EDGE_TIME = 2, EDGE_TYPE = 4 };

struct edge {
    int64_t source, target;
    float weight;
    double time;
    uint16_t type;
};

/* `extras`: which optional arrays there are (enum edge_extra). */
MUST_CHECK enum error_code edge_buffer_init(struct edge_buffer *buffer,
                                            struct dataset_builder *builder, const char *where,
                                            unsigned extras, struct error *err);
void edge_buffer_release(struct edge_buffer *buffer);
/* `line` is where the edge stands. */
MUST_CHECK enum error_code edge_buffer_add(struct edge_buffer *buffer, int64_t line,
                                           const struct edge *edge, struct error *err);
/* Pushes what is left; called once behind the last edge. */
MUST_CHECK enum error_code edge_buffer_flush(struct edge_buffer *buffer, struct error *err);

#endif
