/* How nodes of a base are called in a version, with and without types, against a walk over all of them. */
#include "common/numbers/random.h"
#include "store/records/partition/partition_delta.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

enum { ROUNDS = 2000, PARTS = 5, TYPES = 4, RANGES = PARTS * TYPES, RANGE_MAX = 90 };

static uint32_t drawn;

static uint32_t draw(uint32_t below)
{
    const struct random_stream stream = random_stream_of(3, RANDOM_GENERATOR, 0, 0, 0);
    uint32_t word[4];
    random_block(&stream, drawn++, 0, word);
    return random_below(word[0], below);
}

struct drawn_delta {
    struct partition_delta delta;
    uint32_t book[PARTS + 1], start[PARTS * (TYPES + 1)], added[RANGES];
    uint32_t gone[RANGES * RANGE_MAX];
};

/* Some ranges are empty, some lose all; `types` 0: a graph without relations. */
static void draw_delta(struct drawn_delta *d, uint32_t types)
{
    const int parts = 1 + (int)draw(PARTS);
    const uint32_t each = types ? types : 1;
    uint32_t node = 0, gone = 0;
    for (int p = 0; p < parts; p++) {
        d->book[p] = node;
        for (uint32_t t = 0; t < each; t++) {
            const uint32_t count = draw(4) ? draw(RANGE_MAX) : 0, chance = draw(4);
            d->start[(size_t)p * (each + 1) + t] = node;
            d->added[(size_t)p * each + t] = draw(3) ? draw(9) : 0;
            for (uint32_t i = 0; i < count; i++, node++)
                if (draw(3) < chance)
                    d->gone[gone++] = node;
        }
        d->start[(size_t)p * (each + 1) + each] = node;
    }
    d->book[parts] = node;
    d->added[0] += gone == node; /* a version has a node */
    d->delta = (struct partition_delta){.base = "p-0",
                                        .part_count = parts,
                                        .type_count = types,
                                        .base_book = d->book,
                                        .type_start = types ? d->start : NULL,
                                        .gone_count = gone,
                                        .gone = d->gone,
                                        .added = d->added};
}

/* Node by node, range by range. */
static void check_shift(const struct partition_delta *delta)
{
    const struct type_ranges ranges = partition_delta_ranges(delta);
    struct node_shift shift = {0};
    struct error err = {0};
    uint32_t next = 0, gone = 0;
    assert_ok(node_shift_init(&shift, delta, &err), &err);
    for (int p = 0; p < delta->part_count; p++)
        for (uint32_t t = 0; t < partition_delta_types(delta); t++) {
            uint32_t left = 0;
            for (uint32_t node = type_ranges_first(&ranges, p, t);
                 node < type_ranges_first(&ranges, p, t + 1); node++) {
                const bool goes = gone < delta->gone_count && delta->gone[gone] == node;
                assert_int_equal(node_shift_gone_below(&shift, node), gone);
                assert_int_equal(node_shift_is_gone(&shift, node), goes);
                gone += goes;
                left += !goes;
                if (!goes)
                    assert_int_equal(node_shift_of(&shift, p, t, node), next++);
            }
            assert_int_equal(node_shift_left(&shift, p, t), left);
            next += partition_delta_added(delta, p, t);
        }
    assert_int_equal(gone, delta->gone_count);
    node_shift_release(&shift);
}

static void nodes_are_shifted_as_a_walk_over_all_says(void **state)
{
    static struct drawn_delta drawn_delta;
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        draw_delta(&drawn_delta, (uint32_t)i % (TYPES + 1));
        check_shift(&drawn_delta.delta);
    }
}

static void a_record_reads_as_it_was_written(void **state)
{
    static struct drawn_delta d;
    struct temp_store *t = *state;
    for (uint32_t types = 0; types <= TYPES; types++) {
        struct partition_delta found;
        draw_delta(&d, types);
        const size_t parts = (size_t)d.delta.part_count;
        assert_ok(partition_delta_put(t->store, "p", &d.delta, &t->err), &t->err);
        assert_ok(partition_delta_get(t->store, "p", &found, &t->err), &t->err);
        assert_int_equal(found.view.version, types ? 2 : 1);
        assert_int_equal(found.part_count, parts);
        assert_int_equal(found.type_count, types);
        assert_int_equal(found.gone_count, d.delta.gone_count);
        assert_memory_equal(found.base_book, d.book, (parts + 1) * sizeof *d.book);
        assert_memory_equal(found.added, d.added,
                            parts * partition_delta_types(&found) * sizeof *d.added);
        if (types)
            assert_memory_equal(found.type_start, d.start, parts * (types + 1) * sizeof *d.start);
        check_shift(&found);
        store_release_record(&found.view);
        assert_ok(store_remove(t->store, key_partition("p", "delta").text, &t->err), &t->err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_shifted_as_a_walk_over_all_says),
        test_with_store(a_record_reads_as_it_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
