/*
 * Any sections as a mini-batch of a graph with relations: refused, or every index is inside what it points into, which is
 * what kernels rely on.
 */
#include "store/records/relation_batch.h"

#include "tests/fuzz/fuzz_record_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile float sink; /* what is read goes here, for the sanitizer to see it read */

static void walk_layer(const struct relation_batch *batch, int layer)
{
    static uint32_t destinations[RELATION_TYPE_COUNT_MAX], sources[RELATION_TYPE_COUNT_MAX];
    static struct relation_edges edges[RELATION_COUNT_MAX];
    struct relation_block block;
    relation_batch_block(batch, layer, destinations, sources, edges, &block);
    for (uint32_t t = 0; t < batch->type_count; t++)
        must(destinations[t] <= sources[t]);
    for (uint32_t r = 0; r < batch->relation_count; r++) {
        const struct message_block *of = &edges[r].block;
        for (uint32_t i = 0; i < of->destination_count; i++) {
            must(edges[r].row[i] < destinations[batch->ends[2 * (size_t)r + 1]]);
            must(i == 0 || edges[r].row[i] > edges[r].row[i - 1]);
            must(of->row_start[i] < of->row_start[i + 1]);
            for (uint32_t e = of->row_start[i]; e < of->row_start[i + 1]; e++) {
                must(of->neighbor[e] < sources[batch->ends[2 * (size_t)r]]);
                sink += of->edge_value ? of->edge_value[e] : 0;
            }
            sink += of->degree ? (float)of->degree[i] : 0;
        }
    }
}

static void walk(const struct relation_batch *batch)
{
    for (int layer = 0; layer < batch->hop_count; layer++)
        walk_layer(batch, layer);
    must(batch->node_begin[batch->type_count] == batch->node_count);
    for (uint32_t i = 0; i < batch->node_count; i++)
        for (uint32_t k = 0; k < i; k++)
            must(batch->node[i] != batch->node[k]);
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) { /* every byte is there to be read */
        const size_t bytes = edge_column_bytes((enum edge_column)c, batch->columns.width.of[c]);
        for (uint64_t i = 0; i < batch->edge_count * bytes; i++)
            sink += (float)((const char *)batch->columns.data[c])[i];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"shape",     "ends",   "hop_end", "row_count",
                                        "width",     "node",   "row",     "row_length",
                                        "neighbor",  "degree", "weight",  "edge_widths",
                                        "edge_type", "time",   "edge_id", "edge_feature"};
    static struct relation_batch batch;
    struct error err = {0};
    struct record_view view;
    fuzz_record_view(data, size, RECORD_MINI_BATCH, names, sizeof names / sizeof *names, &view);
    view.version = 32;
    const enum error_code rc = relation_batch_decode(&view, &batch, &err);
    must(rc == ERROR_NONE || rc == ERROR_CORRUPT || rc == ERROR_NO_MEMORY);
    if (rc == ERROR_NONE)
        walk(&batch);
    fuzz_record_view_release(&view);
    return 0;
}
