/*
 * infer_layers - computes the layers of an infer_run one after the other, under conditions that
 * must not change a bit.
 */
#ifndef TESTS_STAGES_INFER_INFER_LAYERS_H
#define TESTS_STAGES_INFER_INFER_LAYERS_H

#include "stages/infer/rows/layer_reads.h"
#include "stages/infer/windows/part_inference.h"
#include "stages/infer/windows/source_windows.h"

#include "tests/stages/infer/infer_run.h"

struct infer_conditions { /* what must not change a bit */
    int threads;
    uint64_t value_bytes; /* for a tile; 0: no limit */
    uint64_t input_bytes; /* budget of the rows a layer reads */
    /* for windows of layers that sum their sources; if set, their rows get a sixteenth of
     * input_bytes */
    uint64_t windows_bytes;
};

static const struct infer_conditions plenty = {.threads = 1, .input_bytes = 1ULL << 30};

/* One layer and all that it is computed with. */
struct infer_layer {
    struct infer_run *run;
    int layer;
    struct topology topology;
    struct inference_tiles *tiles;
    struct type_inputs *inputs; /* set by infer_layer_open_inputs(), like the next fields */
    struct source_windows *windows;
    struct part_inference *inference; /* set by infer_layer_open_parts() */
};

static inline void infer_layer_open(struct infer_layer *l, struct infer_run *run, int layer,
                                    const struct infer_conditions *how)
{
    *l = (struct infer_layer){.run = run, .layer = layer};
    assert_ok(topology_open(run->temp->store, &run->book, &l->topology, &run->err), &run->err);
    assert_ok(topology_open_parts(&l->topology, NULL, &run->err), &run->err);
    const struct inference_tiles_config config = {.context = &run->context,
                                                  .topology = &l->topology,
                                                  .model = &run->model,
                                                  .edge_use = run->edge_use,
                                                  .value_bytes = how->value_bytes};
    assert_ok(inference_tiles_new(&config, &l->tiles, &run->err), &run->err);
}

static inline void infer_layer_close_inputs(struct infer_layer *l)
{
    source_windows_free(l->windows);
    type_inputs_close(l->inputs);
    l->windows = NULL;
    l->inputs = NULL;
}

static inline void infer_layer_close(struct infer_layer *l)
{
    part_inference_free(l->inference);
    infer_layer_close_inputs(l);
    inference_tiles_free(l->tiles);
    topology_close(&l->topology);
}

/* Opens the rows that the layer reads, and windows over them, which must have room for a block. */
static inline void infer_layer_open_inputs(struct infer_layer *l, uint64_t input_bytes,
                                           uint64_t windows_bytes)
{
    struct infer_run *run = l->run;
    const struct type_inputs_config inputs = {.context = &run->context,
                                              .model = &run->model,
                                              .identity = &run->weights.last,
                                              .layer = l->layer,
                                              .budget_bytes = input_bytes};
    assert_ok(type_inputs_open(&inputs, &l->inputs, &run->err), &run->err);
    const struct source_windows_config windows = {.tiles = l->tiles,
                                                  .inputs = l->inputs,
                                                  .weights = run->weights.value,
                                                  .layer = l->layer,
                                                  .budget_bytes = windows_bytes};
    assert_ok(source_windows_new(&windows, &l->windows, &run->err), &run->err);
    assert_non_null(l->windows);
    assert_true(source_windows_bytes(l->windows) <= windows_bytes);
}

/* Returns the budget that a part needs for windows of `windows_bytes`. A layer that sums all its
 * tiles uses windows even if its rows fit. */
static inline uint64_t infer_layer_window_bytes(struct infer_layer *l, uint64_t input_bytes,
                                                uint64_t windows_bytes)
{
    const struct inference_span first = {.part = 1};
    const uint32_t end = l->run->parts[2] - l->run->parts[1];
    const bool has_second = l->run->model.layer[l->layer - 1].second_input >= 0;
    uint32_t summed = 0;
    if (l->layer > 1 && !layer_reads_sums(&l->run->model, l->layer - 1))
        return windows_bytes; /* its rows are in memory */
    infer_layer_open_inputs(l, input_bytes, windows_bytes);
    const uint64_t wanted = windows_bytes + type_inputs_bytes(l->inputs) +
                            inference_tiles_bytes(l->tiles) + (has_second ? input_bytes / 2 : 0);
    if (layer_reads_sums(&l->run->model, l->layer - 1)) {
        assert_false(type_inputs_are_resident(l->inputs));
        assert_ok(source_windows_sum(l->windows, &first, end, &summed, &l->run->err), &l->run->err);
        assert_true(summed > 0);
    }
    infer_layer_close_inputs(l);
    return wanted;
}

static inline void infer_layer_open_parts(struct infer_layer *l, const struct infer_conditions *how)
{
    struct infer_run *run = l->run;
    const bool is_summed = how->windows_bytes && source_windows_are_possible(&run->model, l->layer);
    const bool is_sum = layer_reads_sums(&run->model, l->layer - 1);
    const uint64_t below = is_sum ? how->input_bytes / 16 : 1ULL << 30;
    struct part_inference_config config = {
        .context = &run->context,
        .tiles = l->tiles,
        .rows_bytes = is_summed && l->layer > 1 ? below : how->input_bytes};
    if (is_summed)
        config.window_bytes = infer_layer_window_bytes(l, config.rows_bytes, how->windows_bytes);
    assert_ok(part_inference_new(&config, &l->inference, &run->err), &run->err);
}

static inline enum error_code infer_layer_run(struct infer_layer *l, const float *weights, int part)
{
    return part_inference_run(l->inference, weights, &l->run->weights.last, l->layer, part,
                              &l->run->err);
}

/* Computes all layers. If a part was computed before, it is compared with the stored one, so
 * different bits are an error. */
static inline void infer_all_layers(struct infer_run *run, const struct infer_conditions *how)
{
    struct thread_pool *pool = NULL;
    assert_ok(thread_pool_new(how->threads, &pool, &run->err), &run->err);
    run->context.pool = pool;
    for (int layer = 1; layer <= run->model.config.layer_count; layer++) {
        struct infer_layer l;
        infer_layer_open(&l, run, layer, how);
        infer_layer_open_parts(&l, how);
        for (int part = INFER_PARTS - 1; part >= 0; part--)
            assert_ok(infer_layer_run(&l, run->weights.value, part), &run->err);
        infer_layer_close(&l);
    }
    run->context.pool = NULL;
    thread_pool_free(pool);
}

#endif
