/*
 * unused_data - what a dataset has and training does not use, said to the user.
 *
 * Weights, times and types of edges and nodes are read and stored from the first day, so that a later version
 * finds them. Whoever gives them expects them to count.
 */
#ifndef PIPELINES_UNUSED_DATA_H
#define PIPELINES_UNUSED_DATA_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"

#include <stddef.h>

/* Names what the dataset has of them, "edge weights and 3 node types"; "" when it has none. `size`: 160 is enough. */
void unused_data_text(const struct dataset_schema *schema, char *text, size_t size);
/* One warning in the log when there is any. Fails: as the reading of the schema. */
MUST_CHECK enum error_code unused_data_warn(struct store *store, const char *dataset_id,
                                            struct error *err);

#endif
