#include "stages/partition/layout/part_rows.h"

#include "common/base/memory.h"
#include "stages/partition/layout/edge_walk.h"
#include "stages/partition/layout/part_relations.h"
#include "stages/partition/layout/row_sorter.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/edge_chunk.h"

#include <inttypes.h>
#include <string.h>

static bool is_wanted(const struct part_rows_source *source, uint32_t node)
{
    return !source->wanted || (source->wanted[node] & source->wanted_mark);
}

/* Returns the number of edges that are gathered for a node. */
static uint32_t row_edges(const struct part_rows_source *source, uint32_t node)
{
    return is_wanted(source, node) ? source->in_degree[source->numbering->to_dataset[node]] : 0;
}

static uint64_t part_edges(const struct part_rows_source *source, int part)
{
    const struct numbering *n = source->numbering;
    uint64_t edges = 0;
    for (uint32_t node = n->book[part]; node < n->book[part + 1]; node++)
        edges += row_edges(source, node);
    return edges;
}

static struct edge_widths widths_of(const struct part_rows_source *source)
{
    if (source->bare)
        return (struct edge_widths){0};
    /* With several relations the edges are split by their type, so the type is gathered, too. */
    return dataset_relation_count(source->schema) > 1 ? source->schema->edge_width
                                                      : dataset_edge_widths(source->schema);
}

/* Chooses how many parts from `first` on fit the budget. *edges is their number of edges
 * together. */
static enum error_code choose_parts(const struct part_rows_source *source, int first, int *count,
                                    uint64_t *edges, struct error *err)
{
    const struct numbering *n = source->numbering;
    const struct edge_widths width = widths_of(source);
    const uint64_t edge_bytes = sizeof(uint32_t) + edge_widths_bytes(&width);
    uint64_t bytes = 0, splitting = 0;
    *count = 0;
    *edges = 0;
    const int end = source->end_part ? source->end_part : n->part_count;
    for (int p = first; p < end; p++) {
        const uint64_t own = part_edges(source, p);
        bytes +=
            own * edge_bytes + ((uint64_t)(n->book[p + 1] - n->book[p]) + 3) * sizeof(uint64_t);
        const uint64_t aside =
            source->is_split
                ? part_relations_bytes(source->schema, n->book[p + 1] - n->book[p], own)
                : 0;
        splitting = aside > splitting ? aside : splitting;
        if (bytes + splitting > source->budget_bytes && p == first)
            return error_set(err, ERROR_NO_MEMORY,
                             "part %d with %" PRIu64 " edges takes %" PRIu64
                             " bytes, but of the memory budget only %" PRIu64 " are left; " ADVICE
                             "give more --memory or make more parts",
                             p, own, bytes + splitting, source->budget_bytes);
        if (bytes + splitting > source->budget_bytes)
            break;
        *edges += own;
        ++*count;
    }
    return ERROR_NONE;
}

static enum error_code allocate(const struct part_rows_source *source, struct part_rows *rows,
                                struct error *err)
{
    const struct numbering *n = source->numbering;
    const struct edge_widths width = widths_of(source);
    const size_t parts = (size_t)rows->part_count, edges = (size_t)rows->edge_count;
    const size_t nodes = n->book[rows->first_part + rows->part_count] - n->book[rows->first_part];
    enum error_code rc = memory_new(&rows->row_start, nodes + parts, "row offsets", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&rows->edge_start, parts + 1, "edge offsets", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&rows->neighbor, edges, "the edges of parts", err);
    if (rc == ERROR_NONE)
        rc = edge_columns_new(&rows->columns, &width, edges, "the edge columns of parts", err);
    return rc;
}

static uint64_t *part_row_start(const struct part_rows *rows, int part)
{
    const uint32_t *book = rows->numbering->book;
    const int index = part - rows->first_part;
    return &rows->row_start[book[part] - book[rows->first_part] + (uint32_t)index];
}

static void place_rows(const struct part_rows_source *source, struct part_rows *rows)
{
    const struct numbering *n = source->numbering;
    for (int i = 0; i < rows->part_count; i++) {
        const int part = rows->first_part + i;
        uint64_t *row_start = part_row_start(rows, part);
        uint64_t at = 0;
        for (uint32_t node = n->book[part]; node < n->book[part + 1]; node++) {
            *row_start++ = at;
            at += row_edges(source, node);
        }
        *row_start = at;
        rows->edge_start[i + 1] = rows->edge_start[i] + at;
    }
}

/* Returns the part of `node` among those gathered. */
static int part_of(const struct part_rows *rows, uint32_t node)
{
    const uint32_t *book = rows->numbering->book;
    int low = rows->first_part, high = rows->first_part + rows->part_count;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (book[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void copy_row(struct part_rows *rows, const struct edge_chunk *chunk, uint64_t from,
                     uint64_t count, uint64_t to)
{
    for (uint64_t e = 0; e < count; e++)
        rows->neighbor[to + e] = rows->numbering->to_new[chunk->neighbor[from + e]];
    edge_columns_copy(&rows->columns, to, &chunk->columns, from, count);
}

static enum error_code gather_chunk(void *context, const struct edge_chunk *chunk,
                                    struct error *err)
{
    struct part_rows *rows = context;
    const struct numbering *n = rows->numbering;
    const uint32_t first = n->book[rows->first_part];
    const uint32_t end = n->book[rows->first_part + rows->part_count];
    for (uint32_t row = 0; row < chunk->node_count; row++) {
        const uint32_t node = n->to_new[chunk->first_node + row];
        if (node < first || node >= end || !is_wanted(rows->source, node))
            continue;
        const int part = part_of(rows, node);
        const uint64_t *at = part_row_start(rows, part) + (node - n->book[part]);
        const uint64_t count = chunk->row_start[row + 1] - chunk->row_start[row];
        if (count != at[1] - at[0])
            return error_set(err, ERROR_CORRUPT,
                             "node %" PRIu32 " has %" PRIu64 " edges, and %" PRIu64
                             " when they were counted",
                             chunk->first_node + row, count, at[1] - at[0]);
        copy_row(rows, chunk, chunk->row_start[row], count,
                 rows->edge_start[part - rows->first_part] + at[0]);
    }
    return ERROR_NONE;
}

/* Lists the nodes whose rows are gathered, and no others, by dataset ids. */
static enum error_code list_wanted(const struct part_rows *rows, uint32_t **node, uint64_t *count,
                                   struct error *err)
{
    const struct numbering *n = rows->numbering;
    const uint32_t first = n->book[rows->first_part];
    const uint32_t end = n->book[rows->first_part + rows->part_count];
    *count = 0;
    for (uint32_t i = first; i < end; i++)
        *count += is_wanted(rows->source, i);
    const enum error_code rc = memory_new(node, *count, "the rows that are gathered", err);
    uint64_t at = 0;
    for (uint32_t i = 0; rc == ERROR_NONE && at < *count; i++)
        if (n->to_new[i] >= first && n->to_new[i] < end && is_wanted(rows->source, n->to_new[i]))
            (*node)[at++] = i;
    return rc;
}

static enum error_code gather_wanted(struct part_rows *rows, struct error *err)
{
    const struct part_rows_source *source = rows->source;
    uint32_t *node = NULL;
    uint64_t count = 0;
    enum error_code rc = list_wanted(rows, &node, &count, err);
    if (rc == ERROR_NONE)
        rc = edge_rows_walk(source->store, source->schema, node, count, gather_chunk, rows, err);
    memory_free(node);
    return rc;
}

enum error_code part_rows_gather(const struct part_rows_source *source, int first_part,
                                 struct part_rows *out, struct error *err)
{
    *out = (struct part_rows){
        .first_part = first_part, .numbering = source->numbering, .source = source};
    enum error_code rc = choose_parts(source, first_part, &out->part_count, &out->edge_count, err);
    if (rc == ERROR_NONE)
        rc = allocate(source, out, err);
    if (rc == ERROR_NONE) {
        place_rows(source, out);
        rc = source->wanted ? gather_wanted(out, err)
                            : edge_walk(source->store, source->schema, gather_chunk, out, err);
        out->source = NULL;
    }
    if (rc != ERROR_NONE)
        part_rows_release(out);
    return rc;
}

struct topology_arrays part_rows_arrays(const struct part_rows *rows, int part)
{
    const uint32_t *book = rows->numbering->book;
    const int index = part - rows->first_part;
    const uint64_t edge = rows->edge_start[index];
    return (struct topology_arrays){
        .first_node = book[part],
        .node_count = book[part + 1] - book[part],
        .edge_count = rows->edge_start[index + 1] - edge,
        .row_start = part_row_start(rows, part),
        .neighbor = &rows->neighbor[edge],
        .columns = edge_columns_read(&rows->columns, edge),
    };
}

void part_rows_release(struct part_rows *rows)
{
    memory_free(rows->row_start);
    memory_free(rows->edge_start);
    memory_free(rows->neighbor);
    edge_columns_release(&rows->columns);
    *rows = (struct part_rows){0};
}

static enum error_code sort_row(struct part_rows *rows, struct row_sorter *sorter, uint64_t from,
                                uint64_t count, struct error *err)
{
    bool unchanged = false;
    enum error_code rc = row_sorter_sort(sorter, &rows->neighbor[from], count, &unchanged, err);
    if (rc != ERROR_NONE || unchanged)
        return rc;
    for (int c = 0; c < EDGE_COLUMN_COUNT && rc == ERROR_NONE; c++) {
        const size_t bytes = edge_column_bytes((enum edge_column)c, rows->columns.width.of[c]);
        if (bytes)
            rc = row_sorter_move(sorter, (char *)rows->columns.data[c] + from * bytes, count, bytes,
                                 err);
    }
    return rc;
}

enum error_code part_rows_sort(struct part_rows *rows, int part, struct error *err)
{
    struct row_sorter sorter = {0};
    enum error_code rc = ERROR_NONE;
    const struct topology_arrays arrays = part_rows_arrays(rows, part);
    const uint64_t first = rows->edge_start[part - rows->first_part];
    for (uint32_t row = 0; rc == ERROR_NONE && row < arrays.node_count; row++)
        rc = sort_row(rows, &sorter, first + arrays.row_start[row],
                      arrays.row_start[row + 1] - arrays.row_start[row], err);
    row_sorter_release(&sorter);
    return rc;
}
