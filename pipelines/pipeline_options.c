#include "pipelines/pipeline_options.h"

#include "common/base/clock.h"
#include "common/base/stop_signal.h"
#include "pipelines/child_process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define AT(field) offsetof(struct pipeline_options, field)
static const struct option_spec option_table[] = {
    {"directory", OPTION_TEXT, AT(directory), NULL, 0, 0, "FOLDER", "folder of the run (default: runs/<name>)"},
    {"set", OPTION_LIST, AT(set), NULL, 0, 0, "KEY=VALUE", "change one setting of the pipeline file; may be repeated"},
    {"workers", OPTION_INT, AT(workers), "1", 1, 64, "N", "worker processes of each stage"},
    {"threads", OPTION_INT, AT(threads), "0", 0, 1024, "N", "threads of a stage's workers together; 0: one a core"},
    {"memory", OPTION_BYTES, AT(memory), NULL, 0, 0, "SIZE", "memory budget of each program (default: a quarter of the machine's, a half for ingest and partition)"},
    {"redis", OPTION_TEXT, AT(redis), NULL, 0, 0, "URL", "use this Redis instead of a private one"},
    {"redis-password-file", OPTION_TEXT, AT(redis_password_file), NULL, 0, 0, "FILE", "file with its password"},
    {"lease", OPTION_INT, AT(lease), "10000", 100, 86400000, "MS", "a silent worker loses its unit after so many milliseconds"},
    {"json", OPTION_FLAG, AT(json), NULL, 0, 0, NULL, "print the answer as JSON"},
    {"quiet", OPTION_FLAG, AT(quiet), NULL, 0, 0, NULL, "no progress on stderr"},
    {.name = NULL},
};
/* clang-format on */

static void print_help(const char *name, const char *summary)
{
    printf("graphmill %s FILE [options] - %s\n\n", name, summary);
    options_print_help(option_table);
    printf("\nSettings, for the pipeline file and --set:\n");
    for (const struct setting_spec *spec = setting_table; spec->name; spec++)
        printf("  %-28s %s (default: %s)\n", spec->name, spec->help,
               spec->default_text[0] ? spec->default_text : "empty");
}

enum error_code pipeline_options_parse(struct pipeline_options *options, const char *summary,
                                       int argc, char **argv, bool *shown, struct error *err)
{
    struct option_list rest = {0};
    *shown = options_want_help(argc, argv);
    if (*shown) {
        print_help(argv[0], summary);
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, options, &rest, err);
    if (rc == ERROR_NONE && rest.count != 1)
        rc = error_set(err, ERROR_USAGE, "graphmill %s takes one pipeline file, found %d arguments",
                       argv[0], rest.count);
    if (rc != ERROR_NONE)
        return rc;
    options->file = rest.item[0];
    rc = pipeline_settings_load(&options->settings, options->file, err);
    for (int i = 0; rc == ERROR_NONE && i < options->set.count; i++)
        rc = pipeline_settings_override(&options->settings, options->set.item[i], err);
    return rc == ERROR_NONE ? pipeline_settings_check(&options->settings, err) : rc;
}

/* Runs ingest or partition to its end; its one line of answer goes to stderr as progress. */
static enum error_code run_once(const struct pipeline_options *options,
                                const struct run_folder *folder, const char *stage,
                                struct error *err)
{
    char program[FILE_PATH_SIZE], log_path[FILE_PATH_SIZE], line[CHILD_TEXT_SIZE], memory[24];
    char times[FILE_PATH_SIZE], threads[16];
    struct child_command command = {0};
    int status = 0;
    const double before = clock_seconds();
    enum error_code rc = child_program(stage, program, err);
    if (rc == ERROR_NONE)
        rc = file_path(log_path, err, "%s/logs/%s.log", folder->path, stage);
    if (rc == ERROR_NONE)
        rc = file_path(times, err, "%s/times/%s.jsonl", folder->path, stage);
    if (rc != ERROR_NONE)
        return rc;
    (void)snprintf(memory, sizeof memory, "%" PRIu64, options->memory);
    (void)snprintf(threads, sizeof threads, "%" PRId64, options->threads);
    child_add(&command, program);
    child_add_option(&command, "--store", folder->store_uri);
    child_add_option(&command, "--pipeline", options->file);
    for (int i = 0; i < options->set.count; i++)
        child_add_option(&command, "--set", options->set.item[i]);
    if (options->memory)
        child_add_option(&command, "--memory", memory);
    child_add_option(&command, "--threads", threads);
    child_add_option(&command, "--times", times);
    child_add_option(&command, "--local-storage", NULL);
    rc = child_run(&command, log_path, line, &status, err);
    if (rc != ERROR_NONE)
        return rc;
    if (status != 0) {
        char words[CHILD_TEXT_SIZE];
        child_last_error(log_path, words);
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "stopped during %s; run again to go on",
                             stage);
        return error_set(err, status > 128 ? (enum error_code) - 1 : child_error_code(status),
                         "%s ended with status %d: %s (log: %s)", stage, status,
                         words[0] ? words : "no error line", log_path);
    }
    if (!options->quiet)
        (void)fprintf(stderr, "%-10s %5.1f s  %s\n", stage, clock_seconds() - before, line);
    return stop_signal_seen()
               ? error_set(err, ERROR_UNAVAILABLE, "stopped after %s; run again to go on", stage)
               : ERROR_NONE;
}

enum error_code pipeline_prepare(const struct pipeline_options *options, struct run_folder *folder,
                                 struct error *err)
{
    char path[FILE_PATH_SIZE], run_id[ID_SIZE];
    enum error_code rc = options->directory
                             ? file_path(path, err, "%s", options->directory)
                             : file_path(path, err, "runs/%s", options->settings.name);
    if (rc == ERROR_NONE)
        rc = run_folder_create(folder, path, err);
    if (rc == ERROR_NONE)
        rc = run_once(options, folder, "ingest", err);
    if (rc == ERROR_NONE)
        rc = run_once(options, folder, "partition", err);
    if (rc == ERROR_NONE)
        rc = run_start(folder->store, &options->settings, run_id, err);
    if (rc == ERROR_NONE)
        rc = run_folder_bind(folder, run_id, err);
    return rc;
}
