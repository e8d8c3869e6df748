/*
 * model_texts - what an exported model says of itself: the metadata of model.safetensors.
 *
 * The names of sizes are PyG's, the others those of pipeline files (train-step.<name>), and so are
 * their values; a flag is True or False, as Python has it:
 *
 *   model             the class of torch_geometric.nn (of which the layers are, for PyG)
 *   kind              train-step.model
 *   num_layers        without the matrix behind jumping knowledge, or behind layers over relations;  in_channels, hidden_channels, out_channels, dropout
 *   heads, aggr, train_eps, alpha, ...   those options that the kind has (layer_list.h); aggr and inner are never auto.
 *                     A file of gin without inner is of before that option, which is inner relu
 *   v2                of kinds with heads: whether it is GATv2
 *   edge_dim          columns of the edge features that are read; not there without any
 *   norm, activation, residual   behind every layer but the last; of a model of one layer of gin, inside it
 *   jumping_knowledge
 *   layers            all of it layer by layer, as JSON: what a model of train-step.layers is built from
 *   graph             of a model over relations, as JSON: node_types, relations (source, name, target; PyG's edge types), both in
 *                     the order of tensors, in_channels by type, projected (types, whose rows go through a matrix, to
 *                     projected_channels, and projected_activation), target and relation_aggr; in_channels is not there then
 *   decoder           of a model of pairs: train-step.decoder, behind `decoder.`; decoder_outputs: scores of a pair;
 *                     decoder_relations: types of edges. Its rows are out_channels wide
 *   card              of what graph a run trained it, and by what settings (stages/plan/model/model_card.h); for graphmill infer alone
 *   run, weights_version, flavor (pyg or dgl), format (pt, which loaders ask for)
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

/* run_id and card are borrowed; card: NULL for none. Owns: model_texts_release(), also after a failure. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code model_texts_find(struct model_texts *out, const struct model *model,
                                            const char *run_id, int64_t version,
                                            enum model_flavor flavor, const char *card,
                                            struct error *err);
void model_texts_release(struct model_texts *texts);

#endif
