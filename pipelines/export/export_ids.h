/*
 * export_ids - the ids and the words of the input, for what is exported as text.
 */
#ifndef PIPELINES_EXPORT_EXPORT_IDS_H
#define PIPELINES_EXPORT_EXPORT_IDS_H

#include "common/base/error.h"
#include "common/formats/column_encoding.h"
#include "pipelines/run_folder.h"
#include "store/records/node_ids.h"

struct export_ids {               /* {0} is closed */
    struct node_ids of;           /* of all nodes of the dataset; without arrays: numbers */
    struct column_encoding words; /* of classes, or none */
};

/* Of the dataset of the bound run. Fails: ERROR_CORRUPT; as the store does. */
MUST_CHECK enum error_code export_ids_open(const struct run_folder *folder, struct export_ids *out,
                                           struct error *err);
void export_ids_close(struct export_ids *ids);

#endif
