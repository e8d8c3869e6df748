/* Each kind of row of a table of sections: what is written reads back, and what no writer writes is
 * refused with record, section, expected and found. */
#include "store/records/section_table.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <math.h>

struct sample {
    char name[8];
    uint32_t row_count, width;
    uint16_t seed;
    bool has_mean, is_new;
    double mean;
    const uint32_t *row;   /* [row_count] */
    const float *value;    /* [row_count, width] */
    const uint64_t *start; /* [row_count + 1] */
    const uint8_t *flag;   /* [row_count] or NULL */
    uint64_t pair_count;
    const uint16_t *pair; /* [pair_count, 2] */
    struct record_view view;
};

static enum error_code check_name(const struct record_view *view, void *out, struct error *err)
{
    const struct sample *s = out;
    return s->name[0] != 'x' ? ERROR_NONE
                             : error_set(err, ERROR_CORRUPT, "%s: no x is wanted", view->key);
}

#define SECTION_STRUCT struct sample
static const struct section_number shape[] = {
    {"width", AT(width), 1, 9}, {"seed", AT(seed), 0, 0},  {"zero", {0, 0}, 0, 0},
    {NULL, {0, 0}, 0, 0},       {"new", AT(is_new), 0, 0},
};
static const struct section_row rows[] = {
    {SECTION_TEXT("name", name), .checks = SECTION_ID, .read = check_name},
    {SECTION_NUMBERS("shape", U32, shape)},
    {SECTION_ARRAY("row", U32, row), .sets = AT(row_count), .least = 1, .most = 5,
     .checks = SECTION_ASCENDS, .behind = 100},
    {SECTION_ARRAY("value", F32, value), .count = AT(row_count), .times = AT(width),
     .checks = SECTION_FINITE},
    {SECTION_ARRAY("start", U64, start), .count = AT(row_count), .plus = 1,
     .checks = SECTION_FROM_0 | SECTION_RISES},
    {SECTION_VALUE("mean", F64, mean), .when = AT(has_mean), .if_there = true,
     .checks = SECTION_FINITE},
    {SECTION_ARRAY("flag", U8, flag), .count = AT(row_count), .if_there = true, .floor = 1,
     .limit = AT(width)},
    {SECTION_ARRAY("pair", U16, pair), .sets = AT(pair_count), .unit = 2, .since = 3},
};
static const struct section_table table = SECTION_TABLE(RECORD_WALK_COUNTS, 2, 3, rows);

static const uint32_t row[3] = {4, 7, 99};
static const float value[6] = {1, 2, 3, 4, 5, 6};
static const uint64_t start[4] = {0, 2, 2, 5};
static const uint8_t flag[3] = {1, 1, 1};
static const uint16_t pair[4] = {1, 2, 3, 4};

static struct sample known(void)
{
    return (struct sample){.name = "a.b",
                           .row_count = 3,
                           .width = 2,
                           .seed = 65535,
                           .has_mean = true,
                           .is_new = true,
                           .mean = 0.5,
                           .row = row,
                           .value = value,
                           .start = start,
                           .flag = flag,
                           .pair_count = 2,
                           .pair = pair};
}

static void put(struct temp_store *t, const struct sample *sample)
{
    assert_ok(store_remove(t->store, "k", &t->err), &t->err);
    assert_ok(section_table_put(t->store, &table, "k", "o", sample, STORE_RECOMPUTABLE, &t->err),
              &t->err);
}

static void every_row_reads_back(void **state)
{
    struct temp_store *t = *state;
    const struct sample written = known();
    struct sample read;
    put(t, &written);
    assert_ok(section_table_get(t->store, &table, "k", "o", &read, &t->err), &t->err);
    assert_int_equal(read.view.version, 3);
    assert_string_equal(read.name, "a.b");
    assert_int_equal(read.row_count, 3);
    assert_int_equal(read.width, 2);
    assert_int_equal(read.seed, 65535);
    assert_true(read.has_mean && read.is_new && read.mean == 0.5);
    assert_memory_equal(read.row, row, sizeof row);
    assert_memory_equal(read.value, value, sizeof value);
    assert_memory_equal(read.start, start, sizeof start);
    assert_memory_equal(read.flag, flag, sizeof flag);
    assert_int_equal(read.pair_count, 2);
    assert_memory_equal(read.pair, pair, sizeof pair);
    store_release_record(&read.view);
}

static void what_is_not_there_is_not_written(void **state)
{
    struct temp_store *t = *state;
    struct sample written = known(), read;
    written.has_mean = written.is_new = false;
    written.flag = NULL;
    written.pair = NULL;
    put(t, &written);
    assert_ok(section_table_get(t->store, &table, "k", "o", &read, &t->err), &t->err);
    assert_int_equal(read.view.version, 2);
    assert_int_equal(read.view.section_count, 5);
    assert_false(read.has_mean || read.is_new || read.flag || read.pair);
    store_release_record(&read.view);
}

static void what_no_writer_writes_is_refused(void **state)
{
    static const uint32_t no_width[5] = {0, 7, 0, 0, 0}, wide[5] = {10, 7, 0, 0, 0},
                          large_seed[5] = {2, 65536, 0, 0, 0}, no_zero[5] = {2, 7, 1, 0, 0},
                          two[5] = {2, 7, 0, 5, 2}, twice[3] = {4, 4, 99}, high[3] = {4, 7, 100};
    static const float nan_value[6] = {1, 2, 3, NAN, 5, 6};
    static const uint64_t late[4] = {1, 2, 2, 5}, back[4] = {0, 2, 1, 5};
    static const uint8_t no_flag[3] = {1, 0, 1}, high_flag[3] = {1, 1, 2};
    static const double endless[1] = {HUGE_VAL};
    static const struct {
        struct tamper change;
        const char *message;
    } cases[] = {
        {{"name", ELEMENT_U8, "a/b", 3}, "record k: \"name\": expected an id of [A-Za-z0-9._-]"},
        {{"name", ELEMENT_U8, "xyz", 3}, "no x is wanted"},
        {{"name", ELEMENT_U8, "12345678", 8}, "section name: expected text of at most 7 bytes"},
        {{"shape", ELEMENT_U32, no_width, 5}, "\"shape\" width: expected 1 to 9, found 0"},
        {{"shape", ELEMENT_U32, wide, 5}, "\"shape\" width: expected 1 to 9, found 10"},
        {{"shape", ELEMENT_U32, large_seed, 5}, "seed: expected 0 to 65535, found 65536"},
        {{"shape", ELEMENT_U32, no_zero, 5}, "\"shape\" zero: expected 0 to 0, found 1"},
        {{"shape", ELEMENT_U32, two, 5}, "\"shape\" new: expected 0 to 1, found 2"},
        {{"shape", ELEMENT_U32, two, 4}, "section shape: expected 5 elements, found 4"},
        {{"row", ELEMENT_U32, row, 0}, "record k: \"row\" length: expected 1 to 5, found 0"},
        {{"row", ELEMENT_U32, twice, 3}, "\"row\" entry 1: expected above 4, found 4"},
        {{"row", ELEMENT_U32, high, 3}, "\"row\" entry 2: expected below 100, found 100"},
        {{"value", ELEMENT_F32, value, 5}, "section value: expected 6 elements, found 5"},
        {{"value", ELEMENT_F32, nan_value, 6}, "\"value\" entry 3: expected a finite number"},
        {{"start", ELEMENT_U64, start, 3}, "section start: expected 4 elements, found 3"},
        {{"start", ELEMENT_U64, late, 4}, "\"start\" entry 0: expected 0, found 1"},
        {{"start", ELEMENT_U64, back, 4}, "\"start\" entry 2: expected at least 2, found 1"},
        {{"mean", ELEMENT_F64, endless, 1},
         "\"mean\" entry 0: expected a finite number, found inf"},
        {{"flag", ELEMENT_U8, no_flag, 3}, "\"flag\" entry 1: expected at least 1, found 0"},
        {{"flag", ELEMENT_U8, high_flag, 3}, "\"flag\" entry 2: expected below 2, found 2"},
        {{"pair", ELEMENT_U16, pair, 3},
         "\"pair\": expected 2 elements for each of 0 or more, found 3"},
        {{"pair", ELEMENT_UNKNOWN, NULL, 0}, "expected a section pair, found none"},
    };
    struct temp_store *t = *state;
    const struct sample written = known();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sample read;
        put(t, &written);
        record_tamper(t->store, "k", "o", &cases[i].change);
        assert_fails(section_table_get(t->store, &table, "k", "o", &read, &t->err), ERROR_CORRUPT,
                     cases[i].message, &t->err);
        assert_int_equal(read.row_count, 0);
        assert_null(read.view.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(every_row_reads_back),
        test_with_store(what_is_not_there_is_not_written),
        test_with_store(what_no_writer_writes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
