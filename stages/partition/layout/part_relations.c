#include "stages/partition/layout/part_relations.h"

#include "common/base/memory.h"
#include "store/records/dataset/dataset_types.h"

#include <inttypes.h>

/* Returns the relation of an edge. */
static uint32_t relation_of(const struct topology_arrays *rows, uint64_t edge)
{
    const uint16_t *type = rows->columns.data[EDGE_TYPE];
    return type ? type[edge] : 0;
}

/* Returns whether the rows of a part are already those of its only relation. */
static bool is_whole(const struct dataset_schema *schema)
{
    return dataset_type_count(schema) == 1 && dataset_relation_count(schema) == 1;
}

uint64_t part_relations_bytes(const struct dataset_schema *schema, uint64_t node_count,
                              uint64_t edge_count)
{
    const struct edge_widths width = dataset_edge_widths(schema);
    if (is_whole(schema))
        return 0;
    return dataset_relation_count(schema) * (node_count + 1) * sizeof(uint64_t) +
           edge_count * (sizeof(uint32_t) + edge_widths_bytes(&width));
}

/* Sets the rows of each relation and the place of its row starts. */
static enum error_code lay_out(const struct topology_arrays *rows, int part,
                               const struct numbering *numbering,
                               const struct dataset_schema *schema, struct part_relations *set,
                               struct error *err)
{
    const struct type_ranges ranges = numbering_ranges(numbering);
    struct edge_widths width = rows->columns.width;
    uint64_t starts = 0;
    width.of[EDGE_TYPE] = 0; /* each relation has a CSR of its own, so edges need no type */
    for (uint32_t r = 0; r < set->relation_count; r++) {
        const uint32_t type = schema->edge_type[r].target_type;
        struct topology_arrays *relation = &set->relation[r];
        relation->first_node = type_ranges_first(&ranges, part, type);
        relation->node_count = type_ranges_count(&ranges, part, type);
        starts += (uint64_t)relation->node_count + 1;
    }
    enum error_code rc = memory_new(&set->row_start, starts, "the rows of relations", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&set->neighbor, rows->edge_count, "the edges of relations", err);
    if (rc == ERROR_NONE)
        rc = edge_columns_new(&set->columns, &width, rows->edge_count, "the edges of relations",
                              err);
    starts = 0;
    for (uint32_t r = 0; rc == ERROR_NONE && r < set->relation_count; r++) {
        set->relation[r].row_start = set->row_start + starts;
        starts += (uint64_t)set->relation[r].node_count + 1;
    }
    return rc;
}

static bool is_wanted(const struct wanted_rows *wanted, uint32_t relation, uint32_t node)
{
    return !wanted || wanted->has(wanted->context, relation, node);
}

/* Counts each edge in its row of its relation. */
static enum error_code count_edges(const struct topology_arrays *rows,
                                   const struct wanted_rows *wanted, struct part_relations *set,
                                   struct error *err)
{
    for (uint32_t row = 0; row < rows->node_count; row++)
        for (uint64_t e = rows->row_start[row]; e < rows->row_start[row + 1]; e++) {
            const uint32_t r = relation_of(rows, e), node = rows->first_node + row;
            struct topology_arrays *relation = &set->relation[r < set->relation_count ? r : 0];
            if (r >= set->relation_count || node < relation->first_node ||
                node - relation->first_node >= relation->node_count)
                return error_set(err, ERROR_CORRUPT,
                                 "an edge of relation %" PRIu32 " ends in node %" PRIu32
                                 ", which is not of its target type",
                                 r, node);
            if (!is_wanted(wanted, r, node))
                continue;
            /* The row starts belong to this set; they are const only for readers. */
            set->row_start[(relation->row_start - set->row_start) + (node - relation->first_node) +
                           1]++;
            relation->edge_count++;
        }
    return ERROR_NONE;
}

/* Turns counts into row starts. The edges of each relation come after those of the relation
 * before. */
static void place_relations(struct part_relations *set)
{
    uint64_t edge = 0;
    for (uint32_t r = 0; r < set->relation_count; r++) {
        struct topology_arrays *relation = &set->relation[r];
        uint64_t *start = set->row_start + (relation->row_start - set->row_start);
        for (uint32_t row = 0; row < relation->node_count; row++)
            start[row + 1] += start[row];
        relation->neighbor = set->neighbor + edge;
        relation->columns = edge_columns_read(&set->columns, edge);
        edge += relation->edge_count;
    }
}

/* Moves the edges. Rows come in order, so an edge is appended to those of its relation. */
static enum error_code move_edges(const struct topology_arrays *rows,
                                  const struct wanted_rows *wanted, struct part_relations *set,
                                  struct error *err)
{
    struct edge_columns_view from = rows->columns;
    uint64_t *next = NULL;
    const enum error_code rc =
        memory_new(&next, set->relation_count, "the edges of relations", err);
    if (rc != ERROR_NONE)
        return rc;
    from.width.of[EDGE_TYPE] = 0;
    from.data[EDGE_TYPE] = NULL;
    for (uint32_t r = 1; r < set->relation_count; r++)
        next[r] = next[r - 1] + set->relation[r - 1].edge_count;
    for (uint32_t row = 0; row < rows->node_count; row++)
        for (uint64_t e = rows->row_start[row]; e < rows->row_start[row + 1]; e++) {
            const uint32_t r = relation_of(rows, e);
            if (!is_wanted(wanted, r, rows->first_node + row))
                continue;
            const uint64_t to = next[r]++;
            set->neighbor[to] = rows->neighbor[e];
            edge_columns_copy(&set->columns, to, &from, e, 1);
        }
    memory_free(next);
    return rc;
}

enum error_code part_relations_split(const struct topology_arrays *rows, int part,
                                     const struct numbering *numbering,
                                     const struct dataset_schema *schema,
                                     const struct wanted_rows *wanted, struct part_relations *out,
                                     struct error *err)
{
    *out = (struct part_relations){.relation_count = dataset_relation_count(schema)};
    enum error_code rc =
        memory_new(&out->relation, out->relation_count, "the relations of a part", err);
    if (rc == ERROR_NONE && is_whole(schema)) {
        out->relation[0] = *rows;
        return ERROR_NONE;
    }
    if (rc == ERROR_NONE)
        rc = lay_out(rows, part, numbering, schema, out, err);
    if (rc == ERROR_NONE)
        rc = count_edges(rows, wanted, out, err);
    if (rc == ERROR_NONE) {
        place_relations(out);
        rc = move_edges(rows, wanted, out, err);
    }
    if (rc != ERROR_NONE)
        part_relations_release(out);
    return rc;
}

void part_relations_release(struct part_relations *set)
{
    memory_free(set->relation);
    memory_free(set->row_start);
    memory_free(set->neighbor);
    edge_columns_release(&set->columns);
    *set = (struct part_relations){0};
}
