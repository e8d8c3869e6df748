/* Every slot is added once for each range, in the order of slots, by a tree whose sums add at most
 * `fan_in` inputs. */
#include "stages/plan/chain/gradient_sums.h"

#include "tests/support/test.h"

enum { SLOTS_MAX = 40 };

static struct schedule schedule_of(int32_t slots, int32_t ranges, int32_t fan_in)
{
    return (struct schedule){.batches_per_epoch = slots,
                             .batches_per_round = slots,
                             .rounds_per_epoch = 1,
                             .epochs = 1,
                             .round_count = 1,
                             .ranges = ranges,
                             .fan_in = fan_in};
}

/* Walks through the slots below sum `number`, from *next on. */
static void walk(const struct schedule *s, int32_t number, int32_t *next)
{
    const struct gradient_sum sum = gradient_sum_at(s, 0, number);
    assert_true(sum.count >= 1 && (s->fan_in == 0 || sum.count <= s->fan_in));
    assert_int_equal(gradient_sum_number(s, 0, sum.level, sum.group, sum.range), number);
    for (int32_t i = sum.first; i < sum.first + sum.count; i++) {
        assert_int_equal(gradient_sum_of(s, 0, sum.level, i, sum.range), number);
        if (sum.level > 0) {
            const int32_t below = gradient_sum_number(s, 0, sum.level - 1, i, sum.range);
            assert_true(below < number);
            walk(s, below, next);
        } else {
            assert_int_equal(i, (*next)++);
        }
    }
}

static void check(int32_t slots, int32_t ranges, int32_t fan_in)
{
    const struct schedule s = schedule_of(slots, ranges, fan_in);
    const int32_t count = gradient_sum_count(&s, 0);
    int32_t means = 0;
    if (ranges == 1 && fan_in == 0) {
        assert_int_equal(count, 0);
        assert_int_equal(gradient_sum_ranges(&s), 0);
        return;
    }
    assert_int_equal(gradient_sum_ranges(&s), ranges);
    for (int32_t number = 0; number < count; number++) {
        const struct gradient_sum sum = gradient_sum_at(&s, 0, number);
        int32_t next = 0;
        means += sum.is_mean;
        assert_int_equal(sum.is_mean, number >= gradient_sum_first_mean(&s, 0));
        if (!sum.is_mean)
            continue;
        assert_int_equal(sum.range, number - gradient_sum_first_mean(&s, 0));
        walk(&s, number, &next);
        assert_int_equal(next, slots);
    }
    assert_int_equal(means, ranges);
}

static void each_slot_is_added_once_and_in_order(void **state)
{
    (void)state;
    static const int32_t fan_ins[] = {0, 2, 3, 7, SLOTS_MAX, 65535};
    for (int32_t slots = 1; slots <= SLOTS_MAX; slots++)
        for (int32_t ranges = 1; ranges <= 5; ranges += 2)
            for (size_t i = 0; i < sizeof fan_ins / sizeof *fan_ins; i++)
                check(slots, ranges, fan_ins[i]);
}

static void a_tree_of_many_slots_is_low(void **state)
{
    (void)state;
    const struct schedule s = schedule_of(65535, 64, 2);
    const struct gradient_sum last = gradient_sum_at(&s, 0, gradient_sum_count(&s, 0) - 1);
    assert_true(last.is_mean);
    assert_int_equal(last.level, 15);
    assert_int_equal(last.range, 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_slot_is_added_once_and_in_order),
        cmocka_unit_test(a_tree_of_many_slots_is_low),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
