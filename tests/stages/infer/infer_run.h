/*
 * infer_run - everything that infer reads, in a fresh store: a random graph in several parts, and
 * a model.
 *
 * Partition ids are the dataset ids times a prime, so a test notices if the two are mixed up.
 * Expected values come from model_reference over the whole graph at once.
 */
#ifndef TESTS_STAGES_INFER_INFER_RUN_H
#define TESTS_STAGES_INFER_INFER_RUN_H

#include "common/base/memory.h"
#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "stages/plan/model/edge_use.h"
#include "stages/plan/model/run_model.h"
#include "store/features/feature_shard.h"
#include "store/features/feature_source.h"
#include "store/objects/keys.h"
#include "store/records/dataset/node_splits.h"
#include "store/records/partition/node_permutation.h"
#include "store/topology/topology.h"

#include "tests/reference/model_reference.h"
#include "tests/stages/infer/infer_snapshot.h"
#include "tests/support/edge_values.h"
#include "tests/support/random_graph.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { INFER_NODES = 2500, INFER_DIM = 40, INFER_PARTS = 4, INFER_HIDDEN = 6 };

#define INFER_PARTITION_ID "partition-1"
#define INFER_DATASET_ID   "dataset-1"

struct infer_run {
    struct temp_store *temp;
    struct error err;
    struct pipeline_settings settings;
    struct schedule schedule;
    struct random_graph graph; /* in partition ids */
    uint32_t parts[INFER_PARTS + 1];
    uint32_t to_dataset[INFER_NODES], to_partition[INFER_NODES];
    struct partition_book book;
    struct stage_context context;
    struct model model;
    float *weight;       /* [edges], owned; NULL: edges have no weights */
    float *edge_feature; /* [edges, edge_dim], owned; NULL: edges have no features */
    uint32_t edge_dim;
    struct edge_use edge_use;
    struct infer_snapshot weights;
    float *feature; /* [INFER_NODES, INFER_DIM] by partition id, owned, like the arrays below */
    float *label;   /* [INFER_NODES, label_dim]: floats, or the bytes of int32 */
    uint32_t label_dim;
    void *state;
};

struct infer_case { /* the variations of tests; {0} is SAGE, two layers, three classes, one label */
    const char *model;
    const char *fanouts;
    const char *aggr;           /* NULL: the default of the kind */
    const char *heads, *hidden; /* NULL: the default heads, and hidden 6 */
    uint32_t class_count;
    uint32_t edge_dim; /* features per edge */
    enum task_kind task;
    bool only_train; /* no validation and test nodes */
    bool weighted;
    /* no large hubs, and neighbours within 64 nodes, so that a tile does not read all rows */
    bool near;
};

static inline void infer_run_set(struct infer_run *run, const char *name, const char *value)
{
    assert_ok(pipeline_settings_assign(&run->settings, name, value, "test", &run->err), &run->err);
    run->schedule.infers_best = run->settings.infer.weights == WEIGHTS_BEST;
}

/* Returns the version of the weights that inference uses. */
static inline int64_t infer_run_version(const struct infer_run *run)
{
    return run->schedule.infers_best ? run->weights.best.version : run->weights.last.version;
}

static inline struct key infer_run_seal(const struct infer_run *run)
{
    return key_outputs_seal(INFER_RUN_ID, infer_run_version(run), "");
}

#ifdef INFER_RUN_WITH_STAGE
static inline enum error_code infer_run_work(struct infer_run *run, enum unit_kind kind, int layer,
                                             int part)
{
    const struct unit unit = {
        .kind = kind, .round = infer_run_version(run), .layer = layer, .slot = part};
    run->err = (struct error){0};
    return stage.work(&run->context, run->state, &unit, &run->err);
}
#endif

static inline bool infer_run_has_label(uint32_t dataset_node)
{
    return dataset_node % 7 != 0;
}

/* Returns train, valid and test in turn; every fourth node is in no split. */
static inline int infer_run_split(const struct infer_case *what, uint32_t dataset_node)
{
    const int split = (int)(dataset_node % 4);
    return split == SPLIT_COUNT || (what->only_train && split != SPLIT_TRAIN) ? -1 : split;
}

static inline void infer_run_make_rows(struct infer_run *run)
{
    const uint32_t classes = run->book.class_count;
    const bool multi = run->book.task == TASK_MULTI_LABEL;
    run->label_dim = multi ? classes : 1;
    run->feature = memory_alloc((size_t)INFER_NODES * INFER_DIM, sizeof *run->feature);
    run->label = memory_alloc((size_t)INFER_NODES * run->label_dim, sizeof *run->label);
    for (uint32_t i = 0; i < INFER_NODES * INFER_DIM; i++)
        run->feature[i] = sinf((float)i * 0.37F);
    for (uint32_t v = 0; v < INFER_NODES; v++) {
        const uint32_t node = run->to_dataset[v];
        const int32_t single = infer_run_has_label(node) ? (int32_t)(node % classes) : -1;
        if (!multi)
            memcpy(&run->label[v], &single, sizeof single);
        for (uint32_t c = 0; multi && c < classes; c++)
            run->label[v * classes + c] =
                infer_run_has_label(node) ? (float)((node + c) % 3 == 0) : NAN;
    }
}

static inline void infer_run_put_tensor(struct infer_run *run, struct feature_shard_writer *writer,
                                        const char *name, const float *rows, uint32_t dim, int part)
{
    const uint32_t first = run->parts[part], end = run->parts[part + 1];
    struct tensor_spec tensor = {.type = TENSOR_F32, .dim = dim, .row_count = end - first};
    (void)snprintf(tensor.name, sizeof tensor.name, "%s", name);
    assert_ok(feature_shard_writer_begin(writer, &tensor, &run->err), &run->err);
    assert_ok(feature_shard_writer_add(writer, rows + (size_t)first * dim, end - first, &run->err),
              &run->err);
}

static inline void infer_run_put_part(struct infer_run *run, int part)
{
    struct feature_shard_writer *writer = NULL;
    const struct key key = key_part(INFER_PARTITION_ID, part, "shard");
    const struct key seal = key_part(INFER_PARTITION_ID, part, "shard_seal");
    const uint32_t first = run->parts[part], end = run->parts[part + 1];
    static uint64_t row_start[INFER_NODES + 1];
    for (uint32_t v = first; v <= end; v++)
        row_start[v - first] = run->graph.row_start[v] - run->graph.row_start[first];
    struct topology_arrays arrays = {
        .first_node = first,
        .node_count = end - first,
        .edge_count = row_start[end - first],
        .row_start = row_start,
        .neighbor = run->graph.neighbor + run->graph.row_start[first],
        .columns = edge_values(run->weight ? run->weight + run->graph.row_start[first] : NULL, NULL,
                               NULL)};
    arrays.columns.width.of[EDGE_FEATURE] = run->edge_dim;
    if (run->edge_dim)
        arrays.columns.data[EDGE_FEATURE] =
            run->edge_feature + run->graph.row_start[first] * run->edge_dim;
    assert_ok(topology_write(run->temp->store, INFER_PARTITION_ID, part, &arrays, &run->err),
              &run->err);
    assert_ok(feature_shard_writer_new(run->temp->store, key.text, seal.text, INFER_PARTITION_ID,
                                       &writer, &run->err),
              &run->err);
    infer_run_put_tensor(run, writer, "features", run->feature, INFER_DIM, part);
    infer_run_put_tensor(run, writer, "labels", run->label, run->label_dim, part);
    assert_ok(feature_shard_writer_finish(writer, &run->err), &run->err);
}

static inline void infer_run_put_splits(struct infer_run *run, const struct infer_case *what)
{
    static uint32_t node[SPLIT_COUNT][INFER_NODES];
    struct node_splits splits = {.node = {node[0], node[1], node[2]}};
    for (uint32_t v = 0; v < INFER_NODES; v++) {
        const int split = infer_run_split(what, run->to_dataset[v]);
        if (split >= 0)
            node[split][splits.count[split]++] = v;
    }
    assert_ok(node_splits_put(run->temp->store, key_partition(INFER_PARTITION_ID, "splits").text,
                              INFER_PARTITION_ID, &splits, &run->err),
              &run->err);
}

static inline void infer_run_describe(struct infer_run *run, const struct infer_case *what)
{
    /* The second part has three tiles; its hubs end the first one. */
    const uint32_t parts[INFER_PARTS + 1] = {0, 300, 1900, 1900, INFER_NODES};
    memcpy(run->parts, parts, sizeof parts);
    for (uint32_t node = 0; node < INFER_NODES; node++) {
        run->to_partition[node] = node * 1129 % INFER_NODES;
        run->to_dataset[run->to_partition[node]] = node;
    }
    pipeline_settings_defaults(&run->settings);
    infer_run_set(run, "train-step.model", what->model ? what->model : "sage");
    infer_run_set(run, "train-step.hidden", what->hidden ? what->hidden : "6");
    if (what->heads)
        infer_run_set(run, "train-step.heads", what->heads);
    if (what->aggr)
        infer_run_set(run, "train-step.aggr", what->aggr);
    infer_run_set(run, "sample.fanouts", what->fanouts ? what->fanouts : "4, 4");
    run->book = (struct partition_book){
        .id = INFER_PARTITION_ID,
        .dataset_id = INFER_DATASET_ID,
        .part_count = INFER_PARTS,
        .node_count = INFER_NODES,
        .edge_count = run->graph.row_start[INFER_NODES],
        .self_loop_count = 1,
        .feature_dim = INFER_DIM,
        .edge_width = {{[EDGE_WEIGHT] = run->weight != NULL, [EDGE_FEATURE] = run->edge_dim}},
        .class_count = what->class_count ? what->class_count : 3,
        .task = what->task ? what->task : TASK_SINGLE_LABEL,
        .book = run->parts};
    const struct node_permutation permutation = {.node_count = INFER_NODES,
                                                 .to_dataset = run->to_dataset,
                                                 .to_partition = run->to_partition};
    assert_ok(node_permutation_put(run->temp->store, INFER_PARTITION_ID, &permutation, &run->err),
              &run->err);
    run->context = (struct stage_context){
        .store = run->temp->store,
        .settings = &run->settings,
        .run_id = INFER_RUN_ID,
        .book = &run->book,
        .schedule = &run->schedule,
        .threads = 1,
        .memory_bytes = 1ULL << 30,
    };
    assert_ok(run_model_init(&run->model, &run->settings, &run->book, &run->err), &run->err);
    assert_ok(
        edge_use_of(&run->settings, &run->model, &run->book.edge_width, &run->edge_use, &run->err),
        &run->err);
}

static inline void infer_run_weigh(struct infer_run *run)
{
    const uint64_t edges = run->graph.row_start[INFER_NODES];
    run->weight = memory_alloc(edges, sizeof *run->weight);
    must(run->weight);
    for (uint64_t e = 0; e < edges; e++)
        run->weight[e] = 0.25F + (float)(e * 31 % 13) / 8;
}

static inline void infer_run_make_edge_features(struct infer_run *run, uint32_t edge_dim)
{
    const uint64_t count = run->graph.row_start[INFER_NODES] * edge_dim;
    run->edge_dim = edge_dim;
    run->edge_feature = memory_alloc(count, sizeof *run->edge_feature);
    must(run->edge_feature);
    for (uint64_t i = 0; i < count; i++)
        run->edge_feature[i] = (float)(i * 37 % 19) / 8 - 1;
}

static inline int infer_run_ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static inline void infer_run_bring_near(struct random_graph *graph)
{
    for (uint32_t v = 0; v < INFER_NODES; v++) {
        uint32_t *row = graph->neighbor + graph->row_start[v];
        const size_t count = (size_t)(graph->row_start[v + 1] - graph->row_start[v]);
        for (size_t i = 0; i < count; i++)
            row[i] = v / 64 * 64 < INFER_NODES - 64 ? v / 64 * 64 + row[i] % 64 : v;
        qsort(row, count, sizeof *row, infer_run_ascending);
    }
}

static inline struct infer_run *infer_run_new(void *temp, const struct infer_case *what)
{
    struct infer_run *run = memory_alloc(1, sizeof *run);
    must(run);
    run->temp = temp;
    random_graph_make(&run->graph, 11, INFER_NODES, what->near ? 100 : 17000);
    if (what->near)
        infer_run_bring_near(&run->graph);
    if (what->weighted)
        infer_run_weigh(run);
    if (what->edge_dim)
        infer_run_make_edge_features(run, what->edge_dim);
    infer_run_describe(run, what);
    infer_run_make_rows(run);
    for (int part = 0; part < INFER_PARTS; part++)
        infer_run_put_part(run, part);
    infer_run_put_splits(run, what);
    infer_snapshot_put(&run->weights, run->temp->store, &run->model);
    return run;
}

static inline void infer_run_close(struct infer_run *run)
{
#ifdef INFER_RUN_WITH_STAGE
    stage.close(run->state);
#endif
    random_graph_release(&run->graph);
    memory_free(run->weight);
    memory_free(run->edge_feature);
    memory_free(run->feature);
    memory_free(run->label);
    infer_snapshot_release(&run->weights);
    memory_free(run);
}

/* Returns the logits [INFER_NODES, class_count] by partition id, over all neighbours; the caller
 * frees them with memory_free(). */
static inline double *infer_run_reference(const struct infer_run *run, const float *weights)
{
    const uint64_t edges = run->graph.row_start[INFER_NODES];
    static uint32_t row_start[INFER_NODES + 1], degree[INFER_NODES];
    static float value_sum[INFER_NODES];
    double *value = memory_alloc(run->model.value_count, sizeof *value);
    struct message_block block[LAYER_COUNT_MAX];
    const struct input_rows rows = {.base = run->feature, .stride = INFER_DIM};
    must(value && edges < UINT32_MAX);
    for (uint64_t i = 0; i < run->model.value_count; i++)
        value[i] = (double)weights[i];
    for (uint32_t v = 0; v < INFER_NODES; v++) {
        double sum = 0;
        degree[v] = 0;
        row_start[v + 1] = (uint32_t)run->graph.row_start[v + 1];
        for (uint32_t e = row_start[v]; e < row_start[v + 1]; e++)
            degree[v] += run->graph.neighbor[e] != v;
        for (uint32_t e = row_start[v]; run->weight && e < row_start[v + 1]; e++)
            sum += (double)run->weight[e];
        value_sum[v] = (float)(sum + (degree[v] == row_start[v + 1] - row_start[v]));
    }
    for (int layer = 0; layer < run->model.config.layer_count; layer++)
        block[layer] = (struct message_block){.destination_count = INFER_NODES,
                                              .source_count = INFER_NODES,
                                              .row_start = row_start,
                                              .neighbor = run->graph.neighbor,
                                              .degree = degree,
                                              .edge_value = run->weight,
                                              .value_sum = run->weight ? value_sum : NULL};
    double *logits = model_reference_logits(&run->model, value, block, &rows, NULL, false);
    memory_free(value);
    return logits;
}

/* Returns the stored output of layer `layer` (from 1) of weights `version`, [INFER_NODES, dim]
 * by partition id. */
static inline float *infer_run_layer(struct infer_run *run, int64_t version, int layer,
                                     uint32_t dim)
{
    float *out = memory_alloc((size_t)INFER_NODES * dim, sizeof *out);
    must(out);
    for (int part = 0; part < INFER_PARTS; part++) {
        struct feature_shard *shard = NULL;
        assert_ok(feature_shard_open(
                      run->temp->store, key_infer(INFER_RUN_ID, version, layer, part, "shard").text,
                      key_infer(INFER_RUN_ID, version, layer, part, "shard_seal").text,
                      INFER_RUN_ID, &shard, &run->err),
                  &run->err);
        assert_int_equal(feature_shard_tensor(shard, layer_tensor)->dim, dim);
        assert_int_equal(feature_shard_tensor(shard, layer_tensor)->row_count,
                         run->parts[part + 1] - run->parts[part]);
        assert_ok(feature_shard_read_all(shard, layer_tensor, out + (size_t)run->parts[part] * dim,
                                         dim, &run->err),
                  &run->err);
        feature_shard_close(shard);
    }
    return out;
}

/* Checks values relative to the largest one, because GCN adds thousands of neighbours of a hub
 * in float32, and the terms cancel out. */
static inline void infer_run_assert_close(const float *found, const double *expected, size_t count,
                                          double tolerance)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)found[i] - expected[i]) <= tolerance * largest))
            fail_msg("value %zu: expected %.9g, found %.9g, the largest is %.9g", i, expected[i],
                     (double)found[i], largest);
}

#endif
