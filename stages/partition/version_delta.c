#include "stages/partition/version_delta.h"

#include "common/base/checksum.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/partition/layout/edge_walk.h"
#include "stages/partition/layout/feature_window.h"
#include "stages/partition/version_numbering.h"
#include "store/features/feature_shard.h"
#include "store/features/row_conversion.h"
#include "store/records/dataset_delta.h"
#include "store/records/feature_chunk.h"
#include "store/records/node_labels.h"
#include "store/records/shard_seal.h"
#include "store/versions/merged_parts.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <string.h>

enum { ENDS_BYTES = 2 * sizeof(uint32_t), OTHER_ALL = OTHER_EDGES | OTHER_FEATURES | OTHER_LABEL };

struct comparison {
    const struct partition_input *input;
    const struct delta_base *base;
    const struct numbering *numbering;
    enum tensor_type feature_type;
    struct part_delta *delta;
    struct partition_book book; /* of the base */
    uint32_t *base_node;        /* [node_count] by the version's ids: the base's, or NO_ORIGIN */
    uint64_t *sum;              /* [node_count] likewise */
    char *bytes;                /* of an edge, or of a row */
    bool fits;                  /* so far: the version may be a delta */
};

/* ---- which nodes are which ------------------------------------------------------------------------- */

/* Where the nodes of the version stood in the dataset of the base. */
static enum error_code trace_back(const struct comparison *c, uint32_t *origin, struct error *err)
{
    const uint32_t node_count = c->numbering->node_count;
    char id[ID_SIZE];
    enum error_code rc = ERROR_NONE;
    (void)text_copy(id, sizeof id, c->input->schema.id);
    for (uint32_t i = 0; i < node_count; i++)
        origin[i] = i;
    while (rc == ERROR_NONE && strcmp(id, c->base->dataset_id) != 0) {
        struct dataset_delta delta;
        rc = dataset_delta_get(c->input->context->store, id, &delta, err);
        if (rc != ERROR_NONE)
            return rc;
        version_step_down(&delta, origin, node_count);
        (void)text_copy(id, sizeof id, delta.base);
        store_release_record(&delta.view);
    }
    for (uint32_t i = 0; i < node_count; i++)
        if (origin[i] != NO_ORIGIN && origin[i] >= c->book.node_count)
            return error_set(
                err, ERROR_CORRUPT,
                "dataset %s: node %" PRIu32 " was %" PRIu32 " of %s, expected below %" PRIu32,
                c->input->schema.id, i, origin[i], c->base->dataset_id, c->book.node_count);
    return ERROR_NONE;
}

static enum error_code match_nodes(struct comparison *c, struct error *err)
{
    const uint32_t node_count = c->numbering->node_count;
    struct node_permutation permutation = {0};
    uint32_t *origin = NULL;
    enum error_code rc = memory_new(&origin, node_count, "the nodes of a base", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&c->base_node, node_count, "the nodes of a base", err);
    if (rc == ERROR_NONE)
        rc = trace_back(c, origin, err);
    if (rc == ERROR_NONE)
        rc = merged_permutation_get(c->input->context->store, c->base->partition_id,
                                    c->book.node_count, &permutation, err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < node_count; node++) {
        const uint32_t of = origin[c->numbering->to_dataset[node]];
        c->base_node[node] = of == NO_ORIGIN ? NO_ORIGIN : permutation.to_partition[of];
    }
    store_release_record(&permutation.view);
    memory_free(origin);
    return rc;
}

/* The nodes of part `part` that the base has not; -1: they are not behind the others, or those are in another order or part. */
static int64_t count_added(const struct comparison *c, int part)
{
    const uint32_t end = c->numbering->book[part + 1];
    uint32_t node = c->numbering->book[part], last = c->book.book[part];
    for (; node < end && c->base_node[node] != NO_ORIGIN; node++) {
        if (c->base_node[node] < last || c->base_node[node] >= c->book.book[part + 1])
            return -1;
        last = c->base_node[node] + 1;
    }
    for (uint32_t added = node; added < end; added++)
        if (c->base_node[added] != NO_ORIGIN)
            return -1;
    return end - node;
}

/* The nodes of the base that no node of the version was, ascending as these do. */
static void list_gone(const struct comparison *c, uint32_t *gone, uint32_t *count)
{
    uint32_t next = 0;
    *count = 0;
    for (uint32_t node = 0; node < c->numbering->node_count; node++) {
        if (c->base_node[node] == NO_ORIGIN)
            continue;
        while (next < c->base_node[node])
            gone[(*count)++] = next++;
        next++;
    }
    while (next < c->book.node_count)
        gone[(*count)++] = next++;
}

static enum error_code describe(struct comparison *c, struct error *err)
{
    struct part_delta *delta = c->delta;
    const size_t parts = (size_t)c->numbering->part_count;
    uint64_t added = 0;
    enum error_code rc = memory_new(&delta->base_book, parts + 1, "the parts of a base", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&delta->added, parts, "the parts of a base", err);
    for (size_t p = 0; rc == ERROR_NONE && c->fits && p < parts; p++) {
        const int64_t count = count_added(c, (int)p);
        c->fits = count >= 0;
        delta->added[p] = c->fits ? (uint32_t)count : 0;
        added += delta->added[p];
    }
    if (rc != ERROR_NONE || !c->fits)
        return rc;
    const uint64_t left = c->numbering->node_count - added;
    memcpy(delta->base_book, c->book.book, (parts + 1) * sizeof *delta->base_book);
    delta->record = (struct partition_delta){
        .part_count = (int)parts, .base_book = delta->base_book, .added = delta->added};
    must(text_copy(delta->record.base, ID_SIZE, c->base->partition_id));
    rc = memory_new(&delta->gone, c->book.node_count - left, "the nodes that are gone", err);
    if (rc != ERROR_NONE)
        return rc;
    list_gone(c, delta->gone, &delta->record.gone_count);
    delta->record.gone = delta->gone;
    return node_shift_init(&delta->shift, &delta->record, err);
}

/* ---- edges ------------------------------------------------------------------------------------------- */

static void mark(const struct comparison *c, uint32_t node, uint8_t what)
{
    c->delta->other[node] |= what;
}

/* Of an edge whose columns are in c->bytes already. */
static uint64_t edge_hash(const struct comparison *c, uint32_t source, size_t size)
{
    memcpy(c->bytes, &source, sizeof source);
    return checksum_64(c->bytes, size);
}

static enum error_code add_chunk(void *context, const struct edge_chunk *chunk, struct error *err)
{
    const struct comparison *c = context;
    const size_t size = ENDS_BYTES + edge_widths_bytes(&chunk->columns.width);
    (void)err;
    for (uint32_t row = 0; row < chunk->node_count; row++) {
        const uint32_t node = c->numbering->to_new[chunk->first_node + row];
        if (c->base_node[node] == NO_ORIGIN)
            continue;
        for (uint64_t e = chunk->row_start[row]; e < chunk->row_start[row + 1]; e++) {
            edge_columns_pack(&chunk->columns, e, c->bytes + ENDS_BYTES);
            c->sum[node] += edge_hash(c, c->numbering->to_new[chunk->neighbor[e]], size);
        }
    }
    return ERROR_NONE;
}

static void pack(const struct topology_part *part, uint64_t edge, char *bytes)
{
    for (int col = 0; col < EDGE_COLUMN_COUNT; col++) {
        const size_t size = edge_column_bytes((enum edge_column)col, part->width.of[col]);
        if (size)
            memcpy(bytes, topology_column(part, (enum edge_column)col, edge), size);
        bytes += size;
    }
}

/* Takes the edges of a row of the base from the sum of its node. */
static void take_row(const struct comparison *c, const struct topology *topology,
                     const struct topology_part *part, uint32_t row, uint32_t node)
{
    const struct node_shift *shift = &c->delta->shift;
    const size_t size = ENDS_BYTES + edge_widths_bytes(&part->width);
    const uint64_t from = topology_row_start(part, row), end = topology_row_start(part, row + 1);
    if (end - from != c->input->in_degree[c->numbering->to_dataset[node]]) {
        mark(c, node, OTHER_EDGES);
        return;
    }
    for (uint64_t e = from; e < end; e++) {
        const uint32_t source = *topology_neighbor(part, e);
        if (source >= topology->node_count || node_shift_is_gone(shift, source)) {
            mark(c, node, OTHER_EDGES);
            return;
        }
        pack(part, e, c->bytes + ENDS_BYTES);
        c->sum[node] -=
            edge_hash(c, node_shift_of(shift, topology_part_of(topology, source), source), size);
    }
}

static enum error_code take_base(const struct comparison *c, const struct topology *topology,
                                 struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int p = 0; rc == ERROR_NONE && p < topology->part_count; p++) {
        const struct topology_part *part = topology_rows(topology, p, 0);
        uint32_t node = c->numbering->book[p];
        rc = topology_open_part(topology, p, err);
        for (uint32_t row = 0; rc == ERROR_NONE && row < part->node_count; row++)
            if (!node_shift_is_gone(&c->delta->shift, part->first_node + row))
                take_row(c, topology, part, row, node++);
    }
    return rc;
}

static enum error_code compare_edges(struct comparison *c, struct error *err)
{
    struct store *store = c->input->context->store;
    const struct dataset_schema *schema = &c->input->schema;
    struct topology topology = {0};
    enum error_code rc = topology_open(store, &c->book, &topology, err);
    if (rc != ERROR_NONE)
        return rc;
    c->fits = !topology.is_delta && !topology.is_vertex_cut &&
              edge_widths_equal(&topology.width, &schema->edge_width);
    if (c->fits)
        rc = memory_new(&c->bytes, ENDS_BYTES + edge_widths_bytes(&schema->edge_width), "an edge",
                        err);
    if (rc == ERROR_NONE && c->fits)
        rc = edge_walk(store, schema, add_chunk, c, err);
    if (rc == ERROR_NONE && c->fits)
        rc = take_base(c, &topology, err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < c->numbering->node_count; node++)
        if (c->sum[node])
            mark(c, node, OTHER_EDGES);
    topology_close(&topology);
    memory_free(c->bytes);
    c->bytes = NULL;
    return rc;
}

/* ---- rows of features, labels ------------------------------------------------------------------------ */

static enum error_code hash_chunk(void *context, const struct feature_chunk *chunk,
                                  struct error *err)
{
    const struct comparison *c = context;
    const size_t size = chunk->dim * tensor_type_bytes(c->feature_type);
    (void)err;
    for (uint32_t i = 0; i < chunk->node_count; i++) {
        const float *row = &chunk->row[(size_t)i * chunk->dim];
        const uint32_t node = c->numbering->to_new[chunk->first_node + i];
        if (c->feature_type != TENSOR_F32)
            row_conversion_store(c->bytes, c->feature_type, row, chunk->dim);
        c->sum[node] =
            checksum_64(c->feature_type == TENSOR_F32 ? (const void *)row : c->bytes, size);
    }
    return ERROR_NONE;
}

/* Rows of one tensor of a part of the base, block by block. */
struct row_comparison {
    const struct comparison *c;
    const struct node_labels *labels; /* NULL: of features */
    uint32_t base_first, node; /* the node of the version that the next row which is left is of */
};

static void compare_row(const struct row_comparison *r, const char *row, size_t size)
{
    const struct comparison *c = r->c;
    if (!r->labels && checksum_64(row, size) != c->sum[r->node])
        mark(c, r->node, OTHER_FEATURES);
    if (r->labels &&
        memcmp(row, (const char *)r->labels->row + c->numbering->to_dataset[r->node] * size,
               size) != 0)
        mark(c, r->node, OTHER_LABEL);
}

static enum error_code compare_tensor(struct row_comparison *r, struct feature_shard *shard,
                                      const struct tensor_spec *tensor, struct error *err)
{
    const size_t size = tensor_row_bytes(tensor);
    const uint64_t blocks = (tensor->row_count + FEATURE_BLOCK_ROWS - 1) / FEATURE_BLOCK_ROWS;
    enum error_code rc = ERROR_NONE;
    for (uint64_t block = 0; rc == ERROR_NONE && block < blocks; block++) {
        struct feature_pin pin = {0};
        rc = feature_shard_pin(shard, tensor->name, block, &pin, err);
        for (uint32_t i = 0; rc == ERROR_NONE && i < pin.row_count; i++) {
            const uint32_t row = (uint32_t)(block * FEATURE_BLOCK_ROWS) + i;
            if (node_shift_is_gone(&r->c->delta->shift, r->base_first + row))
                continue;
            compare_row(r, (const char *)pin.rows + i * size, size);
            r->node++;
        }
        feature_pin_release(&pin);
    }
    return rc;
}

/* The tensors of a part of the base are those that the version's is to have. */
static bool has_same_tensors(const struct comparison *c, const struct shard_seal *seal, int part,
                             uint32_t label_width)
{
    const uint32_t dim = c->input->schema.feature_dim;
    const int features = shard_seal_find(seal, "features"),
              labels = shard_seal_find(seal, "labels");
    const uint64_t rows = c->book.book[part + 1] - c->book.book[part];
    bool same = !seal->is_delta && (features >= 0) == (dim > 0) &&
                (labels >= 0) == (label_width > 0) &&
                seal->tensor_count == (dim > 0) + (label_width > 0);
    if (same && dim)
        same = seal->tensor[features].dim == dim &&
               seal->tensor[features].type == c->feature_type &&
               seal->tensor[features].row_count == rows;
    if (same && label_width)
        same = seal->tensor[labels].dim == label_width && seal->tensor[labels].row_count == rows;
    return same;
}

static enum error_code compare_shard(struct comparison *c, const struct node_labels *labels,
                                     uint32_t label_width, int part, struct error *err)
{
    struct store *store = c->input->context->store;
    const struct key key = key_part(c->book.id, part, "shard");
    const struct key seal_key = key_part(c->book.id, part, "shard_seal");
    struct feature_shard *shard = NULL;
    struct shard_seal seal;
    enum error_code rc = shard_seal_get(store, seal_key.text, c->book.id, &seal, err);
    if (rc != ERROR_NONE)
        return rc;
    c->fits = has_same_tensors(c, &seal, part, label_width);
    if (!c->fits)
        return rc;
    rc = feature_shard_open(store, key.text, seal_key.text, c->book.id, &shard, err);
    for (int i = 0; rc == ERROR_NONE && i < seal.tensor_count; i++) {
        struct row_comparison r = {.c = c,
                                   .labels =
                                       strcmp(seal.tensor[i].name, "labels") == 0 ? labels : NULL,
                                   .base_first = c->book.book[part],
                                   .node = c->numbering->book[part]};
        rc = compare_tensor(&r, shard, &seal.tensor[i], err);
    }
    feature_shard_close(shard);
    return rc;
}

static enum error_code compare_rows(struct comparison *c, struct error *err)
{
    struct store *store = c->input->context->store;
    const struct dataset_schema *schema = &c->input->schema;
    const struct task *task = task_has_labels(schema->task) ? task_of(schema->task) : NULL;
    const uint32_t label_width = task ? task->label_width(schema->class_count) : 0;
    struct node_labels labels = {0};
    enum error_code rc = ERROR_NONE;
    if (task)
        rc = merged_labels_get(store, schema->id, &labels, err);
    if (rc == ERROR_NONE && task && labels.node_count != schema->node_count)
        rc = error_set(err, ERROR_CORRUPT, "%s: not the labels that the schema describes",
                       key_dataset(schema->id, "labels").text);
    if (rc == ERROR_NONE && schema->feature_dim)
        rc = memory_new(&c->bytes, (size_t)schema->feature_dim * sizeof(float), "a row", err);
    if (rc == ERROR_NONE && schema->feature_dim)
        rc = feature_walk(store, schema, 0, hash_chunk, c, err);
    for (int p = 0; rc == ERROR_NONE && c->fits && p < c->numbering->part_count; p++)
        if (schema->feature_dim || task)
            rc = compare_shard(c, &labels, label_width, p, err);
    store_release_record(&labels.view);
    memory_free(c->bytes);
    c->bytes = NULL;
    return rc;
}

/* ---- how much -------------------------------------------------------------------------------------------- */

/* Bytes of what is other, and of all: of rows, with four for the number of each, and of edges. */
static double share_of(const struct comparison *c)
{
    const struct dataset_schema *schema = &c->input->schema;
    const struct task *task = task_has_labels(schema->task) ? task_of(schema->task) : NULL;
    const uint64_t edge_bytes = sizeof(uint32_t) + edge_widths_bytes(&schema->edge_width);
    const uint64_t row_bytes = schema->feature_dim * tensor_type_bytes(c->feature_type);
    const uint64_t label_bytes = task ? task->label_width(schema->class_count) * 4 : 0;
    const uint32_t node_count = c->numbering->node_count;
    uint64_t other = 0;
    for (uint32_t node = 0; node < node_count; node++) {
        const uint8_t what = c->delta->other[node];
        if (what & OTHER_EDGES)
            other += sizeof(uint32_t) + sizeof(uint64_t) +
                     c->input->in_degree[c->numbering->to_dataset[node]] * edge_bytes;
        if (row_bytes && (what & OTHER_FEATURES))
            other += sizeof(uint32_t) + row_bytes;
        if (label_bytes && (what & OTHER_LABEL))
            other += sizeof(uint32_t) + label_bytes;
    }
    const uint64_t all =
        schema->edge_count * edge_bytes + node_count * (sizeof(uint64_t) + row_bytes + label_bytes);
    return (double)other / (double)all;
}

static enum error_code compare(struct comparison *c, struct error *err)
{
    enum error_code rc =
        memory_new(&c->delta->other, c->numbering->node_count, "what has changed", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&c->sum, c->numbering->node_count, "the hashes of rows", err);
    if (rc == ERROR_NONE)
        rc = compare_edges(c, err);
    if (rc == ERROR_NONE && c->fits)
        rc = compare_rows(c, err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < c->numbering->node_count; node++)
        if (c->base_node[node] == NO_ORIGIN)
            mark(c, node, OTHER_ALL);
    return rc;
}

/* *is_delta. */
static enum error_code decide(struct comparison *c, bool *is_delta, struct error *err)
{
    const double compact = c->input->context->settings->partition.compact;
    const double share = c->fits ? share_of(c) : 1.0;
    *is_delta = c->fits && share <= compact;
    log_info("version base=%s changed_share=%.4f form=%s", c->base->partition_id, share,
             *is_delta ? "delta" : "whole");
    if (c->base->is_chosen && !*is_delta)
        return error_set(err, ERROR_CORRUPT,
                         "partition %s: its files are a delta of %s, but what is other in it is "
                         "%.4f: expected at most partition.compact, %g",
                         c->input->id, c->base->partition_id, share, compact);
    return ERROR_NONE;
}

enum error_code version_delta_plan(const struct partition_input *input,
                                   const struct delta_base *base, const struct numbering *numbering,
                                   enum tensor_type feature_type, struct part_delta *out,
                                   bool *is_delta, struct error *err)
{
    struct comparison c = {.input = input,
                           .base = base,
                           .numbering = numbering,
                           .feature_type = feature_type,
                           .delta = out,
                           .fits = true};
    *is_delta = false;
    *out = (struct part_delta){.record = {.base = ""}};
    enum error_code rc =
        partition_book_get(input->context->store, base->partition_id, &c.book, err);
    if (rc == ERROR_NONE)
        c.fits = c.book.part_count == numbering->part_count && !c.book.type_count;
    if (rc == ERROR_NONE && c.fits)
        rc = match_nodes(&c, err);
    if (rc == ERROR_NONE && c.fits)
        rc = describe(&c, err);
    if (rc == ERROR_NONE && c.fits)
        rc = compare(&c, err);
    if (rc == ERROR_NONE)
        rc = decide(&c, is_delta, err);
    memory_free(c.base_node);
    memory_free(c.sum);
    store_release_record(&c.book.view);
    return rc;
}
