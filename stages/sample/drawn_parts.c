#include "stages/sample/drawn_parts.h"

#include "store/records/batch_form.h"

static void add(const struct stage_context *context, uint32_t node, uint64_t amount)
{
    stage_times_add_part(context->times, context->book, node, amount);
}

void drawn_parts_tell(const struct stage_context *context, const struct mini_batch *batch)
{
    if (!context->times)
        return;
    stage_times_add_nodes(context->times, context->book, batch->node, batch->node_count);
    for (uint32_t row = 0; row < batch->row_count; row++)
        add(context, batch->node[batch_form_node_of_row(batch, row)],
            batch->row_start[row + 1] - batch->row_start[row]);
}

void drawn_parts_tell_relations(const struct stage_context *context,
                                const struct relation_batch *batch)
{
    if (!context->times)
        return;
    stage_times_add_nodes(context->times, context->book, batch->node, batch->node_count);
    for (uint32_t relation = 0; relation < batch->relation_count; relation++) {
        const uint32_t type = batch->ends[2 * (size_t)relation + 1];
        const uint32_t first = batch->row_begin[relation];
        const uint32_t *node = batch->node + batch->node_begin[type];
        const uint32_t *start = batch->row_start + first + relation;
        for (uint32_t row = 0; row < batch->row_begin[relation + 1] - first; row++)
            add(context, node[batch->row[first + row]], start[row + 1] - start[row]);
    }
}
