/*
 * batch_fixture - a store with feature shards and stored mini-batches, for tests of the inputs of
 * train-step.
 *
 * It has features of 4,000 nodes in two parts, 256 KB, and batches of 900 nodes in rounds 0, 1,
 * ...
 */
#ifndef TESTS_STAGES_TRAIN_STEP_BATCH_FIXTURE_H
#define TESTS_STAGES_TRAIN_STEP_BATCH_FIXTURE_H

#include "common/base/memory.h"
#include "common/nn/layers/layer.h"
#include "common/numbers/random.h"
#include "stages/train-step/prepared_batch.h"
#include "store/features/feature_shard.h"

#include "tests/support/block_fixture.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

enum {
    FIXTURE_NODES = 4000,
    FIXTURE_DIM = 16,
    FIXTURE_SEEDS = 20,
    FIXTURE_DESTINATIONS = 120,
    FIXTURE_BATCH = 900
};

#define FIXTURE_RUN       "run-1"
#define FIXTURE_PARTITION "partition-1"

struct batch_fixture {
    struct store *store;
    uint32_t parts[3];
    float *feature; /* [FIXTURE_NODES, FIXTURE_DIM] */
    struct pipeline_settings settings;
    struct schedule schedule;
    struct partition_book book;
    struct stage_context context;
    struct model model;
    struct node_features features;
    struct batch_preparer preparer;
    struct error err;
};

static inline void batch_fixture_shards(struct batch_fixture *f)
{
    for (int part = 0; part < 2; part++) {
        struct feature_shard_writer *writer = NULL;
        const struct key key = key_part(FIXTURE_PARTITION, part, "shard");
        const struct key seal = key_part(FIXTURE_PARTITION, part, "shard_seal");
        const uint32_t first = f->parts[part], count = f->parts[part + 1] - first;
        const struct tensor_spec tensor = {
            .name = "features", .type = TENSOR_F32, .dim = FIXTURE_DIM, .row_count = count};
        assert_ok(feature_shard_writer_new(f->store, key.text, seal.text, FIXTURE_PARTITION,
                                           &writer, &f->err),
                  &f->err);
        assert_ok(feature_shard_writer_begin(writer, &tensor, &f->err), &f->err);
        assert_ok(feature_shard_writer_add(writer, f->feature + (size_t)first * FIXTURE_DIM, count,
                                           &f->err),
                  &f->err);
        assert_ok(feature_shard_writer_finish(writer, &f->err), &f->err);
    }
}

static inline void batch_fixture_sort_row(uint32_t *neighbor, uint32_t count, const uint32_t *node)
{
    for (uint32_t a = 1; a < count; a++)
        for (uint32_t b = a; b > 0 && node[neighbor[b - 1]] > node[neighbor[b]]; b--) {
            const uint32_t left = neighbor[b - 1];
            neighbor[b - 1] = neighbor[b];
            neighbor[b] = left;
        }
}

/* Stores the batch of `round`. If `ordered`, its neighbours ascend, like those of sampled
 * batches. */
static inline void batch_fixture_put(struct batch_fixture *f, int64_t round, bool ordered)
{
    const uint32_t hop_end[] = {FIXTURE_SEEDS, FIXTURE_DESTINATIONS, FIXTURE_BATCH};
    struct block_fixture blocks;
    struct arena scratch = {0};
    uint32_t node[FIXTURE_BATCH];
    const uint32_t shift = (uint32_t)round * 1237;
    block_fixture_make(&blocks, 2, hop_end, 1, 21 + (uint64_t)round);
    for (uint32_t i = 0; i < FIXTURE_BATCH; i++)
        node[i] = (i * 1999 + shift) % FIXTURE_NODES; /* 1999 is prime, so no node occurs twice */
    for (uint32_t i = 0; ordered && i < FIXTURE_DESTINATIONS; i++)
        batch_fixture_sort_row(blocks.neighbor + blocks.row_start[i],
                               blocks.row_start[i + 1] - blocks.row_start[i], node);
    const struct mini_batch batch = {.hop_count = 2,
                                     .seed_count = FIXTURE_SEEDS,
                                     .node_count = FIXTURE_BATCH,
                                     .row_count = FIXTURE_DESTINATIONS,
                                     .edge_count = blocks.row_start[FIXTURE_DESTINATIONS],
                                     .hop_end = hop_end,
                                     .node = node,
                                     .row_start = blocks.row_start,
                                     .neighbor = blocks.neighbor,
                                     .degree = blocks.degree};
    assert_ok(mini_batch_put(f->store, key_mini_batch(FIXTURE_RUN, round, 0).text, FIXTURE_RUN,
                             &batch, &scratch, &f->err),
              &f->err);
    arena_release(&scratch);
    block_fixture_release(&blocks);
}

/* Opens the fixture. If `hidden` is larger than FIXTURE_DIM, a GCN aggregates before it
 * projects. */
static inline void batch_fixture_open(struct batch_fixture *f, struct store *store,
                                      enum layer_kind kind, uint32_t hidden, uint64_t budget_bytes)
{
    *f = (struct batch_fixture){.store = store, .parts = {0, 1500, FIXTURE_NODES}};
    f->feature = memory_alloc((size_t)FIXTURE_NODES * FIXTURE_DIM, sizeof *f->feature);
    for (uint32_t i = 0; i < FIXTURE_NODES * FIXTURE_DIM; i++)
        f->feature[i] = (float)((i * 7919) % 2003) / 1001.5F - 1;
    batch_fixture_shards(f);
    f->book = (struct partition_book){
        .part_count = 2, .node_count = FIXTURE_NODES, .feature_dim = FIXTURE_DIM, .book = f->parts};
    (void)snprintf(f->book.id, sizeof f->book.id, FIXTURE_PARTITION);
    pipeline_settings_defaults(&f->settings);
    assert_ok(pipeline_settings_assign(&f->settings, "sample.batch_size", "20", "test", &f->err),
              &f->err);
    assert_ok(schedule_init(&f->schedule, &f->settings, 2000, 20, 2, &f->err), &f->err);
    const struct model_outline config = {.layer = {.kind = kind, .output_dim = hidden},
                                         .hop_count = 2,
                                         .input_dim = FIXTURE_DIM,
                                         .output_dim = 3};
    assert_ok(model_init_outline(&f->model, &config, &f->err), &f->err);
    f->context = (struct stage_context){.store = store,
                                        .settings = &f->settings,
                                        .run_id = FIXTURE_RUN,
                                        .book = &f->book,
                                        .schedule = &f->schedule};
    f->preparer = (struct batch_preparer){.context = &f->context,
                                          .model = &f->model,
                                          .features = &f->features,
                                          .budget_bytes = budget_bytes};
    assert_ok(node_features_open(&f->context, PRECISION_FP32, budget_bytes, &f->features, &f->err),
              &f->err);
}

static inline void batch_fixture_close(struct batch_fixture *f)
{
    batch_preparer_release(&f->preparer);
    node_features_close(&f->features);
    memory_free(f->feature);
}

static inline struct feature_source *batch_fixture_source(const struct batch_fixture *f)
{
    return f->features.source[0];
}

/* Returns all bytes that are held. */
static inline uint64_t batch_fixture_bytes(const struct batch_fixture *f)
{
    return node_features_bytes(&f->features) + f->preparer.area_bytes + f->preparer.scratch_bytes;
}

/* Checks the rows of a batch: aggregated rows must equal a gather from the features, other rows
 * the features themselves. */
static inline void batch_fixture_check(struct batch_fixture *f, const struct prepared_batch *batch)
{
    struct arena arena = {0};
    struct aggregation aggregation;
    float *expected = NULL;
    const uint32_t *node = batch->batch.node;
    assert_true(batch->has_record && batch->has_rows);
    for (uint32_t i = 0; !batch->aggregated && i < FIXTURE_BATCH; i++) {
        const struct input_rows *rows = &batch->rows[0];
        const size_t at = rows->row_index ? rows->row_index[i] : i;
        assert_memory_equal((const float *)rows->base + at * rows->stride,
                            f->feature + (size_t)node[i] * FIXTURE_DIM,
                            FIXTURE_DIM * sizeof(float));
    }
    if (!batch->aggregated)
        return;
    const struct message_block block = mini_batch_block(&batch->batch, 0);
    const struct input_rows rows = {.base = f->feature, .stride = FIXTURE_DIM, .row_index = node};
    assert_ok(
        f->model.layer[0].type->weigh(&f->model.layer[0], &block, &arena, &aggregation, &f->err),
        &f->err);
    const size_t count = FIXTURE_DESTINATIONS * aggregation_width(&aggregation, FIXTURE_DIM);
    assert_ok(arena_new(&arena, &expected, count, "rows", &f->err), &f->err);
    aggregation_forward(&aggregation, &block, &rows, FIXTURE_DIM, 0, FIXTURE_DESTINATIONS, NULL,
                        expected);
    assert_memory_equal(batch->aggregated, expected, count * sizeof *expected);
    arena_release(&arena);
}

#endif
