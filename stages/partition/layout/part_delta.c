#include "stages/partition/layout/part_delta.h"

#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/numbers/ascending.h"
#include "stages/partition/layout/part_relations.h"
#include "store/records/partition/partition_book.h"
#include "store/topology/topology.h"

#include <inttypes.h>

void part_delta_release(struct part_delta *delta)
{
    node_shift_release(&delta->shift);
    memory_free(delta->base_book);
    memory_free(delta->type_start);
    memory_free(delta->gone);
    memory_free(delta->added);
    memory_free(delta->other);
    memory_free(delta->row_node);
    memory_free(delta->row_relations);
    memory_free(delta->relation_of_row);
    *delta = (struct part_delta){.record = {.base = ""}};
}

bool part_delta_has_row(const struct part_delta *delta, uint32_t relation, uint32_t node)
{
    if (!(delta->other[node] & OTHER_EDGES))
        return false;
    const uint64_t at = ascending_below(delta->row_node, delta->row_count, node);
    must(at < delta->row_count && delta->row_node[at] == node);
    return delta->row_relations[at] & part_delta_bit(delta->relation_of_row[relation]);
}

/* The changed rows of each relation in a part. */
struct other_rows { /* {0} is empty */
    /* [relation_count], owned; its arrays are the ones below, or the part's. */
    struct topology_held *relation;
    uint32_t *node;
    uint64_t *start;
};

struct delta_writer {
    const struct part_writer *writer;
    const struct part_delta *delta;
    struct partition_book base; /* the base's book, with its topology */
    struct topology topology;
};

static uint32_t count_rows(const struct delta_writer *w, uint32_t relation,
                           const struct topology_arrays *rows)
{
    uint32_t count = 0;
    for (uint32_t row = 0; row < rows->node_count; row++)
        count += part_delta_has_row(w->delta, relation, rows->first_node + row);
    return count;
}

/* Counts the edges of a relation that end in the part: those of the base's unchanged rows, and
 * those of the changed rows. */
static uint64_t count_edges(const struct delta_writer *w, int part, uint32_t relation,
                            const struct topology_arrays *rows)
{
    const struct topology_part *base = topology_rows(&w->topology, part, relation);
    uint64_t edges = base->edge_count + rows->edge_count;
    uint32_t node = rows->first_node;
    for (uint32_t row = 0; row < base->node_count; row++) {
        const bool is_gone = node_shift_is_gone(&w->delta->shift, base->first_node + row);
        if (is_gone || part_delta_has_row(w->delta, relation, node))
            edges -= topology_row_start(base, row + 1) - topology_row_start(base, row);
        node += !is_gone;
    }
    return edges;
}

/* Checks that the edges counted are as many as the version has. If not, a delta did not list
 * everything that changed. */
static enum error_code check_edges(const struct delta_writer *w, int part,
                                   const struct other_rows *rows, uint32_t relation_count,
                                   struct error *err)
{
    const struct numbering *n = w->writer->numbering;
    uint64_t found = 0, expected = 0;
    for (uint32_t r = 0; r < relation_count; r++)
        found += rows->relation[r].own_edge_count;
    for (uint32_t node = n->book[part]; node < n->book[part + 1]; node++)
        expected += w->writer->in_degree[n->to_dataset[node]];
    return found == expected
               ? ERROR_NONE
               : error_set(err, ERROR_CORRUPT,
                           "base and delta have %" PRIu64 " edges in part %d, expected %" PRIu64,
                           found, part, expected);
}

static void list_rows(const struct delta_writer *w, uint32_t relation,
                      const struct topology_arrays *rows, uint32_t *node, uint64_t *start,
                      struct topology_held *held)
{
    *held = (struct topology_held){.first_node = rows->first_node,
                                   .node_count = rows->node_count,
                                   .edge_count = rows->edge_count,
                                   .row_node = node,
                                   .row_start = start,
                                   .neighbor = rows->neighbor,
                                   .columns = rows->columns};
    for (uint32_t row = 0; row < rows->node_count; row++)
        if (part_delta_has_row(w->delta, relation, rows->first_node + row)) {
            node[held->row_count] = rows->first_node + row;
            start[held->row_count++] = rows->row_start[row];
        }
    start[held->row_count] = rows->edge_count;
}

static enum error_code list_relations(const struct delta_writer *w, int part,
                                      const struct part_relations *set, struct other_rows *out,
                                      struct error *err)
{
    uint64_t rows = 0;
    for (uint32_t r = 0; r < set->relation_count; r++)
        rows += count_rows(w, r, &set->relation[r]) + 1;
    enum error_code rc =
        memory_new(&out->relation, set->relation_count, "the rows of a delta", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->node, rows, "the rows of a delta", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->start, rows, "the rows of a delta", err);
    rows = 0;
    for (uint32_t r = 0; rc == ERROR_NONE && r < set->relation_count; r++) {
        list_rows(w, r, &set->relation[r], out->node + rows, out->start + rows, &out->relation[r]);
        out->relation[r].own_edge_count = count_edges(w, part, r, &set->relation[r]);
        rows += out->relation[r].row_count + 1;
    }
    return rc == ERROR_NONE ? check_edges(w, part, out, set->relation_count, err) : rc;
}

static bool has_row(const void *delta, uint32_t relation, uint32_t node)
{
    return part_delta_has_row(delta, relation, node);
}

static enum error_code write_rows(const struct delta_writer *w, int part,
                                  const struct topology_arrays *rows, struct error *err)
{
    const struct wanted_rows wanted = {has_row, w->delta};
    struct part_relations set = {0};
    struct other_rows other = {0};
    enum error_code rc = part_relations_split(rows, part, w->writer->numbering, w->writer->schema,
                                              &wanted, &set, err);
    if (rc == ERROR_NONE)
        rc = topology_open_part(&w->topology, part, err);
    if (rc == ERROR_NONE)
        rc = list_relations(w, part, &set, &other, err);
    const struct topology_other written = {.base = w->delta->record.base,
                                           .first_node = rows->first_node,
                                           .node_count = rows->node_count,
                                           .relation = other.relation,
                                           .relation_count = set.relation_count};
    if (rc == ERROR_NONE)
        rc = topology_write_delta(w->writer->store, w->writer->partition_id, part, &written, err);
    memory_free(other.relation);
    memory_free(other.node);
    memory_free(other.start);
    part_relations_release(&set);
    return rc;
}

static enum error_code write_part(const struct delta_writer *w, int part, struct part_rows *rows,
                                  struct error *err)
{
    const enum error_code rc = part_rows_sort(rows, part, err);
    const struct topology_arrays arrays = part_rows_arrays(rows, part);
    return rc == ERROR_NONE ? write_rows(w, part, &arrays, err) : rc;
}

static enum error_code write_topologies(const struct delta_writer *w, struct error *err)
{
    const struct part_rows_source source = {
        .store = w->writer->store,
        .schema = w->writer->schema,
        .numbering = w->writer->numbering,
        .in_degree = w->writer->in_degree,
        .is_split = true,
        .wanted = w->delta->other,
        .wanted_mark = OTHER_EDGES,
        .budget_bytes = w->writer->budget_bytes,
    };
    enum error_code rc = ERROR_NONE;
    for (int p = 0; rc == ERROR_NONE && p < w->writer->numbering->part_count;) {
        struct part_rows rows = {0};
        rc = part_rows_gather(&source, p, &rows, err);
        for (int part = p; rc == ERROR_NONE && part < p + rows.part_count; part++)
            rc = stop_signal_seen() ? error_set(err, ERROR_UNAVAILABLE, "asked to stop")
                                    : write_part(w, part, &rows, err);
        p += rows.part_count;
        part_rows_release(&rows);
    }
    return rc;
}

enum error_code part_delta_topologies(const struct part_writer *writer,
                                      const struct part_delta *delta, struct error *err)
{
    struct delta_writer w = {.writer = writer, .delta = delta};
    enum error_code rc = partition_book_get(writer->store, delta->record.base, &w.base, err);
    if (rc == ERROR_NONE)
        rc = topology_open(writer->store, &w.base, &w.topology, err);
    if (rc == ERROR_NONE)
        rc = write_topologies(&w, err);
    topology_close(&w.topology);
    store_release_record(&w.base.view);
    return rc;
}
