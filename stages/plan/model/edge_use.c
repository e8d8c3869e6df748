#include "stages/plan/model/edge_use.h"

#include "common/base/memory.h"
#include "stages/plan/model/relation_check.h"
#include "stages/plan/model/run_model.h"
#include "stages/sampling/samplers/sampler.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The columns that models can read, and the setting for each. */
struct edge_switch {
    enum edge_column column;
    const char *setting;
    size_t offset;
};

static const struct edge_switch edge_switch[] = {
    {EDGE_WEIGHT, "train-step.edge_weights",
     offsetof(struct pipeline_settings, train_step.edge_weights)},
    {EDGE_FEATURE, "train-step.edge_features",
     offsetof(struct pipeline_settings, train_step.edge_features)},
};
enum { SWITCH_COUNT = sizeof edge_switch / sizeof *edge_switch };

static enum edge_choice choice_of(const struct pipeline_settings *settings,
                                  const struct edge_switch *of)
{
    enum edge_choice choice = EDGE_CHOICE_AUTO;
    memcpy(&choice, (const char *)settings + of->offset, sizeof choice);
    return choice;
}

static enum error_code check_demand(const struct edge_switch *of, bool is_read, bool is_there,
                                    struct error *err)
{
    const struct edge_column_row *column = &edge_column[of->column];
    if (!is_read)
        return error_set(err, ERROR_INVALID,
                         "%s is true, but no layer of the model reads %s: expected another model, "
                         "or auto",
                         of->setting, column->plural);
    if (!is_there)
        return error_set(err, ERROR_INPUT,
                         "%s is true, but the graph has no %s: expected a column \"%s\" in the "
                         "table of edges, or a file %s.npy beside it",
                         of->setting, column->plural, column->what, column->file);
    return ERROR_NONE;
}

enum error_code edge_use_of(const struct pipeline_settings *settings, const struct model *model,
                            const struct edge_widths *width, struct edge_use *out,
                            struct error *err)
{
    *out = (struct edge_use){.sampled = pipeline_sampler(settings)->needs};
    if (task_has(settings->ingest.task, TASK_HAS_DECODER) &&
        settings->train_step.decoder != DECODER_NONE &&
        decoder_type_of(settings->train_step.decoder)->by_relation)
        out->sampled |= 1U << EDGE_TYPE;
    for (int i = 0; i < SWITCH_COUNT; i++) {
        const struct edge_switch *of = &edge_switch[i];
        const enum edge_choice choice = choice_of(settings, of);
        const bool is_read = model->reads_edges >> of->column & 1;
        const bool is_there = width->of[of->column] != 0;
        const enum error_code rc =
            choice == EDGE_CHOICE_TRUE ? check_demand(of, is_read, is_there, err) : ERROR_NONE;
        if (rc != ERROR_NONE)
            return rc;
        if (choice == EDGE_CHOICE_FALSE)
            out->refused |= 1U << of->column;
        else if (is_read && is_there)
            out->columns |= 1U << of->column;
    }
    out->weight_sum = model->divides_by_ends && (out->columns >> EDGE_WEIGHT & 1);
    return ERROR_NONE;
}

/* Returns the relation that lacks a column which others have; NULL: none does. */
static const char *relation_without(const struct dataset_schema *schema, enum edge_column column)
{
    for (uint32_t r = 0; r < schema->edge_type_count; r++)
        if (schema->lacks[r] >> column & 1)
            return schema->edge_type[r].name;
    return NULL;
}

/* Refuses a column that a setting demands and one relation lacks. */
static enum error_code check_relations(const struct pipeline_settings *settings,
                                       const struct dataset_schema *schema, struct error *err)
{
    for (int i = 0; i < SWITCH_COUNT; i++) {
        const struct edge_switch *of = &edge_switch[i];
        const char *relation = relation_without(schema, of->column);
        if (relation && choice_of(settings, of) == EDGE_CHOICE_TRUE)
            return error_set(err, ERROR_INPUT,
                             "%s is true, but relation %s has no %s: " ADVICE
                             "add a column \"%s\" to its table of edges, as others have, or "
                             "write `%s: auto` below `train-step:`",
                             of->setting, relation, edge_column[of->column].plural,
                             edge_column[of->column].what, strchr(of->setting, '.') + 1);
    }
    return ERROR_NONE;
}

/* Refuses a graph that lacks a column. The message names the edge type that lacks it, if others
 * have it. */
static enum error_code refuse_without(const struct sampler *sampler,
                                      const struct dataset_schema *schema, enum edge_column column,
                                      struct error *err)
{
    const struct edge_column_row *of = &edge_column[column];
    const char *relation = relation_without(schema, column);
    if (relation)
        return error_set(err, ERROR_INPUT,
                         "sample.sampler is %s, which reads %s of all relations, but relation %s "
                         "has none: " ADVICE
                         "add a column \"%s\" to its table of edges, as others have, or write "
                         "`sampler: " SAMPLER_DEFAULT_NAME "` below `sample:`",
                         sampler->name, of->plural, relation, of->what);
    return error_set(
        err, ERROR_INPUT,
        "sample.sampler is %s, which reads %s, but the graph has none: expected a column \"%s\" in "
        "the table of edges, a file %s.npy beside it, or another sampler",
        sampler->name, of->plural, of->what, of->file);
}

/* Checks the columns that the sampler draws by. */
static enum error_code check_sampler(const struct pipeline_settings *settings,
                                     const struct dataset_schema *schema, struct error *err)
{
    const struct sampler *sampler = pipeline_sampler(settings);
    const bool has_node_times = settings->ingest.node_times[0] != 0;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (sampler->needs >> c & 1 && !(c == EDGE_TIME && has_node_times) &&
            !edge_widths_have(&schema->edge_width, (enum edge_column)c))
            return refuse_without(sampler, schema, (enum edge_column)c, err);
    if (sampler->refuses_negatives && schema->negative_weight_count > 0)
        return error_set(err, ERROR_INPUT,
                         "%s: the weight is below 0, as are %" PRIu64
                         " in all, and sample.sampler %s draws in proportion to weights: expected "
                         "weights of 0 or more, `weight_scale: rank` below `ingest:`, or another "
                         "sampler",
                         schema->first_negative_weight, schema->negative_weight_count,
                         sampler->name);
    return ERROR_NONE;
}

static enum error_code refuse_negative(const struct dataset_schema *schema, struct error *err)
{
    char range[64] = "";
    if (schema->weight_most > 0) /* unknown in a dataset of an earlier release */
        (void)snprintf(range, sizeof range, " (of sizes from %.10g to %.10g)", schema->weight_least,
                       schema->weight_most);
    return error_set(err, ERROR_INPUT,
                     "%s: the weight is below 0, as are %" PRIu64
                     " in all%s, and the model divides by the root of the sum of a node's weights: "
                     "expected weights of 0 or more, another model, `weight_scale: rank` below "
                     "`ingest:`, or `edge_weights: false` below `train-step:`",
                     schema->first_negative_weight, schema->negative_weight_count, range);
}

enum error_code edge_use_check(const struct pipeline_settings *settings,
                               const struct dataset_schema *schema, struct edge_use *out,
                               struct error *err)
{
    struct model *model = NULL;
    enum error_code rc = relation_check(settings, schema, err);
    if (rc == ERROR_NONE)
        rc = check_relations(settings, schema, err);
    if (rc == ERROR_NONE)
        rc = run_model_shape(&model, settings, err);
    if (rc == ERROR_NONE)
        rc = edge_use_of(settings, model, &schema->edge_width, out, err);
    memory_free(model);
    if (rc == ERROR_NONE)
        rc = check_sampler(settings, schema, err);
    return rc == ERROR_NONE && out->weight_sum && schema->negative_weight_count > 0
               ? refuse_negative(schema, err)
               : rc;
}

bool edge_use_weights_differ(const struct pipeline_settings *settings,
                             const struct dataset_schema *schema, const struct edge_use *use,
                             char text[EDGE_USE_TEXT_SIZE])
{
    static const double wide = 1000;
    text[0] = '\0';
    if (!(use->columns >> EDGE_WEIGHT & 1) || settings->ingest.weight_scale == WEIGHTS_RANK ||
        schema->weight_least <= 0 || schema->weight_most <= wide * schema->weight_least)
        return false;
    (void)snprintf(
        text, EDGE_USE_TEXT_SIZE,
        "weights of edges range from %.10g to %.10g, and messages are multiplied by them: the "
        "few large ones drown the others; write `weight_scale: %s` below `ingest:`, or "
        "`edge_weights: false` below `train-step:`",
        schema->weight_least, schema->weight_most,
        settings->ingest.weight_scale == WEIGHTS_LOG ? "rank" : "log` or `weight_scale: rank");
    return true;
}

enum error_code edge_use_check_columns(const struct edge_use *use,
                                       const struct edge_columns_view *columns, struct error *err)
{
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (use->columns >> c & 1 && !columns->width.of[c])
            return error_set(err, ERROR_CORRUPT, "expected a section %s, found none",
                             edge_column[c].name);
    return ERROR_NONE;
}

enum error_code edge_use_check_batch(const struct edge_use *use, const struct mini_batch *batch,
                                     struct error *err)
{
    struct edge_use stored = *use;
    if (batch->edge_position)
        stored.columns &= ~(1U << EDGE_FEATURE);
    const enum error_code rc = edge_use_check_columns(&stored, &batch->columns, err);
    if (rc == ERROR_NONE && use->weight_sum && !batch->weight_sum)
        return error_set(err, ERROR_CORRUPT, "expected a section weight_sum, found none");
    return rc;
}

size_t edge_use_edge_bytes(const struct edge_use *use, const struct edge_widths *width)
{
    size_t bytes = 0;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (use->columns >> c & 1)
            bytes += edge_column_bytes((enum edge_column)c, width->of[c]);
    return bytes + (use->columns >> EDGE_FEATURE & 1 ? sizeof(uint32_t) : 0);
}

size_t edge_use_node_bytes(const struct edge_use *use)
{
    return use->weight_sum ? sizeof(float) : 0;
}
