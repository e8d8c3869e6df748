#include "stages/ingest/formats/keyed_file.h"

#include "common/base/checksum.h"
#include "common/base/file_pattern.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/csv_field.h"
#include "common/formats/line_reader.h"
#include "stages/plan/named_entries.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void keyed_file_release(struct keyed_file *file)
{
    memory_free(file->header);
    memory_free(file->pick);
    memory_free(file->field);
    memory_free(file->values);
    file->header = NULL;
    file->pick = NULL;
    file->field = NULL;
    file->values = NULL;
    file->is_known = false;
}

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
    delimited_begin_line(&cursor, line, DELIMITER_TAB);
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

/* ---- columns by name -------------------------------------------------------------------------- */

static bool is_text(const char *text)
{
    return text && text[0];
}

static bool has_choice(const struct keyed_file *file)
{
    bool any = is_text(file->choice.id) || is_text(file->choice.take);
    for (int i = 0; i < KEYED_LEAVE_MAX; i++)
        any |= is_text(file->choice.leave[i]);
    return any;
}

/* The name of an entry is what stands before its last colon, or all of it. */
static bool next_name(const char **text, struct field *out)
{
    struct named_entry entry;
    if (!named_entry_next(text, &entry))
        return false;
    *out = entry.name_size ? (struct field){entry.name, entry.name_size}
                           : (struct field){entry.text, entry.size};
    return true;
}

static bool is_same(const struct field *a, const struct field *b)
{
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

static enum error_code find_column(const struct keyed_file *file, const struct field *name,
                                   const struct text_line *line, size_t *out, struct error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < file->field_count; i++)
        if (is_same(&file->field[i], name)) {
            *out = i;
            count++;
        }
    if (count == 1)
        return ERROR_NONE;
    return error_set(
        err, ERROR_INPUT, "%s:%" PRId64 ": expected a column '%.*s' in the header, found %s%.*s",
        file->path, line->number, name->size < 60 ? (int)name->size : 60, name->text,
        count ? "it twice: " : "", line->size < 200 ? (int)line->size : 200, line->text);
}

static bool is_left(const struct keyed_file *file, const struct field *field)
{
    struct field name;
    for (int i = 0; i < KEYED_LEAVE_MAX; i++)
        for (const char *text = file->choice.leave[i]; is_text(text) && next_name(&text, &name);)
            if (is_same(&name, field))
                return true;
    return false;
}

static enum error_code pick_columns(struct keyed_file *file, const struct text_line *line,
                                    struct error *err)
{
    const char *text = file->choice.take;
    const struct field id = {file->choice.id,
                             is_text(file->choice.id) ? strlen(file->choice.id) : 0};
    struct field name;
    enum error_code rc = id.size ? find_column(file, &id, line, &file->id_field, err) : ERROR_NONE;
    if (rc == ERROR_NONE)
        rc = memory_new(&file->pick, file->field_count + 1, "columns of a table", err);
    while (rc == ERROR_NONE && is_text(text) && next_name(&text, &name)) {
        if (file->pick_count == file->field_count)
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": expected %zu columns or fewer, found '%s'",
                             file->path, line->number, file->field_count, file->choice.take);
        rc = find_column(file, &name, line, &file->pick[file->pick_count++], err);
    }
    for (size_t i = 0; rc == ERROR_NONE && !is_text(file->choice.take) && i < file->field_count;
         i++)
        if (i != file->id_field && !is_left(file, &file->field[i]))
            file->pick[file->pick_count++] = i;
    if (rc == ERROR_NONE && file->pick_count == 0)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": expected columns beside the id and those that settings "
                       "name, found none",
                       file->path, line->number);
    return rc;
}

static enum error_code keep_header(struct keyed_file *file, const struct text_line *line,
                                   struct error *err)
{
    file->header_line = line->number;
    file->header_sum = checksum_64(line->text, line->size);
    if (!file->keeps_header)
        return ERROR_NONE;
    const enum error_code rc = memory_new(&file->header, 2 * line->size + 1, "a header", err);
    if (rc == ERROR_NONE)
        memcpy(file->header, line->text, line->size);
    return rc;
}

static enum error_code survey_choice(struct keyed_file *file, const struct text_line *line,
                                     struct error *err)
{
    file->field_count = delimited_split_line(line, file->delimiter, NULL, 0);
    enum error_code rc = keep_header(file, line, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&file->field, file->field_count, "the columns of a line", err);
    if (rc != ERROR_NONE)
        return rc;
    (void)delimited_split_line(line, file->delimiter, file->field, file->field_count);
    return pick_columns(file, line, err);
}

struct field keyed_file_column(const struct keyed_file *file, size_t column, char number[24])
{
    struct delimited cursor;
    struct field field = {0};
    const size_t at = file->pick ? file->pick[column] : column + 1;
    if (file->header) {
        const size_t size = strlen(file->header);
        const struct text_line line = {
            .text = file->header, .size = size, .number = 1, .spare = file->header + size + 1};
        delimited_begin_line(&cursor, &line, file->delimiter);
        for (size_t i = 0; i <= at && delimited_next(&cursor, &field); i++)
            continue;
    }
    if (field.size)
        return field;
    const int size = snprintf(number, 24, "%zu", column + 1);
    return (struct field){number, (size_t)size};
}

/* The values that are picked, as a line with commas, and behind it the room that quotes in quotes take. */
static enum error_code gather(struct keyed_file *file, struct delimited *out, struct error *err)
{
    size_t need = 1, at = 0;
    for (size_t k = 0; k < file->pick_count; k++)
        need += csv_field_size(file->field[file->pick[k]].size) + 1;
    const enum error_code rc =
        memory_grow(&file->values, &file->values_capacity, 2 * need, "the values of a line", err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t k = 0; k < file->pick_count; k++) {
        const struct field *field = &file->field[file->pick[k]];
        if (k > 0)
            file->values[at++] = ',';
        at += csv_field_put(file->values + at, field->text, field->size);
    }
    if (file->pick_count == 1 && at == 0) { /* an empty line would have no field */
        file->values[at++] = '"';
        file->values[at++] = '"';
    }
    const struct text_line line = {
        .text = file->values, .size = at, .number = 1, .spare = file->values + need};
    delimited_begin_line(out, &line, DELIMITER_COMMA);
    return ERROR_NONE;
}

static enum error_code take_chosen(struct keyed_file *file, const struct text_line *line,
                                   keyed_visitor visit, void *context, struct error *err)
{
    struct delimited values;
    const size_t count =
        delimited_split_line(line, file->delimiter, file->field, file->field_count);
    char extent[DELIMITED_EXTENT_SIZE];
    if (count != file->field_count)
        return error_set(
            err, ERROR_INPUT, "%s:%" PRId64 ": expected %zu columns as in the header, found %zu%s",
            file->path, line->number, file->field_count, count, delimited_extent(line, extent));
    const struct field id = file->field[file->id_field];
    if (id.size == 0)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected the id of a node, found nothing", file->path,
                         line->number);
    const enum error_code rc = gather(file, &values, err);
    return rc == ERROR_NONE ? visit(context, &id, &values, line->number, err) : rc;
}

/* ---- lines ------------------------------------------------------------------------------------ */

/* Whether the values of the row behind a first line are numbers, so that words in that line name columns. */
static enum error_code second_has_numbers(const struct keyed_file *file, int64_t first, bool *out,
                                          struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    struct delimited cursor;
    struct field id;
    bool found = true;
    *out = false;
    enum error_code rc = open_file(file, &reader, err);
    while (rc == ERROR_NONE && found) {
        rc = delimited_read(reader, &file->delimiter, &line, &found, err);
        if (rc != ERROR_NONE || !found || line.number <= first || is_blank(&line) ||
            is_comment(&line))
            continue;
        delimited_begin_line(&cursor, &line, file->delimiter);
        *out = delimited_next(&cursor, &id) && are_numbers(cursor);
        break;
    }
    line_reader_close(reader);
    return rc;
}

/* Whether there are words, none of which is an id: where ids of nodes follow, that is a header, and not a slip of the pen. */
static bool names_no_node(const struct named_nodes *nodes, struct delimited values)
{
    struct field field;
    bool has_words = false;
    while (delimited_next(&values, &field)) {
        if (named_nodes_find(nodes, &field) >= 0)
            return false;
        has_words = true;
    }
    return has_words;
}

/* Looks at the first row. */
static enum error_code survey(struct keyed_file *file, const struct named_nodes *nodes,
                              const struct text_line *line, struct error *err)
{
    struct delimited cursor;
    struct field id = {0};
    enum error_code rc = ERROR_NONE;
    file->is_known = true;
    file->header_line = 0;
    /* An id on its own line may hold commas and blanks. */
    file->delimiter =
        file->form == KEYED_ID_ONLY ? DELIMITER_TAB : delimited_guess(line->text, line->size);
    if (has_choice(file))
        return survey_choice(file, line, err);
    delimited_begin_line(&cursor, line, file->delimiter);
    (void)delimited_next(&cursor, &id);
    if (named_nodes_find(nodes, &id) >= 0)
        return ERROR_NONE;
    bool is_header =
        heads_a_column_of_ids(&id) || (file->lists_nodes && names_no_node(nodes, cursor));
    if (!is_header && file->form != KEYED_WORDS && !are_numbers(cursor))
        rc = second_has_numbers(file, line->number, &is_header, err);
    return rc == ERROR_NONE && is_header ? keep_header(file, line, err) : rc;
}

/* The first line of a file is the header of the first one. */
static enum error_code expect_header(const struct keyed_file *file, const struct text_line *line,
                                     struct error *err)
{
    const bool is_kept = file->header != NULL;
    if (checksum_64(line->text, line->size) == file->header_sum)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64
                     ": expected the header of the first file%s%.200s%s, found '%.*s'",
                     file->path, line->number, is_kept ? ", '" : "", is_kept ? file->header : "",
                     is_kept ? "'" : "", line->size < 200 ? (int)line->size : 200, line->text);
}

/* Where the first file has no header the others have none. */
static enum error_code expect_none(const struct keyed_file *file, const struct named_nodes *nodes,
                                   const struct text_line *line, const struct field *id,
                                   struct error *err)
{
    if (!heads_a_column_of_ids(id) || named_nodes_find(nodes, id) >= 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected a row, since the first file has no header, found "
                     "'%.*s'",
                     file->path, line->number, line->size < 200 ? (int)line->size : 200,
                     line->text);
}

static enum error_code take_line(struct keyed_file *file, const struct named_nodes *nodes,
                                 const struct text_line *line, bool *is_first, keyed_visitor visit,
                                 void *context, struct error *err)
{
    struct delimited cursor;
    struct field id = {0};
    const bool first = *is_first;
    *is_first = false;
    if (!file->is_known) {
        const enum error_code rc = survey(file, nodes, line, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    if (first && file->header_line)
        return expect_header(file, line, err);
    if (file->pick)
        return take_chosen(file, line, visit, context, err);
    delimited_begin_line(&cursor, line, file->delimiter);
    (void)delimited_next(&cursor, &id);
    if (first) {
        const enum error_code rc = expect_none(file, nodes, line, &id, err);
        if (rc != ERROR_NONE)
            return rc;
    }
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

struct visit { /* of all files of a pattern */
    struct keyed_file *file;
    const struct named_nodes *nodes;
    keyed_visitor visit;
    void *context;
};

static enum error_code visit_one(void *context, const char *path, size_t index, struct error *err)
{
    const struct visit *v = context;
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true, passed = false, is_first = true;
    int64_t blank = 0;
    (void)index;
    v->file->path = path;
    enum error_code rc = open_file(v->file, &reader, err);
    while (rc == ERROR_NONE) {
        const bool is_known = v->file->is_known || v->file->form == KEYED_ID_ONLY;
        v->file->delimiter = v->file->is_known ? v->file->delimiter : DELIMITER_TAB;
        rc = delimited_read(reader, is_known ? &v->file->delimiter : NULL, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        rc = pass_over(v->file, &line, &blank, &passed, err);
        if (rc == ERROR_NONE && !passed)
            rc = take_line(v->file, v->nodes, &line, &is_first, v->visit, v->context, err);
    }
    line_reader_close(reader);
    return rc;
}

enum error_code keyed_file_visit(struct keyed_file *file, const struct named_nodes *nodes,
                                 keyed_visitor visit, void *context, struct error *err)
{
    const char *path = file->path;
    struct visit v = {file, nodes, visit, context};
    const enum error_code rc =
        file->data ? visit_one(&v, path, 0, err) : file_pattern_visit(path, visit_one, &v, err);
    file->path = path;
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
