/* Tests negatives that are given as a list for each edge. */
#include "stages/sampling/pairs/pair_drawer.h"

#include "tests/support/test.h"

enum { NODE_COUNT = 300, POSITIVES = 40, NEGATIVES = 5 };

/* Gives lists of two and of seven nodes in turn to edges 0, 3, 6, ... */
static void give_lists(struct pair_request *request)
{
    static const uint64_t start[] = {0, 2, 9};
    static const uint32_t node[] = {7, 150, 299, 3, 3, 80, 81, 82, 1};
    static const struct negative_ends given = {start, node};
    static uint64_t list[POSITIVES];
    for (uint32_t i = 0; i < POSITIVES; i++)
        list[i] = i % 3 ? EDGE_INDEX_NONE : i % 2;
    request->given = &given;
    request->given_list = list;
}

/* Negatives run through the list from a drawn place and continue at its beginning; edges without a
 * list get the same draws as uniform negatives. */
static void given_negatives_are_those_of_the_list(void **state)
{
    (void)state;
    struct pair_request request = {.seed = 11,
                                   .slot = 2,
                                   .negative = NEGATIVE_GIVEN,
                                   .negatives = NEGATIVES,
                                   .positive_count = POSITIVES};
    struct pair_request plain;
    uint32_t begins[7] = {0};
    give_lists(&request);
    for (request.round = 0; request.round < 50; request.round++)
        for (uint32_t i = 0; i < POSITIVES; i++) {
            plain = request;
            plain.negative = NEGATIVE_UNIFORM;
            for (uint32_t k = 0; i % 3 && k < NEGATIVES; k++)
                assert_int_equal(pair_drawer_negative(&request, NODE_COUNT, i, k),
                                 pair_drawer_negative(&plain, NODE_COUNT, i, k));
            if (i % 3)
                continue;
            const uint64_t from = request.given->start[i % 2],
                           count = request.given->start[i % 2 + 1] - from;
            const uint32_t *list = request.given->node + from;
            bool fits = false;
            for (uint32_t at = 0; at < count; at++) {
                bool is_run = true;
                for (uint32_t k = 0; k < NEGATIVES; k++)
                    is_run = is_run && list[(at + k) % count] ==
                                           pair_drawer_negative(&request, NODE_COUNT, i, k);
                fits = fits || is_run;
                begins[at] += i % 2 && is_run;
            }
            assert_true(fits);
        }
    for (int at = 0; at < 7; at++)
        assert_true(begins[at] > 10); /* of some 300 in all */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_negatives_are_those_of_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
