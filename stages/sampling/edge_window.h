/*
 * edge_window - edges of a mini-batch on their way from an address in the adjacency to a local index.
 *
 * An edge takes three memory accesses that depend on each other, nearly all of them cache misses: the
 * entry of the adjacency, and with what it says the entry of the table of known nodes, both after the
 * row's start. So each step of the window works on three edges: it asks for the adjacency of one, reads
 * that of another, asked for EDGE_DISTANCE steps ago, and asks for its place in the table, and relabels a
 * third. The queue of misses stays full whatever the length of the rows, and the arithmetic of one edge
 * hides behind the misses of others.
 *
 *      0 ........ relabelled ........ fetched ........ asked ........ pushed
 *      local indices    |   node ids     |   addresses    |   addresses  |
 *      in `neighbor`    |  in `neighbor` | prefetched     |              |
 *
 * Counters are edges of the batch; order is kept, so the result is that of one edge after the other.
 */
#ifndef STAGES_SAMPLING_EDGE_WINDOW_H
#define STAGES_SAMPLING_EDGE_WINDOW_H

#include "common/base/error.h"
#include "stages/sampling/known_nodes.h"

enum { EDGE_WINDOW = 2048, EDGE_DISTANCE = 128 };

struct edge_window { /* {0}, then edge_window_begin() */
    uint32_t pushed, asked, fetched, relabelled;
    uint32_t first;     /* the edge of address[0]; those before it are fetched */
    uint32_t *node;     /* [what is known, and one more for each edge not relabelled, and one] */
    uint32_t *neighbor; /* [pushed] */
    struct known_nodes *known;
    const uint32_t *address[EDGE_WINDOW];
};

/* None is on its way, and `edges` are done; node, neighbor and known are the caller's, and set
 * again whenever they move. */
static inline void edge_window_begin(struct edge_window *window, uint32_t edges)
{
    window->pushed = window->asked = window->fetched = window->relabelled = window->first = edges;
}

/* Edges that can be pushed before the window is full. */
static inline uint32_t edge_window_room(const struct edge_window *window)
{
    return EDGE_WINDOW - (window->pushed - window->first);
}

/* Where the addresses of the next edges go, before `pushed` counts them. There is room for them, and they are
 * readable. */
static inline const uint32_t **edge_window_end(struct edge_window *window)
{
    return &window->address[window->pushed - window->first];
}

static inline void edge_window_push(struct edge_window *window, const uint32_t *address)
{
    *edge_window_end(window) = address;
    window->pushed++;
}

/* Works until at most 2 EDGE_DISTANCE edges are on their way, with `all` until none is.
 * Fails: ERROR_CORRUPT for an entry that is no node; window->fetched is its edge, neighbor[] of it says
 * what was found. */
MUST_CHECK enum error_code edge_window_run(struct edge_window *window, int all);

#endif
