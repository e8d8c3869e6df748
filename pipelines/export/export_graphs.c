/* Exports of tasks of graphs: for a training step the graph of each seed and the labels, and the
 * logits of all graphs. */
#include "common/base/memory.h"
#include "pipelines/export/export_ids.h"
#include "pipelines/export/row_table.h"
#include "pipelines/export/step_export.h"
#include "stages/plan/model/graph_targets.h"
#include "stages/plan/model/run_model.h"
#include "store/records/round/snapshot.h"

#include <string.h>

static enum error_code add_graphs(struct step_export *step, const struct graph_targets *targets,
                                  struct error *err)
{
    const uint32_t seeds = step->batch.seed_count;
    const size_t width = targets->label_bytes / sizeof(float);
    uint32_t *first = NULL, *graph = NULL, count = 0;
    float *label = NULL;
    int64_t *of_seed = NULL;
    enum error_code rc = arena_new(&step->arena, &first, (size_t)seeds + 1, "graphs", err);
    if (rc == ERROR_NONE)
        rc = arena_new(&step->arena, &graph, seeds, "graphs", err);
    if (rc == ERROR_NONE)
        rc = arena_new(&step->arena, &of_seed, seeds, "graphs", err);
    if (rc == ERROR_NONE)
        rc = graph_index_split(&targets->index, step->batch.node, seeds, seeds, first, graph,
                               &count, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&step->arena, &label, count * width, "labels of graphs", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t g = 0; g < count; g++) {
        memcpy(label + g * width, graph_targets_label(targets, graph[g]), targets->label_bytes);
        for (uint32_t i = first[g]; i < first[g + 1]; i++)
            of_seed[i] = g;
    }
    step_export_add(step, SAFETENSORS_I64, "mini_batch.batch", seeds, 0, of_seed);
    return step_export_labels(step, label, count, (uint32_t)width, err);
}

enum error_code step_export_graphs(struct step_export *step, struct error *err)
{
    struct graph_targets targets;
    enum error_code rc =
        graph_targets_open(&targets, step->folder->store, &step->folder->run.book, err);
    if (rc == ERROR_NONE)
        rc = add_graphs(step, &targets, err);
    graph_targets_close(&targets);
    return rc;
}

/* --- logits --- */

enum { PIECE_NODES = 1024 };

struct graph_logits { /* state for one run */
    struct model model;
    struct graph_targets targets;
    struct snapshot snapshot;
    struct graph_classifier classifier;
    float *piece, *pooled, *output;
};

static enum error_code open_logits(const struct run_folder *folder, struct graph_logits *l,
                                   struct error *err)
{
    const struct run_binding *run = &folder->run;
    const float *value = NULL;
    enum error_code rc = run_model_init(&l->model, &run->settings, &run->book, err);
    if (rc == ERROR_NONE)
        rc = graph_targets_open(&l->targets, folder->store, &run->book, err);
    if (rc == ERROR_NONE)
        rc = snapshot_get_current(folder->store, run->plan.id, &l->snapshot, err);
    if (rc == ERROR_NONE && l->snapshot.value_count != l->model.value_count)
        rc = error_set(err, ERROR_CORRUPT, "the snapshot does not fit the model of run %s",
                       run->plan.id);
    if (rc != ERROR_NONE)
        return rc;
    (void)weights_identity_of(&l->snapshot, run->schedule.infers_best, &value);
    l->classifier = model_graph_classifier(&l->model, value);
    rc = memory_new(&l->piece, (size_t)PIECE_NODES * l->classifier.dim, "rows", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&l->pooled, l->classifier.dim, "the row of a graph", err);
    return rc == ERROR_NONE
               ? memory_new(&l->output, l->classifier.outputs, "the outputs of a graph", err)
               : rc;
}

static enum error_code find_output(const struct graph_logits *l, struct feature_source *rows,
                                   uint32_t graph, struct error *err)
{
    const uint32_t first = l->targets.index.first[graph], end = l->targets.index.first[graph + 1];
    const enum readout_kind kind = l->model.config.readout;
    const uint32_t dim = l->classifier.dim;
    enum error_code rc = ERROR_NONE;
    for (uint32_t node = first; rc == ERROR_NONE && node < end;) {
        const uint32_t stop = end - node < PIECE_NODES ? end : node + PIECE_NODES;
        rc = feature_source_read(rows, node, stop, l->piece, err);
        if (rc == ERROR_NONE)
            readout_add(kind, l->piece, stop - node, dim, node - first, l->pooled, NULL);
        node = stop;
    }
    if (rc != ERROR_NONE)
        return rc;
    readout_finish(kind, end - first, dim, l->pooled);
    graph_classifier_forward(&l->classifier, l->pooled, 1, l->output);
    return ERROR_NONE;
}

static enum error_code write_logits(struct graph_logits *l, struct feature_source *rows,
                                    const struct row_table_config *config, struct error *err)
{
    struct row_table table = {.csv = NULL};
    enum error_code rc = row_table_open(&table, config, err);
    for (uint32_t g = 0; rc == ERROR_NONE && g < config->row_count; g++) {
        rc = find_output(l, rows, g, err);
        if (rc == ERROR_NONE)
            rc = row_table_add(&table, l->output, 1, err);
    }
    if (rc == ERROR_NONE)
        rc = row_table_finish(&table, err);
    row_table_close(&table);
    return rc;
}

enum error_code export_graph_logits(const struct run_folder *folder, struct feature_source *rows,
                                    const struct array_target *target, struct error *err)
{
    struct graph_logits *l = NULL;
    struct export_ids ids = {.of = {.node_count = 0}};
    struct node_ids graphs = {.node_count = 0};
    uint32_t first_graph = 0;
    enum error_code rc = memory_new(&l, 1, "an export", err);
    if (rc != ERROR_NONE)
        return rc;
    rc = open_logits(folder, l, err);
    if (rc == ERROR_NONE)
        rc = export_ids_open(folder, &ids, err);
    if (rc == ERROR_NONE) {
        graphs = graph_index_ids(&l->targets.index, &first_graph);
        const struct row_table_config config = {.path = target->path,
                                                .is_csv = target->is_csv,
                                                .row_count = l->targets.index.graph_count,
                                                .column_count = l->classifier.outputs,
                                                .id_column = "graph",
                                                .column = "logit",
                                                .words = &ids.words,
                                                .ids = &graphs,
                                                .first_node = first_graph};
        rc = write_logits(l, rows, &config, err);
    }
    export_ids_close(&ids);
    store_release_record(&l->snapshot.view);
    graph_targets_close(&l->targets);
    memory_free(l->piece);
    memory_free(l->pooled);
    memory_free(l->output);
    memory_free(l);
    return rc;
}
