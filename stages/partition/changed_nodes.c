#include "stages/partition/changed_nodes.h"

#include "common/base/memory.h"

enum error_code changed_nodes_find(const struct partition_input *input, const char *base_dataset_id,
                                   const struct numbering *numbering, struct changed_nodes *out,
                                   struct error *err)
{
    *out = (struct changed_nodes){.numbering = numbering};
    const enum error_code rc =
        memory_new(&out->touched, numbering->node_count, "the nodes that updates name", err);
    return rc == ERROR_NONE
               ? version_touched_mark(input->context->store, &input->schema, base_dataset_id,
                                      out->touched, &out->knows_edges, &out->knows_features, err)
               : rc;
}

void changed_nodes_release(struct changed_nodes *changed)
{
    memory_free(changed->touched);
    *changed = (struct changed_nodes){.touched = NULL};
}

/* Some rows of the base. */
struct search {
    struct changed_nodes *changed;
    const struct node_shift *shift;
    const struct topology *base;
    const struct topology_part *part;
};

static bool is_gone(const struct search *s, uint32_t node)
{
    return node < s->base->node_count && node_shift_is_gone(s->shift, node);
}

static void touch(const struct search *s, uint32_t node)
{
    if (node >= s->base->node_count || is_gone(s, node))
        return;
    const uint32_t own = node_shift_of(s->shift, topology_part_of(s->base, node), 0, node);
    s->changed->touched[s->changed->numbering->to_dataset[own]] |= TOUCHED_EDGES;
}

/* The neighbours of a node that is gone, which are those that have it for one. */
static void touch_row(const struct search *s, uint32_t row)
{
    const uint64_t end = topology_row_start(s->part, row + 1);
    for (uint64_t e = topology_row_start(s->part, row); e < end; e++)
        touch(s, *topology_neighbor(s->part, e));
}

static void search_row(const struct search *s, uint32_t row)
{
    const uint64_t end = topology_row_start(s->part, row + 1);
    for (uint64_t e = topology_row_start(s->part, row); e < end; e++)
        if (is_gone(s, *topology_neighbor(s->part, e))) {
            touch(s, s->part->first_node + row);
            return;
        }
}

enum error_code changed_nodes_add_neighbors(struct changed_nodes *changed,
                                            const struct part_delta *delta,
                                            const struct topology *base, bool undirected,
                                            struct error *err)
{
    struct search s = {.changed = changed, .shift = &delta->shift, .base = base};
    enum error_code rc = ERROR_NONE;
    if (!changed->knows_edges || delta->record.gone_count == 0)
        return ERROR_NONE;
    for (int p = 0; rc == ERROR_NONE && p < base->part_count; p++) {
        s.part = topology_rows(base, p, 0);
        rc = topology_open_part(base, p, err);
        for (uint32_t row = 0; rc == ERROR_NONE && row < s.part->node_count; row++) {
            const bool goes = is_gone(&s, s.part->first_node + row);
            if (undirected && goes)
                touch_row(&s, row);
            else if (!undirected && !goes)
                search_row(&s, row);
        }
    }
    return rc;
}

enum error_code changed_nodes_list(const struct changed_nodes *changed, uint8_t what,
                                   uint32_t **node, uint64_t *count, struct error *err)
{
    const uint32_t node_count = changed->numbering->node_count;
    *count = 0;
    for (uint32_t i = 0; i < node_count; i++)
        *count += (changed->touched[i] & what) != 0;
    const enum error_code rc = memory_new(node, *count, "the nodes that updates name", err);
    uint64_t at = 0;
    for (uint32_t i = 0; rc == ERROR_NONE && i < node_count; i++)
        if (changed->touched[i] & what)
            (*node)[at++] = i;
    return rc;
}
