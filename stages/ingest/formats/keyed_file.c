#include "stages/ingest/formats/keyed_file.h"

#include "common/base/text.h"
#include "common/formats/line_reader.h"

#include <inttypes.h>

static enum error_code open_file(const struct keyed_file *file, struct line_reader **out,
                                 struct error *err)
{
    if (file->data)
        return line_reader_open_memory(file->path, file->data, file->size, out, err);
    return line_reader_open(file->path, out, err);
}

static bool is_blank(const struct text_line *line)
{
    struct delimited cursor;
    delimited_begin(&cursor, line->text, line->size, DELIMITER_TAB);
    return cursor.is_done;
}

static bool is_comment(const struct text_line *line)
{
    return line->text[0] == '#' || line->text[0] == '%';
}

static bool heads_a_column_of_ids(const struct field *field)
{
    static const char *const words[] = {"id",      "node",  "node_id", "nodeid", "nid", "name",
                                        "user_id", "index", "vertex",  "",       NULL};
    for (const char *const *word = words; *word; word++)
        if (field_is(field, *word))
            return true;
    return false;
}

static bool are_numbers(struct delimited values)
{
    struct field field;
    double value = 0.0;
    while (delimited_next(&values, &field))
        if (field.size && !text_double(field.text, field.size, &value))
            return false;
    return true;
}

/* Looks at the first row. */
static void survey(struct keyed_file *file, const struct named_nodes *nodes,
                   const struct text_line *line)
{
    struct delimited cursor;
    struct field id = {0};
    file->is_known = true;
    /* An id on its own line may hold commas and blanks. */
    file->delimiter =
        file->form == KEYED_ID_ONLY ? DELIMITER_TAB : delimited_guess(line->text, line->size);
    delimited_begin(&cursor, line->text, line->size, file->delimiter);
    (void)delimited_next(&cursor, &id);
    if (named_nodes_find(nodes, &id) < 0 &&
        (heads_a_column_of_ids(&id) || (file->form != KEYED_WORDS && !are_numbers(cursor))))
        file->header_line = line->number;
}

static enum error_code take_line(struct keyed_file *file, const struct named_nodes *nodes,
                                 const struct text_line *line, keyed_visitor visit, void *context,
                                 struct error *err)
{
    struct delimited cursor;
    struct field id = {0};
    if (!file->is_known)
        survey(file, nodes, line);
    if (line->number == file->header_line)
        return ERROR_NONE;
    delimited_begin(&cursor, line->text, line->size, file->delimiter);
    (void)delimited_next(&cursor, &id);
    if (file->form == KEYED_ID_ONLY && !cursor.is_done)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected one node id, found several columns", file->path,
                         line->number);
    if (file->form == KEYED_VALUES && cursor.is_done)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected a node id and what belongs to it, found one "
                         "column",
                         file->path, line->number);
    return visit(context, &id, &cursor, line->number, err);
}

/* Whether the line is passed over. In a file of ids alone only blank lines at the end are. */
static enum error_code pass_over(const struct keyed_file *file, const struct text_line *line,
                                 int64_t *blank, bool *passed, struct error *err)
{
    const bool blank_line = is_blank(line);
    *passed = blank_line || (file->form != KEYED_ID_ONLY && is_comment(line));
    if (*passed && *blank == 0)
        *blank = line->number;
    if (*passed || file->form != KEYED_ID_ONLY || *blank == 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected a node id, found a blank line",
                     file->path, *blank);
}

enum error_code keyed_file_visit(struct keyed_file *file, const struct named_nodes *nodes,
                                 keyed_visitor visit, void *context, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true, passed = false;
    int64_t blank = 0;
    enum error_code rc = open_file(file, &reader, err);
    while (rc == ERROR_NONE) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        rc = pass_over(file, &line, &blank, &passed, err);
        if (rc == ERROR_NONE && !passed)
            rc = take_line(file, nodes, &line, visit, context, err);
    }
    line_reader_close(reader);
    return rc;
}

struct search {
    const struct named_nodes *nodes;
    int64_t number, line;
};

static enum error_code match(void *context, const struct field *id, struct delimited *values,
                             int64_t line, struct error *err)
{
    struct search *search = context;
    (void)values;
    (void)err;
    if (search->line == 0 && named_nodes_find(search->nodes, id) == search->number)
        search->line = line;
    return ERROR_NONE;
}

enum error_code keyed_file_line_of(struct keyed_file *file, const struct named_nodes *nodes,
                                   int64_t number, int64_t *line, struct error *err)
{
    struct search search = {.nodes = nodes, .number = number};
    const enum error_code rc = keyed_file_visit(file, nodes, match, &search, err);
    *line = search.line;
    return rc;
}
