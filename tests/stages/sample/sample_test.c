#include "common/base/memory.h"
#include "stages/engine/stage.h"
#include "store/backends/directory/directory.h"
#include "store/objects/keys.h"
#include "store/records/batch/mini_batch.h"
#include "store/records/dataset/node_splits.h"
#include "store/topology/topology.h"

#include "tests/reference/slow_sampler.h"
#include "tests/stages/fault_walk.h"
#include "tests/support/random_graph.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <pthread.h>

enum { NODE_COUNT = 700, TRAIN_COUNT = 100, VALID_COUNT = 30, EPOCHS = 3 };

static const char run_id[] = "run-1";
static const uint32_t whole_book[] = {0, NODE_COUNT};
static const uint32_t cut_book[] = {0, 200, 201, NODE_COUNT};

/* A partition with sealed LMDB files in a store, and a run on it. */
struct fixture {
    struct temp_dir dir;
    char scratch[FILE_PATH_SIZE];
    struct store *store;
    struct random_graph graph;
    uint32_t train[TRAIN_COUNT], valid[VALID_COUNT];
    struct pipeline_settings settings;
    struct partition_book book;
    struct schedule schedule;
    struct stage_context context;
    struct error err;
    void *state;
};

static void write_part(struct fixture *f, int part)
{
    const uint32_t first = f->book.book[part], end = f->book.book[part + 1];
    uint64_t row_start[NODE_COUNT + 1];
    for (uint32_t v = first; v <= end; v++)
        row_start[v - first] = f->graph.row_start[v] - f->graph.row_start[first];
    const struct topology_arrays arrays = {
        .first_node = first,
        .node_count = end - first,
        .edge_count = row_start[end - first],
        .row_start = row_start,
        .neighbor = f->graph.neighbor + f->graph.row_start[first],
    };
    assert_ok(topology_write(f->store, f->book.id, part, &arrays, &f->err), &f->err);
}

static void write_splits(struct fixture *f)
{
    const struct key key = key_partition(f->book.id, "splits");
    for (uint32_t i = 0; i < TRAIN_COUNT; i++)
        f->train[i] = i * 7;
    for (uint32_t i = 0; i < VALID_COUNT; i++)
        f->valid[i] = i * 21 + 1;
    const struct node_splits splits = {.count = {TRAIN_COUNT, VALID_COUNT, 0},
                                       .node = {f->train, f->valid, f->train}};
    assert_ok(node_splits_put(f->store, key.text, f->book.id, &splits, &f->err), &f->err);
}

static void set(struct fixture *f, const char *assignment)
{
    assert_ok(pipeline_settings_override(&f->settings, assignment, &f->err), &f->err);
}

static struct fixture *fixture_make(const uint32_t *book, int part_count, const char *setting)
{
    struct fixture *f = memory_alloc(1, sizeof *f);
    char path[FILE_PATH_SIZE];
    must(f != NULL);
    temp_dir_make(&f->dir);
    random_graph_make(&f->graph, 5, NODE_COUNT, 3000);
    f->book = (struct partition_book){.id = "p-1",
                                      .part_count = part_count,
                                      .node_count = NODE_COUNT,
                                      .edge_count = f->graph.row_start[NODE_COUNT],
                                      .self_loop_count = 1,
                                      .train_count = TRAIN_COUNT,
                                      .valid_count = VALID_COUNT,
                                      .book = book};
    assert_ok(file_path(path, &f->err, "%s/store", f->dir.path), &f->err);
    assert_ok(file_path(f->scratch, &f->err, "%s/scratch", f->dir.path), &f->err);
    assert_ok(file_make_folders(f->scratch, &f->err), &f->err);
    assert_ok(store_open(path, 0, &f->store, &f->err), &f->err);
    for (int part = 0; part < part_count; part++)
        write_part(f, part);
    write_splits(f);
    pipeline_settings_defaults(&f->settings);
    set(f, "epochs=3");
    set(f, "sample.fanouts=4,3");
    set(f, "sample.batch_size=16");
    set(f, "sample.batches_per_round=3");
    set(f, "sample.evaluation_batch_size=20");
    set(f, setting);
    assert_ok(
        schedule_init(&f->schedule, &f->settings, TRAIN_COUNT, VALID_COUNT, part_count, &f->err),
        &f->err);
    f->context = (struct stage_context){.store = f->store,
                                        .settings = &f->settings,
                                        .run_id = run_id,
                                        .book = &f->book,
                                        .schedule = &f->schedule,
                                        .threads = 1};
    return f;
}

static struct fixture *fixture_open(const uint32_t *book, int part_count, const char *setting)
{
    struct fixture *f = fixture_make(book, part_count, setting);
    assert_ok(stage.open(&f->context, &f->state, &f->err), &f->err);
    return f;
}

static void fixture_close(struct fixture *f)
{
    stage.close(f->state);
    store_close(f->store);
    random_graph_release(&f->graph);
    temp_dir_remove(&f->dir);
    memory_free(f);
}

static void work(struct fixture *f, enum unit_kind kind, int64_t round, int32_t slot,
                 struct mini_batch *out)
{
    const struct unit unit = {.kind = kind, .round = round, .slot = slot};
    const struct key key = kind == UNIT_SAMPLE ? key_mini_batch(run_id, round, slot)
                                               : key_evaluation_mini_batch(run_id, slot);
    assert_ok(stage.work(&f->context, f->state, &unit, &f->err), &f->err);
    assert_ok(mini_batch_get(f->store, key.text, run_id, out, &f->err), &f->err);
}

static void assert_is_the_slow_batch(const struct fixture *f, const struct mini_batch *batch,
                                     const struct slow_request *request)
{
    static struct slow_batch slow;
    slow_sample(&slow, f->graph.row_start, f->graph.neighbor, request);
    assert_int_equal(batch->node_count, slow.node_count);
    assert_int_equal(batch->edge_count, slow.edge_count);
    assert_memory_equal(batch->node, slow.node, (size_t)slow.node_count * 4);
    assert_memory_equal(batch->row_start, slow.row_start, ((size_t)slow.row_count + 1) * 4);
    assert_memory_equal(batch->neighbor, slow.neighbor, (size_t)slow.edge_count * 4);
}

static void every_epoch_takes_each_training_node_once(void **state)
{
    (void)state;
    static const int64_t fanout[] = {4, 3};
    struct fixture *f = fixture_open(whole_book, 1, "seed=9");
    uint32_t first_seed[EPOCHS] = {0};
    for (int64_t round = 0; round < f->schedule.round_count; round++) {
        static uint32_t seen[NODE_COUNT];
        const int64_t epoch = schedule_epoch(&f->schedule, round);
        if (round % f->schedule.rounds_per_epoch == 0)
            memset(seen, 0, sizeof seen);
        for (int32_t slot = 0; slot < schedule_slot_count(&f->schedule, round); slot++) {
            struct mini_batch batch = {0};
            work(f, UNIT_SAMPLE, round, slot, &batch);
            const struct slow_request request = {9,      (uint32_t)round, (uint32_t)slot,  2,
                                                 fanout, batch.node,      batch.seed_count};
            assert_is_the_slow_batch(f, &batch, &request);
            assert_null(batch.degree);
            for (uint32_t i = 0; i < batch.seed_count; i++)
                assert_int_equal(seen[batch.node[i]]++, 0);
            if (round % f->schedule.rounds_per_epoch == 0 && slot == 0)
                first_seed[epoch] = batch.node[0] * NODE_COUNT + batch.node[1];
            mini_batch_release(&batch);
        }
        if ((round + 1) % f->schedule.rounds_per_epoch == 0)
            for (uint32_t v = 0; v < NODE_COUNT; v++)
                assert_int_equal(seen[v], v % 7 == 0);
    }
    assert_int_equal(f->schedule.round_count, EPOCHS * 3);
    assert_int_not_equal(first_seed[0], first_seed[1]); /* the next epoch is shuffled again */
    fixture_close(f);
}

static void evaluation_takes_the_validation_nodes_in_order_with_all_neighbours(void **state)
{
    (void)state;
    static const int64_t fanout[] = {-1, -1};
    struct fixture *f = fixture_open(cut_book, 3, "seed=9");
    for (int32_t slot = 0; slot < 2; slot++) {
        struct mini_batch batch = {0};
        work(f, UNIT_SAMPLE_EVALUATION, 0, slot, &batch);
        const struct slow_request request = {9,
                                             UINT32_MAX,
                                             (uint32_t)slot,
                                             2,
                                             fanout,
                                             f->valid + (ptrdiff_t)slot * 20,
                                             slot ? 10 : 20};
        assert_int_equal(batch.seed_count, slot ? 10 : 20);
        assert_is_the_slow_batch(f, &batch, &request);
        mini_batch_release(&batch);
    }
    fixture_close(f);
}

static void evaluation_may_be_sampled_too(void **state)
{
    (void)state;
    static const int64_t fanout[] = {5, 2};
    struct fixture *f = fixture_open(cut_book, 3, "sample.evaluation_fanouts=5,2");
    struct mini_batch batch = {0};
    work(f, UNIT_SAMPLE_EVALUATION, 0, 1, &batch);
    const struct slow_request request = {1, UINT32_MAX, 1, 2, fanout, f->valid + 20, 10};
    assert_is_the_slow_batch(f, &batch, &request);
    mini_batch_release(&batch);
    fixture_close(f);
}

static struct checksum stored_content(struct fixture *f, int64_t round, int32_t slot)
{
    struct record_view view;
    assert_ok(store_get(f->store, key_mini_batch(run_id, round, slot).text, run_id, &view, &f->err),
              &f->err);
    const struct checksum content = view.content;
    store_release_record(&view);
    return content;
}

static struct checksum content_of(struct fixture *f, int64_t round, int32_t slot)
{
    const struct unit unit = {.kind = UNIT_SAMPLE, .round = round, .slot = slot};
    assert_ok(stage.work(&f->context, f->state, &unit, &f->err), &f->err);
    return stored_content(f, round, slot);
}

static void parts_storage_and_order_of_work_leave_no_trace(void **state)
{
    (void)state;
    struct fixture *one = fixture_open(whole_book, 1, "seed=3");
    struct fixture *three = fixture_make(cut_book, 3, "seed=3");
    assert_ok(stage.open(&three->context, &three->state, &three->err), &three->err);
    const struct checksum late = content_of(three, 2, 0), early = content_of(three, 0, 1);
    const struct checksum first = content_of(one, 0, 1), again = content_of(one, 0, 1);
    const struct checksum last = content_of(one, 2, 0);
    assert_true(checksum_equal(&early, &first));
    assert_true(checksum_equal(&first, &again));
    assert_true(checksum_equal(&late, &last));
    assert_false(checksum_equal(&late, &early));
    fixture_close(one);
    fixture_close(three);
}

static void gcn_gets_the_degrees(void **state)
{
    (void)state;
    struct fixture *f = fixture_open(cut_book, 3, "train-step.model=gcn");
    struct mini_batch batch = {0};
    work(f, UNIT_SAMPLE, 1, 0, &batch);
    assert_non_null(batch.degree);
    for (uint32_t i = 0; i < batch.node_count; i++) {
        uint32_t degree = 0;
        for (uint64_t e = f->graph.row_start[batch.node[i]];
             e < f->graph.row_start[batch.node[i] + 1]; e++)
            degree += f->graph.neighbor[e] != batch.node[i];
        assert_int_equal(batch.degree[i], degree);
    }
    mini_batch_release(&batch);
    fixture_close(f);
}

static void warm_units_allocate_nothing(void **state)
{
    (void)state;
    struct fixture *f = fixture_open(cut_book, 3, "seed=1");
    for (int64_t round = 0; round < f->schedule.round_count; round++) {
        const struct unit unit = {.kind = UNIT_SAMPLE, .round = round};
        const long before = memory_allocation_count();
        assert_ok(stage.work(&f->context, f->state, &unit, &f->err), &f->err);
        assert_true(round < 2 || memory_allocation_count() == before);
    }
    fixture_close(f);
}

struct helper {
    struct fixture *f;
    int number;
    enum error_code rc;
    struct error err;
};

enum { HELPER_COUNT = 4 };

/* Draws every HELPER_COUNT-th unit of the first two rounds. */
static void *help(void *argument)
{
    struct helper *helper = argument;
    const struct fixture *f = helper->f;
    const int64_t slots = f->settings.sample.batches_per_round;
    for (int64_t i = helper->number; helper->rc == ERROR_NONE && i < 2 * slots; i += HELPER_COUNT) {
        const struct unit unit = {
            .kind = UNIT_SAMPLE, .round = i / slots, .slot = (int32_t)(i % slots)};
        helper->rc = stage.work(&f->context, f->state, &unit, &helper->err);
    }
    return NULL;
}

/* Runs four threads with three samplers, so that one thread waits. */
static void units_drawn_side_by_side_are_the_units_drawn_alone(void **state)
{
    (void)state;
    struct fixture *alone = fixture_open(cut_book, 3, "seed=3");
    struct fixture *together = fixture_make(cut_book, 3, "seed=3");
    together->context.threads = 3;
    assert_ok(stage.open(&together->context, &together->state, &together->err), &together->err);
    struct helper helper[HELPER_COUNT] = {{0}};
    pthread_t thread[HELPER_COUNT];
    for (int i = 0; i < HELPER_COUNT; i++) {
        helper[i] = (struct helper){.f = together, .number = i};
        assert_int_equal(pthread_create(&thread[i], NULL, help, &helper[i]), 0);
    }
    for (int i = 0; i < HELPER_COUNT; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_ok(helper[i].rc, &helper[i].err);
    }
    for (int64_t round = 0; round < 2; round++)
        for (int32_t slot = 0; slot < together->settings.sample.batches_per_round; slot++) {
            const struct checksum a = content_of(alone, round, slot);
            const struct checksum b = stored_content(together, round, slot);
            assert_true(checksum_equal(&a, &b));
        }
    fixture_close(alone);
    fixture_close(together);
}

/* Each sampler is charged twice the size of its table of all nodes: 700 nodes, 5,600 bytes. */
static void takes_no_more_samplers_than_the_budget_has_room_for(void **state)
{
    (void)state;
    struct fixture *f = fixture_make(cut_book, 3, "seed=1");
    f->context.threads = 100;
    f->context.memory_bytes = 16800;
    const long before = memory_live_blocks();
    assert_ok(stage.open(&f->context, &f->state, &f->err), &f->err);
    const long many = memory_live_blocks() - before;
    stage.close(f->state);
    f->context.memory_bytes = 5600;
    assert_ok(stage.open(&f->context, &f->state, &f->err), &f->err);
    assert_int_equal(many - (memory_live_blocks() - before), 2 * 5);
    fixture_close(f);
}

static void copies_the_topology_in_half_of_the_budget_or_reads_its_files(void **state)
{
    (void)state;
    struct fixture *f = fixture_make(cut_book, 3, "seed=3");
    struct topology topology = {0};
    assert_ok(topology_open(f->store, &f->book, &topology, &f->err), &f->err);
    const uint64_t half = topology_copy_bytes(&topology);
    topology_close(&topology);
    struct checksum content[2];
    long blocks[2];
    for (int fits = 0; fits <= 1; fits++) {
        const long before = memory_live_blocks();
        f->context.memory_bytes = fits ? 2 * half : 2 * half - 1;
        assert_ok(stage.open(&f->context, &f->state, &f->err), &f->err);
        blocks[fits] = memory_live_blocks() - before;
        f->context.memory_bytes = 0;
        content[fits] = content_of(f, 1, 2);
        stage.close(f->state);
        f->state = NULL;
    }
    assert_int_equal(blocks[1] - blocks[0], 1);
    assert_true(checksum_equal(&content[0], &content[1]));
    fixture_close(f);
}

static void says_when_the_budget_is_too_small(void **state)
{
    (void)state;
    struct fixture *f = fixture_make(cut_book, 3, "seed=1");
    f->context.memory_bytes = 1000;
    assert_fails(stage.open(&f->context, &f->state, &f->err), ERROR_NO_MEMORY,
                 "2800 bytes, and 0 of the budget of 600 are used", &f->err);
    stage.close(f->state);
    f->state = NULL;
    f->context.memory_bytes = 100000;
    assert_ok(stage.open(&f->context, &f->state, &f->err), &f->err);
    const struct unit unit = {.kind = UNIT_SAMPLE_EVALUATION};
    assert_fails(stage.work(&f->context, f->state, &unit, &f->err), ERROR_NO_MEMORY,
                 "/mini_batch: hop 2: no memory for the edges", &f->err);
    fixture_close(f);
}

static void names_splits_that_are_not_those_of_the_book(void **state)
{
    (void)state;
    struct fixture *f = fixture_make(whole_book, 1, "seed=1");
    f->schedule.train_count++;
    assert_fails(stage.open(&f->context, &f->state, &f->err), ERROR_CORRUPT,
                 "partition/p-1/splits: 100 training and 30 validation nodes, expected 101 and 30",
                 &f->err);
    fixture_close(f);
}

static void names_a_part_that_is_missing(void **state)
{
    (void)state;
    struct fixture *f = fixture_make(cut_book, 3, "seed=1");
    const struct key key = key_part(f->book.id, 2, "topology");
    assert_ok(store_remove(f->store, key.text, &f->err), &f->err);
    assert_fails(stage.open(&f->context, &f->state, &f->err), ERROR_NOT_FOUND, key.text, &f->err);
    fixture_close(f);
}

static enum error_code attempt_units(void *context, struct error *err)
{
    struct fixture *f = context;
    static const struct unit units[] = {{.kind = UNIT_SAMPLE, .round = 0, .slot = 1},
                                        {.kind = UNIT_SAMPLE, .round = 2, .slot = 0},
                                        {.kind = UNIT_SAMPLE_EVALUATION, .slot = 1}};
    void *state = NULL;
    enum error_code rc = stage.open(&f->context, &state, err);
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof units / sizeof *units; i++)
        rc = stage.work(&f->context, state, &units[i], err);
    stage.close(state);
    return rc;
}

static void undo_units(void *context)
{
    struct fixture *f = context;
    const struct key keys[] = {key_mini_batch(run_id, 0, 1), key_mini_batch(run_id, 2, 0),
                               key_evaluation_mini_batch(run_id, 1)};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_ok(store_remove(f->store, keys[i].text, &f->err), &f->err);
}

static void whichever_store_call_fails_batches_end_alike(void **state)
{
    (void)state;
    struct fixture *f = fixture_make(cut_book, 3, "epochs=3");
    f->context.store = store_faults_open(&directory_backend, store_root(f->store));
    const struct fault_walk walk = {.context = f,
                                    .store = f->context.store,
                                    .prefix = "run",
                                    .attempt = attempt_units,
                                    .undo = undo_units};
    fault_walk_all(&walk);
    store_close(f->context.store);
    fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_epoch_takes_each_training_node_once),
        cmocka_unit_test(evaluation_takes_the_validation_nodes_in_order_with_all_neighbours),
        cmocka_unit_test(evaluation_may_be_sampled_too),
        cmocka_unit_test(parts_storage_and_order_of_work_leave_no_trace),
        cmocka_unit_test(gcn_gets_the_degrees),
        cmocka_unit_test(warm_units_allocate_nothing),
        cmocka_unit_test(units_drawn_side_by_side_are_the_units_drawn_alone),
        cmocka_unit_test(takes_no_more_samplers_than_the_budget_has_room_for),
        cmocka_unit_test(copies_the_topology_in_half_of_the_budget_or_reads_its_files),
        cmocka_unit_test(says_when_the_budget_is_too_small),
        cmocka_unit_test(names_splits_that_are_not_those_of_the_book),
        cmocka_unit_test(names_a_part_that_is_missing),
        cmocka_unit_test(whichever_store_call_fails_batches_end_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
