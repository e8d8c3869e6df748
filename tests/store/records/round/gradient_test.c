/* Gradients as records: as floats, encoded, and when they are not what they say. */
#include "common/base/memory.h"
#include "store/objects/keys.h"
#include "store/records/round/gradient.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <math.h>

static const char run[] = "karate-00000001";
static const float value[8] = {1, -2, 3, -4, 5, -6, 7, -8};
static const float moment[8] = {0, 1, 2, 3, 4, 5, 6, 7};
static const float with_nan[8] = {0, 1, 2, NAN, 4, 5, 6, 7};

static void a_gradient_comes_back_even_with_a_nan(void **state)
{
    struct temp_store *p = *state;
    const struct gradient put = {.weights_version = 9,
                                 .value_count = 8,
                                 .value = with_nan,
                                 .seed_count = 5,
                                 .correct_count = 5,
                                 .loss_sum = (double)NAN};
    struct gradient got = {0};
    assert_ok(gradient_put(p->store, run, 9, 2, &put, NULL, &p->err), &p->err);
    assert_ok(gradient_get(p->store, run, 9, 2, &got, &p->err), &p->err);
    assert_int_equal(got.weights_version, 9);
    assert_memory_equal(got.value, with_nan, sizeof with_nan);
    assert_int_equal(got.seed_count, 5);
    assert_int_equal(got.correct_count, 5);
    assert_true(isnan(got.loss_sum));
    gradient_release(&got);
}

static void the_rows_of_a_gradient_come_back_in_order(void **state)
{
    static const uint32_t node[2] = {5, 900}, falling[2] = {900, 5};
    static const struct {
        struct tamper change;
        const char *message;
    } bad[] = {
        {{"row_node", ELEMENT_U32, falling, 2},
         "\"row_node\" entry 1: expected above 900, found 5"},
        {{"row_node", ELEMENT_U32, node, 0}, "for each of 0 nodes"},
        {{"row_node", ELEMENT_UNKNOWN, NULL, 0}, "row_node"},
        {{"row_gradient", ELEMENT_F32, value, 5}, "the gradient of rows has 5 values"},
        {{"row_gradient", ELEMENT_UNKNOWN, NULL, 0}, "row_gradient"},
    };
    struct temp_store *p = *state;
    const struct gradient put = {.weights_version = 1,
                                 .value_count = 8,
                                 .value = value,
                                 .seed_count = 1,
                                 .group_count = 1,
                                 .group = {{0, 3, 2, node, moment}}};
    struct gradient got = {0};
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        const struct key key = key_gradient(run, 1, 0);
        assert_ok(store_remove(p->store, key.text, &p->err), &p->err);
        assert_ok(gradient_put(p->store, run, 1, 0, &put, NULL, &p->err), &p->err);
        if (i < sizeof bad / sizeof *bad) {
            record_tamper(p->store, key.text, run, &bad[i].change);
            assert_fails(gradient_get(p->store, run, 1, 0, &got, &p->err), ERROR_CORRUPT,
                         bad[i].message, &p->err);
            continue;
        }
        assert_ok(gradient_get(p->store, run, 1, 0, &got, &p->err), &p->err);
        assert_true(got.group_count == 1 && got.group[0].count == 2 && got.group[0].width == 3);
        assert_memory_equal(got.group[0].node, node, sizeof node);
        assert_memory_equal(got.group[0].gradient, moment, 6 * sizeof *moment);
        gradient_release(&got);
    }
}

static void the_rows_of_several_node_types_come_back(void **state)
{
    static const uint32_t node[3] = {5, 900, 2}, one_too_many[6] = {1, 3, 2, 4, 2, 2};
    static const uint32_t falling[6] = {4, 2, 1, 1, 3, 2}, alike[6] = {1, 3, 2, 1, 2, 1},
                          wider[6] = {1, 3, 2, 4, 3, 1}, none[6] = {1, 3, 0, 4, 2, 1},
                          no_such[6] = {1, 3, 2, 16, 2, 1};
    static const struct tamper bad[] = {
        {"row_group", ELEMENT_U32, falling, 6}, {"row_group", ELEMENT_U32, alike, 6},
        {"row_group", ELEMENT_U32, wider, 6},   {"row_group", ELEMENT_U32, none, 6},
        {"row_group", ELEMENT_U32, no_such, 6}, {"row_group", ELEMENT_U32, one_too_many, 6},
        {"row_group", ELEMENT_U32, wider, 5},   {"row_group", ELEMENT_U32, wider, 0},
    };
    struct temp_store *p = *state;
    const struct key key = key_gradient(run, 1, 0);
    const struct gradient put = {
        .weights_version = 1,
        .value_count = 8,
        .value = value,
        .seed_count = 1,
        .group_count = 2,
        .group = {{1, 3, 2, node, moment}, {4, 2, 1, node + 2, moment + 6}}};
    struct gradient got = {0};
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        assert_ok(store_remove(p->store, key.text, &p->err), &p->err);
        assert_ok(gradient_put(p->store, run, 1, 0, &put, NULL, &p->err), &p->err);
        if (i < sizeof bad / sizeof *bad) {
            record_tamper(p->store, key.text, run, &bad[i]);
            assert_fails(gradient_get(p->store, run, 1, 0, &got, &p->err), ERROR_CORRUPT,
                         "section row_group has", &p->err);
        }
    }
    assert_ok(gradient_get(p->store, run, 1, 0, &got, &p->err), &p->err);
    const struct gradient_rows *one = gradient_rows_of(&got, 1), *other = gradient_rows_of(&got, 4);
    assert_true(one->count == 2 && one->width == 3 && other->count == 1 && other->width == 2);
    assert_memory_equal(one->node, node, 2 * sizeof *node);
    assert_memory_equal(other->node, node + 2, sizeof *node);
    assert_memory_equal(one->gradient, moment, 6 * sizeof *moment);
    assert_memory_equal(other->gradient, moment + 6, 2 * sizeof *moment);
    assert_null(gradient_rows_of(&got, 0));
    gradient_release(&got);
}

/* --- encoded --- */

enum { VALUES = 3000, STATISTICS = 7, ROWS = 50, WIDTH = 12 };

struct sample {
    float value[VALUES + STATISTICS], row[ROWS * WIDTH];
    uint32_t node[ROWS];
    struct gradient gradient;
};

/* Values of many magnitudes; every hundredth alone where `kept_alone`. */
static void fill(struct sample *sample, bool kept_alone)
{
    for (int i = 0; i < VALUES + STATISTICS; i++)
        sample->value[i] = kept_alone && i < VALUES && i % 100
                               ? 0.0F
                               : sinf((float)i * 0.37F) * expf((float)(i % 17) - 8.0F);
    for (int i = 0; i < ROWS * WIDTH; i++)
        sample->row[i] = cosf((float)i);
    for (uint32_t i = 0; i < ROWS; i++)
        sample->node[i] = 3 * i;
    sample->gradient = (struct gradient){.weights_version = 4,
                                         .value_count = VALUES + STATISTICS,
                                         .value = sample->value,
                                         .seed_count = 5,
                                         .group_count = 1,
                                         .group = {{0, WIDTH, ROWS, sample->node, sample->row}}};
}

static void put_and_get(struct temp_store *p, const struct sample *sample,
                        enum gradient_encoding encoding, struct gradient *got, uint64_t *bytes)
{
    const struct gradient_form form = {.encoding = encoding, .encoded_count = VALUES, .seed = 11};
    const struct key key = key_gradient(run, 4, 1);
    struct record_view view = {0};
    assert_ok(store_remove(p->store, key.text, &p->err), &p->err);
    assert_ok(gradient_put(p->store, run, 4, 1, &sample->gradient, &form, &p->err), &p->err);
    assert_ok(gradient_get(p->store, run, 4, 1, got, &p->err), &p->err);
    assert_ok(store_get(p->store, key.text, run, &view, &p->err), &p->err);
    *bytes = view.size;
    store_release_record(&view);
}

/* Largest difference, as a share of the largest of the block of `block` that it is in. */
static double largest_error(const float *was, const float *is, int count, int block)
{
    double worst = 0;
    for (int first = 0; first < count; first += block) {
        double most = 0, error = 0;
        for (int i = first; i < first + block && i < count; i++) {
            most = fmax(most, fabs((double)was[i]));
            error = fmax(error, fabs((double)was[i] - (double)is[i]));
        }
        worst = fmax(worst, error / most);
    }
    return worst;
}

static void an_encoded_gradient_comes_back_nearly_as_it_was(void **state)
{
    static const struct {
        enum gradient_encoding encoding;
        double error;     /* of a value, as a share of the largest in its block */
        double row_error; /* likewise */
        double bytes;     /* of a number */
    } cases[] = {{GRADIENT_F32, 0, 0, 4},
                 {GRADIENT_BF16, 1.0 / 128, 1.0 / 128, 2},
                 {GRADIENT_INT8, 1.0 / 127, 1.0 / 127, 1.05}};
    struct temp_store *p = *state;
    struct sample *sample = memory_alloc(1, sizeof *sample);
    assert_non_null(sample);
    fill(sample, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gradient got = {0};
        uint64_t bytes = 0;
        put_and_get(p, sample, cases[i].encoding, &got, &bytes);
        assert_int_equal(got.value_count, VALUES + STATISTICS);
        assert_memory_equal(got.value + VALUES, sample->value + VALUES, STATISTICS * sizeof(float));
        assert_true(got.group_count == 1 && got.group[0].count == ROWS);
        const double error = largest_error(sample->value, got.value, VALUES, 1024);
        const double row_error =
            largest_error(sample->row, got.group[0].gradient, ROWS * WIDTH, 64);
        assert_true(error <= cases[i].error * 1.0001 && row_error <= cases[i].row_error * 1.0001);
        assert_int_equal(error > 0, cases[i].encoding != GRADIENT_F32);
        /* ids, statistics, header and the table of sections */
        const double beside = 4.0 * (ROWS + STATISTICS) + 1600;
        assert_true((double)bytes <= cases[i].bytes * (VALUES + ROWS * WIDTH) + beside);
        gradient_release(&got);
    }
    memory_free(sample);
}

static void the_error_of_an_encoding_is_in_the_record(void **state)
{
    struct temp_store *p = *state;
    struct sample *sample = memory_alloc(1, sizeof *sample);
    struct gradient got = {0};
    uint64_t bytes = 0;
    double error = 0, norm = 0;
    assert_non_null(sample);
    fill(sample, false);
    put_and_get(p, sample, GRADIENT_INT8, &got, &bytes);
    for (int i = 0; i < VALUES; i++) {
        const double lost = (double)sample->value[i] - (double)got.value[i];
        error += lost * lost;
        norm += (double)sample->value[i] * (double)sample->value[i];
    }
    assert_true(error > 0 && got.squared_error == error && got.squared_norm == norm);
    gradient_release(&got);
    put_and_get(p, sample, GRADIENT_F32, &got, &bytes);
    assert_true(got.squared_error == 0 && got.squared_norm == 0);
    gradient_release(&got);
    memory_free(sample);
}

static void few_numbers_are_stored_with_their_places(void **state)
{
    struct temp_store *p = *state;
    struct sample *sample = memory_alloc(1, sizeof *sample);
    struct gradient got = {0};
    uint64_t few = 0, all = 0;
    assert_non_null(sample);
    fill(sample, true);
    put_and_get(p, sample, GRADIENT_SPARSE, &got, &few);
    assert_memory_equal(got.value, sample->value, sizeof sample->value);
    assert_memory_equal(got.group[0].gradient, sample->row, sizeof sample->row);
    assert_true(few < 8 * VALUES / 100 + 4 * (STATISTICS + ROWS * WIDTH + ROWS) + 1600);
    gradient_release(&got);
    /* Where it would make it longer, and of nothing, floats are stored. */
    fill(sample, false);
    put_and_get(p, sample, GRADIENT_SPARSE, &got, &all);
    assert_memory_equal(got.value, sample->value, sizeof sample->value);
    assert_true(all > few && all < 4 * (VALUES + STATISTICS + ROWS * WIDTH + ROWS) + 1600);
    gradient_release(&got);
    memory_free(sample);
}

static void encoded_sections_that_do_not_fit_are_corrupt(void **state)
{
    static const uint8_t bytes[VALUES] = {0};
    static const float scale[4] = {1, 1, 1, 1};
    static const uint64_t counts[] = {0, VALUES + 1, (uint64_t)1 << 32};
    static const double error[2] = {1, -1};
    static const struct {
        struct tamper change;
        const char *message;
    } bad[] = {
        {{"value_int8", ELEMENT_U8, bytes, VALUES - 1}, "value_int8 has 2999 elements for 3000"},
        {{"value_scale", ELEMENT_F32, scale, 4}, "a scale for each block"},
        {{"value_scale", ELEMENT_UNKNOWN, NULL, 0}, "value_scale"},
        {{"value_count", ELEMENT_U64, &counts[0], 1}, "value_count says 0"},
        {{"value_count", ELEMENT_U64, &counts[1], 1}, "3000 elements for 3001"},
        {{"value_count", ELEMENT_U64, &counts[2], 1}, "value_count says 4294967296"},
        {{"value_count", ELEMENT_UNKNOWN, NULL, 0}, "value_count"},
        {{"encoding_error", ELEMENT_F64, error, 2}, "encoding_error has 1 and -1"},
        {{"row_int8", ELEMENT_U8, bytes, ROWS * WIDTH - 1}, "the gradient of rows has 599 values"},
        {{"row_scale", ELEMENT_F32, scale, 4},
         "row_int8 has 600 elements for 600 numbers, expected a number"},
    };
    struct temp_store *p = *state;
    struct sample *sample = memory_alloc(1, sizeof *sample);
    const struct gradient_form form = {.encoding = GRADIENT_INT8, .encoded_count = VALUES};
    const struct key key = key_gradient(run, 4, 1);
    assert_non_null(sample);
    fill(sample, false);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gradient got = {0};
        assert_ok(gradient_put(p->store, run, 4, 1, &sample->gradient, &form, &p->err), &p->err);
        record_tamper(p->store, key.text, run, &bad[i].change);
        assert_fails(gradient_get(p->store, run, 4, 1, &got, &p->err), ERROR_CORRUPT,
                     bad[i].message, &p->err);
        assert_null(got.decoded);
        assert_ok(store_remove(p->store, key.text, &p->err), &p->err);
    }
    memory_free(sample);
}

static void places_that_do_not_ascend_are_corrupt(void **state)
{
    static const uint32_t alike[2] = {0, 0}, behind[2] = {0, VALUES};
    static const float kept[2] = {1, 2};
    static const uint64_t many = (uint64_t)1 << 31;
    static const struct tamper bad[] = {{"value_index", ELEMENT_U32, alike, 2},
                                        {"value_index", ELEMENT_U32, behind, 2},
                                        {"value_index", ELEMENT_U32, alike, 1},
                                        {"value_kept", ELEMENT_F32, kept, 1},
                                        {"value_count", ELEMENT_U64, &many, 1}};
    struct temp_store *p = *state;
    const struct gradient_form form = {.encoding = GRADIENT_SPARSE, .encoded_count = VALUES};
    const struct key key = key_gradient(run, 4, 1);
    struct sample *sample = memory_alloc(1, sizeof *sample);
    assert_non_null(sample);
    fill(sample, true);
    memset(sample->value + 200, 0, (VALUES - 200) * sizeof *sample->value);
    sample->value[0] = 1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gradient got = {0};
        assert_ok(gradient_put(p->store, run, 4, 1, &sample->gradient, &form, &p->err), &p->err);
        record_tamper(p->store, key.text, run, &bad[i]);
        assert_fails(gradient_get(p->store, run, 4, 1, &got, &p->err), ERROR_CORRUPT,
                     "as many places as numbers", &p->err);
        assert_ok(store_remove(p->store, key.text, &p->err), &p->err);
    }
    memory_free(sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_gradient_comes_back_even_with_a_nan),
        test_with_store(the_rows_of_a_gradient_come_back_in_order),
        test_with_store(the_rows_of_several_node_types_come_back),
        test_with_store(an_encoded_gradient_comes_back_nearly_as_it_was),
        test_with_store(the_error_of_an_encoding_is_in_the_record),
        test_with_store(few_numbers_are_stored_with_their_places),
        test_with_store(encoded_sections_that_do_not_fit_are_corrupt),
        test_with_store(places_that_do_not_ascend_are_corrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
