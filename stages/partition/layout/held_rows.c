#include "stages/partition/layout/held_rows.h"

#include "common/base/key_sort.h"
#include "common/base/memory.h"
#include "stages/partition/layout/edge_walk.h"
#include "stages/partition/layout/row_sorter.h"
#include "store/records/dataset_types.h"

#include <inttypes.h>
#include <string.h>

/* Rows in the order in which they were read. */
struct arrival {
    const struct held_rows_source *source;
    uint16_t part;
    uint64_t edge; /* the next edge of the pass */
    uint32_t row_count;
    uint64_t edge_count;
    /* [row_count]: new id << 32 | index as it was read; owned, and so are the next. */
    uint64_t *key;
    uint64_t *row_start; /* [row_count + 1] */
    uint32_t *neighbor;  /* [edge_count], new ids */
    struct edge_columns columns;
};

static void arrival_release(struct arrival *a)
{
    memory_free(a->key);
    memory_free(a->row_start);
    memory_free(a->neighbor);
    edge_columns_release(&a->columns);
}

/* --- sizes --- */

static enum error_code count_chunk(void *context, const struct edge_chunk *chunk, struct error *err)
{
    struct arrival *a = context;
    (void)err;
    for (uint32_t row = 0; row < chunk->node_count; row++) {
        const uint64_t before = a->edge_count;
        for (uint64_t e = chunk->row_start[row]; e < chunk->row_start[row + 1]; e++)
            a->edge_count += a->source->edge_part[a->edge + e] == a->part;
        a->row_count += a->edge_count > before;
    }
    a->edge += chunk->edge_count;
    return ERROR_NONE;
}

static struct edge_widths widths_of(const struct held_rows_source *source)
{
    return source->bare ? (struct edge_widths){0} : dataset_edge_widths(source->schema);
}

static enum error_code check_budget(const struct arrival *a, struct error *err)
{
    const struct edge_widths width = widths_of(a->source);
    const uint64_t edge_bytes = sizeof(uint32_t) + edge_widths_bytes(&width);
    const uint64_t held = (a->source->schema->edge_count) * sizeof *a->source->edge_part;
    const uint64_t row_bytes = 4 * sizeof(uint64_t) + sizeof(uint32_t);
    const uint64_t needed = held + 2 * a->edge_count * edge_bytes + a->row_count * row_bytes;
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
    const struct edge_widths width = widths_of(a->source);
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
    (void)err;
    for (uint32_t row = 0; row < chunk->node_count; row++) {
        const uint64_t before = a->edge_count;
        for (uint64_t e = chunk->row_start[row]; e < chunk->row_start[row + 1]; e++) {
            if (a->source->edge_part[a->edge + e] != a->part)
                continue;
            a->neighbor[a->edge_count] = to_new[chunk->neighbor[e]];
            edge_columns_copy(&a->columns, a->edge_count++, &chunk->columns, e, 1);
        }
        if (a->edge_count == before)
            continue;
        a->key[a->row_count] = (uint64_t)to_new[chunk->first_node + row] << 32 | a->row_count;
        a->row_start[++a->row_count] = a->edge_count;
    }
    a->edge += chunk->edge_count;
    return ERROR_NONE;
}

static enum error_code allocate_rows(const struct arrival *a, struct held_rows *out,
                                     struct error *err)
{
    enum error_code rc = memory_new(&out->row_node, a->row_count, "the nodes of rows", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->row_start, (size_t)a->row_count + 1, "row offsets", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->neighbor, (size_t)a->edge_count, "the edges of a part", err);
    if (rc == ERROR_NONE)
        rc = edge_columns_new(&out->columns, &a->columns.width, a->edge_count,
                              "the edge columns of a part", err);
    return rc;
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

/* Orders the rows by node, and each by source. */
static enum error_code order(struct arrival *a, struct held_rows *out, struct error *err)
{
    struct row_sorter sorter = {0};
    uint64_t *scratch = NULL;
    enum error_code rc = allocate_rows(a, out, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&scratch, a->row_count, "the order of rows", err);
    if (rc == ERROR_NONE)
        key_sort(a->key, scratch, a->row_count);
    memory_free(scratch);
    const struct edge_columns_view columns = edge_columns_read(&a->columns, 0);
    for (uint32_t row = 0; rc == ERROR_NONE && row < a->row_count; row++) {
        const uint32_t came = (uint32_t)a->key[row];
        const uint64_t from = a->row_start[came], count = a->row_start[came + 1] - from;
        const uint64_t at = out->row_start[row];
        out->row_node[row] = (uint32_t)(a->key[row] >> 32);
        out->row_start[row + 1] = at + count;
        memcpy(&out->neighbor[at], &a->neighbor[from], count * sizeof *a->neighbor);
        edge_columns_copy(&out->columns, at, &columns, from, count);
        rc = sort_row(out, &sorter, at, count, err);
    }
    row_sorter_release(&sorter);
    out->row_count = a->row_count;
    out->edge_count = a->edge_count;
    return rc;
}

enum error_code held_rows_gather(const struct held_rows_source *source, int part,
                                 struct held_rows *out, struct error *err)
{
    struct arrival a = {.source = source, .part = (uint16_t)part};
    *out = (struct held_rows){0};
    enum error_code rc = edge_walk(source->store, source->schema, count_chunk, &a, err);
    if (rc == ERROR_NONE)
        rc = check_budget(&a, err);
    if (rc == ERROR_NONE)
        rc = allocate_arrival(&a, err);
    if (rc == ERROR_NONE)
        rc = edge_walk(source->store, source->schema, gather_chunk, &a, err);
    if (rc == ERROR_NONE)
        rc = order(&a, out, err);
    arrival_release(&a);
    if (rc != ERROR_NONE)
        held_rows_release(out);
    return rc;
}

struct topology_held held_rows_arrays(const struct held_rows *rows)
{
    return (struct topology_held){.row_count = rows->row_count,
                                  .edge_count = rows->edge_count,
                                  .row_node = rows->row_node,
                                  .row_start = rows->row_start,
                                  .neighbor = rows->neighbor,
                                  .columns = edge_columns_read(&rows->columns, 0)};
}

void held_rows_release(struct held_rows *rows)
{
    memory_free(rows->row_node);
    memory_free(rows->row_start);
    memory_free(rows->neighbor);
    edge_columns_release(&rows->columns);
    *rows = (struct held_rows){0};
}
