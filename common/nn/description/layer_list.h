/*
 * layer_list - the kinds of graph layer and the options of kinds: one row each.
 *
 * These rows generate enum layer_kind and the table of layer.c, the choices and the help of
 * train-step.model, and for each option a setting train-step.<option>, which affects only the kinds
 * that it names.
 *
 * ROW(constant, name, help): LAYER_<constant>, and <name>_layer in the file <name>_layer.c;
 * pipeline files use <name> too.
 */
#ifndef COMMON_NN_DESCRIPTION_LAYER_LIST_H
#define COMMON_NN_DESCRIPTION_LAYER_LIST_H

/* clang-format off */
#define LAYER_LIST(ROW)                                                                            \
    ROW(SAGE, sage,                                                                                \
        "GraphSAGE: the mean or the maximum of the neighbours, beside the node's own row. "        \
        "PyG: GraphSAGE")                                                                          \
    ROW(GCN, gcn, "Kipf and Welling 2017. PyG: GCN")                                               \
    ROW(GAT, gat, "attention. PyG: GAT(heads=...)")                                                \
    ROW(GATV2, gatv2,                                                                              \
        "attention whose score depends on both ends of the edge. PyG: GAT(v2=True, "               \
        "heads=...)")                                                                              \
    ROW(MLP, mlp,                                                                                  \
        "one matrix for each row, without the graph, so it takes no fan-out. PyG: MLP")            \
    ROW(GRAPH_CONV, graph_conv,                                                                    \
        "sums of the neighbours, with a matrix of their own. PyG: a GraphConv for each "           \
        "layer")                                                                                   \
    ROW(GIN, gin,                                                                                  \
        "two matrices behind the sum of a node and its neighbours; norm and activation "           \
        "stand between them, too. PyG: GIN")                                                       \
    ROW(PROPAGATE, propagate,                                                                      \
        "one hop of gcn without a matrix, for train-step.layers. PyG: APPNP(K=1, alpha=0)")        \
    ROW(SGC, sgc, "hops of gcn, then one matrix. PyG: SGConv")                                     \
    ROW(APPNP, appnp,                                                                              \
        "two layers of mlp, then hops of gcn that go back to their output by a share of "          \
        "alpha. PyG: MLP, then APPNP")                                                             \
    ROW(LE, le,                                                                                    \
        "sums of differences to the neighbours, with a matrix for either end. PyG: an "            \
        "LEConv for each layer")                                                                   \
    ROW(RGCN, rgcn,                                                                                \
        "one matrix for each relation; bases or blocks make fewer numbers of them. PyG: an "       \
        "RGCNConv for each layer")                                                                 \
    ROW(HGT, hgt,                                                                                  \
        "attention over all relations, with matrices for node types and relations, then "          \
        "mlp. PyG: an HGTConv for each layer, then Linear")                                        \
    ROW(RGAT, rgat,                                                                                \
        "attention over all relations, with one matrix for each. PyG: an RGATConv for each "       \
        "layer")                                                                                   \
    ROW(IDENTITY, identity,                                                                        \
        "the rows as they are, for models that have embeddings alone; takes no fan-out, and "      \
        "hidden is the width of the embeddings. PyG: torch.nn.Identity")

/* How the rows of neighbours become one row. AUTO: the default of the kind. */
#define LAYER_AGGR_LIST(ROW) ROW(AUTO, auto) ROW(MEAN, mean) ROW(ADD, add) ROW(MAX, max)

/* The operations between the two matrices of a layer of gin. AUTO is SAME. */
#define LAYER_INNER_LIST(ROW) ROW(AUTO, auto) ROW(SAME, same) ROW(RELU, relu)

/* The options. Each row makes a field `name` of struct layer_options.
 *   INT(name, kinds that have it, default, least, most, help)
 *   REAL(name, kinds that have it, default, least, most, help)
 *   FLAG(name, kinds that have it, default, help)
 *   CHOICE(name, kinds that have it, default, names, help) */
#define LAYER_OPTION_LIST(INT, REAL, FLAG, CHOICE)                                                             \
    INT(heads, "gat,gatv2,hgt,rgat", "8", 1, 1024, "heads of attention, which share out the width of the hidden layers") \
    CHOICE(aggr, "sage,graph_conv,rgcn", "auto", layer_aggr_names, "how rows of neighbours become one: mean, add, max, or auto: mean for sage and rgcn, add for graph_conv") \
    FLAG(train_eps, "gin", "false", "whether the weight of the own row beside the neighbours' is trained; else it is 1") \
    CHOICE(inner, "gin", "auto", layer_inner_names, "what stands between the two matrices of a layer: auto or same (the norm and the activation that follow the hidden layers, as in PyG), or relu (ReLU alone)") \
    INT(bases, "rgcn,rgat", "0", 0, 4096, "matrices of which those of all relations are made (basis decomposition); 0: each has its own") \
    INT(blocks, "rgcn,rgat", "0", 0, 4096, "blocks on the diagonal of a relation's matrix, outside of which it is 0; 0: it has none") \
    REAL(alpha, "appnp", "0.1", 0, 1, "how much of the rows before all hops comes in at each hop")
/* clang-format on */

#endif
