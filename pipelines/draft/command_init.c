/*
 * init - looks at an input and writes a pipeline file with comments, which runs without changes.
 *
 *   edges.csv, nodes.csv ──> table_facts ──> table_draft ──┐
 *   any other input ───────> input_facts ──> input_draft ──┴─> edges.yaml
 *
 * The same files give the same text.
 */
#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/files/file.h"
#include "pipelines/draft/input_draft.h"
#include "pipelines/draft/input_facts.h"
#include "pipelines/draft/table_draft.h"
#include "pipelines/draft/table_facts.h"
#include "pipelines/shared/commands.h"
#include "pipelines/shared/own_command.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 60 };

struct init_options {
    const char *output, *edge_columns;
    bool force;
};

#define AT(field) offsetof(struct init_options, field)
static const struct option_spec option_table[] = {
    {"output", OPTION_TEXT, AT(output), NULL, 0, 0, "FILE",
     "where to write (default: the name of EDGES with .yaml, here)"},
    {"edge-columns", OPTION_TEXT, AT(edge_columns), "", 0, 0, "TEXT",
     "what the columns of EDGES are, as ingest.edge_columns says it: \"source: 1; target: 3; "
     "etype: 2\""},
    {"force", OPTION_FLAG, AT(force), NULL, 0, 0, NULL, "replace a file that is there"},
    {.name = NULL},
};

/* The file to write. */
struct draft {
    const struct init_options *options;
    char name[NAME_SIZE]; /* name of the pipeline */
    char output[FILE_PATH_SIZE];
    struct json_writer text;
};

/* Writes "calls" for data/calls.csv.gz, with the characters that a name may have. */
static void stem_of(const char *path, char out[NAME_SIZE])
{
    const char *base = strrchr(path, '/');
    size_t size = 0;
    base = base ? base + 1 : path;
    for (const char *c = base; *c && (*c != '.' || c == base) && size + 1 < NAME_SIZE; c++)
        out[size++] = isalnum((unsigned char)*c) || *c == '-' || *c == '_' ? *c : '-';
    out[size] = '\0';
}

/* Writes a path as the pipeline file names it: relative to that file, which is in the current
 * folder unless --output says otherwise. */
static enum error_code path_in_file(const struct draft *draft, const char *path,
                                    char out[FILE_PATH_SIZE], struct error *err)
{
    const bool is_here = !draft->options->output || !strchr(draft->options->output, '/');
    return is_here ? file_path(out, err, "%s", path) : file_absolute(out, path, err);
}

/* Chooses the name of the pipeline and the file to write, which must not exist without --force. */
static enum error_code choose_output(struct draft *draft, const char *input, struct error *err)
{
    const struct init_options *options = draft->options;
    bool is_there = false;
    stem_of(input, draft->name);
    enum error_code rc = options->output ? file_path(draft->output, err, "%s", options->output)
                                         : file_path(draft->output, err, "%s.yaml", draft->name);
    if (rc == ERROR_NONE)
        rc = file_is_there(draft->output, &is_there, err);
    return rc == ERROR_NONE && is_there && !options->force
               ? error_set(err, ERROR_USAGE,
                           "%s is there already: " ADVICE
                           "name another file with --output, or replace it "
                           "with --force",
                           draft->output)
               : rc;
}

static enum error_code draft_tables(struct draft *draft, struct table_facts *facts,
                                    struct error *err)
{
    char edges[FILE_PATH_SIZE], nodes[FILE_PATH_SIZE] = "";
    enum error_code rc = table_facts_find(facts, err);
    if (rc == ERROR_NONE)
        rc = choose_output(draft, facts->edges_path, err);
    if (rc == ERROR_NONE)
        rc = path_in_file(draft, facts->edges_path, edges, err);
    if (rc == ERROR_NONE && facts->nodes_path)
        rc = path_in_file(draft, facts->nodes_path, nodes, err);
    if (rc == ERROR_NONE)
        table_draft_write(facts, draft->name, edges, nodes, &draft->text);
    return rc;
}

static enum error_code draft_input(struct draft *draft, const struct input_facts *facts,
                                   struct error *err)
{
    char path[FILE_PATH_SIZE], absolute[FILE_PATH_SIZE];
    /* An absolute path ends in a name, and "." does not. */
    enum error_code rc = file_absolute(absolute, facts->path, err);
    if (rc == ERROR_NONE)
        rc = choose_output(draft, absolute, err);
    if (rc == ERROR_NONE)
        rc = path_in_file(draft, facts->path, path, err);
    if (rc == ERROR_NONE)
        input_draft_write(facts, draft->name, path, &draft->text);
    return rc;
}

static enum error_code make_draft(struct draft *draft, struct table_facts *tables,
                                  struct error *err)
{
    struct input_facts facts;
    enum error_code rc = input_facts_find(tables->edges_path, &facts, err);
    if (rc != ERROR_NONE)
        return rc;
    if (facts.is_table)
        return draft_tables(draft, tables, err);
    if (tables->nodes_path)
        return error_set(err, ERROR_USAGE,
                         "%s: expected NODES beside a table of edges alone: " ADVICE
                         "name it by itself, and "
                         "add to the file what %s says",
                         facts.seen, tables->nodes_path);
    return draft_input(draft, &facts, err);
}

static enum error_code write_draft(struct draft *draft, struct error *err)
{
    char word[SHELL_WORD_SIZE];
    enum error_code rc = json_writer_finish(&draft->text, err);
    if (rc == ERROR_NONE)
        rc = file_replace(draft->output, draft->text.text, strlen(draft->text.text), false, err);
    if (rc != ERROR_NONE)
        return rc;
    printf("%s\n", draft->output);
    (void)fflush(stdout);
    (void)fprintf(stderr, "next:\n    %s run %s\n", own_command(), shell_word(draft->output, word));
    return rc;
}

static enum error_code inspect(const struct init_options *options, const struct option_list *files,
                               struct error *err)
{
    struct draft draft = {.options = options};
    struct table_facts *tables = NULL;
    enum error_code rc = memory_new(&tables, 1, "what tables show", err);
    if (rc != ERROR_NONE)
        return rc;
    tables->edges_path = files->item[0];
    tables->nodes_path = files->count > 1 ? files->item[1] : NULL;
    tables->columns = options->edge_columns;
    rc = make_draft(&draft, tables, err);
    if (rc == ERROR_NONE)
        rc = write_draft(&draft, err);
    json_writer_release(&draft.text);
    table_facts_release(tables);
    memory_free(tables);
    return rc;
}

static void print_help(void)
{
    printf(
        "graphmill init EDGES [NODES] [options] - look at an input and write a pipeline file\n\n"
        "EDGES has an edge a line, NODES a node a line behind a header: separated by commas, "
        "tabs, semicolons, bars,\ntwo colons or blanks; plain, gzip or zstd. EDGES may also be any "
        "other input that `format: auto` knows, such as\ngraph.mtx, graph.graphml, graph.npz or a "
        "folder. The file that is "
        "written runs as it is, and says in "
        "comments what was seen.\n\n");
    options_print_help(option_table);
}

enum error_code command_init(int argc, char **argv, struct error *err)
{
    struct init_options options = {0};
    struct option_list files = {0};
    if (options_want_help(argc, argv)) {
        print_help();
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &files, err);
    if (rc == ERROR_NONE && (files.count < 1 || files.count > 2))
        rc = error_set(err, ERROR_USAGE,
                       "graphmill init takes EDGES and perhaps NODES; " ADVICE "see --help");
    return rc == ERROR_NONE ? inspect(&options, &files, err) : rc;
}
