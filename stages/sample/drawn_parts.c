#include "stages/sample/drawn_parts.h"

#include "store/records/batch/batch_form.h"

void drawn_parts_tell(const struct stage_context *context, const struct mini_batch *batch)
{
    if (!context->times)
        return;
    stage_times_add_nodes(context->times, context->book, batch->node, batch->node_count);
    for (uint32_t r = 0; r < mini_batch_relations(batch); r++) {
        const uint32_t *node =
            batch->node + mini_batch_node_begin(batch, mini_batch_target_type(batch, r));
        const uint32_t *start = mini_batch_row_starts(batch, r);
        const uint32_t rows = mini_batch_row_begin(batch, r + 1) - mini_batch_row_begin(batch, r);
        for (uint32_t i = 0; i < rows; i++)
            stage_times_add_part(context->times, context->book,
                                 node[batch_form_node_of_row(batch, r, i)],
                                 start[i + 1] - start[i]);
    }
}
