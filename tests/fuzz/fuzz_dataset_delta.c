/* fuzz_dataset_delta - a delta from arbitrary sections; what a reader lets through is read to its end. */
#include "store/records/dataset/dataset_delta.h"
#include "store/records/dataset/edge_splits.h"
#include "store/records/dataset/node_splits.h"
#include "store/versions/delta_numbers.h"

#include "tests/fuzz/fuzz_record_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
    "base",         "root",           "facts",     "gone_node",   "gone_source", "gone_target",
    "source",       "target",         "row_node",  "row",         "new_id",      "new_id_offset",
    "new_id_text",  "new_label",      "new_split", "edge_widths", "weight",      "new_held",
    "node_types",   "gone_relation",  "edge_type", "graphs",      "gone_graph",  "new_graph_id",
    "new_graph_of", "negative_weight"};

static void read_nodes(const struct dataset_delta *delta)
{
    const uint64_t all = (uint64_t)delta->base_nodes + delta->added_nodes;
    for (uint64_t i = 0; i < delta->gone_nodes; i++)
        must(delta->gone_node[i] < delta->base_nodes &&
             (i == 0 || delta->gone_node[i] > delta->gone_node[i - 1]));
    for (uint64_t i = 0; i < delta->gone_edges; i++) {
        must(delta->gone_source[i] < delta->base_nodes &&
             delta->gone_target[i] < delta->base_nodes);
        must(!delta->relation_count || delta->gone_relation[i] < delta->relation_count);
    }
    for (uint64_t i = 0; i < delta->added_edges; i++) {
        must(delta->source[i] < all && delta->target[i] < all);
        must(!delta->new_held || delta->new_held[i] <= HELD_OUT_COUNT);
        must(!delta->relation_count ||
             ((const uint16_t *)delta->columns.data[EDGE_TYPE])[i] < delta->relation_count);
    }
    for (uint64_t i = 0; i < delta->rows; i++)
        must(delta->row_node[i] < all);
}

/* Added nodes are of graphs that there are. */
static void read_graphs(const struct dataset_delta *delta)
{
    const uint64_t all = (uint64_t)delta->base_graphs + delta->added_graphs;
    must(delta->gone_graphs < delta->base_graphs || !delta->base_graphs);
    for (uint32_t i = 0; i < delta->gone_graphs; i++)
        must(delta->gone_graph[i] < delta->base_graphs);
    for (uint32_t i = 0; delta->base_graphs && i < delta->added_nodes; i++)
        must(delta->new_graph_of[i] < all);
    for (uint32_t i = 0; i < delta->added_graphs; i++)
        must(delta->new_graph_id[i] >= INT64_MIN);
}

/* Numbers go to the version and back. */
static void turn_numbers(const struct dataset_delta *delta)
{
    struct delta_numbers numbers;
    delta_numbers_init(&numbers, delta);
    const uint32_t count = delta_numbers_count(&numbers);
    for (uint32_t node = 0; node < count && node < 1000; node++)
        must(delta_numbers_version(&numbers, delta_numbers_own(&numbers, node)) == node);
}

static uint64_t read_values(const struct dataset_delta *delta)
{
    uint64_t sum = 0;
    double value = 0.0;
    for (uint32_t i = 0; i < dataset_delta_targets(delta) && delta->added_nodes; i++) {
        must(delta->new_split[i] <= SPLIT_COUNT);
        for (uint32_t c = 0; c < delta->label_width; c++)
            sum += delta->new_label[(size_t)i * delta->label_width + c];
    }
    for (uint32_t i = 0; i < delta->added_nodes; i++) {
        sum += delta->new_ids.integer ? (uint64_t)delta->new_ids.integer[i] : 0;
        for (uint64_t c = delta->new_ids.integer ? 0 : delta->new_ids.offset[i];
             !delta->new_ids.integer && c < delta->new_ids.offset[i + 1]; c++)
            sum += (uint8_t)delta->new_ids.text[c];
    }
    for (uint64_t i = 0, at = 0; i < delta->rows; i++)
        for (uint32_t c = 0; c < dataset_delta_columns(delta, delta->row_node[i]); c++)
            sum += delta->row[at++] > 0;
    for (uint64_t i = 0; i < delta->added_edges; i++)
        sum += edge_columns_not_finite(&delta->columns, i, &value) != EDGE_COLUMN_COUNT;
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record_view view;
    struct dataset_delta delta;
    fuzz_record_view(data, size, RECORD_DATASET_DELTA, names, sizeof names / sizeof *names, &view);
    if (record_has(&view, "node_types") || record_has(&view, "gone_relation"))
        view.version = 3; /* of several types */
    if (record_has(&view, "graphs"))
        view.version = 4;
    if (dataset_delta_decode(&view, &delta, NULL) == ERROR_NONE) {
        read_nodes(&delta);
        read_graphs(&delta);
        turn_numbers(&delta);
        must(read_values(&delta) < UINT64_MAX);
    }
    fuzz_record_view_release(&view);
    return 0;
}
