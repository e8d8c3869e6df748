#include "store/topology/topology_join.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <string.h>

struct joining {
    const struct topology_part *old; /* the rows of the topology */
    const struct topology_part *part;
    const struct other_edges *others;
    uint64_t first, end; /* other edges that end in the part */
    struct merged_rows *to;
};

/* Whether the relation has rows for nodes of the target's type. */
static bool has_row(const struct topology *topology, uint32_t relation, uint32_t target)
{
    const struct topology_part *rows =
        topology_rows(topology, topology_part_of(topology, target), relation);
    return target - rows->first_node < rows->node_count;
}

static enum error_code check_edges(const struct topology *topology, uint32_t relation,
                                   const struct other_edges *others, struct error *err)
{
    const uint32_t nodes = topology->node_count;
    if (others->count && !edge_widths_equal(&others->columns.width, &topology->width))
        return error_set(err, ERROR_CORRUPT,
                         "edges to join: expected the columns of the topology, found others");
    for (uint64_t i = 0; i < others->count; i++) {
        const uint32_t s = others->source[i], t = others->target[i];
        const bool descends = i && (t < others->target[i - 1] ||
                                    (t == others->target[i - 1] && s < others->source[i - 1]));
        if (s >= nodes || t >= nodes || descends)
            return error_set(err, ERROR_CORRUPT,
                             "edge %" PRIu64 " to join, from %" PRIu32 " to %" PRIu32
                             ": expected nodes below %" PRIu32 ", ascending by target and source",
                             i, s, t, nodes);
        if (!has_row(topology, relation, t))
            return error_set(err, ERROR_CORRUPT,
                             "edge %" PRIu64 " to join, to %" PRIu32
                             ": expected a node that relation %" PRIu32 " ends in",
                             i, t, relation);
    }
    return ERROR_NONE;
}

/* Returns one past the edges, from `at` on, that end in nodes up to `node`. */
static uint64_t end_of(const struct joining *j, uint64_t at, uint32_t node)
{
    while (at < j->end && j->others->target[at] <= node)
        at++;
    return at;
}

static enum error_code count_rows(void *joining, struct error *err)
{
    const struct joining *j = joining;
    uint64_t *start = merged_rows_at(j->to, TOPOLOGY_ROW_START);
    uint64_t at = j->first;
    (void)err;
    start[0] = 0;
    for (uint32_t row = 0; row < j->part->node_count; row++) {
        const uint64_t own = topology_row_start(j->old, row + 1) - topology_row_start(j->old, row);
        const uint64_t end = end_of(j, at, j->part->first_node + row);
        start[row + 1] = start[row] + own + (end - at);
        at = end;
    }
    return ERROR_NONE;
}

static const char *column_of(const struct joining *j, enum edge_column column, bool is_old,
                             uint64_t edge)
{
    return is_old ? topology_column(j->old, column, edge)
                  : edge_columns_at(&j->others->columns, column, edge);
}

/* Puts an edge of the topology, or one of the others, at index `to`. */
static void put_edge(const struct joining *j, uint64_t to, bool is_old, uint64_t edge)
{
    const struct edge_widths *width = &j->part->width;
    uint32_t *neighbor = merged_rows_at(j->to, TOPOLOGY_NEIGHBOR);
    neighbor[to] = is_old ? *topology_neighbor(j->old, edge) : j->others->source[edge];
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (width->of[c])
            memcpy(merged_rows_column(j->to, (enum edge_column)c, to),
                   column_of(j, (enum edge_column)c, is_old, edge),
                   edge_column_bytes((enum edge_column)c, width->of[c]));
}

static enum error_code fill_rows(void *joining, struct error *err)
{
    const struct joining *j = joining;
    uint64_t at = j->first, to = 0;
    (void)err;
    for (uint32_t row = 0; row < j->part->node_count; row++) {
        uint64_t old = topology_row_start(j->old, row);
        const uint64_t old_end = topology_row_start(j->old, row + 1);
        const uint64_t end = end_of(j, at, j->part->first_node + row);
        while (old < old_end || at < end) {
            const bool is_old = at == end || (old < old_end && *topology_neighbor(j->old, old) <=
                                                                   j->others->source[at]);
            put_edge(j, to++, is_old, is_old ? old++ : at++);
        }
    }
    return ERROR_NONE;
}

static enum error_code join_part(struct store *store, const struct topology *topology, int number,
                                 uint32_t relation, struct joining *j, struct joined_topology *out,
                                 struct error *err)
{
    const size_t place = (size_t)number * topology_relations(topology) + relation;
    struct topology_part *part = &out->topology.part[place];
    j->old = topology_rows(topology, number, relation);
    j->first = j->end;
    j->end = j->others->count;
    j->end = end_of(j, j->first, topology->book[number + 1] - 1);
    *part = (struct topology_part){.first_node = j->old->first_node,
                                   .node_count = j->old->node_count,
                                   .edge_count = j->old->edge_count + (j->end - j->first),
                                   .width = topology->width};
    j->part = part;
    j->to = &out->rows[place];
    out->topology.edge_count += part->edge_count;
    return part->node_count ? merged_rows_build(store, part, count_rows, fill_rows, j, j->to, err)
                            : ERROR_NONE;
}

/* Joins the rows of one relation in all parts. */
static enum error_code join_relation(struct store *store, const struct topology *topology,
                                     uint32_t relation, const struct other_edges *others,
                                     struct joined_topology *out, struct error *err)
{
    struct joining joining = {.others = others};
    enum error_code rc = check_edges(topology, relation, others, err);
    for (int p = 0; rc == ERROR_NONE && p < topology->part_count; p++)
        if (topology->book[p + 1] > topology->book[p])
            rc = join_part(store, topology, p, relation, &joining, out, err);
    return rc;
}

enum error_code topology_join(struct store *store, const struct topology *topology,
                              const struct other_edges *others, struct joined_topology *out,
                              struct error *err)
{
    const size_t parts = (size_t)topology->part_count;
    const uint32_t relations = topology_relations(topology);
    uint32_t *bounds = NULL;
    *out = (struct joined_topology){.topology = {.part_count = topology->part_count,
                                                 .relation_count = topology->relation_count,
                                                 .node_count = topology->node_count,
                                                 .width = topology->width,
                                                 .node_time = topology->node_time}};
    enum error_code rc = memory_new(&bounds, parts + 1, "a partition book", err);
    if (rc == ERROR_NONE)
        memcpy(bounds, topology->book, (parts + 1) * sizeof *bounds);
    out->topology.book = bounds;
    if (rc == ERROR_NONE)
        rc = memory_new(&out->topology.part, parts * relations, "the parts of a topology", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->rows, parts * relations, "the rows of parts", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++)
        rc = join_relation(store, topology, r, &others[r], out, err);
    if (rc != ERROR_NONE)
        joined_topology_close(out);
    return rc;
}

void joined_topology_close(struct joined_topology *joined)
{
    const size_t count =
        (size_t)joined->topology.part_count * topology_relations(&joined->topology);
    for (size_t i = 0; joined->rows && i < count; i++) {
        struct topology_part *part = &joined->topology.part[i];
        memory_free(part->row_start_chunk);
        memory_free(part->neighbor_chunk);
        for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
            memory_free(part->column_chunk[c]);
        memory_free(part->weight_sum_chunk);
        merged_rows_release(&joined->rows[i]);
    }
    memory_free(joined->rows);
    topology_close(&joined->topology);
    *joined = (struct joined_topology){.rows = NULL};
}
