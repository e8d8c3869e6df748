#include "stages/partition/check/partition_check.h"

#include "common/base/memory.h"
#include "common/files/checksum.h"
#include "common/numbers/ascending.h"
#include "stages/partition/check/graph_check.h"
#include "stages/partition/check/shard_check.h"
#include "stages/partition/layout/edge_walk.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/edge_splits.h"
#include "store/records/dataset/node_splits.h"
#include "store/topology/topology.h"
#include "store/versions/merged_links.h"
#include "store/versions/merged_parts.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* Does not depend on the order of the edges. It differs if an edge is missing, doubled or
 * altered. */
struct edge_sum {
    uint64_t count, hash;
};

enum { ENDS_BYTES = 2 * sizeof(uint32_t) };

/* The hashed bytes of an edge: source and target as dataset ids, then its columns. */
struct edge_facts {
    struct edge_sum *sum;
    char *bytes; /* [size] */
    size_t size;
};

static void add_edge(const struct edge_facts *facts, uint32_t source, uint32_t target)
{
    memcpy(facts->bytes, &source, sizeof source);
    memcpy(facts->bytes + sizeof source, &target, sizeof target);
    facts->sum->count++;
    facts->sum->hash += checksum_64(facts->bytes, facts->size);
}

static enum error_code sum_chunk(void *context, const struct edge_chunk *chunk, struct error *err)
{
    const struct edge_facts *facts = context;
    (void)err;
    for (uint32_t row = 0; row < chunk->node_count; row++)
        for (uint64_t e = chunk->row_start[row]; e < chunk->row_start[row + 1]; e++) {
            edge_columns_pack(&chunk->columns, e, facts->bytes + ENDS_BYTES);
            add_edge(facts, chunk->neighbor[e], chunk->first_node + row);
        }
    return ERROR_NONE;
}

/* Packs the columns of an edge. `width` is that of the dataset, whose edges have their relation as
 * a column. */
static void pack_columns(const struct topology_part *part, const struct edge_widths *width,
                         uint16_t relation, uint64_t edge, char *bytes)
{
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        const size_t size = edge_column_bytes((enum edge_column)c, width->of[c]);
        if (size && !part->width.of[c])
            memcpy(bytes, &relation, sizeof relation);
        else if (size)
            memcpy(bytes, topology_column(part, (enum edge_column)c, edge), size);
        bytes += size;
    }
}

/* The numbers of sources are anywhere in memory, so they are prefetched this many edges before they
 * are used. */
enum { NUMBERS_AHEAD = 32 };

static inline void ask_for_number(const struct partition_check *check,
                                  const struct topology_part *part, uint64_t edge)
{
    if (edge >= part->edge_count)
        return;
    const uint32_t source = *topology_neighbor(part, edge);
    if (source < check->book->node_count)
        __builtin_prefetch(&check->permutation->to_dataset[source], 0, 1);
}

static enum error_code sum_row(const struct partition_check *check,
                               const struct topology_part *part, uint32_t relation, uint32_t row,
                               const struct edge_facts *facts, struct error *err)
{
    const uint32_t source_type = partition_book_relation(check->book, relation)->source_type;
    const uint64_t from = topology_row_start(part, row), end = topology_row_start(part, row + 1);
    const uint32_t node = part->first_node + row;
    uint32_t last = 0;
    if (end < from || end > part->edge_count)
        return error_set(err, ERROR_CORRUPT,
                         "the row of node %" PRIu32 " ends at edge %" PRIu64 ", expected %" PRIu64
                         " to %" PRIu64,
                         node, end, from, part->edge_count);
    for (uint64_t e = from; e < end; e++) {
        const uint32_t source = *topology_neighbor(part, e);
        ask_for_number(check, part, e + NUMBERS_AHEAD);
        if (source >= check->book->node_count || source < last)
            return error_set(err, ERROR_CORRUPT,
                             "the row of node %" PRIu32 " has source %" PRIu32 " after %" PRIu32
                             ", expected ascending below %" PRIu32,
                             node, source, last, check->book->node_count);
        last = source;
        if (dataset_type_of(check->schema, check->permutation->to_dataset[source]) != source_type)
            return error_set(err, ERROR_CORRUPT,
                             "the row of node %" PRIu32 " in relation %" PRIu32
                             " has source %" PRIu32 ", which has another node type",
                             node, relation, source);
        pack_columns(part, &check->schema->edge_width, (uint16_t)relation, e,
                     facts->bytes + ENDS_BYTES);
        add_edge(facts, check->permutation->to_dataset[source],
                 check->permutation->to_dataset[node]);
    }
    return ERROR_NONE;
}

/* Adds the edges of one relation of a part. */
static enum error_code sum_relation(const struct partition_check *check, int p, uint32_t relation,
                                    const struct topology_part *part,
                                    const struct edge_facts *facts, struct error *err)
{
    const struct type_ranges ranges = partition_book_ranges(check->book);
    const uint32_t type = partition_book_relation(check->book, relation)->target_type;
    const uint32_t first = type_ranges_first(&ranges, p, type);
    const uint32_t expected = type_ranges_count(&ranges, p, type);
    enum error_code rc = ERROR_NONE;
    if (part->first_node != first || part->node_count != expected)
        rc = error_set(err, ERROR_CORRUPT,
                       "holds %" PRIu32 " nodes from %" PRIu32 ", expected %" PRIu32
                       " from %" PRIu32,
                       part->node_count, part->first_node, expected, first);
    for (uint32_t row = 0; rc == ERROR_NONE && row < part->node_count; row++)
        rc = sum_row(check, part, relation, row, facts, err);
    return rc == ERROR_NONE
               ? rc
               : error_context(err, rc, "%s", key_part(check->book->id, p, "topology").text);
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

static enum error_code sum_part(const struct partition_check *check, int p,
                                const struct topology *topology, const struct edge_facts *facts,
                                struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < topology_relations(topology); r++)
        rc = sum_relation(check, p, r, topology_rows(topology, p, r), facts, err);
    return rc;
}

static enum error_code sum_parts(const struct partition_check *check,
                                 const struct edge_facts *facts, struct error *err)
{
    struct topology topology = {0};
    enum error_code rc = topology_open(check->store, check->book, &topology, err);
    if (rc == ERROR_NONE && !edge_widths_equal(&topology.width, &check->book->edge_width))
        rc = error_set(err, ERROR_CORRUPT, "the parts have other edge columns than the dataset");
    for (int p = 0; rc == ERROR_NONE && p < topology.part_count; p++) {
        rc = topology_open_part(&topology, p, err);
        if (rc == ERROR_NONE)
            rc = sum_part(check, p, &topology, facts, err);
    }
    topology_close(&topology);
    return rc;
}

static enum error_code check_edges(const struct partition_check *check, struct error *err)
{
    struct edge_sum dataset = {0}, parts = {0};
    struct edge_facts facts = {.sum = &dataset,
                               .size = ENDS_BYTES + edge_widths_bytes(&check->schema->edge_width)};
    enum error_code rc = memory_new(&facts.bytes, facts.size, "an edge", err);
    if (rc == ERROR_NONE)
        rc = edge_walk(check->store, check->schema, sum_chunk, &facts, err);
    facts.sum = &parts;
    if (rc == ERROR_NONE)
        rc = sum_parts(check, &facts, err);
    if (rc == ERROR_NONE)
        rc = compare_sums(&dataset, &parts, err);
    memory_free(facts.bytes);
    return rc;
}

static bool contains(const uint32_t *ascending, uint32_t count, uint32_t wanted)
{
    const uint64_t below = ascending_below(ascending, count, wanted);
    return below < count && ascending[below] == wanted;
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
    const struct key key = key_partition(check->book->id, "splits");
    struct node_splits expected = {0}, found = {0};
    enum error_code rc = merged_splits_get(check->store, check->schema->id, &expected, err);
    if (rc == ERROR_NONE)
        rc = merged_part_splits_get(check->store, check->book->id, &found, err);
    if (rc == ERROR_NONE) {
        rc = compare_splits(check, &expected, &found, err);
        if (rc != ERROR_NONE)
            rc = error_context(err, rc, "%s", key.text);
    }
    store_release_record(&found.view);
    store_release_record(&expected.view);
    return rc;
}

/* Compares the negatives of `count` edges. */
static bool has_same_negatives(const struct partition_check *check,
                               const struct negative_ends *expected,
                               const struct negative_ends *found, uint64_t count)
{
    if (!expected->start || !found->start)
        return expected->start == found->start;
    if (memcmp(expected->start, found->start, (count + 1) * sizeof *found->start) != 0)
        return false;
    for (uint64_t i = 0; i < found->start[count]; i++)
        if (check->permutation->to_dataset[found->node[i]] != expected->node[i])
            return false;
    return true;
}

/* Compares the negatives of training edges. */
static bool has_same_trained(const struct partition_check *check,
                             const struct trained_negatives *expected,
                             const struct trained_negatives *found)
{
    const uint32_t *to_dataset = check->permutation->to_dataset;
    if (expected->count != found->count || (expected->type != NULL) != (found->type != NULL))
        return false;
    for (uint64_t i = 0; i < found->count; i++)
        if (to_dataset[found->source[i]] != expected->source[i] ||
            to_dataset[found->target[i]] != expected->target[i] ||
            (found->type && found->type[i] != expected->type[i]))
            return false;
    return has_same_negatives(check, &expected->ends, &found->ends, found->count);
}

static enum error_code compare_edge_splits(const struct partition_check *check,
                                           const struct edge_splits *expected,
                                           const struct edge_splits *found, struct error *err)
{
    const uint32_t *to_dataset = check->permutation->to_dataset;
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        if (expected->count[s] != found->count[s])
            return error_set(err, ERROR_CORRUPT, "%" PRIu64 " %s edges, expected %" PRIu64,
                             found->count[s], held_out_name[s], expected->count[s]);
        for (uint64_t i = 0; i < found->count[s]; i++)
            if (to_dataset[found->source[s][i]] != expected->source[s][i] ||
                to_dataset[found->target[s][i]] != expected->target[s][i] ||
                (expected->type[s] != NULL) != (found->type[s] != NULL) ||
                (found->type[s] && found->type[s][i] != expected->type[s][i]))
                return error_set(err, ERROR_CORRUPT,
                                 "%s edge %" PRIu64 " is not that of the dataset", held_out_name[s],
                                 i);
        const bool is_same =
            expected->is_labelled == found->is_labelled && expected->is_timed == found->is_timed &&
            (!found->is_labelled ||
             memcmp(expected->label[s], found->label[s], found->count[s] * sizeof(float)) == 0) &&
            (!found->is_timed || (expected->time[s].are_doubles == found->time[s].are_doubles &&
                                  memcmp(expected->time[s].word, found->time[s].word,
                                         found->count[s] * sizeof(int64_t)) == 0));
        if (!is_same)
            return error_set(err, ERROR_CORRUPT,
                             "labels or times of %s edges are not those of the dataset",
                             held_out_name[s]);
        if (!has_same_negatives(check, &expected->negative[s], &found->negative[s],
                                found->count[s]))
            return error_set(err, ERROR_CORRUPT,
                             "negatives of %s edges are not those of the dataset",
                             held_out_name[s]);
    }
    bool has_same_left = expected->left_count == found->left_count;
    for (uint64_t i = 0; has_same_left && i < found->left_count; i++)
        has_same_left = to_dataset[found->left[i]] == expected->left[i];
    if (!has_same_left)
        return error_set(err, ERROR_CORRUPT,
                         "the left side of the graph is not that of the dataset");
    if (!has_same_trained(check, &expected->trained, &found->trained))
        return error_set(err, ERROR_CORRUPT,
                         "negatives of training edges are not those of the dataset");
    return ERROR_NONE;
}

static enum error_code check_edge_splits(const struct partition_check *check, struct error *err)
{
    const struct key key = key_partition(check->book->id, "edge_splits");
    struct edge_splits expected = {0}, found = {0};
    if (!task_has(check->schema->task, TASK_HOLDS_OUT_EDGES))
        return ERROR_NONE;
    enum error_code rc = merged_edge_splits_get(check->store, check->schema->id,
                                                check->book->node_count, &expected, err);
    if (rc == ERROR_NONE)
        rc = merged_part_links_get(check->store, check->book, &found, err);
    if (rc == ERROR_NONE) {
        rc = compare_edge_splits(check, &expected, &found, err);
        if (rc != ERROR_NONE)
            rc = error_context(err, rc, "%s", key.text);
    }
    store_release_record(&found.view);
    store_release_record(&expected.view);
    return rc;
}

static enum error_code check_permutation(const struct partition_check *check, struct error *err)
{
    const struct node_permutation *expected = check->permutation;
    struct node_permutation found;
    if (!check->is_placed)
        return ERROR_NONE;
    enum error_code rc =
        merged_permutation_get(check->store, check->book->id, check->book->node_count, &found, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t node = 0; rc == ERROR_NONE && node < found.node_count; node++)
        if (found.to_dataset[node] != expected->to_dataset[node])
            rc =
                error_set(err, ERROR_CORRUPT,
                          "%s: node %" PRIu32 " is %" PRIu32 " of the dataset, expected %" PRIu32,
                          found.view.key, node, found.to_dataset[node], expected->to_dataset[node]);
    store_release_record(&found.view);
    return rc;
}

enum error_code partition_check(const struct partition_check *check, struct error *err)
{
    enum error_code rc = check_permutation(check, err);
    if (rc == ERROR_NONE)
        rc = check_edges(check, err);
    if (rc == ERROR_NONE)
        rc = task_has(check->schema->task, TASK_HAS_GRAPHS) ? graph_check(check, err)
                                                            : check_splits(check, err);
    if (rc == ERROR_NONE)
        rc = check_edge_splits(check, err);
    if (rc == ERROR_NONE)
        rc = shard_check(check->store, check->schema, check->book, check->permutation,
                         check->feature_type, err);
    return rc == ERROR_NONE ? rc
                            : error_context(err, rc, "self check of partition %s", check->book->id);
}
