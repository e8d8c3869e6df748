#include "stages/sampling/rows/edge_window.h"

#include "common/numbers/cpu_kernel.h"

#include <string.h>

CPU_INLINE void ask(const uint32_t *address)
{
    __builtin_prefetch(address, 0, 2);
}

/* Reads the id and prefetches its entry of the table. The id is not checked yet: a prefetch of any
 * address is harmless. */
static inline uint32_t fetch(const uint32_t *address, const uint32_t *entry)
{
    const uint32_t id = *address;
    __builtin_prefetch(&entry[id], 0, 2);
    return id;
}

/* The variables of relabelling, copied so that compilers keep them in registers. */
struct relabelling {
    uint32_t *entry, *node;
    uint32_t base, next; /* base + the number of known nodes */
};

/* Returns the local index of a node and adds the node if it is new. There is no branch on "is it
 * new", because no predictor guesses it. So the node is written before it is known whether it
 * counts, and a mask selects one of the two numbers; compilers do not turn the mask into a
 * branch. */
static inline uint32_t relabel(struct relabelling *at, uint32_t id)
{
    const uint32_t found = at->entry[id], is_new = found < at->base;
    const uint32_t value = found ^ ((found ^ at->next) & (0 - is_new));
    at->entry[id] = value;
    at->node[at->next - at->base] = id;
    at->next += is_new;
    return value - at->base;
}

static struct relabelling begin(const struct edge_window *w)
{
    return (struct relabelling){.entry = w->known->entry.data,
                                .node = w->node,
                                .base = w->known->base,
                                .next = w->known->base + w->known->count};
}

static void end(struct edge_window *w, const struct relabelling *at)
{
    w->known->count = at->next - at->base;
}

static enum error_code fetch_until(struct edge_window *w, uint32_t last)
{
    const struct known_nodes *known = w->known;
    for (; w->fetched < last; w->fetched++) {
        const uint32_t id = fetch(w->address[w->fetched - w->first], known->entry.data);
        w->neighbor[w->fetched] = id;
        if (id >= known->node_count)
            return ERROR_CORRUPT;
    }
    return ERROR_NONE;
}

static void relabel_until(struct edge_window *w, uint32_t last)
{
    struct relabelling at = begin(w);
    for (; w->relabelled < last; w->relabelled++)
        w->neighbor[w->relabelled] = relabel(&at, w->neighbor[w->relabelled]);
    end(w, &at);
}

/* Asks, fetches and relabels in one loop: each stage is EDGE_DISTANCE edges behind the one
 * before. */
static enum error_code run_steady(struct edge_window *w)
{
    const uint32_t node_count = w->known->node_count, steps = w->pushed - w->asked;
    const uint32_t *const *address = w->address + (w->fetched - w->first);
    uint32_t *neighbor = w->neighbor + w->relabelled;
    struct relabelling at = begin(w);
    uint32_t done = 0;
    for (; done < steps; done++) {
        ask(address[done + EDGE_DISTANCE]);
        const uint32_t id = fetch(address[done], at.entry);
        neighbor[done + EDGE_DISTANCE] = id;
        if (id >= node_count)
            break;
        neighbor[done] = relabel(&at, neighbor[done]);
    }
    end(w, &at);
    w->asked += done;
    w->fetched += done;
    w->relabelled += done;
    return done == steps ? ERROR_NONE : ERROR_CORRUPT;
}

/* Fills the window at the start of a hop, until the stages are EDGE_DISTANCE edges apart. */
static enum error_code run_up(struct edge_window *w)
{
    for (; w->asked < w->pushed && w->asked < w->relabelled + 2 * EDGE_DISTANCE; w->asked++)
        ask(w->address[w->asked - w->first]);
    return w->asked < w->relabelled + 2 * EDGE_DISTANCE
               ? ERROR_NONE
               : fetch_until(w, w->relabelled + EDGE_DISTANCE);
}

/* Moves the addresses that are still needed, which are few, to the front to make room. */
static void slide(struct edge_window *w)
{
    memmove(w->address, w->address + (w->fetched - w->first),
            (w->pushed - w->fetched) * sizeof *w->address);
    w->first = w->fetched;
}

enum error_code edge_window_run(struct edge_window *window, int all)
{
    enum error_code rc = run_up(window);
    if (rc == ERROR_NONE && window->asked < window->pushed)
        rc = run_steady(window);
    if (rc == ERROR_NONE && all) {
        rc = fetch_until(window, window->pushed);
        if (rc == ERROR_NONE)
            relabel_until(window, window->pushed);
    }
    if (rc == ERROR_NONE)
        slide(window);
    return rc;
}
