/*
 * Units of train-step on a small run in a real store, compared with the model called directly.
 */
#include "common/base/memory.h"
#include "common/nn/tasks/task.h"
#include "stages/engine/stage.h"
#include "stages/plan/chain/layer_pipeline.h"
#include "stages/plan/model/run_model.h"
#include "store/backends/directory/directory.h"
#include "store/features/feature_shard.h"
#include "store/objects/keys.h"
#include "store/records/batch/mini_batch.h"
#include "store/records/round/gradient.h"
#include "store/records/round/parameters.h"
#include "store/records/round/pass_output.h"

#include "tests/stages/fault_walk.h"
#include "tests/support/block_fixture.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>

enum { NODES = 700, PART_START = 300, DIM = 5, LAYERS = 2, SEEDS = 40, BATCH_NODES = 500 };

static const char run_id[] = "run-1", partition_id[] = "partition-1";

/* A run as stage_main passes it, with all inputs of a step in the store. */
struct small_run {
    struct temp_store *temp;
    struct pipeline_settings settings;
    struct schedule schedule;
    struct partition_book book;
    uint32_t parts[3];
    struct stage_context context;
    struct model model;
    struct block_fixture blocks; /* its input rows are `feature` */
    uint32_t node[BATCH_NODES];
    float *feature; /* [NODES, DIM] */
    float *label;   /* [NODES, label_dim]: floats, or the bytes of int32 */
    uint32_t label_dim;
    float *value;
    void *state;
};

static void set(struct small_run *run, const char *name, const char *value)
{
    struct error err = {0};
    assert_ok(pipeline_settings_assign(&run->settings, name, value, "test", &err), &err);
}

static void make_rows(struct small_run *run, enum task_kind task, uint32_t class_count)
{
    run->label_dim = task == TASK_MULTI_LABEL ? class_count : 1;
    run->feature = memory_alloc((size_t)NODES * DIM, sizeof *run->feature);
    run->label = memory_alloc((size_t)NODES * run->label_dim, sizeof *run->label);
    for (uint32_t i = 0; i < NODES * DIM; i++)
        run->feature[i] = sinf((float)i * 0.37F);
    for (uint32_t v = 0; v < NODES; v++) {
        const int32_t single = v % 7 == 0 ? -1 : (int32_t)(v % class_count);
        if (task == TASK_SINGLE_LABEL)
            memcpy(&run->label[v], &single, sizeof single);
        for (uint32_t c = 0; task == TASK_MULTI_LABEL && c < class_count; c++)
            run->label[v * class_count + c] = v % 7 == 0 ? NAN : (float)((v + c) % 3 == 0);
    }
}

static void put_tensor(struct feature_shard_writer *writer, const char *name, const float *rows,
                       uint32_t dim, uint32_t first, uint32_t end)
{
    struct error err = {0};
    struct tensor_spec tensor = {.type = TENSOR_F32, .dim = dim, .row_count = end - first};
    (void)snprintf(tensor.name, sizeof tensor.name, "%s", name);
    assert_ok(feature_shard_writer_begin(writer, &tensor, &err), &err);
    assert_ok(feature_shard_writer_add(writer, rows + (size_t)first * dim, end - first, &err),
              &err);
}

static void put_shards(const struct small_run *run)
{
    struct error err = {0};
    for (int part = 0; part < 2; part++) {
        struct feature_shard_writer *writer = NULL;
        const struct key key = key_part(partition_id, part, "shard");
        const struct key seal = key_part(partition_id, part, "shard_seal");
        const uint32_t first = run->parts[part], end = run->parts[part + 1];
        assert_ok(feature_shard_writer_new(run->temp->store, key.text, seal.text, partition_id,
                                           &writer, &err),
                  &err);
        put_tensor(writer, "features", run->feature, DIM, first, end);
        put_tensor(writer, "labels", run->label, run->label_dim, first, end);
        assert_ok(feature_shard_writer_finish(writer, &err), &err);
    }
}

static void put_batch(struct small_run *run, const char *key, int hop_count)
{
    struct error err = {0};
    const uint32_t hop_end[] = {SEEDS, 150, BATCH_NODES};
    struct arena scratch = {0};
    struct mini_batch batch = {.hop_count = hop_count,
                               .seed_count = SEEDS,
                               .node_count = hop_end[hop_count],
                               .row_count = hop_end[hop_count - 1],
                               .hop_end = hop_end,
                               .node = run->node,
                               .row_start = run->blocks.row_start,
                               .neighbor = run->blocks.neighbor,
                               .degree = run->blocks.degree};
    batch.edge_count = batch.row_start[batch.row_count];
    assert_ok(mini_batch_put(run->temp->store, key, run_id, &batch, &scratch, &err), &err);
    arena_release(&scratch);
}

static void make_batch(struct small_run *run)
{
    const uint32_t hop_end[] = {SEEDS, 150, BATCH_NODES};
    block_fixture_make(&run->blocks, LAYERS, hop_end, DIM, 21);
    for (uint32_t i = 0; i < BATCH_NODES; i++)
        run->node[i] = (i * 389 + 11) % NODES; /* 389 is prime, so no node occurs twice */
    run->blocks.input =
        (struct input_rows){.base = run->feature, .stride = DIM, .row_index = run->node};
    for (int round = 0; round < 2; round++)
        for (int slot = 0; slot < 2; slot++)
            put_batch(run, key_mini_batch(run_id, round, slot).text, LAYERS);
    put_batch(run, key_evaluation_mini_batch(run_id, 0).text, LAYERS);
}

static void put_weights(struct small_run *run, int64_t version)
{
    struct error err = {0};
    char table[RUN_MODEL_TABLE_SIZE];
    assert_ok(model_table_text(&run->model, table, sizeof table, &err), &err);
    const struct weights weights = {.version = (uint64_t)version,
                                    .value_count = run->model.value_count,
                                    .value = run->value,
                                    .table = table,
                                    .table_size = strlen(table)};
    assert_ok(weights_put(run->temp->store, run_id, &weights, &err), &err);
}

static void describe(struct small_run *run, struct temp_store *temp, const char *model,
                     enum task_kind task, uint32_t class_count)
{
    struct error err = {0};
    *run = (struct small_run){.temp = temp, .parts = {0, PART_START, NODES}};
    pipeline_settings_defaults(&run->settings);
    set(run, "train-step.model", model);
    set(run, "train-step.hidden", "6");
    set(run, "train-step.dropout", "0.5");
    set(run, "sample.fanouts", "6, 6");
    set(run, "sample.batch_size", "40");
    set(run, "sample.batches_per_round", "2");
    run->book = (struct partition_book){.part_count = 2,
                                        .node_count = NODES,
                                        .feature_dim = DIM,
                                        .class_count = class_count,
                                        .task = task,
                                        .book = run->parts};
    (void)snprintf(run->book.id, sizeof run->book.id, "%s", partition_id);
    assert_ok(schedule_init(&run->schedule, &run->settings, 160, 40, 2, &err), &err);
    run->context = (struct stage_context){.store = temp->store,
                                          .settings = &run->settings,
                                          .run_id = run_id,
                                          .book = &run->book,
                                          .schedule = &run->schedule,
                                          .threads = 1,
                                          .memory_bytes = 1ULL << 30};
    assert_ok(run_model_init(&run->model, &run->settings, &run->book, &err), &err);
}

static void start(struct small_run *run, struct temp_store *temp, const char *model,
                  enum task_kind task, uint32_t class_count)
{
    describe(run, temp, model, task, class_count);
    make_rows(run, task, class_count);
    make_batch(run);
    run->value = memory_alloc(run->model.value_count, sizeof *run->value);
    model_initialise(&run->model, 3, run->value);
    put_weights(run, 0);
}

static void open_stage(struct small_run *run)
{
    struct error err = {0};
    assert_ok(stage.open(&run->context, &run->state, &err), &err);
}

static void end(struct small_run *run)
{
    stage.close(run->state);
    block_fixture_release(&run->blocks);
    memory_free(run->feature);
    memory_free(run->label);
    memory_free(run->value);
    *run = (struct small_run){0};
}

static enum error_code work(struct small_run *run, enum unit_kind kind, int64_t round, int32_t slot,
                            struct error *err)
{
    const struct unit unit = {.kind = kind, .round = round, .slot = slot};
    return stage.work(&run->context, run->state, &unit, err);
}

/* Logits, loss and gradient of the batch, computed with direct calls. */
struct answer {
    float *logits, *slope, *gradient;
    struct loss_result loss;
};

static struct loss_result loss_by_hand(const struct small_run *run, const struct answer *answer)
{
    const uint32_t dim = run->label_dim;
    float *label = memory_alloc((size_t)SEEDS * dim, sizeof *label);
    struct loss_result loss;
    for (uint32_t i = 0; i < SEEDS; i++)
        memcpy(label + (size_t)i * dim, run->label + (size_t)run->node[i] * dim,
               dim * sizeof *label);
    loss = task_of(run->book.task)
               ->loss(&(struct loss_rule){0}, answer->logits, label, SEEDS, run->book.class_count,
                      answer->slope);
    memory_free(label);
    return loss;
}

static struct answer by_hand(const struct small_run *run, int64_t round, int32_t slot, bool trains)
{
    struct error err = {0};
    struct arena arena = {0};
    struct model_trace *trace = NULL;
    const struct random_stream dropout =
        random_stream_of(run->schedule.seed, RANDOM_DROPOUT, (uint32_t)round, 0, (uint32_t)slot);
    const struct model_workspace workspace = {.arena = &arena};
    const struct model_input input = {
        .block = run->blocks.block, .rows = run->blocks.input, .dropout = trains ? &dropout : NULL};
    const size_t count = (size_t)SEEDS * run->book.class_count;
    struct answer answer = {.logits = memory_alloc(count, sizeof(float)),
                            .slope = memory_alloc(count, sizeof(float)),
                            .gradient = memory_alloc(run->model.value_count, sizeof(float))};
    assert_ok(
        model_forward(&run->model, run->value, &input, &workspace, answer.logits, &trace, &err),
        &err);
    answer.loss = loss_by_hand(run, &answer);
    assert_ok(model_backward(&run->model, run->value, trace, answer.slope, &workspace,
                             answer.gradient, &err),
              &err);
    arena_release(&arena);
    return answer;
}

static void forget(struct answer *answer)
{
    memory_free(answer->logits);
    memory_free(answer->slope);
    memory_free(answer->gradient);
}

static void check_gradient(struct small_run *run, int64_t round, int32_t slot)
{
    struct error err = {0};
    struct gradient gradient = {0};
    assert_ok(work(run, UNIT_TRAIN_STEP, round, slot, &err), &err);
    assert_ok(gradient_get(run->temp->store, run_id, round, slot, &gradient, &err), &err);
    struct answer answer = by_hand(run, round, slot, true);
    assert_int_equal(gradient.weights_version, round);
    assert_int_equal(gradient.value_count, run->model.value_count);
    assert_memory_equal(gradient.value, answer.gradient, run->model.value_count * sizeof(float));
    assert_int_equal(gradient.seed_count, answer.loss.label_count);
    assert_int_equal(gradient.correct_count, answer.loss.correct_count);
    assert_true(gradient.loss_sum == answer.loss.sum);
    /* some seeds have no label */
    assert_true(gradient.seed_count > 0 && gradient.seed_count < SEEDS);
    forget(&answer);
    gradient_release(&gradient);
}

static void a_gradient_is_that_of_the_model_by_hand(void **state)
{
    static const char *const models[] = {"sage", "gcn"};
    for (int m = 0; m < 2; m++) {
        for (enum task_kind task = TASK_SINGLE_LABEL; task <= TASK_MULTI_LABEL; task++) {
            struct small_run run;
            void *fresh = NULL;
            (void)state;
            assert_int_equal(temp_store_setup(&fresh), 0);
            start(&run, fresh, models[m], task, 3);
            put_shards(&run);
            open_stage(&run);
            check_gradient(&run, 0, 0);
            check_gradient(&run, 0, 1);
            put_weights(&run, 1);
            check_gradient(&run, 1, 0);
            end(&run);
            assert_int_equal(temp_store_teardown(&fresh), 0);
        }
    }
}

/* The store would refuse a second record that differs. */
static void threads_and_memory_do_not_change_a_record(void **state)
{
    struct error err = {0};
    struct small_run run;
    start(&run, *state, "sage", TASK_SINGLE_LABEL, 3);
    put_shards(&run);
    open_stage(&run);
    assert_ok(work(&run, UNIT_TRAIN_STEP, 0, 0, &err), &err);
    stage.close(run.state);
    run.state = NULL;
    assert_ok(thread_pool_new(3, &run.context.pool, &err), &err);
    run.context.memory_bytes = 24ULL << 20;
    open_stage(&run);
    assert_ok(work(&run, UNIT_TRAIN_STEP, 0, 0, &err), &err);
    struct thread_pool *pool = run.context.pool;
    end(&run);
    thread_pool_free(pool);
}

static void a_warm_step_allocates_only_for_its_records(void **state)
{
    struct error err = {0};
    struct small_run run;
    start(&run, *state, "gcn", TASK_SINGLE_LABEL, 3);
    put_shards(&run);
    run.context.is_replay = true; /* a replay reads nothing ahead, which would be counted too */
    open_stage(&run);
    assert_ok(work(&run, UNIT_TRAIN_STEP, 0, 0, &err), &err);
    const long live = memory_live_blocks();
    for (int i = 0; i < 3; i++)
        assert_ok(work(&run, UNIT_TRAIN_STEP, 0, 0, &err), &err);
    assert_int_equal(memory_live_blocks(), live);
    end(&run);
}

static void validation_counts_without_dropout(void **state)
{
    struct error err = {0};
    struct small_run run;
    struct evaluation found = {0};
    double confusion[6] = {0};
    int32_t label[SEEDS];
    start(&run, *state, "sage", TASK_SINGLE_LABEL, 2);
    put_shards(&run);
    open_stage(&run);
    assert_ok(work(&run, UNIT_EVALUATE, 0, 0, &err), &err);
    assert_ok(evaluation_get(run.temp->store, run_id, 0, 0, &found, &err), &err);
    struct answer answer = by_hand(&run, 0, 0, false);
    for (uint32_t i = 0; i < SEEDS; i++)
        memcpy(&label[i], &run.label[run.node[i]], sizeof label[i]);
    task_single_label.count(answer.logits, label, SEEDS, 2, false, confusion);
    assert_int_equal(found.version, 0);
    assert_int_equal(found.tally_size, 6);
    assert_memory_equal(found.tally, confusion, sizeof confusion);
    assert_int_equal(found.seed_count, answer.loss.label_count);
    assert_int_equal(found.correct_count, answer.loss.correct_count);
    assert_true(found.loss_sum == answer.loss.sum);
    assert_int_equal(found.score_count, answer.loss.label_count);
    for (uint32_t i = 0, at = 0; i < SEEDS; i++)
        if (label[i] >= 0) {
            assert_true(found.score[at] ==
                        answer.logits[2 * (size_t)i + 1] - answer.logits[2 * (size_t)i]);
            assert_int_equal(found.truth[at++], label[i]);
        }
    forget(&answer);
    store_release_record(&found.view);
    end(&run);
}

static void three_classes_have_no_scores(void **state)
{
    struct error err = {0};
    struct small_run run;
    struct evaluation found = {0};
    start(&run, *state, "gcn", TASK_MULTI_LABEL, 3);
    put_shards(&run);
    open_stage(&run);
    assert_ok(work(&run, UNIT_EVALUATE, 0, 0, &err), &err);
    assert_ok(evaluation_get(run.temp->store, run_id, 0, 0, &found, &err), &err);
    assert_int_equal(found.score_count, 0);
    /* a confusion matrix, and the number of rows that are all right */
    assert_int_equal(found.tally_size, 10);
    store_release_record(&found.view);
    end(&run);
}

static void a_reused_pass_trains_on_the_batch_it_was_made_for(void **state)
{
    struct error err = {0};
    struct small_run run;
    int64_t source_round = 0;
    int32_t source_slot = 0;
    start(&run, *state, "sage", TASK_SINGLE_LABEL, 3);
    set(&run, "sample.reuse_epochs", "5");
    assert_ok(schedule_init(&run.schedule, &run.settings, 160, 40, 2, &err), &err);
    put_shards(&run);
    open_stage(&run);
    const int64_t round = run.schedule.rounds_per_epoch; /* a round of the second epoch */
    schedule_batch_source(&run.schedule, round, 0, &source_round, &source_slot);
    assert_true(source_round < round);
    put_weights(&run, round);
    check_gradient(&run, round, 0);
    end(&run);
}

static void expect_poison(struct small_run *run, enum unit_kind kind, const char *message)
{
    struct error err = {0};
    bool found = true;
    assert_fails(work(run, kind, 0, 0, &err), ERROR_INPUT, message, &err);
    assert_non_null(strstr(err.message, "poison batch"));
    const struct key key =
        kind == UNIT_TRAIN_STEP ? key_gradient(run_id, 0, 0) : key_evaluation(run_id, 0, 0);
    assert_ok(store_has(run->temp->store, key.text, &found, &err), &err);
    assert_false(found);
}

/* Computes all passes of a step except the last. */
static void work_through_layers(struct small_run *run, int64_t round, int32_t slot)
{
    struct error err = {0};
    struct unit unit = {.kind = UNIT_STEP_LAYER, .round = round, .slot = slot, .layer = 1};
    for (; unit.layer <= layer_pipeline_passes(&run->schedule); unit.layer++)
        assert_ok(stage.work(&run->context, run->state, &unit, &err), &err);
}

static void start_pipeline(struct small_run *run, struct temp_store *temp, const char *model)
{
    struct error err = {0};
    start(run, temp, model, TASK_SINGLE_LABEL, 3);
    set(run, "train-step.pipeline", "layers");
    assert_ok(schedule_init(&run->schedule, &run->settings, 160, 40, 2, &err), &err);
    put_shards(run);
}

/* Computes the gradients with all features in memory, and with a smaller budget. */
static void a_gradient_of_layers_is_that_of_the_model_by_hand(void **state)
{
    static const char *const models[] = {"sage", "gcn"};
    (void)state;
    for (int turn = 0; turn < 4; turn++) {
        struct small_run run;
        void *fresh = NULL;
        assert_int_equal(temp_store_setup(&fresh), 0);
        start_pipeline(&run, fresh, models[turn / 2]);
        if (turn % 2)
            run.context.memory_bytes = 24ULL << 20;
        open_stage(&run);
        work_through_layers(&run, 0, 1);
        work_through_layers(&run, 0, 0);
        check_gradient(&run, 0, 0);
        check_gradient(&run, 0, 1);
        put_weights(&run, 1);
        work_through_layers(&run, 1, 0);
        check_gradient(&run, 1, 0);
        end(&run);
        assert_int_equal(temp_store_teardown(&fresh), 0);
    }
}

/* A worker of one layer prefers other units of its layer, backward passes first. */
static void a_worker_prefers_the_layer_that_it_had(void **state)
{
    struct error err = {0};
    struct small_run run;
    char beginning[STAGE_PREFERS_MAX][UNIT_NAME_SIZE];
    struct unit unit = {.kind = UNIT_STEP_LAYER, .layer = 1};
    const struct unit last = {.kind = UNIT_STEP_LAYER, .layer = 2},
                      step = {.kind = UNIT_TRAIN_STEP}, evaluate = {.kind = UNIT_EVALUATE};
    start_pipeline(&run, *state, "sage");
    open_stage(&run);
    assert_int_equal(stage.prefers(&run.context, run.state, &last, beginning), 0);
    assert_ok(stage.work(&run.context, run.state, &unit, &err), &err);
    assert_int_equal(stage.prefers(&run.context, run.state, &last, beginning), 2);
    assert_string_equal(beginning[0], "train-step/0/");
    assert_string_equal(beginning[1], "step-layer/0/1/");
    assert_int_equal(stage.prefers(&run.context, run.state, &unit, beginning), 1);
    assert_string_equal(beginning[0], "train-step/0/");
    assert_int_equal(stage.prefers(&run.context, run.state, &step, beginning), 0);
    assert_int_equal(stage.prefers(&run.context, run.state, &evaluate, beginning), 0);
    assert_ok(stage.work(&run.context, run.state, &last, &err), &err);
    assert_int_equal(stage.prefers(&run.context, run.state, &last, beginning), 0);
    unit.round = 7;
    assert_int_equal(stage.prefers(&run.context, run.state, &unit, beginning), 2);
    assert_string_equal(beginning[0], "step-layer/7/2/");
    end(&run);
}

static void put_pass_output(struct small_run *run, int64_t version, uint32_t rows, uint32_t columns)
{
    struct error err = {0};
    const struct key key = key_pass_output(run_id, 0, 1, 0);
    float *value = memory_alloc((size_t)rows * columns, sizeof *value);
    memset(value, 0, (size_t)rows * columns * sizeof *value);
    const struct pass_output output = {.weights_version = (uint64_t)version,
                                       .row_count = rows,
                                       .column_count = columns,
                                       .value = value};
    assert_ok(store_remove(run->temp->store, key.text, &err), &err);
    assert_ok(pass_output_put(run->temp->store, run_id, &key, &output, &err), &err);
    memory_free(value);
}

static void what_does_not_come_from_the_layer_below_is_refused(void **state)
{
    struct error err = {0};
    struct small_run run;
    const struct unit second = {.kind = UNIT_STEP_LAYER, .layer = 2};
    start_pipeline(&run, *state, "sage");
    open_stage(&run);
    assert_fails(stage.work(&run.context, run.state, &second, &err), ERROR_NOT_FOUND, "pass_output",
                 &err);
    put_pass_output(&run, 0, 149, 6);
    assert_fails(stage.work(&run.context, run.state, &second, &err), ERROR_CORRUPT,
                 "149 rows of 6 columns, expected 150 rows of 6 columns", &err);
    put_pass_output(&run, 0, 150, 5);
    assert_fails(stage.work(&run.context, run.state, &second, &err), ERROR_CORRUPT,
                 "150 rows of 5 columns", &err);
    put_pass_output(&run, 1, 150, 6);
    assert_fails(stage.work(&run.context, run.state, &second, &err), ERROR_CORRUPT, "version",
                 &err);
    assert_fails(work(&run, UNIT_TRAIN_STEP, 0, 0, &err), ERROR_NOT_FOUND, "pass_gradient", &err);
    end(&run);
}

static void numbers_that_are_not_finite_are_refused_by_name(void **state)
{
    struct small_run run;
    start(&run, *state, "sage", TASK_SINGLE_LABEL, 3);
    for (uint32_t c = 0; c < DIM; c++)
        run.feature[run.node[1] * DIM + c] = NAN; /* the node is a seed with a label */
    put_shards(&run);
    open_stage(&run);
    expect_poison(&run, UNIT_TRAIN_STEP, "round 0 slot 0");
    expect_poison(&run, UNIT_EVALUATE, "version 0 validation slot 0");
    end(&run);
}

static void inputs_that_do_not_suit_the_run_are_refused(void **state)
{
    struct error err = {0};
    struct small_run run;
    start(&run, *state, "sage", TASK_SINGLE_LABEL, 3);
    put_shards(&run);
    open_stage(&run);
    assert_fails(work(&run, UNIT_TRAIN_STEP, 1, 0, &err), ERROR_NOT_FOUND, "weights", &err);
    struct model_config other = run.model.config;
    other.layer[0].output_dim = 7;
    memory_free(run.value);
    assert_ok(model_init(&run.model, &other, &err), &err);
    run.value = memory_alloc(run.model.value_count, sizeof *run.value);
    put_weights(&run, 1);
    assert_fails(work(&run, UNIT_TRAIN_STEP, 1, 0, &err), ERROR_CORRUPT,
                 "expected 'convs.0.lin_l.weight 6 5', found 'convs.0.lin_l.weight 7 5'", &err);
    put_batch(&run, key_evaluation_mini_batch(run_id, 1).text, 1);
    assert_fails(work(&run, UNIT_EVALUATE, 0, 1, &err), ERROR_CORRUPT, "expected 2 hops, found 1",
                 &err);
    run.node[BATCH_NODES - 1] = NODES;
    put_batch(&run, key_evaluation_mini_batch(run_id, 2).text, LAYERS);
    assert_fails(work(&run, UNIT_EVALUATE, 0, 2, &err), ERROR_CORRUPT,
                 "expected nodes below 700, found 700", &err);
    end(&run);
}

static void a_label_out_of_range_is_refused(void **state)
{
    const int32_t label = 3;
    struct error err = {0};
    struct small_run run;
    start(&run, *state, "sage", TASK_SINGLE_LABEL, 3);
    memcpy(&run.label[run.node[2]], &label, sizeof label);
    put_shards(&run);
    open_stage(&run);
    assert_fails(work(&run, UNIT_TRAIN_STEP, 0, 0, &err), ERROR_CORRUPT,
                 "expected -1 to 2, found 3", &err);
    end(&run);
}

static void a_budget_too_small_is_said(void **state)
{
    struct error err = {0};
    struct small_run run;
    start(&run, *state, "sage", TASK_SINGLE_LABEL, 3);
    put_shards(&run);
    run.context.memory_bytes = 20000;
    enum error_code rc = stage.open(&run.context, &run.state, &err);
    if (rc == ERROR_NONE)
        rc = work(&run, UNIT_TRAIN_STEP, 0, 0, &err);
    assert_failed(rc, ERROR_NO_MEMORY, "budget", &err);
    end(&run);
}

static void memory_that_runs_out_leaves_nothing_behind(void **state)
{
    struct error err = {0};
    struct small_run run;
    enum error_code rc = ERROR_NO_MEMORY;
    start(&run, *state, "gcn", TASK_SINGLE_LABEL, 3);
    put_shards(&run);
    const long before = memory_live_blocks();
    for (long n = 0; rc != ERROR_NONE; n++) {
        memory_fail_after(n);
        rc = stage.open(&run.context, &run.state, &err);
        if (rc == ERROR_NONE)
            rc = work(&run, UNIT_TRAIN_STEP, 0, 0, &err);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        stage.close(run.state);
        run.state = NULL;
        assert_int_equal(memory_live_blocks(), before);
    }
    end(&run);
}

static void data_without_labels_cannot_be_opened(void **state)
{
    struct error err = {0};
    struct small_run run;
    start(&run, *state, "sage", TASK_SINGLE_LABEL, 3);
    run.book.task = TASK_NONE;
    assert_fails(stage.open(&run.context, &run.state, &err), ERROR_INPUT, "no labels", &err);
    end(&run);
}

static enum error_code attempt_units(void *context, struct error *err)
{
    struct small_run *run = context;
    static const struct unit units[] = {{.kind = UNIT_TRAIN_STEP, .round = 0, .slot = 1},
                                        {.kind = UNIT_TRAIN_STEP, .round = 0, .slot = 0},
                                        {.kind = UNIT_EVALUATE, .round = 0, .slot = 0}};
    void *state = NULL;
    enum error_code rc = stage.open(&run->context, &state, err);
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof units / sizeof *units; i++)
        rc = stage.work(&run->context, state, &units[i], err);
    stage.close(state);
    return rc;
}

static void undo_units(void *context)
{
    struct small_run *run = context;
    struct error err = {0};
    const struct key keys[] = {key_gradient(run_id, 0, 0), key_gradient(run_id, 0, 1),
                               key_evaluation(run_id, 0, 0)};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_ok(store_remove(run->temp->store, keys[i].text, &err), &err);
}

static void whichever_store_call_fails_steps_end_alike(void **state)
{
    struct small_run run;
    start(&run, *state, "sage", TASK_SINGLE_LABEL, 3);
    put_shards(&run);
    run.context.store = store_faults_open(&directory_backend, store_root(run.temp->store));
    const struct fault_walk walk = {.context = &run,
                                    .store = run.context.store,
                                    .prefix = "run",
                                    .attempt = attempt_units,
                                    .undo = undo_units};
    fault_walk_all(&walk);
    store_close(run.context.store);
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gradient_is_that_of_the_model_by_hand),
        test_with_store(threads_and_memory_do_not_change_a_record),
        test_with_store(a_warm_step_allocates_only_for_its_records),
        test_with_store(validation_counts_without_dropout),
        test_with_store(three_classes_have_no_scores),
        test_with_store(a_reused_pass_trains_on_the_batch_it_was_made_for),
        cmocka_unit_test(a_gradient_of_layers_is_that_of_the_model_by_hand),
        test_with_store(a_worker_prefers_the_layer_that_it_had),
        test_with_store(what_does_not_come_from_the_layer_below_is_refused),
        test_with_store(numbers_that_are_not_finite_are_refused_by_name),
        test_with_store(inputs_that_do_not_suit_the_run_are_refused),
        test_with_store(a_label_out_of_range_is_refused),
        test_with_store(a_budget_too_small_is_said),
        test_with_store(memory_that_runs_out_leaves_nothing_behind),
        test_with_store(data_without_labels_cannot_be_opened),
        test_with_store(whichever_store_call_fails_steps_end_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
