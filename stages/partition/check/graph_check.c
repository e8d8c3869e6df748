#include "stages/partition/check/graph_check.h"

#include "store/objects/keys.h"
#include "store/records/dataset/graph_index.h"
#include "store/records/dataset/node_splits.h"
#include "store/versions/merged_parts.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <string.h>

/* Checks a graph. `part` advances with the graphs. */
static enum error_code check_graph(const struct partition_check *check,
                                   const struct graph_index *expected,
                                   const struct graph_index *found, uint32_t graph, int *part,
                                   struct error *err)
{
    const uint32_t first = found->first[graph], end = found->first[graph + 1];
    const int64_t id = graph_index_id(found, graph), expected_id = graph_index_id(expected, graph);
    if (id != expected_id)
        return error_set(err, ERROR_CORRUPT,
                         "graph %" PRIu32 " is called %" PRId64 ", expected %" PRId64, graph, id,
                         expected_id);
    while (check->book->book[*part + 1] <= first)
        (*part)++;
    if (check->book->book[*part + 1] < end)
        return error_set(err, ERROR_CORRUPT,
                         "graph %" PRIu32 " has nodes up to %" PRIu32 ", expected below %" PRIu32
                         " as part %d",
                         graph, end, check->book->book[*part + 1], *part);
    for (uint32_t node = first; node < end; node++)
        if (expected->graph_of[check->permutation->to_dataset[node]] != graph)
            return error_set(err, ERROR_CORRUPT,
                             "graph %" PRIu32 " has node %" PRIu32
                             ", which in the dataset is in graph %" PRIu32,
                             graph, node, expected->graph_of[check->permutation->to_dataset[node]]);
    return ERROR_NONE;
}

static enum error_code check_ranges(const struct partition_check *check, struct error *err)
{
    const struct partition_book *book = check->book;
    struct graph_index expected = {0}, found = {0};
    int part = 0;
    enum error_code rc =
        merged_graphs_get(check->store, check->schema->id, book->node_count, &expected, err);
    if (rc == ERROR_NONE)
        rc = graph_index_of_partition(check->store, book->id, book->node_count, &found, err);
    if (rc == ERROR_NONE &&
        (expected.graph_count != found.graph_count || expected.first_id != found.first_id))
        rc = error_set(err, ERROR_CORRUPT,
                       "%" PRIu32 " graphs from %" PRIu64 ", expected %" PRIu32 " from %" PRIu64,
                       found.graph_count, found.first_id, expected.graph_count, expected.first_id);
    for (uint32_t g = 0; rc == ERROR_NONE && g < found.graph_count; g++)
        rc = check_graph(check, &expected, &found, g, &part, err);
    store_release_record(&found.view);
    store_release_record(&expected.view);
    return rc == ERROR_NONE ? rc
                            : error_context(err, rc, "%s", key_partition(book->id, "graphs").text);
}

static enum error_code check_splits(const struct partition_check *check, struct error *err)
{
    const struct key key = key_partition(check->book->id, "splits");
    struct node_splits expected = {.count = {0}}, found = {.count = {0}};
    enum error_code rc = merged_splits_get(check->store, check->schema->id, &expected, err);
    if (rc == ERROR_NONE)
        rc = merged_part_splits_get(check->store, check->book->id, &found, err);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++)
        if (expected.count[s] != found.count[s] ||
            (found.count[s] &&
             memcmp(expected.node[s], found.node[s], found.count[s] * sizeof *found.node[s]) != 0))
            rc = error_set(err, ERROR_CORRUPT, "%s: split %d is not that of the dataset", key.text,
                           s);
    store_release_record(&found.view);
    store_release_record(&expected.view);
    return rc;
}

enum error_code graph_check(const struct partition_check *check, struct error *err)
{
    const enum error_code rc = check_ranges(check, err);
    return rc == ERROR_NONE ? check_splits(check, err) : rc;
}
