#include "stages/edge_window.h"

#include <stdbool.h>

static inline void ask(const struct edge_window *w, uint32_t edge)
{
    __builtin_prefetch(w->address[edge % EDGE_WINDOW], 0, 2);
}

/* False when it is no node. */
static inline bool fetch(const struct edge_window *w, uint32_t edge, uint32_t node_count)
{
    const uint32_t id = *w->address[edge % EDGE_WINDOW];
    w->neighbor[edge] = id;
    __builtin_prefetch(&w->known->entry.data[id], 0, 2);
    return id < node_count;
}

/* The new number of known nodes. Without a branch on "is it new", which no predictor guesses: so a node
 * is written before it is known whether it counts. */
static inline uint32_t relabel(const struct edge_window *w, uint32_t edge, uint32_t base,
                               uint32_t known_count)
{
    uint32_t *entry = &w->known->entry.data[w->neighbor[edge]];
    const uint32_t found = *entry;
    const bool is_new = found < base;
    const uint32_t value = is_new ? base + known_count : found;
    *entry = value;
    w->node[known_count] = w->neighbor[edge];
    w->neighbor[edge] = value - base;
    return known_count + is_new;
}

static enum error_code fetch_until(struct edge_window *w, uint32_t end)
{
    for (; w->fetched < end; w->fetched++)
        if (!fetch(w, w->fetched, w->known->node_count))
            return ERROR_CORRUPT;
    return ERROR_NONE;
}

static void relabel_until(struct edge_window *w, uint32_t end)
{
    uint32_t known_count = w->known->count;
    for (; w->relabelled < end; w->relabelled++)
        known_count = relabel(w, w->relabelled, w->known->base, known_count);
    w->known->count = known_count;
}

/* All three at once, while there is enough for each. */
static enum error_code run_steady(struct edge_window *w)
{
    const uint32_t node_count = w->known->node_count, base = w->known->base;
    const uint32_t steps = w->pushed - w->asked;
    uint32_t asked = w->asked, fetched = w->fetched, relabelled = w->relabelled;
    uint32_t known_count = w->known->count;
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; i < steps; i++, asked++, fetched++, relabelled++) {
        ask(w, asked);
        if (!fetch(w, fetched, node_count)) {
            rc = ERROR_CORRUPT;
            break;
        }
        known_count = relabel(w, relabelled, base, known_count);
    }
    w->asked = asked;
    w->fetched = fetched;
    w->relabelled = relabelled;
    w->known->count = known_count;
    return rc;
}

/* Opens the distances at the start of a hop, where one stage has nothing to work on yet. */
static enum error_code run_up(struct edge_window *w)
{
    for (; w->asked < w->pushed && w->asked < w->relabelled + 2 * EDGE_DISTANCE; w->asked++)
        ask(w, w->asked);
    return w->asked < w->relabelled + 2 * EDGE_DISTANCE
               ? ERROR_NONE
               : fetch_until(w, w->relabelled + EDGE_DISTANCE);
}

enum error_code edge_window_run(struct edge_window *window, int all)
{
    enum error_code rc = run_up(window);
    if (rc == ERROR_NONE && window->asked < window->pushed)
        rc = run_steady(window);
    if (rc != ERROR_NONE || !all)
        return rc;
    rc = fetch_until(window, window->pushed);
    if (rc == ERROR_NONE)
        relabel_until(window, window->pushed);
    return rc;
}
