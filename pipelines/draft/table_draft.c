#include "pipelines/draft/table_draft.h"

#include "pipelines/draft/draft_text.h"
#include "stages/tables/edge_role_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NONE = TABLE_FACTS_NONE, ONE_HOT_MAX = 32, COLUMNS_TEXT_SIZE = 1399 };

/* --- edges --- */

static void put_direction(struct json_writer *out, const struct edge_list_survey *edges)
{
    const char *stated = edges->stated == STATED_UNDIRECTED ? "undirected" : "as_given";
    if (edges->comment)
        draft_put_setting(out, "direction", stated,
                          "the file says `%s`; undirected: both ways, as_given: from source to "
                          "target alone",
                          edges->comment);
    else if (edges->stated == STATED_UNDIRECTED || edges->stated == STATED_DIRECTED)
        draft_put_setting(out, "direction", stated, "the file says it");
    else if (edges->roles.type_field != EDGE_FIELD_NONE)
        draft_put_setting(out, "direction", "as_given",
                          "a relation goes from its source to its target");
    else
        draft_put_setting(out, "direction", "undirected",
                          "the file does not say it: messages go both ways; as_given: from source "
                          "to target alone");
}

/* Chooses a scale for weights. Weights of very different sizes would dominate the messages, and
 * negative weights can make the divisor 0. */
static void put_weight_scale(struct json_writer *out, const struct edge_list_survey *edges)
{
    static const double wide = 1000;
    for (size_t i = 0; i < edges->roles.fields.count; i++) {
        const struct table_column *weight = &edges->look.column[i];
        const double least = weight->least > 0 ? weight->least : weight->are_integers ? 1 : 0;
        if (edges->roles.fields.use[i].column != EDGE_WEIGHT)
            continue;
        if (weight->least < 0)
            draft_put_setting(out, "weight_scale", "rank",
                              "weights go from %.10g to %.10g; as_given: as they are, which some "
                              "models refuse",
                              weight->least, weight->most);
        else if (least > 0 && weight->most > wide * least)
            draft_put_setting(out, "weight_scale", "log",
                              "weights go from %.10g to %.10g, and multiply messages; also rank, "
                              "as_given",
                              weight->least, weight->most);
    }
}

static void put_edges(struct json_writer *out, const struct table_facts *facts, const char *path)
{
    const struct edge_list_survey *edges = &facts->edges;
    char columns[ROLE_TEXT_SIZE];
    const bool has_types = edges->roles.side[0][0] != '\0';
    /* If the two ends have different kinds of ids that are numbers, they are nodes of two types:
     * user 1 is not movie 1. */
    const bool has_sides = has_types || (edges->roles.names_two_kinds && !edges->of_strings);
    draft_put(out, "ingest:\n");
    draft_put_setting(out, "format", "edge_list", "%s: %s%" PRIu64 " edges looked at, ids are %s",
                      facts->edges_path, edges->look.header_line ? "a header and " : "no header, ",
                      edges->look.rows, edges->of_strings ? "words" : "numbers");
    draft_put_text(out, "path", path);
    draft_put(out, "  # %s\n", edges->roles.said);
    draft_put_text(out, "edge_columns",
                   has_types && facts->columns[0]
                       ? facts->columns
                       : edge_role_setting(&edges->look, &edges->roles, has_sides, columns));
    put_weight_scale(out, edges);
    put_direction(out, edges);
}

/* --- nodes --- */

/* Appends a word to a comment. A comment ends where its line ends. */
static void add_word(char *text, size_t size, const char *word, bool is_last)
{
    const size_t at = strlen(text);
    (void)snprintf(text + at, size - at, " %.20s%s", word, is_last ? "" : ",");
    for (char *c = text + at; *c; c++)
        *c = (char)((unsigned char)*c < ' ' ? ' ' : *c);
}

static void put_classes(struct json_writer *out, const struct table_facts *facts)
{
    enum { SHOWN = 5 };
    const struct survey_column *label = &facts->nodes.column[facts->label];
    char name[TABLE_NAME_MAX + 3], words[200] = "";
    (void)snprintf(name, sizeof name, "\"%s\"", label->name);
    for (size_t i = 0; i < label->word_count && i < SHOWN; i++)
        add_word(words, sizeof words, label->word[i], i + 1 == label->word_count);
    draft_put_setting(out, "label_columns", name,
                      "%zu classes:%s%s; %" PRIu64 " of %" PRIu64 " nodes have one",
                      label->word_count, words, label->word_count > SHOWN ? " ..." : "",
                      label->values, facts->nodes.rows);
}

/* Returns whether a column is used as something else than a feature. */
static bool is_used(const struct table_facts *facts, size_t i)
{
    const int column = (int)i;
    return column == facts->id || column == facts->label || column == facts->split ||
           (facts->mask[0] != NONE &&
            (column == facts->mask[0] || column == facts->mask[1] || column == facts->mask[2]));
}

static bool is_feature(const struct table_facts *facts, size_t i)
{
    const struct survey_column *column = &facts->nodes.column[i];
    return !is_used(facts, i) && column->values > 0 &&
           (column->are_numbers || column->word_count <= ONE_HOT_MAX);
}

static void put_feature_columns(struct json_writer *out, const struct table_facts *facts,
                                const char *path)
{
    char text[COLUMNS_TEXT_SIZE] = "";
    size_t size = 0, left_out = 0;
    for (size_t i = 0; i < facts->nodes.column_count; i++) {
        const struct survey_column *column = &facts->nodes.column[i];
        char entry[256];
        (void)snprintf(entry, sizeof entry, "%s%s: %s%s", size ? "; " : "", column->name,
                       column->are_numbers ? "standardise" : "one_hot",
                       column->values == facts->nodes.rows ? ""
                       : column->are_numbers               ? " mean"
                                                           : " zero");
        const size_t length = strlen(entry);
        const bool is_taken = is_feature(facts, i) && size + length < sizeof text;
        left_out += !is_taken && !is_used(facts, i);
        if (is_taken)
            memcpy(text + size, entry, length + 1);
        size += is_taken ? length : 0;
    }
    if (size) {
        draft_put_text(out, "features", path);
        draft_put(out, "  # number, log, standardise, one_hot or buckets 10 20 30; and zero, mean "
                       "or indicator for gaps\n");
        draft_put_text(out, "feature_columns", text);
    } else
        draft_put(out, "  # no columns of features: degrees and random numbers are taken\n");
    if (left_out)
        draft_put(
            out,
            "  # %zu columns are left out: words with more than %d values, empty ones, or too "
            "many\n",
            left_out, ONE_HOT_MAX);
}

/* Writes the words such as NA that stand for missing numbers, in the columns that are used. */
static void put_missing_words(struct json_writer *out, const struct table_facts *facts)
{
    bool any = false;
    for (size_t i = 0; i < facts->nodes.column_count; i++) {
        const struct survey_column *column = &facts->nodes.column[i];
        if ((int)i != facts->label && !is_feature(facts, i))
            continue;
        for (size_t k = 0; k < column->gap_count; k++) {
            draft_put(out, any ? ", " : "  missing_words: [");
            draft_put_quoted(out, column->gap[k]);
            any = true;
        }
    }
    if (any)
        draft_put(out, "]  # they stand among numbers and say that a value is missing\n");
}

static void put_split(struct json_writer *out, const struct table_facts *facts)
{
    const struct survey_column *column = facts->nodes.column;
    if (facts->split != NONE)
        draft_put(out, "  split: \"column %s\"\n", column[facts->split].name);
    else if (facts->mask[0] != NONE)
        draft_put(out, "  split: \"masks %s; %s; %s\"\n", column[facts->mask[0]].name,
                  column[facts->mask[1]].name, column[facts->mask[2]].name);
    else
        draft_put_setting(out, "split", "stratified 60/20/20",
                          "percent of each class; or random, hash, time (with time_column: NAME)");
}

static void put_nodes(struct json_writer *out, const struct table_facts *facts, const char *path)
{
    if (facts->label == NONE) {
        draft_put_setting(out, "task", "link_prediction",
                          "no column of classes was seen: which edges are there is learnt");
        draft_put(out, "  edge_split: random 85/5/10\n");
        return;
    }
    draft_put_text(out, "labels", path);
    draft_put_text(out, "id_column", facts->nodes.column[facts->id].name);
    put_classes(out, facts);
    put_feature_columns(out, facts, path);
    put_missing_words(out, facts);
    put_split(out, facts);
}

void table_draft_write(const struct table_facts *facts, const char *name, const char *edges,
                       const char *nodes, struct json_writer *out)
{
    const bool links = facts->label == NONE;
    char seen[64];
    (void)snprintf(seen, sizeof seen, "it saw in the first %d lines", SURVEY_ROWS_MAX);
    draft_begin(out, seen, name, links);
    put_edges(out, facts, edges);
    put_nodes(out, facts, nodes);
    draft_put_partition(out);
    draft_put_sampled_model(out, links);
}
