/*
 * typed_run - everything that infer reads of a graph with relations, in a fresh store: random
 * edges, three parts, and a model.
 *
 *     author (4000, 40 columns)   paper (3500, 30 columns, labels and splits)
 *     venue (30, 3 columns, none in part 1)
 *     cites: paper -> paper   writes: author -> paper   rev_writes: paper -> author
 *     in: paper -> venue      rev_in: venue -> paper    never: author -> author, without edges
 *
 * Numbers of nodes in their type differ from those of the dataset, so a test notices if the two
 * are mixed up. Expected values come from the model over the whole graph at once, which
 * typed_model_test checks against the published definitions.
 */
#ifndef TESTS_STAGES_INFER_TYPED_RUN_H
#define TESTS_STAGES_INFER_TYPED_RUN_H

#include "common/base/memory.h"
#include "common/graph/relation_reverse.h"
#include "common/nn/model.h"
#include "common/numbers/random.h"
#include "stages/engine/stage.h"
#include "stages/plan/model/run_model.h"
#include "store/features/feature_shard.h"
#include "store/features/feature_source.h"
#include "store/objects/keys.h"
#include "store/records/dataset/node_splits.h"
#include "store/records/partition/node_permutation.h"
#include "store/topology/topology.h"

#include "tests/stages/infer/infer_snapshot.h"
#include "tests/support/edge_values.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TYPED_AUTHOR, TYPED_PAPER, TYPED_VENUE, TYPED_RUN_TYPES };
enum { TYPED_RUN_EDGE_DIM = 3 };
enum { TYPED_RUN_PARTS = 3, TYPED_RUN_RELATIONS = 6, TYPED_RUN_NODES = 4000 + 3500 + 30 };

static const uint32_t typed_run_count[TYPED_RUN_TYPES] = {4000, 3500, 30};
static const uint32_t typed_run_dim[TYPED_RUN_TYPES] = {40, 30, 3};
/* First number of each part, by type. */
static const uint32_t typed_run_cut[TYPED_RUN_TYPES][TYPED_RUN_PARTS + 1] = {
    {0, 300, 2500, 4000}, {0, 1900, 2000, 3500}, {0, 28, 28, 30}};
static const char typed_run_type_name[TYPED_RUN_TYPES][RELATION_NAME_SIZE] = {"author", "paper",
                                                                              "venue"};
static const struct relation typed_run_relation[TYPED_RUN_RELATIONS] = {
    {"cites", TYPED_PAPER, TYPED_PAPER},       {"writes", TYPED_AUTHOR, TYPED_PAPER},
    {"rev_writes", TYPED_PAPER, TYPED_AUTHOR}, {"in", TYPED_PAPER, TYPED_VENUE},
    {"rev_in", TYPED_VENUE, TYPED_PAPER},      {"never", TYPED_AUTHOR, TYPED_AUTHOR}};
/* A row has 0 to twice as many edges. Those of venues fill more than one tile. */
static const uint32_t typed_run_degree[TYPED_RUN_RELATIONS] = {4, 3, 3, 3000, 1, 0};

struct typed_run {
    struct temp_store *temp;
    struct error err;
    struct pipeline_settings settings;
    struct schedule schedule;
    uint32_t parts[TYPED_RUN_PARTS + 1];
    uint32_t type_start[TYPED_RUN_PARTS * (TYPED_RUN_TYPES + 1)];
    struct partition_book book;
    struct stage_context context;
    struct model model;
    struct infer_snapshot weights;
    /* By relation: [rows + 1] and [edges]; sources as numbers in their type, and weights. */
    uint32_t *row_start[TYPED_RUN_RELATIONS], *neighbor[TYPED_RUN_RELATIONS];
    float *weight[TYPED_RUN_RELATIONS];
    float *feature[TYPED_RUN_RELATIONS]; /* [edges, TYPED_RUN_EDGE_DIM] */
    void *state;
};

/* --- ids --- */

static inline uint32_t typed_run_pid(const struct typed_run *run, uint32_t type, uint32_t number)
{
    int part = 0;
    while (number >= typed_run_cut[type][part + 1])
        part++;
    return run->type_start[(uint32_t)part * (TYPED_RUN_TYPES + 1) + type] + number -
           typed_run_cut[type][part];
}

/* Returns the dataset's number of a node in its type, from the partition's number. Dataset ids
 * are ordered by type. */
static inline uint32_t typed_run_given(uint32_t type, uint32_t number)
{
    return number * 1129 % typed_run_count[type];
}
static inline uint32_t typed_run_first(uint32_t type)
{
    uint32_t first = 0;
    for (uint32_t t = 0; t < type; t++)
        first += typed_run_count[t];
    return first;
}

static inline bool typed_run_has_label(uint32_t given)
{
    return given % 7 != 0;
}
/* Returns train, valid and test in turn; every fourth node is in no split. */
static inline int typed_run_split(uint32_t given)
{
    const int split = (int)(given % 4);
    return split == SPLIT_COUNT ? -1 : split;
}

static inline float typed_run_feature(uint32_t type, uint32_t number, uint32_t column)
{
    return sinf((float)(number * 31 + column * 7 + type) * 0.37F);
}

/* --- the store --- */

static inline int typed_run_ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static inline void typed_run_make_relation(struct typed_run *run, uint32_t r)
{
    const struct random_stream stream = random_stream_of(77, RANDOM_GENERATOR, r, 0, 0);
    const struct relation *relation = &typed_run_relation[r];
    const uint32_t rows = typed_run_count[relation->target_type];
    const uint32_t sources = typed_run_count[relation->source_type];
    const size_t most = (size_t)rows * (2 * typed_run_degree[r] + 1);
    uint32_t *start = memory_alloc((size_t)rows + 1, sizeof *start);
    uint32_t *neighbor = memory_alloc(most, sizeof *neighbor);
    float *weight = memory_alloc(most, sizeof *weight);
    float *feature = memory_alloc(most * TYPED_RUN_EDGE_DIM, sizeof *feature);
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t count =
            random_below(random_word(&stream, i, 0), 2 * typed_run_degree[r] + 1);
        start[i + 1] = start[i] + count;
        for (uint32_t e = start[i]; e < start[i + 1]; e++) {
            /* Most sources are near, so that a tile does not read all rows. */
            const uint32_t far = random_below(random_word(&stream, i, 1 + e - start[i]), sources);
            neighbor[e] =
                e % 5 ? (uint32_t)((uint64_t)i * sources / rows + far % 9) % sources : far;
            weight[e] = 0.5F + random_unit(random_word(&stream, i, 10000 + e - start[i]));
            for (uint32_t c = 0; c < TYPED_RUN_EDGE_DIM; c++)
                feature[e * TYPED_RUN_EDGE_DIM + c] =
                    sinf((float)(e * 5 + c * 3 + r) * 0.61F) / (1 + (float)c);
        }
        qsort(neighbor + start[i], count, sizeof *neighbor, typed_run_ascending);
    }
    run->row_start[r] = start;
    run->neighbor[r] = neighbor;
    run->weight[r] = weight;
    run->feature[r] = feature;
}

static inline void typed_run_put_topology(struct typed_run *run, int part)
{
    struct topology_arrays arrays[TYPED_RUN_RELATIONS];
    uint64_t *start[TYPED_RUN_RELATIONS];
    uint32_t *neighbor[TYPED_RUN_RELATIONS];
    for (uint32_t r = 0; r < TYPED_RUN_RELATIONS; r++) {
        const struct relation *relation = &typed_run_relation[r];
        const uint32_t *cut = typed_run_cut[relation->target_type];
        const uint32_t first = cut[part], end = cut[part + 1], *rows = run->row_start[r];
        const uint32_t edges = rows[end] - rows[first];
        start[r] = memory_alloc((size_t)(end - first) + 1, sizeof *start[r]);
        neighbor[r] = memory_alloc((size_t)edges + 1, sizeof *neighbor[r]);
        for (uint32_t i = first; i <= end; i++)
            start[r][i - first] = rows[i] - rows[first];
        for (uint32_t e = 0; e < edges; e++)
            neighbor[r][e] =
                typed_run_pid(run, relation->source_type, run->neighbor[r][rows[first] + e]);
        arrays[r] = (struct topology_arrays){
            .first_node =
                run->type_start[(uint32_t)part * (TYPED_RUN_TYPES + 1) + relation->target_type],
            .node_count = end - first,
            .edge_count = edges,
            .row_start = start[r],
            .neighbor = neighbor[r],
            .columns = edge_values(run->weight[r] + rows[first], NULL, NULL)};
        arrays[r].columns.width.of[EDGE_FEATURE] = TYPED_RUN_EDGE_DIM;
        arrays[r].columns.data[EDGE_FEATURE] =
            run->feature[r] + (size_t)rows[first] * TYPED_RUN_EDGE_DIM;
    }
    assert_ok(topology_write_relations(run->temp->store, run->book.id, part, run->parts[part],
                                       run->parts[part + 1] - run->parts[part], arrays,
                                       TYPED_RUN_RELATIONS, &run->err),
              &run->err);
    for (uint32_t r = 0; r < TYPED_RUN_RELATIONS; r++) {
        memory_free(start[r]);
        memory_free(neighbor[r]);
    }
}

static inline void typed_run_put_tensor(struct typed_run *run, struct feature_shard_writer *writer,
                                        const char *name, enum tensor_type type, uint32_t dim,
                                        const void *rows, uint32_t count)
{
    struct tensor_spec tensor = {.type = type, .dim = dim, .row_count = count};
    (void)snprintf(tensor.name, sizeof tensor.name, "%s", name);
    assert_ok(feature_shard_writer_begin(writer, &tensor, &run->err), &run->err);
    assert_ok(feature_shard_writer_add(writer, rows, count, &run->err), &run->err);
}

static inline void typed_run_put_shard(struct typed_run *run, uint32_t type, int part)
{
    const uint32_t first = typed_run_cut[type][part];
    const uint32_t count = typed_run_cut[type][part + 1] - first, dim = typed_run_dim[type];
    struct feature_shard_writer *writer = NULL;
    float *row = memory_alloc((size_t)count * dim + 1, sizeof *row);
    int32_t *label = memory_alloc((size_t)count + 1, sizeof *label);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t given = typed_run_given(type, first + i);
        label[i] = typed_run_has_label(given) ? (int32_t)(given % run->book.class_count) : -1;
        for (uint32_t c = 0; c < dim; c++)
            row[i * dim + c] = typed_run_feature(type, first + i, c);
    }
    assert_ok(feature_shard_writer_new(run->temp->store,
                                       key_part_type(run->book.id, part, type, "shard").text,
                                       key_part_type(run->book.id, part, type, "shard_seal").text,
                                       run->book.id, &writer, &run->err),
              &run->err);
    typed_run_put_tensor(run, writer, "features", TENSOR_F32, dim, row, count);
    if (type == TYPED_PAPER)
        typed_run_put_tensor(run, writer, "labels", TENSOR_I32, 1, label, count);
    assert_ok(feature_shard_writer_finish(writer, &run->err), &run->err);
    memory_free(row);
    memory_free(label);
}

static inline void typed_run_put_records(struct typed_run *run)
{
    static uint32_t node[SPLIT_COUNT][TYPED_RUN_NODES];
    static uint32_t to_dataset[TYPED_RUN_NODES], to_partition[TYPED_RUN_NODES];
    struct node_splits splits = {.node = {node[0], node[1], node[2]}};
    const struct node_permutation permutation = {
        .node_count = TYPED_RUN_NODES, .to_dataset = to_dataset, .to_partition = to_partition};
    for (uint32_t t = 0; t < TYPED_RUN_TYPES; t++)
        for (uint32_t i = 0; i < typed_run_count[t]; i++) {
            const uint32_t pid = typed_run_pid(run, t, i), given = typed_run_given(t, i);
            to_dataset[pid] = typed_run_first(t) + given;
            to_partition[to_dataset[pid]] = pid;
            const int split = typed_run_split(given);
            if (t == TYPED_PAPER && split >= 0) /* ids ascend with numbers */
                node[split][splits.count[split]++] = pid;
        }
    assert_ok(node_permutation_put(run->temp->store, run->book.id, &permutation, &run->err),
              &run->err);
    assert_ok(node_splits_put(run->temp->store, key_partition(run->book.id, "splits").text,
                              run->book.id, &splits, &run->err),
              &run->err);
}

static inline void typed_run_describe(struct typed_run *run, const char *const *settings)
{
    for (int p = 0; p < TYPED_RUN_PARTS; p++) {
        uint32_t *start = run->type_start + (size_t)p * (TYPED_RUN_TYPES + 1);
        start[0] = run->parts[p];
        run->parts[p + 1] = run->parts[p];
        for (int t = 0; t < TYPED_RUN_TYPES; t++) {
            run->parts[p + 1] += typed_run_cut[t][p + 1] - typed_run_cut[t][p];
            start[t + 1] = run->parts[p + 1];
        }
    }
    pipeline_settings_defaults(&run->settings);
    for (; *settings; settings++)
        assert_ok(pipeline_settings_override(&run->settings, *settings, &run->err), &run->err);
    run->book = (struct partition_book){
        .id = "partition-1",
        .dataset_id = "dataset-1",
        .part_count = TYPED_RUN_PARTS,
        .node_count = TYPED_RUN_NODES,
        .self_loop_count = 1,
        .feature_dim = typed_run_dim[TYPED_PAPER],
        .class_count = 3,
        .task = TASK_SINGLE_LABEL,
        .edge_width = {{[EDGE_WEIGHT] = 1, [EDGE_FEATURE] = TYPED_RUN_EDGE_DIM}},
        .book = run->parts,
        .type_count = TYPED_RUN_TYPES,
        .relation_count = TYPED_RUN_RELATIONS,
        .target_type = TYPED_PAPER,
        .type_start = run->type_start,
        .type_name = typed_run_type_name,
        .type_dim = typed_run_dim,
        .relation = typed_run_relation};
    for (uint32_t r = 0; r < TYPED_RUN_RELATIONS; r++)
        run->book.edge_count +=
            run->row_start[r][typed_run_count[typed_run_relation[r].target_type]];
    run->context = (struct stage_context){.store = run->temp->store,
                                          .settings = &run->settings,
                                          .run_id = INFER_RUN_ID,
                                          .book = &run->book,
                                          .schedule = &run->schedule,
                                          .threads = 1,
                                          .memory_bytes = 1ULL << 30};
    assert_ok(run_model_init(&run->model, &run->settings, &run->book, &run->err), &run->err);
}

/* Creates a run, which the caller frees with typed_run_close(). `settings`: assignments as in a
 * pipeline file; NULL ends them. */
static inline struct typed_run *typed_run_new(void *temp, const char *const *settings)
{
    struct typed_run *run = memory_alloc(1, sizeof *run);
    run->temp = temp;
    for (uint32_t r = 0; r < TYPED_RUN_RELATIONS; r++)
        typed_run_make_relation(run, r);
    typed_run_describe(run, settings);
    for (int part = 0; part < TYPED_RUN_PARTS; part++) {
        typed_run_put_topology(run, part);
        for (uint32_t t = 0; t < TYPED_RUN_TYPES; t++)
            typed_run_put_shard(run, t, part);
    }
    typed_run_put_records(run);
    infer_snapshot_put(&run->weights, run->temp->store, &run->model);
    return run;
}

static inline void typed_run_close(struct typed_run *run)
{
#ifdef INFER_RUN_WITH_STAGE
    stage.close(run->state);
#endif
    for (uint32_t r = 0; r < TYPED_RUN_RELATIONS; r++) {
        memory_free(run->row_start[r]);
        memory_free(run->neighbor[r]);
        memory_free(run->weight[r]);
        memory_free(run->feature[r]);
    }
    infer_snapshot_release(&run->weights);
    memory_free(run);
}

/* --- expected and found --- */

/* Fills in the degrees and weight sums of the ends of edges. Those of sources come from the
 * reverse relation, whose edges differ here. */
static inline void typed_run_ends(const struct typed_run *run, bool by_weights,
                                  struct relation_edges *edges)
{
    static uint32_t degree[TYPED_RUN_RELATIONS][TYPED_RUN_NODES];
    static float sum[TYPED_RUN_RELATIONS][TYPED_RUN_NODES];
    uint16_t back[TYPED_RUN_RELATIONS];
    relation_source_degrees(typed_run_relation, TYPED_RUN_RELATIONS, back);
    for (uint32_t r = 0; r < TYPED_RUN_RELATIONS; r++) {
        const struct relation *relation = &typed_run_relation[r];
        const bool is_own = relation->source_type == relation->target_type;
        for (uint32_t i = 0; i < typed_run_count[relation->target_type]; i++) {
            uint32_t loops = 0;
            double all = 0;
            for (uint64_t e = run->row_start[r][i]; e < run->row_start[r][i + 1]; e++) {
                loops += is_own && run->neighbor[r][e] == i;
                all += (double)run->weight[r][e];
            }
            degree[r][i] = run->row_start[r][i + 1] - run->row_start[r][i] - loops;
            sum[r][i] = (float)(is_own && !loops ? all + 1 : all);
        }
        edges[r].source_degree = degree[back[r]];
        edges[r].source_sum = by_weights ? sum[back[r]] : NULL;
        edges[r].target_sum = by_weights ? sum[r] : NULL;
    }
}

/* Returns the logits of the papers [papers, classes] by number, over all neighbours; the caller
 * frees them with memory_free(). */
static inline float *typed_run_expected(struct typed_run *run, const float *weights,
                                        bool by_weights)
{
    static uint32_t degree[TYPED_RUN_RELATIONS][TYPED_RUN_NODES];
    struct relation_edges edges[TYPED_RUN_RELATIONS];
    struct relation_block block[LAYER_COUNT_MAX];
    struct input_rows rows[TYPED_RUN_TYPES];
    float *x[TYPED_RUN_TYPES];
    struct arena arena = {0};
    float *logits =
        memory_alloc((size_t)typed_run_count[TYPED_PAPER] * run->book.class_count, sizeof *logits);
    for (uint32_t t = 0; t < TYPED_RUN_TYPES; t++) {
        x[t] = memory_alloc((size_t)typed_run_count[t] * typed_run_dim[t], sizeof *x[t]);
        for (uint32_t i = 0; i < typed_run_count[t] * typed_run_dim[t]; i++)
            x[t][i] = typed_run_feature(t, i / typed_run_dim[t], i % typed_run_dim[t]);
        rows[t] = (struct input_rows){.base = x[t], .stride = typed_run_dim[t]};
    }
    for (uint32_t r = 0; r < TYPED_RUN_RELATIONS; r++) {
        const uint32_t count = typed_run_count[typed_run_relation[r].target_type];
        for (uint32_t i = 0; i < count; i++)
            degree[r][i] = run->row_start[r][i + 1] - run->row_start[r][i];
        edges[r] = (struct relation_edges){
            .block = {.destination_count = count,
                      .source_count = typed_run_count[typed_run_relation[r].source_type],
                      .is_bipartite = true,
                      .row_start = run->row_start[r],
                      .neighbor = run->neighbor[r],
                      .degree = degree[r],
                      .edge_value = by_weights ? run->weight[r] : NULL,
                      .edge_feature = run->feature[r],
                      .edge_feature_dim = TYPED_RUN_EDGE_DIM}};
    }
    typed_run_ends(run, by_weights, edges);
    for (int layer = 0; layer < run->model.hop_count; layer++)
        block[layer] = (struct relation_block){typed_run_count, typed_run_count, edges};
    const struct model_input input = {.relations = block, .type_rows = rows};
    const struct model_workspace workspace = {.arena = &arena};
    assert_ok(model_forward(&run->model, weights, &input, &workspace, logits, NULL, &run->err),
              &run->err);
    for (uint32_t t = 0; t < TYPED_RUN_TYPES; t++)
        memory_free(x[t]);
    arena_release(&arena);
    return logits;
}

/* Returns the stored output of layer `layer` (from 1) of the last weights for a type, [nodes,
 * dim] by number; NULL if there is none. */
static inline float *typed_run_layer(struct typed_run *run, int layer, uint32_t type, uint32_t dim)
{
    float *out = memory_alloc((size_t)typed_run_count[type] * dim, sizeof *out);
    char name[TENSOR_NAME_SIZE];
    bool found = true;
    layer_tensor_of_type(type, name);
    for (int part = 0; part < TYPED_RUN_PARTS; part++) {
        struct feature_shard *shard = NULL;
        assert_ok(feature_shard_open(run->temp->store,
                                     key_infer(INFER_RUN_ID, 5, layer, part, "shard").text,
                                     key_infer(INFER_RUN_ID, 5, layer, part, "shard_seal").text,
                                     INFER_RUN_ID, &shard, &run->err),
                  &run->err);
        const struct tensor_spec *tensor = feature_shard_tensor(shard, name);
        found &= tensor != NULL;
        if (tensor) {
            assert_int_equal(tensor->dim, dim);
            assert_ok(feature_shard_read_all(shard, name,
                                             out + (size_t)typed_run_cut[type][part] * dim, dim,
                                             &run->err),
                      &run->err);
        }
        feature_shard_close(shard);
    }
    if (found)
        return out;
    memory_free(out);
    return NULL;
}

#endif
