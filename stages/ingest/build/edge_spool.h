/*
 * edge_spool - the edges of the input in a scratch file, in input order.
 *
 * The builder writes each edge once and the sorter reads the file as often as it has ranges, so that
 * edges never have to fit into memory. An edge takes 8 bytes, and 4, 8 and 2 more for weight, time and
 * type when the input has them.
 */
#ifndef STAGES_INGEST_BUILD_EDGE_SPOOL_H
#define STAGES_INGEST_BUILD_EDGE_SPOOL_H

#include "common/base/error.h"
#include "stages/ingest/build/scratch_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spooled_edge {
    uint32_t source, target;
    float weight; /* 0 when there is none; likewise below */
    uint16_t edge_type;
    double time;
};

struct edge_spool { /* {0} is closed */
    struct scratch_file file;
    bool has_weight, has_time, has_type;
    size_t edge_bytes;
    uint64_t edge_count;
    uint64_t next;  /* edge that edge_spool_read() gives next */
    uint8_t *piece; /* as read, not yet taken apart */
};

enum { EDGE_SPOOL_PIECE = 4096, EDGE_BYTES_MAX = 8 + 4 + 8 + 2 };

MUST_CHECK enum error_code edge_spool_open(struct edge_spool *spool, const char *path,
                                           struct error *err);
/* Which attributes edges have; before the first edge. */
void edge_spool_set_attributes(struct edge_spool *spool, bool has_weight, bool has_time,
                               bool has_type);
/* Removes the file; a closed one is fine. */
void edge_spool_close(struct edge_spool *spool);
/* Bytes a sorted edge takes in memory: neighbour and attributes. */
size_t edge_spool_entry_bytes(const struct edge_spool *spool);

MUST_CHECK enum error_code edge_spool_append(struct edge_spool *spool,
                                             const struct spooled_edge *edge, struct error *err);
/* From the first edge again. No edge may be appended after this. */
MUST_CHECK enum error_code edge_spool_rewind(struct edge_spool *spool, struct error *err);
/* Up to EDGE_SPOOL_PIECE edges into `edge`; *count is 0 at the end. */
MUST_CHECK enum error_code edge_spool_read(struct edge_spool *spool,
                                           struct spooled_edge edge[EDGE_SPOOL_PIECE],
                                           size_t *count, struct error *err);

#endif
