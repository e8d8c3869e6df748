/* Finds edges of a list by their ends and types, compared with a linear search. */
#include "common/graph/edge_index.h"

#include "tests/support/test.h"

enum { NODES = 12, COUNT = 60 };

static uint64_t find_slowly(const struct edge_index *index, uint32_t s, uint32_t t, uint16_t type)
{
    for (uint64_t i = 0; i < index->count; i++) {
        const bool is_same = index->source[i] == s && index->target[i] == t;
        const bool is_turned = index->source[i] == t && index->target[i] == s;
        if ((is_same || (index->undirected && is_turned)) &&
            (index->type ? index->type[i] : 0) == type)
            return i;
    }
    return EDGE_INDEX_NONE;
}

static void edges_are_found(void **state)
{
    (void)state;
    uint32_t source[COUNT], target[COUNT];
    uint16_t type[COUNT];
    struct error err = {0};
    uint32_t found = 0, missing = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        source[i] = i * 7 % NODES;
        target[i] = i * i % 11;
        type[i] = (uint16_t)(i % 3);
    }
    for (int kind = 0; kind < 4; kind++) {
        struct edge_index index = {.source = source,
                                   .target = target,
                                   .type = kind & 1 ? type : NULL,
                                   .count = COUNT,
                                   .undirected = kind & 2};
        uint64_t first = 0, second = 0;
        assert_ok(edge_index_sort(&index, &err), &err);
        for (uint32_t s = 0; s < NODES; s++)
            for (uint32_t t = 0; t < NODES; t++)
                for (uint16_t k = 0; k < 3; k++) {
                    const uint64_t expected = find_slowly(&index, s, t, k);
                    assert_true(edge_index_find(&index, s, t, k) == expected);
                    *(expected == EDGE_INDEX_NONE ? &missing : &found) += 1;
                }
        assert_true(edge_index_repeated(&index, &first, &second));
        assert_true(first < second);
        assert_true(find_slowly(&index, source[second], target[second],
                                index.type ? type[second] : 0) <= first);
        edge_index_release(&index);
    }
    assert_true(found > 50 && missing > 50);
}

static void nothing_is_in_an_empty_list(void **state)
{
    (void)state;
    struct edge_index index = {.count = 0};
    struct error err = {0};
    uint64_t first = 0, second = 0;
    assert_true(edge_index_find(&index, 1, 2, 0) == EDGE_INDEX_NONE);
    assert_ok(edge_index_sort(&index, &err), &err);
    assert_true(edge_index_find(&index, 1, 2, 0) == EDGE_INDEX_NONE);
    assert_false(edge_index_repeated(&index, &first, &second));
    edge_index_release(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_are_found),
        cmocka_unit_test(nothing_is_in_an_empty_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
