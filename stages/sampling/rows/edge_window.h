/*
 * edge_window - converts edges of a mini-batch from addresses in the adjacency to local indices.
 *
 * An edge takes three memory accesses, nearly all cache misses, each of which depends on the one
 * before: the start of the row, the entry of the adjacency, and the entry of the table of known
 * nodes. So each step of the window works on three edges. It prefetches the adjacency of one; it
 * reads that of a second, prefetched EDGE_DISTANCE steps ago, and prefetches its entry of the
 * table; and it relabels a third. The queue of misses stays full whatever the length of the rows,
 * and the arithmetic of one edge hides behind the misses of others.
 *
 *      0 ........ relabelled ........ fetched ........ asked ........ pushed
 *      local indices    |   node ids     |   addresses    |   addresses  |
 *      in `neighbor`    |  in `neighbor` | prefetched     |              |
 *
 * Counters count edges of the batch. The order is kept, so the result is the same as for one edge
 * after the other.
 */
#ifndef STAGES_SAMPLING_ROWS_EDGE_WINDOW_H
#define STAGES_SAMPLING_ROWS_EDGE_WINDOW_H

#include "common/base/error.h"
#include "stages/sampling/rows/known_nodes.h"

enum { EDGE_WINDOW = 2048, EDGE_DISTANCE = 128 };

struct edge_window { /* {0}, then edge_window_begin() */
    uint32_t pushed, asked, fetched, relabelled;
    uint32_t first;     /* the edge of address[0]; earlier edges are fetched */
    uint32_t *node;     /* [known nodes + edges not relabelled + 1] */
    uint32_t *neighbor; /* [pushed] */
    struct known_nodes *known;
    const uint32_t *address[EDGE_WINDOW];
};

/* Empties the window when `edges` edges are done. node, neighbor and known are the caller's, who
 * sets them again whenever they move. */
static inline void edge_window_begin(struct edge_window *window, uint32_t edges)
{
    window->pushed = window->asked = window->fetched = window->relabelled = window->first = edges;
}

/* Returns how many edges can be pushed before the window is full. */
static inline uint32_t edge_window_room(const struct edge_window *window)
{
    return EDGE_WINDOW - (window->pushed - window->first);
}

/* Returns where to write the addresses of the next edges, before `pushed` counts them. The caller
 * checks that there is room and that the addresses are readable. */
static inline const uint32_t **edge_window_end(struct edge_window *window)
{
    return &window->address[window->pushed - window->first];
}

static inline void edge_window_push(struct edge_window *window, const uint32_t *address)
{
    *edge_window_end(window) = address;
    window->pushed++;
}

/* Works until at most 2 EDGE_DISTANCE edges are unfinished, or with `all` until none is. Fails:
 * ERROR_CORRUPT for an entry that is no node; window->fetched is its edge, and neighbor[] of that
 * edge holds the entry. */
MUST_CHECK enum error_code edge_window_run(struct edge_window *window, int all);

#endif
