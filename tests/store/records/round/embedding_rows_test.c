#include "store/records/round/embedding_rows.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <math.h>

static const char run[] = "karate-00000001";
static const uint32_t node[3] = {4, 7, 1000};
static const uint32_t updates[3] = {1, 2, 90};
static const float value[6] = {1, -2, 3, -4, 5, -6}, moment[6] = {0, 1, 2, 3, 4, 5};

static struct embedding_rows some_rows(uint64_t version)
{
    return (struct embedding_rows){.version = version,
                                   .shard = 3,
                                   .width = 2,
                                   .count = 3,
                                   .node = node,
                                   .value = value,
                                   .first = moment,
                                   .second = moment,
                                   .updates = updates};
}

static void seals_come_back_as_they_were(void **state)
{
    struct temp_store *p = *state;
    for (int bare = 0; bare < 2; bare++) {
        const int64_t version = 12 + bare;
        struct embedding_rows got = {0}, put = some_rows((uint64_t)version);
        if (bare)
            put.first = put.second = NULL, put.updates = NULL;
        assert_ok(embedding_rows_put(p->store, run, &put, &p->err), &p->err);
        assert_ok(embedding_rows_get(p->store, run, version, 3, &got, &p->err), &p->err);
        assert_int_equal(got.count, 3);
        assert_int_equal(got.width, 2);
        assert_memory_equal(got.node, node, sizeof node);
        assert_memory_equal(got.value, value, sizeof value);
        assert_true((!got.first) == bare && (!got.second) == bare && (!got.updates) == bare);
        if (!bare)
            assert_memory_equal(got.updates, updates, sizeof updates);
        store_release_record(&got.view);
    }
}

/* A shard that no round read. */
static void no_rows_are_a_record_too(void **state)
{
    struct temp_store *p = *state;
    const struct embedding_rows put = {.version = 1, .width = 2};
    struct embedding_rows got = {0};
    assert_ok(embedding_rows_put(p->store, run, &put, &p->err), &p->err);
    assert_ok(embedding_rows_get(p->store, run, 1, 0, &got, &p->err), &p->err);
    assert_int_equal(got.count, 0);
    store_release_record(&got.view);
}

static void another_version_or_part_is_not_taken(void **state)
{
    struct temp_store *p = *state;
    struct embedding_rows got = {0};
    assert_fails(embedding_rows_get(p->store, run, 5, 0, &got, &p->err), ERROR_NOT_FOUND,
                 "embedding/0000000005/shard/0000000000", &p->err);
    static const uint64_t later[4] = {0, 13, 3, 2};
    const struct tamper change = {"span", ELEMENT_U64, later, 4};
    const struct embedding_rows put = some_rows(12);
    assert_ok(embedding_rows_put(p->store, run, &put, &p->err), &p->err);
    record_tamper(p->store, key_embedding_seal(run, 12, 3).text, run, &change);
    assert_fails(embedding_rows_get(p->store, run, 12, 3, &got, &p->err), ERROR_CORRUPT,
                 "version 13 of shard 3, expected version 12 of shard 3", &p->err);
    assert_null(got.value);
}

static void one_bad_section_is_corrupt(void **state)
{
    static const uint64_t since_late[4] = {1, 12, 3, 2}, no_width[4] = {0, 12, 3, 0},
                          wide[4] = {0, 12, 3, 70000};
    static const uint32_t twice[3] = {4, 4, 1000}, falling[3] = {4, 3, 1000}, never[3] = {1, 0, 2};
    static const float with_nan[6] = {0, 1, 2, NAN, 4, 5};
    static const struct {
        struct tamper change;
        const char *message;
    } bad[] = {
        {{"span", ELEMENT_U64, since_late, 4}, "\"span\" since: expected 0 to 0, found 1"},
        {{"span", ELEMENT_U64, no_width, 4}, "\"span\" width: expected 1 to 65536, found 0"},
        {{"span", ELEMENT_U64, wide, 4}, "width: expected 1 to 65536, found 70000"},
        {{"span", ELEMENT_U64, since_late, 3}, "span"},
        {{"node", ELEMENT_U32, twice, 3}, "\"node\" entry 1: expected above 4, found 4"},
        {{"node", ELEMENT_U32, falling, 3}, "\"node\" entry 1: expected above 4, found 3"},
        {{"node", ELEMENT_U32, node, 2}, "section value"},
        {{"value", ELEMENT_F32, with_nan, 6},
         "\"value\" entry 3: expected a finite number, found nan"},
        {{"value", ELEMENT_F32, value, 5}, "section value"},
        {{"first", ELEMENT_F32, with_nan, 6},
         "\"first\" entry 3: expected a finite number, found nan"},
        {{"first", ELEMENT_UNKNOWN, NULL, 0}, "first"},
        {{"second", ELEMENT_F32, value, 3}, "section second"},
        {{"updates", ELEMENT_U32, never, 3}, "\"updates\" entry 1: expected at least 1, found 0"},
    };
    struct temp_store *p = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct key key = key_embedding_seal(run, 12, 3);
        const struct embedding_rows put = some_rows(12);
        struct embedding_rows got = {0};
        assert_ok(store_remove(p->store, key.text, &p->err), &p->err);
        assert_ok(embedding_rows_put(p->store, run, &put, &p->err), &p->err);
        record_tamper(p->store, key.text, run, &bad[i].change);
        assert_fails(embedding_rows_get(p->store, run, 12, 3, &got, &p->err), ERROR_CORRUPT,
                     bad[i].message, &p->err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(seals_come_back_as_they_were),
        test_with_store(no_rows_are_a_record_too),
        test_with_store(another_version_or_part_is_not_taken),
        test_with_store(one_bad_section_is_corrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
