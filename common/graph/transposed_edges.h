/*
 * transposed_edges - the edges of a message block by source: who hears from me.
 *
 * The gradient of a gather is a scatter. Read by source it is a gather again, which threads can share
 * without atomics and which adds in a fixed order.
 */
#ifndef COMMON_GRAPH_TRANSPOSED_EDGES_H
#define COMMON_GRAPH_TRANSPOSED_EDGES_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/graph/message_block.h"

#include <stdbool.h>
#include <stdint.h>

struct transposed_edges {
    uint32_t *start;       /* [source_count + 1] */
    uint32_t *destination; /* [start[source_count]], ascending within a source */
    uint32_t *edge;        /* likewise: positions in block->neighbor; NULL unless numbered */
};

/* By counting sort, in the arena. Edges from a node to itself are left out when `skip_self_loops`. */
MUST_CHECK enum error_code transposed_edges_build(const struct message_block *block,
                                                  bool skip_self_loops, struct arena *arena,
                                                  struct transposed_edges *out, struct error *err);

/* The same in two steps: room for all edges of the block, `numbers` with edge, and what goes there. */
MUST_CHECK enum error_code transposed_edges_new(const struct message_block *block, bool numbers,
                                                struct arena *arena, struct transposed_edges *out,
                                                struct error *err);
void transposed_edges_fill(const struct message_block *block, bool skip_self_loops,
                           const struct transposed_edges *out);

/* Built, and numbered. */
MUST_CHECK enum error_code transposed_edges_number(const struct message_block *block,
                                                   bool skip_self_loops, struct arena *arena,
                                                   struct transposed_edges *out, struct error *err);

#endif
