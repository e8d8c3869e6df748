/*
 * report - a run, or several beside each other, as one page of HTML.
 */
#include "common/base/json.h"
#include "common/base/options.h"
#include "pipelines/commands.h"
#include "pipelines/export_target.h"
#include "pipelines/report/report_page.h"

#include <stdio.h>
#include <string.h>

struct report_options {
    const char *output, *run;
    bool json;
};

/* clang-format off */
#define AT(field) offsetof(struct report_options, field)
static const struct option_spec option_table[] = {
    {"output", OPTION_TEXT, AT(output), NULL, 0, 0, "FILE", "where to write (default: report.html in the folder of the run; of several comparison.html here)"},
    {"run", OPTION_TEXT, AT(run), NULL, 0, 0, "ID", "which run, when the one folder has several (default: the newest)"},
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
    enum error_code rc = export_target_open(&target, path, err);
    if (rc != ERROR_NONE)
        return rc;
    const bool is_stdout = target.is_stdout;
    rc = report_page_write(target.path, run, count, err);
    const enum error_code closed =
        export_target_close(&target, rc == ERROR_NONE, rc == ERROR_NONE ? err : NULL);
    rc = rc == ERROR_NONE ? closed : rc;
    return rc == ERROR_NONE && !is_stdout ? answer(options, path, err) : rc;
}

static enum error_code make(const struct report_options *options, const struct option_list *word,
                            struct report_run **run, struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum error_code rc = target_of(options, word, path, err);
    if (rc == ERROR_NONE)
        rc = report_runs_open(run, word->item, word->count, options->run, word->count == 1, err);
    return rc == ERROR_NONE ? write_to(options, path, run, word->count, err) : rc;
}

enum error_code command_report(int argc, char **argv, struct error *err)
{
    struct report_options options = {0};
    struct option_list rest = {0};
    struct report_run *run[REPORT_RUNS_MAX] = {NULL};
    if (options_want_help(argc, argv)) {
        printf("graphmill report RUN [RUN ...] [options] - a run, or up to %d beside each other, "
               "as one "
               "page of HTML\n\n",
               REPORT_RUNS_MAX);
        options_print_help(option_table);
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE && (rest.count < 1 || rest.count > REPORT_RUNS_MAX))
        rc = error_set(err, ERROR_USAGE, "graphmill report takes the folders of 1 to %d runs",
                       REPORT_RUNS_MAX);
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
