#include "stages/plan/run_model.h"

#include "common/base/host.h"
#include "common/math/bf16_product.h"

#include <inttypes.h>
#include <string.h>

static enum error_code make(struct model *out, const struct pipeline_settings *settings,
                            uint32_t input_dim, uint32_t output_dim, struct error *err)
{
    const struct model_outline outline = {
        .kind = (enum layer_kind)settings->train_step.model,
        .hop_count = settings->sample.fanouts.count,
        .input_dim = input_dim,
        .hidden_dim = (uint32_t)settings->train_step.hidden,
        .output_dim = output_dim,
        .option = settings->train_step.option,
        .residual = settings->train_step.residual,
        .norm = (enum norm_kind)settings->train_step.norm,
        .activation = (enum activation_kind)settings->train_step.activation,
        .dropout = (float)settings->train_step.dropout,
    };
    return model_init_outline(out, &outline, err);
}

enum error_code run_model_shape(struct model *out, const struct pipeline_settings *settings,
                                struct error *err)
{
    return make(out, settings, 1, 1, err);
}

enum error_code run_model_init(struct model *out, const struct pipeline_settings *settings,
                               const struct partition_book *book, struct error *err)
{
    *out = (struct model){0};
    if (book->feature_dim == 0)
        return error_set(err, ERROR_INPUT, "partition %s has no features to train on", book->id);
    if (book->class_count == 0)
        return error_set(err, ERROR_INPUT, "partition %s has no labels to train on", book->id);
    return make(out, settings, book->feature_dim, book->class_count, err);
}

enum error_code run_model_check_precision(const struct pipeline_settings *settings,
                                          const char *hindrance, const char *processor,
                                          struct error *err)
{
    if (settings->train_step.precision != PRECISION_BF16 || !hindrance)
        return ERROR_NONE;
    return error_set(
        err, ERROR_INVALID,
        "train-step.precision is bf16, which is not possible on this machine (%s): %s; "
        "set `precision: fp32`",
        processor, hindrance);
}

enum error_code run_model_check_machine(const struct pipeline_settings *settings, struct error *err)
{
    char processor[128];
    host_processor_name(processor, sizeof processor);
    return run_model_check_precision(settings, bf16_product_hindrance(), processor, err);
}

/* The end of the line that starts at `line`. */
static size_t line_size(const char *line, const char *end)
{
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    return (size_t)((newline ? newline : end) - line);
}

static enum error_code differs_at(const char *wanted, const char *wanted_end, const char *found,
                                  const char *found_end, struct error *err)
{
    for (int number = 1;; number++) {
        const size_t wanted_size = line_size(wanted, wanted_end);
        const size_t found_size = line_size(found, found_end);
        if (wanted_size != found_size || memcmp(wanted, found, wanted_size) != 0 ||
            wanted + wanted_size == wanted_end || found + found_size == found_end)
            return error_set(err, ERROR_CORRUPT,
                             "line %d of the parameter table: expected '%.*s', found '%.*s'",
                             number, (int)(wanted_size < 80 ? wanted_size : 80), wanted,
                             (int)(found_size < 80 ? found_size : 80), found);
        wanted += wanted_size + 1;
        found += found_size + 1;
    }
}

enum error_code run_model_check_weights(const struct model *model, const struct weights *weights,
                                        struct error *err)
{
    char table[RUN_MODEL_TABLE_SIZE];
    const enum error_code rc = model_table_text(model, table, sizeof table, err);
    if (rc != ERROR_NONE)
        return rc;
    const size_t size = strlen(table);
    if (weights->table_size != size || memcmp(weights->table, table, size) != 0)
        return differs_at(table, table + size, weights->table, weights->table + weights->table_size,
                          err);
    if (weights->value_count != model->value_count)
        return error_set(err, ERROR_CORRUPT, "weights: expected %" PRIu64 " values, found %" PRIu64,
                         model->value_count, weights->value_count);
    return ERROR_NONE;
}
