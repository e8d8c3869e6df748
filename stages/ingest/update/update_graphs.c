#include "stages/ingest/update/update_graphs.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/ingest/update/update_reader.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- graphs of the base
 * ------------------------------------------------------------------------ */

struct named_graph {
    int64_t id;
    uint32_t graph;
};

static int by_id(const void *left, const void *right)
{
    const struct named_graph *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

static enum error_code order_by_id(struct update_graphs *graphs, struct error *err)
{
    const struct graph_index *index = &graphs->index;
    struct named_graph *named = NULL;
    if (!index->id)
        return ERROR_NONE;
    enum error_code rc = memory_new(&named, index->graph_count, "numbers of graphs", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&graphs->by_id, index->graph_count, "numbers of graphs", err);
    for (uint32_t g = 0; rc == ERROR_NONE && g < index->graph_count; g++)
        named[g] = (struct named_graph){index->id[g], g};
    if (rc == ERROR_NONE)
        qsort(named, index->graph_count, sizeof *named, by_id);
    for (uint32_t g = 0; rc == ERROR_NONE && g < index->graph_count; g++)
        graphs->by_id[g] = named[g].graph;
    memory_free(named);
    return rc;
}

enum error_code update_graphs_open(struct update_reader *reader, struct error *err)
{
    const struct dataset_schema *schema = reader->schema;
    struct update_graphs *graphs = &reader->graphs;
    if (!task_has(schema->task, TASK_HAS_GRAPHS))
        return ERROR_NONE;
    enum error_code rc =
        merged_graphs_get(reader->store, schema->id, schema->node_count, &graphs->index, err);
    if (rc == ERROR_NONE)
        rc = update_reader_take(reader, graphs->index.graph_count * (uint64_t)21, err);
    if (rc == ERROR_NONE)
        rc = order_by_id(graphs, err);
    reader->delta.base_graphs = graphs->index.graph_count;
    /* an input that counts graphs from 1 counts nodes from 1, too */
    reader->nodes.first_id = (int64_t)graphs->index.first_id;
    return rc;
}

void update_graphs_release(struct update_graphs *graphs)
{
    store_release_record(&graphs->index.view);
    memory_free(graphs->by_id);
    memory_free(graphs->is_gone);
    memory_free(graphs->gone);
    memory_free(graphs->member_of);
    memory_free(graphs->graph_of);
    memory_free(graphs->added_id);
    memory_free(graphs->is_begun);
    *graphs = (struct update_graphs){.gone_count = 0};
}

/* Finds the graph that the user calls `id` and that is not removed; graph_count if there is
 * none. */
static uint32_t find_there(const struct update_graphs *graphs, int64_t id)
{
    const struct graph_index *index = &graphs->index;
    uint32_t low = 0, high = index->graph_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (graph_index_id(index, graphs->by_id ? graphs->by_id[middle] : middle) < id)
            low = middle + 1;
        else
            high = middle;
    }
    const uint32_t none = index->graph_count;
    const uint32_t graph = low == none ? none : graphs->by_id ? graphs->by_id[low] : low;
    return graph < none && graph_index_id(index, graph) == id && !graphs->is_gone[graph] ? graph
                                                                                         : none;
}

/* ---- removed graphs
 * -------------------------------------------------------------------------------- */

enum error_code update_graphs_remove(struct update_reader *reader, struct error *err)
{
    struct update_graphs *graphs = &reader->graphs;
    const struct graph_index *index = &graphs->index;
    uint32_t count = 0;
    if (!update_graphs_are_many(graphs))
        return ERROR_NONE;
    enum error_code rc = memory_new(&graphs->is_gone, index->graph_count, "graphs that go", err);
    for (uint32_t g = 0; rc == ERROR_NONE && g < index->graph_count; g++)
        graphs->is_gone[g] = 1;
    for (uint32_t node = 0; rc == ERROR_NONE && node < index->node_count; node++)
        if (!reader->is_gone[node])
            graphs->is_gone[index->graph_of[node]] = 0;
    for (uint32_t g = 0; rc == ERROR_NONE && g < index->graph_count; g++)
        graphs->gone_count += graphs->is_gone[g];
    if (rc == ERROR_NONE)
        rc = memory_new(&graphs->gone, graphs->gone_count, "graphs that go", err);
    for (uint32_t g = 0; rc == ERROR_NONE && g < index->graph_count; g++)
        if (graphs->is_gone[g])
            graphs->gone[count++] = g;
    reader->delta.gone_graphs = graphs->gone_count;
    reader->delta.gone_graph = graphs->gone;
    return rc;
}

/* ---- added graphs
 * ------------------------------------------------------------------------------ */

enum error_code update_graphs_begin(struct update_reader *reader, struct error *err)
{
    struct update_graphs *graphs = &reader->graphs;
    const uint64_t count = reader->delta.added_nodes;
    enum error_code rc = update_reader_take(
        reader, count * (2 * sizeof *graphs->member_of + sizeof *graphs->graph_of + 1), err);
    if (rc == ERROR_NONE)
        rc = memory_new(&graphs->member_of, count, "graphs of new nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&graphs->added_id, count, "new graphs", err);
    return rc == ERROR_NONE ? memory_new(&graphs->graph_of, count, "graphs of new nodes", err) : rc;
}

enum error_code update_graphs_note(struct update_graphs *graphs, uint32_t added,
                                   const struct field *field, const char *where, int64_t line,
                                   struct error *err)
{
    const int64_t first = (int64_t)graphs->index.first_id;
    int64_t id = 0;
    if (!text_int64(field->text, field->size, &id) || id < first)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": graph: expected a number from %" PRId64
                         " on after the id, found '%.*s'",
                         where, line, first, field->size < 40 ? (int)field->size : 40, field->text);
    graphs->member_of[added] = id;
    return ERROR_NONE;
}

static int by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

enum error_code update_graphs_settle(struct update_reader *reader, struct error *err)
{
    struct update_graphs *graphs = &reader->graphs;
    const uint32_t nodes = reader->delta.added_nodes, there = graphs->index.graph_count;
    uint32_t count = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        graphs->graph_of[i] = find_there(graphs, graphs->member_of[i]);
        if (graphs->graph_of[i] == there)
            graphs->added_id[count++] = graphs->member_of[i];
    }
    if (count)
        qsort(graphs->added_id, count, sizeof *graphs->added_id, by_value);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || graphs->added_id[i] != graphs->added_id[graphs->added_count - 1])
            graphs->added_id[graphs->added_count++] = graphs->added_id[i];
    for (uint32_t i = 0; i < nodes; i++)
        if (graphs->graph_of[i] == there) {
            const int64_t *at = bsearch(&graphs->member_of[i], graphs->added_id,
                                        graphs->added_count, sizeof *at, by_value);
            graphs->graph_of[i] += (uint32_t)(at - graphs->added_id);
        }
    reader->delta.added_graphs = graphs->added_count;
    reader->delta.new_graph_id = graphs->added_id;
    reader->delta.new_graph_of = graphs->graph_of;
    return memory_new(&graphs->is_begun, graphs->added_count, "new graphs", err);
}

/* ---- edges
 * -------------------------------------------------------------------------------------- */

/* Returns the user's number of a node's graph. */
static int64_t id_of(const struct update_graphs *graphs, uint32_t node)
{
    const struct graph_index *index = &graphs->index;
    return node < index->node_count ? graph_index_id(index, index->graph_of[node])
                                    : graphs->member_of[node - index->node_count];
}

enum error_code update_graphs_check_edge(const struct update_reader *reader, uint32_t source,
                                         uint32_t target, const char *where, int64_t line,
                                         struct error *err)
{
    const struct update_graphs *graphs = &reader->graphs;
    if (!update_graphs_are_many(graphs) || id_of(graphs, source) == id_of(graphs, target))
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": an edge between nodes of two graphs, %" PRId64 " and %" PRId64
                     ": expected both ends in one graph",
                     where, line, id_of(graphs, source), id_of(graphs, target));
}
