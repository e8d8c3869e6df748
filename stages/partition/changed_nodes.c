#include "stages/partition/changed_nodes.h"

#include "common/base/memory.h"

enum error_code changed_nodes_find(const struct partition_input *input, const char *base_dataset_id,
                                   const struct numbering *numbering, struct changed_nodes *out,
                                   struct error *err)
{
    *out = (struct changed_nodes){.numbering = numbering};
    const enum error_code rc =
        memory_new(&out->touched, numbering->node_count, "the nodes that updates name", err);
    return rc == ERROR_NONE ? version_touched_mark(input->context->store, &input->schema,
                                                   base_dataset_id, out->touched, err)
                            : rc;
}

void changed_nodes_release(struct changed_nodes *changed)
{
    memory_free(changed->touched);
    *changed = (struct changed_nodes){.touched = NULL};
}

/* The rows of a relation in a part of the base, while they are searched. */
struct search {
    struct changed_nodes *changed;
    const struct node_shift *shift;
    const struct topology *base;
    const struct topology_part *rows;
    uint32_t target_type;
};

static bool is_gone(const struct search *s, uint32_t node)
{
    return node < s->base->node_count && node_shift_is_gone(s->shift, node);
}

static void touch(const struct search *s, uint32_t node)
{
    if (node >= s->base->node_count || is_gone(s, node))
        return;
    const uint32_t own =
        node_shift_of(s->shift, topology_part_of(s->base, node), s->target_type, node);
    s->changed->touched[s->changed->numbering->to_dataset[own]] |= TOUCHED_EDGES;
}

/* Marks the neighbours of a node that is gone. In an undirected graph they are the nodes that had
 * an edge from it. */
static void touch_row(const struct search *s, uint32_t row)
{
    const uint64_t end = topology_row_start(s->rows, row + 1);
    for (uint64_t e = topology_row_start(s->rows, row); e < end; e++)
        touch(s, *topology_neighbor(s->rows, e));
}

static void search_row(const struct search *s, uint32_t row)
{
    const uint64_t end = topology_row_start(s->rows, row + 1);
    for (uint64_t e = topology_row_start(s->rows, row); e < end; e++)
        if (is_gone(s, *topology_neighbor(s->rows, e))) {
            touch(s, s->rows->first_node + row);
            return;
        }
}

static void search_rows(const struct search *s, bool undirected)
{
    for (uint32_t row = 0; row < s->rows->node_count; row++) {
        const bool goes = is_gone(s, s->rows->first_node + row);
        if (undirected && goes)
            touch_row(s, row);
        else if (!undirected && !goes)
            search_row(s, row);
    }
}

/* Marks the types of the base that lost nodes in lost [type_count]. */
static void find_losses(const struct partition_delta *delta, const struct partition_book *book,
                        bool *lost)
{
    const struct type_ranges ranges = partition_book_ranges(book);
    for (uint32_t i = 0; i < delta->gone_count; i++)
        lost[type_ranges_type(&ranges, type_ranges_part(&ranges, delta->gone[i]), delta->gone[i])] =
            true;
}

enum error_code changed_nodes_add_neighbors(struct changed_nodes *changed,
                                            const struct part_delta *delta,
                                            const struct partition_book *book,
                                            const struct topology *base, bool undirected,
                                            struct error *err)
{
    struct search s = {.changed = changed, .shift = &delta->shift, .base = base};
    bool lost[NODE_TYPE_COUNT_MAX] = {false};
    enum error_code rc = ERROR_NONE;
    if (delta->record.gone_count == 0)
        return ERROR_NONE;
    find_losses(&delta->record, book, lost);
    for (int p = 0; rc == ERROR_NONE && p < base->part_count; p++) {
        rc = topology_open_part(base, p, err);
        for (uint32_t r = 0; rc == ERROR_NONE && r < topology_relations(base); r++) {
            const struct relation *relation = partition_book_relation(book, r);
            s.rows = topology_rows(base, p, r);
            s.target_type = relation->target_type;
            if (lost[relation->source_type])
                search_rows(&s, undirected);
        }
    }
    return rc;
}

enum error_code changed_nodes_list(const struct changed_nodes *changed, uint8_t what,
                                   uint32_t first, uint32_t end, uint32_t **node, uint64_t *count,
                                   struct error *err)
{
    *count = 0;
    for (uint32_t i = first; i < end; i++)
        *count += (changed->touched[i] & what) != 0;
    const enum error_code rc = memory_new(node, *count, "the nodes that updates name", err);
    uint64_t at = 0;
    for (uint32_t i = first; rc == ERROR_NONE && i < end; i++)
        if (changed->touched[i] & what)
            (*node)[at++] = i;
    return rc;
}
