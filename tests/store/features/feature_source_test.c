#include "common/base/memory.h"
#include "common/math/f16.h"
#include "store/features/feature_shard.h"
#include "store/features/feature_source.h"
#include "store/objects/keys.h"

#include "tests/store/features/feature_source_fixture.h"
#include "tests/support/shard_damage.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

static void a_tensor_within_the_budget_is_resident(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    const long blocks = memory_live_blocks();
    struct feature_source *source = open_source(&f, all_bytes);
    assert_true(feature_source_is_resident(source));
    assert_int_equal(feature_source_dim(source), DIM);
    assert_int_equal(feature_source_bytes(source), all_bytes);
    const long allocations = memory_allocation_count();
    fetch_batches(&f, source, all_bytes, BATCH_SIZE_MAX);
    assert_int_equal(memory_allocation_count(), allocations);
    feature_source_close(source);
    feature_source_close(NULL);
    assert_int_equal(memory_live_blocks(), blocks);
    close_fixture(&f);
}

static void assert_rounded_rows(const struct feature_rows *rows, const uint32_t *node, size_t count)
{
    assert_int_equal(rows->precision, PRECISION_BF16);
    assert_int_equal(rows->stride, bf16_stride(DIM));
    for (size_t i = 0; i < count; i++) {
        const size_t at = rows->row_index ? rows->row_index[i] : i;
        const bf16 *row = (const bf16 *)rows->base + at * rows->stride;
        for (uint32_t c = 0; c < DIM; c++)
            assert_int_equal(row[c], bf16_of_float(value_of(node[i], c)));
        for (size_t c = DIM; c < rows->stride; c++)
            assert_int_equal(row[c], 0);
    }
}

static void in_bf16_rows_are_rounded_and_take_half_the_bytes(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    uint32_t node[BATCH_SIZE_MAX];
    const uint64_t row_bytes = bf16_stride(DIM) * sizeof(bf16);
    const uint64_t half = (uint64_t)NODE_COUNT * row_bytes;
    for (uint64_t budget = half; budget > 28000; budget = budget * 3 / 4) {
        struct feature_source_config config = config_of(&f, budget);
        struct feature_source *source = NULL;
        config.precision = PRECISION_BF16;
        assert_ok(feature_source_open(&config, &source, &f.err), &f.err);
        assert_int_equal(feature_source_is_resident(source), budget == half);
        assert_int_equal(feature_source_row_bytes(source), row_bytes);
        for (uint64_t b = 0; b < 20; b++) {
            struct feature_rows rows;
            const size_t count = make_batch(b, 200, node);
            assert_ok(feature_source_fetch(source, node, count, &rows, &f.err), &f.err);
            assert_rounded_rows(&rows, node, count);
            assert_true(feature_source_bytes(source) <= budget);
        }
        feature_source_close(source);
    }
    close_fixture(&f);
}

/* Returns the value of an element after it was stored in half the bytes. */
static float stored_value(enum tensor_type type, uint32_t node, uint32_t column)
{
    const float value = value_of(node, column);
    return type == TENSOR_F16 ? f16_to_float(f16_of_float(value))
                              : bf16_to_float(bf16_of_float(value));
}

static void check_half(struct fixture *f, enum tensor_type type, enum precision precision,
                       uint64_t budget)
{
    uint32_t node[BATCH_SIZE_MAX];
    struct feature_source_config config = config_of(f, budget);
    struct feature_source *source = NULL;
    config.id = type == TENSOR_F16 ? "p-f16" : "p-bf16";
    config.precision = precision;
    assert_ok(feature_source_open(&config, &source, &f->err), &f->err);
    assert_int_equal(feature_source_is_resident(source), budget >= all_bytes);
    for (uint64_t b = 0; b < 10; b++) {
        struct feature_rows rows;
        const size_t count = make_batch(b, 200, node);
        assert_ok(feature_source_fetch(source, node, count, &rows, &f->err), &f->err);
        for (size_t i = 0; i < count; i++)
            for (uint32_t c = 0; c < DIM; c++) {
                const size_t at = (rows.row_index ? rows.row_index[i] : i) * rows.stride + c;
                const float expected = stored_value(type, node[i], c);
                if (precision == PRECISION_FP32)
                    assert_true(((const float *)rows.base)[at] == expected);
                else
                    assert_int_equal(((const bf16 *)rows.base)[at], bf16_of_float(expected));
            }
    }
    feature_source_close(source);
}

static void rows_stored_in_half_the_bytes_are_converted_when_they_are_read(void **state)
{
    static const enum tensor_type types[] = {TENSOR_F16, TENSOR_BF16};
    (void)state;
    struct fixture f = open_fixture();
    for (int t = 0; t < 2; t++) {
        const char *id = types[t] == TENSOR_F16 ? "p-f16" : "p-bf16";
        for (int p = 0; p < PART_COUNT; p++)
            write_part_as(&f, key_part(id, p, "shard").text, key_part(id, p, "shard_seal").text, id,
                          p, DIM, types[t]);
        for (int precision = PRECISION_FP32; precision <= PRECISION_BF16; precision++) {
            check_half(&f, types[t], (enum precision)precision, all_bytes);
            check_half(&f, types[t], (enum precision)precision, precision ? 35000 : 48000);
        }
    }
    close_fixture(&f);
}

static void parts_of_different_types_are_refused(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    struct feature_source_config config = config_of(&f, all_bytes);
    struct feature_source *source = NULL;
    config.id = "p-mixed";
    for (int p = 0; p < PART_COUNT; p++)
        write_part_as(&f, key_part("p-mixed", p, "shard").text,
                      key_part("p-mixed", p, "shard_seal").text, "p-mixed", p, DIM,
                      p == 1 ? TENSOR_F16 : TENSOR_F32);
    assert_fails(feature_source_open(&config, &source, &f.err), ERROR_CORRUPT,
                 "part 1: expected elements of f32, found f16", &f.err);
    close_fixture(&f);
}

static void out_of_the_budget_gives_the_same_rows(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    for (uint64_t budget = 28000; budget < all_bytes; budget += 3001) {
        const long blocks = memory_live_blocks();
        struct feature_source *source = open_source(&f, budget);
        assert_false(feature_source_is_resident(source));
        fetch_batches(&f, source, budget, budget > 48000 ? 700 : 200);
        feature_source_close(source);
        assert_int_equal(memory_live_blocks(), blocks);
    }
    close_fixture(&f);
}

static void a_batch_that_does_not_fit_is_refused_and_the_next_one_served(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    struct feature_rows rows;
    uint32_t node[NODE_COUNT];
    struct feature_source *source = open_source(&f, 30000);
    for (uint32_t i = 0; i < NODE_COUNT; i++)
        node[i] = i;
    assert_fails(feature_source_fetch(source, node, NODE_COUNT, &rows, &f.err), ERROR_NO_MEMORY,
                 "the budget is 30000 bytes", &f.err);
    assert_fails(feature_source_fetch(source, node, 1200, &rows, &f.err), ERROR_NO_MEMORY,
                 "tensor features: 1200 rows want ", &f.err);
    assert_null(rows.base);
    fetch_batches(&f, source, 30000, 200);
    assert_fails(feature_source_fetch(source, node, 1200, &rows, &f.err), ERROR_NO_MEMORY,
                 "1200 rows", &f.err);
    fetch_batches(&f, source, 30000, 200);
    feature_source_close(source);
    close_fixture(&f);
}

static void no_batch_and_unknown_nodes_are_told_apart(void **state)
{
    (void)state;
    static const uint32_t beyond[] = {1, NODE_COUNT};
    struct fixture f = open_fixture();
    for (uint64_t budget = 40000; budget <= all_bytes; budget += all_bytes - 40000) {
        struct feature_rows rows;
        struct feature_source *source = open_source(&f, budget);
        assert_ok(feature_source_fetch(source, beyond, 0, &rows, &f.err), &f.err);
        assert_ok(feature_source_fetch(source, beyond, 1, &rows, &f.err), &f.err);
        assert_rows(&rows, beyond, 1);
        assert_fails(feature_source_fetch(source, beyond, 2, &rows, &f.err), ERROR_CORRUPT,
                     "node ids below 3000, found 3000", &f.err);
        feature_source_close(source);
    }
    close_fixture(&f);
}

/* Tests that the memory of fetched rows is freed, and that the next fetch finds the same rows. */
static void a_source_that_rests_holds_nothing(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    struct feature_source *source = open_source(&f, 56000);
    struct feature_rows rows;
    uint32_t node[40];
    for (uint32_t i = 0; i < 40; i++)
        node[i] = i * 13;
    const uint64_t before = feature_source_bytes(source);
    for (int turn = 0; turn < 2; turn++) {
        assert_ok(feature_source_fetch(source, node, 40, &rows, &f.err), &f.err);
        assert_rows(&rows, node, 40);
        assert_true(feature_source_bytes(source) > before);
        feature_source_rest(source);
        assert_int_equal(feature_source_bytes(source), before);
    }
    feature_source_close(source);
    close_fixture(&f);
}

/* Tests that a reader of single blocks holds no rows, whatever the budget. */
static void a_source_that_is_only_read_is_not_resident(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    struct feature_source_config config = config_of(&f, all_bytes);
    struct feature_source *source = NULL;
    const uint32_t node[1] = {3};
    config.only_read = true;
    assert_ok(feature_source_open(&config, &source, &f.err), &f.err);
    assert_false(feature_source_is_resident(source));
    float *row = memory_alloc(NODE_COUNT, feature_source_row_bytes(source));
    assert_non_null(row);
    assert_ok(feature_source_read(source, 3, NODE_COUNT - 2, row, &f.err), &f.err);
    const struct feature_rows rows = {.base = row,
                                      .stride = feature_source_row_bytes(source) / sizeof *row,
                                      .dim = feature_source_dim(source)};
    assert_rows(&rows, node, 1);
    memory_free(row);
    feature_source_close(source);
    close_fixture(&f);
}

static void a_source_that_cannot_be_is_refused(void **state)
{
    (void)state;
    static const uint32_t other[PART_COUNT + 1] = {0, 0, 1, 257, 513, 514, NODE_COUNT};
    struct fixture f = open_fixture();
    struct feature_source *source = NULL;
    for (uint64_t budget = 40000; budget <= all_bytes; budget += all_bytes - 40000) {
        struct feature_source_config config = config_of(&f, budget);
        config.book = other;
        assert_fails(feature_source_open(&config, &source, &f.err), ERROR_CORRUPT,
                     "artifact partition/p/part/0000000003/shard: tensor features: expected 256 "
                     "rows, found 257",
                     &f.err);
        config = config_of(&f, budget);
        config.tensor = "labels";
        assert_fails(feature_source_open(&config, &source, &f.err), ERROR_NOT_FOUND,
                     "no tensor labels", &f.err);
        config.tensor = "features";
        config.id = "q";
        assert_fails(feature_source_open(&config, &source, &f.err), ERROR_NOT_FOUND, "partition/q",
                     &f.err);
    }
    const struct feature_source_config config = config_of(&f, 1000);
    assert_fails(feature_source_open(&config, &source, &f.err), ERROR_NO_MEMORY,
                 "tensor features: 1 rows want ", &f.err);
    assert_null(source);
    close_fixture(&f);
}

static void layers_of_infer_must_agree_in_dim_and_be_of_the_weights_asked_for(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    for (uint64_t budget = 40000; budget <= all_bytes; budget += all_bytes - 40000) {
        struct feature_source *source = NULL;
        struct feature_source_config config = config_of(&f, budget);
        config.origin = FEATURES_OF_INFER_LAYER;
        config.id = "r";
        config.weights = &of_run;
        for (config.layer = 1; config.layer <= 2; config.layer++)
            for (int p = 0; p < PART_COUNT; p++)
                write_part(&f, key_infer("r", of_run.version, config.layer, p, "shard").text,
                           key_infer("r", of_run.version, config.layer, p, "shard_seal").text, "r",
                           p, config.layer == 2 && p == 3 ? DIM + 1 : DIM);
        config.layer = 1;
        assert_ok(feature_source_open(&config, &source, &f.err), &f.err);
        fetch_batches(&f, source, budget, 200);
        feature_source_close(source);
        config.layer = 2;
        assert_fails(feature_source_open(&config, &source, &f.err), ERROR_CORRUPT,
                     "part 3: expected a dim of 5, found 6", &f.err);
        struct weights_identity others = of_run;
        others.sum.bytes[0] = 0;
        config.layer = 1;
        config.weights = &others;
        assert_fails(feature_source_open(&config, &source, &f.err), ERROR_CORRUPT,
                     "expected weights 3 of snapshot 5 (hash 00", &f.err);
        others = of_run, others.version = 5;
        assert_fails(feature_source_open(&config, &source, &f.err), ERROR_NOT_FOUND,
                     "run/r/infer/0000000005/00001/part", &f.err);
    }
    close_fixture(&f);
}

/* Overwrites the middle of every table of a part's shard. */
static enum error_code damage_table(void *context, const char *name, struct error *err)
{
    char path[FILE_PATH_SIZE];
    if (!strstr(name, ".sst"))
        return ERROR_NONE;
    const enum error_code rc = file_path(path, err, "%s/%s", (const char *)context, name);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 20000, SEEK_SET), 0);
    assert_int_equal(fputc(0x55, file), 0x55);
    assert_int_equal(fputc(0x55, file), 0x55);
    assert_int_equal(fclose(file), 0);
    return rc;
}

static void damage_is_named_and_never_served(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    char folder[FILE_PATH_SIZE];
    uint32_t node[NODE_COUNT - 514];
    struct feature_source *source = NULL;
    struct feature_rows rows;
    assert_ok(store_artifact(f.store, key_part("p", 5, "shard").text, folder, &f.err), &f.err);
    assert_ok(file_list(folder, damage_table, folder, &f.err), &f.err);
    struct feature_source_config config = config_of(&f, all_bytes);
    assert_fails(feature_source_open(&config, &source, &f.err), ERROR_CORRUPT,
                 "partition/p/part/0000000005/shard", &f.err);
    source = open_source(&f, 56000);
    int failed = 0;
    for (uint32_t from = 514; from < NODE_COUNT; from += 100) {
        size_t count = 0;
        for (; count < 100 && from + count < NODE_COUNT; count++)
            node[count] = from + (uint32_t)count;
        const enum error_code rc = feature_source_fetch(source, node, count, &rows, &f.err);
        if (rc == ERROR_NONE) {
            assert_rows(&rows, node, count);
            continue;
        }
        assert_int_equal(rc, ERROR_CORRUPT);
        assert_non_null(strstr(f.err.message, "partition/p/part/0000000005/shard"));
        /* a second fetch does not find the broken block in the cache */
        assert_int_equal(feature_source_fetch(source, node, count, &rows, &f.err), ERROR_CORRUPT);
        failed++;
    }
    assert_in_range(failed, 1, 4);
    feature_source_close(source);
    close_fixture(&f);
}

static void every_refused_allocation_leaves_nothing(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    uint32_t node[BATCH_SIZE_MAX];
    const size_t count = make_batch(1, 200, node);
    for (uint64_t budget = 40000; budget <= all_bytes; budget += all_bytes - 40000) {
        const long blocks = memory_live_blocks();
        enum error_code rc = ERROR_NO_MEMORY;
        for (long n = 0; rc != ERROR_NONE; n++) {
            const struct feature_source_config config = config_of(&f, budget);
            struct feature_source *source = NULL;
            struct feature_rows rows;
            memory_fail_after(n);
            rc = feature_source_open(&config, &source, &f.err);
            if (rc == ERROR_NONE)
                rc = feature_source_fetch(source, node, count, &rows, &f.err);
            if (rc == ERROR_NONE)
                rc = feature_source_cache(source, node + 2, 1, 20000, &f.err);
            memory_fail_after(-1);
            assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
            if (rc == ERROR_NONE)
                assert_rows(&rows, node, count);
            feature_source_close(source);
            assert_int_equal(memory_live_blocks(), blocks);
            assert_true(n < 1000);
        }
    }
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tensor_within_the_budget_is_resident),
        cmocka_unit_test(in_bf16_rows_are_rounded_and_take_half_the_bytes),
        cmocka_unit_test(rows_stored_in_half_the_bytes_are_converted_when_they_are_read),
        cmocka_unit_test(parts_of_different_types_are_refused),
        cmocka_unit_test(out_of_the_budget_gives_the_same_rows),
        cmocka_unit_test(a_batch_that_does_not_fit_is_refused_and_the_next_one_served),
        cmocka_unit_test(no_batch_and_unknown_nodes_are_told_apart),
        cmocka_unit_test(a_source_that_rests_holds_nothing),
        cmocka_unit_test(a_source_that_is_only_read_is_not_resident),
        cmocka_unit_test(a_source_that_cannot_be_is_refused),
        cmocka_unit_test(layers_of_infer_must_agree_in_dim_and_be_of_the_weights_asked_for),
        cmocka_unit_test(damage_is_named_and_never_served),
        cmocka_unit_test(every_refused_allocation_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
