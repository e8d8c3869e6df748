/*
 * graphmill - the driver: the commands that people type.
 *
 * It has no knowledge of its own about the work of the stages: it starts the stage programs, keeps
 * a private Redis running for them, and reads what they stored.
 */
#include "common/base/log.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "common/numbers/cpu_level.h"
#include "pipelines/questions/glossary.h"
#include "pipelines/questions/reference_page.h"
#include "pipelines/shared/commands.h"
#include "pipelines/shared/own_command.h"
#include "stages/engine/library_failure.h"
#include "stages/engine/program_start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum error_code command_help(int argc, char **argv, struct error *err);

static const struct command {
    const char *name, *arguments, *summary;
    enum error_code (*run)(int argc, char **argv, struct error *err);
} commands[] = {
    {"init", "EDGES [NODES]", "look at tables and write a pipeline file that runs", command_init},
    {"run", "FILE", "do all of a pipeline, from raw files to outputs; resumes", command_run},
    {"start", "FILE", "ingest, partition and queue a run for workers elsewhere", command_start},
    {"partition", "FILE", "ingest and partition alone; --compare tries all methods",
     command_partition},
    {"update", "DATASET", "a new version of the dataset: edges and nodes that come and go",
     command_update},
    {"watch", "FOLDER", "apply updates as they arrive, train when they ask for it", command_watch},
    {"infer", "MODEL", "apply a trained model to another graph: --on DATASET", command_infer},
    {"predict", "links RUN", "score pairs of nodes, or find the best partners of some",
     command_predict},
    {"status", "RUN", "where a run stands; --watch to follow", command_status},
    {"replay", "RUN [STAGE]", "compute one unit again and compare: MATCH or DIFFERS",
     command_replay},
    {"verify", "RUN", "check every stored record and artifact", command_verify},
    {"export", "RUN", "write the model for PyG or DGL, or the partition for others",
     command_export},
    {"report", "RUN ...", "a run, or several beside each other, as one page of HTML",
     command_report},
    {"compare", "RUN RUN", "scores, weights, settings and time of runs", command_compare},
    {"list", "[FOLDER]", "the runs of a folder: how far, how good, how large", command_list},
    {"gc", "RUN", "take away runs that newer ones replaced; --dry-run", command_gc},
    {"exporter", "RUN", "where a run stands, for Prometheus: by HTTP or as a file",
     command_exporter},
    {"fetch", "ID FOLDER", "copy the outputs of a run out of a store: --store URI", command_fetch},
    {"load", "FOLDER s3://...", "put the files of a graph into a bucket, for ingest.path",
     command_load},
    {"render", "FILE", "a run as objects of Kubernetes, for kubectl apply -f -", command_render},
    {"scale", "RUN STAGE N", "more or fewer workers of a stage in mid-run", command_scale},
    {"doctor", "", "what this machine has, and what graphmill chose", command_doctor},
    {"help", "[COMMAND]", "this, or what COMMAND --help says; glossary; reference", command_help},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_help(void)
{
    printf("graphmill %s - train graph neural networks as a replayable batch pipeline\n\n"
           "Usage: graphmill COMMAND [arguments] [options]\n\n",
           GRAPHMILL_VERSION);
    for (int i = 0; i < COMMAND_COUNT; i++)
        printf("  %-9s %-13s %s\n", commands[i].name, commands[i].arguments, commands[i].summary);
    printf("\nRUN is the folder of a run (runs/<name> unless --directory said otherwise).\n"
           "graphmill COMMAND --help tells more. Answers go to stdout, progress to stderr.\n"
           "graphmill help glossary explains the words, and help reference lists everything, in "
           "Markdown.\n"
           "Exit status: 0 done; 64 usage; 65 bad data; 70 bug; 71 memory; 74 input/output; 75 try "
           "again; 78 bad settings.\n");
}

static enum error_code unknown_command(const char *word, struct error *err)
{
    const char *names[COMMAND_COUNT + 1] = {NULL};
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    const char *nearest = text_nearest(word, names);
    if (nearest)
        return error_set(err, ERROR_USAGE, "unknown command '%s'; did you mean '%s'?", word,
                         nearest);
    return error_set(err, ERROR_USAGE, "unknown command '%s'; graphmill --help lists them", word);
}

/* Prints the help of each command that takes options, for the reference. The settings, which run
 * and start list too, have a section of their own there. */
static enum error_code print_commands(struct error *err)
{
    char asked[] = "--help", options[] = "options";
    printf("## Commands\n\n| command | what it does |\n| --- | --- |\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        printf("| `graphmill %s%s%s` | ", commands[i].name, commands[i].arguments[0] ? " " : "",
               commands[i].arguments);
        reference_print_cell(commands[i].summary);
        printf(" |\n");
    }
    enum error_code rc = ERROR_NONE;
    for (int i = 0; i < COMMAND_COUNT && rc == ERROR_NONE; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "%s", commands[i].name);
        char *words[] = {name, asked, options, NULL};
        if (commands[i].run == command_help)
            continue;
        printf("\n### graphmill %s\n\n```text\n", name);
        rc = commands[i].run(3, words, err);
        printf("```\n");
    }
    return rc;
}

static enum error_code print_reference(struct error *err)
{
    printf(
        "# Reference\n\n<!-- Made by `graphmill help reference`: change the tables of the source "
        "instead. -->\n\n"
        "This page lists every command, setting, choice and store. It is made from the tables "
        "that the\nprograms use themselves. [The user's guide](../README.md) explains how to "
        "use them, and the\n[glossary](glossary.md) explains the words.\n\n");
    const enum error_code rc = print_commands(err);
    reference_print_settings();
    return rc;
}

/* Runs `graphmill help`, `graphmill help COMMAND`, which is COMMAND --help, and the pages. */
static enum error_code command_help(int argc, char **argv, struct error *err)
{
    char asked[] = "--help";
    if (argc < 2) {
        print_help();
        return ERROR_NONE;
    }
    if (strcmp(argv[1], "reference") == 0)
        return print_reference(err);
    if (strcmp(argv[1], "glossary") == 0) {
        (argc > 2 && strcmp(argv[2], "--markdown") == 0 ? glossary_print_markdown
                                                        : glossary_print)();
        return ERROR_NONE;
    }
    char *words[] = {argv[1], asked, NULL};
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(2, words, err);
    return unknown_command(argv[1], err);
}

int main(int argc, char **argv)
{
    struct error err = {0};
    log_open("graphmill", LOG_LEVEL_INFO);
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help();
        return argc < 2 ? error_exit_status(ERROR_USAGE) : EXIT_SUCCESS;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("graphmill %s\n", GRAPHMILL_VERSION);
        return EXIT_SUCCESS;
    }
    enum error_code rc = ERROR_USAGE;
    int found = 0;
    own_command_remember(argv[0]);
    core_type_settle(argv);
    stop_signal_install();
    library_failure_install();
    for (int i = 0; i < COMMAND_COUNT && !found; i++) {
        found = strcmp(argv[1], commands[i].name) == 0;
        if (found)
            rc = cpu_level_check(&err);
        if (found && rc == ERROR_NONE)
            rc = commands[i].run(argc - 1, argv + 1, &err);
    }
    if (!found)
        rc = unknown_command(argv[1], &err);
    if (rc != ERROR_NONE)
        (void)fprintf(stderr, "graphmill: %s\n", err.message);
    return error_exit_status(rc);
}
