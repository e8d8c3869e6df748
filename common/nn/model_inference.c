/* Runs one layer of a model alone, without gradient (model.h). */
#include "common/nn/layers/layer.h"
#include "common/nn/model_trace.h"

/* NOLINTBEGIN(readability-non-const-parameter) */
enum error_code model_infer_types(const struct model *model, const float *value, int layer,
                                  const struct typed_layer_input *input, uint32_t type,
                                  const struct model_workspace *workspace, float *output,
                                  struct error *err)
{
    const bool uses_edges = model->layer[layer].type->uses_edges;
    const struct model_input whole = {.type_rows = input->rows};
    float *place[RELATION_TYPE_COUNT_MAX] = {NULL};
    struct model_trace *made = NULL;
    must(!input->block == !uses_edges);
    place[type] = output;
    enum error_code rc = model_trace_new(model, value, &whole, workspace, false, &made, err);
    if (rc == ERROR_NONE)
        rc = model_trace_begin_on(made, layer, input->block, input->count, err);
    if (rc == ERROR_NONE && layer == 0)
        rc = model_trace_project(made, made->step[0].pass.source_count, err);
    if (rc != ERROR_NONE)
        return rc;
    made->step[layer].pass.sum = input->sum;
    made->step[layer].pass.start = input->start;
    made->step[layer].pass.is_inferred = true;
    return model_trace_run(made, layer, made->rows, place, err);
}
/* NOLINTEND(readability-non-const-parameter) */

bool model_sums_sources(const struct model *model, int layer)
{
    return layer_sums_sources(&model->layer[layer]);
}

enum error_code model_weigh_block(const struct model *model, int layer,
                                  const struct message_block *block, struct arena *arena,
                                  struct aggregation *out, struct error *err)
{
    return model->layer[layer].type->weigh(&model->layer[layer], block, arena, out, err);
}
