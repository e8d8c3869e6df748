#include "stages/checkpoint/best_rule.h"

#include "tests/support/test.h"

#include <math.h>

enum { LENGTH = 8 };

struct story {
    const char *name;
    struct best_rule rule;
    int count;
    double metric[LENGTH]; /* of snapshots 1, 2, ... */
    int64_t best[LENGTH];  /* version expected after each */
    int64_t since[LENGTH]; /* snapshots since the best, expected after each */
    bool stops[LENGTH];
};

static const double none = (double)NAN;

static void the_best_and_the_end_follow_the_metric(void **state)
{
    (void)state;
    const struct story stories[] = {
        {"rising", {false, 0, 4}, 4, {1, 2, 3, 4}, {1, 2, 3, 4}, {0, 0, 0, 0}, {0, 0, 0, 1}},
        {"falling", {false, 0, 9}, 3, {3, 2, 1}, {1, 1, 1}, {0, 1, 2}, {0, 0, 0}},
        {"a falling loss is better", {true, 0, 9}, 3, {3, 2, 1}, {1, 2, 3}, {0, 0, 0}, {0, 0, 0}},
        {"an equal one is not better", {false, 0, 9}, 3, {2, 2, 2}, {1, 1, 1}, {0, 1, 2}, {0}},
        {"patience ends it", {false, 2, 9}, 4, {5, 4, 6, 5}, {1, 1, 3, 3}, {0, 1, 0, 1}, {0}},
        {"patience of one", {false, 1, 9}, 2, {5, 5}, {1, 1}, {0, 1}, {0, 1}},
        {"patience of three",
         {false, 3, 9},
         5,
         {5, 4, 4, 4, 4},
         {1, 1, 1, 1, 1},
         {0, 1, 2, 3, 4},
         {0, 0, 0, 1, 1}},
        {"no validation: the last, and no early end",
         {false, 1, 3},
         3,
         {none, none, none},
         {1, 2, 3},
         {0, 0, 0},
         {0, 0, 1}},
        {"a number is better than none, and none than no number",
         {false, 0, 9},
         4,
         {none, 0.5, none, 0.6},
         {1, 2, 2, 4},
         {0, 0, 1, 0},
         {0}},
        {"zero is a metric", {false, 0, 9}, 2, {0, 0.1}, {1, 2}, {0, 0}, {0}},
    };
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
        const struct story *s = &stories[i];
        struct best_so_far best = {.version = -1, .metric = none};
        for (int k = 0; k < s->count; k++) {
            best = best_rule_after(&s->rule, &best, k + 1, s->metric[k]);
            if (best.version != s->best[k] || best.since != s->since[k] ||
                best_rule_stops(&s->rule, &best, k + 1) != s->stops[k])
                fail_msg("%s: after snapshot %d best %d, since %d", s->name, k + 1,
                         (int)best.version, (int)best.since);
            const double metric = s->metric[best.version - 1];
            assert_true(best.metric == metric || (isnan(best.metric) && isnan(metric)));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_and_the_end_follow_the_metric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
