#include "pipelines/export/export_ids.h"

#include "store/objects/keys.h"
#include "store/records/dataset/node_columns.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>

enum error_code export_ids_open(const struct run_folder *folder, struct export_ids *out,
                                struct error *err)
{
    const struct partition_book *book = &folder->run.book;
    bool found = false;
    *out = (struct export_ids){.of = {.node_count = book->node_count}};
    enum error_code rc = node_columns_get(folder->store, book->dataset_id, &out->words, err);
    if (rc == ERROR_NONE)
        rc = merged_ids_find(folder->store, book->dataset_id, &found, &out->of, err);
    if (rc == ERROR_NONE && !found)
        out->of.node_count = book->node_count;
    if (rc == ERROR_NONE && out->of.node_count != book->node_count)
        rc = error_set(err, ERROR_CORRUPT,
                       "node ids of %s: expected %" PRIu32 " nodes, found %" PRIu32,
                       book->dataset_id, book->node_count, out->of.node_count);
    return rc;
}

void export_ids_close(struct export_ids *ids)
{
    column_encoding_release(&ids->words);
    store_release_record(&ids->of.view);
    *ids = (struct export_ids){.of = {.node_count = 0}};
}
