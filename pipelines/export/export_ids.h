/*
 * export_ids - the ids of nodes and the names of classes of the input, for exports as text.
 */
#ifndef PIPELINES_EXPORT_EXPORT_IDS_H
#define PIPELINES_EXPORT_EXPORT_IDS_H

#include "common/base/error.h"
#include "common/formats/text/column_encoding.h"
#include "pipelines/shared/run_folder.h"
#include "store/records/dataset/node_ids.h"

struct export_ids {               /* {0} is closed */
    struct node_ids of;           /* ids of all nodes of the dataset; without arrays: numbers */
    struct column_encoding words; /* names of the classes, or none */
};

/* Reads both for the dataset of the bound run. Fails: ERROR_CORRUPT; as the store does. */
MUST_CHECK enum error_code export_ids_open(const struct run_folder *folder, struct export_ids *out,
                                           struct error *err);
void export_ids_close(struct export_ids *ids);

#endif
