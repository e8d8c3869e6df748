/*
 * unused_data - tells the user which data of a dataset the training does not use.
 *
 * Ingest reads and stores weights, times, features and types of edges, and types of nodes, even if
 * the model of a run ignores them. A user who provides them expects them to count.
 */
#ifndef PIPELINES_SHARED_UNUSED_DATA_H
#define PIPELINES_SHARED_UNUSED_DATA_H

#include "common/base/error.h"
#include "stages/plan/model/edge_use.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"

#include <stddef.h>

/* Names the data of the dataset that `use` ignores, such as "edge times and 3 node types"; "" if
 * there is none. A `size` of 160 is enough. */
void unused_data_text(const struct dataset_schema *schema, const struct edge_use *use, char *text,
                      size_t size);
/* Logs one warning if there is any such data in the dataset that ingest made last with these
 * settings. Fails: as reading the schema does, and as edge_use_check(). */
MUST_CHECK enum error_code
unused_data_warn(struct store *store, const struct pipeline_settings *settings, struct error *err);

#endif
