/* Derives from the settings how examples are split and what is learnt. Declared in
 * pipeline_settings.h. */
#include "stages/plan/settings/dataset_format.h"
#include "stages/plan/settings/named_entries.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "stages/sampling/samplers/sampler.h"

#include <stdio.h>
#include <string.h>

/* Parses " a/b/c", the text after the word "random" or "time". */
static bool read_percent(const char *text, int percent[SPLIT_SHARE_COUNT])
{
    int end = 0;
    /* At most three digits each, so that nothing overflows. NOLINTNEXTLINE(cert-err34-c) */
    return sscanf(text, " %3d/%3d/%3d%n", &percent[0], &percent[1], &percent[2], &end) ==
               SPLIT_SHARE_COUNT &&
           end > 0 && !text[end] && percent[0] > 0 && percent[1] >= 0 && percent[2] >= 0 &&
           percent[0] + percent[1] + percent[2] == 100;
}

static bool names_columns(const char *text, const char *word, enum split_kind kind,
                          struct split_shares *shares)
{
    const size_t size = strlen(word);
    const char *at = text + size;
    struct named_entry entry;
    int count = 0;
    if (strncmp(text, word, size) != 0)
        return false;
    shares->kind = kind;
    shares->columns = at;
    while (named_entry_next(&at, &entry) && entry.size)
        count++;
    return count == (kind == SPLIT_IS_COLUMN ? 1 : SPLIT_SHARE_COUNT);
}

static bool read_rule(const char *text, struct split_shares *shares)
{
    static const struct {
        const char *word;
        enum split_kind kind;
    } rules[] = {{"random ", SPLIT_IS_RANDOM},
                 {"stratified ", SPLIT_IS_STRATIFIED},
                 {"hash ", SPLIT_IS_HASH},
                 {"time ", SPLIT_IS_TIME}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const size_t size = strlen(rules[i].word);
        if (strncmp(text, rules[i].word, size) != 0)
            continue;
        shares->kind = rules[i].kind;
        return read_percent(text + size, shares->percent);
    }
    return false;
}

enum error_code pipeline_split_shares(const struct pipeline_settings *settings,
                                      struct split_shares *shares, struct error *err)
{
    *shares = (struct split_shares){0};
    if (strcmp(settings->ingest.split, "given") == 0)
        return ERROR_NONE;
    shares->is_random = true;
    if (names_columns(settings->ingest.split, "column ", SPLIT_IS_COLUMN, shares) ||
        names_columns(settings->ingest.split, "masks ", SPLIT_IS_MASKS, shares))
        return ERROR_NONE;
    if (read_rule(settings->ingest.split, shares))
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "ingest.split is '%s', expected given, or percents of train/valid/test that "
                     "make 100 behind random, stratified, hash or time: random 60/20/20; or column "
                     "NAME, or masks TRAIN; VALID; TEST",
                     settings->ingest.split);
}

enum error_code pipeline_edge_split(const struct pipeline_settings *settings,
                                    struct edge_split *split, struct error *err)
{
    const char *text = settings->ingest.edge_split;
    *split = (struct edge_split){.kind = EDGE_SPLIT_GIVEN};
    if (strcmp(text, "given") == 0)
        return ERROR_NONE;
    split->kind = EDGE_SPLIT_LEAVE_ONE_OUT;
    if (strcmp(text, "leave_one_out") == 0)
        return ERROR_NONE;
    split->kind = strncmp(text, "time", 4) == 0 ? EDGE_SPLIT_TIME : EDGE_SPLIT_RANDOM;
    if ((strncmp(text, "time ", 5) == 0 && read_percent(text + 4, split->percent)) ||
        (strncmp(text, "random ", 7) == 0 && read_percent(text + 6, split->percent)))
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "ingest.edge_split is '%s', expected random or time with percents of "
                     "train/valid/test that make 100 (random 85/5/10), leave_one_out, or given",
                     text);
}

bool pipeline_gives_edges(const struct pipeline_settings *settings)
{
    struct edge_split split;
    return task_has(settings->ingest.task, TASK_HOLDS_OUT_EDGES) &&
           pipeline_edge_split(settings, &split, NULL) == ERROR_NONE &&
           split.kind == EDGE_SPLIT_GIVEN;
}

const struct sampler *pipeline_sampler(const struct pipeline_settings *settings)
{
    return sampler_of((enum sampler_kind)settings->sample.sampler);
}

bool pipeline_learns_events(const struct pipeline_settings *settings)
{
    struct edge_split split;
    return task_has(settings->ingest.task, TASK_HOLDS_OUT_EDGES) &&
           sampler_goes_by_time(pipeline_sampler(settings)) &&
           pipeline_edge_split(settings, &split, NULL) == ERROR_NONE &&
           split.kind == EDGE_SPLIT_TIME;
}

enum history_choice pipeline_history(const struct pipeline_settings *settings)
{
    return pipeline_learns_events(settings) ? (enum history_choice)settings->infer.history
                                            : HISTORY_TRAINING;
}

/* Returns whether more than ReLU may be between the matrices of the layer. */
static bool layer_inner_matters(const struct layer_config *layer)
{
    return layer->kind == LAYER_GIN &&
           (layer->norm != NORM_NONE ||
            (layer->activation != ACTIVATION_RELU && layer->activation != ACTIVATION_AUTO));
}

/* Returns the same for the layers of train-step.model. */
static bool inner_matters(const struct pipeline_settings *settings)
{
    return settings->train_step.layers.count == 0 &&
           layer_inner_matters(&settings->train_step.layer);
}

bool pipeline_fills_gin(const struct pipeline_settings *settings)
{
    return inner_matters(settings) && settings->train_step.layer.option.inner != LAYER_INNER_RELU;
}

/* The option `inner` of item `number` of train-step.layers, or for -1 of train-step.model. */
struct inner_option {
    int64_t *inner;
    bool matters;
};

static struct inner_option inner_of(struct pipeline_settings *settings, int64_t number)
{
    if (number < 0)
        return (struct inner_option){&settings->train_step.layer.option.inner,
                                     inner_matters(settings)};
    struct layer_config *item = &settings->train_step.layers.item[number];
    return (struct inner_option){&item->option.inner, layer_inner_matters(item)};
}

void pipeline_inner_for_ids(struct pipeline_settings *settings)
{
    for (int64_t i = -1; i < settings->train_step.layers.count; i++) {
        const struct inner_option at = inner_of(settings, i);
        *at.inner =
            at.matters && *at.inner != LAYER_INNER_RELU ? LAYER_INNER_SAME : LAYER_INNER_AUTO;
    }
}

static void date_inner(struct pipeline_settings *settings)
{
    for (int64_t i = -1; i < settings->train_step.layers.count; i++) {
        const struct inner_option at = inner_of(settings, i);
        if (at.matters && *at.inner == LAYER_INNER_AUTO)
            *at.inner = LAYER_INNER_RELU;
    }
}

/* Returns whether a line of pipeline_settings_text() gives the setting. */
static bool has_line(const char *text, const char *name)
{
    const size_t size = strlen(name);
    while (*text) {
        if (strncmp(text, name, size) == 0 && strncmp(text + size, " = ", 3) == 0)
            return true;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return false;
}

void pipeline_settings_date(struct pipeline_settings *settings, const char *text)
{
    if (!has_line(text, "infer.history") && pipeline_learns_events(settings))
        settings->infer.history = HISTORY_TRAINING;
    if (!has_line(text, "train-step.inner"))
        date_inner(settings);
}

bool pipeline_reads_targets(const struct pipeline_settings *settings)
{
    return !task_has(settings->ingest.task, TASK_HOLDS_OUT_EDGES);
}

bool pipeline_may_have_edge_splits(const struct pipeline_settings *settings)
{
    return task_has(settings->ingest.task, TASK_RANKS) && pipeline_gives_edges(settings) &&
           dataset_format_has(settings, FORMAT_HOLDS_OUT_EDGES);
}

bool pipeline_has_node_files(const struct pipeline_settings *settings)
{
    return dataset_format_has(settings, FORMAT_HAS_NODE_FILES);
}

const char *pipeline_edge_label(const struct pipeline_settings *settings)
{
    return task_has(settings->ingest.task, TASK_LABELS_EDGES) ? settings->ingest.edge_label : NULL;
}

int64_t pipeline_negatives(const struct pipeline_settings *settings)
{
    return task_has(settings->ingest.task, TASK_LABELS_EDGES) ? 0 : settings->sample.negatives;
}

int64_t pipeline_evaluation_negatives(const struct pipeline_settings *settings)
{
    return task_has(settings->ingest.task, TASK_LABELS_EDGES)
               ? 0
               : settings->sample.evaluation_negatives;
}
