/*
 * Any sections as a mini-batch: refused, or every index is inside what it points into, which is what
 * kernels rely on.
 */
#include "common/base/error.h"
#include "store/records/batch_form.h"
#include "store/records/mini_batch.h"

#include "tests/fuzz/fuzz_record_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is read goes here, so that the reading is not optimised away: it is what sanitizers watch. */
static volatile float sink;

static void walk_layer(const struct mini_batch *batch, int layer)
{
    const struct message_block block = mini_batch_block(batch, layer);
    must(block.destination_count <= block.source_count && block.source_count <= batch->node_count);
    for (uint32_t row = 0; row < block.destination_count; row++) {
        must(block.row_start[row] <= block.row_start[row + 1]);
        for (uint32_t e = block.row_start[row]; e < block.row_start[row + 1]; e++) {
            must(block.neighbor[e] < block.source_count);
            must(!batch->seed_of || batch->seed_of[row] == batch->seed_of[block.neighbor[e]]);
            sink += block.edge_factor ? block.edge_factor[e] + (float)block.degree[row] : 0;
        }
    }
}

static void walk(const struct mini_batch *batch)
{
    must(batch->form < BATCH_FORM_COUNT);
    must(batch->hop_count >= 0 && batch->hop_count <= HOP_COUNT_MAX);
    must(batch->seed_count == batch->hop_end[0] && batch->seed_count > 0);
    must(batch->node_count == batch->hop_end[batch->hop_count]);
    must(batch->row_start[0] == 0 && batch->row_start[batch->row_count] == batch->edge_count);
    for (int layer = 0; layer < batch->hop_count; layer++)
        walk_layer(batch, layer);
    for (uint32_t i = 0; i < batch->node_count; i++) {
        must(batch->node[i] != UINT32_MAX);
        must(!batch->seed_of || batch->seed_of[i] < batch->seed_count);
        for (uint32_t k = 0; k < i && !batch->seed_of; k++)
            must(batch->node[i] != batch->node[k]);
    }
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) { /* every byte is there to be read */
        const size_t bytes = edge_column_bytes((enum edge_column)c, batch->columns.width.of[c]);
        for (uint64_t i = 0; i < batch->edge_count * bytes; i++)
            sink += (float)((const char *)batch->columns.data[c])[i];
    }
    for (uint32_t e = 0; batch->edge_position && e < batch->edge_count; e++)
        sink += (float)batch->edge_position[e];
    for (uint32_t row = 0; row < batch->row_count; row++)
        must(batch_form_node_of_row(batch, row) < batch->node_count);
    for (uint32_t i = 0; batch->weight_sum && i < batch->node_count; i++)
        sink += batch->weight_sum[i];
    for (uint32_t i = 0; batch->seed_weight && i < batch->seed_count; i++)
        sink += batch->seed_weight[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {
        "hop_end",     "width",        "node",      "row_length",     "is_new",
        "neighbor",    "degree",       "weight",    "weight_sum",     "edge_widths",
        "edge_type",   "time",         "edge_id",   "edge_feature",   "form",
        "edge_factor", "seed_weight",  "seed_of",   "pair_count",     "pair_source",
        "pair_target", "pair_corrupt", "pair_type", "position_width", "edge_position"};
    struct record_view view;
    static struct mini_batch batch; /* its memory is used again */
    struct error err = {0};
    fuzz_record_view(data, size, RECORD_MINI_BATCH, names, sizeof names / sizeof *names, &view);
    view.version = 5;
    const enum error_code rc = mini_batch_decode(&view, &batch, &err);
    must(rc == ERROR_NONE || (rc == ERROR_CORRUPT && strstr(err.message, "fuzz")));
    if (rc == ERROR_NONE)
        walk(&batch);
    fuzz_record_view_release(&view);
    return 0;
}
