#include "pipelines/questions/reference_page.h"

#include "common/formats/bytes/file_kind.h"
#include "common/nn/layers/layer.h"
#include "common/nn/tasks/task.h"
#include "stages/engine/stage_list.h"
#include "stages/plan/settings/dataset_format.h"
#include "stages/plan/settings/setting_table.h"
#include "stages/sampling/samplers/sampler.h"
#include "store/backends/backend_list.h"

#include <stdio.h>
#include <string.h>

/* Escapes the characters that have a meaning in Markdown, except between backquotes. */
void reference_print_cell(const char *text)
{
    bool is_code = false;
    for (const char *at = text; *at; at++) {
        is_code ^= *at == '`';
        if (*at == '|' || (!is_code && strchr("*<[", *at)))
            putchar('\\');
        putchar(*at);
    }
}

/* --- what a setting may be --- */

static void print_range(const struct setting_spec *spec, const char *what)
{
    printf("%s, %.15g to %.15g", what, spec->least, spec->most);
}

/* Prints a link to the heading `name`. GitHub's anchors have no dots. */
static void print_link(const char *name, const char *text)
{
    printf("[%s](#", text);
    for (; *name; name++)
        if (*name != '.')
            putchar(*name);
    printf(")");
}

static void print_choices(const struct setting_spec *spec)
{
    for (int i = 0; !spec->choice_texts && spec->choices[i]; i++)
        printf("%s`%s`", i ? ", " : "", spec->choices[i]);
    if (spec->choice_texts)
        print_link(spec->name, "one of these");
}

static void print_value(const struct setting_spec *spec)
{
    switch (spec->type) {
    case SETTING_INT:
        print_range(spec, "whole number");
        break;
    case SETTING_INT_OR_MOST:
        print_range(spec, "whole number");
        printf(", or `up_to` and a number");
        break;
    case SETTING_DOUBLE:
        print_range(spec, "number");
        break;
    case SETTING_BOOL:
        printf("`true` or `false`");
        break;
    case SETTING_TEXT:
        printf("text");
        break;
    case SETTING_PATH:
        printf("file");
        break;
    case SETTING_PATHS:
        printf("file, pattern, or a list of them");
        break;
    case SETTING_WORDS:
        printf("word, or a list of words");
        break;
    case SETTING_CHOICE:
        print_choices(spec);
        break;
    case SETTING_CHOICE_OR_PATH:
        print_choices(spec);
        printf(", or a file");
        break;
    case SETTING_INT_LIST:
        print_range(spec, "list of whole numbers");
        break;
    case SETTING_CHOICE_OR_NUMBERS:
        print_choices(spec);
        print_range(spec, ", or a list of numbers");
        break;
    case SETTING_ITEMS:
        print_link("train-step.layers", "list of layers");
        break;
    }
}

static void print_rows(const struct setting_spec *rows, const char *section)
{
    printf("| setting | value | default | meaning | counts only with |\n"
           "| --- | --- | --- | --- | --- |\n");
    for (const struct setting_spec *spec = rows; spec->name; spec++) {
        if (section && !setting_in_section(spec, section))
            continue;
        printf("| `%s` | ", spec->name);
        print_value(spec);
        if (!spec->default_text)
            printf(" | must be given | ");
        else
            printf(spec->default_text[0] ? " | `%s` | " : " | empty%s | ", spec->default_text);
        reference_print_cell(spec->help);
        printf(spec->only_with ? " | `%s` |\n" : " | |\n", spec->only_with);
    }
}

/* --- the choices of a setting --- */

static void print_format_sign(int choice)
{
    const struct dataset_format *format = &dataset_formats[choice];
    const char *between = "";
    if (format->traits & FORMAT_IS_TABLE)
        printf("it is none of the others");
    if (format->sign)
        printf(format->sign_text ? "%s" : "`%s`",
               format->sign_text ? format->sign_text : format->sign);
    if (file_kind_is_known(format->name)) {
        printf("its first bytes");
        between = ", ";
    }
    for (int i = 0; format->endings[i]; i++, between = ", ")
        printf("%s`%s`", between, format->endings[i]);
}

static void print_layer_edges(int choice)
{
    const struct layer_type *type = layer_type_of((enum layer_kind)choice);
    if (type->reads_edges & 1U << EDGE_WEIGHT)
        printf(type->divides_by_ends ? "weights, at least 0" : "weights");
    if (type->reads_edges & 1U << EDGE_FEATURE)
        printf("features");
}

static void print_sampler_needs(int choice)
{
    const struct sampler *sampler = sampler_of((enum sampler_kind)choice);
    if (sampler->needs & 1U << EDGE_WEIGHT)
        printf(sampler->refuses_negatives ? "weights, at least 0" : "weights");
    if (sampler->needs & 1U << EDGE_TIME)
        printf("times");
}

static void print_sampler_pairs(int choice)
{
    printf(sampler_of((enum sampler_kind)choice)->takes_pairs ? "yes" : "no");
}

static void print_sampler_graphs(int choice)
{
    printf(sampler_of((enum sampler_kind)choice)->takes_graphs ? "yes" : "no");
}

static void print_task_losses(int choice)
{
    const struct task *task = task_of((enum task_kind)choice);
    for (int i = 0; task && i < task->loss_count; i++)
        printf("%s`%s`", i ? ", " : "", loss_name(task->losses[i]));
    if (task && task->loss_count == 0)
        print_link("train-step.link_loss", "train-step.link_loss");
}

static void print_task_metrics(int choice)
{
    const struct task *task = task_of((enum task_kind)choice);
    for (int i = 0; task && i < task->metric_count; i++)
        printf("%s`%s`", i ? ", " : "", metric_table[task->metric[i].metric].name);
}

static void print_best_metric(int choice)
{
    printf(metric_table[choice].less_is_better ? "least" : "greatest");
}

/* Columns that only the table of one setting has, in addition to name and description. */
static const struct {
    const char *setting, *title;
    void (*print)(int choice);
} columns[] = {
    {"ingest.format", "`auto` knows it by", print_format_sign},
    {"ingest.task", "`train-step.loss`", print_task_losses},
    {"ingest.task", "metrics", print_task_metrics},
    {"sample.sampler", "needs of edges", print_sampler_needs},
    {"sample.sampler", "links", print_sampler_pairs},
    {"sample.sampler", "many graphs", print_sampler_graphs},
    {"train-step.model", "reads of edges", print_layer_edges},
    {"checkpoint.metric", "the best is the", print_best_metric},
};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

/* Returns whether `row` has an effect with the choice `name` of `spec`, but not with every
 * choice. */
static bool is_setting_of(const struct setting_spec *row, const struct setting_spec *spec,
                          const char *name, int choice)
{
    const bool is_format = strcmp(spec->name, "ingest.format") == 0;
    return setting_belongs_to(row, spec->name, name) ||
           (is_format && row->part_of & SETTING_OF_FORMAT &&
            dataset_format_reads(&dataset_formats[choice], row->name));
}

static void print_own_settings(const struct setting_spec *spec, int choice)
{
    const char *between = "";
    for (const struct setting_spec *row = setting_table; row->name; row++)
        if (is_setting_of(row, spec, spec->choices[choice], choice)) {
            printf("%s`%s`", between, row->name);
            between = ", ";
        }
}

static bool has_own_settings(const struct setting_spec *spec)
{
    for (int i = 0; spec->choices[i]; i++)
        for (const struct setting_spec *row = setting_table; row->name; row++)
            if (is_setting_of(row, spec, spec->choices[i], i))
                return true;
    return false;
}

static void print_choice_head(const struct setting_spec *spec, bool has_own)
{
    int count = has_own ? 3 : 2;
    printf("\n### %s\n\nDefault: `%s`.\n\n| `%s` | meaning |", spec->name, spec->default_text,
           spec->name);
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (strcmp(columns[i].setting, spec->name) == 0) {
            printf(" %s |", columns[i].title);
            count++;
        }
    printf(has_own ? " settings that count with it |\n|" : "\n|");
    for (int i = 0; i < count; i++)
        printf(" --- |");
    printf("\n");
}

static void print_choice_table(const struct setting_spec *spec)
{
    const bool has_own = has_own_settings(spec);
    print_choice_head(spec, has_own);
    for (int choice = 0; spec->choices[choice]; choice++) {
        if (!spec->choice_texts[choice])
            continue;
        printf("| `%s` | ", spec->choices[choice]);
        reference_print_cell(spec->choice_texts[choice]);
        printf(" |");
        for (int i = 0; i < COLUMN_COUNT; i++)
            if (strcmp(columns[i].setting, spec->name) == 0) {
                printf(" ");
                columns[i].print(choice);
                printf(" |");
            }
        if (has_own) {
            printf(" ");
            print_own_settings(spec, choice);
            printf(" |");
        }
        printf("\n");
    }
}

/* --- the page --- */

#define STORE_LINE(name, address, limit, place, text) "| `" place "` | " text " |\n"

void reference_print_settings(void)
{
    printf(
        "\n## Settings\n\n"
        "A setting stands in its section of the pipeline file, or behind `--set`. If the last "
        "column "
        "is\nnot empty, the setting counts only while the setting that is named there has one of "
        "the values.\n\n### Top level\n\n");
    print_rows(setting_table, "");
    for (int i = 0; i < STAGE_COUNT; i++) {
        printf("\n### %s\n\n", stage_list[i].name);
        print_rows(setting_table, stage_list[i].name);
    }
    printf("\n## Choices\n");
    for (const struct setting_spec *spec = setting_table; spec->name; spec++) {
        if (spec->choice_texts)
            print_choice_table(spec);
        if (spec->items) {
            printf("\n### %s\n\nEach item of the list has these settings.\n\n", spec->name);
            print_rows(spec->items->rows, NULL);
        }
    }
    printf("\n## Stores\n\n| `--store` | the store |\n| --- | --- |\n" BACKEND_LIST(STORE_LINE));
}
