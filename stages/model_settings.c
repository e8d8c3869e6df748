#include "stages/model_settings.h"

_Static_assert((int)MODEL_SAGE == (int)LAYER_SAGE && (int)MODEL_GCN == (int)LAYER_GCN,
               "the choices of train-step.model are the kinds of layer");

enum error_code model_from_settings(const struct pipeline_settings *settings,
                                    const struct partition_book *book, struct model *out,
                                    struct error *err)
{
    const struct model_config config = {
        .layer = (enum layer_kind)settings->train_step.model,
        .layer_count = pipeline_layer_count(settings),
        .input_dim = book->feature_dim,
        .hidden_dim = (uint32_t)settings->train_step.hidden,
        .output_dim = book->class_count,
        .dropout = (float)settings->train_step.dropout,
    };
    if (config.input_dim == 0)
        return error_set(err, ERROR_INPUT,
                         "dataset %s has no features, expected at least one column",
                         book->dataset_id);
    if (config.output_dim == 0)
        return error_set(err, ERROR_INPUT, "dataset %s has no labels, expected at least one class",
                         book->dataset_id);
    return model_init(out, &config, err);
}
