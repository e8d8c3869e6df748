/*
 * compare - shows two or more runs next to each other in the terminal: scores, weights, differing
 * settings, time.
 */
#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/base/text.h"
#include "common/nn/tasks/task.h"
#include "pipelines/report/report_page.h"
#include "pipelines/shared/commands.h"
#include "stages/plan/settings/pipeline_settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct compare_options {
    bool json;
};

/* clang-format off */
#define AT(field) offsetof(struct compare_options, field)
static const struct option_spec option_table[] = {
    {"json", OPTION_FLAG, AT(json), NULL, 0, 0, NULL, "print the answer as JSON"},
    {.name = NULL},
};
/* clang-format on */

enum {
    CHANGES_OF_ALL = SETTING_OF_DATASET | SETTING_OF_PARTITION | SETTING_OF_TRAINING |
                     SETTING_OF_TARGET | SETTING_OF_OUTPUTS | SETTING_OF_OPERATION
};
static const char *const split_name[] = {"test", "valid", "train"};
enum { SPLITS = sizeof split_name / sizeof *split_name };

/* Writes the settings in which run i differs from the first run; "" if there are none. */
static void changes_of(struct report_run *const *run, int i, char text[SETTING_CHANGES_SIZE])
{
    if (!pipeline_settings_changes(&run[0]->folder.run.settings, &run[i]->folder.run.settings,
                                   CHANGES_OF_ALL, text))
        text[0] = '\0';
}

static double busy_seconds(const struct report_run *run)
{
    struct stage_figures stage[STAGE_FIGURES_MAX];
    const size_t count = run_times_by_stage(&run->times, stage);
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += stage[i].read + stage[i].compute + stage[i].write + stage[i].hand_over;
    return sum;
}

static bool any_has(struct report_run *const *run, int count, const char *split, enum metric m)
{
    bool any = false;
    for (int i = 0; i < count; i++)
        any |= isfinite(report_run_score(run[i], split, metric_table[m].name));
    return any;
}

static void print_scores(struct report_run *const *run, int count)
{
    char text[32];
    for (int s = 0; s < SPLITS; s++)
        for (enum metric m = 0; m < METRIC_COUNT; m++) {
            if (!metric_table[m].is_told || !any_has(run, count, split_name[s], m))
                continue;
            (void)snprintf(text, sizeof text, "%s %s", split_name[s], metric_table[m].title);
            printf("%-20s", text);
            for (int i = 0; i < count; i++) {
                const double score = report_run_score(run[i], split_name[s], metric_table[m].name);
                printf("  %-30s", isfinite(score) ? text_score(score, text) : "-");
            }
            printf("\n");
        }
}

static void weights_hash(const struct report_run *run, char hash[CHECKSUM_TEXT_SIZE])
{
    (void)snprintf(hash, CHECKSUM_TEXT_SIZE, "-");
    if (run->state.finished)
        checksum_text(&run->seal.weights.sum, hash);
}

static void print_text(struct report_run *const *run, int count)
{
    char hash[CHECKSUM_TEXT_SIZE], changes[SETTING_CHANGES_SIZE];
    printf("%-20s", "run");
    for (int i = 0; i < count; i++)
        printf("  %-30s", run[i]->folder.run.plan.id);
    printf("\n");
    print_scores(run, count);
    printf("%-20s", "weights hash");
    for (int i = 0; i < count; i++) {
        weights_hash(run[i], hash);
        printf("  %-30.16s", hash);
    }
    printf("\n%-20s", "busy seconds");
    for (int i = 0; i < count; i++)
        printf("  %-30.2f", busy_seconds(run[i]));
    printf("\n");
    for (int i = 1; i < count; i++) {
        changes_of(run, i, changes);
        printf("%s: %s\n", run[i]->folder.run.plan.id, changes[0] ? changes : "the same settings");
    }
}

static void put_scores(struct json_writer *json, const struct report_run *run)
{
    json_open_object(json, "scores");
    for (int s = 0; s < SPLITS; s++)
        for (enum metric m = 0; m < METRIC_COUNT; m++) {
            char name[64];
            const double score = report_run_score(run, split_name[s], metric_table[m].name);
            (void)snprintf(name, sizeof name, "%s_%s", split_name[s], metric_table[m].name);
            if (isfinite(score))
                json_put_double(json, name, score);
        }
    json_close_object(json);
}

static enum error_code print_json(struct report_run *const *run, int count, struct error *err)
{
    struct json_writer json = {0};
    char hash[CHECKSUM_TEXT_SIZE], changes[SETTING_CHANGES_SIZE];
    json_open_array(&json, NULL);
    for (int i = 0; i < count; i++) {
        weights_hash(run[i], hash);
        changes_of(run, i, changes);
        json_open_object(&json, NULL);
        json_put_string(&json, "run", run[i]->folder.run.plan.id);
        json_put_bool(&json, "finished", run[i]->state.finished);
        json_put_string(&json, "weights_hash", hash);
        json_put_double(&json, "busy_seconds", busy_seconds(run[i]));
        json_put_string(&json, "changes", changes);
        put_scores(&json, run[i]);
        json_close_object(&json);
    }
    json_close_array(&json);
    return json_writer_print(&json, err);
}

enum error_code command_compare(int argc, char **argv, struct error *err)
{
    struct compare_options options = {0};
    struct option_list rest = {0};
    struct report_run *run[REPORT_RUNS_MAX] = {NULL};
    if (options_want_help(argc, argv)) {
        printf("graphmill compare RUN RUN ... [options] - scores, weights, settings and time of "
               "runs\n\n"
               "RUN is a folder, or FOLDER:ID for a run that is not the newest of its folder. "
               "graphmill report RUN RUN\n"
               "makes a page with curves of it.\n\n");
        options_print_help(option_table);
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE && (rest.count < 2 || rest.count > REPORT_RUNS_MAX))
        rc = error_set(err, ERROR_USAGE, "graphmill compare takes the folders of 2 to %d runs",
                       REPORT_RUNS_MAX);
    if (rc == ERROR_NONE)
        rc = report_runs_open(run, rest.item, rest.count, NULL, false, err);
    if (rc == ERROR_NONE && options.json)
        rc = print_json(run, rest.count, err);
    else if (rc == ERROR_NONE)
        print_text(run, rest.count);
    report_runs_close(run);
    return rc;
}
