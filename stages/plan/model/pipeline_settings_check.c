/* Rules for settings that are right alone and wrong beside another setting. */
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/text/time_text.h"
#include "common/math/precision.h"
#include "common/nn/layers/layer.h"
#include "stages/plan/model/run_model.h"
#include "stages/plan/settings/dataset_format.h"
#include "stages/plan/settings/embedding_tensors.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "stages/plan/settings/relation_fanouts.h"
#include "stages/plan/settings/setting_table.h"
#include "stages/sampling/negative_list.h"
#include "stages/sampling/samplers/sampler.h"
#include "store/records/round/gradient_encoding.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Returns whether the input itself may contain negatives of its held-out edges. */
static bool may_have_negatives(const struct pipeline_settings *s)
{
    return pipeline_may_have_edge_splits(s) && dataset_format_has(s, FORMAT_HAS_NEGATIVES);
}

/* Checks the edges that are held out, so that messages do not pass along them. */
static enum error_code check_edge_split(const struct pipeline_settings *s, struct error *err)
{
    static const char *const names[] = {NULL, "valid_edges", "test_edges"};
    struct edge_split split;
    const enum error_code rc = pipeline_edge_split(s, &split, err);
    if (rc != ERROR_NONE)
        return rc;
    for (int i = 1; i < SPLIT_SHARE_COUNT; i++)
        if (s->ingest.edge_file[i][0] && split.kind != EDGE_SPLIT_GIVEN)
            return error_set(err, ERROR_INVALID,
                             "ingest.edge_split is '%s', but ingest.%s names a file: " ADVICE
                             "write "
                             "`edge_split: given`, or remove the file",
                             s->ingest.edge_split, names[i]);
    if (split.kind != EDGE_SPLIT_GIVEN)
        return ERROR_NONE;
    if (dataset_format_has(s, FORMAT_IS_GENERATED))
        return error_set(err, ERROR_INVALID,
                         "ingest.edge_split is given, but a generated graph has no files: expected "
                         "random 85/5/10");
    if (!s->ingest.edge_file[2][0] && !pipeline_may_have_edge_splits(s))
        return error_set(err, ERROR_INVALID,
                         "ingest.edge_split is given, but ingest.test_edges is empty: expected a "
                         "file with a line `source,target` an edge");
    return ERROR_NONE;
}

static bool takes_pairs(const struct sampler *sampler)
{
    return sampler->takes_pairs;
}

static bool takes_graphs(const struct sampler *sampler)
{
    return sampler->takes_graphs;
}

/* Checks the sampler of a task of pairs: it must leave out the edges that are learnt. A sampler by
 * time suits only held-out edges that are later than all training edges. */
static enum error_code check_pair_sampler(const struct pipeline_settings *s, struct error *err)
{
    const struct sampler *sampler = pipeline_sampler(s);
    char names[SAMPLER_NAMES_SIZE];
    struct edge_split split;
    if (!sampler->takes_pairs)
        return error_set(
            err, ERROR_INVALID,
            "sample.sampler is %s, which does not leave out the edges that are learnt: "
            "expected %s for %s",
            sampler->name, sampler_names(takes_pairs, names),
            task_name((enum task_kind)s->ingest.task));
    if (!sampler_goes_by_time(sampler))
        return ERROR_NONE;
    if (pipeline_edge_split(s, &split, NULL) != ERROR_NONE || split.kind != EDGE_SPLIT_TIME)
        return error_set(err, ERROR_INVALID,
                         "sample.sampler is %s, but ingest.edge_split is '%s', so that held-out "
                         "edges would be inferred from later ones: expected `edge_split: time "
                         "80/10/10`",
                         sampler->name, s->ingest.edge_split);
    if (task_has(s->ingest.task, TASK_RANKS) && s->sample.pairs == PAIRS_WALKS)
        return error_set(err, ERROR_INVALID,
                         "sample.sampler is %s, but sample.pairs is walks, whose pairs have no "
                         "time: expected edges",
                         sampler->name);
    return ERROR_NONE;
}

/* Refuses a sampler that asks for the times at which nodes appear, if there are none. */
static enum error_code check_node_times(const struct pipeline_settings *s, struct error *err)
{
    const struct sampler *sampler = pipeline_sampler(s);
    const char *asks =
        sampler->asks_node_times ? sampler->asks_node_times(&s->sample.option) : NULL;
    if (!asks || s->ingest.node_times[0])
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "%s, but ingest.node_times is empty: expected `node_times:` and a file with a "
                     "line `id,time` a node below `ingest:`, or another time of seeds",
                     asks);
}

/* Checks infer.history. Only edges that are scored at their own times have a history to choose. */
static enum error_code check_history(const struct pipeline_settings *s, struct error *err)
{
    char names[SAMPLER_NAMES_SIZE];
    if (s->infer.history == HISTORY_ALL || pipeline_learns_events(s))
        return ERROR_NONE;
    return error_set(
        err, ERROR_INVALID,
        "infer.history is training, which has an effect only on events that are split "
        "and sampled by time: " ADVICE "remove the line, or expected a task of edges with "
        "`edge_split: time 70/15/15` below `ingest:` and `sampler: %s` below `sample:`",
        sampler_names(sampler_goes_by_time, names));
}

/* Checks the settings of negatives. */
static enum error_code check_negatives(const struct pipeline_settings *s, struct error *err)
{
    const bool by_batch =
        s->sample.negative == NEGATIVE_IN_BATCH || s->sample.negative == NEGATIVE_SHARED;
    if (s->sample.negative == NEGATIVE_GIVEN && !s->ingest.negative_file[0][0])
        return error_set(
            err, ERROR_INVALID,
            "sample.negative is given, but ingest.train_negatives is empty: expected a "
            "file with a line `source,target,node,node,...` an edge");
    if (s->sample.negative == NEGATIVE_GIVEN && s->sample.pairs == PAIRS_WALKS)
        return error_set(err, ERROR_INVALID,
                         "sample.negative is given, but sample.pairs is walks: negatives are given "
                         "for edges");
    if (s->infer.ranking == RANKING_GIVEN && !s->ingest.negative_file[1][0] &&
        !s->ingest.negative_file[2][0] &&
        !(may_have_negatives(s) && s->infer.ranked_end == CORRUPT_TARGET))
        return error_set(err, ERROR_INVALID,
                         "infer.ranking is given, but ingest.test_negatives is empty: expected a "
                         "file with a line `source,target,node,node,...` an edge of the test");
    if (s->infer.ranking == RANKING_GIVEN && s->infer.ranked_end == CORRUPT_BOTH)
        return error_set(
            err, ERROR_INVALID,
            "infer.ranked_end is both, but infer.ranking is given, whose nodes are for "
            "one end: expected target or source");
    if (s->sample.filter_negatives && by_batch)
        return error_set(err, ERROR_INVALID,
                         "sample.filter_negatives is true, but the negatives of a mini-batch are "
                         "shared: expected it with `negative: uniform` or degree");
    if (s->sample.negative == NEGATIVE_IN_BATCH && s->sample.negatives >= s->sample.batch_size)
        return error_set(err, ERROR_INVALID,
                         "sample.negatives is %" PRId64 ", expected at most %" PRId64
                         ": `negative: in_batch` takes them from the other edges of a mini-batch "
                         "(sample.batch_size)",
                         s->sample.negatives, s->sample.batch_size - 1);
    if (s->train_step.loss != LOSS_AUTO)
        return error_set(err, ERROR_INVALID,
                         "train-step.loss is %s, which is for nodes: the loss of link_prediction "
                         "is train-step.link_loss",
                         loss_name(s->train_step.loss));
    if (s->train_step.decoder == DECODER_NONE)
        return error_set(err, ERROR_INVALID, "train-step.decoder is none, expected one: dot");
    return ERROR_NONE;
}

/* Checks the settings for labelled edges. */
static enum error_code check_edge_labels(const struct pipeline_settings *s, struct error *err)
{
    const char *task = task_name(s->ingest.task);
    const bool has_classes = task_has_classes(s->ingest.task, TASK_LABELS_EDGES);
    if (dataset_format_has(s, FORMAT_IS_GENERATED))
        return error_set(err, ERROR_INVALID,
                         "ingest.task is %s, but edges of a generated graph have no labels", task);
    if (!s->ingest.edge_label[0])
        return error_set(err, ERROR_INVALID,
                         "ingest.edge_label is empty, expected the name of the column of labels");
    if (s->ingest.edge_label_form == EDGE_LABEL_SIGN && !has_classes)
        return error_set(err, ERROR_INVALID,
                         "ingest.edge_label_form is sign, which makes two classes: expected "
                         "as_given with %s",
                         task);
    const enum decoder_kind decoder = s->train_step.decoder;
    if (has_classes && (decoder == DECODER_NONE || !decoder_type_of(decoder)->takes_outputs))
        return error_set(err, ERROR_INVALID,
                         "train-step.decoder is %s, which has one score: expected one of concat, "
                         "mlp, bilinear, distmult for the classes of %s",
                         decoder ? decoder_type_of(decoder)->name : "none", task);
    return ERROR_NONE;
}

/* Checks the settings for tasks of graphs. */
static enum error_code check_graphs(const struct pipeline_settings *s, struct error *err)
{
    const char *task = task_name(s->ingest.task);
    const bool of_graphs = task_has(s->ingest.task, TASK_HAS_GRAPHS);
    const enum partition_method method = (enum partition_method)s->partition.method;
    const struct sampler *sampler = pipeline_sampler(s);
    char names[SAMPLER_NAMES_SIZE], formats[SETTING_TEXT_LONG];
    if (!of_graphs && dataset_format_has(s, FORMAT_IS_OF_GRAPHS))
        return error_set(err, ERROR_INVALID,
                         "ingest.format is %s, which has many graphs: expected ingest.task "
                         "graph_classification or graph_regression",
                         dataset_format_of(s)->name);
    if (!of_graphs)
        return ERROR_NONE;
    dataset_format_list(FORMAT_HAS_GRAPHS, " or ", formats, sizeof formats);
    if (!dataset_format_has(s, FORMAT_HAS_GRAPHS))
        return error_set(err, ERROR_INVALID,
                         "ingest.task is %s, but this ingest.format does not say which graph a "
                         "node is in: expected %s",
                         task, formats);
    if (s->ingest.relations)
        return error_set(err, ERROR_INVALID,
                         "ingest.task is %s, which needs a graph with one relation: " ADVICE
                         "write "
                         "`relations: false` below `ingest:`",
                         task);
    if (method != PARTITION_METIS && method != PARTITION_AUTO && method != PARTITION_RANGE)
        return error_set(err, ERROR_INVALID,
                         "partition.method cuts graphs, which %s keeps whole: expected metis, auto "
                         "or range: all three then make ranges of graphs, and cut no edge",
                         task);
    if (!sampler->takes_graphs)
        return error_set(err, ERROR_INVALID,
                         "sample.sampler is %s, which draws other nodes than those of whole "
                         "graphs, but %s learns from whole graphs: expected %s",
                         sampler->name, task, sampler_names(takes_graphs, names));
    if (s->train_step.readout == READOUT_NONE)
        return error_set(err, ERROR_INVALID,
                         "train-step.readout is none, expected sum, mean or max");
    return ERROR_NONE;
}

/* Checks settings that name columns: only tables of nodes have such columns. */
static enum error_code check_columns(const struct pipeline_settings *s,
                                     const struct split_shares *shares, struct error *err)
{
    const bool uses_labels = shares->kind == SPLIT_IS_COLUMN || shares->kind == SPLIT_IS_MASKS ||
                             shares->kind == SPLIT_IS_TIME;
    if (uses_labels && !s->ingest.labels[0])
        return error_set(err, ERROR_INVALID,
                         "ingest.split is '%s', but ingest.labels names no table that has the "
                         "column: " ADVICE "add a line `labels: FILE` below `ingest:`",
                         s->ingest.split);
    if (shares->kind == SPLIT_IS_TIME && !s->ingest.time_column[0])
        return error_set(err, ERROR_INVALID,
                         "ingest.split is '%s', but ingest.time_column is empty: " ADVICE
                         "add a line "
                         "`time_column: NAME` below `ingest:`",
                         s->ingest.split);
    if (text_ends(s->ingest.features.path, ".npy") && s->ingest.feature_columns[0])
        return error_set(err, ERROR_INVALID,
                         "ingest.feature_columns is '%.60s', but ingest.features is an .npy file, "
                         "which has no header: " ADVICE "remove the line",
                         s->ingest.feature_columns);
    if (s->ingest.feature_columns[0] && !s->ingest.features.path[0] &&
        !dataset_format_has(s, FORMAT_HAS_COLUMNS))
        return error_set(
            err, ERROR_INVALID,
            "ingest.feature_columns is '%.60s', but ingest.features names no table: " ADVICE
            "add a line `features: FILE` below `ingest:`",
            s->ingest.feature_columns);
    return ERROR_NONE;
}

static enum error_code check_time_format(const struct pipeline_settings *s, struct error *err)
{
    struct time_format format;
    const char *expected = time_format_read(s->ingest.time_format, &format);
    return expected
               ? error_set(err, ERROR_INVALID, "ingest.time_format: expected %s, found '%.60s'",
                           expected, s->ingest.time_format)
               : ERROR_NONE;
}

/* Checks the files beside an edge list, and the splits. */
static enum error_code check_beside_input(const struct pipeline_settings *s, struct error *err)
{
    static const char *const names[] = {"train", "valid", "test"};
    struct split_shares shares;
    char formats[SETTING_TEXT_LONG];
    dataset_format_list(FORMAT_HAS_NODE_FILES, " and ", formats, sizeof formats);
    if (s->ingest.features.path[0] && !pipeline_has_node_files(s))
        return error_set(
            err, ERROR_INVALID,
            "ingest.features is '%s', but only the formats %s have files beside them: " ADVICE
            "remove the line, or change ingest.format",
            s->ingest.features.path, formats);
    if (s->ingest.feature_ids[0] && !text_ends(s->ingest.features.path, ".npy"))
        return error_set(err, ERROR_INVALID,
                         "ingest.feature_ids is '%s', but ingest.features is no .npy file: the ids "
                         "of a text file are in its first column",
                         s->ingest.feature_ids);
    enum error_code rc = pipeline_split_shares(s, &shares, err);
    if (rc == ERROR_NONE)
        rc = check_columns(s, &shares, err);
    if (rc != ERROR_NONE || !shares.is_random)
        return rc;
    if (dataset_format_has(s, FORMAT_IS_GENERATED))
        return error_set(err, ERROR_INVALID,
                         "ingest.split is '%s', but a generated graph is split by "
                         "ingest.train_share and ingest.valid_share: " ADVICE "remove one of them",
                         s->ingest.split);
    for (size_t i = 0; i < SPLIT_SHARE_COUNT; i++)
        if (s->ingest.split_file[i][0])
            return error_set(err, ERROR_INVALID,
                             "ingest.split is '%s', but ingest.%s names a file: " ADVICE
                             "remove one of them",
                             s->ingest.split, names[i]);
    return ERROR_NONE;
}

/* Refuses a setting that the format of the input does not read, so that nobody believes that it had
 * an effect. `auto` may become any format, so nothing is refused then. */
static enum error_code check_format_settings(const struct pipeline_settings *s, struct error *err)
{
    const struct dataset_format *format = dataset_format_of(s);
    char value[SETTING_NAME_SIZE], readers[SETTING_TEXT_LONG];
    struct pipeline_settings *defaults = NULL;
    enum error_code rc = ERROR_NONE;
    if (format->traits & FORMAT_IS_AUTO)
        return rc;
    rc = memory_new(&defaults, 1, "settings", err);
    if (rc != ERROR_NONE)
        return rc;
    pipeline_settings_defaults(defaults);
    for (const struct setting_spec *spec = setting_table; rc == ERROR_NONE && spec->name; spec++) {
        if (!(spec->part_of & SETTING_OF_FORMAT) || dataset_format_reads(format, spec->name) ||
            setting_equal(spec, s, defaults))
            continue;
        (void)setting_print(spec, s, value, sizeof value);
        dataset_format_readers(spec->name, readers, sizeof readers);
        rc = error_set(err, ERROR_INVALID,
                       "%s is '%s', but ingest.format is %s, which does not read it: " ADVICE
                       "remove the "
                       "line, or take a format that reads it (%s)",
                       spec->name, value, format->name, readers);
    }
    memory_free(defaults);
    return rc;
}

static enum error_code check_model(const struct pipeline_settings *s, struct error *err)
{
    struct model *model = NULL;
    const struct layer_type *type = layer_type_of(s->train_step.layer.kind);
    const bool is_listed = s->train_step.layers.count > 0;
    if (!is_listed && type->uses_edges && s->sample.fanouts.count == 0)
        return error_set(err, ERROR_INVALID,
                         "sample.fanouts is empty, expected one for each layer");
    if (!is_listed && type->has_heads &&
        s->train_step.layer.output_dim % s->train_step.layer.option.heads != 0)
        return error_set(err, ERROR_INVALID,
                         "train-step.hidden is %" PRIu32 ", expected a multiple of the %" PRId64
                         " of train-step.heads",
                         s->train_step.layer.output_dim, s->train_step.layer.option.heads);
    const enum error_code rc = run_model_shape(&model, s, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "train-step");
    const bool takes_bf16 = model_is_possible_in_bf16(model);
    const int hop_count = model->hop_count;
    memory_free(model);
    if (s->train_step.precision != PRECISION_FP32 && embedding_is_wanted(s))
        return error_set(err, ERROR_INVALID,
                         "train-step.precision is bf16, expected fp32 with train-step.embedding");
    if (!s->train_step.features && !embedding_is_wanted(s))
        return error_set(err, ERROR_INVALID,
                         "train-step.features is false and train-step.embedding is 0, so that the "
                         "model has nothing to read; " ADVICE
                         "set for example train-step.embedding: 64");
    if (s->train_step.initial[0] && embedding_is_wanted(s))
        return error_set(err, ERROR_INVALID,
                         "train-step.initial is '%.200s', expected none with train-step.embedding, "
                         "whose rows belong to the nodes of one graph",
                         s->train_step.initial);
    if (s->train_step.precision != PRECISION_FP32 && !takes_bf16)
        return error_set(err, ERROR_INVALID,
                         "train-step.precision is bf16, expected fp32 with %s%s%s",
                         is_listed ? "these train-step.layers" : "train-step.model ",
                         is_listed ? "" : layer_names[s->train_step.layer.kind],
                         is_listed || type->forward ? "" : " and what comes after its layers");
    if (hop_count != s->sample.fanouts.count)
        return error_set(err, ERROR_INVALID,
                         "sample.fanouts has %d items, expected %d: one for each layer of the "
                         "model that reads neighbours",
                         s->sample.fanouts.count, hop_count);
    return ERROR_NONE;
}

/* Checks that the sampler can draw with the other settings. */
static enum error_code check_sampler(const struct pipeline_settings *s, struct error *err)
{
    const struct sampler *sampler = pipeline_sampler(s);
    const struct partition_book none = {0}; /* no relation has a name */
    if (sampler->form == BATCH_SUBGRAPH && s->sample.fanouts.count == 0)
        return error_set(err, ERROR_INVALID,
                         "sample.sampler is %s, which draws subgraphs, but no layer of the model "
                         "reads neighbours: " ADVICE
                         "expected sample.sampler " SAMPLER_DEFAULT_NAME,
                         sampler->name);
    enum error_code rc = ERROR_NONE;
    if (sampler->check)
        rc = sampler->check(&s->sample.option, s->partition.parts, err);
    return rc == ERROR_NONE && sampler->check_relations && !s->ingest.relations
               ? sampler->check_relations(&s->sample.option, &none, err)
               : rc;
}

/* Checks what cannot work with staleness: rows of embeddings exist only in the version of the
 * round, and a residual goes from a round to the next. */
static enum error_code check_staleness(const struct pipeline_settings *s, struct error *err)
{
    if (s->aggregate.staleness.value > 0 && s->train_step.gradient == GRADIENT_SPARSE)
        return error_set(
            err, ERROR_INVALID,
            "aggregate.staleness is %" PRId64
            ", but with train-step.gradient: top_k a slot adds the residual of the round before, "
            "and so waits for it: expected 0, or another train-step.gradient",
            s->aggregate.staleness.value);
    if (s->aggregate.staleness.value == 0 || !embedding_is_wanted(s))
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "aggregate.staleness is %" PRId64
                     ", but learnable rows (train-step.embedding) are held in one version at a "
                     "time: expected 0, or no embedding",
                     s->aggregate.staleness.value);
}

static enum error_code refuse_layers(const char *setting, const char *why, struct error *err)
{
    return error_set(err, ERROR_INVALID,
                     "train-step.pipeline is layers, but %s, %s: expected `pipeline: whole`",
                     setting, why);
}

/* Checks what cannot work in a pipeline of layers: the passes exchange rows of nodes, and all passes
 * of a step must read the same weights. */
static enum error_code check_pipeline(const struct pipeline_settings *s, struct error *err)
{
    struct model *model = NULL;
    if (s->train_step.pipeline != PIPELINE_LAYERS)
        return ERROR_NONE;
    if (s->aggregate.staleness.value > 0)
        return refuse_layers("aggregate.staleness is not 0",
                             "and all passes of a step must read the weights of their round", err);
    if (embedding_is_wanted(s))
        return refuse_layers("train-step.embedding learns rows",
                             "which only the pass of the first layer could hold", err);
    if (task_has(s->ingest.task, TASK_HAS_DECODER | TASK_HAS_READOUT)) {
        char task[64];
        (void)snprintf(task, sizeof task, "ingest.task is %s", task_name(s->ingest.task));
        return refuse_layers(task, "and its decoder or readout is no layer", err);
    }
    const enum error_code rc = run_model_shape(&model, s, err);
    if (rc != ERROR_NONE)
        return rc;
    const int layers = model->config.layer_count;
    memory_free(model);
    return layers > 1 ? ERROR_NONE
                      : refuse_layers("the model has one layer", "which is the whole step", err);
}

/* Checks how gradients are added up. */
static enum error_code check_sums(const struct pipeline_settings *s, struct error *err)
{
    if (s->aggregate.fan_in == 1)
        return error_set(err, ERROR_INVALID,
                         "aggregate.fan_in is 1, which adds nothing: expected 0 (all gradients of "
                         "a round at once), or at least 2");
    return ERROR_NONE;
}

/* Returns whether the method can use measured loads. Label propagation could weigh edges, too, but
 * from a random start it gave more reads from other parts, not fewer. */
bool pipeline_takes_loads(int64_t method)
{
    return method == PARTITION_METIS || method == PARTITION_LDG || method == PARTITION_FENNEL ||
           method == PARTITION_AUTO;
}

static enum error_code check_partition(const struct pipeline_settings *s, struct error *err)
{
    const int64_t method = s->partition.method;
    char name[SETTING_NAME_SIZE];
    if (method == PARTITION_FILE && !s->partition.assignment[0])
        return error_set(err, ERROR_INVALID,
                         "partition.method is file, but partition.assignment is empty");
    if (!s->partition.loads[0] || pipeline_takes_loads(method))
        return ERROR_NONE;
    (void)setting_print(setting_find("partition.method"), s, name, sizeof name);
    return error_set(err, ERROR_INVALID,
                     "partition.loads is given, but partition.method is %s, which cannot use "
                     "loads: expected metis, ldg, fennel or auto",
                     name);
}

typedef enum error_code (*setting_check)(const struct pipeline_settings *s, struct error *err);

/* The checks for each kind of example. */
static enum error_code check_examples(const struct pipeline_settings *s, struct error *err)
{
    enum { CHECKS_MAX = 3 };
    static const setting_check checks[EXAMPLE_COUNT][CHECKS_MAX] = {
        [EXAMPLE_PAIR] = {check_edge_split, check_pair_sampler, check_negatives},
        [EXAMPLE_EDGE] = {check_edge_split, check_pair_sampler, check_edge_labels},
    };
    const setting_check *check = checks[task_example_of(s->ingest.task)];
    enum error_code rc = ERROR_NONE;
    for (int i = 0; rc == ERROR_NONE && i < CHECKS_MAX && check[i]; i++)
        rc = check[i](s, err);
    return rc;
}

enum error_code pipeline_settings_check(const struct pipeline_settings *s, struct error *err)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    if (!s->name[0] || strspn(s->name, allowed) != strlen(s->name) || s->name[0] == '.')
        return error_set(err, ERROR_INVALID,
                         "name is '%s', expected letters, digits, '.', '_', '-' and no leading dot",
                         s->name);
    if (s->sample.evaluation_fanouts.count != 0 &&
        s->sample.evaluation_fanouts.count != s->sample.fanouts.count)
        return error_set(err, ERROR_INVALID,
                         "sample.evaluation_fanouts has %d items and sample.fanouts %d; expected "
                         "the same number, or none for all neighbours",
                         s->sample.evaluation_fanouts.count, s->sample.fanouts.count);
    if (!dataset_format_has(s, FORMAT_IS_GENERATED) && !s->ingest.path[0])
        return error_set(err, ERROR_INVALID, "ingest.path is empty, expected a file or folder");
    if (s->infer.nodes[0])
        return error_set(err, ERROR_INVALID,
                         "infer.nodes is '%.100s', expected nothing: graphmill infer MODEL --on "
                         "DATASET --nodes FILE sets it",
                         s->infer.nodes);
    if (s->infer.model[0])
        return error_set(err, ERROR_INVALID,
                         "infer.model is '%.100s', expected nothing: graphmill infer MODEL --on "
                         "DATASET sets it",
                         s->infer.model);
    if (s->ingest.class_count &&
        (s->ingest.task == TASK_UNKNOWN || task_has(s->ingest.task, TASK_HOLDS_OUT_EDGES)))
        return error_set(err, ERROR_INVALID,
                         "ingest.class_count is %" PRId64
                         ", which needs an ingest.task whose labels it counts",
                         s->ingest.class_count);
    if (s->ingest.relations && s->ingest.class_count && !s->ingest.target_type[0])
        return error_set(err, ERROR_INVALID,
                         "ingest.class_count is %" PRId64
                         ", which in a graph with relations needs ingest.target_type, the node "
                         "type that has the classes",
                         s->ingest.class_count);
    static const setting_check checks[] = {
        check_beside_input,      check_time_format, relation_fanouts_check,
        embedding_tensors_check, check_examples,    check_history,
        check_node_times,        check_graphs,      check_model,
        check_sampler,           check_sums,        check_staleness,
        check_pipeline};
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof checks / sizeof *checks; i++)
        rc = checks[i](s, err);
    if (rc != ERROR_NONE)
        return rc;
    if (s->ingest.train_share + s->ingest.valid_share > 1.0)
        return error_set(err, ERROR_INVALID,
                         "ingest.train_share + ingest.valid_share is %g, expected at most 1",
                         s->ingest.train_share + s->ingest.valid_share);
    rc = check_partition(s, err);
    return rc == ERROR_NONE ? check_format_settings(s, err) : rc;
}

enum error_code pipeline_settings_check_format(const struct pipeline_settings *settings,
                                               struct error *err)
{
    enum error_code rc = check_beside_input(settings, err);
    if (rc == ERROR_NONE)
        rc = check_graphs(settings, err);
    return rc == ERROR_NONE ? check_format_settings(settings, err) : rc;
}
