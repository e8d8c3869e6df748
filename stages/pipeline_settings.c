#include "stages/pipeline_settings.h"

#include "common/base/file.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/yaml.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const format_names[] = {"folder", "ogb", "edge_list", "generated", NULL};
static const char *const id_type_names[] = {"auto", "integer", "string", NULL};
static const char *const direction_names[] = {"auto", "as_given", "undirected", "reversed", NULL};
static const char *const policy_names[] = {"keep", "remove", "refuse", NULL};
static const char *const feature_names[] = {"auto",   "given",         "degree",
                                            "random", "degree+random", NULL};
static const char *const task_names[] = {"auto", "single_label", "multi_label", NULL};
static const char *const method_names[] = {"metis", "hash", "file", NULL};
static const char *const model_names[] = {"sage", "gcn", NULL};
static const char *const precision_names[] = {"fp32", "bf16", NULL};
static const char *const optimizer_names[] = {"adam", "adamw", "sgd", NULL};
static const char *const schedule_names[] = {"constant", "cosine", "step", NULL};
static const char *const metric_names[] = {"accuracy", "loss",    "macro_f1",
                                           "micro_f1", "roc_auc", NULL};
static const char *const weights_names[] = {"best", "last", NULL};

/* clang-format off */
#define PLACE(field) offsetof(struct pipeline_settings, field), sizeof(((struct pipeline_settings *)0)->field)
#define TEXT(part, name, field, value, help) \
    {name, SETTING_TEXT, part, PLACE(field), value, 0, 0, NULL, help}
#define PATH(part, name, field, help) \
    {name, SETTING_PATH, part, PLACE(field), "", 0, 0, NULL, help}
#define INT(part, name, field, value, least, most, help) \
    {name, SETTING_INT, part, PLACE(field), value, least, most, NULL, help}
#define DOUBLE(part, name, field, value, least, most, help) \
    {name, SETTING_DOUBLE, part, PLACE(field), value, least, most, NULL, help}
#define BOOL(part, name, field, value, help) \
    {name, SETTING_BOOL, part, PLACE(field), value, 0, 0, NULL, help}
#define CHOICE(part, name, field, value, names, help) \
    {name, SETTING_CHOICE, part, PLACE(field), value, 0, 0, names, help}
#define CHOICE_OR_PATH(part, name, field, value, names, help) \
    {name, SETTING_CHOICE_OR_PATH, part, PLACE(field), value, 0, 0, names, help}
#define INT_LIST(part, name, field, value, least, most, help) \
    {name, SETTING_INT_LIST, part, PLACE(field), value, least, most, NULL, help}

/* What a row is part of (enum setting_part), and the values of another setting without which it has no effect. */
#define NOTHING            0, NULL
#define EVERYTHING         SETTING_OF_DATASET | SETTING_OF_PARTITION | SETTING_OF_TRAINING, NULL
#define DATASET            SETTING_OF_DATASET, NULL
#define DATASET_IF(when)   SETTING_OF_DATASET, when
#define PARTITION          SETTING_OF_PARTITION, NULL
#define PARTITION_IF(when) SETTING_OF_PARTITION, when
#define TRAINING           SETTING_OF_TRAINING, NULL
#define TRAINING_IF(when)  SETTING_OF_TRAINING, when
#define TARGET             SETTING_OF_TARGET, NULL
#define OUTPUTS            SETTING_OF_OUTPUTS, NULL
#define OPERATION          SETTING_OF_OPERATION, NULL

/*
 * Rules for changing this table. Ids of datasets, partitions and runs are hashes of those settings that the
 * thing is part of, that have an effect, and that differ from their default here. So
 *   - a new setting whose default does what was done before changes no id: existing runs go on;
 *   - a default never changes, and no choice changes its meaning: that would give an old id to other bits.
 *     What should be otherwise gets a setting or choice of another name, or, for all at once, IDENTITY_VERSION
 *     (stages/identity_digits.h) goes up, and everything is made again;
 *   - a setting that changes no bit is OPERATION; one that only later stages see belongs to those.
 * Of a PATH neither the text nor the place counts, but the content of what lies there.
 */
const struct setting_spec setting_table[] = {
    TEXT(NOTHING, "name", name, "", "what the run and its records are called: [A-Za-z0-9._-]"),
    INT(EVERYTHING, "seed", seed, "1", 0, 9.0e15, "key of every random draw"),
    INT(TARGET, "epochs", epochs, "10", 1, 1e9, "passes over the training nodes"),
    BOOL(TRAINING, "portable", portable, "false", "pin a BLAS core type that every AVX2 machine has, so that unlike machines may share a run"),

    CHOICE(DATASET, "ingest.format", ingest.format, "folder", format_names, "folder, ogb, edge_list or generated"),
    PATH(DATASET, "ingest.path", ingest.path, "the folder or file to read; relative to the pipeline file"),
    PATH(DATASET_IF("ingest.format=edge_list"), "ingest.labels", ingest.labels, "edge_list: a file with a line `id,class` a node, or `id,0,1,...` for several labels"),
    CHOICE_OR_PATH(DATASET, "ingest.features", ingest.features, "auto", feature_names, "auto (given, else degree+random), given, degree, random, degree+random; edge_list: or a file with a line `id,x1,x2,...` a node, or .npy"),
    PATH(DATASET_IF("ingest.format=edge_list"), "ingest.feature_ids", ingest.feature_ids, "edge_list: a file with an id a line; row i of the .npy of features is that of line i"),
    PATH(DATASET_IF("ingest.format=edge_list"), "ingest.train", ingest.split_file[0], "edge_list: a file with the id of a training node a line"),
    PATH(DATASET_IF("ingest.format=edge_list"), "ingest.valid", ingest.split_file[1], "edge_list: the same for validation"),
    PATH(DATASET_IF("ingest.format=edge_list"), "ingest.test", ingest.split_file[2], "edge_list: the same for the test"),
    TEXT(DATASET, "ingest.split", ingest.split, "given", "given (by the input), or random 60/20/20: percent of the labelled nodes for train/valid/test, drawn by the seed"),
    CHOICE(DATASET_IF("ingest.format=edge_list"), "ingest.id_type", ingest.id_type, "auto", id_type_names, "edge_list: what node ids are"),
    CHOICE(DATASET, "ingest.direction", ingest.direction, "auto", direction_names, "auto (what the data says), as_given, undirected (both ways), reversed"),
    CHOICE(DATASET, "ingest.self_loops", ingest.self_loops, "keep", policy_names, "keep, remove or refuse edges from a node to itself"),
    CHOICE(DATASET, "ingest.duplicates", ingest.duplicates, "remove", policy_names, "keep, remove or refuse repeated edges"),
    INT(DATASET_IF("ingest.features=auto,random,degree+random"), "ingest.random_dim", ingest.random_dim, "64", 1, 65536, "columns of random features"),
    BOOL(DATASET, "ingest.normalise_rows", ingest.normalise_rows, "false", "as PyG's NormalizeFeatures: less the smallest feature of all, then each row divided by its sum, or by 1 when that is below 1"),
    BOOL(DATASET, "ingest.standardise", ingest.standardise, "false", "give each feature column mean 0 and variance 1"),
    CHOICE(DATASET, "ingest.task", ingest.task, "auto", task_names, "auto, single_label or multi_label"),
    INT(DATASET_IF("ingest.format=generated"), "ingest.nodes", ingest.nodes, "10000", 100, 1e8, "generated: nodes"),
    DOUBLE(DATASET_IF("ingest.format=generated"), "ingest.average_degree", ingest.average_degree, "10", 1, 1000, "generated: mean degree, both directions counted"),
    DOUBLE(DATASET_IF("ingest.format=generated"), "ingest.degree_exponent", ingest.degree_exponent, "2.5", 2.05, 10, "generated: exponent of the power law of degrees"),
    INT(DATASET_IF("ingest.format=generated"), "ingest.classes", ingest.classes, "10", 2, 10000, "generated: communities, which are the classes"),
    DOUBLE(DATASET_IF("ingest.format=generated"), "ingest.homophily", ingest.homophily, "0.8", 0, 1, "generated: share of edges inside a community"),
    INT(DATASET_IF("ingest.format=generated"), "ingest.feature_dim", ingest.feature_dim, "32", 1, 65536, "generated: feature columns"),
    DOUBLE(DATASET_IF("ingest.format=generated"), "ingest.feature_noise", ingest.feature_noise, "2", 0, 1000, "generated: deviation of the noise on a class's centre"),
    DOUBLE(DATASET_IF("ingest.format=generated"), "ingest.label_noise", ingest.label_noise, "0.05", 0, 1, "generated: share of labels drawn at random"),
    DOUBLE(DATASET_IF("ingest.format=generated"), "ingest.train_share", ingest.train_share, "0.3", 0, 1, "generated: share of training nodes"),
    DOUBLE(DATASET_IF("ingest.format=generated"), "ingest.valid_share", ingest.valid_share, "0.2", 0, 1, "generated: share of validation nodes; the rest is the test split"),

    CHOICE(PARTITION, "partition.method", partition.method, "metis", method_names, "metis, hash or file"),
    INT(PARTITION, "partition.parts", partition.parts, "1", 1, 65535, "parts; many more than workers is fine"),
    PATH(PARTITION_IF("partition.method=file"), "partition.assignment", partition.assignment, "method file: a text file, line i has the part of node i"),
    BOOL(PARTITION_IF("partition.method=metis"), "partition.balance_train", partition.balance_train, "true", "metis: balance training nodes"),
    BOOL(PARTITION_IF("partition.method=metis"), "partition.balance_edges", partition.balance_edges, "true", "metis: balance edges"),

    INT_LIST(TRAINING, "sample.fanouts", sample.fanouts, "10,10", -1, 1e6, "neighbours kept at each hop, from the seed nodes outwards; -1: all; as many as layers"),
    INT(TRAINING, "sample.batch_size", sample.batch_size, "1024", 1, 1e8, "seed nodes of a mini-batch"),
    INT(TRAINING, "sample.batches_per_round", sample.batches_per_round, "1", 1, 65535, "slots: mini-batches that make one optimizer step"),
    INT(OPERATION, "sample.run_ahead", sample.run_ahead, "4", 1, 1e6, "rounds that sampling may be ahead of training"),
    INT(TRAINING, "sample.reuse_epochs", sample.reuse_epochs, "1", 1, 1e9, "epochs that one stored sampling pass serves"),
    INT_LIST(TRAINING, "sample.evaluation_fanouts", sample.evaluation_fanouts, "", -1, 1e6, "fan-outs of validation; empty: all neighbours"),
    INT(TRAINING, "sample.evaluation_batch_size", sample.evaluation_batch_size, "4096", 1, 1e8, "validation nodes of a mini-batch"),

    CHOICE(TRAINING, "train-step.model", train_step.model, "sage", model_names, "sage (GraphSAGE, mean) or gcn"),
    INT(TRAINING, "train-step.hidden", train_step.hidden, "64", 1, 65536, "width of the hidden layers"),
    DOUBLE(TRAINING, "train-step.dropout", train_step.dropout, "0.5", 0, 0.999, "share of hidden activations dropped in training"),
    CHOICE(TRAINING, "train-step.precision", train_step.precision, "fp32", precision_names, "fp32, or bf16: operands of products rounded, sums and weights in fp32; needs a processor with avx512_bf16"),

    CHOICE(TRAINING, "aggregate.optimizer", aggregate.optimizer, "adam", optimizer_names, "adam, adamw or sgd"),
    DOUBLE(TRAINING, "aggregate.learning_rate", aggregate.learning_rate, "0.01", 0, 1000, "learning rate"),
    DOUBLE(TRAINING_IF("aggregate.optimizer=sgd"), "aggregate.momentum", aggregate.momentum, "0", 0, 1, "sgd: momentum"),
    DOUBLE(TRAINING_IF("aggregate.optimizer=adam,adamw"), "aggregate.beta1", aggregate.beta1, "0.9", 0, 1, "adam: decay of the first moment"),
    DOUBLE(TRAINING_IF("aggregate.optimizer=adam,adamw"), "aggregate.beta2", aggregate.beta2, "0.999", 0, 1, "adam: decay of the second moment"),
    DOUBLE(TRAINING_IF("aggregate.optimizer=adam,adamw"), "aggregate.epsilon", aggregate.epsilon, "1e-8", 0, 1, "adam: added to the root of the second moment"),
    DOUBLE(TRAINING, "aggregate.weight_decay", aggregate.weight_decay, "0", 0, 100, "L2 term (adam, sgd) or decoupled decay (adamw)"),
    DOUBLE(TRAINING, "aggregate.clip_norm", aggregate.clip_norm, "0", 0, 1e30, "largest norm of a round's gradient; 0: any"),
    CHOICE(TRAINING, "aggregate.schedule", aggregate.schedule, "constant", schedule_names, "learning rate over time: constant, cosine or step"),
    INT(TRAINING_IF("aggregate.schedule=step"), "aggregate.step_epochs", aggregate.step_epochs, "30", 1, 1e9, "step: epochs between two reductions"),
    DOUBLE(TRAINING_IF("aggregate.schedule=step"), "aggregate.step_factor", aggregate.step_factor, "0.1", 0, 1, "step: what a reduction multiplies by"),
    DOUBLE(TRAINING_IF("aggregate.schedule=cosine"), "aggregate.final_rate", aggregate.final_rate, "0", 0, 1, "cosine: share of the learning rate at the end"),

    INT(TRAINING, "checkpoint.every_epochs", checkpoint.every_epochs, "1", 1, 1e9, "epochs between two snapshots, which are also the validations"),
    INT(OPERATION, "checkpoint.keep", checkpoint.keep, "2", 0, 1e9, "snapshots kept; older round records are pruned; 0: keep everything"),
    CHOICE(TRAINING, "checkpoint.metric", checkpoint.metric, "accuracy", metric_names, "validation metric that decides what is best"),
    INT(TARGET, "checkpoint.patience", checkpoint.patience, "0", 0, 1e9, "stop after so many snapshots without a better metric; 0: never"),

    CHOICE(OUTPUTS, "infer.weights", infer.weights, "best", weights_names, "best (validation) or last"),
    BOOL(OUTPUTS, "infer.embeddings", infer.embeddings, "true", "write embeddings.npy"),
    BOOL(OUTPUTS, "infer.predictions", infer.predictions, "true", "write predictions.csv"),
    {.name = NULL},
};
/* clang-format on */

static const struct setting_spec *find_setting(const char *name)
{
    for (const struct setting_spec *spec = setting_table; spec->name; spec++)
        if (strcmp(spec->name, name) == 0)
            return spec;
    return NULL;
}

/* The setting whose name without its section is `name`, or nearly; NULL when there is none. */
static const char *in_a_section(const char *name)
{
    const char *keys[128] = {0}, *names[128] = {0};
    size_t count = 0;
    for (const struct setting_spec *spec = setting_table; spec->name && count + 1 < 128; spec++) {
        const char *dot = strchr(spec->name, '.');
        if (!dot)
            continue;
        keys[count] = dot + 1;
        names[count++] = spec->name;
    }
    const char *nearest = text_nearest(name, keys);
    for (size_t i = 0; nearest && i < count; i++)
        if (keys[i] == nearest)
            return names[i];
    return NULL;
}

/* Layers are no setting of their own, and most people look for one. */
static bool names_layers(const char *name)
{
    const char *dot = strchr(name, '.');
    const char *key = dot ? dot + 1 : name;
    return strcmp(key, "layers") == 0 || strcmp(key, "num_layers") == 0 ||
           strcmp(key, "layer_count") == 0;
}

static enum error_code unknown_setting(const char *name, const char *where, struct error *err)
{
    const char *in_section = strchr(name, '.') ? NULL : in_a_section(name);
    if (names_layers(name))
        return error_set(err, ERROR_INVALID,
                         "%s: unknown setting '%s'; a model has as many layers as "
                         "sample.fanouts has items: sample.fanouts: [10, 10, 10] makes three",
                         where, name);
    const char *names[128] = {0};
    size_t count = 0;
    for (const struct setting_spec *spec = setting_table; spec->name && count + 1 < 128; spec++)
        names[count++] = spec->name;
    const bool exact = in_section && strcmp(strchr(in_section, '.') + 1, name) == 0;
    const char *nearest = exact ? in_section : text_nearest(name, names);
    nearest = nearest ? nearest : in_section;
    if (nearest)
        return error_set(err, ERROR_INVALID, "%s: unknown setting '%s'; did you mean '%s'?", where,
                         name, nearest);
    return error_set(err, ERROR_INVALID, "%s: unknown setting '%s'", where, name);
}

static enum error_code out_of_range(const struct setting_spec *spec, const char *value,
                                    const char *where, struct error *err)
{
    return error_set(err, ERROR_INVALID, "%s: %s is '%s', expected %s from %.15g to %.15g", where,
                     spec->name, value, spec->type == SETTING_DOUBLE ? "a number" : "whole numbers",
                     spec->least, spec->most);
}

static bool int_in_range(const struct setting_spec *spec, const char *text, size_t size,
                         int64_t *out)
{
    return text_int64(text, size, out) && (double)*out >= spec->least && (double)*out <= spec->most;
}

/* The index of `value` among the names of a choice; how many there are when it is none of them. */
static int64_t find_choice(const struct setting_spec *spec, const char *value)
{
    int64_t i = 0;
    while (spec->choices[i] && strcmp(spec->choices[i], value) != 0)
        i++;
    return i;
}

static enum error_code assign_choice(const struct setting_spec *spec, const char *value,
                                     const char *where, int64_t *out, struct error *err)
{
    char known[256] = "";
    size_t at = 0;
    *out = find_choice(spec, value);
    if (spec->choices[*out])
        return ERROR_NONE;
    for (int i = 0; spec->choices[i]; i++) {
        const int n =
            snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", spec->choices[i]);
        at += n > 0 ? (size_t)n : 0;
    }
    return error_set(err, ERROR_INVALID, "%s: %s is '%s', expected one of %s", where, spec->name,
                     value, known);
}

static enum error_code assign_text(const struct setting_spec *spec, const char *value,
                                   const char *where, char *out, size_t size, struct error *err)
{
    if (text_copy(out, size, value))
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID, "%s: %s is longer than %zu bytes", where, spec->name,
                     size - 1);
}

static enum error_code assign_choice_or_path(const struct setting_spec *spec, const char *value,
                                             const char *where, struct choice_or_path *out,
                                             struct error *err)
{
    *out = (struct choice_or_path){.choice = find_choice(spec, value)};
    if (spec->choices[out->choice])
        return ERROR_NONE;
    if (!value[0])
        return assign_choice(spec, value, where, &out->choice, err);
    return assign_text(spec, value, where, out->path, sizeof out->path, err);
}

static enum error_code assign_list(const struct setting_spec *spec, const char *value,
                                   const char *where, struct int_list *out, struct error *err)
{
    *out = (struct int_list){0};
    for (const char *item = value; *item;) {
        const size_t size = strcspn(item, ",");
        const char *from = item;
        size_t length = size;
        while (length && *from == ' ')
            from++, length--;
        if (out->count == HOP_COUNT_MAX)
            return error_set(err, ERROR_INVALID, "%s: %s has more than %d items", where, spec->name,
                             HOP_COUNT_MAX);
        if (!int_in_range(spec, from, length, &out->value[out->count]))
            return out_of_range(spec, value, where, err);
        if (out->value[out->count] == 0)
            return error_set(err, ERROR_INVALID,
                             "%s: %s is '%s': a fan-out of 0 keeps no neighbour; expected -1 (all) "
                             "or at least 1",
                             where, spec->name, value);
        out->count++;
        item += size;
        if (*item == ',' && !*++item)
            return out_of_range(spec, value, where, err); /* nothing behind the last comma */
    }
    return ERROR_NONE;
}

/* What other files of this kind say for true and false; NULL for what says neither. */
static const char *boolean_meant(const char *value)
{
    static const char *const words[][2] = {
        {"yes", "no"}, {"on", "off"}, {"true", "false"}, {"1", "0"}, {"y", "n"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(value, words[i][0]) == 0)
            return "true";
        if (strcasecmp(value, words[i][1]) == 0)
            return "false";
    }
    return NULL;
}

static enum error_code assign_bool(const struct setting_spec *spec, const char *value,
                                   const char *where, bool *out, struct error *err)
{
    const char *meant = boolean_meant(value);
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
        return error_set(err, ERROR_INVALID, "%s: %s is '%s', expected true or false%s%s", where,
                         spec->name, value, meant ? "; write " : "", meant ? meant : "");
    *out = value[0] == 't';
    return ERROR_NONE;
}

/* YAML's words for nothing are text like any other here. */
static enum error_code refuse_null(const struct setting_spec *spec, const char *where,
                                   struct error *err)
{
    return error_set(err, ERROR_INVALID,
                     "%s: %s is '~': there is no null here; leave the line out for the default, "
                     "which is %s",
                     where, spec->name, spec->default_text[0] ? spec->default_text : "empty");
}

static enum error_code assign_spec(const struct setting_spec *spec,
                                   struct pipeline_settings *settings, const char *value,
                                   const char *where, struct error *err)
{
    void *field = (char *)settings + spec->offset;
    if (strcmp(value, "~") == 0)
        return refuse_null(spec, where, err);
    switch (spec->type) {
    case SETTING_INT:
        if (!int_in_range(spec, value, strlen(value), field))
            return out_of_range(spec, value, where, err);
        return ERROR_NONE;
    case SETTING_DOUBLE: {
        double number = 0.0;
        if (!text_double(value, strlen(value), &number) || !isfinite(number) ||
            number < spec->least || number > spec->most)
            return out_of_range(spec, value, where, err);
        *(double *)field = number;
        return ERROR_NONE;
    }
    case SETTING_BOOL:
        return assign_bool(spec, value, where, field, err);
    case SETTING_TEXT:
    case SETTING_PATH:
        return assign_text(spec, value, where, field, spec->size, err);
    case SETTING_CHOICE:
        return assign_choice(spec, value, where, field, err);
    case SETTING_CHOICE_OR_PATH:
        return assign_choice_or_path(spec, value, where, field, err);
    case SETTING_INT_LIST:
        return assign_list(spec, value, where, field, err);
    }
    return ERROR_NONE;
}

void pipeline_settings_defaults(struct pipeline_settings *settings)
{
    *settings = (struct pipeline_settings){0};
    for (const struct setting_spec *spec = setting_table; spec->name; spec++) {
        const enum error_code rc = assign_spec(spec, settings, spec->default_text, "default", NULL);
        must(rc == ERROR_NONE);
    }
}

enum error_code pipeline_settings_assign(struct pipeline_settings *settings, const char *name,
                                         const char *value, const char *where, struct error *err)
{
    const struct setting_spec *spec = find_setting(name);
    if (!spec)
        return unknown_setting(name, where, err);
    return assign_spec(spec, settings, value, where, err);
}

/* Makes a path setting absolute: relative to the pipeline file, or to the working directory for none. */
static enum error_code resolve_path(char path[SETTING_PATH_SIZE], const char *pipeline_file,
                                    struct error *err)
{
    char expanded[SETTING_PATH_SIZE], joined[2 * SETTING_PATH_SIZE], absolute[FILE_PATH_SIZE];
    if (!path[0])
        return ERROR_NONE;
    enum error_code rc = text_expand(path, expanded, sizeof expanded, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "%s", pipeline_file);
    const char *slash = strrchr(pipeline_file, '/');
    const int folder = expanded[0] != '/' && slash ? (int)(slash - pipeline_file) + 1 : 0;
    (void)snprintf(joined, sizeof joined, "%.*s%s", folder, pipeline_file, expanded);
    rc = file_absolute(absolute, joined, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "%s", pipeline_file);
    if (!text_copy(path, SETTING_PATH_SIZE, absolute))
        return error_set(err, ERROR_INVALID, "%s: path is too long: %.100s...", pipeline_file,
                         absolute);
    return ERROR_NONE;
}

/* The path in the field of a setting that has one, or NULL. */
static char *path_of(const struct setting_spec *spec, struct pipeline_settings *settings)
{
    char *field = (char *)settings + spec->offset;
    if (spec->type == SETTING_CHOICE_OR_PATH)
        return ((struct choice_or_path *)(void *)field)->path;
    return spec->type == SETTING_PATH ? field : NULL;
}

static enum error_code resolve_paths(struct pipeline_settings *settings, const char *pipeline_file,
                                     struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (const struct setting_spec *spec = setting_table; rc == ERROR_NONE && spec->name; spec++) {
        char *path = path_of(spec, settings);
        if (path)
            rc = resolve_path(path, pipeline_file, err);
    }
    return rc;
}

static enum error_code default_name(struct pipeline_settings *settings, const char *path,
                                    struct error *err)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    const size_t size = dot ? (size_t)(dot - base) : strlen(base);
    if (size >= sizeof settings->name)
        return error_set(err, ERROR_INVALID, "%s: give a name shorter than %zu bytes", path,
                         sizeof settings->name);
    memcpy(settings->name, base, size);
    settings->name[size] = '\0';
    return ERROR_NONE;
}

enum error_code pipeline_settings_load(struct pipeline_settings *settings, const char *path,
                                       struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    struct yaml_file file = {0};
    pipeline_settings_defaults(settings);
    enum error_code rc = file_read(path, 1 << 20, &text, &size, err);
    if (rc == ERROR_NOT_FOUND || rc == ERROR_INPUT)
        rc = ERROR_INVALID;
    if (rc == ERROR_NONE)
        rc = yaml_parse(text, size, path, &file, err);
    for (size_t i = 0; rc == ERROR_NONE && i < file.count; i++) {
        char where[FILE_PATH_SIZE];
        (void)snprintf(where, sizeof where, "%.900s:%d", path, file.entry[i].line);
        rc =
            pipeline_settings_assign(settings, file.entry[i].name, file.entry[i].value, where, err);
    }
    if (rc == ERROR_NONE && !settings->name[0])
        rc = default_name(settings, path, err);
    if (rc == ERROR_NONE)
        rc = resolve_paths(settings, path, err);
    yaml_file_release(&file);
    memory_free(text);
    return rc;
}

enum error_code pipeline_settings_override(struct pipeline_settings *settings,
                                           const char *assignment, struct error *err)
{
    char name[SETTING_NAME_SIZE];
    const char *equals = strchr(assignment, '=');
    if (!equals || (size_t)(equals - assignment) >= sizeof name)
        return error_set(err, ERROR_USAGE, "--set '%s': expected section.key=value", assignment);
    memcpy(name, assignment, (size_t)(equals - assignment));
    name[equals - assignment] = '\0';
    const enum error_code rc = pipeline_settings_assign(settings, name, equals + 1, "--set", err);
    return rc == ERROR_NONE ? resolve_paths(settings, "--set", err) : rc;
}

enum error_code pipeline_split_shares(const struct pipeline_settings *settings,
                                      struct split_shares *shares, struct error *err)
{
    int *percent = shares->percent, end = 0;
    *shares = (struct split_shares){0};
    if (strcmp(settings->ingest.split, "given") == 0)
        return ERROR_NONE;
    shares->is_random = true;
    /* At most three digits each, so that nothing overflows. NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(settings->ingest.split, "random %3d/%3d/%3d%n", &percent[0], &percent[1],
               &percent[2], &end) == SPLIT_SHARE_COUNT &&
        end > 0 && !settings->ingest.split[end] && percent[0] > 0 && percent[1] >= 0 &&
        percent[2] >= 0 && percent[0] + percent[1] + percent[2] == 100)
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "ingest.split is '%s', expected given, or percents of train/valid/test that "
                     "make 100: random 60/20/20",
                     settings->ingest.split);
}

static bool is_array(const char *path)
{
    const size_t size = strlen(path);
    return size >= 4 && strcmp(path + size - 4, ".npy") == 0;
}

/* The files beside an edge list, and the splits. */
static enum error_code check_beside_input(const struct pipeline_settings *s, struct error *err)
{
    static const char *const names[] = {"labels", "feature_ids", "train",
                                        "valid",  "test",        "features"};
    const char *const paths[] = {s->ingest.labels,        s->ingest.feature_ids,
                                 s->ingest.split_file[0], s->ingest.split_file[1],
                                 s->ingest.split_file[2], s->ingest.features.path};
    struct split_shares shares;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (paths[i][0] && s->ingest.format != FORMAT_EDGE_LIST)
            return error_set(err, ERROR_INVALID,
                             "ingest.%s is '%s', but only `format: edge_list` has files beside it: "
                             "remove the line, or change ingest.format",
                             names[i], paths[i]);
    if (s->ingest.feature_ids[0] && !is_array(s->ingest.features.path))
        return error_set(err, ERROR_INVALID,
                         "ingest.feature_ids is '%s', but ingest.features is no .npy file: the ids "
                         "of a text file stand in its first column",
                         s->ingest.feature_ids);
    const enum error_code rc = pipeline_split_shares(s, &shares, err);
    if (rc != ERROR_NONE || !shares.is_random)
        return rc;
    if (s->ingest.format == FORMAT_GENERATED)
        return error_set(err, ERROR_INVALID,
                         "ingest.split is '%s', but a generated graph goes by ingest.train_share "
                         "and ingest.valid_share: remove one of them",
                         s->ingest.split);
    for (size_t i = 0; i < SPLIT_SHARE_COUNT; i++)
        if (s->ingest.split_file[i][0])
            return error_set(err, ERROR_INVALID,
                             "ingest.split is '%s', but ingest.%s names a file: remove one of them",
                             s->ingest.split, names[2 + i]);
    return ERROR_NONE;
}

enum error_code pipeline_settings_check(const struct pipeline_settings *s, struct error *err)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    if (!s->name[0] || strspn(s->name, allowed) != strlen(s->name) || s->name[0] == '.')
        return error_set(err, ERROR_INVALID,
                         "name is '%s', expected letters, digits, '.', '_', '-' and no leading dot",
                         s->name);
    if (s->sample.fanouts.count == 0)
        return error_set(err, ERROR_INVALID,
                         "sample.fanouts is empty, expected one for each layer");
    if (s->sample.evaluation_fanouts.count != 0 &&
        s->sample.evaluation_fanouts.count != s->sample.fanouts.count)
        return error_set(err, ERROR_INVALID,
                         "sample.evaluation_fanouts has %d items and sample.fanouts %d; expected "
                         "the same number, or none for all neighbours",
                         s->sample.evaluation_fanouts.count, s->sample.fanouts.count);
    if (s->ingest.format != FORMAT_GENERATED && !s->ingest.path[0])
        return error_set(err, ERROR_INVALID, "ingest.path is empty, expected a file or folder");
    const enum error_code rc = check_beside_input(s, err);
    if (rc != ERROR_NONE)
        return rc;
    if (s->ingest.train_share + s->ingest.valid_share > 1.0)
        return error_set(err, ERROR_INVALID,
                         "ingest.train_share + ingest.valid_share is %g, expected at most 1",
                         s->ingest.train_share + s->ingest.valid_share);
    if (s->partition.method == PARTITION_FILE && !s->partition.assignment[0])
        return error_set(err, ERROR_INVALID,
                         "partition.method is file, but partition.assignment is empty");
    return ERROR_NONE;
}

static int print_value(const struct setting_spec *spec, const struct pipeline_settings *settings,
                       char *out, size_t size)
{
    const void *field = (const char *)settings + spec->offset;
    switch (spec->type) {
    case SETTING_INT:
        return snprintf(out, size, "%" PRId64, *(const int64_t *)field);
    case SETTING_DOUBLE:
        return snprintf(out, size, "%.17g", *(const double *)field);
    case SETTING_BOOL:
        return snprintf(out, size, "%s", *(const bool *)field ? "true" : "false");
    case SETTING_TEXT:
    case SETTING_PATH:
        return snprintf(out, size, "%s", (const char *)field);
    case SETTING_CHOICE_OR_PATH: {
        const struct choice_or_path *value = field;
        return snprintf(out, size, "%s",
                        value->path[0] ? value->path : spec->choices[value->choice]);
    }
    case SETTING_CHOICE:
        return snprintf(out, size, "%s", spec->choices[*(const int64_t *)field]);
    case SETTING_INT_LIST: {
        const struct int_list *list = field;
        int at = 0;
        out[0] = '\0';
        for (int i = 0; i < list->count && at >= 0 && (size_t)at < size; i++)
            at += snprintf(out + at, size - (size_t)at, "%s%" PRId64, i ? "," : "", list->value[i]);
        return at;
    }
    }
    return -1;
}

static enum error_code add_line(const struct setting_spec *spec,
                                const struct pipeline_settings *settings, char *out, size_t *at,
                                struct error *err)
{
    char value[SETTING_PATH_SIZE + 1];
    (void)print_value(spec, settings, value, sizeof value);
    const int n = snprintf(out + *at, SETTINGS_TEXT_SIZE - *at, "%s = %s\n", spec->name, value);
    if (n < 0 || (size_t)n >= SETTINGS_TEXT_SIZE - *at)
        return error_set(err, ERROR_INVALID, "the settings take more than %d bytes",
                         SETTINGS_TEXT_SIZE);
    *at += (size_t)n;
    return ERROR_NONE;
}

enum error_code pipeline_settings_text(const struct pipeline_settings *settings, char *out,
                                       struct error *err)
{
    size_t at = 0;
    enum error_code rc = ERROR_NONE;
    out[0] = '\0';
    for (const struct setting_spec *spec = setting_table; rc == ERROR_NONE && spec->name; spec++)
        rc = add_line(spec, settings, out, &at, err);
    return rc;
}

/* --- what settings are part of --- */

static bool equal_values(const struct setting_spec *spec, const struct pipeline_settings *a,
                         const struct pipeline_settings *b)
{
    char one[SETTING_PATH_SIZE + 1], other[SETTING_PATH_SIZE + 1];
    (void)print_value(spec, a, one, sizeof one);
    (void)print_value(spec, b, other, sizeof other);
    return strcmp(one, other) == 0;
}

/* Is `word` one of the words of `list`, which a comma parts? */
static bool is_listed(const char *list, const char *word)
{
    const size_t size = strlen(word);
    for (; *list; list += *list == ',') {
        const size_t item = strcspn(list, ",");
        if (item == size && memcmp(list, word, size) == 0)
            return true;
        list += item;
    }
    return false;
}

static bool has_effect(const struct setting_spec *spec, const struct pipeline_settings *settings)
{
    char name[SETTING_NAME_SIZE], value[SETTING_PATH_SIZE + 1];
    if (!spec->only_with)
        return true;
    const size_t size = strcspn(spec->only_with, "=");
    must(size < sizeof name && spec->only_with[size] == '=');
    memcpy(name, spec->only_with, size);
    name[size] = '\0';
    const struct setting_spec *other = find_setting(name);
    must(other != NULL);
    (void)print_value(other, settings, value, sizeof value);
    return is_listed(spec->only_with + size + 1, value);
}

/* The setting whose name comes next after `name`, so that ids do not depend on the order of the table. */
static const struct setting_spec *next_by_name(const char *name)
{
    const struct setting_spec *next = NULL;
    for (const struct setting_spec *spec = setting_table; spec->name; spec++)
        if (strcmp(spec->name, name) > 0 && (!next || strcmp(spec->name, next->name) < 0))
            next = spec;
    return next;
}

/* Of the settings that count, those that are a path now, or those that are none. */
static enum error_code collect(const struct pipeline_settings *settings, unsigned parts, bool paths,
                               char *out, struct error *err)
{
    struct pipeline_settings defaults, copy = *settings;
    size_t at = 0;
    enum error_code rc = ERROR_NONE;
    pipeline_settings_defaults(&defaults);
    out[0] = '\0';
    for (const struct setting_spec *spec = next_by_name(""); rc == ERROR_NONE && spec;
         spec = next_by_name(spec->name)) {
        const char *path = path_of(spec, &copy);
        if ((spec->part_of & parts) && (path && path[0]) == paths && has_effect(spec, settings) &&
            !equal_values(spec, settings, &defaults))
            rc = add_line(spec, settings, out, &at, err);
    }
    return rc;
}

enum error_code pipeline_settings_identity(const struct pipeline_settings *settings, unsigned parts,
                                           char *out, struct error *err)
{
    return collect(settings, parts, false, out, err);
}

enum error_code pipeline_settings_sources(const struct pipeline_settings *settings, unsigned parts,
                                          char *out, struct error *err)
{
    return collect(settings, parts, true, out, err);
}

bool pipeline_settings_changes(const struct pipeline_settings *from,
                               const struct pipeline_settings *to, unsigned parts,
                               char text[SETTING_CHANGES_SIZE])
{
    size_t at = 0;
    int more = 0;
    text[0] = '\0';
    for (const struct setting_spec *spec = setting_table; spec->name; spec++) {
        char before[SETTING_PATH_SIZE + 1], after[SETTING_PATH_SIZE + 1];
        char line[2 * SETTING_PATH_SIZE + SETTING_NAME_SIZE + 16];
        if (!(spec->part_of & parts) || equal_values(spec, from, to) ||
            (!has_effect(spec, from) && !has_effect(spec, to)))
            continue;
        (void)print_value(spec, from, before, sizeof before);
        (void)print_value(spec, to, after, sizeof after);
        const int size = snprintf(line, sizeof line, "%s%s %s -> %s", at ? ", " : "", spec->name,
                                  before[0] ? before : "(none)", after[0] ? after : "(none)");
        if (size < 0 || at + (size_t)size + sizeof ", and 100 more" > SETTING_CHANGES_SIZE)
            more++;
        else
            at += (size_t)snprintf(text + at, SETTING_CHANGES_SIZE - at, "%s", line);
    }
    if (more)
        (void)snprintf(text + at, SETTING_CHANGES_SIZE - at, "%s%d more", at ? ", and " : "", more);
    return at > 0 || more > 0;
}

void pipeline_settings_reset(struct pipeline_settings *settings, unsigned parts)
{
    for (const struct setting_spec *spec = setting_table; spec->name; spec++)
        if (spec->part_of & parts) {
            const enum error_code rc =
                assign_spec(spec, settings, spec->default_text, "default", NULL);
            must(rc == ERROR_NONE);
        }
}

enum error_code pipeline_settings_parse(struct pipeline_settings *settings, const char *text,
                                        const char *where, struct error *err)
{
    pipeline_settings_defaults(settings);
    return pipeline_settings_apply(settings, text, where, err);
}

enum error_code pipeline_settings_apply(struct pipeline_settings *settings, const char *text,
                                        const char *where, struct error *err)
{
    while (*text) {
        char name[SETTING_NAME_SIZE], value[SETTING_PATH_SIZE + 1];
        const size_t line = strcspn(text, "\n");
        const char *split = strstr(text, " = ");
        if (!split || split > text + line || (size_t)(split - text) >= sizeof name ||
            (size_t)(text + line - split - 3) >= sizeof value)
            return error_set(err, ERROR_CORRUPT, "%s: not a settings line: %.60s", where, text);
        memcpy(name, text, (size_t)(split - text));
        name[split - text] = '\0';
        memcpy(value, split + 3, (size_t)(text + line - split - 3));
        value[text + line - split - 3] = '\0';
        const enum error_code rc = pipeline_settings_assign(settings, name, value, where, err);
        if (rc != ERROR_NONE)
            return rc;
        text += line + (text[line] == '\n');
    }
    return ERROR_NONE;
}
