/*
 * Any sections as a mini-batch of any version: refused, or every index is inside what it points
 * into, which is what kernels rely on.
 */
#include "common/base/error.h"
#include "store/records/batch/batch_form.h"
#include "store/records/batch/mini_batch.h"

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

/* The rows of one relation that a layer computes on. */
static void walk_relation(const struct mini_batch *batch, const struct relation_block *block,
                          uint32_t relation)
{
    const struct message_block *of = &block->edges[relation].block;
    const uint32_t *row = block->edges[relation].row;
    const uint32_t source = mini_batch_source_type(batch, relation);
    const uint32_t target = mini_batch_target_type(batch, relation);
    for (uint32_t i = 0; i < of->destination_count; i++) {
        const uint32_t to = mini_batch_node_begin(batch, target) + row[i];
        must(row[i] < block->destination_count[target] && (i == 0 || row[i] > row[i - 1]));
        must(of->row_start[i] < of->row_start[i + 1]);
        for (uint32_t e = of->row_start[i]; e < of->row_start[i + 1]; e++) {
            const uint32_t from = mini_batch_node_begin(batch, source) + of->neighbor[e];
            must(of->neighbor[e] < block->source_count[source]);
            must(!batch->seed_of || batch->seed_of[from] == batch->seed_of[to]);
            sink += of->edge_value ? of->edge_value[e] : 0;
            sink += of->edge_factor ? of->edge_factor[e] : 0;
        }
        sink += of->degree ? (float)of->degree[i] : 0;
    }
}

static void walk_relations(const struct mini_batch *batch, int layer)
{
    static uint32_t destinations[RELATION_TYPE_COUNT_MAX], sources[RELATION_TYPE_COUNT_MAX];
    static struct relation_edges edges[RELATION_COUNT_MAX];
    struct relation_block block;
    mini_batch_relation_block(batch, layer, destinations, sources, edges, &block);
    for (uint32_t t = 0; t < batch->type_count; t++)
        must(destinations[t] <= sources[t]);
    for (uint32_t r = 0; r < batch->relation_count; r++)
        walk_relation(batch, &block, r);
}

static void walk_nodes(const struct mini_batch *batch)
{
    must(batch->node_begin[batch->type_count] == batch->node_count);
    must(batch->seed_count == mini_batch_seeds(batch, batch->type_count) && batch->seed_count > 0);
    for (uint32_t i = 0; i < batch->node_count; i++) {
        must(batch->node[i] != UINT32_MAX);
        must(!batch->seed_of || batch->seed_of[i] < batch->seed_count);
        for (uint32_t k = 0; k < i && !batch->seed_of; k++)
            must(batch->node[i] != batch->node[k]);
    }
    for (uint32_t i = 0; i < batch->seed_count; i++)
        must(!batch->seed_of || batch->seed_of[mini_batch_seed_place(batch, i)] == i);
}

static void walk(const struct mini_batch *batch)
{
    must(batch->form < BATCH_FORM_COUNT);
    must(batch->hop_count >= 0 && batch->hop_count <= HOP_COUNT_MAX);
    must(batch->row_begin[batch->relation_count] == batch->row_count);
    must(batch->edge_begin[batch->relation_count] == batch->edge_count);
    for (int layer = 0; layer < batch->hop_count; layer++)
        if (batch->row)
            walk_relations(batch, layer);
        else
            walk_layer(batch, layer);
    walk_nodes(batch);
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) { /* every byte is there to be read */
        const size_t bytes = edge_column_bytes((enum edge_column)c, batch->columns.width.of[c]);
        for (uint64_t i = 0; i < batch->edge_count * bytes; i++)
            sink += (float)((const char *)batch->columns.data[c])[i];
    }
    for (uint32_t e = 0; batch->edge_position && e < batch->edge_count; e++)
        sink += (float)batch->edge_position[e];
    for (uint32_t r = 0; r < batch->relation_count; r++)
        for (uint32_t i = 0; i < batch->row_begin[r + 1] - batch->row_begin[r]; i++)
            must(batch_form_node_of_row(batch, r, i) <
                 mini_batch_known(batch, mini_batch_target_type(batch, r), batch->hop_count));
    for (uint32_t i = 0; batch->weight_sum && i < batch->node_count; i++)
        sink += batch->weight_sum[i];
    for (uint32_t i = 0; batch->seed_weight && i < batch->seed_count; i++)
        sink += batch->seed_weight[i];
    for (uint32_t i = 0; batch->seed_time && i < batch->seed_count; i++)
        sink += (float)batch->seed_time[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {
        "hop_end",       "width",        "node",       "row_length",
        "is_new",        "neighbor",     "degree",     "weight",
        "weight_sum",    "edge_widths",  "edge_type",  "time",
        "edge_id",       "edge_feature", "form",       "edge_factor",
        "seed_weight",   "seed_of",      "pair_count", "pair_source",
        "pair_target",   "pair_corrupt", "pair_type",  "position_width",
        "edge_position", "shape",        "ends",       "row_count",
        "row",           "seed_time"};
    static const uint32_t version[] = {6, 32};
    static struct mini_batch batch = {.memory = {.limit = 1 << 26}}; /* its memory is used again */
    struct record_view view;
    fuzz_record_view(data, size, RECORD_MINI_BATCH, names, sizeof names / sizeof *names, &view);
    for (size_t i = 0; i < sizeof version / sizeof *version; i++) {
        struct error err = {0};
        view.version = version[i];
        const enum error_code rc = mini_batch_decode(&view, &batch, &err);
        must(rc == ERROR_NONE || rc == ERROR_NO_MEMORY ||
             (rc == ERROR_CORRUPT && strstr(err.message, "fuzz")));
        if (rc == ERROR_NONE)
            walk(&batch);
    }
    fuzz_record_view_release(&view);
    return 0;
}
