#include "stages/partition/layout/renumbering.h"

#include "common/base/memory.h"
#include "common/numbers/key_sort.h"
#include "store/records/dataset/dataset_types.h"

#include <stdbool.h>
#include <string.h>

/* Fills the ids part by part. `order` NULL: the order of the dataset. */
static void fill_by_part(struct renumbering *r, const uint32_t *part, const uint32_t *order)
{
    for (uint32_t node = 0; node < r->node_count; node++)
        r->book[part[node] + 1]++;
    for (int p = 0; p < r->part_count; p++)
        r->book[p + 1] += r->book[p];
    /* book[p] is the cursor of part p, and ends where part p + 1 starts. */
    for (uint32_t i = 0; i < r->node_count; i++) {
        const uint32_t node = order ? order[i] : i;
        const uint32_t there = r->book[part[node]]++;
        r->to_partition[node] = there;
        r->to_dataset[there] = node;
    }
    memmove(&r->book[1], &r->book[0], (size_t)r->part_count * sizeof *r->book);
    r->book[0] = 0;
}

enum error_code renumbering_init_in_order(struct renumbering *out, const uint32_t *part,
                                          uint32_t node_count, uint32_t part_count,
                                          const uint32_t *order, struct error *err)
{
    *out = (struct renumbering){.part_count = (int)part_count, .node_count = node_count};
    enum error_code rc = memory_new(&out->book, (size_t)part_count + 1, "the book", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->to_partition, node_count, "the renumbering", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->to_dataset, node_count, "the renumbering", err);
    if (rc == ERROR_NONE)
        fill_by_part(out, part, order);
    else
        renumbering_release(out);
    return rc;
}

enum error_code renumbering_init(struct renumbering *out, const uint32_t *part, uint32_t node_count,
                                 uint32_t part_count, struct error *err)
{
    return renumbering_init_in_order(out, part, node_count, part_count, NULL, err);
}

/* Sorts start [node_count]: rows by falling degree, equal degrees by rising row. The row is the low
 * half of a key. */
static void sort_starts(const struct topology_arrays *part, uint64_t *start, uint64_t *scratch)
{
    for (uint32_t row = 0; row < part->node_count; row++) {
        const uint64_t degree = part->row_start[row + 1] - part->row_start[row];
        start[row] = (UINT32_MAX - (degree < UINT32_MAX ? degree : UINT32_MAX)) << 32 | row;
    }
    key_sort(start, scratch, part->node_count);
}

/* Appends all rows that `order[head]` and those after it reach. Returns the new number of rows in
 * `order`. */
static uint32_t search(const struct topology_arrays *part, bool *taken, uint32_t *order,
                       uint32_t head, uint32_t count)
{
    for (; head < count; head++) {
        const uint32_t row = order[head];
        for (uint64_t e = part->row_start[row]; e < part->row_start[row + 1]; e++) {
            const uint32_t other = part->neighbor[e] - part->first_node;
            if (part->neighbor[e] < part->first_node || other >= part->node_count || taken[other])
                continue;
            taken[other] = true;
            order[count++] = other;
        }
    }
    return count;
}

enum error_code breadth_first_order(const struct topology_arrays *part, uint32_t *order,
                                    struct error *err)
{
    uint64_t *start = NULL, *scratch = NULL;
    bool *taken = NULL;
    uint32_t count = 0;
    enum error_code rc = memory_new(&start, part->node_count, "the order of a part", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&scratch, part->node_count, "the order of a part", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&taken, part->node_count, "the order of a part", err);
    if (rc != ERROR_NONE)
        goto cleanup;
    sort_starts(part, start, scratch);
    for (uint32_t i = 0; i < part->node_count; i++) {
        const uint32_t row = (uint32_t)start[i];
        if (taken[row])
            continue;
        taken[row] = true;
        order[count] = row;
        count = search(part, taken, order, count, count + 1);
    }
cleanup:
    memory_free(taken);
    memory_free(scratch);
    memory_free(start);
    return rc;
}

/* Orders a part. Only the part's own range of ids changes, so the rows of other parts, gathered
 * before, stay right. */
static enum error_code order_part(struct renumbering *r, const struct topology_arrays *part,
                                  struct error *err)
{
    uint32_t *order = NULL;
    enum error_code rc = memory_new(&order, part->node_count, "the order of a part", err);
    if (rc == ERROR_NONE)
        rc = breadth_first_order(part, order, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < part->node_count; i++)
        order[i] = r->to_dataset[part->first_node + order[i]];
    for (uint32_t i = 0; rc == ERROR_NONE && i < part->node_count; i++) {
        r->to_dataset[part->first_node + i] = order[i];
        r->to_partition[order[i]] = part->first_node + i;
    }
    memory_free(order);
    return rc;
}

enum error_code renumbering_order(struct renumbering *renumbering,
                                  const struct part_rows_source *source, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int p = 0; rc == ERROR_NONE && p < renumbering->part_count;) {
        struct part_rows rows = {0};
        rc = part_rows_gather(source, p, &rows, err);
        for (; rc == ERROR_NONE && p < rows.first_part + rows.part_count; p++) {
            const struct topology_arrays part = part_rows_arrays(&rows, p);
            rc = order_part(renumbering, &part, err);
        }
        part_rows_release(&rows);
    }
    return rc;
}

/* Counts the types of a part after start[0], which is its first node. */
static void count_types(const struct renumbering *r, const struct dataset_schema *schema, int part,
                        uint32_t *start)
{
    for (uint32_t node = r->book[part]; node < r->book[part + 1]; node++)
        start[dataset_type_of(schema, r->to_dataset[node]) + 1]++;
    start[0] = r->book[part];
    for (uint32_t t = 0; t < r->type_count; t++)
        start[t + 1] += start[t];
}

static void sort_types(struct renumbering *r, const struct dataset_schema *schema, int part,
                       const uint32_t *start, uint32_t *order)
{
    const uint32_t first = r->book[part], count = r->book[part + 1] - first;
    uint32_t next[NODE_TYPE_COUNT_MAX];
    memcpy(next, start, r->type_count * sizeof *next);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t node = r->to_dataset[first + i];
        order[next[dataset_type_of(schema, node)]++ - first] = node;
    }
    for (uint32_t i = 0; i < count; i++) {
        r->to_dataset[first + i] = order[i];
        r->to_partition[order[i]] = first + i;
    }
}

enum error_code renumbering_by_type(struct renumbering *renumbering,
                                    const struct dataset_schema *schema, struct error *err)
{
    struct renumbering *r = renumbering;
    uint32_t *order = NULL, largest = 0;
    r->type_count = dataset_type_count(schema);
    for (int p = 0; r->type_count > 1 && p < r->part_count; p++)
        largest = r->book[p + 1] - r->book[p] > largest ? r->book[p + 1] - r->book[p] : largest;
    enum error_code rc = memory_new(&r->type_start, (size_t)r->part_count * (r->type_count + 1),
                                    "the ranges of types", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&order, largest, "the order of a part", err);
    for (int p = 0; rc == ERROR_NONE && p < r->part_count; p++) {
        uint32_t *start = r->type_start + (size_t)p * (r->type_count + 1);
        count_types(r, schema, p, start);
        if (r->type_count > 1)
            sort_types(r, schema, p, start, order);
    }
    memory_free(order);
    return rc;
}

struct numbering renumbering_view(const struct renumbering *renumbering)
{
    return (struct numbering){
        .part_count = renumbering->part_count,
        .node_count = renumbering->node_count,
        .book = renumbering->book,
        .to_new = renumbering->to_partition,
        .to_dataset = renumbering->to_dataset,
        .type_count = renumbering->type_count,
        .type_start = renumbering->type_start,
    };
}

void renumbering_release(struct renumbering *renumbering)
{
    memory_free(renumbering->book);
    memory_free(renumbering->to_partition);
    memory_free(renumbering->to_dataset);
    memory_free(renumbering->type_start);
    *renumbering = (struct renumbering){0};
}
