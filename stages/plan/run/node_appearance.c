#include "stages/plan/run/node_appearance.h"

#include "common/base/memory.h"
#include "store/records/dataset/node_times.h"
#include "store/versions/merged_parts.h"

enum error_code node_appearance_open(const struct pipeline_settings *settings, struct store *store,
                                     const struct partition_book *book, struct topology *topology,
                                     int64_t **times, struct error *err)
{
    struct node_times stored = {.node_count = 0};
    struct node_permutation permutation = {0};
    *times = NULL;
    if (!settings->ingest.node_times[0])
        return ERROR_NONE;
    enum error_code rc = node_times_get(store, book->dataset_id, book->node_count, &stored, err);
    if (rc == ERROR_NONE)
        rc = merged_permutation_get(store, book->id, book->node_count, &permutation, err);
    if (rc == ERROR_NONE)
        rc = memory_new(times, book->node_count, "the times of nodes", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < book->node_count; i++)
        (*times)[permutation.to_partition[i]] = stored.time[i];
    store_release_record(&permutation.view);
    store_release_record(&stored.view);
    topology->node_time = *times;
    return rc;
}
