/*
 * feature_source_fixture - a tensor in parts of odd sizes, sources of it within any budget, and the
 * expected rows.
 */
#ifndef TESTS_STORE_FEATURES_FEATURE_SOURCE_FIXTURE_H
#define TESTS_STORE_FEATURES_FEATURE_SOURCE_FIXTURE_H

#include "common/numbers/random.h"
#include "store/features/feature_shard.h"
#include "store/features/feature_source.h"
#include "store/features/row_conversion.h"
#include "store/objects/keys.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

enum { PART_COUNT = 6, NODE_COUNT = 3000, DIM = 5, BATCH_SIZE_MAX = 700 };

/* The parts have 0, 1, 256, 257, 0 and 2486 rows. */
static const uint32_t bounds[PART_COUNT + 1] = {0, 0, 1, 257, 514, 514, NODE_COUNT};

static const uint64_t all_bytes = (uint64_t)NODE_COUNT * DIM * sizeof(float);

struct fixture {
    struct temp_dir dir;
    struct store *store;
    struct error err;
};

static inline float value_of(uint32_t node, uint32_t column)
{
    return (float)(node * 10 + column);
}

/* The weights that the layers of infer were computed with. */
static const struct weights_identity of_run = {
    .version = 3, .snapshot_version = 5, .sum = {{9, 8, 7}}};

static inline void write_part_as(struct fixture *f, const char *key, const char *seal,
                                 const char *owner, int part, uint32_t dim, enum tensor_type type)
{
    struct feature_shard_writer *writer = NULL;
    struct tensor_spec tensor = {
        .name = "features", .type = type, .dim = dim, .row_count = bounds[part + 1] - bounds[part]};
    assert_ok(feature_shard_writer_new(f->store, key, seal, owner, &writer, &f->err), &f->err);
    if (strncmp(key, "run/", 4) == 0)
        feature_shard_writer_computed_with(writer, &of_run);
    assert_ok(feature_shard_writer_begin(writer, &tensor, &f->err), &f->err);
    for (uint32_t node = bounds[part]; node < bounds[part + 1]; node++) {
        float row[2 * DIM];
        char stored[sizeof row];
        for (uint32_t c = 0; c < dim; c++)
            row[c] = value_of(node, c);
        row_conversion_store(stored, type, row, dim);
        assert_ok(feature_shard_writer_add(writer, stored, 1, &f->err), &f->err);
    }
    assert_ok(feature_shard_writer_finish(writer, &f->err), &f->err);
}

static inline void write_part(struct fixture *f, const char *key, const char *seal,
                              const char *owner, int part, uint32_t dim)
{
    write_part_as(f, key, seal, owner, part, dim, TENSOR_F32);
}

static inline struct fixture open_fixture(void)
{
    struct fixture f = {.store = NULL};
    char path[FILE_PATH_SIZE];
    temp_dir_make(&f.dir);
    assert_ok(file_path(path, &f.err, "%s/store", f.dir.path), &f.err);
    assert_ok(store_open(path, 0, &f.store, &f.err), &f.err);
    for (int p = 0; p < PART_COUNT; p++)
        write_part(&f, key_part("p", p, "shard").text, key_part("p", p, "shard_seal").text, "p", p,
                   DIM);
    return f;
}

static inline void close_fixture(struct fixture *f)
{
    store_close(f->store);
    temp_dir_remove(&f->dir);
}

static inline struct feature_source_config config_of(struct fixture *f, uint64_t budget_bytes)
{
    return (struct feature_source_config){.store = f->store,
                                          .origin = FEATURES_OF_PARTITION,
                                          .id = "p",
                                          .part_count = PART_COUNT,
                                          .book = bounds,
                                          .tensor = "features",
                                          .budget_bytes = budget_bytes};
}

static inline struct feature_source *open_source(struct fixture *f, uint64_t budget_bytes)
{
    struct feature_source *source = NULL;
    const struct feature_source_config config = config_of(f, budget_bytes);
    assert_ok(feature_source_open(&config, &source, &f->err), &f->err);
    return source;
}

/* Makes batch `number`: nodes in any order, with repeats, always with the last node. */
static inline size_t make_batch(uint64_t number, size_t count_max, uint32_t node[BATCH_SIZE_MAX])
{
    const struct random_stream stream = {.seed = number};
    const size_t count = 1 + random_below(random_word(&stream, 0, 0), (uint32_t)count_max - 1);
    for (size_t i = 0; i < count; i++)
        node[i] = random_below(random_word(&stream, i + 1, 0), NODE_COUNT);
    node[count - 1] = NODE_COUNT - 1;
    if (count > 2)
        node[1] = node[0];
    return count;
}

static inline void assert_rows(const struct feature_rows *rows, const uint32_t *node, size_t count)
{
    assert_int_equal(rows->dim, DIM);
    for (size_t i = 0; i < count; i++) {
        const size_t at = rows->row_index ? rows->row_index[i] : i;
        const float *row = (const float *)rows->base + at * rows->stride;
        for (uint32_t c = 0; c < DIM; c++)
            assert_true(row[c] == value_of(node[i], c));
    }
}

static inline void fetch_batches(struct fixture *f, struct feature_source *source,
                                 uint64_t budget_bytes, size_t count_max)
{
    uint32_t node[BATCH_SIZE_MAX];
    for (uint64_t b = 0; b < 60; b++) {
        struct feature_rows rows;
        const size_t count = make_batch(b, count_max, node);
        assert_ok(feature_source_fetch(source, node, count, &rows, &f->err), &f->err);
        assert_rows(&rows, node, count);
        assert_true(feature_source_bytes(source) <= budget_bytes);
        if (feature_source_is_resident(source))
            assert_ptr_equal(rows.row_index, node);
    }
}

#endif
