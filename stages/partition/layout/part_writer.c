#include "stages/partition/layout/part_writer.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "stages/partition/layout/feature_window.h"
#include "stages/partition/layout/held_rows.h"
#include "stages/partition/layout/part_relations.h"
#include "store/features/feature_shard.h"
#include "store/features/row_conversion.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/edge_splits.h"
#include "store/records/dataset/node_labels.h"
#include "store/records/dataset/node_splits.h"
#include "store/topology/topology.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* Rows of labels that are gathered, and of features that are converted, at a time. */
enum { LABEL_ROWS = 4096, FEATURE_ROWS = 256 };

struct part_measure part_writer_measure(const struct part_writer *writer, int part)
{
    const struct numbering *n = writer->numbering;
    struct part_measure measure = {
        .part = part, .first_node = n->book[part], .node_count = n->book[part + 1] - n->book[part]};
    for (uint32_t i = n->book[part]; i < n->book[part + 1]; i++)
        measure.train_count += writer->split_marks[n->to_dataset[i]] == SPLIT_TRAIN + 1;
    return measure;
}

/* --- topologies --- */

/* Sets *stands to whether a part is there with its manifest. */
static enum error_code is_standing(const struct part_writer *writer, struct key artifact,
                                   struct key seal, bool *stands, struct error *err)
{
    *stands = false;
    if (!writer->keeps_standing)
        return ERROR_NONE;
    enum error_code rc = store_has(writer->store, seal.text, stands, err);
    return rc == ERROR_NONE && *stands ? store_has(writer->store, artifact.text, stands, err) : rc;
}

static enum error_code topology_stands(const struct part_writer *writer, int part, bool *stands,
                                       struct error *err)
{
    return is_standing(writer, key_part(writer->partition_id, part, "topology"),
                       key_part(writer->partition_id, part, "topology_seal"), stands, err);
}

/* The parts of a group, which threads share. Of several failures the one with the lowest part is
 * reported. */
struct group_work {
    const struct part_writer *writer;
    struct part_rows *rows;
    struct partition_quality *quality;
    int offset; /* index of the part to begin with */
    pthread_mutex_t mutex;
    /* Guarded by the mutex, like what follows and the quality; -1: none failed. */
    int failed_part;
    enum error_code rc;
    struct error err;
};

/* Measures a part, and writes its topology. */
static enum error_code write_topology(struct group_work *work, int part,
                                      const struct topology_arrays *rows, struct error *err)
{
    const struct part_writer *writer = work->writer;
    struct part_relations set = {0};
    bool stands = false;
    enum error_code rc =
        part_relations_split(rows, part, writer->numbering, writer->schema, NULL, &set, err);
    if (rc == ERROR_NONE) {
        const struct part_measure measure = part_writer_measure(writer, part);
        (void)pthread_mutex_lock(&work->mutex);
        partition_quality_add(work->quality, &measure, set.relation);
        (void)pthread_mutex_unlock(&work->mutex);
        if (!writer->only_measures)
            rc = topology_stands(writer, part, &stands, err); /* another program may have written it
                                                               * by now */
        if (rc == ERROR_NONE && !writer->only_measures && !stands)
            rc = topology_write_relations(writer->store, writer->partition_id, part,
                                          rows->first_node, rows->node_count, set.relation,
                                          set.relation_count, err);
    }
    part_relations_release(&set);
    return rc;
}

static void write_one(void *context, int64_t tile, int thread)
{
    struct group_work *work = context;
    struct part_rows *rows = work->rows;
    struct error err = {0};
    const int part = rows->first_part + (int)((tile + work->offset) % rows->part_count);
    enum error_code rc = ERROR_NONE;
    (void)thread;
    if (stop_signal_seen())
        rc = error_set(&err, ERROR_UNAVAILABLE, "asked to stop");
    if (rc == ERROR_NONE && !work->writer->only_measures)
        rc = part_rows_sort(rows, part, &err);
    if (rc == ERROR_NONE) {
        const struct topology_arrays arrays = part_rows_arrays(rows, part);
        rc = write_topology(work, part, &arrays, &err);
    }
    if (rc == ERROR_NONE)
        return;
    (void)pthread_mutex_lock(&work->mutex);
    if (work->failed_part < 0 || part < work->failed_part) {
        work->failed_part = part;
        work->rc = rc;
        work->err = err;
    }
    (void)pthread_mutex_unlock(&work->mutex);
}

/* Returns the index of the part to begin with. Programs that start together begin with different
 * parts, so that they share the work. No byte depends on it. */
static int begin_at(int part_count)
{
    const uint64_t now = (uint64_t)(clock_seconds() * 1e6) + (uint64_t)getpid() * 7919;
    return part_count > 1 ? (int)(now % (uint64_t)part_count) : 0;
}

static enum error_code write_group(const struct part_writer *writer, struct part_rows *rows,
                                   struct partition_quality *quality, struct error *err)
{
    struct group_work work = {.writer = writer,
                              .rows = rows,
                              .quality = quality,
                              .offset = writer->only_measures ? 0 : begin_at(rows->part_count),
                              .failed_part = -1};
    (void)pthread_mutex_init(&work.mutex, NULL);
    /* one thread if parts must be split by relation: the budget has room for one split only */
    thread_pool_run(part_relations_bytes(writer->schema, 1, 1) ? NULL : writer->pool,
                    rows->part_count, write_one, &work);
    (void)pthread_mutex_destroy(&work.mutex);
    if (work.rc != ERROR_NONE)
        *err = work.err;
    return work.rc;
}

/* Measures the edges that a part of a vertex cut holds, and writes them. */
static enum error_code write_held(const struct part_writer *writer, int part,
                                  const struct held_rows *rows, struct partition_quality *quality,
                                  struct error *err)
{
    const struct part_measure measure = part_writer_measure(writer, part);
    bool stands = false;
    partition_quality_add_held(quality, &measure, writer->numbering->book, rows->relation);
    const enum error_code rc = topology_stands(writer, part, &stands, err);
    return rc != ERROR_NONE || stands || writer->only_measures
               ? rc
               : topology_write_held(writer->store, writer->partition_id, part, measure.first_node,
                                     measure.node_count, rows->relation, rows->relation_count, err);
}

static enum error_code write_vertex_cut(const struct part_writer *writer,
                                        struct partition_quality *quality, struct error *err)
{
    const struct held_rows_source source = {
        .store = writer->store,
        .schema = writer->schema,
        .numbering = writer->numbering,
        .edge_part = writer->edge_part,
        .bare = writer->only_measures && dataset_relation_count(writer->schema) == 1,
        .budget_bytes = writer->budget_bytes,
    };
    enum error_code rc = ERROR_NONE;
    for (int p = 0; rc == ERROR_NONE && p < writer->numbering->part_count; p++) {
        struct held_rows rows = {0};
        rc = held_rows_gather(&source, p, &rows, err);
        if (rc == ERROR_NONE)
            rc = write_held(writer, p, &rows, quality, err);
        held_rows_release(&rows);
    }
    return rc;
}

static enum error_code find_standing(const struct part_writer *writer, bool *standing,
                                     struct error *err)
{
    const int count = writer->numbering->part_count;
    int found = 0;
    enum error_code rc = ERROR_NONE;
    for (int p = 0; p < count && rc == ERROR_NONE; p++) {
        rc = topology_stands(writer, p, &standing[p], err);
        found += standing[p];
    }
    if (rc == ERROR_NONE && found > 0)
        log_info("topologies of %d of %d parts are there already and are kept", found, count);
    return rc;
}

/* Returns the end of the parts from `first` on that have to be made. */
static int end_of_open(const bool *standing, int first, int part_count)
{
    int end = first;
    while (end < part_count && !(standing && standing[end]))
        end++;
    return end;
}

enum error_code part_writer_topologies(const struct part_writer *writer,
                                       struct partition_quality *quality, bool *standing,
                                       struct error *err)
{
    struct part_rows_source source = {
        .store = writer->store,
        .schema = writer->schema,
        .numbering = writer->numbering,
        .in_degree = writer->in_degree,
        .is_split = true,
        .bare = writer->only_measures && dataset_relation_count(writer->schema) == 1,
        .budget_bytes = writer->budget_bytes,
    };
    const int count = writer->numbering->part_count;
    if (writer->edge_part)
        return write_vertex_cut(writer, quality, err);
    enum error_code rc = standing ? find_standing(writer, standing, err) : ERROR_NONE;
    for (int p = 0; rc == ERROR_NONE && p < count;) {
        struct part_rows rows = {0};
        source.end_part = end_of_open(standing, p, count);
        if (source.end_part == p) {
            p++;
            continue;
        }
        rc = part_rows_gather(&source, p, &rows, err);
        if (rc == ERROR_NONE)
            rc = write_group(writer, &rows, quality, err);
        p += rows.part_count;
        part_rows_release(&rows);
    }
    return rc;
}

/* --- shards --- */

static struct tensor_spec tensor_of(const char *name, enum tensor_type type, uint32_t dim,
                                    uint64_t row_count)
{
    struct tensor_spec tensor = {.type = type, .dim = dim, .row_count = row_count};
    memcpy(tensor.name, name, strlen(name) + 1); /* the names used below are short */
    return tensor;
}

/* Writes the shards of one node type. */
struct type_writer {
    const struct part_writer *writer;
    uint32_t type;
    uint32_t dim;              /* of features; 0: the type has none */
    const uint32_t *type_book; /* [part_count + 1] */
    struct feature_window window;
    /* [FEATURE_ROWS, dim], owned; NULL: floats are stored without conversion. */
    void *buffer;
};

/* Returns the dataset ids of the nodes from number `number` of the type on, in part `part`. */
static const uint32_t *dataset_nodes(const struct type_writer *of, int part, uint32_t number)
{
    const struct numbering *numbering = of->writer->numbering;
    const struct type_ranges ranges = numbering_ranges(numbering);
    return &numbering->to_dataset[type_ranges_first(&ranges, part, of->type) +
                                  (number - of->type_book[part])];
}

/* Writes rows of features to a shard, in the type that it stores. */
struct feature_rows_writer {
    const struct type_writer *of;
    int part;
    struct feature_shard_writer *shard;
};

enum error_code feature_range_check(enum tensor_type type, const float *row, uint32_t count,
                                    size_t dim, const uint32_t *node, struct error *err)
{
    const float least = 65520; /* from here on a number rounds to more than 65504 */
    for (size_t i = 0; type == TENSOR_F16 && i < count * dim; i++)
        if (fabsf(row[i]) >= least && isfinite(row[i]))
            return error_set(err, ERROR_INPUT,
                             "feature %zu of node %" PRIu32 " of the dataset is %g: partition."
                             "feature_type f16 holds numbers up to 65504; " ADVICE
                             "take bf16 or f32",
                             i % dim, node[i / dim], (double)row[i]);
    return ERROR_NONE;
}

static enum error_code add_features(const struct feature_rows_writer *rows, const float *row,
                                    uint32_t count, uint32_t first, struct error *err)
{
    const size_t dim = rows->of->dim;
    void *buffer = rows->of->buffer;
    enum error_code rc = feature_range_check(rows->of->writer->feature_type, row, count, dim,
                                             dataset_nodes(rows->of, rows->part, first), err);
    if (rc != ERROR_NONE || !buffer)
        return rc == ERROR_NONE ? feature_shard_writer_add(rows->shard, row, count, err) : rc;
    for (uint32_t at = 0, piece = 0; rc == ERROR_NONE && at < count; at += piece) {
        piece = count - at < FEATURE_ROWS ? count - at : FEATURE_ROWS;
        row_conversion_store(buffer, rows->of->writer->feature_type, row + at * dim, piece * dim);
        rc = feature_shard_writer_add(rows->shard, buffer, piece, err);
    }
    return rc;
}

static enum error_code write_features(const struct feature_rows_writer *rows,
                                      struct feature_window *window, struct error *err)
{
    uint32_t first = rows->of->type_book[rows->part];
    const uint32_t end = rows->of->type_book[rows->part + 1];
    const struct tensor_spec tensor =
        tensor_of("features", rows->of->writer->feature_type, rows->of->dim, end - first);
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

/* Labels of any type as rows of 4-byte elements. */
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

/* Writes a shard. `labels` are those of the type; NULL: it has none. */
static enum error_code write_shard(struct type_writer *of, int part,
                                   const struct label_rows *labels, struct error *err)
{
    const struct part_writer *writer = of->writer;
    const struct type_ranges ranges = numbering_ranges(writer->numbering);
    const uint32_t *to_dataset =
        writer->numbering->to_dataset + type_ranges_first(&ranges, part, of->type);
    const uint32_t count = of->type_book[part + 1] - of->type_book[part];
    struct feature_shard_writer *shard = NULL;
    enum error_code rc = feature_shard_writer_new(
        writer->store, key_part_type(writer->partition_id, part, of->type, "shard").text,
        key_part_type(writer->partition_id, part, of->type, "shard_seal").text,
        writer->partition_id, &shard, err);
    if (rc == ERROR_NONE && of->dim)
        rc = write_features(&(struct feature_rows_writer){of, part, shard}, &of->window, err);
    if (rc == ERROR_NONE && labels)
        rc = write_labels(shard, labels, to_dataset, count, err);
    if (rc == ERROR_NONE)
        return feature_shard_writer_finish(shard, err);
    feature_shard_writer_abandon(shard);
    return rc;
}

static enum error_code write_shard_unless_standing(struct type_writer *of, int part,
                                                   const struct label_rows *labels, int *kept,
                                                   struct error *err)
{
    const char *id = of->writer->partition_id;
    bool stands = false;
    const enum error_code rc =
        is_standing(of->writer, key_part_type(id, part, of->type, "shard"),
                    key_part_type(id, part, of->type, "shard_seal"), &stands, err);
    *kept += stands;
    return rc == ERROR_NONE && !stands ? write_shard(of, part, labels, err) : rc;
}

/* Opens the labels. Fails: ERROR_CORRUPT unless the labels are those the schema promises. */
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

/* Writes the shards of a type in all parts. A type without features and labels has none. */
static enum error_code write_type(const struct part_writer *writer, uint32_t type,
                                  const struct label_rows *labels, struct error *err)
{
    const struct numbering *n = writer->numbering;
    const struct type_ranges ranges = numbering_ranges(n);
    struct type_writer of = {
        .writer = writer, .type = type, .dim = dataset_type(writer->schema, type).feature_dim};
    uint32_t *type_book = NULL;
    int kept = 0;
    if (of.dim == 0 && !labels)
        return ERROR_NONE;
    enum error_code rc =
        memory_new(&type_book, (size_t)n->part_count + 1, "the ranges of a type", err);
    if (rc == ERROR_NONE) {
        type_ranges_book(&ranges, type, type_book);
        of.type_book = type_book;
        rc = feature_window_init(&of.window, writer->store, writer->schema, n, type, type_book,
                                 writer->budget_bytes, err);
    }
    if (rc == ERROR_NONE && writer->feature_type != TENSOR_F32)
        rc = memory_new_bytes(&of.buffer, FEATURE_ROWS * (size_t)of.dim,
                              tensor_type_bytes(writer->feature_type), "converted features", err);
    for (int p = 0; rc == ERROR_NONE && p < n->part_count; p++)
        rc = write_shard_unless_standing(&of, p, labels, &kept, err);
    if (rc == ERROR_NONE && kept > 0)
        log_info("shards of %d of %d parts are there already and are kept", kept, n->part_count);
    feature_window_release(&of.window);
    memory_free(of.buffer);
    memory_free(type_book);
    return rc;
}

enum error_code part_writer_shards(const struct part_writer *writer, struct error *err)
{
    struct node_labels labels = {0};
    struct label_rows label_rows = {0};
    enum error_code rc = ERROR_NONE;
    if (task_has(writer->schema->task, TASK_LABELS_NODES)) {
        rc = merged_labels_get(writer->store, writer->schema->id, &labels, err);
        if (rc == ERROR_NONE)
            rc = open_labels(writer->schema, &labels, &label_rows, err);
    }
    for (uint32_t t = 0; rc == ERROR_NONE && t < dataset_type_count(writer->schema); t++) {
        const bool has_labels = label_rows.row && t == writer->schema->target_type;
        rc = write_type(writer, t, has_labels ? &label_rows : NULL, err);
    }
    memory_free(label_rows.buffer);
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

/* Sets *out to the list in new ids. The caller owns it. */
static enum error_code renumber(const struct numbering *numbering, const uint32_t *node,
                                uint64_t count, uint32_t **out, struct error *err)
{
    const enum error_code rc = memory_new(out, count, "held-out edges", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < count; i++)
        (*out)[i] = numbering->to_new[node[i]];
    return rc;
}

enum error_code part_writer_edge_splits(const struct part_writer *writer, struct error *err)
{
    const struct dataset_schema *schema = writer->schema;
    const struct numbering *n = writer->numbering;
    const struct key from = key_dataset(schema->id, "edge_splits");
    const uint32_t expected[HELD_OUT_COUNT] = {schema->valid_count, schema->test_count};
    struct edge_splits splits = {0}, mapped = {0};
    const uint32_t **list[EDGE_SPLITS_END_LISTS] = {NULL};
    uint64_t count[EDGE_SPLITS_END_LISTS] = {0};
    uint32_t *renumbered[EDGE_SPLITS_END_LISTS] = {NULL};
    const bool has_types = schema->edge_width.of[EDGE_TYPE] != 0;
    if (!task_has(schema->task, TASK_HOLDS_OUT_EDGES))
        return ERROR_NONE;
    enum error_code rc =
        merged_edge_splits_get(writer->store, schema->id, n->node_count, &splits, err);
    mapped = splits; /* all but the ends is the same; these are renumbered */
    mapped.view = (struct record_view){0};
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++) {
        if (splits.count[s] != expected[s])
            rc = error_set(err, ERROR_CORRUPT, "%s: %" PRIu64 " %s edges, expected %" PRIu32,
                           from.text, splits.count[s], held_out_name[s], expected[s]);
        if (rc == ERROR_NONE && splits.count[s] && (splits.type[s] != NULL) != has_types)
            rc = error_set(err, ERROR_CORRUPT, "%s: %s edges %s types, expected as the dataset",
                           from.text, held_out_name[s], splits.type[s] ? "with" : "without");
    }
    const int lists = rc == ERROR_NONE ? edge_splits_ends(&mapped, list, count) : 0;
    for (int i = 0; rc == ERROR_NONE && i < lists; i++) {
        rc = renumber(n, *list[i], count[i], &renumbered[i], err);
        *list[i] = renumbered[i];
    }
    if (rc == ERROR_NONE)
        rc = edge_splits_put(writer->store, key_partition(writer->partition_id, "edge_splits").text,
                             writer->partition_id, &mapped, err);
    for (int i = 0; i < lists; i++)
        memory_free(renumbered[i]);
    store_release_record(&splits.view);
    return rc;
}
