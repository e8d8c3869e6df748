#include "common/base/memory.h"
#include "common/math/bf16.h"
#include "store/features/feature_walk.h"
#include "store/objects/keys.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <string.h>

/* Blocks have 100 KB, as in a graph with 100 features. */
enum { NODE_COUNT = 6000, DIM = 100, MOST_STRIPES = 64 };

static const uint32_t bounds[] = {0, 2500, NODE_COUNT};

static float value_of(uint32_t node, uint32_t column)
{
    return (float)node + (float)column / 128;
}

static void write_part(struct store *store, int part)
{
    struct error err = {0};
    struct feature_shard_writer *writer = NULL;
    const struct key key = key_part("p", part, "shard"), seal = key_part("p", part, "shard_seal");
    const struct tensor_spec tensor = {.name = "features",
                                       .type = TENSOR_F32,
                                       .dim = DIM,
                                       .row_count = bounds[part + 1] - bounds[part]};
    assert_ok(feature_shard_writer_new(store, key.text, seal.text, "p", &writer, &err), &err);
    assert_ok(feature_shard_writer_begin(writer, &tensor, &err), &err);
    for (uint32_t node = bounds[part]; node < bounds[part + 1]; node++) {
        float row[DIM];
        for (uint32_t c = 0; c < DIM; c++)
            row[c] = value_of(node, c);
        assert_ok(feature_shard_writer_add(writer, row, 1, &err), &err);
    }
    assert_ok(feature_shard_writer_finish(writer, &err), &err);
}

static struct feature_source *open_source(struct store *store, enum precision precision)
{
    struct error err = {0};
    struct feature_source *source = NULL;
    for (int part = 0; part < 2; part++)
        write_part(store, part);
    const struct feature_source_config config = {.store = store,
                                                 .origin = FEATURES_OF_PARTITION,
                                                 .id = "p",
                                                 .part_count = 2,
                                                 .book = bounds,
                                                 .tensor = "features",
                                                 .precision = precision,
                                                 .budget_bytes = 1000000};
    assert_ok(feature_source_open(&config, &source, &err), &err);
    assert_false(feature_source_is_resident(source));
    return source;
}

static void check_row(const void *row, uint32_t node, enum precision precision)
{
    for (uint32_t c = 0; c < DIM; c++) {
        float value = 0;
        bf16 rounded = 0;
        if (precision == PRECISION_BF16) {
            memcpy(&rounded, (const bf16 *)row + c, sizeof rounded);
            assert_int_equal(rounded, bf16_of_float(value_of(node, c)));
        } else {
            memcpy(&value, (const char *)row + c * sizeof value, sizeof value);
            assert_true(value == value_of(node, c));
        }
    }
}

/* Picks every `step`th node, from the last one down. */
static size_t pick_nodes(uint32_t *node, uint32_t step)
{
    size_t count = 0;
    for (uint32_t v = NODE_COUNT - 1; v >= step; v -= step)
        node[count++] = v;
    return count;
}

static size_t take_stripes(struct feature_walk *walk, struct feature_stripe *stripe)
{
    struct error err = {0};
    size_t taken = 0, rows = 0;
    assert_ok(feature_source_visit_begin(walk->source, walk->node, walk->count, &err), &err);
    for (;; taken++) {
        assert_in_range(taken, 0, MOST_STRIPES - 1);
        assert_ok(feature_stripe_init(&stripe[taken], walk->source, &err), &err);
        if (!feature_walk_next(walk, &stripe[taken]))
            break;
        assert_in_range(stripe[taken].count, 1, FEATURE_VISIT_MAX);
        assert_in_range(stripe[taken].block_count, 1, FEATURE_STRIPE_BLOCKS);
        rows += stripe[taken].count;
    }
    assert_int_equal(rows, walk->count);
    return taken;
}

/* Takes all stripes before it reads the first, and reads them from the last to the first. */
static void check_walk(struct feature_source *source, const uint32_t *node, size_t count,
                       enum precision precision)
{
    static struct feature_stripe stripe[MOST_STRIPES];
    struct error err = {0};
    struct feature_walk walk = {.source = source, .node = node, .count = count};
    uint32_t last = 0;
    const size_t taken = take_stripes(&walk, stripe);
    for (size_t s = taken; s-- > 0;)
        assert_ok(feature_stripe_read(&stripe[s], &err), &err);
    for (size_t s = 0; s < taken; s++) {
        const struct feature_visit visit = feature_stripe_visit(&stripe[s]);
        for (uint32_t i = 0; i < visit.count; i++) {
            const uint32_t at = node[visit.place[i]];
            assert_true(at >= last);
            last = at;
            check_row(visit.row[i], at, precision);
        }
    }
    for (size_t s = 0; s <= taken; s++)
        feature_stripe_release(&stripe[s]);
    memset(stripe, 0, sizeof stripe);
}

static void check_precision(struct store *store, enum precision precision)
{
    static uint32_t node[NODE_COUNT], kept[500];
    struct error err = {0};
    const long blocks = memory_live_blocks();
    struct feature_source *source = open_source(store, precision);
    for (uint32_t step = 1; step < 800; step = 3 * step + 1)
        check_walk(source, node, pick_nodes(node, step), precision);
    for (uint32_t i = 0; i < 500; i++) /* all rows of some blocks, and some rows of others */
        kept[i] = i < 300 ? 2500 + i : 8 * i;
    assert_ok(feature_source_cache(source, kept, 500, 1000000, &err), &err);
    assert_int_equal(feature_source_cached(source), 500);
    assert_true(feature_source_has_cached(source, 2500) &&
                !feature_source_has_cached(source, 2499));
    for (uint32_t step = 1; step < 800; step = 3 * step + 1)
        check_walk(source, node, pick_nodes(node, step), precision);
    feature_source_close(source);
    assert_int_equal(memory_live_blocks(), blocks);
}

static void stripes_have_all_rows_whenever_they_are_read(void **state)
{
    check_precision(((struct temp_store *)*state)->store, PRECISION_FP32);
}

static void rounded_rows_outlive_their_block(void **state)
{
    check_precision(((struct temp_store *)*state)->store, PRECISION_BF16);
}

static void a_node_that_is_wanted_often_takes_several_stripes(void **state)
{
    static uint32_t node[3 * FEATURE_VISIT_MAX];
    struct feature_source *source =
        open_source(((struct temp_store *)*state)->store, PRECISION_FP32);
    for (size_t i = 0; i < sizeof node / sizeof *node; i++)
        node[i] = i % 3 ? 4321 : 4322 + (uint32_t)i % 1000;
    check_walk(source, node, sizeof node / sizeof *node, PRECISION_FP32);
    feature_source_close(source);
}

static void a_stripe_holds_no_more_than_it_says(void **state)
{
    static uint32_t node[NODE_COUNT];
    static struct feature_stripe stripe[MOST_STRIPES];
    struct feature_source *source =
        open_source(((struct temp_store *)*state)->store, PRECISION_FP32);
    struct feature_walk walk = {
        .source = source, .node = node, .count = pick_nodes(node, FEATURE_BLOCK_ROWS)};
    const size_t block_bytes = (size_t)FEATURE_BLOCK_ROWS * DIM * sizeof(float);
    const size_t taken = take_stripes(&walk, stripe);
    for (size_t s = 0; s < taken; s++)
        assert_true(sizeof *stripe + stripe[s].block_count * block_bytes <=
                    feature_stripe_bytes(source));
    for (size_t s = 0; s <= taken; s++)
        feature_stripe_release(&stripe[s]);
    feature_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(stripes_have_all_rows_whenever_they_are_read),
        test_with_store(rounded_rows_outlive_their_block),
        test_with_store(a_node_that_is_wanted_often_takes_several_stripes),
        test_with_store(a_stripe_holds_no_more_than_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
