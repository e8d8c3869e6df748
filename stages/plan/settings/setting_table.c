#include "stages/plan/settings/setting_table.h"

#include "common/formats/text/column_encoding.h"
#include "common/math/precision.h"
#include "common/nn/optimizer.h"
#include "common/nn/sparse_optimizer.h"
#include "stages/plan/settings/dataset_format.h"
#include "stages/plan/settings/embedding_tensors.h"
#include "stages/sampling/negative_list.h"
#include "stages/sampling/rows/seed_times.h"
#include "stages/sampling/sampler_list.h"
#include "store/records/round/gradient_encoding.h"
#include "store/records/round/gradient_range.h"

#include <stdio.h>
#include <string.h>

/* Choices are stored as the value of their enum, which is their index here. */
static const char *const id_type_names[] = {
    [ID_TYPE_AUTO] = "auto", [ID_TYPE_INTEGER] = "integer", [ID_TYPE_STRING] = "string", NULL};
static const char *const edge_feature_names[] = {[EDGE_FEATURES_AUTO] = "auto",
                                                 [EDGE_FEATURES_NAMED] = "named",
                                                 [EDGE_FEATURES_NONE] = "none",
                                                 NULL};
static const char *const weight_scale_names[] = {
    [WEIGHTS_AS_GIVEN] = "as_given", [WEIGHTS_LOG] = "log", [WEIGHTS_RANK] = "rank", NULL};
static const char *const weight_scale_texts[] = {
    [WEIGHTS_AS_GIVEN] = "the weight w as it is",
    [WEIGHTS_LOG] = "log(1 + w), and -log(1 - w) below 0",
    [WEIGHTS_RANK] = "the share of the input's edges whose weight is at most w: above 0, up to 1, "
                     "also of weights below 0. It takes 4 bytes an edge, at most a quarter of "
                     "--memory. An update that adds or removes edges or nodes is refused, because "
                     "it would change all ranks"};
static const char *const direction_names[] = {[DIRECTION_AUTO] = "auto",
                                              [DIRECTION_AS_GIVEN] = "as_given",
                                              [DIRECTION_UNDIRECTED] = "undirected",
                                              [DIRECTION_REVERSED] = "reversed",
                                              NULL};
static const char *const policy_names[] = {
    [EDGES_KEEP] = "keep", [EDGES_REMOVE] = "remove", [EDGES_REFUSE] = "refuse", NULL};
static const char *const feature_names[] = {[FEATURES_AUTO] = "auto",
                                            [FEATURES_GIVEN] = "given",
                                            [FEATURES_DEGREE] = "degree",
                                            [FEATURES_RANDOM] = "random",
                                            [FEATURES_DEGREE_RANDOM] = "degree+random",
                                            [FEATURES_NONE] = "none",
                                            [FEATURES_FILE] = NULL};
static const char *const missing_names[] = {[MISSING_NONE] = "none",
                                            [MISSING_DEGREE] = "degree",
                                            [MISSING_RANDOM] = "random",
                                            [MISSING_DEGREE_RANDOM] = "degree+random",
                                            NULL};
/* A row of a list is the name of a choice and the text that describes it. */
#define ROW_NAME(number, name, help) [number] = #name,
#define ROW_TEXT(number, name, help) [number] = (help),
static const char *const task_names[] = {[TASK_UNKNOWN] = "auto",
                                         TASK_LIST(ROW_NAME)[TASK_NONE] = NULL};
static const char *const task_texts[] = {
    [TASK_UNKNOWN] = "single_label or multi_label, by the label columns", TASK_LIST(ROW_TEXT)};
static const char *const method_names[] = {PARTITIONER_LIST(ROW_NAME)[PARTITION_METHOD_COUNT] =
                                               NULL};
static const char *const method_texts[] = {PARTITIONER_LIST(ROW_TEXT)};
static const char *const order_names[] = {
    [STREAM_NATURAL] = "natural", [STREAM_RANDOM] = "random", [STREAM_DEGREE] = "degree", NULL};
static const char *const update_names[] = {[UPDATE_PLACE] = "place", [UPDATE_ANEW] = "anew", NULL};
static const char *const feature_type_names[] = {
    [FEATURE_F32] = "f32", [FEATURE_F16] = "f16", [FEATURE_BF16] = "bf16", NULL};
static const char *const precision_names[] = {
    [PRECISION_FP32] = "fp32", [PRECISION_BF16] = "bf16", NULL};
static const char *const pipeline_names[] = {
    [PIPELINE_WHOLE] = "whole", [PIPELINE_LAYERS] = "layers", NULL};
static const char *const gradient_names[] = {
    GRADIENT_ENCODING_LIST(ROW_NAME)[GRADIENT_ENCODING_COUNT] = NULL};
static const char *const gradient_texts[] = {GRADIENT_ENCODING_LIST(ROW_TEXT)};
static const char *const optimizer_names[] = {
    [RULE_ADAM] = "adam", [RULE_ADAMW] = "adamw", [RULE_SGD] = "sgd", NULL};
static const char *const sparse_rule_names[] = {[SPARSE_ADAM] = "adam",
                                                [SPARSE_ADAGRAD] = "adagrad",
                                                [SPARSE_SGD] = "sgd",
                                                [SPARSE_RULE_COUNT] = NULL};
static const char *const embedding_policy_texts[] = {EMBEDDING_POLICY_LIST(ROW_TEXT)};
static const char *const schedule_names[] = {
    [RATE_CONSTANT] = "constant", [RATE_COSINE] = "cosine", [RATE_STEP] = "step", NULL};
static const char *const compensation_names[] = {[COMPENSATE_RATE] = "rate",
                                                 [COMPENSATE_GRADIENT] = "gradient",
                                                 [COMPENSATE_NOTHING] = "none",
                                                 NULL};
static const char *const compensation_texts[] = {
    [COMPENSATE_RATE] = "the learning rate is divided by 1 + delay_rate * delay, as in "
                        "staleness-aware SGD (Zhang et al. 2016)",
    [COMPENSATE_GRADIENT] = "a gradient g becomes g + delay_lambda g g (w - w'), w' being the "
                            "weights that g was made from and w those that it changes: DC-ASGD "
                            "(Zheng et al. 2017). It was made for SGD",
    [COMPENSATE_NOTHING] = "nothing"};
#define METRIC_CHOICE(number, name, title, less_is_better, is_told) [number] = #name,
static const char *const metric_names[] = {METRIC_LIST(METRIC_CHOICE)[METRIC_COUNT] = NULL};
#define METRIC_TEXT(number, name, title, less_is_better, is_told) [number] = (title),
static const char *const metric_texts[] = {METRIC_LIST(METRIC_TEXT)};
static const char *const loss_names[] = {[LOSS_AUTO] = "auto",
                                         LOSS_LIST(ROW_NAME)[LOSS_COUNT] = NULL};
static const char *const loss_texts[] = {[LOSS_AUTO] = "the first loss of the task",
                                         LOSS_LIST(ROW_TEXT)};
static const char *const class_weight_names[] = {
    [CLASS_WEIGHTS_NONE] = "none", [CLASS_WEIGHTS_BALANCED] = "balanced", NULL};
static const char *const sampler_names[] = {SAMPLER_LIST(ROW_NAME)[SAMPLER_COUNT] = NULL};
static const char *const sampler_texts[] = {SAMPLER_LIST(ROW_TEXT)};
static const char *const negative_names[] = {NEGATIVE_LIST(ROW_NAME)[NEGATIVE_COUNT] = NULL};
static const char *const negative_texts[] = {NEGATIVE_LIST(ROW_TEXT)};
static const char *const decoder_names[] = {[DECODER_NONE] = "none",
                                            DECODER_LIST(ROW_NAME)[DECODER_COUNT] = NULL};
static const char *const decoder_texts[] = {DECODER_LIST(ROW_TEXT)};
static const char *const link_loss_names[] = {LINK_LOSS_LIST(ROW_NAME)[LINK_LOSS_COUNT] = NULL};
static const char *const link_loss_texts[] = {LINK_LOSS_LIST(ROW_TEXT)};
static const char *const corrupt_names[] = {CORRUPT_LIST(ROW_NAME)[CORRUPT_COUNT] = NULL};
static const char *const corrupt_texts[] = {CORRUPT_LIST(ROW_TEXT)};
static const char *const readout_texts[] = {READOUT_LIST(ROW_TEXT)};
static const char *const pair_names[] = {[PAIRS_EDGES] = "edges", [PAIRS_WALKS] = "walks", NULL};
static const char *const ranked_names[] = {
    [CORRUPT_TARGET] = "target", [CORRUPT_SOURCE] = "source", [CORRUPT_BOTH] = "both", NULL};
static const char *const ranking_names[] = {[RANKING_NONE] = "none",
                                            [RANKING_SAMPLED] = "sampled",
                                            [RANKING_ALL] = "all",
                                            [RANKING_GIVEN] = "given",
                                            NULL};
static const char *const history_names[] = {
    [HISTORY_ALL] = "all", [HISTORY_TRAINING] = "training", NULL};
static const char *const history_texts[] = {
    [HISTORY_ALL] = "all events that are strictly earlier, of training, validation or test, as the "
                    "field's protocol requires. Events at the same time do not see each other",
    [HISTORY_TRAINING] = "only the events of training"};
static const char *const weights_names[] = {[WEIGHTS_BEST] = "best", [WEIGHTS_LAST] = "last", NULL};
static const char *const edge_choice_names[] = {
    [EDGE_CHOICE_AUTO] = "auto", [EDGE_CHOICE_TRUE] = "true", [EDGE_CHOICE_FALSE] = "false", NULL};

static const char *const edge_label_form_names[] = {
    [EDGE_LABEL_AS_GIVEN] = "as_given", [EDGE_LABEL_SIGN] = "sign", NULL};
static const char *const hold_out_reverse_names[] = {[HOLD_OUT_REVERSE_AUTO] = "auto",
                                                     [HOLD_OUT_REVERSE_ALWAYS] = "always",
                                                     [HOLD_OUT_REVERSE_NEVER] = "never",
                                                     NULL};
static const char *const excluded_edges_names[] = {
    [EXCLUDE_NONE] = "none", [EXCLUDE_EDGES] = "edges", [EXCLUDE_REVERSES] = "reverses", NULL};
/* The activations of an item of train-step.layers: enum activation_kind, then one more. */
#define ACTIVATION_NAME(constant, name) #name,
/* ACTIVATION_AUTO comes after the kinds. */
static const char *const item_activation_names[] = {ACTIVATION_LIST(ACTIVATION_NAME) "auto", NULL};

#define LAYER_TEXT(constant, name, help) [LAYER_##constant] = (help),
static const char *const layer_texts[] = {LAYER_LIST(LAYER_TEXT)};

/* clang-format off */
#define PLACE(field) \
    offsetof(struct pipeline_settings, field), sizeof(((struct pipeline_settings *)0)->field)
#define TEXT(part, name, field, value, help) \
    {name, SETTING_TEXT, part, PLACE(field), value, 0, 0, NULL, help, NULL, NULL}
#define PATH(part, name, field, help) \
    {name, SETTING_PATH, part, PLACE(field), "", 0, 0, NULL, help, NULL, NULL}
#define INT(part, name, field, value, least, most, help) \
    {name, SETTING_INT, part, PLACE(field), value, least, most, NULL, help, NULL, NULL}
#define INT_OR_MOST(part, name, field, value, least, most, help) \
    {name, SETTING_INT_OR_MOST, part, PLACE(field), value, least, most, NULL, help, NULL, NULL}
#define DOUBLE(part, name, field, value, least, most, help) \
    {name, SETTING_DOUBLE, part, PLACE(field), value, least, most, NULL, help, NULL, NULL}
#define BOOL(part, name, field, value, help) \
    {name, SETTING_BOOL, part, PLACE(field), value, 0, 0, NULL, help, NULL, NULL}
#define CHOICE(part, name, field, value, names, help) \
    {name, SETTING_CHOICE, part, PLACE(field), value, 0, 0, names, help, NULL, NULL}
#define CHOICE_OF(part, name, field, value, names, texts, help) \
    {name, SETTING_CHOICE, part, PLACE(field), value, 0, 0, names, help, NULL, texts}
#define PATHS(part, name, field, help) \
    {name, SETTING_PATHS, part, PLACE(field), "", 0, 0, NULL, help, NULL, NULL}
#define WORDS(part, name, field, help) \
    {name, SETTING_WORDS, part, PLACE(field), "", 0, 0, NULL, help, NULL, NULL}
#define CHOICE_OR_PATH(part, name, field, value, names, help) \
    {name, SETTING_CHOICE_OR_PATH, part, PLACE(field), value, 0, 0, names, help, NULL, NULL}
#define CHOICE_OR_NUMBERS(part, name, field, value, names, least, most, help) \
    {name, SETTING_CHOICE_OR_NUMBERS, part, PLACE(field), value, least, most, names, help, NULL, \
        NULL}
#define ITEMS(part, name, field, most, items, help) \
    {name, SETTING_ITEMS, part, PLACE(field), "", 0, most, NULL, help, items, NULL}
#define INT_LIST(part, name, field, value, least, most, help) \
    {name, SETTING_INT_LIST, part, PLACE(field), value, least, most, NULL, help, NULL, NULL}

/* The things that depend on the setting of a row (enum setting_part), and the values of another
 * setting without which it has no effect. */
#define NOTHING            0, NULL
#define LINKS(part)        SETTING_OF_##part, "ingest.task=link_prediction"
#define LABELLED(part)     SETTING_OF_##part, "ingest.task=edge_classification,edge_regression"
#define GRAPHS(part)       SETTING_OF_##part, "ingest.task=graph_classification,graph_regression"
#define PAIRS(part)        SETTING_OF_##part, \
    "ingest.task=link_prediction,edge_classification,edge_regression"
#define EVERYTHING         SETTING_OF_DATASET | SETTING_OF_PARTITION | SETTING_OF_TRAINING, NULL
#define DATASET            SETTING_OF_DATASET, NULL
#define DATASET_IF(when)   SETTING_OF_DATASET, when
#define DATASET_BY_FORMAT  SETTING_OF_DATASET | SETTING_OF_FORMAT, NULL
#define PARTITION          SETTING_OF_PARTITION, NULL
#define PARTITION_IF(when) SETTING_OF_PARTITION, when
#define STREAMED           "partition.method=ldg,fennel,label_propagation,spectral,random_walk," \
    "two_phase_hdrf,auto"
#define TRAINING           SETTING_OF_TRAINING, NULL
#define TRAINING_IF(when)  SETTING_OF_TRAINING, when
#define PLAIN_MODEL        SETTING_OF_TRAINING, "train-step.layers=[]"
#define TARGET             SETTING_OF_TARGET, NULL
#define OUTPUTS            SETTING_OF_OUTPUTS, NULL
#define OUTPUTS_OF_LINKS   SETTING_OF_OUTPUTS, "ingest.task=link_prediction"
#define OUTPUTS_IF(when)   SETTING_OF_OUTPUTS, when
#define OPERATION          SETTING_OF_OPERATION, NULL

/* An item of train-step.layers. */
#define ITEM_PLACE(field) \
    offsetof(struct layer_config, field), sizeof(((struct layer_config *)0)->field)
#define INT_OPTION(name, kinds, value, least, most, help) \
    {#name, SETTING_INT, 0, "kind=" kinds, ITEM_PLACE(option.name), value, least, most, NULL, \
        help, NULL, NULL},
#define REAL_OPTION(name, kinds, value, least, most, help) \
    {#name, SETTING_DOUBLE, 0, "kind=" kinds, ITEM_PLACE(option.name), value, least, most, NULL, \
        help, NULL, NULL},
#define FLAG_OPTION(name, kinds, value, help) \
    {#name, SETTING_BOOL, 0, "kind=" kinds, ITEM_PLACE(option.name), value, 0, 0, NULL, help, \
        NULL, NULL},
#define CHOICE_OPTION(name, kinds, value, names, help) \
    {#name, SETTING_CHOICE, 0, "kind=" kinds, ITEM_PLACE(option.name), value, 0, 0, names, help, \
        NULL, NULL},
static const struct setting_spec layer_rows[] = {
    {"kind", SETTING_CHOICE, NOTHING, ITEM_PLACE(kind), NULL, 0, 0, layer_names,
        "as train-step.model", NULL, NULL},
    {"hidden", SETTING_INT, NOTHING, ITEM_PLACE(output_dim), "0", 0, 65536, NULL,
        "width of the layer; 0: train-step.hidden; the last layer has the classes", NULL, NULL},
    LAYER_OPTION_LIST(INT_OPTION, REAL_OPTION, FLAG_OPTION, CHOICE_OPTION)
    {"residual", SETTING_BOOL, NOTHING, ITEM_PLACE(residual), "false", 0, 0, NULL,
        "as train-step.residual", NULL, NULL},
    {"norm", SETTING_CHOICE, NOTHING, ITEM_PLACE(norm), "none", 0, 0, norm_names,
        "as train-step.norm", NULL, NULL},
    {"activation", SETTING_CHOICE, NOTHING, ITEM_PLACE(activation), "auto", 0, 0,
        item_activation_names,
        "auto (relu; none after the last layer and after kinds without tensors), relu, elu, "
        "leaky_relu or none", NULL, NULL},
    {"dropout", SETTING_DOUBLE, NOTHING, ITEM_PLACE(dropout), "0", 0, 0.999, NULL,
        "as train-step.dropout", NULL, NULL},
    {.name = NULL},
};
#undef INT_OPTION
#undef REAL_OPTION
#undef FLAG_OPTION
#undef CHOICE_OPTION
static const struct setting_items layer_items = {
    layer_rows,
    offsetof(struct pipeline_settings, train_step.layers.item) -
        offsetof(struct pipeline_settings, train_step.layers),
    sizeof(struct layer_config)};

/*
 * Rules for changing this table. Ids of datasets, partitions and runs are hashes of the settings
 * that the thing depends on, that have an effect, and that differ from their default here. So:
 * - A new setting whose default does what was done before changes no id: existing runs go on.
 * - A default never changes, and no choice changes its meaning: that would give an old id to other
 *   bits. A new behaviour gets a setting or choice of another name; or IDENTITY_VERSION
 *   (stages/plan/model/identity_digits.h) is raised, and everything is made again.
 * - infer.history and train-step.inner are exceptions: their defaults are not what was done before.
 *   For ids their former values, training and relu, count as the defaults
 *   (pipeline_settings_text.c).
 * - A setting that changes no bit is OPERATION; a setting that only later stages read belongs to
 *   those.
 * An id does not depend on the text or the place of a PATH, but on the content at that place.
 */
const struct setting_spec setting_table[] = {
    TEXT(NOTHING, "name", name, "", "the name of the run and its records: [A-Za-z0-9._-]"),
    INT(EVERYTHING, "seed", seed, "1", 0, 9.0e15, "the key of every random draw"),
    INT(TARGET, "epochs", epochs, "10", 1, 1e9, "passes over the training nodes"),
    BOOL(TRAINING, "portable", portable, "false",
        "pin a BLAS core type that every AVX2 machine has, so that unlike machines may share a "
        "run"),

    CHOICE_OF(DATASET, "ingest.format", ingest.format, "folder", dataset_format_names,
        dataset_format_texts, "the format of the input"),
    PATHS(DATASET, "ingest.path", ingest.path,
        "the folder or file to read, relative to the pipeline file; edge_list: also a pattern "
        "(calls-*.csv) or a list of files"),
    PATHS(DATASET_BY_FORMAT, "ingest.labels", ingest.labels,
        "edge_list: a file (or several, like path) with a line `id,class` for each node, or "
        "`id,0,1,...` for several labels"),
    CHOICE_OR_PATH(DATASET, "ingest.features", ingest.features, "auto", feature_names,
        "auto (given, or degree+random if there are none), given, degree, random, degree+random, "
        "or none (the model reads only learnt rows, train-step.embedding); edge_list: also a file "
        "with a line `id,x1,x2,...` for each node, or a .npy file"),
    PATH(DATASET_BY_FORMAT, "ingest.feature_ids", ingest.feature_ids,
        "edge_list: a file with one id a line; row i of the .npy file of features belongs to the "
        "id on line i"),
    PATH(DATASET_BY_FORMAT, "ingest.train", ingest.split_file[0],
        "edge_list: a file with the ids of the training nodes, one a line"),
    PATH(DATASET_BY_FORMAT, "ingest.valid", ingest.split_file[1],
        "edge_list: a file with the ids of the validation nodes, one a line"),
    PATH(DATASET_BY_FORMAT, "ingest.test", ingest.split_file[2],
        "edge_list: a file with the ids of the test nodes, one a line"),
    TEXT(DATASET, "ingest.split", ingest.split, "given",
        "given (by the input); random 60/20/20 (percent of the labelled nodes for "
        "train/valid/test, drawn by the seed); stratified 60/20/20 (the same percent of each "
        "class); hash 60/20/20 (by a hash of the id, so that a node keeps its split); time "
        "60/20/20 (by time_column); column NAME (a column of the labels with train, valid, test); "
        "masks TRAIN; VALID; TEST (three columns of the labels with true or false)"),
    TEXT(DATASET_BY_FORMAT, "ingest.split_name", ingest.split_name, "",
        "which of several splits of the input: ogb: the folder below split/; npz: the row of the "
        "masks (0, 1, ...); graphbolt: the name of a task; empty: the only one, or the first"),
    TEXT(DATASET_BY_FORMAT, "ingest.id_column", ingest.id_column, "",
        "tables of nodes: the name of the column of ids in the header; empty: the first column"),
    TEXT(DATASET_BY_FORMAT, "ingest.label_columns", ingest.label_columns, "",
        "labels: the name of the column of classes in the header, or the names of several label "
        "columns with `;` between them; empty: all columns after the id; graphml: the keys of "
        "nodes that have the labels"),
    TEXT(DATASET_BY_FORMAT, "ingest.time_column", ingest.time_column, "",
        "labels: the column of numbers by which `split: time` orders the nodes"),
    TEXT(DATASET, "ingest.time_format", ingest.time_format, "auto",
        "how times of edges and of time_column are written: auto (64-bit integers as they are, or "
        "dates of ISO 8601, which become nanoseconds since 1970), number, number*1000 (times a "
        "power of ten, then rounded), unix (seconds since 1970), iso, or a pattern like `%d.%m.%Y "
        "%H:%M`; after one of the last three ` in seconds`, milliseconds or microseconds sets the "
        "unit"),
    TEXT(DATASET_BY_FORMAT, "ingest.feature_columns", ingest.feature_columns, "",
        "features: columns by name, with how each is encoded: `age: standardise; income: log mean; "
        "city: one_hot; year: buckets 1990 2000`: a kind (number, log, standardise, one_hot, "
        "buckets) and a rule for missing values (refuse, zero, mean, indicator); empty: all "
        "columns that no other setting names, as numbers; graphml: names of keys of nodes"),
    CHOICE(DATASET_BY_FORMAT, "ingest.missing_values", ingest.missing_values, "refuse",
        missing_value_names,
        "features: how a missing value counts if its column has no rule: refuse, zero, mean (of "
        "the column), or indicator (0, with one more column that marks it)"),
    WORDS(DATASET_BY_FORMAT, "ingest.missing_words", ingest.missing_words,
        "tables of nodes: the words that mean a missing value, as an empty cell does, such as [NA, "
        "unknown]; other words are values"),
    PATH(DATASET_BY_FORMAT, "ingest.column_encoding", ingest.column_encoding,
        "a file that says how words of classes and columns of features are encoded, instead of "
        "what this table shows (graphmill infer writes it)"),
    TEXT(DATASET_BY_FORMAT, "ingest.edge_columns", ingest.edge_columns, "",
        "edge_list: the roles of columns by their names in the header, `source: from; target: to; "
        "weight: amount; time: day`; other columns are left out"),
    CHOICE_OF(DATASET, "ingest.weight_scale", ingest.weight_scale, "as_given", weight_scale_names,
        weight_scale_texts, "how the weight of an edge is scaled"),
    CHOICE(DATASET_BY_FORMAT, "ingest.id_type", ingest.id_type, "auto", id_type_names,
        "edge_list: the type of node ids"),
    CHOICE(DATASET_BY_FORMAT, "ingest.edge_features", ingest.edge_features, "auto",
        edge_feature_names,
        "edge_list: auto (each column of numbers without another role), named (columns that a "
        "header calls feat, feat_0, ...) or none"),
    BOOL(DATASET, "ingest.relations", ingest.relations, "false",
        "keep node types and relations apart: those of node-types.csv and edge-types.csv; each "
        "type has its own features"),
    BOOL(DATASET_IF("ingest.relations=true"), "ingest.add_reverse", ingest.add_reverse, "false",
        "relations: add for each relation a relation rev_<name> with the reversed edges"),
    CHOICE(DATASET_IF("ingest.relations=true"), "ingest.missing_features", ingest.missing_features,
        "none", missing_names,
        "relations: the features of a type without any: none, degree, random or degree+random"),
    TEXT(DATASET_IF("ingest.relations=true"), "ingest.target_type", ingest.target_type, "",
        "relations: the node type of labels and splits; empty: the type whose nodes have them"),
    CHOICE(DATASET, "ingest.direction", ingest.direction, "auto", direction_names,
        "auto (as the data says), as_given, undirected (both directions), reversed"),
    CHOICE(DATASET, "ingest.self_loops", ingest.self_loops, "keep", policy_names,
        "keep, remove or refuse edges from a node to itself"),
    CHOICE(DATASET, "ingest.duplicates", ingest.duplicates, "remove", policy_names,
        "keep, remove or refuse repeated edges"),
    INT(DATASET_IF("ingest.features=auto,random,degree+random"), "ingest.random_dim",
        ingest.random_dim, "64", 1, 65536, "columns of random features"),
    BOOL(DATASET, "ingest.normalise_rows", ingest.normalise_rows, "false",
        "like PyG's NormalizeFeatures: subtract the smallest feature of all, then divide each row "
        "by its sum, or by 1 if the sum is below 1"),
    BOOL(DATASET, "ingest.standardise", ingest.standardise, "false",
        "give each feature column mean 0 and variance 1"),
    TEXT(DATASET, "ingest.sparse_columns", ingest.sparse_columns, "",
        "folder: the number of columns of sparse features whose last columns are 0 in all rows "
        "(1902), or by node type as in `paper: 1902; author: 334`; empty: num_features of "
        "meta.json, or as many as the entries reach (graphmill infer sets it)"),
    PATH(DATASET, "ingest.feature_statistics", ingest.feature_statistics,
        "the numbers by which normalise_rows and standardise scale, instead of this graph's own: a "
        "file with the lines `least,X`, `mean,deviation`, and a mean and deviation for each "
        "column; in a graph with relations after `type,NAME` (graphmill infer writes it)"),
    PATH(DATASET, "ingest.node_times", ingest.node_times,
        "when nodes appear: a file with a line `id,time` for each node, in the unit of the edge "
        "times; a sampler by time sees no node before its time, and always a node without a line"),
    CHOICE_OF(DATASET, "ingest.task", ingest.task, "auto", task_names, task_texts,
        "the task to learn"),
    TEXT(LABELLED(DATASET), "ingest.edge_label", ingest.edge_label, "label",
        "labelled edges: the name of the column of labels in the header of the edges; weight: the "
        "weights are also the labels"),
    CHOICE(LABELLED(DATASET), "ingest.edge_label_form", ingest.edge_label_form, "as_given",
        edge_label_form_names,
        "labelled edges: as_given, or sign (class 1 above 0, class 0 below)"),
    TEXT(PAIRS(DATASET), "ingest.edge_split", ingest.edge_split, "random 85/5/10",
        "tasks of edges: which edges are held out for validation and test: random 85/5/10 (percent "
        "for train/valid/test, drawn by the seed), time 80/10/10 (the last ones), leave_one_out "
        "(the last two of each node) or given (by files, or by a set of OGB itself)"),
    CHOICE(PAIRS(DATASET), "ingest.hold_out_reverse", ingest.hold_out_reverse, "auto",
        hold_out_reverse_names,
        "tasks of edges on a directed graph, edge_split random or leave_one_out: whether an edge "
        "and its reverse are held out together: auto (if most edges have a reverse), always or "
        "never"),
    PATH(PAIRS(DATASET), "ingest.valid_edges", ingest.edge_file[1],
        "edge_split given: a file with a line `source,target` for each validation edge; for link "
        "prediction the input does not contain these edges, for labelled edges it does"),
    PATH(PAIRS(DATASET), "ingest.test_edges", ingest.edge_file[2],
        "edge_split given: a file with a line `source,target` for each test edge, like "
        "ingest.valid_edges"),
    PATH(LINKS(DATASET), "ingest.train_negatives", ingest.negative_file[0],
        "link prediction: a file with a line `source,target,node,node,...` for training edges: "
        "each node makes a negative with the edge (sample.negative: given)"),
    PATH(LINKS(DATASET), "ingest.valid_negatives", ingest.negative_file[1],
        "link prediction: a file with a line `source,target,node,node,...` for each validation "
        "edge, whose end is ranked among these nodes (infer.ranking: given)"),
    PATH(LINKS(DATASET), "ingest.test_negatives", ingest.negative_file[2],
        "link prediction: a file with a line `source,target,node,node,...` for each test edge, "
        "like ingest.valid_negatives"),
    INT(DATASET, "ingest.class_count", ingest.class_count, "0", 0, 1048575,
        "with a task: the number of classes, labels or numbers that the model has outputs for, so "
        "that a graph without labels or training nodes can be used; 0: as many as the labels have"),
    INT(DATASET_BY_FORMAT, "ingest.nodes", ingest.nodes, "10000", 100, 1e8, "generated: nodes"),
    DOUBLE(DATASET_BY_FORMAT, "ingest.average_degree", ingest.average_degree, "10", 1, 1000,
        "generated: mean degree, both directions counted"),
    DOUBLE(DATASET_BY_FORMAT, "ingest.degree_exponent", ingest.degree_exponent, "2.5", 2.05, 10,
        "generated: exponent of the power law of degrees"),
    INT(DATASET_BY_FORMAT, "ingest.classes", ingest.classes, "10", 2, 10000,
        "generated: communities, each of which is a class"),
    DOUBLE(DATASET_BY_FORMAT, "ingest.homophily", ingest.homophily, "0.8", 0, 1,
        "generated: share of edges inside a community"),
    INT(DATASET_BY_FORMAT, "ingest.feature_dim", ingest.feature_dim, "32", 1, 65536,
        "generated: feature columns"),
    DOUBLE(DATASET_BY_FORMAT, "ingest.feature_noise", ingest.feature_noise, "2", 0, 1000,
        "generated: standard deviation of the noise that is added to the centre of a class"),
    DOUBLE(DATASET_BY_FORMAT, "ingest.label_noise", ingest.label_noise, "0.05", 0, 1,
        "generated: share of labels drawn at random"),
    DOUBLE(DATASET_BY_FORMAT, "ingest.train_share", ingest.train_share, "0.3", 0, 1,
        "generated: share of training nodes"),
    DOUBLE(DATASET_BY_FORMAT, "ingest.valid_share", ingest.valid_share, "0.2", 0, 1,
        "generated: share of validation nodes; the rest is the test split"),
    DOUBLE(OPERATION, "ingest.retrain_touched", ingest.retrain_touched, "0", 0, 1,
        "an updated graph asks for training when the neighbourhoods of this share of the training "
        "nodes have changed; 0: never"),
    DOUBLE(OPERATION, "ingest.retrain_degree_drift", ingest.retrain_degree_drift, "0", 0, 1,
        "an updated graph asks for training when the Kolmogorov-Smirnov distance of the in-degrees "
        "reaches this value; 0: never"),
    DOUBLE(OPERATION, "ingest.retrain_feature_drift", ingest.retrain_feature_drift, "0", 0, 1e6,
        "an updated graph asks for training when the mean of a feature column has shifted by so "
        "many standard deviations; 0: never"),
    DOUBLE(OPERATION, "ingest.retrain_valid_drop", ingest.retrain_valid_drop, "0", 0, 1e6,
        "an updated graph asks for training when checkpoint.metric of the present model is so much "
        "worse on the validation split; 0: never, and the model is not evaluated"),

    CHOICE_OF(PARTITION, "partition.method", partition.method, "metis", method_names, method_texts,
        "how the graph is cut into parts"),
    INT(PARTITION, "partition.parts", partition.parts, "1", 1, 65535,
        "number of parts; it may be much larger than the number of workers"),
    PATH(PARTITION_IF("partition.method=file"), "partition.assignment", partition.assignment,
        "method file: a text file; line i has the part of node i"),
    PATH(PARTITION_IF("partition.method=metis,ldg,fennel,auto"), "partition.loads", partition.loads,
        "a table of what a run read (graphmill export RUN --what loads): edges then cost as often "
        "as they were sampled, instead of all the same"),
    BOOL(PARTITION_IF("partition.method=metis,range,ldg,fennel,label_propagation,spectral,"
            "random_walk,dbh,hdrf,two_phase,two_phase_hdrf,auto"),
        "partition.balance_train", partition.balance_train, "true",
        "balance training nodes between parts"),
    BOOL(PARTITION_IF("partition.method=metis,ldg,fennel,label_propagation,spectral,random_walk,"
            "two_phase_hdrf,auto"),
        "partition.balance_edges", partition.balance_edges, "true",
        "balance edges between parts, or with partition.loads the measured loads"),
    INT(PARTITION_IF(STREAMED), "partition.passes", partition.passes, "10", 1, 1000,
        "the most passes of a stream over the nodes; 1: the plain streams of the papers; spectral, "
        "random_walk, two_phase_hdrf: passes of the streams that they contain"),
    CHOICE(PARTITION_IF(STREAMED), "partition.order", partition.order, "natural", order_names,
        "order of the nodes of a block of edges in a stream: natural (of the input), random, "
        "degree (falling)"),
    CHOICE(PARTITION, "partition.feature_type", partition.feature_type, "f32", feature_type_names,
        "the type in which features are stored: f32; f16 (11 significant bits, up to 65504) or "
        "bf16 (8 bits, any size) in half the bytes"),
    CHOICE(PARTITION, "partition.update", partition.update, "place", update_names,
        "a dataset that was updated: place (nodes stay in the parts of the version before, new "
        "nodes go to their neighbours) or anew (partition.method assigns all nodes)"),
    DOUBLE(PARTITION_IF("partition.update=place"), "partition.drift", partition.drift, "1.2", 1,
        1000,
        "update place: nodes are moved when the share of cut edges is so many times that of the "
        "last partition of all nodes; if that does not suffice, all are partitioned again"),
    DOUBLE(PARTITION, "partition.compact", partition.compact, "0.2", 0, 1,
        "the dataset of a version, and with update place its parts, are written as a delta over "
        "the last ones that were written whole, if the delta has at most this share of their "
        "bytes; 0: always whole"),

    CHOICE_OF(TRAINING, "sample.sampler", sample.sampler, SAMPLER_DEFAULT_NAME, sampler_names,
        sampler_texts, "how mini-batches are drawn"),
    INT_LIST(TRAINING, "sample.fanouts", sample.fanouts, "10,10", -1, 1e6,
        "neighbours kept at each hop, from the seed nodes outwards; -1: all. There are as many "
        "numbers as layers. Samplers of layers: nodes drawn for each layer; samplers of subgraphs: "
        "only their number counts, as the number of layers"),
    TEXT(TRAINING_IF("ingest.relations=true"), "sample.relation_fanouts", sample.relation_fanouts,
        "", "fan-outs of relations that differ: `cites: 15,10; writes: 5,5`"),
    INT(TRAINING, "sample.batch_size", sample.batch_size, "1024", 1, 1e8,
        "seed nodes of a mini-batch; for samplers that draw nodes or edges of the whole graph: how "
        "many they draw"),
    INT(TRAINING, "sample.batches_per_round", sample.batches_per_round, "1", 1, 65535,
        "slots: mini-batches for one optimizer step"),
    INT(OPERATION, "sample.run_ahead", sample.run_ahead, "4", 1, 1e6,
        "rounds by which sampling may be ahead of training"),
    INT(TRAINING, "sample.reuse_epochs", sample.reuse_epochs, "1", 1, 1e9,
        "epochs that use the mini-batches of one stored sampling pass"),
    INT_LIST(TRAINING, "sample.evaluation_fanouts", sample.evaluation_fanouts, "", -1, 1e6,
        "fan-outs of validation; empty: all neighbours"),
    INT(TRAINING, "sample.evaluation_batch_size", sample.evaluation_batch_size, "4096", 1, 1e8,
        "validation nodes of a mini-batch"),
#define INT_OPTION(name, samplers, value, least, most, help) \
    INT(TRAINING_IF("sample.sampler=" samplers), "sample." #name, sample.option.name, value, \
        least, most, help),
#define CHOICE_OPTION(name, samplers, value, names, help) \
    CHOICE(TRAINING_IF("sample.sampler=" samplers), "sample." #name, sample.option.name, value, \
        names, help),
#define WORDS_OPTION(name, samplers, size, help) \
    WORDS(TRAINING_IF("sample.sampler=" samplers), "sample." #name, sample.option.name, help),
    SAMPLER_OPTION_LIST(INT_OPTION, CHOICE_OPTION, WORDS_OPTION)
#undef INT_OPTION
#undef CHOICE_OPTION
#undef WORDS_OPTION

    CHOICE(LABELLED(TRAINING), "sample.exclude_edges", sample.exclude_edges, "reverses",
        excluded_edges_names,
        "labelled edges: which edges the neighbourhoods of a mini-batch leave out: none, its own "
        "edges, or these and their reverses"),
    INT(LINKS(TRAINING), "sample.negatives", sample.negatives, "1", 1, 10000,
        "link prediction: negatives for each edge"),
    CHOICE_OF(LINKS(TRAINING), "sample.negative", sample.negative, "uniform", negative_names,
        negative_texts, "link prediction: how the other end of a negative is chosen"),
    CHOICE(LINKS(TRAINING), "sample.pairs", sample.pairs, "edges", pair_names,
        "link prediction: which nodes the model learns to bring near: the ends of edges, or nodes "
        "on a random walk (unsupervised GraphSAGE)"),
    INT(TRAINING_IF("sample.pairs=walks"), "sample.pair_walk_length", sample.pair_walk_length, "5",
        1, 1000, "walks: number of steps; a pair is the start and the node of one of the steps"),
    DOUBLE(TRAINING_IF("sample.pairs=walks"), "sample.walk_p", sample.walk_p, "1", 1e-6, 1e6,
        "walks: node2vec's p; above 1 for fewer steps back"),
    DOUBLE(TRAINING_IF("sample.pairs=walks"), "sample.walk_q", sample.walk_q, "1", 1e-6, 1e6,
        "walks: node2vec's q; above 1 for walks that stay near"),
    CHOICE_OF(LINKS(TRAINING), "sample.corrupt", sample.corrupt, "target", corrupt_names,
        corrupt_texts, "link prediction: which end of an edge a negative replaces"),
    BOOL(LINKS(TRAINING), "sample.filter_negatives", sample.filter_negatives, "false",
        "link prediction: draw again if a negative is a training edge (uniform and degree)"),
    INT(LINKS(TRAINING), "sample.evaluation_negatives", sample.evaluation_negatives, "1", 1, 10000,
        "link prediction: negatives for each edge of validation and test: drawn uniformly, and no "
        "edge of any split"),

    ITEMS(TRAINING, "train-step.layers", train_step.layers, LAYER_COUNT_MAX, &layer_items,
        "a list of maps with the layers one by one, instead of model and the settings below it up "
        "to dropout"),
    CHOICE_OF(PLAIN_MODEL, "train-step.model", train_step.layer.kind, "sage", layer_names,
        layer_texts, "the kind of the layers"),
    INT(TRAINING, "train-step.hidden", train_step.layer.output_dim, "64", 1, 65536,
        "width of the hidden layers"),
#define INT_OPTION(name, kinds, value, least, most, help) \
    INT(TRAINING_IF("train-step.model=" kinds), "train-step." #name, train_step.layer.option.name, \
        value, least, most, help),
#define CHOICE_OPTION(name, kinds, value, names, help) \
    CHOICE(TRAINING_IF("train-step.model=" kinds), "train-step." #name, \
        train_step.layer.option.name, value, names, help),
#define REAL_OPTION(name, kinds, value, least, most, help) \
    DOUBLE(TRAINING_IF("train-step.model=" kinds), "train-step." #name, \
        train_step.layer.option.name, value, least, most, help),
#define FLAG_OPTION(name, kinds, value, help) \
    BOOL(TRAINING_IF("train-step.model=" kinds), "train-step." #name, \
        train_step.layer.option.name, value, help),
    LAYER_OPTION_LIST(INT_OPTION, REAL_OPTION, FLAG_OPTION, CHOICE_OPTION)
#undef INT_OPTION
#undef REAL_OPTION
#undef FLAG_OPTION
#undef CHOICE_OPTION
    CHOICE(PLAIN_MODEL, "train-step.norm", train_step.layer.norm, "none", norm_names,
        "the norm after each hidden layer: none, batch (statistics of the mini-batch in training, "
        "running ones otherwise) or layer (of each row)"),
    BOOL(PLAIN_MODEL, "train-step.residual", train_step.layer.residual, "false",
        "add the input of its nodes to each hidden layer, before the norm; through a matrix if the "
        "widths differ"),
    CHOICE(PLAIN_MODEL, "train-step.activation", train_step.layer.activation, "relu",
        activation_names, "the activation after the norm: relu, elu, leaky_relu or none"),
    CHOICE(TRAINING, "train-step.jumping_knowledge", train_step.jumping_knowledge, "none",
        jumping_knowledge_names,
        "none, or one more layer: a matrix over the outputs of all layers: cat (side by side), max "
        "(the largest), last (of the last layer)"),
    DOUBLE(PLAIN_MODEL, "train-step.dropout", train_step.layer.dropout, "0.5", 0, 0.999,
        "share of hidden activations that training drops"),
    CHOICE(TRAINING_IF("ingest.relations=true"), "train-step.projection", train_step.projection,
        "linear", type_projection_names,
        "relations: how the features of each node type are projected before the first layer: "
        "linear (a matrix and a bias of the type, to train-step.hidden columns), relu (the same, "
        "then ReLU) or none"),
    CHOICE(TRAINING_IF("ingest.relations=true"), "train-step.relation_aggr",
        train_step.relation_aggr, "sum", relation_aggr_names,
        "relations: how the outputs of the relations of a node type become one row: their sum, "
        "mean or max (gat has no max; rgcn, hgt and rgat have rules of their own)"),
    INT(TRAINING, "train-step.embedding", train_step.embedding, "0", 0, 65536,
        "columns of a row of numbers that is learnt for each node and read beside its features; 0: "
        "none"),
    TEXT(TRAINING_IF("ingest.relations=true"), "train-step.type_embedding",
        train_step.type_embedding, "",
        "relations: columns of the learnt rows of some node types, as in `author: 64; paper: 32`, "
        "also beside features; 0: none"),
    BOOL(TRAINING, "train-step.features", train_step.features, "true",
        "whether the model reads the features of nodes; false: only train-step.embedding"),
    CHOICE(TRAINING, "train-step.precision", train_step.precision, "fp32", precision_names,
        "fp32, or bf16: the operands of products are rounded, sums and weights stay in fp32; needs "
        "a processor with avx512_bf16"),
    CHOICE_OF(TRAINING, "train-step.gradient", train_step.gradient, "f32", gradient_names,
        gradient_texts, "how the gradient of a mini-batch is stored"),
    DOUBLE(TRAINING_IF("train-step.gradient=top_k"), "train-step.gradient_kept",
        train_step.gradient_kept, "0.01", 0.0001, 1,
        "top_k: the share of its numbers that a gradient keeps"),
    CHOICE(TRAINING, "train-step.pipeline", train_step.pipeline, "whole", pipeline_names,
        "how the step of a mini-batch is cut into units: whole, or layers (a unit for each layer "
        "forward and backward, which any worker may do: model parallelism); it changes no bit of "
        "the weights"),
    CHOICE(TRAINING, "train-step.edge_weights", train_step.edge_weights, "auto", edge_choice_names,
        "whether the model reads the weights of edges: auto (if the graph has weights and a layer "
        "reads them), true or false"),
    CHOICE(TRAINING, "train-step.edge_features", train_step.edge_features, "auto",
        edge_choice_names,
        "whether the model reads the features of edges: auto (if the graph has features of edges "
        "and a layer reads them), true or false"),
    CHOICE_OF(TRAINING, "train-step.loss", train_step.loss, "auto", loss_names, loss_texts,
        "the loss that training minimises"),
    DOUBLE(TRAINING_IF("train-step.loss=huber"), "train-step.huber_delta", train_step.huber_delta,
        "1", 1e-6, 1e6, "huber: the error from which on the loss is linear"),
    DOUBLE(TRAINING, "train-step.label_smoothing", train_step.label_smoothing, "0", 0, 1,
        "single_label: share of each label that is spread evenly over all classes"),
    CHOICE_OR_NUMBERS(TRAINING, "train-step.class_weights", train_step.class_weights, "none",
        class_weight_names, 0, 1e9,
        "the weights of classes in the loss: none, balanced (by the number of training nodes of "
        "each class), or a number for each class; multi_label: the weight of a label that is "
        "present"),
    CHOICE_OF(PAIRS(TRAINING), "train-step.decoder", train_step.decoder, "dot", decoder_names,
        decoder_texts,
        "tasks of edges: how the score of a pair is computed from the rows of its ends"),
    CHOICE_OF(LINKS(TRAINING), "train-step.link_loss", train_step.link_loss, "bce", link_loss_names,
        link_loss_texts, "link prediction: the loss that training minimises"),
    CHOICE_OF(GRAPHS(TRAINING), "train-step.readout", train_step.readout, "mean", readout_names,
        readout_texts, "tasks of graphs: how the rows of a graph's nodes become one row"),
    DOUBLE(TRAINING_IF("train-step.link_loss=margin"), "train-step.link_margin",
        train_step.link_margin, "1", 0, 1e6,
        "margin: by how much an edge should score above its negatives"),
    TEXT(TRAINING, "train-step.initial", train_step.initial, "",
        "the weights that training begins with: the folder of a run that has ended, the id of one "
        "in this folder, or a model.safetensors of either; empty: drawn by the seed"),

    CHOICE(TRAINING, "aggregate.optimizer", aggregate.optimizer, "adam", optimizer_names,
        "adam, adamw or sgd"),
    DOUBLE(TRAINING, "aggregate.learning_rate", aggregate.learning_rate, "0.01", 0, 1000,
        "learning rate"),
    DOUBLE(TRAINING_IF("aggregate.optimizer=sgd"), "aggregate.momentum", aggregate.momentum, "0", 0,
        1, "sgd: momentum"),
    DOUBLE(TRAINING_IF("aggregate.optimizer=adam,adamw"), "aggregate.beta1", aggregate.beta1, "0.9",
        0, 1, "adam: decay of the first moment"),
    DOUBLE(TRAINING_IF("aggregate.optimizer=adam,adamw"), "aggregate.beta2", aggregate.beta2,
        "0.999", 0, 1, "adam: decay of the second moment"),
    DOUBLE(TRAINING_IF("aggregate.optimizer=adam,adamw"), "aggregate.epsilon", aggregate.epsilon,
        "1e-8", 0, 1, "adam: added to the root of the second moment"),
    DOUBLE(TRAINING, "aggregate.weight_decay", aggregate.weight_decay, "0", 0, 100,
        "L2 term (adam, sgd) or decoupled decay (adamw)"),
    DOUBLE(TRAINING, "aggregate.clip_norm", aggregate.clip_norm, "0", 0, 1e30,
        "largest norm of a round's gradient; 0: no limit"),
    INT(TRAINING, "aggregate.ranges", aggregate.ranges, "1", 1, GRADIENT_RANGES_MAX,
        "ranges of parameters whose gradients as many workers of aggregate add up side by side; it "
        "changes no bit of the weights"),
    INT(TRAINING, "aggregate.fan_in", aggregate.fan_in, "0", 0, 65535,
        "how many gradients are added at once, so that many slots are added up as a tree; 0: all "
        "of a round"),
    INT_OR_MOST(TRAINING, "aggregate.staleness", aggregate.staleness, "0", 0, 1e6,
        "by how many rounds the weights that a round computes with are older than those that it "
        "changes, so that no round waits for the one before; 0: none; up_to N: the newest weights "
        "there are, at most N rounds older; the choice is recorded, and another run may choose "
        "otherwise"),
    CHOICE_OF(TRAINING, "aggregate.compensation", aggregate.compensation, "rate",
        compensation_names, compensation_texts,
        "with staleness: how gradients of older weights are corrected"),
    DOUBLE(TRAINING_IF("aggregate.compensation=rate"), "aggregate.delay_rate", aggregate.delay_rate,
        "1", 0, 1000,
        "rate: delay_rate in the divisor 1 + delay_rate * delay of the learning rate"),
    DOUBLE(TRAINING_IF("aggregate.compensation=gradient"), "aggregate.delay_lambda",
        aggregate.delay_lambda, "0.04", 0, 1000, "gradient: lambda of DC-ASGD"),
    CHOICE(TRAINING, "aggregate.schedule", aggregate.schedule, "constant", schedule_names,
        "learning rate over time: constant, cosine or step"),
    INT(TRAINING_IF("aggregate.schedule=step"), "aggregate.step_epochs", aggregate.step_epochs,
        "30", 1, 1e9, "step: epochs between two reductions"),
    DOUBLE(TRAINING_IF("aggregate.schedule=step"), "aggregate.step_factor", aggregate.step_factor,
        "0.1", 0, 1, "step: the factor of a reduction"),
    DOUBLE(TRAINING_IF("aggregate.schedule=cosine"), "aggregate.final_rate", aggregate.final_rate,
        "0", 0, 1, "cosine: share of the learning rate at the end"),
    CHOICE(TRAINING, "aggregate.embedding_optimizer", aggregate.embedding_optimizer, "adam",
        sparse_rule_names,
        "the optimizer of train-step.embedding: adam, adagrad or sgd; it changes only the rows "
        "that a round read"),
    DOUBLE(TRAINING, "aggregate.embedding_rate", aggregate.embedding_rate, "0.01", 0, 1000,
        "learning rate of train-step.embedding; follows aggregate.schedule"),
    CHOICE_OF(TRAINING, "aggregate.embedding_policy", aggregate.embedding_policy, "nodes",
        embedding_policy_names, embedding_policy_texts,
        "how the rows of train-step.embedding are cut into shards, the units of work; it changes "
        "no row"),
    INT(TRAINING_IF("aggregate.embedding_policy=range,hash"), "aggregate.embedding_shards",
        aggregate.embedding_shards, "8", 1, 65535, "number of shards"),
    TEXT(TRAINING_IF("ingest.relations=true"), "aggregate.type_embedding_rate",
        aggregate.type_embedding_rate, "",
        "relations: aggregate.embedding_rate for some node types, as in `author: 0.05; venue: "
        "0.001`"),
    TEXT(TRAINING_IF("ingest.relations=true"), "aggregate.type_embedding_policy",
        aggregate.type_embedding_policy, "",
        "relations: aggregate.embedding_policy for some node types, as in `author: hash 8; venue: "
        "whole`"),

    INT(TRAINING, "checkpoint.every_epochs", checkpoint.every_epochs, "1", 1, 1e9,
        "epochs between two snapshots; each snapshot is validated"),
    INT(OPERATION, "checkpoint.keep", checkpoint.keep, "2", 0, 1e9,
        "number of snapshots to keep; older round records are pruned; 0: keep everything"),
    CHOICE_OF(TRAINING, "checkpoint.metric", checkpoint.metric, "accuracy", metric_names,
        metric_texts, "the validation metric that decides which weights are best"),
    INT(TARGET, "checkpoint.patience", checkpoint.patience, "0", 0, 1e9,
        "stop after so many snapshots without a better metric; 0: never"),

    CHOICE(OUTPUTS, "infer.weights", infer.weights, "best", weights_names,
        "best (validation) or last"),
    BOOL(OUTPUTS, "infer.embeddings", infer.embeddings, "true", "write embeddings.npy"),
    TEXT(TRAINING, "infer.model", infer.model, "",
        "written by graphmill infer: version, hash and run of the weights of a run of inference "
        "alone"),
    TEXT(TRAINING, "infer.nodes", infer.nodes, "",
        "written by graphmill infer --nodes: number and hash of the wanted nodes; empty: all"),
    BOOL(OUTPUTS, "infer.predictions", infer.predictions, "true", "write predictions.csv"),
    CHOICE_OF(PAIRS(DATASET), "infer.history", infer.history, "all", history_names, history_texts,
        "a sampler by time with edge_split time: the events that messages pass along when an event "
        "of validation or test is scored"),
    CHOICE(OUTPUTS_OF_LINKS, "infer.ranking", infer.ranking, "sampled", ranking_names,
        "link prediction: among which nodes the end of a test edge is ranked: none, sampled "
        "(infer.candidates), all, or given (ingest.valid_negatives, ingest.test_negatives)"),
    INT(OUTPUTS_IF("infer.ranking=sampled"), "infer.candidates", infer.candidates, "1000", 1, 1e6,
        "sampled: number of candidates drawn for each edge"),
    CHOICE(OUTPUTS_OF_LINKS, "infer.ranked_end", infer.ranked_end, "target", ranked_names,
        "link prediction: which end of a test edge is ranked: target, source, or both (each by "
        "itself)"),
    BOOL(OUTPUTS_OF_LINKS, "infer.filtered", infer.filtered, "true",
        "link prediction: leave out candidates that make another known edge"),
    {.name = NULL},
};
/* clang-format on */
_Static_assert(sizeof setting_table / sizeof *setting_table <= SETTING_COUNT_MAX, "see its users");

const struct setting_spec *setting_find(const char *name)
{
    return setting_row(setting_table, name);
}

bool setting_matters(const struct setting_spec *spec, const struct pipeline_settings *settings)
{
    return (!(spec->part_of & SETTING_OF_FORMAT) ||
            dataset_format_reads(dataset_format_of(settings), spec->name)) &&
           setting_has_effect(setting_table, spec, settings);
}
