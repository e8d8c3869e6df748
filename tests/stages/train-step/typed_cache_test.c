/*
 * Rows of node types that do not fit the budget, some of them cached: the rows are the same, and
 * the budget is kept.
 */
#include "stages/plan/run/run_binding.h"
#include "stages/sampling/rows/neighbor_sampler.h"
#include "stages/train-step/cache_policy.h"
#include "stages/train-step/step_batch.h"
#include "store/features/feature_shares.h"

#include "tests/stages/infer/typed_run.h"

enum { BATCHES = 4, SEEDS = 20, BUDGET = 500000 };

struct caching {
    struct typed_run *run;
    struct node_features features;
    struct batch_preparer preparer;
    struct prepared_batch batch;
    struct cache_policy policy;
    struct error err;
};

static void put_batch(struct caching *c, struct neighbor_sampler *sampler, int64_t round,
                      int32_t slot)
{
    static const int64_t fanout[2 * TYPED_RUN_RELATIONS] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
    struct mini_batch drawn;
    struct arena scratch = {0};
    uint32_t seed[SEEDS];
    for (uint32_t i = 0; i < SEEDS; i++)
        seed[i] = typed_run_pid(c->run, TYPED_PAPER, (i * 173 + (uint32_t)slot) % 3500);
    const struct neighbor_request request = {.seed = 4,
                                             .round = (uint32_t)round,
                                             .slot = (uint32_t)slot,
                                             .hop_count = 2,
                                             .fanout = fanout,
                                             .seed_node = seed,
                                             .seed_count = SEEDS};
    assert_ok(neighbor_sampler_draw(sampler, &request, &drawn, &c->err), &c->err);
    assert_ok(mini_batch_put(c->run->temp->store, key_mini_batch(INFER_RUN_ID, round, slot).text,
                             INFER_RUN_ID, &drawn, &scratch, &c->err),
              &c->err);
    arena_release(&scratch);
}

static void put_batches(struct caching *c)
{
    struct topology topology;
    struct neighbor_sampler *sampler = NULL;
    assert_ok(topology_open(c->run->temp->store, &c->run->book, &topology, &c->err), &c->err);
    assert_ok(topology_open_parts(&topology, NULL, &c->err), &c->err);
    const struct neighbor_sampler_config config = {.topology = &topology, .book = &c->run->book};
    assert_ok(neighbor_sampler_new(&config, &sampler, &c->err), &c->err);
    for (int32_t b = 0; b < BATCHES; b++)
        put_batch(c, sampler, b / 2, b % 2);
    neighbor_sampler_free(sampler);
    topology_close(&topology);
}

static void caching_open(struct caching *c, void *temp)
{
    static const char *const settings[] = {
        "ingest.relations=true",      "train-step.model=rgcn",
        "train-step.hidden=8",        "train-step.projection=linear",
        "sample.fanouts=3,3",         "sample.batch_size=20",
        "sample.batches_per_round=2", NULL};
    *c = (struct caching){.run = typed_run_new(temp, settings)};
    c->run->book.train_count = BATCHES * SEEDS;
    assert_ok(run_schedule(&c->run->schedule, &c->run->settings, &c->run->book, &c->err), &c->err);
    put_batches(c);
    assert_ok(node_features_open(&c->run->context, PRECISION_FP32, BUDGET, &c->features, &c->err),
              &c->err);
    assert_false(feature_source_is_resident(c->features.source[TYPED_AUTHOR]));
    assert_false(feature_source_is_resident(c->features.source[TYPED_PAPER]));
    assert_true(feature_source_is_resident(c->features.source[TYPED_VENUE]));
    c->preparer = (struct batch_preparer){.context = &c->run->context,
                                          .model = &c->run->model,
                                          .features = &c->features,
                                          .budget_bytes =
                                              BUDGET - node_features_resident_bytes(&c->features)};
}

static void caching_close(struct caching *c)
{
    prepared_batch_release(&c->preparer, &c->batch);
    batch_preparer_release(&c->preparer);
    node_features_close(&c->features);
    typed_run_close(c->run);
}

/* Reads a batch, and checks that its rows are those of its nodes and that the budget is kept. */
static void bring(struct caching *c, int number)
{
    const struct key key = key_mini_batch(INFER_RUN_ID, number / 2, number % 2);
    assert_ok(prepared_batch_read(&c->preparer, &c->batch, &key, &c->err), &c->err);
    assert_ok(prepared_batch_fill(&c->preparer, &c->batch, NULL, &c->err), &c->err);
    struct step_batch input;
    step_batch_take(&c->run->context, &c->batch, &input);
    for (uint32_t t = 0; t < TYPED_RUN_TYPES; t++)
        for (uint32_t i = 0; i < input.count[t]; i++) {
            const struct input_rows *rows = &input.rows[t];
            const size_t at = rows->row_index ? rows->row_index[i] : i;
            for (uint32_t k = 0; k < typed_run_dim[t]; k++)
                assert_true(((const float *)rows->base)[at * rows->stride + k] ==
                            typed_run_feature(t, input.number[t][i], k));
        }
    assert_true(input.count[TYPED_AUTHOR] > 100 && input.count[TYPED_PAPER] > 100);
    assert_true(node_features_bytes(&c->features) - node_features_resident_bytes(&c->features) +
                    c->preparer.area_bytes + c->preparer.scratch_bytes <=
                c->preparer.budget_bytes);
}

static uint32_t kept(const struct caching *c, uint32_t type)
{
    return feature_source_cached(c->features.source[type]);
}

static void rows_of_each_type_are_kept_and_are_the_same(void **state)
{
    struct caching c;
    caching_open(&c, *state);
    bring(&c, 0);
    assert_true(!kept(&c, TYPED_AUTHOR) && !kept(&c, TYPED_PAPER));
    for (int unit = 0; unit < 40; unit++) { /* the policy checks its choice now and then */
        cache_policy_refresh(&c.policy, &c.preparer, c.batch.area.bytes, 0);
        assert_int_equal(c.policy.seen, BATCHES);
        bring(&c, unit % BATCHES);
        assert_true(kept(&c, TYPED_AUTHOR) > 100 && kept(&c, TYPED_PAPER) > 100);
    }
    caching_close(&c);
}

/* The cache has room for all authors that the batches use. */
static void rows_that_batches_use_are_kept(void **state)
{
    struct caching c;
    caching_open(&c, *state);
    bring(&c, 0);
    cache_policy_refresh(&c.policy, &c.preparer, c.batch.area.bytes, 0);
    for (int b = 0; b < BATCHES; b++) {
        bring(&c, b);
        for (uint32_t i = 0; i < prepared_batch_count(&c.batch, TYPED_AUTHOR); i++)
            assert_true(feature_source_has_cached(c.features.source[TYPED_AUTHOR],
                                                  c.batch.number[TYPED_AUTHOR][i]));
    }
    assert_true(kept(&c, TYPED_AUTHOR) < typed_run_count[TYPED_AUTHOR] / 4);
    caching_close(&c);
}

/* A batch has priority over cached rows. If the budget allows no more than the batch needs,
 * cached rows are dropped. */
static void kept_rows_make_way_for_a_batch(void **state)
{
    struct caching c;
    caching_open(&c, *state);
    bring(&c, 0);
    cache_policy_refresh(&c.policy, &c.preparer, c.batch.area.bytes, 0);
    const uint32_t authors = kept(&c, TYPED_AUTHOR), papers = kept(&c, TYPED_PAPER);
    uint64_t needed = c.preparer.area_bytes + c.preparer.scratch_bytes;
    bring(&c, 1);
    for (uint32_t t = TYPED_AUTHOR; t <= TYPED_PAPER; t++)
        needed +=
            feature_shares_need(c.features.source[t], prepared_batch_count(&c.batch, t), false);
    c.preparer.budget_bytes = needed + 20000;
    bring(&c, 1);
    assert_true(kept(&c, TYPED_AUTHOR) < authors && kept(&c, TYPED_PAPER) < papers);
    c.preparer.budget_bytes = needed + 100;
    bring(&c, 1);
    assert_true(!kept(&c, TYPED_AUTHOR) && !kept(&c, TYPED_PAPER));
    c.preparer.budget_bytes = c.preparer.area_bytes + 1000;
    const struct key key = key_mini_batch(INFER_RUN_ID, 0, 0);
    assert_ok(prepared_batch_read(&c.preparer, &c.batch, &key, &c.err), &c.err);
    assert_fails(prepared_batch_fill(&c.preparer, &c.batch, NULL, &c.err), ERROR_NO_MEMORY,
                 "memory", &c.err);
    caching_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(rows_of_each_type_are_kept_and_are_the_same),
        test_with_store(rows_that_batches_use_are_kept),
        test_with_store(kept_rows_make_way_for_a_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
