#include "store/records/dataset/graph_index.h"

#include "store/records/section_table.h"

#include <inttypes.h>
#include <stdbool.h>

static const char graph_of_name[] = "graph_of", first_name[] = "first";

static enum error_code check_facts(const struct record_view *view, void *out, struct error *err)
{
    const struct graph_index *index = out;
    const bool of_dataset = record_has(view, graph_of_name);
    if (index->graph_count > index->node_count)
        return error_set(err, ERROR_CORRUPT, "%s: expected 1 to %" PRIu32 " graphs, found %" PRIu32,
                         view->key, index->node_count, index->graph_count);
    if (of_dataset == record_has(view, first_name))
        return error_set(err, ERROR_CORRUPT, "%s: expected one of \"%s\" and \"%s\", found %s",
                         view->key, graph_of_name, first_name, of_dataset ? "both" : "none");
    return ERROR_NONE;
}

#define SECTION_STRUCT struct graph_index
static const struct section_number facts[] = {
    {"graphs", AT(graph_count), 1, 0},
    {"first id", AT(first_id), 0, 0},
};
static const struct section_row rows[] = {
    {SECTION_NUMBERS("facts", U64, facts), .read = check_facts},
    {SECTION_ARRAY(graph_of_name, U32, graph_of), .count = AT(node_count), .if_there = true,
     .limit = AT(graph_count)},
    {SECTION_ARRAY(first_name, U32, first), .count = AT(graph_count), .plus = 1, .if_there = true,
     .checks = SECTION_ASCENDS | SECTION_FROM_0 | SECTION_TO_LIMIT, .limit = AT(node_count),
     .behind = 1},
    {SECTION_ARRAY("id", I64, id), .count = AT(graph_count), .since = 2},
};
static const struct section_table table = SECTION_TABLE(RECORD_GRAPH_INDEX, 1, 2, rows);

enum error_code graph_index_put(struct store *store, const char *key, const char *owner,
                                const struct graph_index *index, struct error *err)
{
    return section_table_put(store, &table, key, owner, index, STORE_DURABLE, err);
}

enum error_code graph_index_decode(const struct record_view *view, uint32_t node_count,
                                   struct graph_index *out, struct error *err)
{
    *out = (struct graph_index){.node_count = node_count, .view = *view};
    return section_table_read(&table, view, out, err);
}

enum error_code graph_index_get(struct store *store, const char *key, const char *owner,
                                uint32_t node_count, struct graph_index *out, struct error *err)
{
    *out = (struct graph_index){.node_count = node_count};
    return section_table_fetch(store, &table, key, owner, out, err);
}

static enum error_code expect_section(struct graph_index *out, const char *section, bool has,
                                      struct error *err)
{
    if (has)
        return ERROR_NONE;
    const enum error_code rc = error_set(
        err, ERROR_CORRUPT, "%s: expected a section \"%s\", found none", out->view.key, section);
    store_release_record(&out->view);
    *out = (struct graph_index){0};
    return rc;
}

enum error_code graph_index_of_dataset(struct store *store, const char *dataset_id,
                                       uint32_t node_count, struct graph_index *out,
                                       struct error *err)
{
    const enum error_code rc = graph_index_get(store, key_dataset(dataset_id, "graphs").text,
                                               dataset_id, node_count, out, err);
    return rc == ERROR_NONE ? expect_section(out, graph_of_name, out->graph_of != NULL, err) : rc;
}

enum error_code graph_index_of_partition(struct store *store, const char *partition_id,
                                         uint32_t node_count, struct graph_index *out,
                                         struct error *err)
{
    const enum error_code rc = graph_index_get(store, key_partition(partition_id, "graphs").text,
                                               partition_id, node_count, out, err);
    return rc == ERROR_NONE ? expect_section(out, first_name, out->first != NULL, err) : rc;
}

struct node_ids graph_index_ids(const struct graph_index *index, uint32_t *first)
{
    const bool are_numbers = !index->id && index->first_id <= UINT32_MAX - index->graph_count;
    *first = are_numbers ? (uint32_t)index->first_id : 0;
    return (struct node_ids){.node_count = index->graph_count, .integer = index->id};
}

uint32_t graph_index_find(const struct graph_index *index, uint32_t node)
{
    uint32_t low = 0, high = index->graph_count; /* first[low] <= node < first[high] */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (index->first[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t graph_index_largest(const struct graph_index *index)
{
    uint32_t largest = 0;
    for (uint32_t g = 0; g < index->graph_count; g++) {
        const uint32_t count = index->first[g + 1] - index->first[g];
        largest = count > largest ? count : largest;
    }
    return largest;
}

/* Returns how many nodes the graph has that begins at `node`; 0: not all of them are there. */
static uint32_t whole_graph(const struct graph_index *index, uint32_t graph, const uint32_t *node,
                            uint32_t left)
{
    const uint32_t first = index->first[graph], count = index->first[graph + 1] - first;
    for (uint32_t i = 0; i < count; i++)
        if (i >= left || node[i] != first + i)
            return 0;
    return count;
}

enum error_code graph_index_split(const struct graph_index *index, const uint32_t *node,
                                  uint32_t node_count, uint32_t room, uint32_t *first,
                                  uint32_t *graph, uint32_t *count, struct error *err)
{
    *count = first[0] = 0;
    for (uint32_t at = 0; at < node_count; at = first[*count]) {
        const bool is_one = node[at] < index->node_count;
        const uint32_t own = is_one ? graph_index_find(index, node[at]) : 0;
        const uint32_t nodes = is_one ? whole_graph(index, own, node + at, node_count - at) : 0;
        if (nodes == 0 || *count == room)
            return error_set(err, ERROR_CORRUPT,
                             "node %" PRIu32 " at place %" PRIu32
                             ": expected all nodes of up to %" PRIu32 " graphs, graph by graph",
                             node[at], at, room);
        if (graph)
            graph[*count] = own;
        first[++*count] = at + nodes;
    }
    return ERROR_NONE;
}
