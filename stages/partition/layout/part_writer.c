#include "stages/partition/layout/part_writer.h"

#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "stages/partition/layout/feature_window.h"
#include "store/features/feature_shard.h"
#include "store/features/row_conversion.h"
#include "store/objects/keys.h"
#include "store/records/edge_splits.h"
#include "store/records/node_labels.h"
#include "store/records/node_splits.h"
#include "store/topology/topology.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Rows of labels gathered, and of features converted, at a time. */
enum { LABEL_ROWS = 4096, FEATURE_ROWS = 256 };

static uint64_t count_train(const struct part_writer *writer, const struct topology_arrays *part)
{
    const uint32_t *to_dataset = writer->numbering->to_dataset + part->first_node;
    uint64_t count = 0;
    for (uint32_t i = 0; i < part->node_count; i++)
        count += writer->split_marks[to_dataset[i]] == SPLIT_TRAIN + 1;
    return count;
}

static enum error_code write_group(const struct part_writer *writer, struct part_rows *rows,
                                   struct partition_quality *quality, struct error *err)
{
    enum error_code rc = part_rows_sort(rows, err);
    for (int i = 0; rc == ERROR_NONE && i < rows->part_count; i++) {
        const int part = rows->first_part + i;
        const struct topology_arrays arrays = part_rows_arrays(rows, part);
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "asked to stop");
        partition_quality_add(quality, part, &arrays, count_train(writer, &arrays));
        rc = topology_write(writer->store, writer->partition_id, part, &arrays, err);
    }
    return rc;
}

enum error_code part_writer_topologies(const struct part_writer *writer,
                                       struct partition_quality *quality, struct error *err)
{
    const struct part_rows_source source = {
        .store = writer->store,
        .schema = writer->schema,
        .numbering = writer->numbering,
        .in_degree = writer->in_degree,
        .budget_bytes = writer->budget_bytes,
    };
    enum error_code rc = ERROR_NONE;
    for (int p = 0; rc == ERROR_NONE && p < writer->numbering->part_count;) {
        struct part_rows rows = {0};
        rc = part_rows_gather(&source, p, &rows, err);
        if (rc == ERROR_NONE)
            rc = write_group(writer, &rows, quality, err);
        p += rows.part_count;
        part_rows_release(&rows);
    }
    return rc;
}

static struct tensor_spec tensor_of(const char *name, enum tensor_type type, uint32_t dim,
                                    uint64_t row_count)
{
    struct tensor_spec tensor = {.type = type, .dim = dim, .row_count = row_count};
    memcpy(tensor.name, name, strlen(name) + 1); /* names below are short */
    return tensor;
}

/* Rows of features on their way into a shard, in the type that it stores. */
struct feature_rows_writer {
    const struct part_writer *writer;
    struct feature_shard_writer *shard;
    void *buffer; /* [FEATURE_ROWS, dim], owned; NULL: floats are stored as they are */
};

/* Fails: ERROR_INPUT for a number that f16 would make infinite. */
static enum error_code check_range(const struct part_writer *writer, const float *row,
                                   uint32_t count, uint32_t first, struct error *err)
{
    const size_t dim = writer->schema->feature_dim;
    const float least = 65520; /* what rounds to more than 65504 */
    for (size_t i = 0; writer->feature_type == TENSOR_F16 && i < count * dim; i++)
        if (fabsf(row[i]) >= least && isfinite(row[i]))
            return error_set(err, ERROR_INPUT,
                             "feature %zu of node %" PRIu32 " of the dataset is %g: partition."
                             "feature_type f16 holds numbers up to 65504; take bf16 or f32",
                             i % dim, writer->numbering->to_dataset[first + i / dim],
                             (double)row[i]);
    return ERROR_NONE;
}

static enum error_code add_features(const struct feature_rows_writer *rows, const float *row,
                                    uint32_t count, uint32_t first, struct error *err)
{
    const size_t dim = rows->writer->schema->feature_dim;
    enum error_code rc = check_range(rows->writer, row, count, first, err);
    if (rc != ERROR_NONE || !rows->buffer)
        return rc == ERROR_NONE ? feature_shard_writer_add(rows->shard, row, count, err) : rc;
    for (uint32_t at = 0, piece = 0; rc == ERROR_NONE && at < count; at += piece) {
        piece = count - at < FEATURE_ROWS ? count - at : FEATURE_ROWS;
        row_conversion_store(rows->buffer, rows->writer->feature_type, row + at * dim, piece * dim);
        rc = feature_shard_writer_add(rows->shard, rows->buffer, piece, err);
    }
    return rc;
}

static enum error_code write_features(const struct feature_rows_writer *rows,
                                      struct feature_window *window, uint32_t first, uint32_t end,
                                      struct error *err)
{
    const struct tensor_spec tensor =
        tensor_of("features", rows->writer->feature_type, window->schema->feature_dim, end - first);
    enum error_code rc = feature_shard_writer_begin(rows->shard, &tensor, err);
    while (rc == ERROR_NONE && first < end) {
        const float *row = NULL;
        uint32_t count = 0;
        rc = feature_window_rows(window, first, end - first, &row, &count, err);
        if (rc == ERROR_NONE)
            rc = add_features(rows, row, count, first, err);
        first += count;
    }
    return rc;
}

/* Labels as rows of 4-byte elements, whatever they are. */
struct label_rows {
    const char *row;
    enum tensor_type type;
    uint32_t width;   /* elements of a row */
    uint32_t *buffer; /* [LABEL_ROWS, width], owned */
};

static enum error_code write_labels(struct feature_shard_writer *shard,
                                    const struct label_rows *labels, const uint32_t *to_dataset,
                                    uint32_t node_count, struct error *err)
{
    const size_t row_bytes = (size_t)labels->width * sizeof *labels->buffer;
    const struct tensor_spec tensor = tensor_of("labels", labels->type, labels->width, node_count);
    enum error_code rc = feature_shard_writer_begin(shard, &tensor, err);
    for (uint32_t at = 0; rc == ERROR_NONE && at < node_count; at += LABEL_ROWS) {
        const uint32_t count = node_count - at < LABEL_ROWS ? node_count - at : LABEL_ROWS;
        for (uint32_t i = 0; i < count; i++)
            memcpy(&labels->buffer[(size_t)i * labels->width],
                   labels->row + to_dataset[at + i] * row_bytes, row_bytes);
        rc = feature_shard_writer_add(shard, labels->buffer, count, err);
    }
    return rc;
}

static enum error_code write_shard(const struct part_writer *writer, int part,
                                   struct feature_window *window, void *buffer,
                                   const struct label_rows *labels, struct error *err)
{
    const uint32_t first = writer->numbering->book[part], end = writer->numbering->book[part + 1];
    struct feature_shard_writer *shard = NULL;
    enum error_code rc = feature_shard_writer_new(
        writer->store, key_part(writer->partition_id, part, "shard").text,
        key_part(writer->partition_id, part, "shard_seal").text, writer->partition_id, &shard, err);
    if (rc == ERROR_NONE)
        rc = write_features(&(struct feature_rows_writer){writer, shard, buffer}, window, first,
                            end, err);
    if (rc == ERROR_NONE && labels->row)
        rc = write_labels(shard, labels, writer->numbering->to_dataset + first, end - first, err);
    if (rc == ERROR_NONE)
        return feature_shard_writer_finish(shard, err);
    feature_shard_writer_abandon(shard);
    return rc;
}

/* Fails: ERROR_CORRUPT unless the labels are those the schema promises. */
static enum error_code open_labels(const struct dataset_schema *schema,
                                   const struct node_labels *labels, struct label_rows *out,
                                   struct error *err)
{
    const struct task *task = task_of(schema->task);
    out->row = labels->row;
    out->type = task->is_class_number ? TENSOR_I32 : TENSOR_F32;
    out->width = task->label_width(schema->class_count);
    if (labels->task != schema->task || labels->node_count != schema->node_count ||
        labels->class_count != schema->class_count)
        return error_set(err, ERROR_CORRUPT, "%s: not the labels that the schema describes",
                         key_dataset(schema->id, "labels").text);
    return memory_new(&out->buffer, (size_t)LABEL_ROWS * out->width, "labels", err);
}

enum error_code part_writer_shards(const struct part_writer *writer, struct error *err)
{
    struct feature_window window = {0};
    struct node_labels labels = {0};
    struct label_rows label_rows = {0};
    char *buffer = NULL;
    enum error_code rc = ERROR_NONE;
    if (writer->feature_type != TENSOR_F32)
        rc = memory_new(&buffer,
                        FEATURE_ROWS * (size_t)writer->schema->feature_dim *
                            tensor_type_bytes(writer->feature_type),
                        "converted features", err);
    if (rc == ERROR_NONE && task_has_labels(writer->schema->task)) {
        rc = node_labels_get(writer->store, writer->schema->id, &labels, err);
        if (rc == ERROR_NONE)
            rc = open_labels(writer->schema, &labels, &label_rows, err);
    }
    if (rc == ERROR_NONE)
        rc = feature_window_init(&window, writer->store, writer->schema, writer->numbering,
                                 writer->budget_bytes, err);
    for (int p = 0; rc == ERROR_NONE && p < writer->numbering->part_count; p++)
        rc = write_shard(writer, p, &window, buffer, &label_rows, err);
    feature_window_release(&window);
    memory_free(label_rows.buffer);
    memory_free(buffer);
    store_release_record(&labels.view);
    return rc;
}

static void collect_split(const struct part_writer *writer, enum split split, uint32_t *node)
{
    const struct numbering *n = writer->numbering;
    for (uint32_t i = 0; i < n->node_count; i++)
        if (writer->split_marks[n->to_dataset[i]] == split + 1)
            *node++ = i;
}

enum error_code part_writer_splits(const struct part_writer *writer, struct error *err)
{
    const struct key key = key_partition(writer->partition_id, "splits");
    struct node_splits splits = {0};
    uint32_t *node[SPLIT_COUNT] = {NULL};
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; i < writer->numbering->node_count; i++)
        if (writer->split_marks[i])
            splits.count[writer->split_marks[i] - 1]++;
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        rc = memory_new(&node[s], splits.count[s], "a split", err);
        if (rc == ERROR_NONE)
            collect_split(writer, (enum split)s, node[s]);
        splits.node[s] = node[s];
    }
    if (rc == ERROR_NONE)
        rc = node_splits_put(writer->store, key.text, writer->partition_id, &splits, err);
    for (int s = 0; s < SPLIT_COUNT; s++)
        memory_free(node[s]);
    return rc;
}

enum error_code part_writer_edge_splits(const struct part_writer *writer, struct error *err)
{
    const struct dataset_schema *schema = writer->schema;
    const struct numbering *n = writer->numbering;
    const struct key from = key_dataset(schema->id, "edge_splits");
    const uint32_t expected[HELD_OUT_COUNT] = {schema->valid_count, schema->test_count};
    struct edge_splits splits = {0}, mapped = {0};
    uint32_t *end[HELD_OUT_COUNT][2] = {{NULL}};
    if (!task_learns_pairs(schema->task))
        return ERROR_NONE;
    enum error_code rc =
        edge_splits_get(writer->store, from.text, schema->id, n->node_count, &splits, err);
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++) {
        if (splits.count[s] != expected[s])
            rc = error_set(err, ERROR_CORRUPT, "%s: %" PRIu64 " %s edges, expected %" PRIu32,
                           from.text, splits.count[s], held_out_name[s], expected[s]);
        for (int side = 0; rc == ERROR_NONE && side < 2; side++) {
            const uint32_t *node = side ? splits.target[s] : splits.source[s];
            rc = memory_new(&end[s][side], splits.count[s], "held-out edges", err);
            for (uint64_t i = 0; rc == ERROR_NONE && i < splits.count[s]; i++)
                end[s][side][i] = n->to_new[node[i]];
        }
        mapped.count[s] = splits.count[s];
        mapped.source[s] = end[s][0];
        mapped.target[s] = end[s][1];
    }
    if (rc == ERROR_NONE)
        rc = edge_splits_put(writer->store, key_partition(writer->partition_id, "edge_splits").text,
                             writer->partition_id, &mapped, err);
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        memory_free(end[s][0]);
        memory_free(end[s][1]);
    }
    store_release_record(&splits.view);
    return rc;
}
