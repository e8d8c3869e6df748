#include "stages/partition/check/shard_check.h"

#include "common/base/checksum.h"
#include "common/base/memory.h"
#include "stages/partition/layout/feature_window.h"
#include "store/features/feature_shard.h"
#include "store/features/row_conversion.h"
#include "store/objects/keys.h"
#include "store/records/feature_chunk.h"
#include "store/records/node_labels.h"

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
    struct node_labels labels;
    uint32_t label_width; /* elements of a row of labels; 0 without a task */
    uint32_t count;
    uint32_t *node;  /* [count], new ids, ascending */
    float *expected; /* [count, feature_dim], from the dataset */
    char *row;       /* [feature_dim]: a row as it is to be stored */
    char *block;     /* [FEATURE_BLOCK_ROWS, widest tensor]: the block read last */
};

/* One node from each of `count` equal stretches of the new ids. */
static void choose_nodes(struct shard_sample *s)
{
    const uint64_t node_count = s->book->node_count;
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
        const uint32_t node = s->permutation->to_dataset[s->node[i]];
        if (node >= chunk->first_node && node - chunk->first_node < chunk->node_count)
            memcpy(&s->expected[i * dim], &chunk->row[(node - chunk->first_node) * dim],
                   dim * sizeof *chunk->row);
    }
    return ERROR_NONE;
}

static enum error_code allocate(struct shard_sample *s, struct error *err)
{
    const uint32_t dim = s->schema->feature_dim;
    const uint32_t widest = dim > s->label_width ? dim : s->label_width;
    uint64_t count = SAMPLE_BYTES_MAX / (4ULL * dim + 1) + 1;
    count = count < SAMPLE_COUNT_MAX ? count : SAMPLE_COUNT_MAX;
    s->count = (uint32_t)(count < s->book->node_count ? count : s->book->node_count);
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
    const size_t node = s->permutation->to_dataset[s->node[index]];
    if (!is_label) {
        const size_t dim = s->schema->feature_dim;
        row_conversion_store(s->row, s->feature_type, &s->expected[index * dim], dim);
        return s->row;
    }
    return (const uint32_t *)s->labels.row + node * s->label_width;
}

/* Compares one tensor's rows of the sampled nodes [from, end) of part `p`. */
static enum error_code check_rows(const struct shard_sample *s, struct feature_shard *shard, int p,
                                  bool is_label, uint32_t from, uint32_t end, struct error *err)
{
    const char *tensor = is_label ? "labels" : "features";
    const size_t row_bytes = is_label ? s->label_width * tensor_type_bytes(s->label_type)
                                      : s->schema->feature_dim * tensor_type_bytes(s->feature_type);
    uint64_t held = UINT64_MAX;
    for (uint32_t i = from; i < end; i++) {
        const uint32_t row = s->node[i] - s->book->book[p];
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
                             key_part(s->book->id, p, "shard").text, tensor, s->node[i],
                             s->permutation->to_dataset[s->node[i]]);
    }
    return ERROR_NONE;
}

static enum error_code check_tensor(const struct shard_sample *s, const struct feature_shard *shard,
                                    int p, const char *name, enum tensor_type type, uint32_t dim,
                                    struct error *err)
{
    const struct tensor_spec *tensor = feature_shard_tensor(shard, name);
    const uint64_t row_count = s->book->book[p + 1] - s->book->book[p];
    if (!tensor || tensor->type != type || tensor->dim != dim || tensor->row_count != row_count)
        return error_set(err, ERROR_CORRUPT,
                         "%s: tensor %s is %s [%" PRIu64 ", %" PRIu32 "], expected %s [%" PRIu64
                         ", %" PRIu32 "]",
                         key_part(s->book->id, p, "shard").text, name,
                         tensor_type_name(tensor ? tensor->type : TENSOR_UNKNOWN),
                         tensor ? tensor->row_count : 0, tensor ? tensor->dim : 0,
                         tensor_type_name(type), row_count, dim);
    return ERROR_NONE;
}

static enum error_code check_shard(const struct shard_sample *s, int p, uint32_t from, uint32_t end,
                                   struct error *err)
{
    struct feature_shard *shard = NULL;
    enum error_code rc =
        feature_shard_open(s->store, key_part(s->book->id, p, "shard").text,
                           key_part(s->book->id, p, "shard_seal").text, s->book->id, &shard, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = check_tensor(s, shard, p, "features", s->feature_type, s->schema->feature_dim, err);
    if (rc == ERROR_NONE)
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
        while (end < s->count && s->node[end] < s->book->book[p + 1])
            end++;
        rc = check_shard(s, p, from, end, err);
        from = end;
    }
    return rc;
}

enum error_code shard_check(struct store *store, const struct dataset_schema *schema,
                            const struct partition_book *book,
                            const struct node_permutation *permutation,
                            enum tensor_type feature_type, struct error *err)
{
    struct shard_sample s = {
        .store = store,
        .schema = schema,
        .book = book,
        .permutation = permutation,
        .feature_type = feature_type,
    };
    enum error_code rc = ERROR_NONE;
    const struct task *task = task_of(schema->task);
    if (task_has_labels(schema->task)) {
        s.label_width = task->label_width(schema->class_count);
        s.label_type = task->is_class_number ? TENSOR_I32 : TENSOR_F32;
    }
    if (s.label_width)
        rc = node_labels_get(store, schema->id, &s.labels, err);
    if (rc == ERROR_NONE)
        rc = allocate(&s, err);
    if (rc == ERROR_NONE) {
        choose_nodes(&s);
        rc = feature_walk(store, schema, take_expected, &s, err);
    }
    if (rc == ERROR_NONE)
        rc = check_shards(&s, err);
    memory_free(s.block);
    memory_free(s.row);
    memory_free(s.expected);
    memory_free(s.node);
    store_release_record(&s.labels.view);
    return rc;
}
