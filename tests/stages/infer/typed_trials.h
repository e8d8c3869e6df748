/*
 * typed_trials - models over relations for tests of infer, and the inference of all nodes with one
 * of them.
 */
#ifndef TESTS_STAGES_INFER_TYPED_TRIALS_H
#define TESTS_STAGES_INFER_TYPED_TRIALS_H

#include "stages/infer/windows/part_inference.h"

#include "tests/stages/infer/typed_run.h"

enum { TYPED_SETTINGS_MAX = 12 };

struct typed_conditions { /* what must not change a bit */
    int threads;
    uint64_t rows_bytes;
    /* 0: as many as inputs, for all layers; otherwise for the first layer only */
    uint64_t window_bytes;
};

static const struct typed_conditions typed_plenty = {1, 1ULL << 30, 0};

/* The settings of a model; all models have further settings in common. */
struct typed_trial {
    const char *set[TYPED_SETTINGS_MAX];
    bool by_weights;
};

static const struct typed_trial typed_trials[] = {
    {{"train-step.model=rgcn", "train-step.projection=relu"}, false},
    {{"train-step.model=rgcn", "train-step.bases=2", "train-step.norm=layer",
      "train-step.residual=true"},
     false},
    {{"train-step.model=sage", "train-step.relation_aggr=mean"}, true},
    {{"train-step.model=sage", "train-step.aggr=add", "train-step.norm=batch"}, false},
    {{"train-step.model=graph_conv"}, true},
    {{"train-step.model=graph_conv", "train-step.projection=none"}, true},
    {{"train-step.model=rgcn", "train-step.aggr=max"}, false},
    {{"train-step.model=gatv2", "train-step.heads=2"}, false},
    {{"train-step.model=gin", "train-step.train_eps=true"}, false},
    {{"train-step.model=le", "train-step.relation_aggr=mean"}, true},
    {{"train-step.model=gat", "train-step.heads=2"}, false},
    {{"train-step.model=gat", "train-step.heads=2", "train-step.edge_features=false"}, false},
    {{"train-step.model=gat", "train-step.heads=1", "train-step.relation_aggr=max"}, false},
    {{"train-step.model=rgat", "train-step.heads=2", "train-step.projection=linear"}, false},
    {{"train-step.model=hgt", "train-step.heads=2"}, false},
    {{"train-step.model=gcn", "train-step.norm=layer"}, true},
    {{"train-step.model=appnp", "train-step.relation_aggr=mean"}, false},
    {{"train-step.model=sgc"}, false},
    {{"train-step.model=sage", "train-step.jumping_knowledge=cat"}, false},
    {{"train-step.model=sage", "train-step.jumping_knowledge=max"}, false},
};

static inline struct typed_run *typed_trial_new(void *temp, const struct typed_trial *trial)
{
    static const char *const common[] = {"ingest.relations=true", "train-step.hidden=32",
                                         "sample.fanouts=3,3", "train-step.projection=linear"};
    const char *settings[TYPED_SETTINGS_MAX + 5] = {NULL};
    size_t count = 0;
    for (; count < sizeof common / sizeof *common; count++)
        settings[count] = common[count];
    for (int i = 0; i < TYPED_SETTINGS_MAX && trial->set[i]; i++)
        settings[count++] = trial->set[i];
    return typed_run_new(temp, settings);
}

static inline struct inference_tiles *typed_trial_tiles(struct typed_run *run,
                                                        const struct typed_trial *trial,
                                                        const struct topology *topology)
{
    const bool by_ends = trial->by_weights && run->model.divides_by_ends;
    const unsigned weight = trial->by_weights ? 1U << EDGE_WEIGHT : 0;
    const unsigned feature = run->model.layer[0].edge_dim ? 1U << EDGE_FEATURE : 0;
    const struct inference_tiles_config config = {
        .context = &run->context,
        .topology = topology,
        .model = &run->model,
        .edge_use = {.columns = weight | feature, .weight_sum = by_ends},
        .neighbor_bytes = 1ULL << 30,
        .value_bytes = 1ULL << 30};
    struct inference_tiles *tiles = NULL;
    assert_ok(inference_tiles_new(&config, &tiles, &run->err), &run->err);
    return tiles;
}

/* Computes all layers. If a part was computed before, it is compared with the stored one, so
 * different bits are an error. */
static inline enum error_code typed_trial_infer(struct typed_run *run,
                                                const struct typed_trial *trial,
                                                const struct typed_conditions *how)
{
    struct topology topology = {0};
    struct thread_pool *pool = NULL;
    struct part_inference *inference = NULL;
    assert_ok(topology_open(run->temp->store, &run->book, &topology, &run->err), &run->err);
    assert_ok(topology_open_parts(&topology, NULL, &run->err), &run->err);
    assert_ok(thread_pool_new(how->threads, &pool, &run->err), &run->err);
    run->context.pool = pool;
    struct inference_tiles *tiles = typed_trial_tiles(run, trial, &topology);
    const struct part_inference_config config = {
        .context = &run->context,
        .tiles = tiles,
        .rows_bytes = how->rows_bytes,
        .window_bytes = how->window_bytes ? how->window_bytes : how->rows_bytes};
    enum error_code rc = part_inference_new(&config, &inference, &run->err);
    const int last = how->window_bytes ? 1 : run->model.config.layer_count;
    for (int layer = 1; rc == ERROR_NONE && layer <= last; layer++)
        for (int part = TYPED_RUN_PARTS - 1; rc == ERROR_NONE && part >= 0; part--)
            rc = part_inference_run(inference, run->weights.value, &run->weights.last, layer, part,
                                    &run->err);
    part_inference_free(inference);
    inference_tiles_free(tiles);
    run->context.pool = NULL;
    thread_pool_free(pool);
    topology_close(&topology);
    return rc;
}

#endif
