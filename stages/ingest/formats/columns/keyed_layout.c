#include "stages/ingest/formats/columns/keyed_layout.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/checksum.h"
#include "common/formats/text/missing_words.h"
#include "stages/plan/settings/named_entries.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* ---- words
 * ------------------------------------------------------------------------------------- */

static bool is_any(const struct field *field, const char *const *words)
{
    for (; *words; words++)
        if (field_is(field, *words))
            return true;
    return false;
}

static bool ends_in(const struct field *field, const char *end)
{
    const size_t size = strlen(end);
    return field->size > size && memcmp(field->text + field->size - size, end, size) == 0;
}

/* Returns whether a name ends like a column of ids: userId and userID do, COVID and David do
 * not. */
static bool ends_in_id(const struct field *name)
{
    return name->size > 2 && islower((unsigned char)name->text[name->size - 3]) &&
           (ends_in(name, "Id") || ends_in(name, "ID"));
}

/* Returns whether only a column of ids has this name. (In a table of edges `node` may mean
 * something else.) */
static bool is_plain_id(const struct field *name)
{
    static const char *const words[] = {"id", "node", "node_id", "nodeid", "nid", NULL};
    return is_any(name, words) || ends_in(name, ":ID") || field_is(name, ":ID");
}

bool keyed_layout_heads_ids(const struct field *name)
{
    static const char *const words[] = {"name", "index", "vertex", "", NULL};
    return is_plain_id(name) || is_any(name, words) || ends_in(name, "_id") || ends_in_id(name);
}

static bool is_number(const struct field *field)
{
    double value = 0.0;
    return text_double(field->text, field->size, &value);
}

/* ---- columns by name
 * -------------------------------------------------------------------------- */

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

/* Takes the name of the next entry: the text before its last colon, or the whole entry. */
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
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected a column '%.*s' in the header, found %s%.*s"
                     ": " ADVICE "write the name as the header has it, or add the column",
                     file->path, line->number, name->size < 60 ? (int)name->size : 60, name->text,
                     count ? "it twice: " : "", line->size < 200 ? (int)line->size : 200,
                     line->text);
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

/* Splits the first row into file->field; the first field is empty if the header lacks its name. */
static enum error_code split_first(struct keyed_file *file, const struct text_line *line,
                                   struct error *err)
{
    file->field_count = file->look.column_count;
    const enum error_code rc =
        memory_new(&file->field, file->field_count, "the columns of a line", err);
    if (rc != ERROR_NONE)
        return rc;
    file->unnamed = delimited_split_line(line, file->delimiter, NULL, 0) < file->field_count;
    (void)delimited_split_line(line, file->delimiter, file->field + file->unnamed,
                               file->field_count - file->unnamed);
    return ERROR_NONE;
}

/* Returns whether values may have to be rewritten: there are missing words, or numbers have decimal
 * commas. */
static bool changes_values(const struct keyed_file *file)
{
    return (file->missing_words && file->missing_words[0]) || file->look.decimal_comma;
}

/* ---- header
 * ------------------------------------------------------------------------------------ */

struct others {           /* the rows after the first */
    uint64_t rows, known; /* rows examined; those whose node is known */
    bool repeats;         /* some row has the first row's value in the same column */
    bool starts_with_integer;
};

enum { COMPARED_FIELDS = 16 };

static void count_row(const struct keyed_file *file, const struct named_nodes *nodes,
                      const struct field *first, size_t first_count, const struct text_line *line,
                      struct others *others)
{
    struct field field[COMPARED_FIELDS];
    int64_t integer = 0;
    const size_t all = delimited_split_line(line, file->delimiter, field, COMPARED_FIELDS);
    const size_t count = all < first_count ? all : first_count;
    if (count == 0)
        return;
    if (others->rows++ == 0)
        others->starts_with_integer = text_int64(field[0].text, field[0].size, &integer);
    others->known += named_nodes_find(nodes, &field[0]) >= 0;
    for (size_t i = 1; i < count; i++)
        others->repeats |= is_same(&field[i], &first[i]);
}

static enum error_code look_at_others(const struct keyed_file *file,
                                      const struct named_nodes *nodes,
                                      const struct text_line *first, struct others *others,
                                      struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    struct field field[COMPARED_FIELDS];
    size_t count = delimited_split_line(first, file->delimiter, field, COMPARED_FIELDS);
    bool found = true;
    count = count < COMPARED_FIELDS ? count : COMPARED_FIELDS;
    *others = (struct others){.rows = 0};
    enum error_code rc = keyed_file_open(file, &reader, err);
    while (rc == ERROR_NONE && found && others->rows < TABLE_LOOK_ROWS) {
        rc = delimited_read(reader, &file->delimiter, &line, &found, err);
        if (rc == ERROR_NONE && found && line.number > first->number &&
            !keyed_file_passes(file, &line))
            count_row(file, nodes, field, count, &line, others);
    }
    line_reader_close(reader);
    return rc;
}

static enum error_code ask_for_header(const struct keyed_file *file, const struct text_line *line,
                                      const struct field *id, struct error *err)
{
    const int shown = line->size < 100 ? (int)line->size : 100;
    const int size = id->size < 40 ? (int)id->size : 40;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64
                     ": expected to know whether '%.*s' is a header: '%.*s' is no node with an "
                     "edge, and the value after it is in no other row. " ADVICE
                     "If it is one, add a line `id_column: %.*s` below `ingest:`; if it is a node, "
                     "move the line down",
                     file->path, line->number, shown, line->text, size, id->text, size, id->text);
}

/* Returns whether the second column repeats its values as classes do: it has at most about half as
 * many distinct values as rows. */
static bool are_classes(const struct keyed_file *file)
{
    const struct table_look *look = &file->look;
    return look->judged == 2 && look->rows >= 4 && look->column[1].distinct * 2 <= look->rows + 1;
}

/* Judges a first row of words above rows of words. */
static enum error_code judge_words(struct keyed_file *file, const struct named_nodes *nodes,
                                   const struct text_line *line, const struct field *first,
                                   bool *is_header, struct error *err)
{
    struct others others;
    const enum error_code rc = look_at_others(file, nodes, line, &others, err);
    *is_header = false;
    if (rc != ERROR_NONE || others.rows == 0 || others.repeats)
        return rc;
    *is_header = file->header_is_guess = others.known == others.rows;
    return *is_header || others.known == 0 || !are_classes(file)
               ? ERROR_NONE
               : ask_for_header(file, line, &first[0], err);
}

/* Returns whether there are words and none of them is an id. If ids of nodes follow, such a line is
 * a header, not a typing error. */
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

/* Returns whether the row names a later column like ids. Then it is a header, and the ids are not
 * in the first column. */
static bool names_ids(struct delimited values)
{
    struct field field;
    while (delimited_next(&values, &field))
        if (is_plain_id(&field))
            return true;
    return false;
}

/* Decides whether the first row of a table is a header, if no setting names columns. */
static enum error_code judge_first(struct keyed_file *file, const struct named_nodes *nodes,
                                   const struct text_line *line, bool *is_header, struct error *err)
{
    struct field field[2] = {{0}};
    struct delimited cursor;
    int64_t integer = 0;
    delimited_begin_line(&cursor, line, file->delimiter);
    (void)delimited_next(&cursor, &field[0]);
    struct delimited values = cursor;
    (void)delimited_next(&cursor, &field[1]);
    *is_header = false;
    if (named_nodes_find(nodes, &field[0]) >= 0)
        return ERROR_NONE;
    *is_header = keyed_layout_heads_ids(&field[0]) || (file->may_choose && names_ids(values)) ||
                 (file->lists_nodes && names_no_node(nodes, values));
    const bool is_integer = !nodes->ids.of_strings && nodes->ids.count &&
                            text_int64(field[0].text, field[0].size, &integer);
    if (*is_header || is_integer || missing_words_are_usual(&field[1]))
        return ERROR_NONE;
    *is_header = file->look.header_line > 0;
    const bool is_word = field[1].size && !is_number(&field[1]);
    return *is_header || file->lists_nodes || file->form == KEYED_WORDS || !is_word
               ? ERROR_NONE
               : judge_words(file, nodes, line, field, is_header, err);
}

/* Does the same for a file of ids alone. */
static enum error_code judge_id(struct keyed_file *file, const struct named_nodes *nodes,
                                const struct text_line *line, bool *is_header, struct error *err)
{
    struct delimited cursor;
    struct field id = {0};
    struct others others;
    int64_t integer = 0;
    delimited_begin_line(&cursor, line, file->delimiter);
    (void)delimited_next(&cursor, &id);
    *is_header = named_nodes_find(nodes, &id) < 0 && keyed_layout_heads_ids(&id);
    if (*is_header || nodes->ids.of_strings || nodes->ids.count == 0 ||
        text_int64(id.text, id.size, &integer))
        return ERROR_NONE;
    const enum error_code rc = look_at_others(file, nodes, line, &others, err);
    *is_header = rc == ERROR_NONE && others.starts_with_integer;
    return rc;
}

/* ---- all
 * --------------------------------------------------------------------------------------- */

/* Without a setting the first column has the ids. If the header gives another column a name of ids,
 * the file is refused, because the user has to choose. */
static enum error_code check_id_column(const struct keyed_file *file, const struct text_line *line,
                                       struct error *err)
{
    if (!file->may_choose || is_text(file->choice.id) || is_plain_id(&file->field[0]))
        return ERROR_NONE;
    for (size_t i = 1; i < file->field_count; i++) {
        const struct field *name = &file->field[i];
        if (is_plain_id(name))
            return error_set(
                err, ERROR_INPUT,
                "%s:%" PRId64 ": expected the ids of nodes in the first column, found '%.*s' there "
                "and a column '%.*s': " ADVICE "add a line `id_column: %.*s` below `ingest:`",
                file->path, line->number, (int)file->field[0].size, file->field[0].text,
                (int)name->size, name->text, (int)name->size, name->text);
    }
    return ERROR_NONE;
}

static enum error_code look(struct keyed_file *file, struct error *err)
{
    /* or have no values */
    const bool has_words_alone = file->form == KEYED_WORDS && !has_choice(file);
    const struct table_request request = {.path = file->path,
                                          .data = file->data,
                                          .size = file->size,
                                          .has_header = has_choice(file),
                                          .is_wide = true,
                                          .is_uneven = file->is_uneven || file->lists_nodes ||
                                                       has_words_alone,
                                          .least_columns = file->form == KEYED_VALUES ? 2 : 1};
    table_look_release(&file->look);
    return table_look_read(&request, &file->look, err);
}

/* Checks the width of a row. A header may lack the name of the first column (table_look.h); a row
 * must be complete. */
static enum error_code check_width(const struct keyed_file *file, const struct text_line *line,
                                   bool is_header, struct error *err)
{
    const size_t count = delimited_split_line(line, file->delimiter, NULL, 0);
    if (count == file->look.column_count || is_header)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected %zu columns, as in the rows below, found %zu",
                     file->path, line->number, file->look.column_count, count);
}

static enum error_code find_columns(struct keyed_file *file, const struct text_line *line,
                                    bool is_header, struct error *err)
{
    enum error_code rc = check_width(file, line, is_header, err);
    if (rc == ERROR_NONE && is_header)
        rc = keep_header(file, line, err);
    if (rc == ERROR_NONE)
        rc = split_first(file, line, err);
    if (rc == ERROR_NONE && is_header)
        rc = check_id_column(file, line, err);
    return rc == ERROR_NONE && (has_choice(file) || changes_values(file))
               ? pick_columns(file, line, err)
               : rc;
}

enum error_code keyed_layout_find(struct keyed_file *file, const struct named_nodes *nodes,
                                  const struct text_line *line, struct error *err)
{
    bool is_header = has_choice(file);
    enum error_code rc = ERROR_NONE;
    file->is_known = true;
    file->header_line = 0;
    /* the whole line is one id, which may have commas and blanks */
    file->delimiter = DELIMITER_TAB;
    if (file->form == KEYED_ID_ONLY) {
        rc = judge_id(file, nodes, line, &is_header, err);
        return rc == ERROR_NONE && is_header ? keep_header(file, line, err) : rc;
    }
    rc = look(file, err);
    file->delimiter = file->look.delimiter;
    if (rc == ERROR_NONE && !is_header)
        rc = judge_first(file, nodes, line, &is_header, err);
    if (rc != ERROR_NONE || file->lists_nodes)
        return rc == ERROR_NONE && is_header ? keep_header(file, line, err) : rc;
    return find_columns(file, line, is_header, err);
}
