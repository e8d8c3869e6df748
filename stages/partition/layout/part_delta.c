#include "stages/partition/layout/part_delta.h"

#include "common/base/ascending.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "stages/partition/layout/feature_window.h"
#include "store/features/feature_shard.h"
#include "store/features/row_conversion.h"
#include "store/objects/keys.h"
#include "store/records/feature_chunk.h"
#include "store/records/node_labels.h"
#include "store/records/shard_seal.h"
#include "store/topology/topology.h"
#include "store/versions/merged_records.h"

#include <stdlib.h>
#include <string.h>

/* Rows converted at a time. */
enum { PIECE_ROWS = 256 };

void part_delta_release(struct part_delta *delta)
{
    node_shift_release(&delta->shift);
    memory_free(delta->base_book);
    memory_free(delta->gone);
    memory_free(delta->added);
    memory_free(delta->other);
    *delta = (struct part_delta){.record = {.base = ""}};
}

/* ---- topologies ----------------------------------------------------------------------------------- */

/* The rows of a part that are others, and where they begin; arrays of memory for all nodes of the part. */
struct other_rows {
    uint32_t *node;
    uint64_t *start;
    uint32_t count;
};

static void list_rows(const struct part_delta *delta, const struct topology_arrays *rows,
                      struct other_rows *out)
{
    out->count = 0;
    for (uint32_t row = 0; row < rows->node_count; row++)
        if (delta->other[rows->first_node + row] & OTHER_EDGES) {
            out->node[out->count] = rows->first_node + row;
            out->start[out->count++] = rows->row_start[row];
        }
    out->start[out->count] = rows->edge_count;
}

static uint64_t count_edges(const struct part_writer *writer, int part)
{
    const struct numbering *n = writer->numbering;
    uint64_t edges = 0;
    for (uint32_t node = n->book[part]; node < n->book[part + 1]; node++)
        edges += writer->in_degree[n->to_dataset[node]];
    return edges;
}

static enum error_code write_rows(const struct part_writer *writer, const struct part_delta *delta,
                                  int part, const struct topology_arrays *rows, struct error *err)
{
    struct other_rows other = {.count = 0};
    enum error_code rc = memory_new(&other.node, rows->node_count, "the rows of a delta", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&other.start, (size_t)rows->node_count + 1, "the rows of a delta", err);
    if (rc == ERROR_NONE) {
        list_rows(delta, rows, &other);
        const struct topology_held held = {.first_node = rows->first_node,
                                           .node_count = rows->node_count,
                                           .own_edge_count = count_edges(writer, part),
                                           .row_count = other.count,
                                           .edge_count = rows->edge_count,
                                           .row_node = other.node,
                                           .row_start = other.start,
                                           .neighbor = rows->neighbor,
                                           .columns = rows->columns};
        rc = topology_write_delta(writer->store, writer->partition_id, part, delta->record.base,
                                  &held, err);
    }
    memory_free(other.node);
    memory_free(other.start);
    return rc;
}

static enum error_code write_part(const struct part_writer *writer, const struct part_delta *delta,
                                  int part, struct part_rows *rows, struct error *err)
{
    const enum error_code rc = part_rows_sort(rows, part, err);
    const struct topology_arrays arrays = part_rows_arrays(rows, part);
    return rc == ERROR_NONE ? write_rows(writer, delta, part, &arrays, err) : rc;
}

enum error_code part_delta_topologies(const struct part_writer *writer,
                                      const struct part_delta *delta, struct error *err)
{
    const struct part_rows_source source = {
        .store = writer->store,
        .schema = writer->schema,
        .numbering = writer->numbering,
        .in_degree = writer->in_degree,
        .wanted = delta->other,
        .wanted_mark = OTHER_EDGES,
        .budget_bytes = writer->budget_bytes,
    };
    enum error_code rc = ERROR_NONE;
    for (int p = 0; rc == ERROR_NONE && p < writer->numbering->part_count;) {
        struct part_rows rows = {0};
        rc = part_rows_gather(&source, p, &rows, err);
        for (int part = p; rc == ERROR_NONE && part < p + rows.part_count; part++)
            rc = stop_signal_seen() ? error_set(err, ERROR_UNAVAILABLE, "asked to stop")
                                    : write_part(writer, delta, part, &rows, err);
        p += rows.part_count;
        part_rows_release(&rows);
    }
    return rc;
}

/* ---- shards --------------------------------------------------------------------------------------- */

/* Nodes whose row of a tensor is other, by the ids of the partition; and of features the rows of some of them. */
struct other_nodes {
    const struct part_writer *writer;
    const struct part_delta *delta;
    uint32_t *node; /* [count], ascending, owned */
    uint64_t count;
    /* Of features: */
    float *row; /* [capacity, dim], owned: of those from `first` on */
    uint64_t capacity, first;
    void *converted; /* [PIECE_ROWS, dim], owned; NULL: floats are stored as they are */
};

static enum error_code list_nodes(struct other_nodes *o, uint8_t mark, struct error *err)
{
    const uint32_t node_count = o->writer->numbering->node_count;
    for (uint32_t node = 0; node < node_count; node++)
        o->count += (o->delta->other[node] & mark) != 0;
    const enum error_code rc = memory_new(&o->node, o->count, "the nodes of a delta", err);
    uint64_t at = 0;
    for (uint32_t node = 0; rc == ERROR_NONE && node < node_count; node++)
        if (o->delta->other[node] & mark)
            o->node[at++] = node;
    return rc;
}

static enum error_code take_chunk(void *context, const struct feature_chunk *chunk,
                                  struct error *err)
{
    const struct other_nodes *o = context;
    (void)err;
    for (uint32_t i = 0; i < chunk->node_count; i++) {
        const uint32_t node = o->writer->numbering->to_new[chunk->first_node + i];
        if (!(o->delta->other[node] & OTHER_FEATURES))
            continue;
        const uint64_t at = ascending_below(o->node, o->count, node);
        if (at >= o->first && at - o->first < o->capacity)
            memcpy(&o->row[(at - o->first) * chunk->dim], &chunk->row[(size_t)i * chunk->dim],
                   chunk->dim * sizeof *o->row);
    }
    return ERROR_NONE;
}

static int by_number(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* The rows from o->first on, of as many nodes as there is room for. */
static enum error_code fill_window(struct other_nodes *o, struct error *err)
{
    const uint64_t left = o->count - o->first;
    const uint64_t count = left < o->capacity ? left : o->capacity;
    uint32_t *number = NULL;
    enum error_code rc = memory_new(&number, count, "the nodes of a delta", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < count; i++)
        number[i] = o->writer->numbering->to_dataset[o->node[o->first + i]];
    if (rc == ERROR_NONE && count)
        qsort(number, count, sizeof *number, by_number);
    if (rc == ERROR_NONE)
        rc = feature_rows_walk(o->writer->store, o->writer->schema, 0, number, count, take_chunk, o,
                               err);
    memory_free(number);
    return rc;
}

static enum error_code open_features(struct other_nodes *o, struct error *err)
{
    const size_t dim = o->writer->schema->feature_dim;
    const uint64_t rows = o->writer->budget_bytes / (dim * sizeof(float));
    o->capacity = rows < PIECE_ROWS ? PIECE_ROWS : rows;
    o->capacity = o->capacity < o->count ? o->capacity : o->count;
    enum error_code rc =
        memory_new(&o->row, (size_t)o->capacity * dim, "the features of a delta", err);
    if (rc == ERROR_NONE && o->writer->feature_type != TENSOR_F32)
        rc =
            memory_new_bytes(&o->converted, PIECE_ROWS * dim,
                             tensor_type_bytes(o->writer->feature_type), "converted features", err);
    return rc == ERROR_NONE ? fill_window(o, err) : rc;
}

static void release_nodes(struct other_nodes *o)
{
    memory_free(o->node);
    memory_free(o->row);
    memory_free(o->converted);
}

/* At most PIECE_ROWS rows of features, from number `at` on. */
static enum error_code add_features(struct other_nodes *o, uint64_t at, uint32_t count,
                                    struct feature_shard_writer *shard, struct error *err)
{
    const struct part_writer *w = o->writer;
    const size_t dim = w->schema->feature_dim;
    enum error_code rc = ERROR_NONE;
    if (at < o->first || at + count > o->first + o->capacity) {
        o->first = at;
        rc = fill_window(o, err);
    }
    const float *row = &o->row[(at - o->first) * dim];
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        rc = feature_range_check(w->feature_type, row + i * dim, 1, dim,
                                 &w->numbering->to_dataset[o->node[at + i]], err);
    if (rc == ERROR_NONE && o->converted)
        row_conversion_store(o->converted, w->feature_type, row, count * dim);
    return rc == ERROR_NONE
               ? feature_shard_writer_add(shard, o->converted ? o->converted : row, count, err)
               : rc;
}

static enum error_code add_labels(const struct other_nodes *o, const struct node_labels *labels,
                                  uint64_t at, uint32_t count, size_t row_bytes,
                                  struct feature_shard_writer *shard, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint64_t i = at; rc == ERROR_NONE && i < at + count; i++)
        rc = feature_shard_writer_add(shard,
                                      (const char *)labels->row +
                                          o->writer->numbering->to_dataset[o->node[i]] * row_bytes,
                                      1, err);
    return rc;
}

/* One tensor of a part: its rows, and their numbers in the part. `labels`: NULL for features. */
static enum error_code write_tensor(struct other_nodes *o, const struct node_labels *labels,
                                    int part, const struct shard_seal *own, int tensor,
                                    struct feature_shard_writer *shard, struct error *err)
{
    const uint32_t *book = o->writer->numbering->book;
    const uint64_t first = ascending_below(o->node, o->count, book[part]);
    const uint64_t end = ascending_below(o->node, o->count, book[part + 1]);
    const size_t row_bytes = tensor_row_bytes(&own->tensor[tensor]);
    enum error_code rc = feature_shard_writer_begin(shard, &own->tensor[tensor], err);
    for (uint64_t at = first; rc == ERROR_NONE && at < end; at += PIECE_ROWS) {
        const uint32_t count = end - at < PIECE_ROWS ? (uint32_t)(end - at) : PIECE_ROWS;
        rc = labels ? add_labels(o, labels, at, count, row_bytes, shard, err)
                    : add_features(o, at, count, shard, err);
    }
    if (rc == ERROR_NONE)
        rc = feature_shard_writer_begin(shard, &own->tensor[tensor + 1], err);
    for (uint64_t at = first; rc == ERROR_NONE && at < end; at++) {
        const uint32_t number = o->node[at] - book[part];
        rc = feature_shard_writer_add(shard, &number, 1, err);
    }
    return rc;
}

/* Nodes of the part's base that are gone, by their numbers in it. */
static enum error_code write_gone(const struct part_delta *delta, int part,
                                  const struct tensor_spec *tensor,
                                  struct feature_shard_writer *shard, struct error *err)
{
    const struct partition_delta *record = &delta->record;
    const uint32_t from = record->base_book[part];
    const uint64_t first = ascending_below(record->gone, record->gone_count, from);
    enum error_code rc = feature_shard_writer_begin(shard, tensor, err);
    for (uint64_t i = first; rc == ERROR_NONE && i < first + tensor->row_count; i++) {
        const uint32_t number = record->gone[i] - from;
        rc = feature_shard_writer_add(shard, &number, 1, err);
    }
    return rc;
}

/* The shards of all parts. */
struct shard_set {
    const struct part_writer *writer;
    const struct part_delta *delta;
    struct other_nodes features, labelled;
    struct node_labels labels;
};

static uint64_t count_in(const struct other_nodes *o, int part)
{
    const uint32_t *book = o->writer->numbering->book;
    return ascending_below(o->node, o->count, book[part + 1]) -
           ascending_below(o->node, o->count, book[part]);
}

/* What the folder of a part will hold. */
static void describe(const struct shard_set *set, int part, const struct shard_seal *base,
                     struct shard_seal *own)
{
    struct shard_seal of = *base;
    const struct partition_delta *record = &set->delta->record;
    for (int i = 0; i < of.tensor_count; i++)
        of.own.rows[i] = count_in(
            strcmp(of.tensor[i].name, "labels") == 0 ? &set->labelled : &set->features, part);
    of.own.gone = record->base_book[part + 1] - record->base_book[part] -
                  node_shift_left(&set->delta->shift, part);
    shard_seal_own(&of, own);
}

static enum error_code write_shard(struct shard_set *set, int part, struct error *err)
{
    const struct part_writer *w = set->writer;
    const uint32_t *book = w->numbering->book;
    const struct key base_key = key_part(set->delta->record.base, part, "shard");
    struct shard_seal base, own;
    struct feature_shard_writer *shard = NULL;
    enum error_code rc =
        shard_seal_get(w->store, key_part(set->delta->record.base, part, "shard_seal").text,
                       set->delta->record.base, &base, err);
    if (rc == ERROR_NONE)
        rc = feature_shard_writer_new(w->store, key_part(w->partition_id, part, "shard").text,
                                      key_part(w->partition_id, part, "shard_seal").text,
                                      w->partition_id, &shard, err);
    if (rc != ERROR_NONE)
        return rc;
    describe(set, part, &base, &own);
    feature_shard_writer_over(shard, base_key.text, &base, book[part + 1] - book[part]);
    for (int i = 0; rc == ERROR_NONE && i < base.tensor_count; i++) {
        const bool are_labels = strcmp(base.tensor[i].name, "labels") == 0;
        rc = write_tensor(are_labels ? &set->labelled : &set->features,
                          are_labels ? &set->labels : NULL, part, &own, 2 * i, shard, err);
    }
    if (rc == ERROR_NONE)
        rc = write_gone(set->delta, part, &own.tensor[own.tensor_count - 1], shard, err);
    if (rc == ERROR_NONE)
        return feature_shard_writer_finish(shard, err);
    feature_shard_writer_abandon(shard);
    return rc;
}

enum error_code part_delta_shards(const struct part_writer *writer, const struct part_delta *delta,
                                  struct error *err)
{
    const bool has_labels = task_has_labels(writer->schema->task);
    struct shard_set set = {.writer = writer,
                            .delta = delta,
                            .features = {.writer = writer, .delta = delta},
                            .labelled = {.writer = writer, .delta = delta}};
    enum error_code rc = ERROR_NONE;
    if (!writer->schema->feature_dim && !has_labels)
        return ERROR_NONE;
    rc = list_nodes(&set.features, OTHER_FEATURES, err);
    if (rc == ERROR_NONE && writer->schema->feature_dim)
        rc = open_features(&set.features, err);
    if (rc == ERROR_NONE)
        rc = list_nodes(&set.labelled, OTHER_LABEL, err);
    if (rc == ERROR_NONE && has_labels)
        rc = merged_labels_get(writer->store, writer->schema->id, &set.labels, err);
    for (int p = 0; rc == ERROR_NONE && p < writer->numbering->part_count; p++)
        rc = write_shard(&set, p, err);
    release_nodes(&set.features);
    release_nodes(&set.labelled);
    store_release_record(&set.labels.view);
    return rc;
}
