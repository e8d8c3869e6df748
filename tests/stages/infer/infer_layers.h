/* infer_layers - the layers of an infer_run one after the other, under conditions that must not change a bit. */
#ifndef TESTS_STAGES_INFER_INFER_LAYERS_H
#define TESTS_STAGES_INFER_INFER_LAYERS_H

#include "stages/infer/part_inference.h"

#include "tests/stages/infer/infer_run.h"

struct infer_conditions { /* what must not change a bit */
    int threads;
    uint64_t memory_bytes;
    uint64_t input_bytes; /* budget of the rows a layer reads */
    /* Of layers that sum their sources, if they are to do so in windows; their rows have an eighth of input_bytes then. */
    uint64_t windows_bytes;
};

static inline struct feature_source *open_input(struct infer_run *run, int layer,
                                                uint64_t budget_bytes)
{
    struct feature_source *source = NULL;
    const struct feature_source_config config = {
        .store = run->temp->store,
        .origin = layer == 1 ? FEATURES_OF_PARTITION : FEATURES_OF_INFER_LAYER,
        .id = layer == 1 ? INFER_PARTITION_ID : INFER_RUN_ID,
        .layer = layer - 1,
        .weights = &run->weights.last,
        .part_count = INFER_PARTS,
        .book = run->parts,
        .tensor = layer == 1 ? "features" : layer_tensor,
        .budget_bytes = budget_bytes,
    };
    assert_ok(feature_source_open(&config, &source, &run->err), &run->err);
    return source;
}

static inline struct source_windows *open_windows(struct infer_run *run,
                                                  const struct topology *topology, int layer,
                                                  struct feature_source *input,
                                                  uint64_t budget_bytes)
{
    struct source_windows *windows = NULL;
    const struct source_windows_config config = {.topology = topology,
                                                 .input = input,
                                                 .model = &run->model,
                                                 .weights = run->weights.value,
                                                 .layer = layer - 1,
                                                 .edge_use = run->edge_use,
                                                 .has_self_loops = true,
                                                 .pool = run->context.pool,
                                                 .budget_bytes = budget_bytes,
                                                 .destinations_least = 1024,
                                                 .destinations_most = 1600};
    assert_ok(source_windows_new(&config, &windows, &run->err), &run->err);
    assert_true(source_windows_bytes(windows) <= budget_bytes);
    return windows;
}

static inline void infer_all_parts(struct infer_run *run, const struct topology *topology,
                                   int layer, const struct infer_conditions *how)
{
    const struct neighbor_sampler_config config = {.topology = topology, .has_self_loops = true};
    struct arena arena = {0};
    const bool sums = how->windows_bytes && source_windows_are_possible(&run->model, layer - 1);
    const bool sums_all = source_windows_sum_all(&run->model, layer - 1) &&
                          !source_windows_are_always(&run->model, layer - 1);
    const uint64_t below = sums_all ? how->input_bytes / 8 : 1ULL << 30;
    const uint64_t input_bytes = sums && layer > 1 ? below : how->input_bytes;
    struct part_inference inference = {.arena = &arena,
                                       .context = &run->context,
                                       .topology = topology,
                                       .model = &run->model,
                                       .weights = run->weights.value,
                                       .identity = &run->weights.last,
                                       .edge_use = run->edge_use,
                                       .has_self_loops = true,
                                       .input = open_input(run, layer, input_bytes)};
    if (run->model.layer[layer - 1].second_input >= 0)
        inference.second =
            open_input(run, run->model.layer[layer - 1].second_input + 2, 1ULL << 30);
    assert_ok(neighbor_sampler_new(&config, &inference.sampler, &run->err), &run->err);
    if (sums)
        inference.windows = open_windows(run, topology, layer, inference.input, how->windows_bytes);
    if (layer == 1)
        assert_true(feature_source_is_resident(inference.input) ==
                    (how->input_bytes > sizeof(float) * INFER_NODES * INFER_DIM));
    for (int part = INFER_PARTS - 1; part >= 0; part--)
        assert_ok(part_inference_run(&inference, layer, part, &run->err), &run->err);
    neighbor_sampler_free(inference.sampler);
    source_windows_free(inference.windows);
    feature_source_close(inference.input);
    feature_source_close(inference.second);
    arena_release(&arena);
}

/* Done again, a part is compared with what is stored, so different bits are an error. */
static inline void infer_all_layers(struct infer_run *run, const struct infer_conditions *how)
{
    struct topology topology = {0};
    struct thread_pool *pool = NULL;
    assert_ok(topology_open(run->temp->store, &run->book, &topology, &run->err), &run->err);
    assert_ok(topology_open_parts(&topology, NULL, &run->err), &run->err);
    assert_ok(thread_pool_new(how->threads, &pool, &run->err), &run->err);
    run->context.pool = pool;
    for (int layer = 1; layer <= run->model.config.layer_count; layer++)
        infer_all_parts(run, &topology, layer, how);
    run->context.pool = NULL;
    thread_pool_free(pool);
    topology_close(&topology);
}

static const struct infer_conditions plenty = {.threads = 1, .input_bytes = 1ULL << 30};

#endif
