/*
 * partition - runs only ingest and partition; or tries all methods on the same dataset, to choose
 * one.
 *
 *   pipeline file ─> ingest ─> a trial of each method (stages/partition/partition_trial.h)
 *                              ─> one line for each method
 *
 * A trial stores nothing. Each trial is a process of its own, so that time and memory are those of
 * the method. A trial that fails, for lack of memory or because of its input, has the reason in its
 * line.
 */
#include "common/base/memory.h"
#include "common/base/text.h"
#include "pipelines/run/method_table.h"
#include "pipelines/run/pipeline_options.h"
#include "pipelines/run/run_preview.h"
#include "pipelines/shared/commands.h"
#include "pipelines/shared/run_state.h"
#include "store/objects/keys.h"

#include <stdio.h>
#include <string.h>

struct partition_options {
    struct pipeline_options run;
    const char *methods;
    bool compare;
};

/* clang-format off */
#define AT(field) offsetof(struct partition_options, field)
#define AT_RUN(field) offsetof(struct partition_options, run.field)
static const struct option_spec option_table[] = {
    {"compare", OPTION_FLAG, AT(compare), NULL, 0, 0, NULL,
     "try methods and print the results of each, instead of partitioning"},
    {"methods", OPTION_TEXT, AT(methods), NULL, 0, 0, "LIST",
     "methods to try, separated by commas (default: all but file and auto)"},
    PIPELINE_OPTIONS(AT_RUN)
    {.name = NULL},
};
/* clang-format on */

struct comparison {
    struct partition_options options;
    struct run_folder folder;
    struct method_trial trial[2 * PARTITION_METHOD_COUNT];
    int count;
};

static void print_help(void)
{
    printf(
        "graphmill partition FILE [options] - ingest and partition alone\n\n"
        "With --compare: seconds and peak memory of each method; the share of edges that it cuts; "
        "copies,\nwhich is how many parts a node is in or a neighbour of (of a vertex cut: has "
        "edges in); how even\nnodes, edges and training nodes are: the most by the least, the "
        "coefficient of variation, the mean\nby the most; and bytes of features that a mini-batch "
        "takes from other parts. With partition.loads also "
        "how even what\nwas read is, the share of cut edges among those that were sampled, and the "
        "bytes by that; of methods that\ncan go by loads a line without and one with them.\n\n");
    options_print_help(option_table);
}

/* Adds the method whose name is `name` [size]. */
static enum error_code add_method(struct comparison *c, const char *name, size_t size,
                                  struct error *err)
{
    char word[64];
    (void)snprintf(word, sizeof word, "%.*s", (int)(size < sizeof word ? size : sizeof word - 1),
                   name);
    const char *const *found = method_table_names;
    while (*found && strcmp(*found, word) != 0)
        found++;
    if (!*found) {
        const char *nearest = text_nearest(word, method_table_names);
        return error_set(err, ERROR_USAGE, "--methods: '%s' is no method%s%s%s", word,
                         nearest ? "; did you mean '" : "", nearest ? nearest : "",
                         nearest ? "'?" : "; see partition.method");
    }
    for (int i = 0; i < c->count; i++)
        if (c->trial[i].name == *found)
            return error_set(err, ERROR_USAGE, "--methods: '%s' stands there twice", word);
    c->trial[c->count++] =
        (struct method_trial){.name = *found, .number = found - method_table_names};
    return ERROR_NONE;
}

static enum error_code choose_methods(struct comparison *c, struct error *err)
{
    const char *list = c->options.methods;
    enum error_code rc = ERROR_NONE;
    for (int m = 0; !list && m < PARTITION_METHOD_COUNT; m++)
        if (m != PARTITION_FILE && m != PARTITION_AUTO)
            c->trial[c->count++] =
                (struct method_trial){.name = method_table_names[m], .number = m};
    while (rc == ERROR_NONE && list) {
        const size_t size = strcspn(list, ",");
        rc = add_method(c, list, size, err);
        list = list[size] ? list + size + 1 : NULL;
    }
    return rc;
}

static enum error_code parse(struct comparison *c, int argc, char **argv, struct error *err)
{
    struct partition_options *o = &c->options;
    struct option_list rest = {0};
    enum error_code rc = options_parse(option_table, argc, argv, o, &rest, err);
    if (rc == ERROR_NONE && rest.count != 1)
        rc = error_set(err, ERROR_USAGE,
                       "graphmill partition takes one pipeline file, found %d "
                       "arguments",
                       rest.count);
    if (rc == ERROR_NONE && o->methods && !o->compare)
        rc = error_set(err, ERROR_USAGE,
                       "--methods goes with --compare; --set partition.method=... "
                       "is the one to partition by");
    if (rc == ERROR_NONE && o->run.json && !o->compare)
        rc = error_set(err, ERROR_USAGE, "--json goes with --compare");
    if (rc == ERROR_NONE && o->compare)
        rc = choose_methods(c, err);
    if (rc != ERROR_NONE)
        return rc;
    o->run.file = rest.item[0];
    return pipeline_options_load(&o->run, err);
}

static enum error_code run_trial(struct comparison *c, struct method_trial *trial,
                                 struct error *err)
{
    char path[FILE_PATH_SIZE], set[64];
    const char *loads = c->options.run.settings.partition.loads;
    struct option_list extra = {.count = 4, .item = {"--set", set, "--trial", path}};
    (void)snprintf(set, sizeof set, "partition.method=%s", trial->name);
    if (loads[0]) { /* all methods are measured by the loads */
        extra.item[extra.count++] = "--trial-loads";
        extra.item[extra.count++] = loads;
    }
    if (loads[0] && !trial->by_loads) {
        extra.item[extra.count++] = "--set";
        extra.item[extra.count++] = "partition.loads=";
    }
    enum error_code rc = file_path(path, err, "%s/compare/%s%s.json", c->folder.path, trial->name,
                                   trial->by_loads ? "-loads" : "");
    if (rc != ERROR_NONE)
        return rc;
    rc = pipeline_run_stage_with(&c->options.run, &c->folder, "partition", &extra, NULL, err);
    if (rc == ERROR_NONE)
        return method_trial_read(path, trial, err);
    if (rc != ERROR_NO_MEMORY && rc != ERROR_INPUT && rc != ERROR_CORRUPT)
        return rc;
    trial->failed = true;
    trial->why = *err;
    return ERROR_NONE;
}

/* With measured loads, each method that can use them is tried without and with them. */
static void add_loads(struct comparison *c)
{
    struct method_trial *trial = c->trial;
    for (int i = c->count - 1; i >= 0; i--) {
        if (!pipeline_takes_loads(trial[i].number))
            continue;
        memmove(&trial[i + 1], &trial[i], (size_t)(c->count++ - i) * sizeof *trial);
        trial[i + 1].by_loads = true;
    }
}

static enum error_code compare(struct comparison *c, struct error *err)
{
    char path[FILE_PATH_SIZE];
    if (c->options.run.settings.partition.loads[0])
        add_loads(c);
    enum error_code rc = file_path(path, err, "%s/compare", c->folder.path);
    if (rc == ERROR_NONE)
        rc = file_make_folders(path, err);
    for (int i = 0; rc == ERROR_NONE && i < c->count; i++)
        rc = run_trial(c, &c->trial[i], err);
    return rc == ERROR_NONE
               ? method_table_print(c->trial, c->count, c->options.run.settings.partition.parts,
                                    c->options.run.json, err)
               : rc;
}

static enum error_code run(struct comparison *c, struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum error_code rc = pipeline_folder_path(&c->options.run, path, err);
    if (rc == ERROR_NONE)
        rc = run_folder_create(&c->folder, path, c->options.run.store, err);
    if (rc == ERROR_NONE)
        rc = pipeline_run_stage(&c->options.run, &c->folder, "ingest", err);
    if (rc == ERROR_NONE && c->options.compare)
        rc = compare(c, err);
    else if (rc == ERROR_NONE)
        rc = pipeline_run_stage(&c->options.run, &c->folder, "partition", err);
    run_state_settle(&c->folder, rc, err);
    return rc;
}

enum error_code command_partition(int argc, char **argv, struct error *err)
{
    struct comparison *c = NULL;
    if (options_want_help(argc, argv)) {
        print_help();
        return ERROR_NONE;
    }
    enum error_code rc = memory_new(&c, 1, "the trials of methods", err);
    if (rc == ERROR_NONE)
        rc = parse(c, argc, argv, err);
    if (rc == ERROR_NONE)
        rc = c->options.run.dry_run ? run_preview(&c->options.run, err) : run(c, err);
    if (c)
        run_folder_close(&c->folder);
    memory_free(c);
    return rc;
}
