#include "common/nn/description/parameter_writer.h"

#include <stdarg.h>
#include <stdio.h>

/* --- names --- */

static void replace_dots(char *key)
{
    for (; *key; key++)
        if (*key == '.')
            *key = '#';
}

void relation_key(const struct relation_schema *schema, uint32_t relation,
                  char key[RELATION_KEY_SIZE])
{
    const struct relation *own = &schema->relation[relation];
    (void)snprintf(key, RELATION_KEY_SIZE, "<%s___%s___%s>", schema->type_name[own->source_type],
                   own->name, schema->type_name[own->target_type]);
    replace_dots(key);
}

void relation_joined_key(const struct relation_schema *schema, uint32_t relation,
                         char key[RELATION_KEY_SIZE])
{
    const struct relation *own = &schema->relation[relation];
    (void)snprintf(key, RELATION_KEY_SIZE, "%s__%s__%s", schema->type_name[own->source_type],
                   own->name, schema->type_name[own->target_type]);
    replace_dots(key);
}

void relation_type_key(const struct relation_schema *schema, uint32_t type,
                       char key[RELATION_NAME_SIZE + 2])
{
    (void)snprintf(key, RELATION_NAME_SIZE + 2, "%s", schema->type_name[type]);
    replace_dots(key);
}

/* --- tensors --- */

int parameter_writer_add(struct parameter_writer *writer, int dim_count,
                         const uint32_t dim[PARAMETER_DIM_COUNT_MAX], float bound, float start,
                         const char *name, ...)
{
    struct model *model = writer->model;
    struct parameter parameter = {.dim_count = dim_count,
                                  .cols = 1,
                                  .rows = 1,
                                  .bound = bound,
                                  .start = start,
                                  .offset = model->value_count};
    va_list arguments;
    if (writer->rc != ERROR_NONE)
        return 0;
    va_start(arguments, name);
    const int size = vsnprintf(parameter.name, sizeof parameter.name, name, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof parameter.name)
        writer->rc = error_set(writer->err, ERROR_INVALID,
                               "the name of a tensor, '%s...', is longer than %zu bytes: " ADVICE
                               "give types "
                               "and relations shorter names",
                               parameter.name, sizeof parameter.name - 1);
    else if (model->parameter_count == PARAMETER_COUNT_MAX - DECODER_PARAMETER_COUNT_MAX)
        writer->rc = error_set(
            writer->err, ERROR_INVALID,
            "a model of more than %d tensors: with so many relations take rgcn, which has "
            "one for all",
            (int)PARAMETER_COUNT_MAX);
    if (writer->rc != ERROR_NONE)
        return 0;
    for (int i = 0; i < dim_count; i++) {
        parameter.dim[i] = dim[i];
        if (i == dim_count - 1 && i > 0)
            parameter.cols = dim[i];
        else
            parameter.rows *= dim[i];
    }
    model->parameter[model->parameter_count] = parameter;
    model->value_count += (uint64_t)parameter.rows * parameter.cols;
    return model->parameter_count++;
}

int parameter_writer_statistics(struct parameter_writer *writer, uint32_t dim, const char *module)
{
    const uint32_t columns[PARAMETER_DIM_COUNT_MAX] = {dim}, one[PARAMETER_DIM_COUNT_MAX] = {1};
    const int first = parameter_writer_add(writer, 1, columns, 0, 0, "%s.running_mean", module);
    (void)parameter_writer_add(writer, 1, columns, 0, 1, "%s.running_var", module);
    const int count = parameter_writer_add(writer, 1, one, 0, 0, "%s.num_batches_tracked", module);
    writer->model->parameter[count].is_count = writer->rc == ERROR_NONE;
    return first;
}
