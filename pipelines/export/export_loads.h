/*
 * export_loads - what the kept mini-batches of a run read of each node, as the table that partition.loads takes.
 *
 * With times the table has what fell to each node of the seconds that its part was worked on, as far as the folder of the run has
 * them: of drawing by reads and edges, of steps by reads, of inference by the in-edges and the node itself. So a node of a part that was
 * slow for what it holds weighs more than one of another part that was read as often.
 */
#ifndef PIPELINES_EXPORT_EXPORT_LOADS_H
#define PIPELINES_EXPORT_EXPORT_LOADS_H

#include "pipelines/export/batch_loads.h"

#include <stdbool.h>

/* Writes the table of stages/plan/node_loads.h. *figures is the caller's to release, failure or not.
 * Fails: what batch_loads_count() fails with; ERROR_NOT_FOUND when no times are there; ERROR_IO. */
MUST_CHECK enum error_code export_loads(const struct run_folder *folder, bool with_times,
                                        const char *path, struct load_figures *figures,
                                        struct error *err);

#endif
