#include "stages/partition/version_comparison.h"

#include "common/base/memory.h"
#include "common/files/checksum.h"
#include "stages/partition/layout/edge_walk.h"
#include "stages/partition/layout/feature_window.h"
#include "stages/partition/version_delta.h"
#include "store/features/feature_shard.h"
#include "store/features/row_conversion.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/node_labels.h"
#include "store/records/round/shard_seal.h"
#include "store/topology/topology.h"
#include "store/versions/delta_numbers.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <string.h>

enum { ENDS_BYTES = 2 * sizeof(uint32_t), OTHER_ALL = OTHER_EDGES | OTHER_FEATURES | OTHER_LABEL };

/* --- edges --- */

static void mark(const struct version_comparison *c, uint32_t node, uint8_t what)
{
    c->delta->other[node] |= what;
}

/* Returns the hash of an edge whose columns are in c->bytes already. */
static uint64_t edge_hash(const struct version_comparison *c, uint32_t source, size_t size)
{
    memcpy(c->bytes, &source, sizeof source);
    return checksum_64(c->bytes, size);
}

static uint32_t relation_of(const struct version_comparison *c, const struct edge_chunk *chunk,
                            uint64_t edge)
{
    const uint16_t *type = chunk->columns.data[EDGE_TYPE];
    return dataset_relation_count(&c->input->schema) > 1 && type ? type[edge] : 0;
}

static enum error_code add_chunk(void *context, const struct edge_chunk *chunk, struct error *err)
{
    const struct version_comparison *c = context;
    const size_t size = ENDS_BYTES + edge_widths_bytes(&chunk->columns.width);
    for (uint32_t row = 0; row < chunk->node_count; row++) {
        const uint32_t node = c->numbering->to_new[chunk->first_node + row];
        if (c->base_node[node] == DELTA_GONE)
            continue;
        for (uint64_t e = chunk->row_start[row]; e < chunk->row_start[row + 1]; e++) {
            const uint32_t relation = relation_of(c, chunk, e);
            if (relation >= partition_book_relations(&c->book))
                return error_set(err, ERROR_CORRUPT,
                                 "dataset %s: an edge has relation %" PRIu32
                                 ", expected below %" PRIu32,
                                 c->input->schema.id, relation, partition_book_relations(&c->book));
            edge_columns_pack(&chunk->columns, e, c->bytes + ENDS_BYTES);
            *row_sums_at(&c->rows, node, relation) +=
                edge_hash(c, c->numbering->to_new[chunk->neighbor[e]], size);
        }
    }
    return ERROR_NONE;
}

/* Packs the columns of an edge as the dataset has them: there an edge of a graph with relations has
 * its relation as a column. */
static void pack(const struct version_comparison *c, const struct topology_part *part,
                 uint16_t relation, uint64_t edge)
{
    const struct edge_widths *width = &c->input->schema.edge_width;
    char *bytes = c->bytes + ENDS_BYTES;
    for (int col = 0; col < EDGE_COLUMN_COUNT; col++) {
        const size_t size = edge_column_bytes((enum edge_column)col, width->of[col]);
        if (size && !part->width.of[col])
            memcpy(bytes, &relation, sizeof relation);
        else if (size)
            memcpy(bytes, topology_column(part, (enum edge_column)col, edge), size);
        bytes += size;
    }
}

/* Subtracts the edges of a row of the base from the sum of its node. */
static void take_row(const struct version_comparison *c, uint32_t relation,
                     const struct topology_part *part, uint32_t row, uint32_t node)
{
    const struct node_shift *shift = &c->delta->shift;
    const struct type_ranges ranges = partition_book_ranges(&c->book);
    const uint32_t type = partition_book_relation(&c->book, relation)->source_type;
    const size_t size = ENDS_BYTES + edge_widths_bytes(&c->input->schema.edge_width);
    const uint64_t end = topology_row_start(part, row + 1);
    for (uint64_t e = topology_row_start(part, row); e < end; e++) {
        const uint32_t source = *topology_neighbor(part, e);
        if (source >= c->book.node_count || node_shift_is_gone(shift, source)) {
            row_sums_mark(&c->rows, node, relation);
            return;
        }
        pack(c, part, (uint16_t)relation, e);
        *row_sums_at(&c->rows, node, relation) -= edge_hash(
            c, node_shift_of(shift, type_ranges_part(&ranges, source), type, source), size);
    }
}

/* Subtracts the rows of a relation in a part of the base. */
static void take_rows(const struct version_comparison *c, const struct topology *topology, int part,
                      uint32_t relation)
{
    const struct topology_part *rows = topology_rows(topology, part, relation);
    const struct type_ranges ranges = numbering_ranges(c->numbering);
    uint32_t node =
        type_ranges_first(&ranges, part, partition_book_relation(&c->book, relation)->target_type);
    for (uint32_t row = 0; row < rows->node_count; row++) {
        if (node_shift_is_gone(&c->delta->shift, rows->first_node + row))
            continue;
        if (row_sums_has(&c->rows, node))
            take_row(c, relation, rows, row, node);
        node++;
    }
}

static enum error_code take_base(const struct version_comparison *c,
                                 const struct topology *topology, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int p = 0; rc == ERROR_NONE && p < topology->part_count; p++) {
        rc = topology_open_part(topology, p, err);
        for (uint32_t r = 0; rc == ERROR_NONE && r < topology_relations(topology); r++)
            take_rows(c, topology, p, r);
    }
    return rc;
}

/* Begins the sums of these nodes of the dataset. */
static enum error_code begin_sums(struct version_comparison *c, const uint32_t *node,
                                  uint64_t count, struct error *err)
{
    const enum error_code rc = row_sums_init(&c->rows, c->numbering->node_count, (uint32_t)count,
                                             c->delta->relation_of_row, c->relation_width, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        c->rows.slot[c->numbering->to_new[node ? node[i] : i]] = i;
    return rc;
}

/* Adds the edges of the version. */
static enum error_code add_version(struct version_comparison *c, const struct topology *topology,
                                   struct error *err)
{
    struct store *store = c->input->context->store;
    uint32_t *node = NULL;
    uint64_t count = 0;
    if (c->reads_all) {
        const enum error_code rc = begin_sums(c, NULL, c->numbering->node_count, err);
        return rc == ERROR_NONE ? edge_walk(store, &c->input->schema, add_chunk, c, err) : rc;
    }
    enum error_code rc = changed_nodes_add_neighbors(&c->changed, c->delta, &c->book, topology,
                                                     c->input->schema.undirected, err);
    if (rc == ERROR_NONE)
        rc = changed_nodes_list(&c->changed, TOUCHED_EDGES, 0, c->numbering->node_count, &node,
                                &count, err);
    if (rc == ERROR_NONE)
        rc = begin_sums(c, node, count, err);
    if (rc == ERROR_NONE)
        rc = edge_rows_walk(store, &c->input->schema, node, count, add_chunk, c, err);
    memory_free(node);
    return rc;
}

/* Returns the relations whose rows of a node are new or have changed. */
static uint64_t other_relations(const struct version_comparison *c, uint32_t node)
{
    return c->base_node[node] == DELTA_GONE ? UINT64_MAX : row_sums_other(&c->rows, node);
}

/* Lists the rows that have changed. */
static enum error_code list_rows(struct version_comparison *c, struct error *err)
{
    struct part_delta *delta = c->delta;
    for (uint32_t node = 0; node < c->numbering->node_count; node++)
        if (other_relations(c, node)) {
            mark(c, node, OTHER_EDGES);
            delta->row_count++;
        }
    enum error_code rc = memory_new(&delta->row_node, delta->row_count, "rows of a delta", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&delta->row_relations, delta->row_count, "rows of a delta", err);
    uint32_t at = 0;
    for (uint32_t node = 0; rc == ERROR_NONE && node < c->numbering->node_count; node++)
        if (delta->other[node] & OTHER_EDGES) {
            delta->row_node[at] = node;
            delta->row_relations[at++] = other_relations(c, node);
        }
    return rc;
}

static enum error_code compare_edges(struct version_comparison *c, struct error *err)
{
    struct store *store = c->input->context->store;
    const struct dataset_schema *schema = &c->input->schema;
    struct topology topology = {0};
    const struct edge_widths width = dataset_edge_widths(schema);
    enum error_code rc = topology_open(store, &c->book, &topology, err);
    if (rc != ERROR_NONE)
        return rc;
    c->fits =
        !topology.is_delta && !topology.is_vertex_cut && edge_widths_equal(&topology.width, &width);
    if (c->fits)
        rc = memory_new(&c->bytes, ENDS_BYTES + edge_widths_bytes(&schema->edge_width), "an edge",
                        err);
    if (rc == ERROR_NONE && c->fits)
        rc = add_version(c, &topology, err);
    if (rc == ERROR_NONE && c->fits)
        rc = take_base(c, &topology, err);
    if (rc == ERROR_NONE && c->fits)
        rc = list_rows(c, err);
    row_sums_release(&c->rows);
    topology_close(&topology);
    memory_free(c->bytes);
    c->bytes = NULL;
    return rc;
}

/* --- rows of features, labels --- */

static enum error_code hash_chunk(void *context, const struct feature_chunk *chunk,
                                  struct error *err)
{
    const struct version_comparison *c = context;
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

/* Compares the rows of one tensor of a part of the base, block by block. */
struct row_comparison {
    const struct version_comparison *c;
    const struct node_labels *labels; /* NULL: the tensor has features */
    uint32_t base_first, node;        /* the version's node of the next row that is left */
};

static void compare_row(const struct row_comparison *r, const char *row, size_t size)
{
    const struct version_comparison *c = r->c;
    if (!r->labels && checksum_64(row, size) != c->sum[r->node])
        mark(c, r->node, OTHER_FEATURES);
    if (r->labels &&
        memcmp(row, (const char *)r->labels->row + c->numbering->to_dataset[r->node] * size,
               size) != 0)
        mark(c, r->node, OTHER_LABEL);
}

/* Returns whether a node's row must be compared. Labels of nodes that stay have not changed, so
 * they are compared only for a test. */
static bool has_to_look(const struct row_comparison *r, uint32_t node)
{
    return r->labels ? r->c->reads_all : changed_nodes_has(&r->c->changed, TOUCHED_FEATURES, node);
}

/* Handles the rows [first, end) of a tensor of the base's part. With `rows` NULL it compares none,
 * and returns whether one of them must be compared. */
static bool compare_block(struct row_comparison *r, uint64_t first, uint64_t end, const char *rows,
                          size_t size)
{
    const uint32_t node = r->node;
    bool looks = false;
    for (uint64_t row = first; row < end; row++) {
        if (node_shift_is_gone(&r->c->delta->shift, r->base_first + (uint32_t)row))
            continue;
        if (has_to_look(r, r->node)) {
            looks = true;
            if (!rows)
                break;
            compare_row(r, rows + (row - first) * size, size);
        }
        r->node++;
    }
    if (!rows && looks)
        r->node = node;
    return looks;
}

static enum error_code compare_tensor(struct row_comparison *r, struct feature_shard *shard,
                                      const struct tensor_spec *tensor, struct error *err)
{
    const size_t size = tensor_row_bytes(tensor);
    enum error_code rc = ERROR_NONE;
    for (uint64_t first = 0; rc == ERROR_NONE && first < tensor->row_count;
         first += FEATURE_BLOCK_ROWS) {
        const uint64_t left = tensor->row_count - first;
        const uint64_t end = first + (left < FEATURE_BLOCK_ROWS ? left : FEATURE_BLOCK_ROWS);
        struct feature_pin pin = {0};
        if (!compare_block(r, first, end, NULL, size))
            continue;
        rc = feature_shard_pin(shard, tensor->name, first / FEATURE_BLOCK_ROWS, &pin, err);
        if (rc == ERROR_NONE)
            (void)compare_block(r, first, first + pin.row_count, pin.rows, size);
        feature_pin_release(&pin);
    }
    return rc;
}

/* Returns whether the tensors of a type in a part of the base are those that the version needs. */
static bool has_same_tensors(const struct version_comparison *c, const struct shard_seal *seal,
                             int part, uint32_t type, uint32_t label_width)
{
    const struct type_ranges ranges = partition_book_ranges(&c->book);
    const uint32_t dim = dataset_type(&c->input->schema, type).feature_dim;
    const int features = shard_seal_find(seal, "features"),
              labels = shard_seal_find(seal, "labels");
    const uint64_t rows = type_ranges_count(&ranges, part, type);
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

/* Compares a shard. `labels` are those of the type; NULL: it has none. */
static enum error_code compare_shard(struct version_comparison *c, uint32_t type,
                                     const struct node_labels *labels, uint32_t label_width,
                                     int part, struct error *err)
{
    struct store *store = c->input->context->store;
    const struct key key = key_part_type(c->book.id, part, type, "shard");
    const struct key seal_key = key_part_type(c->book.id, part, type, "shard_seal");
    const struct type_ranges own = numbering_ranges(c->numbering);
    const struct type_ranges base = partition_book_ranges(&c->book);
    struct feature_shard *shard = NULL;
    struct shard_seal seal;
    enum error_code rc = shard_seal_get(store, seal_key.text, c->book.id, &seal, err);
    if (rc != ERROR_NONE)
        return rc;
    c->fits = has_same_tensors(c, &seal, part, type, label_width);
    if (!c->fits)
        return rc;
    rc = feature_shard_open(store, key.text, seal_key.text, c->book.id, &shard, err);
    for (int i = 0; rc == ERROR_NONE && i < seal.tensor_count; i++) {
        struct row_comparison r = {.c = c,
                                   .labels =
                                       strcmp(seal.tensor[i].name, "labels") == 0 ? labels : NULL,
                                   .base_first = type_ranges_first(&base, part, type),
                                   .node = type_ranges_first(&own, part, type)};
        rc = compare_tensor(&r, shard, &seal.tensor[i], err);
    }
    feature_shard_close(shard);
    return rc;
}

/* Hashes the feature rows of a type of the version. */
static enum error_code hash_features(struct version_comparison *c, uint32_t type, struct error *err)
{
    struct store *store = c->input->context->store;
    const struct node_type of = dataset_type(&c->input->schema, type);
    uint32_t *node = NULL;
    uint64_t count = 0;
    if (c->reads_all)
        return feature_walk(store, &c->input->schema, type, hash_chunk, c, err);
    enum error_code rc = changed_nodes_list(&c->changed, TOUCHED_FEATURES, of.first_node,
                                            of.first_node + of.node_count, &node, &count, err);
    if (rc == ERROR_NONE)
        rc = feature_rows_walk(store, &c->input->schema, type, node, count, hash_chunk, c, err);
    memory_free(node);
    return rc;
}

/* Compares the shards of a type in all parts. A type without features and labels has none. */
static enum error_code compare_type(struct version_comparison *c, uint32_t type,
                                    const struct node_labels *labels, struct error *err)
{
    const struct dataset_schema *schema = &c->input->schema;
    const uint32_t dim = dataset_type(schema, type).feature_dim;
    const uint32_t label_width =
        labels ? task_of(schema->task)->label_width(schema->class_count) : 0;
    enum error_code rc = ERROR_NONE;
    if (dim)
        rc = memory_new(&c->bytes, (size_t)dim * sizeof(float), "a row", err);
    if (rc == ERROR_NONE && dim)
        rc = hash_features(c, type, err);
    for (int p = 0; rc == ERROR_NONE && c->fits && p < c->numbering->part_count; p++)
        if (dim || labels)
            rc = compare_shard(c, type, labels, label_width, p, err);
    memory_free(c->bytes);
    c->bytes = NULL;
    return rc;
}

static enum error_code compare_rows(struct version_comparison *c, struct error *err)
{
    struct store *store = c->input->context->store;
    const struct dataset_schema *schema = &c->input->schema;
    const bool has_labels = task_has(schema->task, TASK_LABELS_NODES);
    struct node_labels labels = {0};
    enum error_code rc = ERROR_NONE;
    if (has_labels)
        rc = merged_labels_get(store, schema->id, &labels, err);
    if (rc == ERROR_NONE && has_labels && labels.node_count != schema->node_count)
        rc = error_set(err, ERROR_CORRUPT, "%s: not the labels that the schema describes",
                       key_dataset(schema->id, "labels").text);
    for (uint32_t t = 0; rc == ERROR_NONE && c->fits && t < dataset_type_count(schema); t++)
        rc = compare_type(c, t, has_labels && t == schema->target_type ? &labels : NULL, err);
    store_release_record(&labels.view);
    return rc;
}

enum error_code version_compare(struct version_comparison *c, struct error *err)
{
    enum error_code rc =
        memory_new(&c->delta->other, c->numbering->node_count, "what has changed", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&c->delta->relation_of_row, partition_book_relations(&c->book),
                        "the relations of a delta", err);
    if (rc == ERROR_NONE)
        row_sums_place(&c->book, c->delta->relation_of_row, &c->relation_width);
    if (rc == ERROR_NONE)
        rc = c->reads_all ? ERROR_NONE
                          : changed_nodes_find(c->input, c->base->dataset_id, c->numbering,
                                               &c->changed, err);
    if (rc == ERROR_NONE)
        rc = compare_edges(c, err);
    if (rc == ERROR_NONE && c->fits)
        rc = memory_new(&c->sum, c->numbering->node_count, "the hashes of rows", err);
    if (rc == ERROR_NONE && c->fits)
        rc = compare_rows(c, err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < c->numbering->node_count; node++)
        if (c->base_node[node] == DELTA_GONE)
            mark(c, node, OTHER_ALL);
    changed_nodes_release(&c->changed);
    memory_free(c->sum);
    c->sum = NULL;
    return rc;
}
