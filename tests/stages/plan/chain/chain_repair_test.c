#include "stages/plan/chain/chain_repair.h"
#include "stages/plan/chain/layer_pipeline.h"
#include "store/records/round/embedding_rows.h"
#include "store/records/round/gradient_range.h"
#include "store/records/round/residual.h"
#include "store/records/round/round_base.h"

#include "tests/stages/small_run.h"

static const char *const settings[] = {"epochs=3", "sample.batch_size=6",
                                       "sample.batches_per_round=3", NULL};

/* Begins a run that has everything up to the snapshot of version 2. */
static void begin(struct small_run *run, struct temp_store *temp)
{
    small_run_init(run, temp->store, 20, 4, settings);
    small_run_put_version(run, 2);
    small_run_put_mini_batches(run, 2);
    small_run_put_snapshot(run, 2);
}

static bool repair(struct small_run *run, enum unit_kind kind, int64_t round)
{
    const struct chain_state state = {.snapshot_version = 2};
    const struct unit unit = {.kind = kind, .round = round};
    bool missing = false;
    assert_ok(chain_repair_inputs(&run->schedule, run->store, SMALL_RUN_ID, &state, &unit, &missing,
                                  &run->err),
              &run->err);
    return missing;
}

static void tear(struct small_run *run, struct key key)
{
    char path[FILE_PATH_SIZE];
    assert_ok(file_path(path, &run->err, "%s/%s.record", store_root(run->store), key.text),
              &run->err);
    assert_ok(file_replace(path, "torn", 4, false, &run->err), &run->err);
}

static void weights_of_the_newest_snapshot_come_back_from_it(void **state)
{
    struct small_run run;
    begin(&run, *state);
    const struct key weights = key_weights(SMALL_RUN_ID, 2),
                     optimizer = key_optimizer_state(SMALL_RUN_ID, 2);
    const struct checksum before = small_run_content(&run, weights.text);
    assert_false(repair(&run, UNIT_TRAIN_STEP, 2));
    tear(&run, weights);
    assert_ok(store_remove(run.store, optimizer.text, &run.err), &run.err);
    assert_true(repair(&run, UNIT_TRAIN_STEP, 2));
    const struct checksum after = small_run_content(&run, weights.text);
    assert_true(checksum_equal(&before, &after));
    (void)small_run_content(&run, optimizer.text);
    assert_false(repair(&run, UNIT_TRAIN_STEP, 2));
}

static void a_torn_input_is_removed_and_missing(void **state)
{
    struct small_run run;
    bool found = true;
    begin(&run, *state);
    const struct key batch = key_mini_batch(SMALL_RUN_ID, 2, 0);
    tear(&run, batch);
    assert_true(repair(&run, UNIT_TRAIN_STEP, 2));
    assert_ok(store_has(run.store, batch.text, &found, &run.err), &run.err);
    assert_false(found);
}

static bool stored(struct small_run *run, struct key key)
{
    bool found = false;
    assert_ok(store_has(run->store, key.text, &found, &run->err), &run->err);
    return found;
}

/* An aggregate waits for gradients alone and a checkpoint for evaluations, but both read
 * weights. */
static void weights_that_the_work_itself_reads_are_made_again(void **state)
{
    struct small_run run;
    begin(&run, *state);
    for (int damage = 0; damage < 2; damage++) {
        small_run_put_version(&run, 3);
        small_run_put_gradients(&run, 3);
        assert_false(repair(&run, UNIT_AGGREGATE, 3));
        tear(&run, damage ? key_weights(SMALL_RUN_ID, 3) : key_optimizer_state(SMALL_RUN_ID, 3));
        assert_true(repair(&run, UNIT_AGGREGATE, 3));
        assert_false(stored(&run, key_weights(SMALL_RUN_ID, 3)));
        assert_false(stored(&run, key_gradient(SMALL_RUN_ID, 3, 0)));
    }
    small_run_put_version(&run, 3);
    small_run_put_version(&run, 4);
    small_run_put_evaluations(&run, 4, 7);
    assert_false(repair(&run, UNIT_CHECKPOINT, 4));
    assert_ok(store_remove(run.store, key_optimizer_state(SMALL_RUN_ID, 3).text, &run.err),
              &run.err);
    assert_false(repair(&run, UNIT_CHECKPOINT, 4));
    assert_ok(store_remove(run.store, key_weights(SMALL_RUN_ID, 3).text, &run.err), &run.err);
    assert_false(repair(&run, UNIT_CHECKPOINT, 4)); /* it reads only the version of its snapshot */
    assert_true(
        repair(&run, UNIT_AGGREGATE, 3)); /* and aggregate, which made that version, reads all since
                                           * the last snapshot */
    small_run_put_version(&run, 3);
    tear(&run, key_weights(SMALL_RUN_ID, 4));
    assert_true(repair(&run, UNIT_CHECKPOINT, 4));
    assert_false(stored(&run, key_evaluation(SMALL_RUN_ID, 4, 0)));
    assert_true(stored(&run, key_weights(SMALL_RUN_ID, 3)));
}

/* A pass waits for the pass before it, and reads weights that were there when that one was made. */
static void weights_that_a_pipeline_of_layers_reads_are_made_again(void **state)
{
    struct small_run run;
    const uint32_t value = 1;
    struct record record = {.kind = RECORD_GRADIENT, .version = 1};
    begin(&run, *state);
    run.schedule.pipelined_layers = 3;
    small_run_put_version(&run, 3);
    small_run_put_mini_batches(&run, 3);
    record_add(&record, "value", ELEMENT_U32, &value, 1);
    for (int pass = 1; pass <= layer_pipeline_passes(&run.schedule); pass++) {
        const struct unit unit = {.kind = UNIT_STEP_LAYER, .round = 3, .layer = pass};
        const struct key key = chain_output_key(&run.schedule, SMALL_RUN_ID, &unit);
        assert_ok(
            store_put(run.store, key.text, SMALL_RUN_ID, &record, STORE_RECOMPUTABLE, &run.err),
            &run.err);
    }
    const struct key last =
        key_pass_gradient(SMALL_RUN_ID, 3, layer_pipeline_passes(&run.schedule), 0);
    assert_false(repair(&run, UNIT_TRAIN_STEP, 3));
    assert_true(stored(&run, last));
    assert_ok(store_remove(run.store, key_weights(SMALL_RUN_ID, 3).text, &run.err), &run.err);
    assert_true(repair(&run, UNIT_TRAIN_STEP, 3));
    assert_false(stored(&run, last));
}

/* With staleness a round after the snapshot starts from weights before it, which no snapshot
 * holds. */
static void without_weights_of_before_it_a_snapshot_is_none(void **state)
{
    struct small_run run;
    begin(&run, *state);
    run.schedule.staleness = 1;
    small_run_put_version(&run, 1);
    assert_false(repair(&run, UNIT_TRAIN_STEP, 2)); /* reads weights 1 */
    tear(&run, key_optimizer_state(SMALL_RUN_ID, 1));
    assert_false(repair(&run, UNIT_TRAIN_STEP, 2)); /* does not read them */
    tear(&run, key_weights(SMALL_RUN_ID, 1));
    assert_true(repair(&run, UNIT_TRAIN_STEP, 2));
    assert_false(stored(&run, key_weights(SMALL_RUN_ID, 1)));
    assert_false(stored(&run, key_snapshot(SMALL_RUN_ID, 2)));
}

static void choose(struct small_run *run, int64_t round, int64_t base)
{
    assert_ok(round_base_put(run->store, SMALL_RUN_ID, round, base, &run->err), &run->err);
}

/* A step waits for the oldest weights that it may start from. It starts from newer ones, which may
 * be lost since. */
static void weights_that_were_chosen_are_made_again(void **state)
{
    struct small_run run;
    begin(&run, *state);
    run.schedule.staleness = 2;
    run.schedule.chooses_base = true;
    for (int64_t version = 1; version <= 4; version++)
        small_run_put_version(&run, version);
    small_run_put_mini_batches(&run, 4);
    assert_false(repair(&run, UNIT_TRAIN_STEP, 4)); /* nobody has chosen yet */
    choose(&run, 4, 3);
    assert_false(repair(&run, UNIT_TRAIN_STEP, 4));
    tear(&run, key_weights(SMALL_RUN_ID, 3));
    assert_true(repair(&run, UNIT_TRAIN_STEP, 4));
    assert_false(stored(&run, key_weights(SMALL_RUN_ID, 3)));
    assert_true(stored(&run, key_snapshot(SMALL_RUN_ID, 2)));
    small_run_put_gradients(&run, 4); /* the step compares the present weights with those that the
                                       * gradients were made from */
    assert_false(repair(&run, UNIT_AGGREGATE, 4));
    run.schedule.reads_base = true;
    assert_true(repair(&run, UNIT_AGGREGATE, 4));
}

/* Weights from before the snapshot are lost, from which a round after it was chosen to start. */
static void without_chosen_weights_of_before_it_a_snapshot_is_none(void **state)
{
    struct small_run run;
    begin(&run, *state);
    run.schedule.staleness = 2;
    run.schedule.chooses_base = true;
    small_run_put_version(&run, 0);
    small_run_put_version(&run, 1);
    choose(&run, 2, 1);
    assert_false(repair(&run, UNIT_TRAIN_STEP, 2));
    assert_ok(store_remove(run.store, key_weights(SMALL_RUN_ID, 1).text, &run.err), &run.err);
    assert_true(repair(&run, UNIT_TRAIN_STEP, 2));
    assert_false(stored(&run, key_snapshot(SMALL_RUN_ID, 2)));
}

/* A damaged choice is stored again from the gradients, or removed so that another may be made. */
static void a_damaged_choice_is_told_again(void **state)
{
    struct small_run run;
    int64_t base = -1;
    begin(&run, *state);
    run.schedule.staleness = 2;
    run.schedule.chooses_base = true;
    small_run_put_version(&run, 1);
    small_run_put_version(&run, 3);
    small_run_put_mini_batches(&run, 3);
    choose(&run, 3, 3);
    tear(&run, key_round_base(SMALL_RUN_ID, 3));
    assert_false(repair(&run, UNIT_TRAIN_STEP, 3));
    assert_false(stored(&run, key_round_base(SMALL_RUN_ID, 3)));
    small_run_put_gradient(&run, 3, 0); /* made from version 1 */
    choose(&run, 3, 1);
    tear(&run, key_round_base(SMALL_RUN_ID, 3));
    assert_false(repair(&run, UNIT_TRAIN_STEP, 3));
    assert_ok(round_base_get(run.store, SMALL_RUN_ID, 3, 1, &base, &run.err), &run.err);
    assert_int_equal(base, 1);
}

/* A gradient is stored in ranges, too: a sum that misses one range waits until the whole gradient
 * is made again. */
static void a_gradient_without_one_of_its_ranges_is_made_again(void **state)
{
    static const struct gradient_form floats = {.encoded_count = SMALL_VALUES};
    struct small_run run;
    float value[SMALL_VALUES];
    const struct key range = key_gradient_range(SMALL_RUN_ID, 3, 0, 1);
    begin(&run, *state);
    run.schedule.ranges = 2;
    small_run_put_version(&run, 3);
    const struct gradient gradient = small_run_gradient(&run, 3, 0, value);
    for (int loss = 0; loss < 2; loss++) {
        for (int32_t slot = 0; slot < schedule_slot_count(&run.schedule, 3); slot++)
            assert_ok(gradient_put_ranges(run.store, SMALL_RUN_ID, 3, slot, &gradient, &floats, 2,
                                          &run.err),
                      &run.err);
        assert_false(repair(&run, UNIT_SUM_GRADIENTS, 3));
        if (loss)
            assert_ok(store_remove(run.store, range.text, &run.err), &run.err);
        else
            tear(&run, range);
        assert_true(repair(&run, UNIT_SUM_GRADIENTS, 3));
        assert_false(stored(&run, key_gradient(SMALL_RUN_ID, 3, 0)));
        assert_true(stored(&run, key_gradient_range(SMALL_RUN_ID, 3, 0, 0)));
    }
}

/* If every version has a snapshot, the snapshot before reports no other round, but the work still
 * reads its weights. */
static void weights_between_two_snapshots_side_by_side_are_made_again(void **state)
{
    struct small_run run;
    begin(&run, *state);
    run.schedule.every_rounds = 1;
    small_run_put_version(&run, 3);
    small_run_put_gradients(&run, 3);
    assert_false(repair(&run, UNIT_AGGREGATE, 3));
    tear(&run, key_optimizer_state(SMALL_RUN_ID, 3));
    assert_true(repair(&run, UNIT_AGGREGATE, 3));
    assert_false(stored(&run, key_weights(SMALL_RUN_ID, 3)));
}

/* They were made long before the units that the unit waits for. */
static void mini_batches_of_an_earlier_time_are_made_again(void **state)
{
    struct small_run run;
    begin(&run, *state);
    run.schedule.reuse_epochs = 2;
    int64_t round = -1;
    int32_t slot = -1;
    schedule_batch_source(&run.schedule, 3, 0, &round, &slot);
    assert_true(round < 2); /* the snapshot is of version 2 */
    small_run_put_version(&run, 3);
    small_run_put_version(&run, 4);
    for (int64_t r = 0; r < 2; r++)
        small_run_put_mini_batches(&run, r);
    const struct key batch = key_mini_batch(SMALL_RUN_ID, round, slot);
    assert_false(repair(&run, UNIT_TRAIN_STEP, 3));
    tear(&run, batch);
    assert_true(repair(&run, UNIT_TRAIN_STEP, 3));
    assert_false(stored(&run, batch));
    const struct key validation = key_evaluation_mini_batch(SMALL_RUN_ID, 0);
    struct record record = {.kind = RECORD_MINI_BATCH, .version = 1};
    record_add_text(&record, "text", "a mini-batch");
    assert_true(repair(&run, UNIT_EVALUATE, 4));
    assert_ok(
        store_put(run.store, validation.text, SMALL_RUN_ID, &record, STORE_RECOMPUTABLE, &run.err),
        &run.err);
    assert_false(repair(&run, UNIT_EVALUATE, 4));
    tear(&run, validation);
    assert_true(repair(&run, UNIT_EVALUATE, 4));
    assert_false(stored(&run, validation));
}

/* Stores rows of embeddings in two parts: sealed rows of version 2, and gradients of rounds 2 and
 * 3. */
static void put_rows(struct small_run *run)
{
    run->schedule.embedding_shards = 2;
    for (uint32_t part = 0; part < 2; part++) {
        const struct embedding_rows rows = {.version = 2, .shard = part, .width = 1};
        assert_ok(embedding_rows_put(run->store, SMALL_RUN_ID, &rows, &run->err), &run->err);
    }
    for (int64_t round = 2; round < 4; round++)
        small_run_put_gradients(run, round);
}

/* Rows are made from the gradients of all rounds since the snapshot. */
static void a_gradient_that_rows_are_made_of_is_made_again(void **state)
{
    struct small_run run;
    begin(&run, *state);
    put_rows(&run);
    for (int64_t version = 3; version <= 4; version++)
        small_run_put_version(&run, version);
    small_run_put_mini_batches(&run, 3);
    assert_false(repair(&run, UNIT_TRAIN_STEP, 3));
    assert_false(repair(&run, UNIT_SEAL_ROWS, 4));
    tear(&run, key_gradient(SMALL_RUN_ID, 2, 0));
    assert_true(repair(&run, UNIT_TRAIN_STEP, 3));
    assert_false(stored(&run, key_gradient(SMALL_RUN_ID, 2, 0)));
    assert_true(repair(&run, UNIT_EVALUATE, 4));
    assert_true(repair(&run, UNIT_SEAL_ROWS, 4));
    assert_true(stored(&run, key_gradient(SMALL_RUN_ID, 3, 0)));
    assert_true(stored(&run, key_snapshot(SMALL_RUN_ID, 2)));
}

/* Only the rounds before sealed rows can make them again. */
static void a_snapshot_without_its_seals_is_none(void **state)
{
    for (int damage = 0; damage < 2; damage++) {
        struct small_run run;
        begin(&run, *state);
        put_rows(&run);
        const struct key seal = key_embedding_seal(SMALL_RUN_ID, 2, 1);
        if (damage)
            tear(&run, seal);
        else
            assert_ok(store_remove(run.store, seal.text, &run.err), &run.err);
        assert_true(repair(&run, damage ? UNIT_TRAIN_STEP : UNIT_SEAL_ROWS, damage ? 2 : 4));
        assert_false(stored(&run, seal));
        assert_false(stored(&run, key_snapshot(SMALL_RUN_ID, 2)));
        assert_true(stored(&run, key_gradient(SMALL_RUN_ID, 2, 0)));
    }
}

/* A step that left no residual is done again; if a snapshot covers it, that snapshot is removed. */
static void a_step_without_its_residual_is_made_again(void **state)
{
    static const float rest[2] = {1, 2};
    for (int covered = 0; covered < 2; covered++) {
        struct small_run run;
        begin(&run, *state);
        run.schedule.keeps_residuals = true;
        const int64_t round = covered ? 2 : 3; /* the snapshot is of version 2 */
        const struct key residual = key_residual(SMALL_RUN_ID, round - 1, 0);
        small_run_put_version(&run, 3);
        small_run_put_gradients(&run, round - 1);
        small_run_put_mini_batches(&run, round);
        for (int32_t slot = 0; slot < schedule_slot_count(&run.schedule, round - 1); slot++)
            assert_ok(residual_put(run.store, SMALL_RUN_ID, round - 1, slot, rest, 2,
                                   STORE_RECOMPUTABLE, &run.err),
                      &run.err);
        assert_false(repair(&run, UNIT_TRAIN_STEP, round));
        tear(&run, residual);
        assert_true(repair(&run, UNIT_TRAIN_STEP, round));
        assert_false(stored(&run, residual));
        assert_false(stored(&run, key_gradient(SMALL_RUN_ID, round - 1, 0)));
        assert_int_equal(stored(&run, key_snapshot(SMALL_RUN_ID, 2)), !covered);
    }
}

static void a_checkpoint_is_done_when_the_switch_has_reached_it(void **state)
{
    struct small_run run;
    begin(&run, *state);
    const struct unit unit = {.kind = UNIT_CHECKPOINT, .round = 2};
    for (int64_t current = -1; current <= 4; current++) {
        const struct chain_state chain = {.snapshot_version = current};
        bool done = false;
        assert_ok(
            chain_is_done(&run.schedule, run.store, SMALL_RUN_ID, &chain, &unit, &done, &run.err),
            &run.err);
        assert_true(done == (current >= 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(weights_of_the_newest_snapshot_come_back_from_it),
        test_with_store(a_torn_input_is_removed_and_missing),
        test_with_store(weights_that_the_work_itself_reads_are_made_again),
        test_with_store(weights_that_a_pipeline_of_layers_reads_are_made_again),
        test_with_store(weights_that_were_chosen_are_made_again),
        test_with_store(without_chosen_weights_of_before_it_a_snapshot_is_none),
        test_with_store(a_damaged_choice_is_told_again),
        test_with_store(a_gradient_without_one_of_its_ranges_is_made_again),
        test_with_store(without_weights_of_before_it_a_snapshot_is_none),
        test_with_store(weights_between_two_snapshots_side_by_side_are_made_again),
        test_with_store(mini_batches_of_an_earlier_time_are_made_again),
        test_with_store(a_gradient_that_rows_are_made_of_is_made_again),
        test_with_store(a_snapshot_without_its_seals_is_none),
        test_with_store(a_step_without_its_residual_is_made_again),
        test_with_store(a_checkpoint_is_done_when_the_switch_has_reached_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
