/* fuzz_dataset_delta - a delta from arbitrary sections; what a reader lets through is read to its end. */
#include "store/records/dataset_delta.h"
#include "store/records/edge_splits.h"
#include "store/records/node_splits.h"

#include "tests/fuzz/fuzz_record_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
    "base",        "root",      "facts",     "gone_node",   "gone_source", "gone_target",
    "source",      "target",    "row_node",  "row",         "new_id",      "new_id_offset",
    "new_id_text", "new_label", "new_split", "edge_widths", "weight",      "new_held"};

static void read_nodes(const struct dataset_delta *delta)
{
    const uint64_t all = (uint64_t)delta->base_nodes + delta->added_nodes;
    for (uint64_t i = 0; i < delta->gone_nodes; i++)
        must(delta->gone_node[i] < delta->base_nodes &&
             (i == 0 || delta->gone_node[i] > delta->gone_node[i - 1]));
    for (uint64_t i = 0; i < delta->gone_edges; i++)
        must(delta->gone_source[i] < delta->base_nodes &&
             delta->gone_target[i] < delta->base_nodes);
    for (uint64_t i = 0; i < delta->added_edges; i++) {
        must(delta->source[i] < all && delta->target[i] < all);
        must(!delta->new_held || delta->new_held[i] <= HELD_OUT_COUNT);
    }
    for (uint64_t i = 0; i < delta->rows; i++)
        must(delta->row_node[i] < all);
}

static uint64_t read_values(const struct dataset_delta *delta)
{
    uint64_t sum = 0;
    double value = 0.0;
    for (uint32_t i = 0; i < delta->added_nodes; i++) {
        must(delta->new_split[i] <= SPLIT_COUNT);
        sum += delta->new_ids.integer ? (uint64_t)delta->new_ids.integer[i] : 0;
        for (uint64_t c = delta->new_ids.integer ? 0 : delta->new_ids.offset[i];
             !delta->new_ids.integer && c < delta->new_ids.offset[i + 1]; c++)
            sum += (uint8_t)delta->new_ids.text[c];
        for (uint32_t c = 0; c < delta->label_width; c++)
            sum += delta->new_label[(size_t)i * delta->label_width + c];
    }
    for (uint64_t i = 0; i < delta->rows * delta->feature_dim; i++)
        sum += delta->row[i] > 0;
    for (uint64_t i = 0; i < delta->added_edges; i++)
        sum += edge_columns_not_finite(&delta->columns, i, &value) != EDGE_COLUMN_COUNT;
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record_view view;
    struct dataset_delta delta;
    fuzz_record_view(data, size, RECORD_DATASET_DELTA, names, sizeof names / sizeof *names, &view);
    if (dataset_delta_decode(&view, &delta, NULL) == ERROR_NONE) {
        read_nodes(&delta);
        must(read_values(&delta) < UINT64_MAX);
    }
    fuzz_record_view_release(&view);
    return 0;
}
