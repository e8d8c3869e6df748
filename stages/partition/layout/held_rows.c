#include "stages/partition/layout/held_rows.h"

#include "common/base/memory.h"
#include "common/numbers/key_sort.h"
#include "stages/partition/layout/edge_walk.h"
#include "stages/partition/layout/row_sorter.h"
#include "store/records/dataset/dataset_types.h"

#include <inttypes.h>
#include <string.h>

/* The edges of one relation that a part holds. */
struct relation_place {
    uint64_t own_edge_count; /* edges that end in the part's own nodes, in whatever part they are */
    uint32_t first_row, row_count;
    uint64_t first_edge, edge_count;
    uint32_t node; /* of the last row */
};

/* Rows of all relations, in the order in which they were read. */
struct arrival {
    const struct held_rows_source *source;
    uint16_t part;
    uint64_t edge; /* the next edge of the pass */
    uint32_t row_count, relation_count;
    uint64_t edge_count;
    /* [row_count]: new id << 32 | index as it was read; owned, and so are the next. */
    uint64_t *key;
    uint64_t *row_start;          /* [row_count + 1] */
    uint32_t *neighbor;           /* [edge_count], new ids */
    struct edge_columns columns;  /* the type among them, where there are several relations */
    struct relation_place *place; /* [relation_count] */
};

static void arrival_release(struct arrival *a)
{
    memory_free(a->key);
    memory_free(a->row_start);
    memory_free(a->neighbor);
    memory_free(a->place);
    edge_columns_release(&a->columns);
}

/* The relation of an edge among columns that have its type. */
static uint32_t relation_of(const struct arrival *a, const struct edge_columns_view *columns,
                            uint64_t edge)
{
    return a->relation_count == 1 ? 0 : ((const uint16_t *)columns->data[EDGE_TYPE])[edge];
}

/* --- sizes --- */

/* Refuses an edge of a relation that the dataset does not have. */
static enum error_code check_relation(const struct arrival *a, const struct edge_chunk *chunk,
                                      uint64_t edge, struct error *err)
{
    const uint32_t relation = relation_of(a, &chunk->columns, edge);
    if (relation < a->relation_count)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "an edge of relation %" PRIu32 ", of %" PRIu32 " relations", relation,
                     a->relation_count);
}

/* Counts edges that end in an own node, by relation. */
static enum error_code count_own(const struct arrival *a, const struct edge_chunk *chunk,
                                 uint32_t row, struct error *err)
{
    const struct numbering *numbering = a->source->numbering;
    const uint32_t node = numbering->to_new[chunk->first_node + row];
    if (node < numbering->book[a->part] || node >= numbering->book[a->part + 1])
        return ERROR_NONE;
    enum error_code rc = ERROR_NONE;
    for (uint64_t e = chunk->row_start[row]; e < chunk->row_start[row + 1]; e++) {
        rc = check_relation(a, chunk, e, err);
        if (rc != ERROR_NONE)
            return rc;
        a->place[relation_of(a, &chunk->columns, e)].own_edge_count++;
    }
    return rc;
}

static enum error_code count_chunk(void *context, const struct edge_chunk *chunk, struct error *err)
{
    struct arrival *a = context;
    enum error_code rc = ERROR_NONE;
    for (uint32_t row = 0; rc == ERROR_NONE && row < chunk->node_count; row++) {
        const uint64_t before = a->edge_count;
        for (uint64_t e = chunk->row_start[row]; e < chunk->row_start[row + 1]; e++)
            a->edge_count += a->source->edge_part[a->edge + e] == a->part;
        a->row_count += a->edge_count > before;
        rc = count_own(a, chunk, row, err);
    }
    a->edge += chunk->edge_count;
    return rc;
}

static struct edge_widths widths_of(const struct held_rows_source *source)
{
    return source->bare ? (struct edge_widths){0} : dataset_edge_widths(source->schema);
}

/* The columns that edges come with: the type, too, which says the relation. */
static struct edge_widths widths_to_come(const struct arrival *a)
{
    struct edge_widths width = widths_of(a->source);
    if (a->relation_count > 1)
        width.of[EDGE_TYPE] = a->source->schema->edge_width.of[EDGE_TYPE];
    return width;
}

/* A row has at most as many rows of relations as it has edges. */
static uint64_t most_rows(const struct arrival *a)
{
    const uint64_t rows = (uint64_t)a->row_count * a->relation_count;
    return rows < a->edge_count ? rows : a->edge_count;
}

static enum error_code check_budget(const struct arrival *a, struct error *err)
{
    const struct edge_widths width = widths_to_come(a);
    const uint64_t edge_bytes = sizeof(uint32_t) + edge_widths_bytes(&width);
    const uint64_t held = (a->source->schema->edge_count) * sizeof *a->source->edge_part;
    const uint64_t needed = held + 2 * a->edge_count * edge_bytes +
                            3 * sizeof(uint64_t) * a->row_count +
                            most_rows(a) * (sizeof(uint64_t) + sizeof(uint32_t));
    if (needed <= a->source->budget_bytes)
        return ERROR_NONE;
    return error_set(err, ERROR_NO_MEMORY,
                     "part %u of a vertex cut with %" PRIu64 " edges takes %" PRIu64
                     " bytes, but of the memory budget only %" PRIu64 " are left; " ADVICE
                     "give more --memory or make more parts",
                     a->part, a->edge_count, needed, a->source->budget_bytes);
}

static enum error_code allocate_arrival(struct arrival *a, struct error *err)
{
    const struct edge_widths width = widths_to_come(a);
    enum error_code rc = memory_new(&a->key, a->row_count, "the rows of a part", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&a->row_start, (size_t)a->row_count + 1, "row offsets", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&a->neighbor, (size_t)a->edge_count, "the edges of a part", err);
    if (rc == ERROR_NONE)
        rc =
            edge_columns_new(&a->columns, &width, a->edge_count, "the edge columns of a part", err);
    a->edge = a->row_count = 0;
    a->edge_count = 0;
    return rc;
}

/* --- edges --- */

static enum error_code gather_chunk(void *context, const struct edge_chunk *chunk,
                                    struct error *err)
{
    struct arrival *a = context;
    const uint32_t *to_new = a->source->numbering->to_new;
    enum error_code rc = ERROR_NONE;
    for (uint32_t row = 0; row < chunk->node_count; row++) {
        const uint64_t before = a->edge_count;
        for (uint64_t e = chunk->row_start[row]; e < chunk->row_start[row + 1]; e++) {
            if (a->source->edge_part[a->edge + e] != a->part)
                continue;
            rc = check_relation(a, chunk, e, err);
            if (rc != ERROR_NONE)
                return rc;
            a->neighbor[a->edge_count] = to_new[chunk->neighbor[e]];
            edge_columns_copy(&a->columns, a->edge_count++, &chunk->columns, e, 1);
        }
        if (a->edge_count == before)
            continue;
        a->key[a->row_count] = (uint64_t)to_new[chunk->first_node + row] << 32 | a->row_count;
        a->row_start[++a->row_count] = a->edge_count;
    }
    a->edge += chunk->edge_count;
    return rc;
}

static enum error_code order(struct arrival *a, struct error *err)
{
    uint64_t *scratch = NULL;
    const enum error_code rc = memory_new(&scratch, a->row_count, "the order of rows", err);
    if (rc == ERROR_NONE)
        key_sort(a->key, scratch, a->row_count);
    memory_free(scratch);
    return rc;
}

/* Some edges of a node that came one behind the other, all of one relation. */
struct edge_run {
    uint32_t relation, node;
    uint64_t first, count;
};

/* Adds a run to the rows of its relation: counts it, and with `out` copies it. */
static void add_run(const struct arrival *a, const struct edge_run *run, struct held_rows *out)
{
    struct relation_place *place = &a->place[run->relation];
    const struct edge_columns_view columns = edge_columns_read(&a->columns, 0);
    const uint64_t at = place->first_edge + place->edge_count;
    if (place->row_count == 0 || place->node != run->node)
        place->row_count++;
    place->node = run->node;
    place->edge_count += run->count;
    if (!out)
        return;
    const size_t row = (size_t)place->first_row + place->row_count;
    out->row_node[row - 1] = run->node;
    out->row_start[row + run->relation] = place->edge_count;
    memcpy(&out->neighbor[at], &a->neighbor[run->first], run->count * sizeof *a->neighbor);
    edge_columns_copy(&out->columns, at, &columns, run->first, run->count);
}

/* Adds all edges, node after node. */
static void add_rows(const struct arrival *a, struct held_rows *out)
{
    const struct edge_columns_view columns = edge_columns_read(&a->columns, 0);
    for (uint32_t row = 0; row < a->row_count; row++) {
        const uint32_t came = (uint32_t)a->key[row];
        const uint64_t end = a->row_start[came + 1];
        struct edge_run run = {.node = (uint32_t)(a->key[row] >> 32), .first = a->row_start[came]};
        for (; run.first < end; run.first += run.count) {
            run.relation = relation_of(a, &columns, run.first);
            for (run.count = 1; run.first + run.count < end; run.count++)
                if (relation_of(a, &columns, run.first + run.count) != run.relation)
                    break;
            add_run(a, &run, out);
        }
    }
}

/* Says where the rows of each relation begin, after they are counted, and counts from 0 again.
 * Returns how many rows there are. */
static uint32_t place_relations(const struct arrival *a)
{
    uint32_t rows = 0;
    uint64_t edges = 0;
    for (uint32_t r = 0; r < a->relation_count; r++) {
        struct relation_place *place = &a->place[r];
        place->first_row = rows;
        place->first_edge = edges;
        rows += place->row_count;
        edges += place->edge_count;
        place->row_count = 0;
        place->edge_count = 0;
    }
    return rows;
}

static enum error_code allocate_rows(const struct arrival *a, uint32_t row_count,
                                     struct held_rows *out, struct error *err)
{
    const struct edge_widths width = widths_of(a->source);
    const size_t starts = (size_t)row_count + a->relation_count;
    out->relation_count = a->relation_count;
    enum error_code rc = memory_new(&out->relation, a->relation_count, "relations", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->row_node, row_count, "the nodes of rows", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->row_start, starts, "row offsets", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->neighbor, (size_t)a->edge_count, "the edges of a part", err);
    if (rc == ERROR_NONE)
        rc = edge_columns_new(&out->columns, &width, a->edge_count, "the edge columns of a part",
                              err);
    return rc;
}

/* Describes the rows of a relation. */
static void take_relation(const struct arrival *a, uint32_t r, struct held_rows *out)
{
    const struct relation_place *place = &a->place[r];
    const struct type_ranges ranges = numbering_ranges(a->source->numbering);
    const uint32_t type = dataset_relation(a->source->schema, r).target_type;
    out->relation[r] =
        (struct topology_held){.first_node = type_ranges_first(&ranges, a->part, type),
                               .node_count = type_ranges_count(&ranges, a->part, type),
                               .own_edge_count = place->own_edge_count,
                               .row_count = place->row_count,
                               .edge_count = place->edge_count,
                               .row_node = out->row_node + place->first_row,
                               .row_start = out->row_start + place->first_row + r,
                               .neighbor = out->neighbor + place->first_edge,
                               .columns = edge_columns_read(&out->columns, place->first_edge)};
}

static enum error_code sort_row(struct held_rows *rows, struct row_sorter *sorter, uint64_t from,
                                uint64_t count, struct error *err)
{
    bool unchanged = false;
    enum error_code rc = row_sorter_sort(sorter, &rows->neighbor[from], count, &unchanged, err);
    for (int c = 0; rc == ERROR_NONE && !unchanged && c < EDGE_COLUMN_COUNT; c++) {
        const size_t bytes = edge_column_bytes((enum edge_column)c, rows->columns.width.of[c]);
        if (bytes)
            rc = row_sorter_move(sorter, (char *)rows->columns.data[c] + from * bytes, count, bytes,
                                 err);
    }
    return rc;
}

/* Sorts each row of a relation by source. */
static enum error_code sort_rows(const struct relation_place *place, uint32_t r,
                                 struct row_sorter *sorter, struct held_rows *out,
                                 struct error *err)
{
    const uint64_t *start = out->relation[r].row_start;
    enum error_code rc = ERROR_NONE;
    for (uint32_t row = 0; rc == ERROR_NONE && row < place->row_count; row++)
        rc =
            sort_row(out, sorter, place->first_edge + start[row], start[row + 1] - start[row], err);
    return rc;
}

/* Orders the rows of each relation by node, and each row by source. */
static enum error_code take_rows(struct arrival *a, struct held_rows *out, struct error *err)
{
    struct row_sorter sorter = {0};
    add_rows(a, NULL);
    enum error_code rc = allocate_rows(a, place_relations(a), out, err);
    if (rc == ERROR_NONE)
        add_rows(a, out);
    for (uint32_t r = 0; rc == ERROR_NONE && r < a->relation_count; r++) {
        take_relation(a, r, out);
        rc = sort_rows(&a->place[r], r, &sorter, out, err);
    }
    row_sorter_release(&sorter);
    return rc;
}

enum error_code held_rows_gather(const struct held_rows_source *source, int part,
                                 struct held_rows *out, struct error *err)
{
    struct arrival a = {.source = source,
                        .part = (uint16_t)part,
                        .relation_count = dataset_relation_count(source->schema)};
    *out = (struct held_rows){0};
    enum error_code rc = memory_new(&a.place, a.relation_count, "the relations of a part", err);
    if (rc == ERROR_NONE)
        rc = edge_walk(source->store, source->schema, count_chunk, &a, err);
    if (rc == ERROR_NONE)
        rc = check_budget(&a, err);
    if (rc == ERROR_NONE)
        rc = allocate_arrival(&a, err);
    if (rc == ERROR_NONE)
        rc = edge_walk(source->store, source->schema, gather_chunk, &a, err);
    if (rc == ERROR_NONE)
        rc = order(&a, err);
    if (rc == ERROR_NONE)
        rc = take_rows(&a, out, err);
    arrival_release(&a);
    if (rc != ERROR_NONE)
        held_rows_release(out);
    return rc;
}

void held_rows_release(struct held_rows *rows)
{
    memory_free(rows->relation);
    memory_free(rows->row_node);
    memory_free(rows->row_start);
    memory_free(rows->neighbor);
    edge_columns_release(&rows->columns);
    *rows = (struct held_rows){0};
}
