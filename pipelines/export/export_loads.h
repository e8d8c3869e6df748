/*
 * export_loads - writes how often the kept mini-batches of a run read each node, as the table that
 * partition.loads accepts.
 *
 * With times, the table also distributes to the nodes of a part the seconds that were spent on the
 * part, as far as the folder of the run has them: seconds of sampling by reads and edges, of
 * training steps by reads, of inference by the in-edges and the node itself. So a node of a slow
 * part weighs more than an equally often read node of another part.
 */
#ifndef PIPELINES_EXPORT_EXPORT_LOADS_H
#define PIPELINES_EXPORT_EXPORT_LOADS_H

#include "pipelines/export/batch_loads.h"

#include <stdbool.h>

/* Writes the table of stages/plan/model/node_loads.h.
 * Owns: *figures; the caller releases it, also on failure.
 * Fails: as batch_loads_count(); ERROR_NOT_FOUND when there are no times; ERROR_IO. */
MUST_CHECK enum error_code export_loads(const struct run_folder *folder, bool with_times,
                                        const char *path, struct load_figures *figures,
                                        struct error *err);

#endif
