/* Tests units of sample on a graph with relations: their seeds, their fan-outs, and that a repeated
 * unit gives the same bytes. */
#include "common/base/memory.h"
#include "stages/engine/stage.h"
#include "stages/sampling/rows/neighbor_sampler.h"
#include "store/objects/keys.h"
#include "store/records/dataset/node_splits.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"
#include "tests/support/typed_dataset.h"

#include <stdio.h>

enum { TRAIN = 40, VALID = 12, HOPS = 2 };

static const char run_id[] = "run-1";

struct fixture {
    struct temp_store *temp;
    uint32_t train[TRAIN], valid[VALID];
    struct pipeline_settings settings;
    struct partition_book book;
    struct schedule schedule;
    struct stage_context context;
    void *state;
};

static struct fixture *make(void **state, const char *relation_fanouts)
{
    static struct fixture f;
    static struct typed_edges edges;
    static const char *const assignments[] = {"ingest.relations=true",
                                              "epochs=2",
                                              "sample.fanouts=3,2",
                                              "sample.batch_size=16",
                                              "seed=4",
                                              "sample.batches_per_round=2",
                                              "sample.evaluation_batch_size=5",
                                              "train-step.model=rgcn"};
    f = (struct fixture){.temp = *state, .book = typed_book("p")};
    struct error *err = &f.temp->err;
    typed_edges_fill(&edges);
    typed_topology_write(f.temp->store, "p", &edges);
    for (uint32_t i = 0; i < TRAIN; i++)
        f.train[i] = TYPED_AUTHORS + 2 * i;
    for (uint32_t i = 0; i < VALID; i++)
        f.valid[i] = TYPED_AUTHORS + 2 * i + 1;
    const struct node_splits splits = {.count = {TRAIN, VALID, 0},
                                       .node = {f.train, f.valid, f.train}};
    assert_ok(node_splits_put(f.temp->store, key_partition("p", "splits").text, "p", &splits, err),
              err);
    f.book.train_count = TRAIN;
    f.book.valid_count = VALID;
    pipeline_settings_defaults(&f.settings);
    for (size_t i = 0; i < sizeof assignments / sizeof *assignments; i++)
        assert_ok(pipeline_settings_override(&f.settings, assignments[i], err), err);
    (void)snprintf(f.settings.sample.relation_fanouts, sizeof f.settings.sample.relation_fanouts,
                   "%s", relation_fanouts);
    assert_ok(schedule_init(&f.schedule, &f.settings, TRAIN, VALID, 1, err), err);
    f.context = (struct stage_context){.store = f.temp->store,
                                       .settings = &f.settings,
                                       .run_id = run_id,
                                       .book = &f.book,
                                       .schedule = &f.schedule,
                                       .threads = 2};
    return &f;
}

static void work(struct fixture *f, enum unit_kind kind, int64_t round, int32_t slot,
                 struct mini_batch *out)
{
    const struct unit unit = {.kind = kind, .round = round, .slot = slot};
    const struct key key = kind == UNIT_SAMPLE ? key_mini_batch(run_id, round, slot)
                                               : key_evaluation_mini_batch(run_id, slot);
    struct error *err = &f->temp->err;
    assert_ok(stage.work(&f->context, f->state, &unit, err), err);
    assert_ok(mini_batch_get(f->temp->store, key.text, run_id, out, err), err);
}

/* Compares the batch with the same unit drawn directly. */
static void assert_is_the_draw(const struct fixture *f, const struct mini_batch *batch,
                               const int64_t *fanout, uint32_t round, uint32_t slot)
{
    struct error *err = &f->temp->err;
    struct topology topology;
    struct neighbor_sampler *sampler = NULL;
    struct mini_batch drawn;
    assert_ok(topology_open(f->temp->store, &f->book, &topology, err), err);
    assert_ok(topology_open_parts(&topology, NULL, err), err);
    const struct neighbor_sampler_config config = {.topology = &topology, .book = &f->book};
    assert_ok(neighbor_sampler_new(&config, &sampler, err), err);
    const struct neighbor_request request = {.seed = 4,
                                             .round = round,
                                             .slot = slot,
                                             .hop_count = HOPS,
                                             .fanout = fanout,
                                             .seed_node = batch->node + batch->node_begin[1],
                                             .seed_count = mini_batch_known(batch, 1, 0)};
    assert_ok(neighbor_sampler_draw(sampler, &request, &drawn, err), err);
    assert_int_equal(drawn.node_count, batch->node_count);
    assert_memory_equal(drawn.node, batch->node, drawn.node_count * sizeof *drawn.node);
    assert_memory_equal(drawn.row, batch->row, drawn.row_count * sizeof *drawn.row);
    assert_int_equal(drawn.edge_count, batch->edge_count);
    assert_memory_equal(drawn.neighbor, batch->neighbor, drawn.edge_count * sizeof *drawn.neighbor);
    neighbor_sampler_free(sampler);
    topology_close(&topology);
}

static void every_epoch_takes_each_training_node_once(void **state)
{
    static const int64_t fanout[] = {3, 2, 5, 4, 3, 2, 1, 0};
    struct fixture *f = make(state, "cites: 5, 4; rev_writes: 1,0");
    struct error *err = &f->temp->err;
    struct mini_batch batch = {0};
    assert_ok(stage.open(&f->context, &f->state, err), err);
    for (int64_t round = 0; round < f->schedule.round_count; round++) {
        static uint32_t seen[TYPED_NODES];
        if (round % f->schedule.rounds_per_epoch == 0)
            memset(seen, 0, sizeof seen);
        for (int32_t slot = 0; slot < schedule_slot_count(&f->schedule, round); slot++) {
            work(f, UNIT_SAMPLE, round, slot, &batch);
            for (uint32_t i = 0; i < mini_batch_known(&batch, 1, 0); i++)
                assert_int_equal(seen[batch.node[batch.node_begin[1] + i]]++, 0);
            assert_is_the_draw(f, &batch, fanout, (uint32_t)round, (uint32_t)slot);
            work(f, UNIT_SAMPLE, round, slot, &batch); /* other bytes would fail here */
        }
        if ((round + 1) % f->schedule.rounds_per_epoch == 0)
            for (uint32_t i = 0; i < TRAIN; i++)
                assert_int_equal(seen[f->train[i]], 1);
    }
    mini_batch_release(&batch);
    stage.close(f->state);
}

static void evaluation_takes_all_neighbors(void **state)
{
    static const int64_t fanout[] = {-1, -1, -1, -1, -1, -1, -1, -1};
    struct fixture *f = make(state, "");
    struct error *err = &f->temp->err;
    struct mini_batch batch = {0};
    uint32_t next = 0;
    assert_ok(stage.open(&f->context, &f->state, err), err);
    for (int32_t slot = 0; slot < 3; slot++) {
        work(f, UNIT_SAMPLE_EVALUATION, 0, slot, &batch);
        for (uint32_t i = 0; i < mini_batch_known(&batch, 1, 0); i++)
            assert_int_equal(batch.node[batch.node_begin[1] + i], f->valid[next++]);
        assert_is_the_draw(f, &batch, fanout, UINT32_MAX, (uint32_t)slot);
    }
    assert_int_equal(next, VALID);
    mini_batch_release(&batch);
    stage.close(f->state);
}

static void what_does_not_fit_the_graph_is_named(void **state)
{
    struct fixture *f = make(state, "quotes: 5,4");
    struct error *err = &f->temp->err;
    assert_fails(stage.open(&f->context, &f->state, err), ERROR_INVALID,
                 "sample.relation_fanouts: expected a relation of the graph, such as writes, found "
                 "'quotes'",
                 err);
    stage.close(f->state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(every_epoch_takes_each_training_node_once),
        test_with_store(evaluation_takes_all_neighbors),
        test_with_store(what_does_not_fit_the_graph_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
