/* Of a training step on graphs: which each seed is of, in their order in the batch, and the labels of these. */
#include "pipelines/step_export.h"
#include "stages/plan/graph_targets.h"

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
