/*
 * parameter_writer - adds tensors to the table of a model and makes the names of types and
 * relations that tensors contain.
 *
 * The single type of a plain graph has no name; its keys are empty.
 */
#ifndef COMMON_NN_DESCRIPTION_PARAMETER_WRITER_H
#define COMMON_NN_DESCRIPTION_PARAMETER_WRITER_H

#include "common/nn/description/model_description.h"

/* After one failure the writer adds no more tensors. */
struct parameter_writer {
    struct model *model;
    const struct model_layer *layer;
    int number; /* index of the layer */
    enum error_code rc;
    struct error *err;
};

/* Adds a tensor of shape dim [dim_count], with first values uniform in [-bound, bound), or all
 * `start` unless `start` is 0. Formats the name as printf does. Returns the tensor's index in the
 * table. */
__attribute__((format(printf, 6, 7))) int
parameter_writer_add(struct parameter_writer *writer, int dim_count,
                     const uint32_t dim[PARAMETER_DIM_COUNT_MAX], float bound, float start,
                     const char *name, ...);
/* Adds the running statistics of a batch norm over `dim` columns: mean, variance and steps. Their
 * names begin with `module`. Returns the index of the first. */
int parameter_writer_statistics(struct parameter_writer *writer, uint32_t dim, const char *module);

enum { RELATION_KEY_SIZE = 3 * RELATION_NAME_SIZE + 16 };
/* Writes the key of a relation in PyG's ModuleDict: <source___name___target>, where a dot becomes a
 * #. */
void relation_key(const struct relation_schema *schema, uint32_t relation,
                  char key[RELATION_KEY_SIZE]);
/* Writes the name of a relation as PyG's HGTConv joins it: source__name__target. */
void relation_joined_key(const struct relation_schema *schema, uint32_t relation,
                         char key[RELATION_KEY_SIZE]);
/* Writes the key of a type in PyG's ModuleDict. */
void relation_type_key(const struct relation_schema *schema, uint32_t type,
                       char key[RELATION_NAME_SIZE + 2]);

#endif
