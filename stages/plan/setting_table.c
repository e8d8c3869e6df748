#include "stages/plan/setting_table.h"

#include "common/formats/column_encoding.h"
#include "common/math/precision.h"
#include "common/nn/optimizer.h"
#include "common/nn/sparse_optimizer.h"
#include "stages/plan/dataset_format.h"
#include "stages/plan/embedding_tensors.h"
#include "stages/sampling/negative_list.h"
#include "stages/sampling/sampler_list.h"
#include "stages/sampling/seed_times.h"
#include "store/records/gradient_encoding.h"
#include "store/records/gradient_range.h"

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
                            "weights that g was made from and w those it changes: DC-ASGD (Zheng "
                            "et al. 2017). It was made for SGD",
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
                    "field's protocol has it. Events at the same time do not see each other",
    [HISTORY_TRAINING] = "the events of training alone"};
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
/* Of an item of train-step.layers: 0, then enum activation_kind and one. */
#define ACTIVATION_NAME(constant, name) #name,
/* ACTIVATION_AUTO comes behind the kinds. */
static const char *const item_activation_names[] = {ACTIVATION_LIST(ACTIVATION_NAME) "auto", NULL};

#define LAYER_TEXT(constant, name, help) [LAYER_##constant] = (help),
static const char *const layer_texts[] = {LAYER_LIST(LAYER_TEXT)};

/* clang-format off */
#define PLACE(field) offsetof(struct pipeline_settings, field), sizeof(((struct pipeline_settings *)0)->field)
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
    {name, SETTING_CHOICE_OR_NUMBERS, part, PLACE(field), value, least, most, names, help, NULL, NULL}
#define ITEMS(part, name, field, most, items, help) \
    {name, SETTING_ITEMS, part, PLACE(field), "", 0, most, NULL, help, items, NULL}
#define INT_LIST(part, name, field, value, least, most, help) \
    {name, SETTING_INT_LIST, part, PLACE(field), value, least, most, NULL, help, NULL, NULL}

/* What a row is part of (enum setting_part), and the values of another setting without which it has
 * no effect. */
#define NOTHING            0, NULL
#define LINKS(part)        SETTING_OF_##part, "ingest.task=link_prediction"
#define LABELLED(part)     SETTING_OF_##part, "ingest.task=edge_classification,edge_regression"
#define GRAPHS(part)       SETTING_OF_##part, "ingest.task=graph_classification,graph_regression"
#define PAIRS(part)        SETTING_OF_##part, "ingest.task=link_prediction,edge_classification,edge_regression"
#define EVERYTHING         SETTING_OF_DATASET | SETTING_OF_PARTITION | SETTING_OF_TRAINING, NULL
#define DATASET            SETTING_OF_DATASET, NULL
#define DATASET_IF(when)   SETTING_OF_DATASET, when
#define DATASET_BY_FORMAT  SETTING_OF_DATASET | SETTING_OF_FORMAT, NULL
#define PARTITION          SETTING_OF_PARTITION, NULL
#define PARTITION_IF(when) SETTING_OF_PARTITION, when
#define STREAMED           "partition.method=ldg,fennel,label_propagation,spectral,random_walk,two_phase_hdrf,auto"
#define TRAINING           SETTING_OF_TRAINING, NULL
#define TRAINING_IF(when)  SETTING_OF_TRAINING, when
#define PLAIN_MODEL        SETTING_OF_TRAINING, "train-step.layers=[]"
#define TARGET             SETTING_OF_TARGET, NULL
#define OUTPUTS            SETTING_OF_OUTPUTS, NULL
#define OUTPUTS_OF_LINKS   SETTING_OF_OUTPUTS, "ingest.task=link_prediction"
#define OUTPUTS_IF(when)   SETTING_OF_OUTPUTS, when
#define OPERATION          SETTING_OF_OPERATION, NULL

/* An item of train-step.layers. */
#define ITEM_PLACE(field) offsetof(struct layer_config, field), sizeof(((struct layer_config *)0)->field)
#define INT_OPTION(name, kinds, value, least, most, help) \
    {#name, SETTING_INT, 0, "kind=" kinds, ITEM_PLACE(option.name), value, least, most, NULL, help, NULL, NULL},
#define REAL_OPTION(name, kinds, value, least, most, help) \
    {#name, SETTING_DOUBLE, 0, "kind=" kinds, ITEM_PLACE(option.name), value, least, most, NULL, help, NULL, NULL},
#define FLAG_OPTION(name, kinds, value, help) \
    {#name, SETTING_BOOL, 0, "kind=" kinds, ITEM_PLACE(option.name), value, 0, 0, NULL, help, NULL, NULL},
#define CHOICE_OPTION(name, kinds, value, names, help) \
    {#name, SETTING_CHOICE, 0, "kind=" kinds, ITEM_PLACE(option.name), value, 0, 0, names, help, NULL, NULL},
static const struct setting_spec layer_rows[] = {
    {"kind", SETTING_CHOICE, NOTHING, ITEM_PLACE(kind), NULL, 0, 0, layer_names, "as train-step.model", NULL, NULL},
    {"hidden", SETTING_INT, NOTHING, ITEM_PLACE(output_dim), "0", 0, 65536, NULL, "its width; 0: that of train-step.hidden; the last layer has the classes", NULL, NULL},
    LAYER_OPTION_LIST(INT_OPTION, REAL_OPTION, FLAG_OPTION, CHOICE_OPTION)
    {"residual", SETTING_BOOL, NOTHING, ITEM_PLACE(residual), "false", 0, 0, NULL, "as train-step.residual", NULL, NULL},
    {"norm", SETTING_CHOICE, NOTHING, ITEM_PLACE(norm), "none", 0, 0, norm_names, "as train-step.norm", NULL, NULL},
    {"activation", SETTING_CHOICE, NOTHING, ITEM_PLACE(activation), "auto", 0, 0, item_activation_names, "auto (relu; none behind the last layer and kinds without tensors), relu, elu, leaky_relu or none", NULL, NULL},
    {"dropout", SETTING_DOUBLE, NOTHING, ITEM_PLACE(dropout), "0", 0, 0.999, NULL, "as train-step.dropout", NULL, NULL},
    {.name = NULL},
};
#undef INT_OPTION
#undef REAL_OPTION
#undef FLAG_OPTION
#undef CHOICE_OPTION
static const struct setting_items layer_items = {
    layer_rows, offsetof(struct pipeline_settings, train_step.layers.item) - offsetof(struct pipeline_settings, train_step.layers), sizeof(struct layer_config)};

/*
 * Rules for changing this table. Ids of datasets, partitions and runs are hashes of those settings
 * that the thing is part of, that have an effect, and that differ from their default here. So
 *   - a new setting whose default does what was done before changes no id: existing runs go on;
 *   - a default never changes, and no choice changes its meaning: that would give an old id to other bits.
 *     What should be otherwise gets a setting or choice of another name, or, for all at once, IDENTITY_VERSION
 *     (stages/plan/identity_digits.h) goes up, and everything is made again;
 *     (infer.history is such a setting whose default is not what was done before: for ids its value of before, training,
 *     counts as the default, pipeline_settings_text.c; so is train-step.inner, for which relu counts as the default);
 *   - a setting that changes no bit is OPERATION; one that only later stages see belongs to those.
 * Of a PATH neither the text nor the place counts, but the content of what lies there.
 */
const struct setting_spec setting_table[] = {
    TEXT(NOTHING, "name", name, "", "what the run and its records are called: [A-Za-z0-9._-]"),
    INT(EVERYTHING, "seed", seed, "1", 0, 9.0e15, "key of every random draw"),
    INT(TARGET, "epochs", epochs, "10", 1, 1e9, "passes over the training nodes"),
    BOOL(TRAINING, "portable", portable, "false", "pin a BLAS core type that every AVX2 machine has, so that unlike machines may share a run"),

    CHOICE_OF(DATASET, "ingest.format", ingest.format, "folder", dataset_format_names, dataset_format_texts, "what the input is"),
    PATHS(DATASET, "ingest.path", ingest.path, "the folder or file to read; relative to the pipeline file; edge_list: a pattern (calls-*.csv), or a list of files"),
    PATHS(DATASET_BY_FORMAT, "ingest.labels", ingest.labels, "edge_list: a file (or several, as of path) with a line `id,class` a node, or `id,0,1,...` for several labels"),
    CHOICE_OR_PATH(DATASET, "ingest.features", ingest.features, "auto", feature_names, "auto (given, else degree+random), given, degree, random, degree+random, none (what is learnt of nodes, train-step.embedding, is all that the model reads); edge_list: or a file with a line `id,x1,x2,...` a node, or .npy"),
    PATH(DATASET_BY_FORMAT, "ingest.feature_ids", ingest.feature_ids, "edge_list: a file with an id a line; row i of the .npy of features is that of line i"),
    PATH(DATASET_BY_FORMAT, "ingest.train", ingest.split_file[0], "edge_list: a file with the id of a training node a line"),
    PATH(DATASET_BY_FORMAT, "ingest.valid", ingest.split_file[1], "edge_list: a file with the id of a validation node a line"),
    PATH(DATASET_BY_FORMAT, "ingest.test", ingest.split_file[2], "edge_list: a file with the id of a test node a line"),
    TEXT(DATASET, "ingest.split", ingest.split, "given", "given (by the input), or random 60/20/20: percent of the labelled nodes for train/valid/test, drawn by the seed; stratified 60/20/20: of each class; hash 60/20/20: by the id, so that a node stays where it is; time 60/20/20: by time_column; column NAME: a column of the labels with train, valid, test; masks TRAIN; VALID; TEST: three of them with true or false"),
    TEXT(DATASET_BY_FORMAT, "ingest.split_name", ingest.split_name, "", "which of several splits of the input: of ogb the folder below split/, of npz the row of the masks (0, 1, ...), of graphbolt the name of a task; empty: the only one, or the first"),
    TEXT(DATASET_BY_FORMAT, "ingest.id_column", ingest.id_column, "", "tables of nodes: what the header calls the column of ids; empty: the first"),
    TEXT(DATASET_BY_FORMAT, "ingest.label_columns", ingest.label_columns, "", "labels: what the header calls the column of classes, or of several labels with `;` between; empty: all behind the id; graphml: the keys of nodes that have them"),
    TEXT(DATASET_BY_FORMAT, "ingest.time_column", ingest.time_column, "", "labels: the column of numbers that split: time goes by"),
    TEXT(DATASET, "ingest.time_format", ingest.time_format, "auto", "how times of edges and of time_column are written: auto (64-bit integers as they are, or dates of ISO 8601, which become nanoseconds since 1970), number, number*1000 (times a power of ten, then rounded), unix (seconds since 1970), iso, or a pattern like `%d.%m.%Y %H:%M`; behind the last three ` in seconds`, milliseconds or microseconds"),
    TEXT(DATASET_BY_FORMAT, "ingest.feature_columns", ingest.feature_columns, "", "features: columns by name and what becomes of them, `age: standardise; income: log mean; city: one_hot; year: buckets 1990 2000`: a kind (number, log, standardise, one_hot, buckets) and what missing values count as (refuse, zero, mean, indicator); empty: all columns that no other setting names, as numbers; graphml: names of keys of nodes"),
    CHOICE(DATASET_BY_FORMAT, "ingest.missing_values", ingest.missing_values, "refuse", missing_value_names, "features: what a value that is missing counts as where its column says nothing: refuse, zero, mean (of the column), or indicator (0, and a column more that says so)"),
    WORDS(DATASET_BY_FORMAT, "ingest.missing_words", ingest.missing_words, "tables of nodes: the words that say that a value is missing, as an empty cell does, such as [NA, unknown]; other words are values"),
    PATH(DATASET_BY_FORMAT, "ingest.column_encoding", ingest.column_encoding, "words of classes and columns of features are taken as this file says instead of as this table shows them (graphmill infer writes it)"),
    TEXT(DATASET_BY_FORMAT, "ingest.edge_columns", ingest.edge_columns, "", "edge_list: what the header calls the columns, `source: from; target: to; weight: amount; time: day`; others are left out"),
    CHOICE_OF(DATASET, "ingest.weight_scale", ingest.weight_scale, "as_given", weight_scale_names, weight_scale_texts, "what the weight of an edge becomes"),
    CHOICE(DATASET_BY_FORMAT, "ingest.id_type", ingest.id_type, "auto", id_type_names, "edge_list: what node ids are"),
    CHOICE(DATASET_BY_FORMAT, "ingest.edge_features", ingest.edge_features, "auto", edge_feature_names, "edge_list: auto (each column of numbers that is nothing else), named (those that a header calls feat, feat_0, ...) or none"),
    BOOL(DATASET, "ingest.relations", ingest.relations, "false", "tell node types and relations apart: those of node-types.csv and edge-types.csv, each type with features of its own"),
    BOOL(DATASET_IF("ingest.relations=true"), "ingest.add_reverse", ingest.add_reverse, "false", "relations: a relation rev_<name> for each, with its edges the other way"),
    CHOICE(DATASET_IF("ingest.relations=true"), "ingest.missing_features", ingest.missing_features, "none", missing_names, "relations: what a type without features gets: none, degree, random or degree+random"),
    TEXT(DATASET_IF("ingest.relations=true"), "ingest.target_type", ingest.target_type, "", "relations: the node type of labels and splits; empty: that of the nodes that have some"),
    CHOICE(DATASET, "ingest.direction", ingest.direction, "auto", direction_names, "auto (what the data says), as_given, undirected (both ways), reversed"),
    CHOICE(DATASET, "ingest.self_loops", ingest.self_loops, "keep", policy_names, "keep, remove or refuse edges from a node to itself"),
    CHOICE(DATASET, "ingest.duplicates", ingest.duplicates, "remove", policy_names, "keep, remove or refuse repeated edges"),
    INT(DATASET_IF("ingest.features=auto,random,degree+random"), "ingest.random_dim", ingest.random_dim, "64", 1, 65536, "columns of random features"),
    BOOL(DATASET, "ingest.normalise_rows", ingest.normalise_rows, "false", "as PyG's NormalizeFeatures: less the smallest feature of all, then each row divided by its sum, or by 1 when that is below 1"),
    BOOL(DATASET, "ingest.standardise", ingest.standardise, "false", "give each feature column mean 0 and variance 1"),
    TEXT(DATASET, "ingest.sparse_columns", ingest.sparse_columns, "", "folder: how many columns sparse features have whose last ones are 0 in all rows (1902), by node type as in `paper: 1902; author: 334`; empty: num_features of meta.json, else as many as their entries reach (graphmill infer sets it)"),
    PATH(DATASET, "ingest.feature_statistics", ingest.feature_statistics, "what normalise_rows and standardise go by instead of this graph's own numbers: a file with the lines `least,X`, `mean,deviation`, and a mean and deviation for each column, of a graph with relations behind `type,NAME` (graphmill infer writes it)"),
    PATH(DATASET, "ingest.node_times", ingest.node_times, "when nodes appear: a file with a line `id,time` a node, in the unit of the edge times; a sampler that goes by times sees no node before its time, and one without a line always"),
    CHOICE_OF(DATASET, "ingest.task", ingest.task, "auto", task_names, task_texts, "what is learnt"),
    TEXT(LABELLED(DATASET), "ingest.edge_label", ingest.edge_label, "label", "labelled edges: what the header of the edges calls the column of labels; weight: the weights are the labels, too"),
    CHOICE(LABELLED(DATASET), "ingest.edge_label_form", ingest.edge_label_form, "as_given", edge_label_form_names, "labelled edges: as_given, or sign (class 1 above 0, class 0 below)"),
    TEXT(PAIRS(DATASET), "ingest.edge_split", ingest.edge_split, "random 85/5/10", "tasks of edges: which edges are held out for validation and test: random 85/5/10 (percent for train/valid/test, drawn by the seed), time 80/10/10 (the last ones), leave_one_out (the last two of each node) or given (by files, or by a set of OGB itself)"),
    CHOICE(PAIRS(DATASET), "ingest.hold_out_reverse", ingest.hold_out_reverse, "auto", hold_out_reverse_names, "tasks of edges on a directed graph, edge_split random or leave_one_out: an edge and the edge back between the same nodes are held out together: auto (where most edges have one back), always or never"),
    PATH(PAIRS(DATASET), "ingest.valid_edges", ingest.edge_file[1], "edge_split given: a file with a line `source,target` for each edge of validation; of link prediction they are not among the edges of the input, of labelled edges they are"),
    PATH(PAIRS(DATASET), "ingest.test_edges", ingest.edge_file[2], "edge_split given: a file with a line `source,target` for each edge of the test, as in ingest.valid_edges"),
    PATH(LINKS(DATASET), "ingest.train_negatives", ingest.negative_file[0], "link prediction: a file with a line `source,target,node,node,...` for training edges: nodes that make pairs with them which are no edges (sample.negative: given)"),
    PATH(LINKS(DATASET), "ingest.valid_negatives", ingest.negative_file[1], "link prediction: a file with a line `source,target,node,node,...` for each edge of validation, whose ends are ranked among these nodes (infer.ranking: given)"),
    PATH(LINKS(DATASET), "ingest.test_negatives", ingest.negative_file[2], "link prediction: a file with a line `source,target,node,node,...` for each edge of the test, as in ingest.valid_negatives"),
    INT(DATASET, "ingest.class_count", ingest.class_count, "0", 0, 1048575, "how many classes, labels or numbers a model has an output for, with a task: a graph without labels or training nodes is taken for it; 0: as many as the labels say"),
    INT(DATASET_BY_FORMAT, "ingest.nodes", ingest.nodes, "10000", 100, 1e8, "generated: nodes"),
    DOUBLE(DATASET_BY_FORMAT, "ingest.average_degree", ingest.average_degree, "10", 1, 1000, "generated: mean degree, both directions counted"),
    DOUBLE(DATASET_BY_FORMAT, "ingest.degree_exponent", ingest.degree_exponent, "2.5", 2.05, 10, "generated: exponent of the power law of degrees"),
    INT(DATASET_BY_FORMAT, "ingest.classes", ingest.classes, "10", 2, 10000, "generated: communities, which are the classes"),
    DOUBLE(DATASET_BY_FORMAT, "ingest.homophily", ingest.homophily, "0.8", 0, 1, "generated: share of edges inside a community"),
    INT(DATASET_BY_FORMAT, "ingest.feature_dim", ingest.feature_dim, "32", 1, 65536, "generated: feature columns"),
    DOUBLE(DATASET_BY_FORMAT, "ingest.feature_noise", ingest.feature_noise, "2", 0, 1000, "generated: deviation of the noise on a class's centre"),
    DOUBLE(DATASET_BY_FORMAT, "ingest.label_noise", ingest.label_noise, "0.05", 0, 1, "generated: share of labels drawn at random"),
    DOUBLE(DATASET_BY_FORMAT, "ingest.train_share", ingest.train_share, "0.3", 0, 1, "generated: share of training nodes"),
    DOUBLE(DATASET_BY_FORMAT, "ingest.valid_share", ingest.valid_share, "0.2", 0, 1, "generated: share of validation nodes; the rest is the test split"),
    DOUBLE(OPERATION, "ingest.retrain_touched", ingest.retrain_touched, "0", 0, 1, "an updated graph asks for training when the neighbourhoods of this share of the training nodes have changed; 0: never"),
    DOUBLE(OPERATION, "ingest.retrain_degree_drift", ingest.retrain_degree_drift, "0", 0, 1, "an updated graph asks for training when the Kolmogorov-Smirnov distance of the in-degrees is this large; 0: never"),
    DOUBLE(OPERATION, "ingest.retrain_feature_drift", ingest.retrain_feature_drift, "0", 0, 1e6, "an updated graph asks for training when the mean of a feature column has shifted by so many standard deviations; 0: never"),
    DOUBLE(OPERATION, "ingest.retrain_valid_drop", ingest.retrain_valid_drop, "0", 0, 1e6, "an updated graph asks for training when checkpoint.metric is so much worse on the validation split, by the model that is there; 0: never, and it is not evaluated"),

    CHOICE_OF(PARTITION, "partition.method", partition.method, "metis", method_names, method_texts, "how the graph is cut into parts"),
    INT(PARTITION, "partition.parts", partition.parts, "1", 1, 65535, "parts; many more than workers is fine"),
    PATH(PARTITION_IF("partition.method=file"), "partition.assignment", partition.assignment, "method file: a text file, line i has the part of node i"),
    PATH(PARTITION_IF("partition.method=metis,ldg,fennel,auto"), "partition.loads", partition.loads, "cut by what a run read (a table of graphmill export RUN --what loads), instead of by all edges alike"),
    BOOL(PARTITION_IF("partition.method=metis,range,ldg,fennel,label_propagation,spectral,random_walk,dbh,hdrf,two_phase,two_phase_hdrf,auto"), "partition.balance_train", partition.balance_train, "true", "balance training nodes between parts"),
    BOOL(PARTITION_IF("partition.method=metis,ldg,fennel,label_propagation,spectral,random_walk,two_phase_hdrf,auto"), "partition.balance_edges", partition.balance_edges, "true", "balance edges between parts, or with partition.loads what was read"),
    INT(PARTITION_IF(STREAMED), "partition.passes", partition.passes, "10", 1, 1000, "times that the nodes are streamed, at most; 1: the plain streams of the papers; spectral, random_walk, two_phase_hdrf: of the streams behind or before them"),
    CHOICE(PARTITION_IF(STREAMED), "partition.order", partition.order, "natural", order_names, "order of the nodes of a block of edges in a stream: natural (of the input), random, degree (falling)"),
    CHOICE(PARTITION, "partition.feature_type", partition.feature_type, "f32", feature_type_names, "what features are stored in: f32; f16 (11 significant bits, up to 65504) or bf16 (8, any size) at half the bytes"),
    CHOICE(PARTITION, "partition.update", partition.update, "place", update_names, "a dataset that was updated: place (nodes stay in the parts of the version before, new ones go to their neighbours) or anew (all by partition.method)"),
    DOUBLE(PARTITION_IF("partition.update=place"), "partition.drift", partition.drift, "1.2", 1, 1000, "update place: when the share of cut edges is so many times that of the last partition of all nodes, nodes are moved, and where that is not enough all are partitioned again"),
    DOUBLE(PARTITION, "partition.compact", partition.compact, "0.2", 0, 1, "the dataset of a version, and with update place its parts, are written as what has changed since the last that were written whole, up to this share of their bytes; above it they are written whole; 0: always whole"),

    CHOICE_OF(TRAINING, "sample.sampler", sample.sampler, SAMPLER_DEFAULT_NAME, sampler_names, sampler_texts, "what a mini-batch is made of"),
    INT_LIST(TRAINING, "sample.fanouts", sample.fanouts, "10,10", -1, 1e6, "neighbours kept at each hop, from the seed nodes outwards; -1: all; as many as layers. Samplers of layers: nodes drawn for each layer; samplers of subgraphs count the layers by it"),
    TEXT(TRAINING_IF("ingest.relations=true"), "sample.relation_fanouts", sample.relation_fanouts, "", "fan-outs of relations that have others: `cites: 15,10; writes: 5,5`"),
    INT(TRAINING, "sample.batch_size", sample.batch_size, "1024", 1, 1e8, "seed nodes of a mini-batch; where the sampler draws nodes or edges of the whole graph: how many"),
    INT(TRAINING, "sample.batches_per_round", sample.batches_per_round, "1", 1, 65535, "slots: mini-batches that make one optimizer step"),
    INT(OPERATION, "sample.run_ahead", sample.run_ahead, "4", 1, 1e6, "rounds that sampling may be ahead of training"),
    INT(TRAINING, "sample.reuse_epochs", sample.reuse_epochs, "1", 1, 1e9, "epochs that one stored sampling pass serves"),
    INT_LIST(TRAINING, "sample.evaluation_fanouts", sample.evaluation_fanouts, "", -1, 1e6, "fan-outs of validation; empty: all neighbours"),
    INT(TRAINING, "sample.evaluation_batch_size", sample.evaluation_batch_size, "4096", 1, 1e8, "validation nodes of a mini-batch"),
#define INT_OPTION(name, samplers, value, least, most, help) \
    INT(TRAINING_IF("sample.sampler=" samplers), "sample." #name, sample.option.name, value, least, most, help),
#define CHOICE_OPTION(name, samplers, value, names, help) \
    CHOICE(TRAINING_IF("sample.sampler=" samplers), "sample." #name, sample.option.name, value, names, help),
#define WORDS_OPTION(name, samplers, size, help) \
    WORDS(TRAINING_IF("sample.sampler=" samplers), "sample." #name, sample.option.name, help),
    SAMPLER_OPTION_LIST(INT_OPTION, CHOICE_OPTION, WORDS_OPTION)
#undef INT_OPTION
#undef CHOICE_OPTION
#undef WORDS_OPTION

    CHOICE(LABELLED(TRAINING), "sample.exclude_edges", sample.exclude_edges, "reverses", excluded_edges_names, "labelled edges: what is left out of the neighbourhoods of a mini-batch: none, its edges, or these and their reverses"),
    INT(LINKS(TRAINING), "sample.negatives", sample.negatives, "1", 1, 10000, "link prediction: pairs that are no edges beside each edge"),
    CHOICE_OF(LINKS(TRAINING), "sample.negative", sample.negative, "uniform", negative_names, negative_texts, "link prediction: which other end the pairs that are no edges have"),
    CHOICE(LINKS(TRAINING), "sample.pairs", sample.pairs, "edges", pair_names, "link prediction: what is learnt to be near: the ends of edges, or nodes that lie on a random walk (unsupervised GraphSAGE)"),
    INT(TRAINING_IF("sample.pairs=walks"), "sample.pair_walk_length", sample.pair_walk_length, "5", 1, 1000, "walks: their steps; the pair is the start and the node of one of them"),
    DOUBLE(TRAINING_IF("sample.pairs=walks"), "sample.walk_p", sample.walk_p, "1", 1e-6, 1e6, "walks: node2vec's p, above 1 for fewer steps back"),
    DOUBLE(TRAINING_IF("sample.pairs=walks"), "sample.walk_q", sample.walk_q, "1", 1e-6, 1e6, "walks: node2vec's q, above 1 for walks that stay near"),
    CHOICE_OF(LINKS(TRAINING), "sample.corrupt", sample.corrupt, "target", corrupt_names, corrupt_texts, "link prediction: what the pairs that are no edges have"),
    BOOL(LINKS(TRAINING), "sample.filter_negatives", sample.filter_negatives, "false", "link prediction: draw an end again that makes a training edge (uniform and degree)"),
    INT(LINKS(TRAINING), "sample.evaluation_negatives", sample.evaluation_negatives, "1", 1, 10000, "link prediction: pairs that are no edges beside each edge of validation and test: uniform, none an edge of any split"),

    ITEMS(TRAINING, "train-step.layers", train_step.layers, LAYER_COUNT_MAX, &layer_items, "the layers one by one, instead of model and what follows it down to dropout: a list of maps"),
    CHOICE_OF(PLAIN_MODEL, "train-step.model", train_step.layer.kind, "sage", layer_names, layer_texts, "the kind of its layers"),
    INT(TRAINING, "train-step.hidden", train_step.layer.output_dim, "64", 1, 65536, "width of the hidden layers"),
#define INT_OPTION(name, kinds, value, least, most, help) \
    INT(TRAINING_IF("train-step.model=" kinds), "train-step." #name, train_step.layer.option.name, value, least, most, help),
#define CHOICE_OPTION(name, kinds, value, names, help) \
    CHOICE(TRAINING_IF("train-step.model=" kinds), "train-step." #name, train_step.layer.option.name, value, names, help),
#define REAL_OPTION(name, kinds, value, least, most, help) \
    DOUBLE(TRAINING_IF("train-step.model=" kinds), "train-step." #name, train_step.layer.option.name, value, least, most, help),
#define FLAG_OPTION(name, kinds, value, help) \
    BOOL(TRAINING_IF("train-step.model=" kinds), "train-step." #name, train_step.layer.option.name, value, help),
    LAYER_OPTION_LIST(INT_OPTION, REAL_OPTION, FLAG_OPTION, CHOICE_OPTION)
#undef INT_OPTION
#undef REAL_OPTION
#undef FLAG_OPTION
#undef CHOICE_OPTION
    CHOICE(PLAIN_MODEL, "train-step.norm", train_step.layer.norm, "none", norm_names, "what follows the hidden layers: none, batch (statistics of the mini-batch in training, running ones otherwise) or layer (of each row)"),
    BOOL(PLAIN_MODEL, "train-step.residual", train_step.layer.residual, "false", "add to each hidden layer what its nodes read, before the norm; through a matrix where the widths differ"),
    CHOICE(PLAIN_MODEL, "train-step.activation", train_step.layer.activation, "relu", activation_names, "what follows the norm: relu, elu, leaky_relu or none"),
    CHOICE(TRAINING, "train-step.jumping_knowledge", train_step.jumping_knowledge, "none", jumping_knowledge_names, "none, or a matrix over what all layers give, as one more layer: cat (side by side), max (the largest), last (of the last one)"),
    DOUBLE(PLAIN_MODEL, "train-step.dropout", train_step.layer.dropout, "0.5", 0, 0.999, "share of hidden activations dropped in training"),
    CHOICE(TRAINING_IF("ingest.relations=true"), "train-step.projection", train_step.projection, "linear", type_projection_names, "relations: what the features of each node type go through before the first layer: linear (a matrix of the type, and a bias, to train-step.hidden columns), relu (that, and ReLU) or none"),
    CHOICE(TRAINING_IF("ingest.relations=true"), "train-step.relation_aggr", train_step.relation_aggr, "sum", relation_aggr_names, "relations: what the relations of a node type give becomes one row: their sum, mean or max (gat has no max; rgcn, hgt and rgat have rules of their own)"),
    INT(TRAINING, "train-step.embedding", train_step.embedding, "0", 0, 65536, "columns of a row of numbers that is learnt for each node, and read beside its features; 0: none"),
    TEXT(TRAINING_IF("ingest.relations=true"), "train-step.type_embedding", train_step.type_embedding, "", "relations: columns of the rows learnt for some node types, as in `author: 64; paper: 32`; also beside features; 0: none"),
    BOOL(TRAINING, "train-step.features", train_step.features, "true", "whether the model reads the features of nodes; false: train-step.embedding alone"),
    CHOICE(TRAINING, "train-step.precision", train_step.precision, "fp32", precision_names, "fp32, or bf16: operands of products rounded, sums and weights in fp32; needs a processor with avx512_bf16"),
    CHOICE_OF(TRAINING, "train-step.gradient", train_step.gradient, "f32", gradient_names, gradient_texts, "how the gradient of a mini-batch is stored"),
    DOUBLE(TRAINING_IF("train-step.gradient=top_k"), "train-step.gradient_kept", train_step.gradient_kept, "0.01", 0.0001, 1, "top_k: the share of its numbers that a gradient keeps"),
    CHOICE(TRAINING, "train-step.pipeline", train_step.pipeline, "whole", pipeline_names, "how the step of a mini-batch is cut into units of work: whole, or layers (a unit for each layer forward and backward, which any worker may do: model parallelism); changes no bit of the weights"),
    CHOICE(TRAINING, "train-step.edge_weights", train_step.edge_weights, "auto", edge_choice_names, "whether edges count by their weights: auto (where the graph has weights and a layer reads them), true or false"),
    CHOICE(TRAINING, "train-step.edge_features", train_step.edge_features, "auto", edge_choice_names, "whether edges count by their features: auto (where the graph has features of edges and a layer reads them), true or false"),
    CHOICE_OF(TRAINING, "train-step.loss", train_step.loss, "auto", loss_names, loss_texts, "what training makes small"),
    DOUBLE(TRAINING_IF("train-step.loss=huber"), "train-step.huber_delta", train_step.huber_delta, "1", 1e-6, 1e6, "huber: where it becomes linear"),
    DOUBLE(TRAINING, "train-step.label_smoothing", train_step.label_smoothing, "0", 0, 1, "single_label: share of each label that goes to all classes alike"),
    CHOICE_OR_NUMBERS(TRAINING, "train-step.class_weights", train_step.class_weights, "none", class_weight_names, 0, 1e9, "what classes weigh in the loss: none, balanced (by how many training nodes have them), or a number each; multi_label: what a label that is there weighs"),
    CHOICE_OF(PAIRS(TRAINING), "train-step.decoder", train_step.decoder, "dot", decoder_names, decoder_texts, "tasks of edges: how the rows of both ends give the score of a pair"),
    CHOICE_OF(LINKS(TRAINING), "train-step.link_loss", train_step.link_loss, "bce", link_loss_names, link_loss_texts, "link prediction: what training makes small"),
    CHOICE_OF(GRAPHS(TRAINING), "train-step.readout", train_step.readout, "mean", readout_names, readout_texts, "tasks of graphs: how the rows of a graph's nodes become one row"),
    DOUBLE(TRAINING_IF("train-step.link_loss=margin"), "train-step.link_margin", train_step.link_margin, "1", 0, 1e6, "margin: how far an edge is to stand above its negatives"),
    TEXT(TRAINING, "train-step.initial", train_step.initial, "", "weights that training begins with: the folder of a run that has ended, the id of one in this folder, or a model.safetensors of either; empty: drawn by the seed"),

    CHOICE(TRAINING, "aggregate.optimizer", aggregate.optimizer, "adam", optimizer_names, "adam, adamw or sgd"),
    DOUBLE(TRAINING, "aggregate.learning_rate", aggregate.learning_rate, "0.01", 0, 1000, "learning rate"),
    DOUBLE(TRAINING_IF("aggregate.optimizer=sgd"), "aggregate.momentum", aggregate.momentum, "0", 0, 1, "sgd: momentum"),
    DOUBLE(TRAINING_IF("aggregate.optimizer=adam,adamw"), "aggregate.beta1", aggregate.beta1, "0.9", 0, 1, "adam: decay of the first moment"),
    DOUBLE(TRAINING_IF("aggregate.optimizer=adam,adamw"), "aggregate.beta2", aggregate.beta2, "0.999", 0, 1, "adam: decay of the second moment"),
    DOUBLE(TRAINING_IF("aggregate.optimizer=adam,adamw"), "aggregate.epsilon", aggregate.epsilon, "1e-8", 0, 1, "adam: added to the root of the second moment"),
    DOUBLE(TRAINING, "aggregate.weight_decay", aggregate.weight_decay, "0", 0, 100, "L2 term (adam, sgd) or decoupled decay (adamw)"),
    DOUBLE(TRAINING, "aggregate.clip_norm", aggregate.clip_norm, "0", 0, 1e30, "largest norm of a round's gradient; 0: any"),
    INT(TRAINING, "aggregate.ranges", aggregate.ranges, "1", 1, GRADIENT_RANGES_MAX, "ranges of parameters whose gradients are added up side by side, by as many workers of aggregate; changes no bit of the weights"),
    INT(TRAINING, "aggregate.fan_in", aggregate.fan_in, "0", 0, 65535, "gradients that are added at once, where many slots are added up as a tree; 0: all of a round"),
    INT_OR_MOST(TRAINING, "aggregate.staleness", aggregate.staleness, "0", 0, 1e6, "rounds that the weights a round computes with are older than those it changes, so that no round waits for the one before; 0: none; up_to N: the newest weights there are, at most so much older; which they were is recorded, and another run may have others"),
    CHOICE_OF(TRAINING, "aggregate.compensation", aggregate.compensation, "rate", compensation_names, compensation_texts, "with staleness: what is done about gradients that are some rounds old"),
    DOUBLE(TRAINING_IF("aggregate.compensation=rate"), "aggregate.delay_rate", aggregate.delay_rate, "1", 0, 1000, "rate: how much less the learning rate is for each round of delay"),
    DOUBLE(TRAINING_IF("aggregate.compensation=gradient"), "aggregate.delay_lambda", aggregate.delay_lambda, "0.04", 0, 1000, "gradient: lambda of DC-ASGD"),
    CHOICE(TRAINING, "aggregate.schedule", aggregate.schedule, "constant", schedule_names, "learning rate over time: constant, cosine or step"),
    INT(TRAINING_IF("aggregate.schedule=step"), "aggregate.step_epochs", aggregate.step_epochs, "30", 1, 1e9, "step: epochs between two reductions"),
    DOUBLE(TRAINING_IF("aggregate.schedule=step"), "aggregate.step_factor", aggregate.step_factor, "0.1", 0, 1, "step: what a reduction multiplies by"),
    DOUBLE(TRAINING_IF("aggregate.schedule=cosine"), "aggregate.final_rate", aggregate.final_rate, "0", 0, 1, "cosine: share of the learning rate at the end"),
    CHOICE(TRAINING, "aggregate.embedding_optimizer", aggregate.embedding_optimizer, "adam", sparse_rule_names, "the optimizer of train-step.embedding: adam, adagrad or sgd, which changes only the rows that a round read"),
    DOUBLE(TRAINING, "aggregate.embedding_rate", aggregate.embedding_rate, "0.01", 0, 1000, "learning rate of train-step.embedding; follows aggregate.schedule"),
    CHOICE_OF(TRAINING, "aggregate.embedding_policy", aggregate.embedding_policy, "nodes", embedding_policy_names, embedding_policy_texts, "how the rows of train-step.embedding are cut into shards, the units of work; it changes no row"),
    INT(TRAINING_IF("aggregate.embedding_policy=range,hash"), "aggregate.embedding_shards", aggregate.embedding_shards, "8", 1, 65535, "how many shards"),
    TEXT(TRAINING_IF("ingest.relations=true"), "aggregate.type_embedding_rate", aggregate.type_embedding_rate, "", "relations: aggregate.embedding_rate of some node types, as in `author: 0.05; venue: 0.001`"),
    TEXT(TRAINING_IF("ingest.relations=true"), "aggregate.type_embedding_policy", aggregate.type_embedding_policy, "", "relations: aggregate.embedding_policy of some node types, as in `author: hash 8; venue: whole`"),

    INT(TRAINING, "checkpoint.every_epochs", checkpoint.every_epochs, "1", 1, 1e9, "epochs between two snapshots, which are also the validations"),
    INT(OPERATION, "checkpoint.keep", checkpoint.keep, "2", 0, 1e9, "snapshots kept; older round records are pruned; 0: keep everything"),
    CHOICE_OF(TRAINING, "checkpoint.metric", checkpoint.metric, "accuracy", metric_names, metric_texts, "validation metric that decides what is best"),
    INT(TARGET, "checkpoint.patience", checkpoint.patience, "0", 0, 1e9, "stop after so many snapshots without a better metric; 0: never"),

    CHOICE(OUTPUTS, "infer.weights", infer.weights, "best", weights_names, "best (validation) or last"),
    BOOL(OUTPUTS, "infer.embeddings", infer.embeddings, "true", "write embeddings.npy"),
    TEXT(TRAINING, "infer.model", infer.model, "", "written by graphmill infer: version, hash and run of the weights that a run of inference alone has"),
    TEXT(TRAINING, "infer.nodes", infer.nodes, "", "written by graphmill infer --nodes: number and hash of the nodes that are asked for; empty: all"),
    BOOL(OUTPUTS, "infer.predictions", infer.predictions, "true", "write predictions.csv"),
    CHOICE_OF(PAIRS(DATASET), "infer.history", infer.history, "all", history_names, history_texts, "a sampler that goes by times with edge_split time: which events messages travel over when an event of validation or test is scored"),
    CHOICE(OUTPUTS_OF_LINKS, "infer.ranking", infer.ranking, "sampled", ranking_names, "link prediction: among which nodes an end of a test edge is ranked: none, sampled (infer.candidates), all, or given (ingest.valid_negatives, ingest.test_negatives)"),
    INT(OUTPUTS_IF("infer.ranking=sampled"), "infer.candidates", infer.candidates, "1000", 1, 1e6, "sampled: how many, drawn for each edge"),
    CHOICE(OUTPUTS_OF_LINKS, "infer.ranked_end", infer.ranked_end, "target", ranked_names, "link prediction: which end of a test edge is ranked: target, source, or both, each for itself"),
    BOOL(OUTPUTS_OF_LINKS, "infer.filtered", infer.filtered, "true", "link prediction: leave out candidates that make another known edge"),
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
