/*
 * unused_data - what a dataset has and training does not use, said to the user.
 *
 * Weights, times, features and types of edges and types of nodes are read and stored, whether the model of a run takes
 * them into account or not. Whoever gives them expects them to count.
 */
#ifndef PIPELINES_UNUSED_DATA_H
#define PIPELINES_UNUSED_DATA_H

#include "common/base/error.h"
#include "stages/plan/edge_use.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"

#include <stddef.h>

/* Names what the dataset has of them and `use` leaves out, "edge times and 3 node types"; "" when there is none.
 * `size`: 160 is enough. */
void unused_data_text(const struct dataset_schema *schema, const struct edge_use *use, char *text,
                      size_t size);
/* One warning in the log when there is any, of the dataset that ingest made last with these settings. Fails: as the reading of the schema, and as edge_use_check(). */
MUST_CHECK enum error_code
unused_data_warn(struct store *store, const struct pipeline_settings *settings, struct error *err);

#endif
