#include "common/base/memory.h"
#include "stages/checkpoint/validation.h"
#include "store/backends/memory/memory_backend.h"

#include "tests/stages/small_run.h"
#include "tests/support/store_watch.h"

#include <math.h>

static const struct run_loss plain = {0};
static const char *const two_slots[] = {"sample.evaluation_batch_size=2", NULL};

/* Puts evaluation `slot` of version 2 with made-up counts of three classes. */
static void put_counts(struct small_run *run, int32_t slot, uint64_t seeds, uint64_t right,
                       double loss, const double *tally)
{
    const struct evaluation e = {.version = 2,
                                 .seed_count = seeds,
                                 .correct_count = right,
                                 .loss_sum = loss,
                                 .tally_size = (size_t)3 * SMALL_CLASSES,
                                 .tally = tally};
    assert_ok(evaluation_put(run->store, SMALL_RUN_ID, slot, &e, &run->err), &run->err);
}

static struct validation measure(struct small_run *run, enum metric metric)
{
    struct validation out;
    run->settings.checkpoint.metric = metric;
    assert_ok(validation_read(&run->context, &plain, 2, &out, &run->err), &run->err);
    return out;
}

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) < 1e-12))
        fail_msg("%.17g, expected %.17g", found, expected);
}

static void counts_of_all_slots_add_up(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    const double one[9] = {1, 0, 1, 0, 1, 0, 1, 0, 0}, two[9] = {2, 0, 0, 1, 0, 0, 0, 1, 0};
    small_run_init(&run, temp->store, 20, 4, two_slots);
    put_counts(&run, 0, 3, 2, 1.5, one);
    put_counts(&run, 1, 5, 2, 4.5, two);
    /* Expected: true positives 3 0 1, false positives 1 1 0, false negatives 1 1 0. */
    struct validation v = measure(&run, METRIC_ACCURACY);
    assert_near(v.loss, 6.0 / 8);
    assert_near(v.accuracy, 4.0 / 8);
    assert_near(v.metric, 4.0 / 8);
    assert_near(measure(&run, METRIC_LOSS).metric, 6.0 / 8);
    assert_near(measure(&run, METRIC_MICRO_F1).metric, 8.0 / (8 + 2 + 2));
    assert_near(measure(&run, METRIC_MACRO_F1).metric, (6.0 / 8 + 0 + 1) / 3);
}

static void all_slots_are_read_at_once(void **state)
{
    (void)state;
    const double tally[9] = {1, 0, 1, 0, 1, 0, 1, 0, 0};
    struct store *far = store_watch_open(&memory_backend, "validation");
    struct small_run run;
    small_run_init(&run, far, 20, 12, two_slots);
    for (int32_t slot = 0; slot < 6; slot++)
        put_counts(&run, slot, 3, 2, 1.5, tally);
    store_watch_begin(6);
    assert_near(measure(&run, METRIC_LOSS).metric, 0.5);
    assert_int_equal(store_watch_end().calls, 1);
    store_close(far);
    memory_store_forget("validation");
}

/* Scores 1..6 in three slots, with positives at 2, 4, 5 and 6: of 8 pairs of a positive and a
 * negative, 7 are in the right order. */
static void the_area_under_the_roc_is_over_the_scores_of_all_slots(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    static const float score[3][3] = {{6, 1, 4}, {2}, {3, 5}};
    static const uint8_t truth[3][3] = {{1, 0, 1}, {1}, {0, 1}};
    static const uint64_t count[3] = {3, 1, 2};
    static const double tally[6] = {0};
    small_run_init(&run, temp->store, 20, 6, two_slots);
    run.book.class_count = 2;
    for (int32_t slot = 0; slot < 3; slot++) {
        const struct evaluation e = {.version = 2,
                                     .seed_count = count[slot],
                                     .tally_size = 6,
                                     .tally = tally,
                                     .score_count = count[slot],
                                     .score = score[slot],
                                     .truth = truth[slot]};
        assert_ok(evaluation_put(run.store, SMALL_RUN_ID, slot, &e, &run.err), &run.err);
    }
    assert_near(measure(&run, METRIC_ROC_AUC).metric, 7.0 / 8);
    const long live = memory_live_blocks();
    for (long allowed = 0;; allowed++) {
        struct validation out;
        memory_fail_after(allowed);
        const enum error_code rc = validation_read(&run.context, &plain, 2, &out, &run.err);
        memory_fail_after(-1);
        assert_int_equal(memory_live_blocks(), live);
        if (rc == ERROR_NONE)
            break;
        assert_int_equal(rc, ERROR_NO_MEMORY);
    }
}

static void without_validation_nodes_or_labels_there_is_no_metric(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    const double nothing[9] = {0};
    small_run_init(&run, temp->store, 20, 0, NULL);
    struct validation v = measure(&run, METRIC_MACRO_F1);
    assert_true(isnan(v.loss) && isnan(v.accuracy) && isnan(v.metric));
    small_run_init(&run, temp->store, 20, 4, NULL);
    put_counts(&run, 0, 0, 0, 0, nothing);
    v = measure(&run, METRIC_LOSS);
    assert_true(isnan(v.loss) && isnan(v.accuracy) && isnan(v.metric));
}

static void a_missing_slot_and_another_number_of_classes_are_named(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    struct validation out;
    const double confusion[9] = {1};
    small_run_init(&run, temp->store, 20, 4, two_slots);
    put_counts(&run, 0, 1, 1, 0, confusion);
    assert_fails(validation_read(&run.context, &plain, 2, &out, &run.err), ERROR_NOT_FOUND,
                 key_evaluation(SMALL_RUN_ID, 2, 1).text, &run.err);
    put_counts(&run, 1, 1, 1, 0, confusion);
    run.book.class_count = 4;
    assert_fails(validation_read(&run.context, &plain, 2, &out, &run.err), ERROR_CORRUPT,
                 "tally has 9 counts, expected 12", &run.err);
}

static void names_are_those_of_the_pipeline_file(void **state)
{
    (void)state;
    struct pipeline_settings settings;
    struct error err = {0};
    pipeline_settings_defaults(&settings);
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        assert_ok(pipeline_settings_assign(&settings, "checkpoint.metric",
                                           metric_table[metric].name, "test", &err),
                  &err);
        assert_int_equal(settings.checkpoint.metric, metric);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(counts_of_all_slots_add_up),
        cmocka_unit_test(all_slots_are_read_at_once),
        test_with_store(the_area_under_the_roc_is_over_the_scores_of_all_slots),
        test_with_store(without_validation_nodes_or_labels_there_is_no_metric),
        test_with_store(a_missing_slot_and_another_number_of_classes_are_named),
        cmocka_unit_test(names_are_those_of_the_pipeline_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
