/*
 * batch_loads - counts how often the kept mini-batches of a run read the features of each node and
 * of each part.
 *
 * A mini-batch reads the row of a node for the seed from which it found the node; if there are
 * several, for the first of them in the order of the batch. A read is remote if that seed is in
 * another part than the node. Nodes of a subgraph that no path of edges connects to a seed are read
 * for no seed. Reads for validation are not counted.
 */
#ifndef PIPELINES_EXPORT_BATCH_LOADS_H
#define PIPELINES_EXPORT_BATCH_LOADS_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "pipelines/shared/run_folder.h"
#include "stages/plan/model/node_loads.h"

#include <stdint.h>

struct load_figures { /* {0} is empty */
    int64_t batches, first_round, last_round;
    int part_count;
    uint64_t *reads, *remote; /* [part_count] reads of rows of the part; owned */
    /* [part_count, part_count]: reads for seeds of the first part, of rows of the second; owned */
    uint64_t *from;
};

/* Counts the reads of the training mini-batches that the store has; a mini-batch that serves
 * several epochs counts once. *loads is indexed by dataset node.
 * Owns: *loads and *figures; the caller releases both, also on failure.
 * Fails: ERROR_NOT_FOUND when no mini-batch is kept; ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code batch_loads_count(const struct run_folder *folder,
                                             struct node_loads *loads, struct load_figures *figures,
                                             struct error *err);
/* Prints one line for people to stderr. */
void load_figures_say(const struct load_figures *figures);
/* Writes the figures as keys of the open JSON object. */
void load_figures_put(const struct load_figures *figures, struct json_writer *json);
void load_figures_release(struct load_figures *figures);

#endif
