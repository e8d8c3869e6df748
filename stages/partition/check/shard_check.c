#include "stages/partition/check/shard_check.h"

#include "common/base/memory.h"
#include "common/files/checksum.h"
#include "stages/partition/layout/feature_window.h"
#include "store/features/feature_shard.h"
#include "store/features/row_conversion.h"
#include "store/objects/keys.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/node_labels.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { SAMPLE_COUNT_MAX = 1024, SAMPLE_BYTES_MAX = 1 << 25 };

struct shard_sample {
    struct store *store;
    const struct dataset_schema *schema;
    const struct partition_book *book;
    const struct node_permutation *permutation;
    enum tensor_type feature_type, label_type;
    const struct node_labels *labels;
    /* Elements of a row of labels; 0: the type has none. */
    uint32_t label_width;
    uint32_t type, dim; /* the type, and the columns of its features */
    struct type_ranges ranges;
    uint32_t *type_book; /* [part_count + 1] */
    uint32_t count;
    uint32_t *node;  /* [count] numbers in the type, ascending */
    float *expected; /* [count, dim], from the dataset */
    char *row;       /* [dim]: a row as it should be stored */
    char *block;     /* [FEATURE_BLOCK_ROWS, widest tensor]: the block read last */
};

/* Returns the number of nodes of the type. */
static uint32_t type_nodes(const struct shard_sample *s)
{
    return s->type_book[s->book->part_count];
}

/* Returns the dataset id of a sampled node. */
static uint32_t dataset_node(const struct shard_sample *s, uint32_t number)
{
    int low = 0, high = s->book->part_count;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (s->type_book[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return s->permutation
        ->to_dataset[type_ranges_first(&s->ranges, low, s->type) + (number - s->type_book[low])];
}

/* Chooses one node from each of `count` equal ranges of the type's nodes. */
static void choose_nodes(struct shard_sample *s)
{
    const uint64_t node_count = type_nodes(s);
    for (uint64_t i = 0; i < s->count; i++) {
        const uint64_t from = i * node_count / s->count, end = (i + 1) * node_count / s->count;
        s->node[i] = (uint32_t)(from + checksum_64(&i, sizeof i) % (end - from));
    }
}

static enum error_code take_expected(void *context, const struct feature_chunk *chunk,
                                     struct error *err)
{
    struct shard_sample *s = context;
    const size_t dim = chunk->dim;
    (void)err;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint32_t node = dataset_node(s, s->node[i]);
        if (node >= chunk->first_node && node - chunk->first_node < chunk->node_count)
            memcpy(&s->expected[i * dim], &chunk->row[(node - chunk->first_node) * dim],
                   dim * sizeof *chunk->row);
    }
    return ERROR_NONE;
}

static enum error_code allocate(struct shard_sample *s, struct error *err)
{
    const uint32_t dim = s->dim;
    const uint32_t widest = dim > s->label_width ? dim : s->label_width;
    uint64_t count = SAMPLE_BYTES_MAX / (4ULL * dim + 1) + 1;
    count = count < SAMPLE_COUNT_MAX ? count : SAMPLE_COUNT_MAX;
    s->count = (uint32_t)(count < type_nodes(s) ? count : type_nodes(s));
    enum error_code rc = memory_new(&s->node, s->count, "the sample of the check", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&s->expected, (size_t)s->count * dim, "the sample of the check", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&s->row, dim * sizeof(float), "a row", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&s->block, (size_t)FEATURE_BLOCK_ROWS * widest * sizeof(float),
                        "a block of rows", err);
    return rc;
}

static const void *expected_row(const struct shard_sample *s, bool is_label, uint32_t index)
{
    const size_t node = dataset_node(s, s->node[index]);
    if (!is_label) {
        const size_t dim = s->dim;
        row_conversion_store(s->row, s->feature_type, &s->expected[index * dim], dim);
        return s->row;
    }
    return (const uint32_t *)s->labels->row + node * s->label_width;
}

/* Compares one tensor's rows of the sampled nodes [from, end) of part `p`. */
static enum error_code check_rows(const struct shard_sample *s, struct feature_shard *shard, int p,
                                  bool is_label, uint32_t from, uint32_t end, struct error *err)
{
    const char *tensor = is_label ? "labels" : "features";
    const size_t row_bytes = is_label ? s->label_width * tensor_type_bytes(s->label_type)
                                      : s->dim * tensor_type_bytes(s->feature_type);
    uint64_t held = UINT64_MAX;
    for (uint32_t i = from; i < end; i++) {
        const uint32_t row = s->node[i] - s->type_book[p];
        const uint64_t block = row / FEATURE_BLOCK_ROWS;
        uint32_t row_count = 0;
        const enum error_code rc =
            block == held
                ? ERROR_NONE
                : feature_shard_read_block(shard, tensor, block, s->block, &row_count, err);
        if (rc != ERROR_NONE)
            return rc;
        held = block;
        if (memcmp(s->block + row % FEATURE_BLOCK_ROWS * row_bytes, expected_row(s, is_label, i),
                   row_bytes) != 0)
            return error_set(err, ERROR_CORRUPT,
                             "%s: the %s of node %" PRIu32 " differ from those of dataset node "
                             "%" PRIu32,
                             key_part_type(s->book->id, p, s->type, "shard").text, tensor,
                             s->node[i], dataset_node(s, s->node[i]));
    }
    return ERROR_NONE;
}

static enum error_code check_tensor(const struct shard_sample *s, const struct feature_shard *shard,
                                    int p, const char *name, enum tensor_type type, uint32_t dim,
                                    struct error *err)
{
    const struct tensor_spec *tensor = feature_shard_tensor(shard, name);
    const uint64_t row_count = s->type_book[p + 1] - s->type_book[p];
    if (!tensor || tensor->type != type || tensor->dim != dim || tensor->row_count != row_count)
        return error_set(err, ERROR_CORRUPT,
                         "%s: tensor %s is %s [%" PRIu64 ", %" PRIu32 "], expected %s [%" PRIu64
                         ", %" PRIu32 "]",
                         key_part_type(s->book->id, p, s->type, "shard").text, name,
                         tensor_type_name(tensor ? tensor->type : TENSOR_UNKNOWN),
                         tensor ? tensor->row_count : 0, tensor ? tensor->dim : 0,
                         tensor_type_name(type), row_count, dim);
    return ERROR_NONE;
}

static enum error_code check_shard(const struct shard_sample *s, int p, uint32_t from, uint32_t end,
                                   struct error *err)
{
    struct feature_shard *shard = NULL;
    enum error_code rc = feature_shard_open(
        s->store, key_part_type(s->book->id, p, s->type, "shard").text,
        key_part_type(s->book->id, p, s->type, "shard_seal").text, s->book->id, &shard, err);
    if (rc != ERROR_NONE)
        return rc;
    if (s->dim)
        rc = check_tensor(s, shard, p, "features", s->feature_type, s->dim, err);
    if (rc == ERROR_NONE && s->dim)
        rc = check_rows(s, shard, p, false, from, end, err);
    if (rc == ERROR_NONE && s->label_width)
        rc = check_tensor(s, shard, p, "labels", s->label_type, s->label_width, err);
    if (rc == ERROR_NONE && s->label_width)
        rc = check_rows(s, shard, p, true, from, end, err);
    feature_shard_close(shard);
    return rc;
}

static enum error_code check_shards(const struct shard_sample *s, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    uint32_t from = 0;
    for (int p = 0; rc == ERROR_NONE && p < s->book->part_count; p++) {
        uint32_t end = from;
        while (end < s->count && s->node[end] < s->type_book[p + 1])
            end++;
        rc = check_shard(s, p, from, end, err);
        from = end;
    }
    return rc;
}

/* Checks the shards of the sample's type. */
static enum error_code check_type(struct shard_sample *s, struct error *err)
{
    enum error_code rc =
        memory_new(&s->type_book, (size_t)s->book->part_count + 1, "the sample of the check", err);
    if (rc == ERROR_NONE) {
        type_ranges_book(&s->ranges, s->type, s->type_book);
        rc = allocate(s, err);
    }
    if (rc == ERROR_NONE) {
        choose_nodes(s);
        rc = feature_walk(s->store, s->schema, s->type, take_expected, s, err);
    }
    if (rc == ERROR_NONE)
        rc = check_shards(s, err);
    memory_free(s->block);
    memory_free(s->row);
    memory_free(s->expected);
    memory_free(s->node);
    memory_free(s->type_book);
    return rc;
}

enum error_code shard_check(struct store *store, const struct dataset_schema *schema,
                            const struct partition_book *book,
                            const struct node_permutation *permutation,
                            enum tensor_type feature_type, struct error *err)
{
    struct node_labels labels = {0};
    const struct task *task =
        task_has(schema->task, TASK_LABELS_NODES) ? task_of(schema->task) : NULL;
    enum error_code rc = ERROR_NONE;
    if (task)
        rc = merged_labels_get(store, schema->id, &labels, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < partition_book_types(book); t++) {
        struct shard_sample s = {
            .store = store,
            .schema = schema,
            .book = book,
            .permutation = permutation,
            .feature_type = feature_type,
            .labels = &labels,
            .type = t,
            .dim = partition_book_dim(book, t),
            .ranges = partition_book_ranges(book),
        };
        if (task && t == book->target_type) {
            s.label_width = task->label_width(schema->class_count);
            s.label_type = task->is_class_number ? TENSOR_I32 : TENSOR_F32;
        }
        if (s.dim || s.label_width)
            rc = check_type(&s, err);
    }
    store_release_record(&labels.view);
    return rc;
}
