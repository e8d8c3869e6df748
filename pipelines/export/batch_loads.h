/*
 * batch_loads - what the kept mini-batches of a run read of each node, and of each part.
 *
 * A row of features is read for the seed from which its node was found: the first by the order of the batch, where there are several. It
 * is remote where that seed is in another part than the node. Nodes of a subgraph that no edges join to a seed are read for none.
 * Validation reads rows too, which are not counted.
 */
#ifndef PIPELINES_EXPORT_BATCH_LOADS_H
#define PIPELINES_EXPORT_BATCH_LOADS_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "pipelines/run_folder.h"
#include "stages/plan/node_loads.h"

#include <stdint.h>

struct load_figures { /* {0} is empty */
    int64_t batches, first_round, last_round;
    int part_count;
    uint64_t *reads, *remote; /* [part_count] rows of the part, owned */
    uint64_t *from; /* [part_count, part_count] for seeds of the one, rows of the other; owned */
};

/* Of the training mini-batches that the store has; a batch that serves several epochs counts once. *loads, by number of the dataset, and
 * *figures are the caller's to release, failure or not.
 * Fails: ERROR_NOT_FOUND when none is kept; ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code batch_loads_count(const struct run_folder *folder,
                                             struct node_loads *loads, struct load_figures *figures,
                                             struct error *err);
/* A line for people, to stderr. */
void load_figures_say(const struct load_figures *figures);
/* The same as keys of the object that is open. */
void load_figures_put(const struct load_figures *figures, struct json_writer *json);
void load_figures_release(struct load_figures *figures);

#endif
