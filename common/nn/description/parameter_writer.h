/*
 * parameter_writer - adds tensors to the table of a model, and says what types and relations are called in their names.
 *
 * A type without a name is that of a plain graph; its keys are empty.
 */
#ifndef COMMON_NN_DESCRIPTION_PARAMETER_WRITER_H
#define COMMON_NN_DESCRIPTION_PARAMETER_WRITER_H

#include "common/nn/description/model_description.h"

/* After a failure nothing more is added. */
struct parameter_writer {
    struct model *model;
    const struct model_layer *layer;
    int number; /* of the layer */
    enum error_code rc;
    struct error *err;
};

/* Adds a tensor of shape dim [dim_count], with first values uniform in [-bound, bound), or all
 * `start` unless that is 0. The name is made as by printf. Returns its number in the table. */
__attribute__((format(printf, 6, 7))) int
parameter_writer_add(struct parameter_writer *writer, int dim_count,
                     const uint32_t dim[PARAMETER_DIM_COUNT_MAX], float bound, float start,
                     const char *name, ...);
/* Adds the running statistics of a batch norm over `dim` columns: mean, variance and steps. Their
 * names begin with `module`. Returns the number of the first. */
int parameter_writer_statistics(struct parameter_writer *writer, uint32_t dim, const char *module);

enum { RELATION_KEY_SIZE = 3 * RELATION_NAME_SIZE + 16 };
/* The key of a relation in PyG's ModuleDict: <source___name___target>, where a dot is a #. */
void relation_key(const struct relation_schema *schema, uint32_t relation,
                  char key[RELATION_KEY_SIZE]);
/* As PyG's HGTConv joins them: source__name__target. */
void relation_joined_key(const struct relation_schema *schema, uint32_t relation,
                         char key[RELATION_KEY_SIZE]);
/* The key of a type there. */
void relation_type_key(const struct relation_schema *schema, uint32_t type,
                       char key[RELATION_NAME_SIZE + 2]);

#endif
