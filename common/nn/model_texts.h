/*
 * model_texts - the metadata of model.safetensors, which describes an exported model.
 *
 * The names of sizes are PyG's; the other names are those of pipeline files (train-step.<name>),
 * and so are the values. A flag is True or False, as in Python:
 *
 *   model             the class of torch_geometric.nn (for PyG: the class of the layers)
 *   kind              train-step.model
 *   num_layers        without the matrix behind jumping knowledge or behind layers over relations
 *   in_channels, hidden_channels, out_channels, dropout
 *   heads, aggr, train_eps, alpha, ...
 *                     the options that the kind has (layer_list.h); aggr and inner are never auto.
 *                     A file of gin without inner is older than that option: inner relu
 *   v2                for kinds with heads: whether the kind is GATv2
 *   edge_dim          columns of the edge features that are read; absent if there are none
 *   norm, activation, residual
 *                     behind every layer but the last; in a model of one layer of gin, inside it
 *   jumping_knowledge
 *   layers            all of this for each layer, as JSON: enough to build a model of
 *                     train-step.layers
 *   graph             for a model over relations, as JSON: node_types and relations (source, name,
 *                     target; PyG's edge types), both in the order of tensors, in_channels by type,
 *                     projected (the types that are projected to projected_channels, through
 *                     projected_activation), target and relation_aggr; replaces in_channels
 *   decoder           for a model of pairs: train-step.decoder, behind `decoder.`; decoder_outputs:
 *                     scores of a pair; decoder_relations: types of edges. Its rows have
 *                     out_channels columns
 *   card              the training graph and settings of the run (stages/plan/model/model_card.h);
 *                     read only by graphmill infer
 *   run, weights_version, flavor (pyg or dgl), format (pt, which loaders require)
 */
#ifndef COMMON_NN_MODEL_TEXTS_H
#define COMMON_NN_MODEL_TEXTS_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "common/formats/arrays/safetensors.h"
#include "common/nn/model.h"
#include "common/nn/model_file.h"

enum { MODEL_TEXT_COUNT_MAX = 32, MODEL_TEXT_SIZE = 48 };

struct model_texts {
    struct safetensors_text text[MODEL_TEXT_COUNT_MAX];
    size_t count;
    char value[MODEL_TEXT_COUNT_MAX][MODEL_TEXT_SIZE];
    struct json_writer layers, graph;
};

/* Makes the texts. Borrows run_id and card; card NULL: none. The caller frees them with
 * model_texts_release(), also after a failure. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code model_texts_find(struct model_texts *out, const struct model *model,
                                            const char *run_id, int64_t version,
                                            enum model_flavor flavor, const char *card,
                                            struct error *err);
/* Frees the texts. */
void model_texts_release(struct model_texts *texts);

#endif
