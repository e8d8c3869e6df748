/*
 * layer_list - the kinds of graph layer and the settings that kinds have of their own: one row each.
 *
 * From these rows are made: enum layer_kind and the table of layer.c, the choices and the help of train-step.model,
 * and for each option a setting train-step.<option>, which has an effect with the kinds that it names.
 *
 * ROW(constant, name, help): LAYER_<constant>, and <name>_layer in layers/<name>_layer.c, which is <name> in pipeline
 * files too.
 */
#ifndef COMMON_NN_LAYERS_LAYER_LIST_H
#define COMMON_NN_LAYERS_LAYER_LIST_H

/* clang-format off */
#define LAYER_LIST(ROW)                                                                            \
    ROW(SAGE, sage, "GraphSAGE, mean")                                                             \
    ROW(GCN, gcn, "Kipf and Welling 2017")                                                         \
    ROW(GAT, gat, "attention")                                                                     \
    ROW(GATV2, gatv2, "attention whose score depends on both ends")

/* INT(name, kinds that have it, default, least, most, help): the field `name` of struct layer_options. */
#define LAYER_OPTION_LIST(INT)                                                                     \
    INT(heads, "gat,gatv2", "8", 1, 1024, "heads of attention, which share out the width of the hidden layers")
/* clang-format on */

#endif
