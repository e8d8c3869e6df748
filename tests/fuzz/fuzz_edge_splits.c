/* fuzz_edge_splits - held-out edges from arbitrary sections. The first byte says how many nodes there are. */
#include "store/records/dataset/edge_splits.h"

#include "tests/fuzz/fuzz_record_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
    "valid_source",   "valid_target",  "test_source",     "test_target",    "undirected",
    "test_neg_start", "test_negative", "train_source",    "train_target",   "train_neg_start",
    "train_negative", "valid_weight",  "test_weight",     "feature_dim",    "valid_feature",
    "test_feature",   "valid_label",   "test_label",      "valid_type",     "test_type",
    "valid_time",     "test_time",     "valid_neg_start", "valid_negative", "train_type",
    "left",           "train_classes"};

static void check_ends(const struct negative_ends *ends, uint64_t count, uint32_t node_count)
{
    for (uint64_t i = 0; ends->start && i < ends->start[count]; i++)
        must(ends->node[i] < node_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record_view view;
    struct edge_splits splits;
    if (size == 0)
        return 0;
    const uint32_t node_count = data[0];
    fuzz_record_view(data + 1, size - 1, RECORD_EDGE_SPLITS, names, sizeof names / sizeof *names,
                     &view);
    view.version = record_has(&view, "feature_dim") || record_has(&view, "valid_weight") ? 2 : 1;
    if (edge_splits_decode(&view, node_count, &splits, NULL) == ERROR_NONE) {
        for (int s = 0; s < HELD_OUT_COUNT; s++) {
            for (uint64_t i = 0; i < splits.count[s]; i++)
                must(splits.source[s][i] < node_count && splits.target[s][i] < node_count);
            check_ends(&splits.negative[s], splits.count[s], node_count);
        }
        for (uint64_t i = 0; i < splits.trained.count; i++)
            must(splits.trained.source[i] < node_count && splits.trained.target[i] < node_count);
        check_ends(&splits.trained.ends, splits.trained.count, node_count);
        for (uint64_t i = 0; i < splits.left_count; i++)
            must(splits.left[i] < node_count);
        must(!splits.class_count || splits.is_labelled);
    }
    fuzz_record_view_release(&view);
    return 0;
}
