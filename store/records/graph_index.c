#include "store/records/graph_index.h"

#include "store/objects/keys.h"

#include <inttypes.h>
#include <stdbool.h>

enum { VERSION_PLAIN = 1, VERSION_NAMED = 2 };

enum fact { FACT_GRAPHS, FACT_FIRST_ID, FACT_COUNT };

static const char facts_name[] = "facts", graph_of_name[] = "graph_of", first_name[] = "first",
                  id_name[] = "id";

enum error_code graph_index_put(struct store *store, const char *key, const char *owner,
                                const struct graph_index *index, struct error *err)
{
    struct record record = {.kind = RECORD_GRAPH_INDEX,
                            .version = index->id ? VERSION_NAMED : VERSION_PLAIN};
    const uint64_t facts[FACT_COUNT] = {
        [FACT_GRAPHS] = index->graph_count, [FACT_FIRST_ID] = index->first_id};
    record_add(&record, facts_name, ELEMENT_U64, facts, FACT_COUNT);
    if (index->graph_of)
        record_add(&record, graph_of_name, ELEMENT_U32, index->graph_of, index->node_count);
    if (index->first)
        record_add(&record, first_name, ELEMENT_U32, index->first,
                   (uint64_t)index->graph_count + 1);
    if (index->id)
        record_add(&record, id_name, ELEMENT_I64, index->id, index->graph_count);
    return store_put(store, key, owner, &record, STORE_DURABLE, err);
}

static enum error_code read_facts(struct graph_index *out, struct error *err)
{
    const void *data = NULL;
    const enum error_code rc =
        record_section_get(&out->view, facts_name, ELEMENT_U64, FACT_COUNT, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t *facts = data;
    if (facts[FACT_GRAPHS] < 1 || facts[FACT_GRAPHS] > out->node_count)
        return error_set(err, ERROR_CORRUPT, "%s: expected 1 to %" PRIu32 " graphs, found %" PRIu64,
                         out->view.key, out->node_count, facts[FACT_GRAPHS]);
    out->graph_count = (uint32_t)facts[FACT_GRAPHS];
    out->first_id = facts[FACT_FIRST_ID];
    return ERROR_NONE;
}

static enum error_code read_ids(struct graph_index *out, struct error *err)
{
    const void *data = NULL;
    if (out->view.version < VERSION_NAMED)
        return ERROR_NONE;
    const enum error_code rc = record_section_get(&out->view, id_name, ELEMENT_I64,
                                                  (int64_t)out->graph_count, &data, NULL, err);
    out->id = data;
    return rc;
}

static enum error_code read_nodes(struct graph_index *out, struct error *err)
{
    const void *data = NULL;
    const enum error_code rc = record_section_get(&out->view, graph_of_name, ELEMENT_U32,
                                                  (int64_t)out->node_count, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    out->graph_of = data;
    for (uint32_t node = 0; node < out->node_count; node++)
        if (out->graph_of[node] >= out->graph_count)
            return error_set(
                err, ERROR_CORRUPT,
                "%s: \"%s\" entry %" PRIu32 ": expected below %" PRIu32 ", found %" PRIu32,
                out->view.key, graph_of_name, node, out->graph_count, out->graph_of[node]);
    return ERROR_NONE;
}

static enum error_code read_ranges(struct graph_index *out, struct error *err)
{
    const void *data = NULL;
    const enum error_code rc = record_section_get(&out->view, first_name, ELEMENT_U32,
                                                  (int64_t)out->graph_count + 1, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    out->first = data;
    if (out->first[0] != 0 || out->first[out->graph_count] != out->node_count)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"%s\" goes from %" PRIu32 " to %" PRIu32 ", expected 0 to %" PRIu32,
                         out->view.key, first_name, out->first[0], out->first[out->graph_count],
                         out->node_count);
    for (uint32_t g = 0; g < out->graph_count; g++)
        if (out->first[g + 1] <= out->first[g])
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"%s\" entry %" PRIu32 ": expected above %" PRIu32
                             ", found %" PRIu32,
                             out->view.key, first_name, g + 1, out->first[g], out->first[g + 1]);
    return ERROR_NONE;
}

enum error_code graph_index_decode(const struct record_view *view, uint32_t node_count,
                                   struct graph_index *out, struct error *err)
{
    *out = (struct graph_index){.node_count = node_count, .view = *view};
    const bool of_dataset = record_has(view, graph_of_name);
    enum error_code rc =
        record_expect_among(view, RECORD_GRAPH_INDEX, VERSION_PLAIN, VERSION_NAMED, err);
    if (rc == ERROR_NONE && of_dataset == record_has(view, first_name))
        rc = error_set(err, ERROR_CORRUPT, "%s: expected one of \"%s\" and \"%s\", found %s",
                       view->key, graph_of_name, first_name, of_dataset ? "both" : "none");
    if (rc == ERROR_NONE)
        rc = read_facts(out, err);
    if (rc == ERROR_NONE)
        rc = read_ids(out, err);
    if (rc != ERROR_NONE)
        return rc;
    return of_dataset ? read_nodes(out, err) : read_ranges(out, err);
}

enum error_code graph_index_get(struct store *store, const char *key, const char *owner,
                                uint32_t node_count, struct graph_index *out, struct error *err)
{
    struct record_view view = {0};
    *out = (struct graph_index){0};
    enum error_code rc = store_get(store, key, owner, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = graph_index_decode(&view, node_count, out, err);
    if (rc == ERROR_NONE)
        return rc;
    store_release_record(&view);
    *out = (struct graph_index){0};
    return rc;
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

/* Of the graph whose nodes begin at `node`: how many they are; 0: they are not all there. */
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
