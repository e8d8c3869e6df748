#include "common/base/memory.h"
#include "common/graph/edge_discovery.h"
#include "common/numbers/cpu_level.h"
#include "common/numbers/packed_integers.h"
#include "common/numbers/random.h"

#include "tests/support/test.h"

enum { EDGES_MAX = 400, FIRST_NEW = 7 };

/* Draws edges: `found_of` of 8 discover the next node; the others have known sources, or any if
 * `wild`. */
static void fill(uint32_t *neighbor, uint32_t edge_count, uint32_t found_of, int wild)
{
    const struct random_stream stream = random_stream_of(1, RANDOM_GENERATOR, found_of, 0, 0);
    uint32_t next = FIRST_NEW;
    for (uint32_t e = 0; e < edge_count; e++) {
        const uint32_t word = random_word(&stream, e, 1);
        if (random_below(random_word(&stream, e, 0), 8) < found_of)
            neighbor[e] = next++;
        else
            neighbor[e] = wild ? word : random_below(word, next);
    }
}

/* Marks edge by edge. Returns the number of edges that discover no node. */
static uint32_t mark_slowly(const uint32_t *neighbor, uint32_t edge_count, uint8_t *is_new,
                            uint32_t *rest)
{
    uint32_t next = FIRST_NEW, count = 0;
    for (uint32_t e = 0; e < edge_count; e++) {
        is_new[e] = neighbor[e] == next;
        next += is_new[e];
        if (!is_new[e])
            rest[count++] = neighbor[e];
    }
    return count;
}

static void check(uint32_t edge_count, uint32_t found_of, int wild)
{
    static uint8_t expected_new[EDGES_MAX];
    static uint32_t expected_rest[EDGES_MAX];
    const uint64_t words = packed_integers_words(edge_count, 1);
    const size_t room = (size_t)edge_count + EDGE_DISCOVERY_SLACK;
    uint32_t *neighbor = memory_alloc(edge_count, sizeof *neighbor);
    uint32_t *back = memory_alloc(room, sizeof *back);
    uint64_t *is_new = memory_alloc(words, sizeof *is_new);
    fill(neighbor, edge_count, found_of, wild);
    const uint32_t rest_count = mark_slowly(neighbor, edge_count, expected_new, expected_rest);
    const struct edge_discovery found =
        edge_discovery_mark(neighbor, edge_count, FIRST_NEW, is_new);
    assert_int_equal(found.rest_count, rest_count);
    assert_int_equal(found.rest_width, packed_integers_width(expected_rest, rest_count));
    assert_int_equal(edge_discovery_count(is_new, edge_count), edge_count - rest_count);
    for (uint32_t e = 0; e < 64 * words; e++)
        assert_int_equal(is_new[e / 64] >> e % 64 & 1, e < edge_count && expected_new[e]);
    uint64_t *packed =
        memory_alloc(packed_integers_words(rest_count, found.rest_width), sizeof *packed);
    edge_discovery_pack_rest(neighbor, edge_count, is_new, found.rest_width, packed);
    memset(back, 0xff, room * sizeof *back);
    packed_integers_unpack(packed, rest_count, found.rest_width, back + (edge_count - rest_count));
    edge_discovery_restore(is_new, edge_count, rest_count, FIRST_NEW, back);
    assert_memory_equal(back, neighbor, edge_count * sizeof *back);
    memory_free(packed);
    memory_free(is_new);
    memory_free(back);
    memory_free(neighbor);
}

static void any_edges_come_back(void **state)
{
    (void)state;
    for (int level = CPU_PLAIN; level <= CPU_AVX512; level++) {
        cpu_level_limit((enum cpu_level)level);
        for (uint32_t found_of = 0; found_of <= 8; found_of++)
            for (uint32_t edge_count = 0; edge_count <= EDGES_MAX;
                 edge_count += edge_count < 200 ? 1 : 7) {
                check(edge_count, found_of, 0);
                check(edge_count, found_of, 1);
            }
        cpu_level_limit(CPU_BF16);
    }
}

static void the_example_of_the_header_is_so(void **state)
{
    (void)state;
    static const uint32_t neighbor[] = {5, 6, 0, 7, 6, 8};
    uint64_t is_new = UINT64_MAX, rest = UINT64_MAX;
    const struct edge_discovery found = edge_discovery_mark(neighbor, 6, 5, &is_new);
    edge_discovery_pack_rest(neighbor, 6, &is_new, found.rest_width, &rest);
    assert_int_equal(is_new, 0x2b); /* the first edge is the lowest bit */
    assert_int_equal(found.rest_count, 2);
    assert_int_equal(found.rest_width, 3);
    assert_int_equal(rest, 0 | 6 << 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_edges_come_back),
        cmocka_unit_test(the_example_of_the_header_is_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
