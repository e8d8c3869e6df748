#include "pipelines/draft/table_facts.h"

#include <string.h>

enum { NONE = TABLE_FACTS_NONE, CLASSES_MAX = 100 };

#define ID_NAMES "id", "node", "node_id", "nodeid", "user", "user_id", "name", "vertex"

/* --- names --- */

static bool is_any(const struct field *name, const char *const *words)
{
    for (; *words; words++)
        if (field_is(name, *words))
            return true;
    return false;
}

static int column_named(const struct table_look *look, const char *const *words)
{
    for (size_t i = 0; i < look->column_count; i++)
        if (is_any(&look->column[i].name, words))
            return (int)i;
    return NONE;
}

/* Returns whether a header is a usual name of a column of ids; a table_name_test. */
static bool heads_ids(const struct field *name)
{
    static const char *const words[] = {ID_NAMES, "index", NULL};
    return is_any(name, words);
}

/* --- which column is what --- */

static const struct table_column *source_ids(const struct table_facts *facts)
{
    return &facts->edges.look.column[facts->edges.roles.fields.source];
}

/* Returns whether each row has another value in the column, as far as that is known. */
static bool tells_rows_apart(const struct survey_column *column)
{
    return column->word_count == column->values || column->word_count == SURVEY_WORDS_MAX;
}

/* Finds the column of unique words that shares most ids with the sources in the first rows of both
 * tables. If there is none, it takes a column with a usual name, or the first one. */
static int find_id(const struct table_facts *facts)
{
    static const char *const names[] = {ID_NAMES, NULL};
    const int named = column_named(&facts->look, names);
    int best = named == NONE ? 0 : named;
    uint64_t most = 0;
    if (tells_rows_apart(&facts->nodes.column[best]))
        most = table_column_shared(&facts->look.column[best], source_ids(facts));
    for (size_t i = 0; i < facts->nodes.column_count; i++) {
        const uint64_t shared = table_column_shared(&facts->look.column[i], source_ids(facts));
        if (tells_rows_apart(&facts->nodes.column[i]) && shared > most) {
            most = shared;
            best = (int)i;
        }
    }
    return best;
}

static bool may_be_label(const struct table_facts *facts, size_t i)
{
    const struct survey_column *column = &facts->nodes.column[i];
    return (int)i != facts->id && column->values > 0 && column->word_count >= 2 &&
           column->word_count <= CLASSES_MAX && column->word_count * 2 <= column->values &&
           (!column->are_numbers || (column->are_integers && column->least >= -1));
}

/* Finds a column with a usual name for labels, or else the column with the fewest different
 * words. */
static int find_label(const struct table_facts *facts)
{
    static const char *const names[] = {"label", "class", "category", "y",     "target",
                                        "topic", "type",  "subject",  "group", NULL};
    const struct survey_column *column = facts->nodes.column;
    int best = NONE;
    for (size_t i = 0; i < facts->nodes.column_count; i++)
        if (is_any(&facts->look.column[i].name, names) && may_be_label(facts, i))
            return (int)i;
    for (size_t i = 0; i < facts->nodes.column_count; i++)
        if (may_be_label(facts, i) && (int)i != facts->split && !column[i].are_numbers &&
            (best == NONE || column[i].word_count < column[best].word_count))
            best = (int)i;
    return best;
}

static bool has_split_words(const struct survey_column *column)
{
    static const char *const words[] = {"train", "training", "valid",   "validation", "val",
                                        "dev",   "test",     "testing", NULL};
    bool trains = false;
    for (size_t i = 0; i < column->word_count; i++) {
        const struct field word = {column->word[i], strlen(column->word[i])};
        if (!is_any(&word, words))
            return false;
        trains |= *word.text == 't' || *word.text == 'T';
    }
    return trains;
}

static void find_columns(struct table_facts *facts)
{
    static const char *const masks[3][4] = {{"train_mask", "is_train", "train", NULL},
                                            {"val_mask", "valid_mask", "is_val", NULL},
                                            {"test_mask", "is_test", "test", NULL}};
    for (int s = 0; s < 3; s++)
        facts->mask[s] = column_named(&facts->look, masks[s]);
    if (facts->mask[1] == NONE || facts->mask[2] == NONE)
        facts->mask[0] = NONE;
    facts->id = find_id(facts);
    for (size_t i = 0; i < facts->nodes.column_count && facts->split == NONE; i++)
        if ((int)i != facts->id && has_split_words(&facts->nodes.column[i]))
            facts->split = (int)i;
    facts->label = find_label(facts);
}

/* --- reading --- */

static enum error_code survey_edges(struct table_facts *facts, struct error *err)
{
    const struct edge_survey_request request = {
        .path = facts->edges_path, .columns = facts->columns, .features = EDGE_FEATURES_AUTO};
    const enum error_code rc = edge_list_survey_read(&request, &facts->edges, err);
    return rc == ERROR_INPUT
               ? error_context(err, rc, "give --edge-columns what is meant by `edge_columns:`")
               : rc;
}

/* Returns whether the first row is a header: none of its fields is an id of an edge, although a
 * column has such ids. */
static bool names_no_node(const struct table_facts *facts)
{
    const struct table_look *look = &facts->look;
    struct field cell;
    struct delimited cursor;
    bool any = false;
    delimited_begin(&cursor, look->header, look->header_size, look->delimiter);
    for (size_t i = 0; delimited_next(&cursor, &cell) && i < look->column_count; i++) {
        if (table_column_has(source_ids(facts), &cell))
            return false;
        any |= table_column_shared(&look->column[i], source_ids(facts)) * 2 >
               source_ids(facts)->distinct;
    }
    return any;
}

static enum error_code look_at_nodes(struct table_facts *facts, struct error *err)
{
    struct table_look *look = &facts->look;
    struct table_request request = {
        .path = facts->nodes_path, .is_known = heads_ids, .least_columns = 2};
    enum error_code rc = table_look_read(&request, look, err);
    if (rc == ERROR_NONE && !look->header_line && names_no_node(facts)) {
        table_look_release(look);
        request.has_header = true;
        rc = table_look_read(&request, look, err);
    }
    if (rc == ERROR_NONE && !look->header_line)
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected a header with a name for each column (`id,class` for two), "
                       "found '%.*s'",
                       facts->nodes_path, look->header_size < 80 ? (int)look->header_size : 80,
                       look->header);
    return rc;
}

static enum error_code check_names(const struct table_facts *facts, struct error *err)
{
    for (size_t i = 0; i < facts->nodes.column_count; i++) {
        const char *name = facts->nodes.column[i].name;
        if (strpbrk(name, ":;\"\\") || strlen(name) > TABLE_NAME_MAX)
            return error_set(
                err, ERROR_INPUT,
                "%s: column %zu: expected a name of at most %d bytes without : ; \" \\, "
                "found '%.80s': " ADVICE "give it another name",
                facts->nodes_path, i + 1, TABLE_NAME_MAX, name);
    }
    return ERROR_NONE;
}

enum error_code table_facts_find(struct table_facts *facts, struct error *err)
{
    facts->id = facts->label = facts->split = facts->mask[0] = NONE;
    enum error_code rc = survey_edges(facts, err);
    if (rc != ERROR_NONE || !facts->nodes_path)
        return rc;
    rc = look_at_nodes(facts, err);
    if (rc == ERROR_NONE)
        rc = table_survey_read(facts->nodes_path, &facts->look, &facts->nodes, err);
    if (rc == ERROR_NONE)
        rc = check_names(facts, err);
    if (rc == ERROR_NONE)
        find_columns(facts);
    return rc;
}

void table_facts_release(struct table_facts *facts)
{
    edge_list_survey_release(&facts->edges);
    table_look_release(&facts->look);
    table_survey_release(&facts->nodes);
}
