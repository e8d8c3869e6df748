/*
 * node_loads - what the mini-batches of a run read of each node, as a table with the ids of the input.
 *
 *   node,reads,remote,edges
 *   alice,12,3,40
 *   bob,0,0,0
 *
 * A line for each node of the dataset, in its order (of a graph with relations type by type), so that it fits whatever partition the
 * run had. All are whole numbers:
 *
 *   reads   mini-batches that the node is in, of a disjoint one as often as it is: so often its row of features was read
 *   remote  those in which it was found from a seed that another part than its own has
 *   edges   edges to the node that were sampled
 *
 * With `--times` there is a fifth column, of the seconds that its workers kept (stages/engine/stage_times.h):
 *
 *   nanoseconds  what fell to the node of the time that its part was worked on: of drawing by reads and edges, of steps by reads, of
 *                inference by its in-edges and itself
 *
 * Written by `graphmill export --what loads`, read by partition (partition.loads), which goes by edges, and by nanoseconds or else reads.
 */
#ifndef STAGES_PLAN_NODE_LOADS_H
#define STAGES_PLAN_NODE_LOADS_H

#include "common/base/error.h"
#include "store/records/node_ids.h"

#include <stdint.h>

struct node_loads { /* {0} is empty */
    uint32_t node_count;
    uint32_t *reads, *remote, *edges; /* [node_count], owned, as is the next */
    uint64_t *nanoseconds;            /* NULL: no times */
};

/* Zeros. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_loads_init(struct node_loads *loads, uint32_t node_count,
                                           struct error *err);
/* Zeros for times, too. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_loads_add_times(struct node_loads *loads, struct error *err);
void node_loads_release(struct node_loads *loads);

/* `ids`: of the dataset; without arrays numbers. The file appears whole or not at all. Fails: ERROR_IO; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_loads_write(const char *path, const struct node_loads *loads,
                                            const struct node_ids *ids, struct error *err);
/* Reads the table of the dataset with these ids into *out, which the caller releases, failure or not. It may be packed (.gz, .zst).
 * Fails: ERROR_NOT_FOUND; ERROR_IO; ERROR_INPUT naming file:line, what was expected and found: another header or node, a number that
 * is none, more or fewer lines than nodes, and a table in which nothing was read, or with times that are all 0. */
MUST_CHECK enum error_code node_loads_read(const char *path, uint32_t node_count,
                                           const struct node_ids *ids, struct node_loads *out,
                                           struct error *err);

#endif
