/* fuzz_dataset_arrays - the arrays of a dataset from arbitrary sections. The first byte says which. */
#include "store/records/dataset/dataset_merge.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/feature_statistics.h"
#include "store/records/dataset/node_columns.h"
#include "store/records/dataset/node_ids.h"
#include "store/records/dataset/node_labels.h"
#include "store/records/dataset/node_splits.h"
#include "store/records/dataset/node_times.h"

#include "tests/fuzz/fuzz_record_view.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
    "range",     "row_start", "neighbor", "weight",       "time",        "edge_type",   "row",
    "shape",     "label",     "multi",    "train",        "valid",       "test",        "integer",
    "offset",    "text",      "edge_id",  "edge_feature", "edge_widths", "least",       "mean",
    "deviation", "base",      "policy",   "first_node",   "base_first",  "train_class", "task"};

/* What is read goes here, so that the reading is not optimised away: it is what sanitizers watch. */
static volatile double sink;

/* Each reads all that the checks promise is there. */
static void read_edges(const struct record_view *view)
{
    struct edge_chunk edges;
    if (edge_chunk_decode(view, &edges, NULL) != ERROR_NONE)
        return;
    double sum = 0.0;
    for (uint32_t row = 0; row < edges.node_count; row++)
        for (uint64_t i = edges.row_start[row]; i < edges.row_start[row + 1]; i++) {
            must(i == edges.row_start[row] || edges.neighbor[i] >= edges.neighbor[i - 1]);
            for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
                if (edges.columns.width.of[c])
                    sum += *(const char *)edge_columns_at(&edges.columns, (enum edge_column)c, i);
        }
    sink = sum;
    must(edges.row_start[edges.node_count] == edges.edge_count);
}

static void read_features(const struct record_view *view)
{
    struct feature_chunk rows;
    if (feature_chunk_decode(view, &rows, NULL) != ERROR_NONE)
        return;
    must(rows.node_count >= 1 && rows.node_count <= feature_chunk_rows(rows.dim));
    sink = (double)rows.row[(size_t)rows.node_count * rows.dim - 1];
}

static void read_labels(const struct record_view *view)
{
    struct node_labels labels;
    if (node_labels_decode(view, &labels, NULL) != ERROR_NONE)
        return;
    const struct task *task = task_of(labels.task);
    const char *row = labels.row;
    for (uint32_t i = 0; i < labels.node_count; i++)
        must(task->label_check(row + 4 * (size_t)i * task->label_width(labels.class_count),
                               labels.class_count, NULL) == ERROR_NONE);
}

static void read_splits(const struct record_view *view)
{
    struct node_splits splits;
    if (node_splits_decode(view, &splits, NULL) != ERROR_NONE)
        return;
    for (int s = 0; s < SPLIT_COUNT; s++)
        for (uint32_t i = 1; i < splits.count[s]; i++)
            must(splits.node[s][i] > splits.node[s][i - 1]);
}

static void read_ids(const struct record_view *view)
{
    struct node_ids ids;
    if (node_ids_decode(view, &ids, NULL) != ERROR_NONE)
        return;
    uint64_t at = 0;
    for (uint32_t i = 0; ids.offset && i < ids.node_count; i++)
        for (; at < ids.offset[i + 1]; at++)
            sink = ids.text[at];
}

static void read_merge(const struct record_view *view)
{
    struct dataset_merge merge;
    if (dataset_merge_decode(view, &merge, NULL) != ERROR_NONE)
        return;
    for (uint64_t c = 0; c < merge.chunk_count; c++)
        must(merge.first_node[c] < merge.first_node[c + 1]);
    for (uint64_t c = 0; c < merge.base_chunk_count; c++)
        must(merge.base_first[c] < merge.base_first[c + 1]);
    must(strlen(merge.base) < ID_SIZE);
}

static void read_statistics(const struct record_view *view)
{
    struct feature_statistics statistics;
    if (feature_statistics_decode(view, &statistics, NULL) != ERROR_NONE)
        return;
    must(statistics.has_least || statistics.dim);
    for (uint64_t c = 0; c < statistics.dim; c++)
        must(isfinite(statistics.mean[c]) && statistics.deviation[c] >= 0);
}

static void read_times(const struct record_view *view)
{
    struct node_times times;
    if (node_times_decode(view, 2, &times, NULL) == ERROR_NONE)
        sink = (double)(times.time[0] ^ times.time[1]);
}

static void read_columns(const struct record_view *view)
{
    struct column_encoding encoding;
    if (node_columns_decode(view, &encoding, NULL) != ERROR_NONE)
        return;
    const struct field word = {"7", 1};
    float out[2 * COLUMN_VALUES_MAX];
    must(column_encoding_class(&encoding, &word) < (int64_t)encoding.class_count);
    for (size_t i = 0; i < encoding.column_count; i++)
        error_ignore(column_code_take(&encoding.column[i], &word, out, NULL));
    column_encoding_release(&encoding);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        enum record_kind kind;
        uint32_t version;
        void (*read)(const struct record_view *view);
    } readers[] = {
        {RECORD_EDGE_CHUNK, 2, read_edges},     {RECORD_FEATURE_CHUNK, 1, read_features},
        {RECORD_NODE_LABELS, 2, read_labels},   {RECORD_NODE_SPLITS, 1, read_splits},
        {RECORD_NODE_IDS, 1, read_ids},         {RECORD_FEATURE_STATISTICS, 1, read_statistics},
        {RECORD_NODE_COLUMNS, 1, read_columns}, {RECORD_DATASET_MERGE, 1, read_merge},
        {RECORD_NODE_TIMES, 1, read_times},
    };
    struct record_view view;
    if (size == 0)
        return 0;
    const size_t which = data[0] % (sizeof readers / sizeof *readers);
    fuzz_record_view(data + 1, size - 1, readers[which].kind, names, sizeof names / sizeof *names,
                     &view);
    view.version = readers[which].version + (record_has(&view, "train_class") ? 1 : 0);
    readers[which].read(&view);
    fuzz_record_view_release(&view);
    return 0;
}
