#include "stages/partition/check/partition_check.h"

#include "common/base/checksum.h"
#include "common/base/memory.h"
#include "stages/partition/check/shard_check.h"
#include "stages/partition/layout/edge_walk.h"
#include "store/objects/keys.h"
#include "store/records/edge_chunk.h"
#include "store/records/node_splits.h"
#include "store/topology/topology.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* Independent of the order in which edges come; an edge that is missing, doubled or altered shows. */
struct edge_sum {
    uint64_t count, hash;
};

struct edge_facts {
    uint32_t source, target; /* dataset ids */
    float weight;
    uint32_t type;
    double time;
};

static void edge_sum_add(struct edge_sum *sum, const struct edge_facts *edge)
{
    _Static_assert(sizeof *edge == 24, "hashed as a whole, so without padding");
    sum->count++;
    sum->hash += checksum_64(edge, sizeof *edge);
}

static enum error_code sum_chunk(void *context, const struct edge_chunk *chunk, struct error *err)
{
    (void)err;
    for (uint32_t row = 0; row < chunk->node_count; row++)
        for (uint64_t e = chunk->row_start[row]; e < chunk->row_start[row + 1]; e++) {
            const struct edge_facts edge = {
                .source = chunk->neighbor[e],
                .target = chunk->first_node + row,
                .weight = chunk->weight ? chunk->weight[e] : 0.0F,
                .type = chunk->edge_type ? chunk->edge_type[e] : 0,
                .time = chunk->time ? chunk->time[e] : 0.0,
            };
            edge_sum_add(context, &edge);
        }
    return ERROR_NONE;
}

static enum error_code sum_row(const struct partition_check *check,
                               const struct topology_part *part, uint32_t row, struct edge_sum *sum,
                               struct error *err)
{
    enum { MASK = (1 << TOPOLOGY_CHUNK_SHIFT) - 1 };
    const uint64_t from = topology_row_start(part, row), end = topology_row_start(part, row + 1);
    const uint32_t node = part->first_node + row;
    uint32_t last = 0;
    if (end < from || end > part->edge_count)
        return error_set(err, ERROR_CORRUPT,
                         "the row of node %" PRIu32 " ends at edge %" PRIu64 ", expected %" PRIu64
                         " to %" PRIu64,
                         node, end, from, part->edge_count);
    for (uint64_t e = from; e < end; e++) {
        const uint64_t chunk = e >> TOPOLOGY_CHUNK_SHIFT, at = e & MASK;
        const uint32_t source = *topology_neighbor(part, e);
        if (source >= check->book->node_count || source < last)
            return error_set(err, ERROR_CORRUPT,
                             "the row of node %" PRIu32 " has source %" PRIu32 " after %" PRIu32
                             ", expected ascending below %" PRIu32,
                             node, source, last, check->book->node_count);
        last = source;
        const struct edge_facts edge = {
            .source = check->permutation->to_dataset[source],
            .target = check->permutation->to_dataset[node],
            .weight = part->weight_chunk ? part->weight_chunk[chunk][at] : 0.0F,
            .type = part->edge_type_chunk ? part->edge_type_chunk[chunk][at] : 0,
            .time = part->time_chunk ? part->time_chunk[chunk][at] : 0.0,
        };
        edge_sum_add(sum, &edge);
    }
    return ERROR_NONE;
}

static enum error_code sum_part(const struct partition_check *check, int p,
                                const struct topology_part *part, struct edge_sum *sum,
                                struct error *err)
{
    const struct partition_book *book = check->book;
    const uint32_t expected = book->book[p + 1] - book->book[p];
    enum error_code rc = ERROR_NONE;
    if (part->first_node != book->book[p] || part->node_count != expected)
        rc = error_set(err, ERROR_CORRUPT,
                       "holds %" PRIu32 " nodes from %" PRIu32 ", expected %" PRIu32
                       " from %" PRIu32,
                       part->node_count, part->first_node, expected, book->book[p]);
    for (uint32_t row = 0; rc == ERROR_NONE && row < part->node_count; row++)
        rc = sum_row(check, part, row, sum, err);
    return rc == ERROR_NONE ? rc
                            : error_context(err, rc, "%s", key_part(book->id, p, "topology").text);
}

static enum error_code compare_sums(const struct edge_sum *dataset, const struct edge_sum *parts,
                                    struct error *err)
{
    if (dataset->count != parts->count)
        return error_set(err, ERROR_CORRUPT,
                         "the parts have %" PRIu64 " edges, expected %" PRIu64 " as the dataset",
                         parts->count, dataset->count);
    if (dataset->hash != parts->hash)
        return error_set(err, ERROR_CORRUPT,
                         "the edges of the parts sum to hash %016" PRIx64
                         ", those of the dataset to %016" PRIx64,
                         parts->hash, dataset->hash);
    return ERROR_NONE;
}

static enum error_code check_edges(const struct partition_check *check, struct error *err)
{
    struct edge_sum dataset = {0}, parts = {0};
    struct topology topology = {0};
    enum error_code rc = edge_walk(check->store, check->schema, sum_chunk, &dataset, err);
    if (rc == ERROR_NONE)
        rc = topology_open(check->store, check->book, check->scratch, check->topology_flags,
                           &topology, err);
    for (int p = 0; rc == ERROR_NONE && p < topology.part_count; p++)
        rc = sum_part(check, p, &topology.part[p], &parts, err);
    if (rc == ERROR_NONE)
        rc = compare_sums(&dataset, &parts, err);
    topology_close(&topology);
    return rc;
}

static bool contains(const uint32_t *ascending, uint32_t count, uint32_t wanted)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (ascending[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && ascending[low] == wanted;
}

static enum error_code compare_splits(const struct partition_check *check,
                                      const struct node_splits *expected,
                                      const struct node_splits *found, struct error *err)
{
    for (int s = 0; s < SPLIT_COUNT; s++) {
        if (expected->count[s] != found->count[s])
            return error_set(err, ERROR_CORRUPT,
                             "split %d has %" PRIu32 " nodes, expected %" PRIu32, s,
                             found->count[s], expected->count[s]);
        for (uint32_t i = 0; i < found->count[s]; i++) {
            const uint32_t node = found->node[s][i];
            if (node >= check->book->node_count || (i > 0 && found->node[s][i - 1] >= node) ||
                !contains(expected->node[s], expected->count[s],
                          check->permutation->to_dataset[node]))
                return error_set(err, ERROR_CORRUPT,
                                 "entry %" PRIu32 " of split %d is node %" PRIu32
                                 ", which is out of order or not in the dataset's split",
                                 i, s, node);
        }
    }
    return ERROR_NONE;
}

static enum error_code check_splits(const struct partition_check *check, struct error *err)
{
    const struct key dataset_key = key_dataset(check->schema->id, "splits");
    const struct key key = key_partition(check->book->id, "splits");
    struct node_splits expected = {0}, found = {0};
    enum error_code rc =
        node_splits_get(check->store, dataset_key.text, check->schema->id, &expected, err);
    if (rc == ERROR_NONE)
        rc = node_splits_get(check->store, key.text, check->book->id, &found, err);
    if (rc == ERROR_NONE) {
        rc = compare_splits(check, &expected, &found, err);
        if (rc != ERROR_NONE)
            rc = error_context(err, rc, "%s", key.text);
    }
    store_release_record(&found.view);
    store_release_record(&expected.view);
    return rc;
}

enum error_code partition_check(const struct partition_check *check, struct error *err)
{
    enum error_code rc = check_edges(check, err);
    if (rc == ERROR_NONE)
        rc = check_splits(check, err);
    if (rc == ERROR_NONE)
        rc = shard_check(check->store, check->schema, check->book, check->permutation,
                         check->feature_type, err);
    return rc == ERROR_NONE ? rc
                            : error_context(err, rc, "self check of partition %s", check->book->id);
}
