#include "stages/ingest/build/edges/reverse_detector.h"

#include "tests/support/test.h"

static struct reverse_detector detector;

static int open_detector(void **state)
{
    struct error err = {0};
    (void)state;
    assert_ok(reverse_detector_open(&detector, &err), &err);
    return 0;
}

static int close_detector(void **state)
{
    (void)state;
    reverse_detector_close(&detector);
    return 0;
}

static void edges_in_one_direction_are_seen(void **state)
{
    (void)state;
    assert_false(reverse_detector_is_one_way(&detector)); /* without edges nothing is known */
    reverse_detector_add(&detector, 3, 3, 0);
    assert_false(reverse_detector_is_one_way(&detector));
    reverse_detector_add(&detector, 0, 1, 0);
    reverse_detector_add(&detector, 2, 1, 0);
    reverse_detector_add(&detector, 2, 1, 0); /* repeated in the same direction */
    assert_true(reverse_detector_is_one_way(&detector));
    reverse_detector_add(&detector, 1, 2, 0);
    assert_false(reverse_detector_is_one_way(&detector));
}

/* Adds more pairs than the table holds: 3 million, one in a thousand reversed. */
static void a_large_graph_is_sampled(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3000000; i++)
        reverse_detector_add(&detector, i % 1500, 1500 + i / 1500, 0);
    assert_true(reverse_detector_is_one_way(&detector));
    assert_true(detector.mask > 0);
    for (uint32_t i = 0; i < 3000000; i += 1000)
        reverse_detector_add(&detector, 1500 + i / 1500, i % 1500, 0);
    assert_false(reverse_detector_is_one_way(&detector));
    /* The sample has about as many reversed pairs as its share of all. */
    const double expected = 3000.0 / (double)(detector.mask + 1);
    assert_true((double)detector.both_ways > expected / 2 &&
                (double)detector.both_ways < expected * 2);
}

/* The final counts do not depend on the pairs that were removed in between. */
static void thinning_out_loses_no_pair_it_keeps(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 1000000; i++) {
        reverse_detector_add(&detector, i, i + 1, 0);
        reverse_detector_add(&detector, i + 1, i, 0);
    }
    assert_true(detector.mask > 0);
    assert_int_equal(detector.both_ways, detector.count);
}

/* Relation 0 is listed both ways, relation 2 is the reverse of relation 1 except for a few edges,
 * and relation 3 has no edges back. */
static void edges_back_are_counted_by_type(void **state)
{
    (void)state;
    struct error err = {0};
    struct reverse_share share[4];
    for (uint32_t i = 0; i < 90; i++) {
        reverse_detector_add(&detector, i, i + 1, 0);
        reverse_detector_add(&detector, i + 1, i, 0);
        reverse_detector_add(&detector, i, 200 + i, 1);
        reverse_detector_add(&detector, i, 200 + i, 1); /* repeated */
        if (i % 3)
            reverse_detector_add(&detector, 200 + i, i, 2);
        reverse_detector_add(&detector, i, 400 + i, 3);
    }
    assert_ok(reverse_detector_shares(&detector, 4, share, &err), &err);
    const uint64_t edges[] = {180, 90, 60, 90}, back[] = {180, 60, 60, 0};
    const uint16_t type[] = {0, 2, 1};
    for (int t = 0; t < 4; t++) {
        assert_int_equal(share[t].edges, edges[t]);
        assert_int_equal(share[t].back, back[t]);
        if (t < 3)
            assert_int_equal(share[t].back_type, type[t]);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_detector, close_detector)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(edges_in_one_direction_are_seen),
        TEST(a_large_graph_is_sampled),
        TEST(thinning_out_loses_no_pair_it_keeps),
        TEST(edges_back_are_counted_by_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
