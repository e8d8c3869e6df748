/*
 * transposed_edges - the edges of a message block sorted by source.
 *
 * The gradient of a gather is a scatter. Read by source it is a gather again, which threads can
 * share without atomics, and which adds in a fixed order.
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
    uint32_t *edge;        /* same shape: positions in block->neighbor; NULL unless numbered */
};

/* Builds them by counting sort, in the arena. Self loops are skipped if `skip_self_loops`. */
MUST_CHECK enum error_code transposed_edges_build(const struct message_block *block,
                                                  bool skip_self_loops, struct arena *arena,
                                                  struct transposed_edges *out, struct error *err);

/* Do the same in two steps: allocate room for all edges of the block (`numbers`: with edge), then
 * fill it. */
MUST_CHECK enum error_code transposed_edges_new(const struct message_block *block, bool numbers,
                                                struct arena *arena, struct transposed_edges *out,
                                                struct error *err);
void transposed_edges_fill(const struct message_block *block, bool skip_self_loops,
                           const struct transposed_edges *out);

/* Builds and numbers the edges. */
MUST_CHECK enum error_code transposed_edges_number(const struct message_block *block,
                                                   bool skip_self_loops, struct arena *arena,
                                                   struct transposed_edges *out, struct error *err);

#endif
