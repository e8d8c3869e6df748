#include "common/nn/typed/layer_row.h"

#include "common/nn/layers/layer.h"
#include "common/nn/typed/typed_layer.h"

#include <string.h>

struct tensors {
    struct layer_parameter own[LAYER_PARAMETER_COUNT_MAX];
    int count, matrices, vectors;
};

static enum error_code wrong(struct error *err, const char *rule)
{
    return error_set(err, ERROR_BUG, "the row of this kind is wrong: %s", rule);
}

/* --- tensors --- */

static bool is_named_twice(const struct tensors *tensors, int number)
{
    for (int i = 0; i < number; i++)
        if (strcmp(tensors->own[i].suffix, tensors->own[number].suffix) == 0)
            return true;
    return false;
}

static enum error_code check_tensor(const struct tensors *tensors, int number, struct error *err)
{
    const struct layer_parameter *own = &tensors->own[number];
    if (!own->suffix || own->rows == 0 || own->cols == 0)
        return error_set(err, ERROR_BUG,
                         "the row of this kind is wrong: tensor %d has no name or no values",
                         number);
    if (own->dim_count < 1 || own->dim_count > 3 || (own->dim_count == 1 && own->cols != 1))
        return error_set(err, ERROR_BUG,
                         "the row of this kind is wrong: %s has %d dimensions and %u columns, "
                         "expected 1 dimension with 1 column, 2 or 3",
                         own->suffix, own->dim_count, own->cols);
    if (is_named_twice(tensors, number))
        return error_set(err, ERROR_BUG,
                         "the row of this kind is wrong: two of its tensors are called %s",
                         own->suffix);
    return ERROR_NONE;
}

static enum error_code find_tensors(const struct model_layer *layer, struct tensors *out,
                                    struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *out = (struct tensors){.count = 0};
    if (!layer->type->parameters)
        return wrong(err, "it has no parameters(), which says what tensors a layer has");
    out->count = layer->type->parameters(layer, out->own);
    if (out->count < 0 || out->count > LAYER_PARAMETER_COUNT_MAX)
        return wrong(err, "parameters() returns more tensors than LAYER_PARAMETER_COUNT_MAX");
    for (int i = 0; rc == ERROR_NONE && i < out->count; i++) {
        rc = check_tensor(out, i, err);
        out->vectors += out->own[i].dim_count == 1;
        out->matrices += out->own[i].dim_count > 1;
    }
    return rc;
}

/* --- linear kinds --- */

/* Counts how many rows of the input stand side by side in a row that weigh() aggregates. */
static enum error_code count_parts(const struct model_layer *layer, int *parts, struct error *err)
{
    const struct message_block no_rows = {.destination_count = 0};
    struct arena arena = {.counts = true};
    struct aggregation aggregation = {0};
    const enum error_code rc = layer->type->weigh(layer, &no_rows, &arena, &aggregation, err);
    *parts = (int)(aggregation_width(&aggregation, layer->input_dim) / layer->input_dim);
    arena_release(&arena);
    return rc;
}

static enum error_code check_shapes(const struct model_layer *layer, const struct tensors *tensors,
                                    struct error *err)
{
    int matrices = 0; /* the second matrix multiplies own rows */
    for (int i = 0; i < tensors->count; i++) {
        const struct layer_parameter *own = &tensors->own[i];
        matrices += own->dim_count != 1;
        const uint32_t cols = own->dim_count == 1 ? 1
                              : matrices == 2     ? layer->own_dim
                                                  : layer->input_dim;
        if (own->dim_count > 2 || own->rows != layer->config.output_dim || own->cols != cols)
            return error_set(err, ERROR_BUG,
                             "the row of this kind is wrong: %s is [%u, %u], but the tensors of a "
                             "linear kind are matrices [%u, %u] and a bias [%u]",
                             own->suffix, own->rows, own->cols, layer->config.output_dim,
                             layer->input_dim, layer->config.output_dim);
    }
    return ERROR_NONE;
}

static enum error_code check_aggregation(const struct model_layer *layer,
                                         const struct tensors *tensors, struct error *err)
{
    const struct layer_type *type = layer->type;
    int parts = 1;
    if (!type->uses_edges && (type->weigh || type->projects_first))
        return wrong(err, "it has weigh() or projects_first(), but not uses_edges");
    if (type->uses_edges && !(type->weigh && type->projects_first))
        return wrong(err, "it uses edges and has no forward(), so it needs weigh() and "
                          "projects_first()");
    const enum error_code rc = type->uses_edges ? count_parts(layer, &parts, err) : ERROR_NONE;
    if (rc != ERROR_NONE)
        return rc;
    if (tensors->matrices != parts)
        return error_set(err, ERROR_BUG,
                         "the row of this kind is wrong: an aggregated row has %d parts of the "
                         "input's width, each with a matrix of its own, but parameters() has %d "
                         "matrices",
                         parts, tensors->matrices);
    if (type->uses_edges && parts > 1 &&
        type->projects_first(layer->input_dim, layer->config.output_dim))
        return wrong(err, "it projects before it aggregates, which is possible with one matrix");
    return ERROR_NONE;
}

static enum error_code check_linear(const struct model_layer *layer, const struct tensors *tensors,
                                    struct error *err)
{
    if (tensors->vectors != 1)
        return error_set(err, ERROR_BUG,
                         "the row of this kind is wrong: parameters() has %d vectors, but a linear "
                         "kind has one, its bias",
                         tensors->vectors);
    const enum error_code rc = check_shapes(layer, tensors, err);
    return rc == ERROR_NONE ? check_aggregation(layer, tensors, err) : rc;
}

/* --- all kinds --- */

static enum error_code check_functions(const struct layer_type *type, struct error *err)
{
    if (!type->forward != !type->backward)
        return wrong(err, "it has one of forward() and backward(), and needs both or neither");
    if (type->aggregates_input && !(type->forward && type->weigh))
        return wrong(err, "aggregates_input() is for kinds with forward() and weigh()");
    if (type->weigh && !type->uses_edges)
        return wrong(err, "it has weigh() or projects_first(), but not uses_edges");
    if (type->reads_start && !type->keeps_width)
        return wrong(err, "it has reads_start, so it needs keeps_width");
    return ERROR_NONE;
}

enum error_code layer_row_check(const struct model_layer *layer, struct error *err)
{
    struct tensors tensors;
    enum error_code rc = check_functions(layer->type, err);
    if (rc == ERROR_NONE)
        rc = find_tensors(layer, &tensors, err);
    return rc == ERROR_NONE && !layer->type->forward ? check_linear(layer, &tensors, err) : rc;
}

enum error_code layer_row_check_typed(const struct model_layer *layer, struct error *err)
{
    const struct typed_kind *typed = layer->typed;
    must(typed);
    if (!typed->parameters || !typed->forward || !typed->backward)
        return wrong(err, "its `typed` needs parameters(), forward() and backward()");
    return ERROR_NONE;
}
