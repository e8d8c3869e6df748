/*
 * node_loads - counts how often the mini-batches of a run read each node, as a table with the ids
 * of the input.
 *
 *   node,reads,remote,edges
 *   alice,12,3,40
 *   bob,0,0,0
 *
 * There is one line for each node of the dataset, in its order (in a graph with relations type by
 * type), so the table fits whatever partition the run had. All values are whole numbers:
 *
 *   reads   the number of times that mini-batches read the node's row of features: once for each
 *           mini-batch that has it; a disjoint mini-batch may have it several times
 *   remote  the reads that came from a seed of another part than the node's own
 *   edges   edges to the node that were sampled
 *
 * With `--times` there is a fifth column, from the seconds that the workers measured
 * (stages/engine/stage_times.h):
 *
 *   nanoseconds  the node's share of the time spent on its part. The time of drawing is shared out
 *                by reads and edges, the time of steps by reads, and the time of inference by the
 *                node's in-edges and the node itself.
 *
 * `graphmill export --what loads` writes the table. partition reads it (partition.loads) and uses
 * edges, and with them nanoseconds or else reads.
 */
#ifndef STAGES_PLAN_MODEL_NODE_LOADS_H
#define STAGES_PLAN_MODEL_NODE_LOADS_H

#include "common/base/error.h"
#include "store/records/dataset/node_ids.h"

#include <stdint.h>

struct node_loads { /* {0} is empty */
    uint32_t node_count;
    uint32_t *reads, *remote, *edges; /* [node_count], owned, and so is the next */
    uint64_t *nanoseconds;            /* NULL: no times */
};

/* Allocates counts of 0. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_loads_init(struct node_loads *loads, uint32_t node_count,
                                           struct error *err);
/* Allocates times of 0, too. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_loads_add_times(struct node_loads *loads, struct error *err);
void node_loads_release(struct node_loads *loads);

/* Writes the table. `ids` are those of the dataset; without arrays they are numbers. The file
 * appears whole or not at all. Fails: ERROR_IO; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_loads_write(const char *path, const struct node_loads *loads,
                                            const struct node_ids *ids, struct error *err);
/* Reads the table of the dataset with these ids into *out, which the caller releases, failure or
 * not. The file may be compressed (.gz, .zst). Fails: ERROR_NOT_FOUND; ERROR_IO; ERROR_INPUT naming
 * file:line, what was expected and found: another header or node, a value that is not a number,
 * more or fewer lines than nodes, a table in which nothing was read, or times that are all 0. */
MUST_CHECK enum error_code node_loads_read(const char *path, uint32_t node_count,
                                           const struct node_ids *ids, struct node_loads *out,
                                           struct error *err);

#endif
