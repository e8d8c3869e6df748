#include "stages/plan/model/loss_warning.h"

#include "tests/support/test.h"

#include <math.h>
#include <string.h>

enum { ROUNDS_MAX = 64 };

/* Returns the warnings for rounds of these losses, with one seed each, in epochs of `epoch` rounds,
 * after a snapshot of the loss `previous`. */
static unsigned find(const double *loss, uint64_t count, uint64_t epoch, double previous)
{
    static double rounds[ROUNDS_MAX * PROGRESS_COUNT];
    double sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        rounds[i * PROGRESS_COUNT + PROGRESS_LOSS] = loss[i];
        rounds[i * PROGRESS_COUNT + PROGRESS_SEEDS] = 1;
        sum += loss[i];
    }
    const struct loss_record record = {.rounds = rounds,
                                       .count = count,
                                       .rounds_per_epoch = epoch,
                                       .loss = sum / (double)count,
                                       .previous = previous};
    return loss_warning_find(&record);
}

static void a_loss_above_a_million_is_large(void **state)
{
    static const double high[] = {3e6, 1e5}, low[] = {1.1e6, 8e5}, endless[] = {(double)INFINITY};
    struct loss_record numbers = {.loss = 4e11, .previous = (double)NAN, .is_of_numbers = true};
    (void)state;
    assert_int_equal(find(high, 2, 2, (double)NAN), LOSS_IS_LARGE);
    assert_int_equal(find(low, 2, 2, (double)NAN), 0);
    assert_int_equal(find(endless, 1, 1, (double)NAN), LOSS_IS_LARGE);
    assert_int_equal(loss_warning_find(&numbers), 0); /* l2 of large labels */
    numbers.is_of_numbers = false;
    assert_int_equal(loss_warning_find(&numbers), LOSS_IS_LARGE);
}

static void a_loss_that_grows_through_an_epoch_is_told(void **state)
{
    static const double grows[] = {1, 1.5, 1.2, 1.6, 1.7, 1.9, 2, 2.2};
    static const double ends_lower[] = {1, 1.2, 1.5, 1.6, 2, 3, 2, 2.2};
    static const double barely[] = {1, 1.1, 1.2, 1.3};
    static const double falls_then_grows[] = {9, 5, 4, 3, 3, 4, 5, 6};
    static const double one[] = {2}, small[] = {0.1, 0.2, 0.4, 0.9};
    (void)state;
    assert_int_equal(find(grows, 8, 8, (double)NAN), LOSS_GROWS);
    assert_int_equal(find(grows, 8, 8, 0.9), LOSS_GROWS);
    assert_int_equal(find(grows, 8, 8, 1.3), 0); /* the loss began lower than that of the last
                                                  * snapshot */
    assert_int_equal(find(ends_lower, 8, 8, 0.9), 0);
    assert_int_equal(find(barely, 4, 4, 0.99), 0);
    assert_int_equal(find(falls_then_grows, 8, 4, (double)NAN), LOSS_GROWS); /* only in the last
                                                                              * epoch */
    assert_int_equal(find(falls_then_grows, 8, 8, (double)NAN), 0);
    assert_int_equal(find(one, 1, 1, (double)NAN), 0);
    assert_int_equal(find(one, 1, 1, 1.9), 0);
    assert_int_equal(find(one, 1, 1, 1.3), LOSS_GROWS);
    assert_int_equal(find(one, 1, 1, 0), 0);
    assert_int_equal(find(small, 4, 4, (double)NAN), 0); /* a model that has learnt its nodes by
                                                          * heart */
}

static void rounds_without_seeds_say_nothing(void **state)
{
    static const double rounds[4 * PROGRESS_COUNT] = {0};
    const struct loss_record record = {.rounds = rounds,
                                       .count = 4,
                                       .rounds_per_epoch = 4,
                                       .loss = (double)NAN,
                                       .previous = (double)NAN};
    (void)state;
    assert_int_equal(loss_warning_find(&record), 0);
}

static void texts_name_the_loss_and_what_mends_it(void **state)
{
    char text[LOSS_WARNING_SIZE];
    (void)state;
    assert_non_null(strstr(loss_warning_text(LOSS_IS_LARGE, 4e11, text), "is 4e+11"));
    assert_non_null(strstr(text, "edge_weights: false"));
    assert_non_null(strstr(loss_warning_text(LOSS_GROWS, 5, text), "learning_rate"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loss_above_a_million_is_large),
        cmocka_unit_test(a_loss_that_grows_through_an_epoch_is_told),
        cmocka_unit_test(rounds_without_seeds_say_nothing),
        cmocka_unit_test(texts_name_the_loss_and_what_mends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
