#include "stages/ingest/formats/columns/keyed_file.h"

#include "common/base/memory.h"
#include "common/files/checksum.h"
#include "common/files/file_pattern.h"
#include "common/formats/bytes/usual_advice.h"
#include "common/formats/text/csv_field.h"
#include "common/formats/text/missing_words.h"
#include "stages/ingest/formats/columns/keyed_layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void keyed_file_release(struct keyed_file *file)
{
    table_look_release(&file->look);
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

enum error_code keyed_file_open(const struct keyed_file *file, struct line_reader **out,
                                struct error *err)
{
    if (file->data)
        return line_reader_open_memory(file->path, file->data, file->size, out, err);
    return line_reader_open(file->path, out, err);
}

bool keyed_file_passes(const struct keyed_file *file, const struct text_line *line)
{
    struct delimited cursor;
    delimited_begin_line(&cursor, line, DELIMITER_TAB);
    return cursor.is_done ||
           (file->form != KEYED_ID_ONLY && (line->text[0] == '#' || line->text[0] == '%'));
}

const char *keyed_file_title(const struct keyed_file *file)
{
    const char *slash = strrchr(file->path, '/');
    return slash ? slash + 1 : file->path;
}

struct field keyed_file_name(const struct keyed_file *file, size_t column)
{
    struct delimited cursor;
    struct field field = {0};
    if (!file->header || column < file->unnamed)
        return field;
    const size_t size = strlen(file->header);
    const struct text_line line = {
        .text = file->header, .size = size, .number = 1, .spare = file->header + size + 1};
    delimited_begin_line(&cursor, &line, file->delimiter);
    for (size_t i = file->unnamed; i <= column && delimited_next(&cursor, &field); i++)
        continue;
    return field;
}

struct field keyed_file_column(const struct keyed_file *file, size_t column, char number[24])
{
    const struct field name = keyed_file_name(file, file->pick ? file->pick[column] : column + 1);
    if (name.size)
        return name;
    const int size = snprintf(number, 24, "%zu", column + 1);
    return (struct field){number, (size_t)size};
}

/* ---- values
 * ------------------------------------------------------------------------------------- */

/* Writes one value: nothing for a missing word, and a point for a decimal comma. */
static size_t put_value(struct keyed_file *file, const struct field *field, char *out)
{
    double number = 0.0;
    if (field->size && missing_words_have(file->missing_words, field)) {
        file->missing_cells++;
        return 0;
    }
    if (!file->look.decimal_comma || !memchr(field->text, ',', field->size) ||
        !table_number(field, true, &number))
        return csv_field_put(out, field->text, field->size);
    memcpy(out, field->text, field->size);
    *(char *)memchr(out, ',', field->size) = '.';
    return field->size;
}

/* Joins the picked values into a line with commas. The room after the line is for delimited, which
 * unquotes values. */
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
        if (k > 0)
            file->values[at++] = ',';
        at += put_value(file, &file->field[file->pick[k]], file->values + at);
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
            err, ERROR_INPUT,
            "%s:%" PRId64 ": expected %zu columns as in the %s, found %zu%s" ADVISE_COLUMNS,
            file->path, line->number, file->field_count, file->header_line ? "header" : "first row",
            count, delimited_extent(line, extent));
    const struct field id = file->field[file->id_field];
    if (id.size == 0)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected the id of a node, found nothing", file->path,
                         line->number);
    const enum error_code rc = gather(file, &values, err);
    return rc == ERROR_NONE ? visit(context, &id, &values, line->number, err) : rc;
}

/* Checks that the first line of a later file is the header of the first file. */
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

/* Checks that a later file has no header if the first file has none. */
static enum error_code expect_none(const struct keyed_file *file, const struct named_nodes *nodes,
                                   const struct text_line *line, const struct field *id,
                                   struct error *err)
{
    if (!keyed_layout_heads_ids(id) || named_nodes_find(nodes, id) >= 0)
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
        const enum error_code rc = keyed_layout_find(file, nodes, line, err);
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

/* Sets *passed to whether the line is skipped. In a file of ids alone, only blank lines at the end
 * are skipped. */
static enum error_code pass_over(const struct keyed_file *file, const struct text_line *line,
                                 int64_t *blank, bool *passed, struct error *err)
{
    *passed = keyed_file_passes(file, line);
    if (*passed && *blank == 0)
        *blank = line->number;
    if (*passed || file->form != KEYED_ID_ONLY || *blank == 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected a node id, found a blank line",
                     file->path, *blank);
}

struct visit { /* a visit of all files of a pattern */
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
    enum error_code rc = keyed_file_open(v->file, &reader, err);
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
    file->missing_cells = 0;
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
