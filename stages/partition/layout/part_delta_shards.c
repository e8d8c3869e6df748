/*
 * Writes the shards of a delta, for each node type. Declared in part_delta.h.
 */
#include "common/base/memory.h"
#include "common/numbers/ascending.h"
#include "stages/partition/layout/feature_window.h"
#include "stages/partition/layout/part_delta.h"
#include "store/features/feature_shard.h"
#include "store/features/row_conversion.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/node_labels.h"
#include "store/records/round/shard_seal.h"
#include "store/versions/merged_records.h"

#include <stdlib.h>
#include <string.h>

/* Rows that are converted at a time. */
enum { PIECE_ROWS = 256 };

/* The nodes of a type whose row of a tensor has changed, by partition ids, with the rows of some of
 * them if the tensor has features. */
struct other_nodes {
    const struct part_writer *writer;
    const struct part_delta *delta;
    uint32_t type;
    size_t dim;     /* of features; 0: the tensor has labels */
    uint32_t *node; /* [count], ascending, owned */
    uint64_t count;
    /* Only for features: */
    float *row; /* [capacity, dim], owned: rows of the nodes from `first` on */
    uint64_t capacity, first;
    /* [PIECE_ROWS, dim], owned; NULL: floats are stored without conversion. */
    void *converted;
};

/* The range of the nodes of the type in a part. */
struct node_span {
    uint32_t first, end;
};

static struct node_span span_of(const struct other_nodes *o, int part)
{
    const struct type_ranges ranges = numbering_ranges(o->writer->numbering);
    return (struct node_span){type_ranges_first(&ranges, part, o->type),
                              type_ranges_first(&ranges, part, o->type + 1)};
}

static enum error_code list_nodes(struct other_nodes *o, uint8_t mark, struct error *err)
{
    const int parts = o->writer->numbering->part_count;
    for (int p = 0; p < parts; p++)
        for (uint32_t node = span_of(o, p).first; node < span_of(o, p).end; node++)
            o->count += (o->delta->other[node] & mark) != 0;
    const enum error_code rc = memory_new(&o->node, o->count, "the nodes of a delta", err);
    uint64_t at = 0;
    for (int p = 0; rc == ERROR_NONE && p < parts; p++)
        for (uint32_t node = span_of(o, p).first; node < span_of(o, p).end; node++)
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

/* Reads the rows from o->first on, for as many nodes as there is room for. */
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
        rc = feature_rows_walk(o->writer->store, o->writer->schema, o->type, number, count,
                               take_chunk, o, err);
    memory_free(number);
    return rc;
}

static enum error_code open_features(struct other_nodes *o, struct error *err)
{
    const size_t dim = o->dim;
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

/* Adds at most PIECE_ROWS rows of features, from index `at` on. */
static enum error_code add_features(struct other_nodes *o, uint64_t at, uint32_t count,
                                    struct feature_shard_writer *shard, struct error *err)
{
    const struct part_writer *w = o->writer;
    const size_t dim = o->dim;
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

/* Writes one tensor of a part: its rows, and their numbers in the part. `labels`: NULL for
 * features. */
static enum error_code write_tensor(struct other_nodes *o, const struct node_labels *labels,
                                    int part, const struct shard_seal *own, int tensor,
                                    struct feature_shard_writer *shard, struct error *err)
{
    const struct node_span span = span_of(o, part);
    const uint64_t first = ascending_below(o->node, o->count, span.first);
    const uint64_t end = ascending_below(o->node, o->count, span.end);
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
        const uint32_t number = o->node[at] - span.first;
        rc = feature_shard_writer_add(shard, &number, 1, err);
    }
    return rc;
}

/* The shards of a node type in all parts. */
struct shard_set {
    const struct part_writer *writer;
    const struct part_delta *delta;
    uint32_t type;
    struct other_nodes features, labelled;
    const struct node_labels *labels; /* labels of the type; NULL: it has none */
};

static struct key shard_key(const struct shard_set *set, const char *partition_id, int part,
                            const char *name)
{
    return key_part_type(partition_id, part, set->type, name);
}

/* Writes the nodes of the type that are gone from the part's base, by their numbers in the base. */
static enum error_code write_gone(const struct shard_set *set, int part,
                                  const struct tensor_spec *tensor,
                                  struct feature_shard_writer *shard, struct error *err)
{
    const struct partition_delta *record = &set->delta->record;
    const struct type_ranges ranges = partition_delta_ranges(record);
    const uint32_t from = type_ranges_first(&ranges, part, set->type);
    const uint64_t first = ascending_below(record->gone, record->gone_count, from);
    enum error_code rc = feature_shard_writer_begin(shard, tensor, err);
    for (uint64_t i = first; rc == ERROR_NONE && i < first + tensor->row_count; i++) {
        const uint32_t number = record->gone[i] - from;
        rc = feature_shard_writer_add(shard, &number, 1, err);
    }
    return rc;
}

static uint64_t count_in(const struct other_nodes *o, int part)
{
    const struct node_span span = span_of(o, part);
    return ascending_below(o->node, o->count, span.end) -
           ascending_below(o->node, o->count, span.first);
}

/* Describes what the folder of a part will contain. */
static void describe(const struct shard_set *set, int part, const struct shard_seal *base,
                     struct shard_seal *own)
{
    struct shard_seal of = *base;
    const struct type_ranges ranges = partition_delta_ranges(&set->delta->record);
    for (int i = 0; i < of.tensor_count; i++)
        of.own.rows[i] = count_in(
            strcmp(of.tensor[i].name, "labels") == 0 ? &set->labelled : &set->features, part);
    of.own.gone = type_ranges_count(&ranges, part, set->type) -
                  node_shift_left(&set->delta->shift, part, set->type);
    shard_seal_own(&of, own);
}

static enum error_code write_shard(struct shard_set *set, int part, struct error *err)
{
    const struct part_writer *w = set->writer;
    const struct node_span span = span_of(&set->features, part);
    const char *base_id = set->delta->record.base;
    struct shard_seal base, own;
    struct feature_shard_writer *shard = NULL;
    enum error_code rc = shard_seal_get(w->store, shard_key(set, base_id, part, "shard_seal").text,
                                        base_id, &base, err);
    if (rc == ERROR_NONE)
        rc = feature_shard_writer_new(w->store, shard_key(set, w->partition_id, part, "shard").text,
                                      shard_key(set, w->partition_id, part, "shard_seal").text,
                                      w->partition_id, &shard, err);
    if (rc != ERROR_NONE)
        return rc;
    describe(set, part, &base, &own);
    feature_shard_writer_over(shard, shard_key(set, base_id, part, "shard").text, &base,
                              span.end - span.first);
    for (int i = 0; rc == ERROR_NONE && i < base.tensor_count; i++) {
        const bool are_labels = strcmp(base.tensor[i].name, "labels") == 0;
        rc = write_tensor(are_labels ? &set->labelled : &set->features,
                          are_labels ? set->labels : NULL, part, &own, 2 * i, shard, err);
    }
    if (rc == ERROR_NONE)
        rc = write_gone(set, part, &own.tensor[own.tensor_count - 1], shard, err);
    if (rc == ERROR_NONE)
        return feature_shard_writer_finish(shard, err);
    feature_shard_writer_abandon(shard);
    return rc;
}

/* Writes the shards of a type in all parts. A type without features and labels has none. */
static enum error_code write_type(const struct part_writer *writer, const struct part_delta *delta,
                                  uint32_t type, const struct node_labels *labels,
                                  struct error *err)
{
    const struct other_nodes nodes = {.writer = writer,
                                      .delta = delta,
                                      .type = type,
                                      .dim = dataset_type(writer->schema, type).feature_dim};
    struct shard_set set = {.writer = writer,
                            .delta = delta,
                            .type = type,
                            .features = nodes,
                            .labelled = nodes,
                            .labels = labels};
    if (!nodes.dim && !labels)
        return ERROR_NONE;
    enum error_code rc = list_nodes(&set.features, OTHER_FEATURES, err);
    if (rc == ERROR_NONE && nodes.dim)
        rc = open_features(&set.features, err);
    if (rc == ERROR_NONE)
        rc = list_nodes(&set.labelled, OTHER_LABEL, err);
    for (int p = 0; rc == ERROR_NONE && p < writer->numbering->part_count; p++)
        rc = write_shard(&set, p, err);
    release_nodes(&set.features);
    release_nodes(&set.labelled);
    return rc;
}

enum error_code part_delta_shards(const struct part_writer *writer, const struct part_delta *delta,
                                  struct error *err)
{
    const struct dataset_schema *schema = writer->schema;
    const bool has_labels = task_has(schema->task, TASK_LABELS_NODES);
    struct node_labels labels = {0};
    enum error_code rc = ERROR_NONE;
    if (has_labels)
        rc = merged_labels_get(writer->store, schema->id, &labels, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < dataset_type_count(schema); t++)
        rc = write_type(writer, delta, t, has_labels && t == schema->target_type ? &labels : NULL,
                        err);
    store_release_record(&labels.view);
    return rc;
}
