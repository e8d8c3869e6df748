/*
 * Units of train-step on a graph with relations, compared with the model called directly on the
 * record that sample writes.
 */
#include "common/base/memory.h"
#include "common/nn/sparse_optimizer.h"
#include "common/nn/tasks/task.h"
#include "stages/engine/stage.h"
#include "stages/plan/model/run_model.h"
#include "stages/plan/run/run_binding.h"
#include "stages/sampling/rows/neighbor_sampler.h"
#include "stages/train-step/step_batch.h"
#include "store/features/feature_shard.h"
#include "store/objects/keys.h"
#include "store/records/round/gradient.h"
#include "store/records/round/parameters.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"
#include "tests/support/typed_dataset.h"

#include <stdio.h>

enum {
    TYPES = 3,
    AUTHOR = 0,
    PAPER = 1,
    VENUE = 2,
    AUTHOR_DIM = 2,
    SEEDS = 20,
    CLASSES = 3,
    WIDTH_MOST = 8
};

static const char run_id[] = "run-1", partition_id[] = "p";
static const uint32_t dims[TYPES] = {AUTHOR_DIM, TYPED_PAPER_DIM, TYPED_VENUE_DIM};
static const uint32_t type_first[TYPES + 1] = {0, TYPED_AUTHORS, TYPED_AUTHORS + TYPED_PAPERS,
                                               TYPED_NODES};

/* A run as stage_main passes it, with all inputs of a step in the store. */
struct typed_run {
    struct temp_store *temp;
    struct pipeline_settings settings;
    struct schedule schedule;
    struct partition_book book;
    struct stage_context context;
    struct model model;
    struct mini_batch batch; /* the batch read back from its record */
    float *value;
    void *state;
};

static float feature_of(uint32_t type, uint32_t node, uint32_t column)
{
    return typed_dataset_feature(node, column) / 64 - (float)type;
}

static int32_t label_of(uint32_t node)
{
    return node % 7 == 0 ? -1 : (int32_t)(node % CLASSES);
}

static void put_shard(const struct typed_run *run, uint32_t type)
{
    static float row[TYPED_NODES * TYPED_PAPER_DIM], label[TYPED_NODES];
    struct error err = {0};
    struct feature_shard_writer *writer = NULL;
    const uint32_t count = type_first[type + 1] - type_first[type];
    struct tensor_spec tensor = {
        .name = "features", .type = TENSOR_F32, .dim = dims[type], .row_count = count};
    for (uint32_t i = 0; i < count; i++) {
        const int32_t value = label_of(type_first[type] + i);
        memcpy(&label[i], &value, sizeof value);
        for (uint32_t c = 0; c < dims[type]; c++)
            row[i * dims[type] + c] = feature_of(type, type_first[type] + i, c);
    }
    assert_ok(feature_shard_writer_new(run->temp->store,
                                       key_part_type(partition_id, 0, type, "shard").text,
                                       key_part_type(partition_id, 0, type, "shard_seal").text,
                                       partition_id, &writer, &err),
              &err);
    assert_ok(feature_shard_writer_begin(writer, &tensor, &err), &err);
    assert_ok(feature_shard_writer_add(writer, row, count, &err), &err);
    if (type == PAPER) {
        tensor = (struct tensor_spec){
            .name = "labels", .type = TENSOR_I32, .dim = 1, .row_count = count};
        assert_ok(feature_shard_writer_begin(writer, &tensor, &err), &err);
        assert_ok(feature_shard_writer_add(writer, label, count, &err), &err);
    }
    assert_ok(feature_shard_writer_finish(writer, &err), &err);
}

/* Stores a batch with the seeds first, first + 3 and so on. */
static void put_batch(struct typed_run *run, const char *key, uint32_t first)
{
    static const int64_t fanout[] = {3, 2, 4, 3, 2, 2, 5, 3};
    struct error err = {0};
    uint32_t seed[SEEDS];
    struct topology topology;
    struct neighbor_sampler *sampler = NULL;
    struct mini_batch drawn;
    struct arena scratch = {0};
    for (uint32_t i = 0; i < SEEDS; i++)
        seed[i] = TYPED_AUTHORS + first + 3 * i;
    assert_ok(topology_open(run->temp->store, &run->book, &topology, &err), &err);
    assert_ok(topology_open_parts(&topology, NULL, &err), &err);
    const struct neighbor_sampler_config config = {.topology = &topology, .book = &run->book};
    assert_ok(neighbor_sampler_new(&config, &sampler, &err), &err);
    const struct neighbor_request request = {.seed = 4,
                                             .slot = first,
                                             .hop_count = 2,
                                             .fanout = fanout,
                                             .seed_node = seed,
                                             .seed_count = SEEDS,
                                             .wants_degree = true,
                                             .edge_columns = 1U << EDGE_WEIGHT};
    assert_ok(neighbor_sampler_draw(sampler, &request, &drawn, &err), &err);
    assert_ok(mini_batch_put(run->temp->store, key, run_id, &drawn, &scratch, &err), &err);
    arena_release(&scratch);
    neighbor_sampler_free(sampler);
    topology_close(&topology);
}

static void put_weights(struct typed_run *run)
{
    struct error err = {0};
    char table[RUN_MODEL_TABLE_SIZE];
    assert_ok(model_table_text(&run->model, table, sizeof table, &err), &err);
    const struct weights weights = {.value_count = run->model.value_count,
                                    .value = run->value,
                                    .table = table,
                                    .table_size = strlen(table)};
    assert_ok(weights_put(run->temp->store, run_id, &weights, &err), &err);
}

/* Starts a run. `set`: further settings; NULL ends them. */
static void start(struct typed_run *run, struct temp_store *temp, const char *model,
                  const char *const *set)
{
    static struct typed_edges edges;
    struct error err = {0};
    char name[64];
    const char *const own[] = {"ingest.relations=true",
                               "sample.fanouts=5,3",
                               "sample.relation_fanouts=writes: 3,2; cites: 4,3; in: 2,2",
                               "sample.batch_size=20",
                               "sample.batches_per_round=2",
                               "train-step.hidden=8",
                               "train-step.dropout=0.5",
                               "train-step.heads=2"};
    *run = (struct typed_run){.temp = temp, .book = typed_book(partition_id)};
    run->book.type_dim = dims;
    run->book.task = TASK_SINGLE_LABEL;
    run->book.class_count = CLASSES;
    pipeline_settings_defaults(&run->settings);
    (void)snprintf(name, sizeof name, "train-step.model=%s", model);
    assert_ok(pipeline_settings_override(&run->settings, name, &err), &err);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        assert_ok(pipeline_settings_override(&run->settings, own[i], &err), &err);
    for (; set && *set; set++)
        assert_ok(pipeline_settings_override(&run->settings, *set, &err), &err);
    typed_edges_fill(&edges);
    typed_topology_write(temp->store, partition_id, &edges);
    for (uint32_t t = 0; t < TYPES; t++)
        put_shard(run, t);
    run->book.train_count = 40;
    run->book.valid_count = SEEDS;
    assert_ok(run_schedule(&run->schedule, &run->settings, &run->book, &err), &err);
    run->context = (struct stage_context){.store = temp->store,
                                          .settings = &run->settings,
                                          .run_id = run_id,
                                          .book = &run->book,
                                          .schedule = &run->schedule,
                                          .threads = 1,
                                          .memory_bytes = 1ULL << 30};
    assert_ok(run_model_init(&run->model, &run->settings, &run->book, &err), &err);
    run->value = memory_alloc(run->model.value_count, sizeof *run->value);
    model_initialise(&run->model, 3, run->value);
    put_weights(run);
    put_batch(run, key_mini_batch(run_id, 0, 0).text, 0);
    put_batch(run, key_mini_batch(run_id, 0, 1).text, 1);
    put_batch(run, key_evaluation_mini_batch(run_id, 0).text, 2);
}

static void end(struct typed_run *run)
{
    if (run->state)
        stage.close(run->state);
    mini_batch_release(&run->batch);
    memory_free(run->value);
    *run = (struct typed_run){0};
}

static void open_stage(struct typed_run *run)
{
    struct error err = {0};
    assert_ok(stage.open(&run->context, &run->state, &err), &err);
}

static enum error_code work(struct typed_run *run, enum unit_kind kind, int32_t slot,
                            struct error *err)
{
    const struct unit unit = {.kind = kind, .slot = slot};
    return stage.work(&run->context, run->state, &unit, err);
}

/* --- direct calls --- */

struct answer {
    float logits[SEEDS * CLASSES], slope[SEEDS * CLASSES];
    float *gradient;
    struct loss_result loss;
};

struct hand_blocks {
    struct relation_block block[2];
    uint32_t destination[2][TYPES], source[2][TYPES];
    struct relation_edges edges[2][TYPED_RELATIONS];
};

/* Returns the columns of the learnable rows of a type. */
static uint32_t width_of(const struct typed_run *run, uint32_t type)
{
    const struct embedding_tensor *tensor = embedding_tensor_of(&run->schedule.embeddings, type);
    return tensor ? tensor->width : 0;
}

/* Copies feature rows by partition id, one by one, with the first values of learnable rows
 * behind them. */
static struct input_rows rows_by_hand(const struct typed_run *run, uint32_t type, float *out)
{
    const struct mini_batch *batch = &run->batch;
    const uint32_t *node = batch->node + batch->node_begin[type];
    const uint32_t count = batch->node_begin[type + 1] - batch->node_begin[type];
    const uint32_t width = width_of(run, type);
    const size_t dim = dims[type] + (size_t)width;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t c = 0; c < dims[type]; c++)
            out[i * dim + c] = feature_of(type, node[i], c);
        if (width)
            sparse_first_values(run->schedule.seed, type, node[i] - type_first[type], width,
                                out + i * dim + dims[type]);
    }
    return (struct input_rows){.base = out, .stride = dim};
}

/* Checks the learnable rows of a gradient record against the gradient of the model's input, by
 * node number. */
static void check_learnt(const struct typed_run *run, uint32_t type, const float *of_input,
                         const struct gradient *gradient)
{
    const struct mini_batch *batch = &run->batch;
    const uint32_t *node = batch->node + batch->node_begin[type];
    const uint32_t count = batch->node_begin[type + 1] - batch->node_begin[type];
    const uint32_t width = width_of(run, type);
    const size_t dim = dims[type] + (size_t)width;
    const struct gradient_rows *rows = gradient_rows_of(gradient, type);
    assert_int_equal(rows ? rows->count : 0, width ? count : 0);
    for (uint32_t i = 0; width && i < count; i++) {
        uint64_t at = 0;
        while (rows->node[at] != node[i] - type_first[type])
            must(++at < rows->count);
        assert_int_equal(rows->width, width);
        assert_memory_equal(rows->gradient + at * width, of_input + i * dim + dims[type],
                            width * sizeof(float));
    }
}

static void loss_by_hand(const struct typed_run *run, struct answer *answer)
{
    int32_t label[SEEDS];
    for (uint32_t i = 0; i < SEEDS; i++)
        label[i] = label_of(run->batch.node[run->batch.node_begin[PAPER] + i]);
    answer->loss =
        task_of(TASK_SINGLE_LABEL)
            ->loss(&(struct loss_rule){0}, answer->logits, label, SEEDS, CLASSES, answer->slope);
}

/* Computes the answer with direct calls. `gradient`: the record to compare learnable rows with;
 * NULL for an evaluation. */
static void by_hand(struct typed_run *run, const char *key, const struct random_stream *dropout,
                    const struct gradient *gradient, struct answer *answer)
{
    static float row[TYPES][TYPED_NODES * (TYPED_PAPER_DIM + WIDTH_MOST)];
    bool learnt[TYPES];
    static struct hand_blocks blocks;
    struct error err = {0};
    struct arena arena = {0};
    struct model_trace *trace = NULL;
    struct input_rows rows[TYPES];
    const struct model_workspace workspace = {.arena = &arena};
    assert_ok(mini_batch_get(run->temp->store, key, run_id, &run->batch, &err), &err);
    for (uint32_t t = 0; t < TYPES; t++)
        rows[t] = rows_by_hand(run, t, row[t]), learnt[t] = width_of(run, t) > 0;
    for (int layer = 0; layer < 2; layer++)
        mini_batch_relation_block(&run->batch, layer, blocks.destination[layer],
                                  blocks.source[layer], blocks.edges[layer], &blocks.block[layer]);
    const struct model_input input = {.relations = blocks.block,
                                      .type_rows = rows,
                                      .wants_gradient = learnt,
                                      .seed_count = SEEDS,
                                      .dropout = dropout};
    answer->gradient = memory_alloc(run->model.value_count, sizeof(float));
    assert_ok(
        model_forward(&run->model, run->value, &input, &workspace, answer->logits, &trace, &err),
        &err);
    loss_by_hand(run, answer);
    assert_ok(model_backward(&run->model, run->value, trace, answer->slope, &workspace,
                             answer->gradient, &err),
              &err);
    for (uint32_t t = 0; gradient && t < TYPES; t++)
        check_learnt(run, t, learnt[t] ? model_input_gradient(trace, t) : NULL, gradient);
    arena_release(&arena);
}

static void check_gradient(struct typed_run *run, int32_t slot)
{
    struct error err = {0};
    struct gradient gradient = {0};
    struct answer answer;
    const struct random_stream dropout =
        random_stream_of(run->schedule.seed, RANDOM_DROPOUT, 0, 0, (uint32_t)slot);
    assert_ok(work(run, UNIT_TRAIN_STEP, slot, &err), &err);
    assert_ok(gradient_get(run->temp->store, run_id, 0, slot, &gradient, &err), &err);
    by_hand(run, key_mini_batch(run_id, 0, slot).text, &dropout, &gradient, &answer);
    assert_int_equal(gradient.value_count, run->model.value_count);
    assert_memory_equal(gradient.value, answer.gradient, run->model.value_count * sizeof(float));
    assert_int_equal(gradient.seed_count, answer.loss.label_count);
    assert_int_equal(gradient.correct_count, answer.loss.correct_count);
    assert_true(gradient.loss_sum == answer.loss.sum);
    /* some seeds have no label */
    assert_true(gradient.seed_count > 0 && gradient.seed_count < SEEDS);
    memory_free(answer.gradient);
    gradient_release(&gradient);
}

static const char *const models[] = {"rgcn",       "hgt",   "rgat", "sage", "gat",
                                     "graph_conv", "gatv2", "gin",  "le"};
enum { MODELS = sizeof models / sizeof *models };

static void a_gradient_is_that_of_the_model_by_hand(void **state)
{
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        static struct typed_run run;
        void *fresh = NULL;
        assert_int_equal(temp_store_setup(&fresh), 0);
        start(&run, fresh, models[m], NULL);
        open_stage(&run);
        check_gradient(&run, 0);
        check_gradient(&run, 1);
        end(&run);
        assert_int_equal(temp_store_teardown(&fresh), 0);
    }
}

/* Learnable rows stand behind features. They have several widths, equal to those of the layers
 * or not. */
static void rows_that_are_learnt_stand_behind_features(void **state)
{
    static const char *const set[] = {"train-step.type_embedding=author: 8; paper: 5", NULL};
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        static struct typed_run run;
        void *fresh = NULL;
        assert_int_equal(temp_store_setup(&fresh), 0);
        start(&run, fresh, models[m], set);
        assert_int_equal(run.schedule.embeddings.count, 2);
        open_stage(&run);
        check_gradient(&run, 0);
        end(&run);
        assert_int_equal(temp_store_teardown(&fresh), 0);
    }
}

/* The model has more values than the counting arena has bytes, so a dry run that read any would
 * fail. */
static void a_wide_model_is_counted_without_its_values(void **state)
{
    static const char *const wide[] = {"train-step.hidden=160", NULL};
    for (int m = 0; m < MODELS; m++) {
        static struct typed_run run;
        void *fresh = NULL;
        (void)state;
        assert_int_equal(temp_store_setup(&fresh), 0);
        start(&run, fresh, models[m], wide);
        open_stage(&run);
        check_gradient(&run, 0);
        end(&run);
        assert_int_equal(temp_store_teardown(&fresh), 0);
    }
}

static void an_evaluation_counts_the_labels_of_the_target_type(void **state)
{
    static struct typed_run run;
    struct error err = {0};
    struct answer answer;
    struct evaluation evaluation = {0};
    start(&run, *state, "rgcn", NULL);
    open_stage(&run);
    assert_ok(work(&run, UNIT_EVALUATE, 0, &err), &err);
    assert_ok(evaluation_get(run.temp->store, run_id, 0, 0, &evaluation, &err), &err);
    by_hand(&run, key_evaluation_mini_batch(run_id, 0).text, NULL, NULL, &answer);
    assert_int_equal(evaluation.seed_count, answer.loss.label_count);
    assert_int_equal(evaluation.correct_count, answer.loss.correct_count);
    assert_true(evaluation.loss_sum == answer.loss.sum);
    memory_free(answer.gradient);
    store_release_record(&evaluation.view);
    end(&run);
}

/* The store would refuse a second record that differs. */
static void threads_do_not_change_a_record(void **state)
{
    static struct typed_run run;
    struct error err = {0};
    start(&run, *state, "hgt", NULL);
    open_stage(&run);
    assert_ok(work(&run, UNIT_TRAIN_STEP, 0, &err), &err);
    stage.close(run.state);
    run.state = NULL;
    assert_ok(thread_pool_new(3, &run.context.pool, &err), &err);
    open_stage(&run);
    assert_ok(work(&run, UNIT_TRAIN_STEP, 0, &err), &err);
    struct thread_pool *pool = run.context.pool;
    end(&run);
    thread_pool_free(pool);
}

/* First all types fit the budget, also if two programs share it; then all types except papers
 * fit. */
static void rows_are_the_same_in_and_out_of_the_budget(void **state)
{
    static struct typed_run run;
    struct error err = {0};
    static const uint64_t budgets[] = {1 << 20, 1 << 20, 2000};
    static const int sharers[] = {1, 2, 1};
    static const bool resident[][TYPES] = {
        {true, true, true}, {true, true, true}, {true, false, true}};
    const struct key key = key_mini_batch(run_id, 0, 0);
    start(&run, *state, "rgcn", NULL);
    for (int b = 0; b < 3; b++) {
        struct node_features features;
        struct prepared_batch batch = {0};
        run.context.sharers = sharers[b];
        assert_ok(node_features_open(&run.context, PRECISION_FP32, budgets[b], &features, &err),
                  &err);
        struct batch_preparer preparer = {.context = &run.context,
                                          .model = &run.model,
                                          .features = &features,
                                          .budget_bytes = 1 << 20};
        assert_ok(prepared_batch_read(&preparer, &batch, &key, &err), &err);
        assert_ok(prepared_batch_fill(&preparer, &batch, NULL, &err), &err);
        struct step_batch input;
        step_batch_take(&run.context, &batch, &input);
        assert_int_equal(input.seed_count, SEEDS);
        for (uint32_t t = 0; t < TYPES; t++) {
            const struct input_rows *rows = &input.rows[t];
            assert_int_equal(feature_source_is_resident(features.source[t]), resident[b][t]);
            assert_true(input.count[t] > 0 || t == VENUE); /* no relation begins at venues */
            for (uint32_t i = 0; i < input.count[t]; i++) {
                const size_t at = rows->row_index ? rows->row_index[i] : i;
                assert_int_equal(input.number[t][i], input.node[t][i] - type_first[t]);
                for (uint32_t c = 0; c < dims[t]; c++)
                    assert_true(((const float *)rows->base)[at * rows->stride + c] ==
                                feature_of(t, input.node[t][i], c));
            }
        }
        prepared_batch_release(&preparer, &batch);
        batch_preparer_release(&preparer);
        node_features_close(&features);
    }
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gradient_is_that_of_the_model_by_hand),
        cmocka_unit_test(a_wide_model_is_counted_without_its_values),
        cmocka_unit_test(rows_that_are_learnt_stand_behind_features),
        test_with_store(an_evaluation_counts_the_labels_of_the_target_type),
        test_with_store(threads_do_not_change_a_record),
        test_with_store(rows_are_the_same_in_and_out_of_the_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
