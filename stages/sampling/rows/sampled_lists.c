#include "stages/sampling/rows/sampled_lists.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <string.h>

static const char nodes_what[] = "the nodes of a mini-batch";
static const char edges_what[] = "the edges of a mini-batch";

enum error_code sampled_lists_init(struct sampled_lists *lists, const struct partition_book *book,
                                   struct array_budget *budget, struct error *err)
{
    lists->budget = budget;
    lists->lists_rows = book && book->relation;
    lists->type_count = lists->lists_rows ? partition_book_types(book) : 1;
    lists->relation_count = lists->lists_rows ? partition_book_relations(book) : 1;
    const enum error_code rc =
        memory_new(&lists->relation, lists->relation_count, "the rows of relations", err);
    for (uint32_t r = 0; rc == ERROR_NONE && lists->lists_rows && r < lists->relation_count; r++) {
        const struct relation *relation = partition_book_relation(book, r);
        lists->relation[r].source = lists->ends[2 * (size_t)r] = relation->source_type;
        lists->relation[r].target = lists->ends[2 * (size_t)r + 1] = relation->target_type;
    }
    return rc;
}

static void release_rows(struct relation_rows *rows, struct array_budget *budget)
{
    growing_array_release(&rows->row_start, budget);
    growing_array_release(&rows->row, budget);
    growing_array_release(&rows->row_end, budget);
    growing_array_release(&rows->degree, budget);
    growing_array_release(&rows->neighbor, budget);
    growing_array_release(&rows->place, budget);
    growing_array_release(&rows->factor, budget);
}

void sampled_lists_release(struct sampled_lists *lists)
{
    for (uint32_t t = 0; t < lists->type_count; t++) {
        growing_array_release(&lists->node[t], lists->budget);
        growing_array_release(&lists->seed_of[t], lists->budget);
    }
    for (uint32_t r = 0; lists->relation && r < lists->relation_count; r++)
        release_rows(&lists->relation[r], lists->budget);
    memory_free(lists->relation);
    growing_array_release(&lists->hop_row, lists->budget);
    growing_array_release(&lists->all_node, lists->budget);
    growing_array_release(&lists->all_row, lists->budget);
    growing_array_release(&lists->all_row_start, lists->budget);
    growing_array_release(&lists->all_neighbor, lists->budget);
    growing_array_release(&lists->all_degree, lists->budget);
    growing_array_release(&lists->all_factor, lists->budget);
    growing_array_release(&lists->all_seed_of, lists->budget);
    edge_gather_release(&lists->gather, lists->budget);
}

void sampled_lists_forget(struct sampled_lists *lists, struct known_nodes *known)
{
    for (uint32_t t = 0; t < lists->type_count; t++)
        known->count = lists->count[t] > known->count ? lists->count[t] : known->count;
    known_nodes_forget(known);
    memset(lists->count, 0, sizeof lists->count);
    for (uint32_t r = 0; r < lists->relation_count; r++)
        lists->relation[r].row_count = lists->relation[r].edge_count = 0;
}

enum error_code sampled_lists_reserve_nodes(struct sampled_lists *lists, uint32_t type,
                                            uint64_t count, struct error *err)
{
    return growing_array_reserve(&lists->node[type], lists->budget, count, lists->count[type],
                                 nodes_what, err);
}

/* --- one behind the other --- */

static void join_types(const struct sampled_lists *lists, const struct growing_array *of,
                       struct growing_array *all)
{
    for (uint32_t t = 0; t < lists->type_count; t++)
        if (lists->count[t])
            memcpy(all->data + lists->node_begin[t], of[t].data,
                   lists->count[t] * sizeof(uint32_t));
}

static enum error_code join_nodes(struct sampled_lists *lists, bool has_seed_of, struct error *err)
{
    uint64_t all = 0;
    for (uint32_t t = 0; t < lists->type_count; t++)
        all += lists->count[t];
    if (all > UINT32_MAX) /* only a disjoint batch can have more nodes than the graph */
        return error_set(err, ERROR_INVALID,
                         "the mini-batch has over %" PRIu32
                         " nodes; expected a smaller batch_size or lower fan-outs",
                         UINT32_MAX);
    for (uint32_t t = 0; t < lists->type_count; t++)
        lists->node_begin[t + 1] = lists->node_begin[t] + lists->count[t];
    enum error_code rc =
        growing_array_reserve(&lists->all_node, lists->budget, all + 1, 0, nodes_what, err);
    if (rc == ERROR_NONE && has_seed_of)
        rc = growing_array_reserve(&lists->all_seed_of, lists->budget, all + 1, 0, nodes_what, err);
    if (rc != ERROR_NONE)
        return rc;
    join_types(lists, lists->node, &lists->all_node);
    if (has_seed_of)
        join_types(lists, lists->seed_of, &lists->all_seed_of);
    return ERROR_NONE;
}

static enum error_code reserve_all(struct sampled_lists *lists, const struct listed_values *has,
                                   struct error *err)
{
    struct array_budget *budget = lists->budget;
    for (uint32_t r = 0; r < lists->relation_count; r++) {
        lists->row_begin[r + 1] = lists->row_begin[r] + lists->relation[r].row_count;
        lists->edge_begin[r + 1] = lists->edge_begin[r] + lists->relation[r].edge_count;
    }
    const size_t rows = lists->row_begin[lists->relation_count];
    const size_t edges = lists->edge_begin[lists->relation_count];
    enum error_code rc =
        growing_array_reserve(&lists->all_row, budget, rows + 1, 0, edges_what, err);
    if (rc == ERROR_NONE)
        rc = growing_array_reserve(&lists->all_row_start, budget, rows + lists->relation_count, 0,
                                   edges_what, err);
    if (rc == ERROR_NONE)
        rc = growing_array_reserve(&lists->all_neighbor, budget, edges + 1, 0, edges_what, err);
    if (rc == ERROR_NONE && has->degrees)
        rc = growing_array_reserve(&lists->all_degree, budget, rows + 1, 0, edges_what, err);
    if (rc == ERROR_NONE && has->factors)
        rc = growing_array_reserve(&lists->all_factor, budget, edges + 1, 0, edges_what, err);
    return rc == ERROR_NONE && has->places
               ? edge_gather_reserve(&lists->gather, budget, edges, 0, err)
               : rc;
}

static void join_relation(struct sampled_lists *lists, uint32_t r, const struct listed_values *has)
{
    const struct relation_rows *rows = &lists->relation[r];
    const uint32_t row = lists->row_begin[r], edge = lists->edge_begin[r];
    lists->all_row_start.data[row + r] = 0;
    if (rows->row_count == 0)
        return;
    memcpy(lists->all_row.data + row, rows->row.data, rows->row_count * sizeof(uint32_t));
    memcpy(lists->all_row_start.data + row + r + 1, rows->row_end.data,
           rows->row_count * sizeof(uint32_t));
    memcpy(lists->all_neighbor.data + edge, rows->neighbor.data,
           rows->edge_count * sizeof(uint32_t));
    if (has->degrees)
        memcpy(lists->all_degree.data + row, rows->degree.data, rows->row_count * sizeof(uint32_t));
    if (has->factors)
        memcpy(lists->all_factor.data + edge, rows->factor.data,
               rows->edge_count * sizeof(uint32_t));
    if (has->places)
        memcpy(edge_gather_places(&lists->gather) + edge, rows->place.data,
               rows->edge_count * sizeof(uint64_t));
}

static struct mini_batch joined_batch(const struct sampled_lists *lists)
{
    return (struct mini_batch){
        .type_count = lists->type_count,
        .relation_count = lists->relation_count,
        .node_count = lists->node_begin[lists->type_count],
        .row_count = lists->row_begin[lists->relation_count],
        .edge_count = lists->edge_begin[lists->relation_count],
        .ends = lists->ends,
        .node_begin = lists->node_begin,
        .node = lists->all_node.data,
        .row_begin = lists->row_begin,
        .edge_begin = lists->edge_begin,
        .row = lists->all_row.data,
        .row_start = lists->all_row_start.data,
        .neighbor = lists->all_neighbor.data,
    };
}

/* Returns the lists of the only relation as a batch, without a copy. */
static struct mini_batch single_batch(const struct sampled_lists *lists)
{
    const struct relation_rows *rows = lists->relation;
    return (struct mini_batch){.node_count = lists->count[0],
                               .row_count = rows->row_count,
                               .edge_count = rows->edge_count,
                               .node = lists->node[0].data,
                               .row_start = rows->row_start.data,
                               .neighbor = rows->neighbor.data};
}

enum error_code sampled_lists_batch(struct sampled_lists *lists, int hop_count,
                                    const struct listed_values *has, struct mini_batch *out,
                                    struct error *err)
{
    const bool is_listed = lists->lists_rows;
    enum error_code rc = is_listed ? join_nodes(lists, has->seed_of, err) : ERROR_NONE;
    if (rc == ERROR_NONE && is_listed)
        rc = reserve_all(lists, has, err);
    for (uint32_t r = 0; rc == ERROR_NONE && is_listed && r < lists->relation_count; r++)
        join_relation(lists, r, has);
    if (rc != ERROR_NONE)
        return rc;
    const struct growing_array *factor =
        is_listed ? &lists->all_factor : &lists->relation[0].factor;
    *out = is_listed ? joined_batch(lists) : single_batch(lists);
    out->hop_count = hop_count;
    out->hop_end = lists->hop_end;
    if (is_listed && has->degrees)
        out->degree = lists->all_degree.data;
    if (has->factors)
        out->edge_factor = (const float *)(const void *)factor->data;
    if (has->seed_of)
        out->seed_of = is_listed ? lists->all_seed_of.data : lists->seed_of[0].data;
    for (uint32_t t = 0; t < lists->type_count; t++)
        out->seed_count += mini_batch_known(out, t, 0);
    return ERROR_NONE;
}
