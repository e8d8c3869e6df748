/*
 * report - writes one HTML page about a run, or about several next to each other.
 */
#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/base/text.h"
#include "pipelines/export/export_target.h"
#include "pipelines/report/report_page.h"
#include "pipelines/shared/commands.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report_options {
    const char *output, *run, *store;
    bool json, classes, force;
};

/* clang-format off */
#define AT(field) offsetof(struct report_options, field)
static const struct option_spec option_table[] = {
    {"store", OPTION_TEXT, AT(store), NULL, 0, 0, "URI",
     "instead of RUN: the store that has the run"},
    {"output", OPTION_TEXT, AT(output), NULL, 0, 0, "FILE",
     "file to write (default: report.html in the folder of the run; for a store report.html here; "
     "for several runs comparison.html here)"},
    {"run", OPTION_TEXT, AT(run), NULL, 0, 0, "ID",
     "which run, when the one folder has several (default: the newest)"},
    {"classes", OPTION_FLAG, AT(classes), NULL, 0, 0, NULL,
     "print the scores of each class instead, the worst F1 first"},
    {"force", OPTION_FLAG, AT(force), NULL, 0, 0, NULL,
     "replace an existing file that is not a report"},
    {"json", OPTION_FLAG, AT(json), NULL, 0, 0, NULL, "print the answer as JSON"},
    {.name = NULL},
};
/* clang-format on */

static enum error_code target_of(const struct report_options *options,
                                 const struct option_list *word, char out[FILE_PATH_SIZE],
                                 struct error *err)
{
    if (options->output)
        return file_path(out, err, "%s", options->output);
    if (word->count == 1 && store_is_uri(word->item[0]))
        return file_path(out, err, "report.html");
    return word->count == 1 ? file_path(out, err, "%s/report.html", word->item[0])
                            : file_path(out, err, "comparison.html");
}

static enum error_code answer(const struct report_options *options, const char *path,
                              struct error *err)
{
    struct json_writer json = {0};
    if (!options->json) {
        printf("%s\n", path);
        return ERROR_NONE;
    }
    json_open_object(&json, NULL);
    json_put_string(&json, "report", path);
    json_close_object(&json);
    return json_writer_print(&json, err);
}

static enum error_code write_to(const struct report_options *options, const char *path,
                                struct report_run *const *run, int count, struct error *err)
{
    struct export_target target = {0};
    /* as in target_of(): the page of the run's own folder */
    const bool in_run = !options->output && strchr(path, '/');
    enum error_code rc =
        export_target_open(&target, path, options->force || in_run, REPORT_PAGE_MARK, err);
    if (rc != ERROR_NONE)
        return rc;
    const bool is_stdout = target.is_stdout;
    rc = report_page_write(target.path, run, count, err);
    const enum error_code closed =
        export_target_close(&target, rc == ERROR_NONE, rc == ERROR_NONE ? err : NULL);
    rc = rc == ERROR_NONE ? closed : rc;
    return rc == ERROR_NONE && !is_stdout ? answer(options, path, err) : rc;
}

/* --- the classes alone --- */

struct ranked_class {
    uint32_t number;
    struct class_score score;
};

/* Compares by F1; undefined values come last. */
static int compare_f1(const void *a, const void *b)
{
    const struct ranked_class *x = a, *y = b;
    const double left = isnan(x->score.f1) ? 2.0 : x->score.f1;
    const double right = isnan(y->score.f1) ? 2.0 : y->score.f1;
    if (left < right || left > right)
        return left < right ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static const char *class_name(const struct report_run *run, uint32_t number, char text[16])
{
    if (number < run->words.class_count)
        return run->words.class_name[number];
    (void)snprintf(text, 16, "%" PRIu32, number);
    return text;
}

static enum error_code print_json(const struct report_run *run, const struct ranked_class *ranked,
                                  struct error *err)
{
    struct json_writer json = {0};
    char name[16];
    json_open_object(&json, NULL);
    json_put_string(&json, "split", run->classes.split);
    json_open_array(&json, "classes");
    for (uint32_t i = 0; i < run->classes.classes; i++) {
        json_open_object(&json, NULL);
        json_put_string(&json, "class", class_name(run, ranked[i].number, name));
        json_put_double(&json, "nodes", ranked[i].score.support);
        json_put_double(&json, "precision", ranked[i].score.precision);
        json_put_double(&json, "recall", ranked[i].score.recall);
        json_put_double(&json, "f1", ranked[i].score.f1);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    return json_writer_print(&json, err);
}

static void print_table(const struct report_run *run, const struct ranked_class *ranked)
{
    char name[16], precision[32], recall[32], f1[32];
    printf("%-20s %10s %10s %10s %10s   (%s split)\n", "class", "nodes", "precision", "recall",
           "F1", run->classes.split);
    for (uint32_t i = 0; i < run->classes.classes; i++)
        printf("%-20s %10.0f %10s %10s %10s\n", class_name(run, ranked[i].number, name),
               ranked[i].score.support, text_score(ranked[i].score.precision, precision),
               text_score(ranked[i].score.recall, recall), text_score(ranked[i].score.f1, f1));
}

static enum error_code print_classes(const struct report_run *run, bool as_json, struct error *err)
{
    const struct class_counts *counts = &run->classes;
    struct ranked_class *ranked = NULL;
    if (!counts->count)
        return error_set(err, ERROR_INVALID,
                         "run %s has no scores by class: expected a finished run of one class a "
                         "node, with labels for validation or test",
                         run->folder.run.plan.id);
    enum error_code rc = memory_new(&ranked, counts->classes, "scores of classes", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t c = 0; c < counts->classes; c++)
        ranked[c] = (struct ranked_class){c, class_counts_score(counts, c)};
    qsort(ranked, counts->classes, sizeof *ranked, compare_f1);
    if (as_json)
        rc = print_json(run, ranked, err);
    else
        print_table(run, ranked);
    memory_free(ranked);
    return rc;
}

static enum error_code make(const struct report_options *options, const struct option_list *word,
                            struct report_run **run, struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum error_code rc = target_of(options, word, path, err);
    if (rc == ERROR_NONE)
        rc = report_runs_open(run, word->item, word->count, options->run, word->count == 1, err);
    if (rc == ERROR_NONE && options->classes)
        return print_classes(run[0], options->json, err);
    return rc == ERROR_NONE ? write_to(options, path, run, word->count, err) : rc;
}

enum error_code command_report(int argc, char **argv, struct error *err)
{
    struct report_options options = {0};
    struct option_list rest = {0};
    struct report_run *run[REPORT_RUNS_MAX] = {NULL};
    if (options_want_help(argc, argv)) {
        printf("graphmill report RUN [RUN ...]|--store URI [options] - a run, or up to %d beside "
               "each other, "
               "as one "
               "page of HTML\n\n",
               REPORT_RUNS_MAX);
        options_print_help(option_table);
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE)
        rc = run_folder_word(&rest, options.store, err);
    if (rc == ERROR_NONE && (rest.count < 1 || rest.count > REPORT_RUNS_MAX))
        rc = error_set(err, ERROR_USAGE, "graphmill report takes the folders of 1 to %d runs",
                       REPORT_RUNS_MAX);
    if (rc == ERROR_NONE && rest.count > 1 && options.classes)
        rc = error_set(err, ERROR_USAGE, "--classes is of one run");
    if (rc == ERROR_NONE && rest.count > 1 && options.run)
        rc =
            error_set(err, ERROR_USAGE,
                      "--run is for one folder; of several say FOLDER:ID for a run that is not the "
                      "newest of its folder");
    if (rc == ERROR_NONE)
        rc = make(&options, &rest, run, err);
    report_runs_close(run);
    return rc;
}
