/*
 * init - looks at tables of edges and nodes and writes a pipeline file with comments, which runs as it is.
 *
 *   edges.csv, nodes.csv ─> table_survey ─> which columns are ids, classes, splits, numbers, words ─> edges.yaml
 *
 * What it chose, and from what it saw, stands beside each line, so that a person sees what to change. The same files give the
 * same text.
 */
#include "common/base/file.h"
#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/formats/delimited.h"
#include "pipelines/commands.h"
#include "pipelines/input_draft.h"
#include "pipelines/input_facts.h"
#include "pipelines/own_command.h"
#include "pipelines/table_survey.h"
#include "stages/tables/edge_list_survey.h"
#include "stages/tables/edge_role_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    NONE = -1,
    CLASSES_MAX = 100,
    ONE_HOT_MAX = 32,
    NAME_MAX_SIZE = 60,
    COLUMNS_TEXT_MAX = 1400
};

struct init_options {
    const char *output, *edge_columns;
    bool force;
};

/* clang-format off */
#define AT(field) offsetof(struct init_options, field)
static const struct option_spec option_table[] = {
    {"output", OPTION_TEXT, AT(output), NULL, 0, 0, "FILE", "where to write (default: the name of EDGES with .yaml, here)"},
    {"edge-columns", OPTION_TEXT, AT(edge_columns), "", 0, 0, "TEXT", "what the columns of EDGES are, as ingest.edge_columns says it: \"source: 1; target: 3; etype: 2\""},
    {"force", OPTION_FLAG, AT(force), NULL, 0, 0, NULL, "replace a file that is there"},
    {.name = NULL},
};
/* clang-format on */

struct inspection { /* large for a stack */
    const char *edges_path, *nodes_path;
    const char *columns;           /* --edge-columns, or "" */
    struct edge_list_survey edges; /* how ingest will read the edges */
    struct table_look table;       /* of the nodes */
    struct table_survey nodes;
    int id, label, split, mask[3]; /* of nodes */
    struct json_writer text;
};

static void put(struct inspection *look, const char *format, ...) PRINTF_LIKE(2, 3);

static void put(struct inspection *look, const char *format, ...)
{
    char line[4096];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    json_put_raw(&look->text, line);
}

/* --- which column is what --- */

static bool is_any(const char *name, const char *const *words)
{
    const struct field field = {name, name ? strlen(name) : 0};
    for (; name && *words; words++)
        if (field_is(&field, *words))
            return true;
    return false;
}

static int column_named(const struct table_survey *survey, const char *const *words)
{
    for (size_t i = 0; i < survey->column_count; i++)
        if (is_any(survey->column[i].name, words))
            return (int)i;
    return NONE;
}

static const struct table_column *source_ids(const struct inspection *look)
{
    return &look->edges.look.column[look->edges.roles.fields.source];
}

/* How many ids of sources a column of the table of nodes has, in the first rows of both. */
static uint64_t ids_shared(const struct inspection *look, size_t column)
{
    return table_column_shared(&look->table.column[column], source_ids(look));
}

/* Different in each row, as far as that is known. */
static bool tells_rows_apart(const struct survey_column *column)
{
    return column->word_count == column->values || column->word_count == SURVEY_WORDS_MAX;
}

/* The column of different words that most ends of edges share; where none is seen in both, one with such a name, or the first. */
static int find_id(const struct inspection *look)
{
    static const char *const names[] = {"id",      "node", "node_id", "nodeid", "user",
                                        "user_id", "name", "vertex",  NULL};
    const int named = column_named(&look->nodes, names);
    int best = named == NONE ? 0 : named;
    uint64_t most = ids_shared(look, (size_t)best);
    if (!tells_rows_apart(&look->nodes.column[best]))
        most = 0;
    for (size_t i = 0; i < look->nodes.column_count; i++) {
        const struct survey_column *column = &look->nodes.column[i];
        const uint64_t shared = ids_shared(look, i);
        if (tells_rows_apart(column) && shared > most) {
            most = shared;
            best = (int)i;
        }
    }
    return best;
}

static bool may_be_label(const struct inspection *look, size_t i)
{
    const struct survey_column *column = &look->nodes.column[i];
    return (int)i != look->id && column->values > 0 && column->word_count >= 2 &&
           column->word_count <= CLASSES_MAX && column->word_count * 2 <= column->values &&
           (!column->are_numbers || (column->are_integers && column->least >= -1));
}

/* One with such a name, else the column of fewest different words. */
static int find_label(const struct inspection *look)
{
    static const char *const names[] = {"label", "class", "category", "y",     "target",
                                        "topic", "type",  "subject",  "group", NULL};
    int best = NONE;
    for (size_t i = 0; i < look->nodes.column_count; i++)
        if (is_any(look->nodes.column[i].name, names) && may_be_label(look, i))
            return (int)i;
    for (size_t i = 0; i < look->nodes.column_count; i++) {
        const struct survey_column *column = look->nodes.column;
        if (may_be_label(look, i) && (int)i != look->split && !column[i].are_numbers &&
            (best == NONE || column[i].word_count < column[best].word_count))
            best = (int)i;
    }
    return best;
}

static bool has_split_words(const struct survey_column *column)
{
    static const char *const words[] = {"train", "training", "valid",   "validation", "val",
                                        "dev",   "test",     "testing", NULL};
    bool trains = false;
    for (size_t i = 0; i < column->word_count; i++) {
        if (!is_any(column->word[i], words))
            return false;
        trains |= column->word[i][0] == 't' || column->word[i][0] == 'T';
    }
    return trains;
}

static void look_at_nodes(struct inspection *look)
{
    static const char *const masks[3][4] = {{"train_mask", "is_train", "train", NULL},
                                            {"val_mask", "valid_mask", "is_val", NULL},
                                            {"test_mask", "is_test", "test", NULL}};
    look->id = look->label = look->split = NONE;
    for (int s = 0; s < 3; s++)
        look->mask[s] = look->nodes_path ? column_named(&look->nodes, masks[s]) : NONE;
    if (look->mask[0] == NONE || look->mask[1] == NONE || look->mask[2] == NONE)
        look->mask[0] = NONE;
    if (!look->nodes_path)
        return;
    look->id = find_id(look);
    for (size_t i = 0; i < look->nodes.column_count && look->split == NONE; i++)
        if ((int)i != look->id && has_split_words(&look->nodes.column[i]))
            look->split = (int)i;
    look->label = find_label(look);
}

/* --- writing --- */

static bool is_mask(const struct inspection *look, int column)
{
    return look->mask[0] != NONE &&
           (column == look->mask[0] || column == look->mask[1] || column == look->mask[2]);
}

/* In quotes, as YAML has them. */
static void put_quoted(struct inspection *look, const char *text)
{
    json_put_raw(&look->text, "\"");
    for (const char *c = text; *c; c++) {
        const char one[2] = {*c, '\0'};
        if (*c == '"' || *c == '\\')
            json_put_raw(&look->text, "\\");
        json_put_raw(&look->text, one);
    }
    json_put_raw(&look->text, "\"");
}

static void put_direction(struct inspection *look)
{
    const enum stated_direction stated = look->edges.stated;
    char said[FACT_SIZE] = "";
    const char *direction = input_facts_direction(look->edges_path, said);
    if (direction)
        put(look,
            "  direction: %s%*s# the file says `%s`; undirected: both ways, as_given: from "
            "source to target alone\n",
            direction, (int)(strlen(direction) < 16 ? 17 - strlen(direction) : 1), "", said);
    else if (stated == STATED_UNDIRECTED || stated == STATED_DIRECTED)
        put(look, "  direction: %s         # the file says it\n",
            stated == STATED_UNDIRECTED ? "undirected" : "as_given  ");
    else if (look->edges.roles.type_field != EDGE_FIELD_NONE)
        put(look,
            "  direction: as_given         # a relation goes from its source to its target\n");
    else
        put(look,
            "  direction: undirected       # the file does not say it: messages go both ways; "
            "as_given: from source to target alone\n");
}

/* Ends of two kinds whose ids are numbers are nodes of two types: user 1 is not movie 1. */
static bool has_two_sides(const struct inspection *look)
{
    return look->edges.roles.side[0][0] ||
           (look->edges.roles.names_two_kinds && !look->edges.of_strings);
}

/* Weights of very different sizes multiply messages, and negative ones cannot be summed up to a divisor. */
static void put_weight_scale(struct inspection *look)
{
    static const double wide = 1000;
    const struct edge_list_survey *edges = &look->edges;
    for (size_t i = 0; i < edges->roles.fields.count; i++) {
        const struct table_column *weight = &edges->look.column[i];
        const double least = weight->least > 0 ? weight->least : weight->are_integers ? 1 : 0;
        if (edges->roles.fields.use[i].column != EDGE_WEIGHT)
            continue;
        if (weight->least < 0)
            put(look,
                "  weight_scale: rank          # weights go from %.10g to %.10g; as_given: as they "
                "are, which some models refuse\n",
                weight->least, weight->most);
        else if (least > 0 && weight->most > wide * least)
            put(look,
                "  weight_scale: log           # weights go from %.10g to %.10g, and multiply "
                "messages; also rank, as_given\n",
                weight->least, weight->most);
    }
}

static void put_edges(struct inspection *look, const char *path)
{
    const struct edge_list_survey *edges = &look->edges;
    char columns[ROLE_TEXT_SIZE];
    const bool has_types = edges->roles.side[0][0] != '\0';
    put(look,
        "ingest:\n  format: edge_list           # %s: %s%" PRIu64 " edges looked at, ids are %s\n",
        look->edges_path, edges->look.header_line ? "a header and " : "no header, ",
        edges->look.rows, edges->of_strings ? "words" : "numbers");
    put(look, "  path: ");
    put_quoted(look, path);
    put(look, "\n  # %s\n  edge_columns: ", edges->roles.said);
    put_quoted(look,
               has_types && look->columns[0]
                   ? look->columns
                   : edge_role_setting(&edges->look, &edges->roles, has_two_sides(look), columns));
    put(look, "\n");
    put_weight_scale(look);
    put_direction(look);
}

/* A word in a comment, which ends where its line does. */
static void put_word(struct inspection *look, const char *word)
{
    char shown[21];
    (void)snprintf(shown, sizeof shown, "%s", word);
    for (char *at = shown; *at; at++)
        *at = (char)((unsigned char)*at < ' ' ? ' ' : *at);
    put(look, " %s", shown);
}

static void put_classes(struct inspection *look)
{
    const struct survey_column *label = &look->nodes.column[look->label];
    put(look, "  label_columns: \"%s\"%*s# %zu classes:", label->name,
        (int)(strlen(label->name) < 11 ? 11 - strlen(label->name) : 1), "", label->word_count);
    for (size_t i = 0; i < label->word_count && i < 5; i++) {
        put_word(look, label->word[i]);
        put(look, "%s", i + 1 < label->word_count ? "," : "");
    }
    put(look, "%s; %" PRIu64 " of %" PRIu64 " nodes have one\n",
        label->word_count > 5 ? " ..." : "", label->values, look->nodes.rows);
}

static bool is_feature(const struct inspection *look, size_t i)
{
    const struct survey_column *column = &look->nodes.column[i];
    return (int)i != look->id && (int)i != look->label && (int)i != look->split &&
           !is_mask(look, (int)i) && column->values > 0 &&
           (column->are_numbers || column->word_count <= ONE_HOT_MAX);
}

static void put_feature_columns(struct inspection *look, const char *path)
{
    char entry[256];
    size_t size = 0, left_out = 0;
    bool any = false;
    for (size_t i = 0; i < look->nodes.column_count; i++) {
        const struct survey_column *column = &look->nodes.column[i];
        if (!is_feature(look, i)) {
            left_out += (int)i != look->id && (int)i != look->label && (int)i != look->split &&
                        !is_mask(look, (int)i);
            continue;
        }
        (void)snprintf(entry, sizeof entry, "%s: %s%s", column->name,
                       column->are_numbers ? "standardise" : "one_hot",
                       column->values < look->nodes.rows ? column->are_numbers ? " mean" : " zero"
                                                         : "");
        if (size + strlen(entry) + 2 > COLUMNS_TEXT_MAX) {
            left_out++;
            continue;
        }
        if (!any) {
            put(look, "  features: ");
            put_quoted(look, path);
            put(look, "\n  # number, log, standardise, one_hot or buckets 10 20 30; and zero, mean "
                      "or indicator for gaps\n"
                      "  feature_columns: \"");
        }
        put(look, "%s%s", any ? "; " : "", entry);
        size += strlen(entry) + 2;
        any = true;
    }
    put(look, any ? "\"\n" : "  # no columns of features: degrees and random numbers are taken\n");
    if (left_out)
        put(look,
            "  # %zu columns are left out: words with more than %d values, empty ones, or too "
            "many\n",
            left_out, ONE_HOT_MAX);
}

/* Words such as NA among numbers, in the columns that are used. */
static void put_missing_words(struct inspection *look)
{
    bool any = false;
    for (size_t i = 0; i < look->nodes.column_count; i++) {
        const struct survey_column *column = &look->nodes.column[i];
        if ((int)i != look->label && !is_feature(look, i))
            continue;
        for (size_t k = 0; k < column->gap_count; k++) {
            put(look, any ? ", " : "  missing_words: [");
            put_quoted(look, column->gap[k]);
            any = true;
        }
    }
    if (any)
        put(look, "]  # they stand among numbers and say that a value is missing\n");
}

static void put_split(struct inspection *look)
{
    const struct survey_column *column = look->nodes.column;
    if (look->split != NONE)
        put(look, "  split: \"column %s\"\n", column[look->split].name);
    else if (look->mask[0] != NONE)
        put(look, "  split: \"masks %s; %s; %s\"\n", column[look->mask[0]].name,
            column[look->mask[1]].name, column[look->mask[2]].name);
    else
        put(look, "  split: stratified 60/20/20  # percent of each class; or random, hash, time "
                  "(with time_column: NAME)\n");
}

static void put_nodes(struct inspection *look, const char *path)
{
    if (look->label == NONE) {
        put(look, "  task: link_prediction       # no column of classes was seen: which edges are "
                  "there is learnt\n"
                  "  edge_split: random 85/5/10\n");
        return;
    }
    put(look, "  labels: ");
    put_quoted(look, path);
    put(look, "\n  id_column: \"%s\"\n", look->nodes.column[look->id].name);
    put_classes(look);
    put_feature_columns(look, path);
    put_missing_words(look);
    put_split(look);
}

static void put_model(struct inspection *look)
{
    const bool links = look->label == NONE;
    put(look,
        "partition:\n  parts: 4                    # many more than workers is fine\n"
        "sample:\n  fanouts: [10, 10]           # neighbours, one number for each layer; -1: all\n"
        "  batch_size: 256\n  batches_per_round: 1        # mini-batches of one optimizer step\n"
        "train-step:\n  model: sage                 # or gcn, gat, gin, ...: graphmill run --help\n"
        "  hidden: 64\n%s"
        "aggregate:\n  optimizer: adam\n  learning_rate: 0.01\n"
        "checkpoint:\n  metric: %s\n",
        links ? "  decoder: dot\n" : "  dropout: 0.3\n", links ? "roc_auc" : "accuracy");
}

static enum error_code check_names(const struct table_survey *survey, const char *path,
                                   struct error *err)
{
    for (size_t i = 0; i < survey->column_count; i++) {
        const char *name = survey->column[i].name;
        if (name && (strpbrk(name, ":;\"\\") || strlen(name) > NAME_MAX_SIZE))
            return error_set(
                err, ERROR_INPUT,
                "%s: column %zu: expected a name of at most %d bytes without : ; \" \\, "
                "found '%.80s': " ADVICE "give it another name",
                path, i + 1, NAME_MAX_SIZE, name);
    }
    return ERROR_NONE;
}

static enum error_code survey_edges(struct inspection *look, struct error *err)
{
    const struct edge_survey_request request = {
        .path = look->edges_path, .columns = look->columns, .features = EDGE_FEATURES_AUTO};
    const enum error_code rc = edge_list_survey_read(&request, &look->edges, err);
    return rc == ERROR_INPUT
               ? error_context(err, rc, "give --edge-columns what is meant by `edge_columns:`")
               : rc;
}

static bool heads_ids(const struct field *name)
{
    static const char *const words[] = {"id",      "node", "node_id", "nodeid", "user",
                                        "user_id", "name", "vertex",  "index",  NULL};
    for (const char *const *word = words; *word; word++)
        if (field_is(name, *word))
            return true;
    return false;
}

/* The first row is a header if none of its cells is an id of an edge, though a column has such ids. */
static bool names_no_node(const struct inspection *look, const struct table_look *table)
{
    struct field cell;
    struct delimited cursor;
    bool any = false;
    delimited_begin(&cursor, table->header, table->header_size, table->delimiter);
    for (size_t i = 0; delimited_next(&cursor, &cell) && i < table->column_count; i++) {
        if (table_column_has(source_ids(look), &cell))
            return false;
        any |= table_column_shared(&table->column[i], source_ids(look)) * 2 >
               source_ids(look)->distinct;
    }
    return any;
}

static enum error_code look_at_table(struct inspection *look, struct error *err)
{
    struct table_request request = {
        .path = look->nodes_path, .is_known = heads_ids, .least_columns = 2};
    enum error_code rc = table_look_read(&request, &look->table, err);
    if (rc == ERROR_NONE && !look->table.header_line && names_no_node(look, &look->table)) {
        table_look_release(&look->table);
        request.has_header = true;
        rc = table_look_read(&request, &look->table, err);
    }
    if (rc == ERROR_NONE && !look->table.header_line)
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected a header with a name for each column (`id,class` for two), "
                       "found '%.*s'",
                       look->nodes_path,
                       look->table.header_size < 80 ? (int)look->table.header_size : 80,
                       look->table.header);
    return rc;
}

static enum error_code survey_files(struct inspection *look, struct error *err)
{
    enum error_code rc = survey_edges(look, err);
    if (rc != ERROR_NONE || !look->nodes_path)
        return rc;
    rc = look_at_table(look, err);
    if (rc == ERROR_NONE)
        rc = table_survey_read(look->nodes_path, &look->table, &look->nodes, err);
    return rc == ERROR_NONE ? check_names(&look->nodes, look->nodes_path, err) : rc;
}

/* "calls" of data/calls.csv.gz, of letters that a name may have. */
static void stem_of(const char *path, char out[NAME_MAX_SIZE])
{
    const char *base = strrchr(path, '/');
    size_t size = 0;
    base = base ? base + 1 : path;
    for (const char *c = base; *c && (*c != '.' || c == base) && size + 1 < NAME_MAX_SIZE; c++)
        out[size++] = isalnum((unsigned char)*c) || *c == '-' || *c == '_' ? *c : '-';
    out[size] = '\0';
}

/* As the pipeline file names it: relative to that, which lies here unless --output says otherwise. */
static enum error_code path_in_file(const struct init_options *options, const char *path,
                                    char out[FILE_PATH_SIZE], struct error *err)
{
    const bool is_here = !options->output || !strchr(options->output, '/');
    return is_here ? file_path(out, err, "%s", path) : file_absolute(out, path, err);
}

/* The name of the pipeline and the file to write, which is not there yet unless --force says so. */
static enum error_code choose_output(const struct init_options *options, const char *input,
                                     char name[NAME_MAX_SIZE], char output[FILE_PATH_SIZE],
                                     struct error *err)
{
    bool is_there = false;
    stem_of(input, name);
    enum error_code rc = options->output ? file_path(output, err, "%s", options->output)
                                         : file_path(output, err, "%s.yaml", name);
    if (rc == ERROR_NONE)
        rc = file_is_there(output, &is_there, err);
    return rc == ERROR_NONE && is_there && !options->force
               ? error_set(err, ERROR_USAGE,
                           "%s is there already: " ADVICE
                           "name another file with --output, or replace it "
                           "with --force",
                           output)
               : rc;
}

static enum error_code write_file(struct inspection *look, const struct init_options *options,
                                  char output[FILE_PATH_SIZE], struct error *err)
{
    char name[NAME_MAX_SIZE], edges[FILE_PATH_SIZE], nodes[FILE_PATH_SIZE] = "";
    enum error_code rc = choose_output(options, look->edges_path, name, output, err);
    if (rc == ERROR_NONE)
        rc = path_in_file(options, look->edges_path, edges, err);
    if (rc == ERROR_NONE && look->nodes_path)
        rc = path_in_file(options, look->nodes_path, nodes, err);
    if (rc != ERROR_NONE)
        return rc;
    put(look,
        "# Written by graphmill init, of what it saw in the first %d lines. Change what you like;\n"
        "# graphmill run --help tells all settings.\nname: %s\nepochs: %d\n",
        SURVEY_ROWS_MAX, name, look->label == NONE ? 10 : 30);
    put_edges(look, edges);
    put_nodes(look, nodes);
    put_model(look);
    rc = json_writer_finish(&look->text, err);
    return rc == ERROR_NONE
               ? file_replace(output, look->text.text, strlen(look->text.text), false, err)
               : rc;
}

static enum error_code write_input(struct inspection *look, const struct init_options *options,
                                   const struct input_facts *facts, char output[FILE_PATH_SIZE],
                                   struct error *err)
{
    char name[NAME_MAX_SIZE], path[FILE_PATH_SIZE], absolute[FILE_PATH_SIZE];
    enum error_code rc =
        file_absolute(absolute, facts->path, err); /* which has a name, as . has not */
    if (rc == ERROR_NONE)
        rc = choose_output(options, absolute, name, output, err);
    if (rc == ERROR_NONE)
        rc = path_in_file(options, facts->path, path, err);
    if (rc != ERROR_NONE)
        return rc;
    input_draft_write(facts, name, path, &look->text);
    rc = json_writer_finish(&look->text, err);
    return rc == ERROR_NONE
               ? file_replace(output, look->text.text, strlen(look->text.text), false, err)
               : rc;
}

static enum error_code write_tables(struct inspection *look, const struct init_options *options,
                                    char output[FILE_PATH_SIZE], struct error *err)
{
    const enum error_code rc = survey_files(look, err);
    if (rc != ERROR_NONE)
        return rc;
    look_at_nodes(look);
    return write_file(look, options, output, err);
}

static enum error_code inspect(const struct init_options *options, const struct option_list *files,
                               struct error *err)
{
    struct inspection *look = NULL;
    struct input_facts facts;
    char output[FILE_PATH_SIZE], word[SHELL_WORD_SIZE];
    enum error_code rc = memory_new(&look, 1, "what tables show", err);
    if (rc != ERROR_NONE)
        return rc;
    look->edges_path = files->item[0];
    look->columns = options->edge_columns;
    look->nodes_path = files->count > 1 ? files->item[1] : NULL;
    rc = input_facts_find(look->edges_path, &facts, err);
    if (rc == ERROR_NONE && facts.format != FORMAT_EDGE_LIST && look->nodes_path)
        rc = error_set(err, ERROR_USAGE,
                       "%s: expected NODES beside a table of edges alone: " ADVICE
                       "name it by itself, and "
                       "add to the file what %s says",
                       facts.seen, look->nodes_path);
    if (rc == ERROR_NONE)
        rc = facts.format == FORMAT_EDGE_LIST ? write_tables(look, options, output, err)
                                              : write_input(look, options, &facts, output, err);
    if (rc == ERROR_NONE) {
        printf("%s\n", output);
        (void)fflush(stdout);
        (void)fprintf(stderr, "next:\n    %s run %s\n", own_command(), shell_word(output, word));
    }
    json_writer_release(&look->text);
    edge_list_survey_release(&look->edges);
    table_look_release(&look->table);
    table_survey_release(&look->nodes);
    memory_free(look);
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
