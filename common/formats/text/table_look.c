#include "common/formats/text/table_look.h"

#include "common/base/memory.h"
#include "common/formats/bytes/file_kind.h"
#include "common/formats/bytes/usual_advice.h"
#include "common/formats/text/line_reader.h"
#include "common/formats/text/table_column.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void table_look_release(struct table_look *look)
{
    for (size_t i = 0; look->column && i < look->judged; i++)
        memory_free(look->column[i].hash);
    memory_free(look->column);
    memory_free(look->header);
    *look = (struct table_look){0};
}

/* ---- separator ------------------------------------------------------------------------------- */

struct vote { /* the result of one separator on the first rows */
    size_t first, second,
        /* fields of the first row; of the second; number of rows with as many as the second */
        others;
    size_t pairs;    /* number of rows with two fields or more */
    bool is_decimal; /* for commas: each is between two digits */
};

struct ballot {
    bool is_uneven;
    struct vote vote[DELIMITER_COUNT];
    size_t rows;
};

/* Returns whether commas are between digits, that is, part of a number (1,5). A comma elsewhere in
 * a row separates. */
static bool are_commas_decimal(const struct text_line *line)
{
    for (size_t i = 0; i < line->size; i++) {
        const bool stands_between = i > 0 && i + 1 < line->size &&
                                    isdigit((unsigned char)line->text[i - 1]) &&
                                    isdigit((unsigned char)line->text[i + 1]);
        if (line->text[i] == ',' && !stands_between)
            return false;
    }
    return true;
}

static void count_line(struct ballot *ballot, const struct text_line *line)
{
    for (int d = 0; d < DELIMITER_COUNT; d++) {
        struct vote *vote = &ballot->vote[d];
        const bool stands =
            d == DELIMITER_BLANKS || delimited_has(line->text, line->size, (enum delimiter)d);
        const size_t count = stands ? delimited_split_line(line, (enum delimiter)d, NULL, 0) : 1;
        if (ballot->rows == 0) {
            vote->first = count;
            vote->is_decimal = true;
        }
        if (ballot->rows == 1)
            vote->second = count;
        vote->others += ballot->rows > 0 && count == vote->second;
        vote->pairs += count >= 2;
        vote->is_decimal = vote->is_decimal && are_commas_decimal(line);
    }
    ballot->rows++;
}

/* Returns whether all rows have the same number of fields; the first may lack one, as a header
 * may. */
static bool agrees(const struct ballot *ballot, enum delimiter d)
{
    const struct vote *vote = &ballot->vote[d];
    if (ballot->rows == 1 || ballot->is_uneven)
        return vote->pairs == ballot->rows;
    return vote->second >= 2 && vote->others == ballot->rows - 1 &&
           (vote->first == vote->second || vote->first + 1 == vote->second);
}

/* Returns the first separator on which the rows agree. Commas inside numbers separate only if
 * nothing else does. If the rows agree on no separator, that of the first row is taken, and a
 * message names the row that differs. */
static enum delimiter elect(const struct ballot *ballot, enum delimiter of_first)
{
    static const enum delimiter order[] = {DELIMITER_COMMA, DELIMITER_TAB,    DELIMITER_SEMICOLON,
                                           DELIMITER_BAR,   DELIMITER_COLONS, DELIMITER_BLANKS};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const bool is_number =
            order[i] == DELIMITER_COMMA && ballot->vote[DELIMITER_COMMA].is_decimal &&
            (agrees(ballot, DELIMITER_TAB) || agrees(ballot, DELIMITER_SEMICOLON) ||
             agrees(ballot, DELIMITER_BAR));
        if (!is_number && agrees(ballot, order[i]))
            return order[i];
    }
    return of_first;
}

static enum error_code find_delimiter(const struct table_request *request, enum delimiter *out,
                                      struct error *err)
{
    struct ballot ballot = {.is_uneven = request->is_uneven};
    struct line_reader *reader = NULL;
    struct text_line line;
    enum delimiter of_first = DELIMITER_COMMA;
    bool found = true;
    enum error_code rc =
        line_reader_open_input(request->path, request->data, request->size, &reader, err);
    while (rc == ERROR_NONE && ballot.rows < TABLE_LOOK_LINES) {
        rc = delimited_read(reader, NULL, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (text_line_is_skipped(&line))
            continue;
        if (ballot.rows == 0)
            of_first = delimited_guess(line.text, line.size);
        count_line(&ballot, &line);
    }
    line_reader_close(reader);
    *out = elect(&ballot, of_first);
    return rc;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct look_run {
    const struct table_request *request;
    struct table_look *look;
    struct column_tally *tally;            /* [column_count] */
    struct field first[TABLE_COLUMNS_MAX]; /* the first row, as views into look->header */
    size_t first_count;                    /* its fields */
    int64_t first_row;                     /* its line */
    /* a cell further down has the stem of the first row's cell */
    bool has_stem[TABLE_COLUMNS_MAX];
};

static enum error_code refuse_count(const struct look_run *run, const struct text_line *line,
                                    size_t found, struct error *err)
{
    char extent[DELIMITED_EXTENT_SIZE];
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64
                     ": expected %zu columns, found %zu%s; %s separate columns, as in "
                     "the rows above" ADVISE_COLUMNS,
                     run->request->path, line->number, run->look->column_count, found,
                     delimited_extent(line, extent), delimiter_name(run->look->delimiter));
}

static enum error_code keep_first(struct look_run *run, const struct text_line *line,
                                  struct error *err)
{
    struct table_look *look = run->look;
    run->first_row = line->number;
    run->first_count = delimited_split_line(line, look->delimiter, NULL, 0);
    look->header_size = line->size;
    const enum error_code rc = memory_new(&look->header, 2 * line->size + 1, "a header", err);
    if (rc == ERROR_NONE)
        memcpy(look->header, line->text, line->size);
    return rc;
}

static bool has_numbers(const struct table_look *look)
{
    struct field field;
    struct delimited cursor;
    delimited_begin(&cursor, look->header, look->header_size, look->delimiter);
    while (delimited_next(&cursor, &field))
        if (table_column_of(&field).are_numbers)
            return true;
    return false;
}

/* Splits the first row. If a header lacks a field, the first column has no name. */
static void split_first(struct look_run *run)
{
    const struct table_look *look = run->look;
    const size_t missing = look->column_count - run->first_count;
    const struct text_line line = {.text = look->header,
                                   .size = look->header_size,
                                   .number = run->first_row,
                                   .spare = look->header + look->header_size};
    (void)delimited_split_line(&line, look->delimiter, run->first + missing,
                               TABLE_COLUMNS_MAX - missing);
}

static enum error_code make_columns(struct look_run *run, const struct text_line *line,
                                    size_t count, struct error *err)
{
    struct table_look *look = run->look;
    const struct table_request *request = run->request;
    const bool is_of_blanks =
        look->delimiter == DELIMITER_BLANKS || look->delimiter == DELIMITER_TAB;
    const bool is_short = is_of_blanks && count == run->first_count + 1 &&
                          !request->has_no_header && !request->is_uneven && !has_numbers(look);
    look->column_count = is_short ? count : run->first_count;
    if (count != look->column_count && !request->is_uneven)
        return refuse_count(run, line, count, err);
    const size_t most = request->is_uneven ? 2
                        : request->is_wide ? TABLE_WIDE_JUDGED
                                           : TABLE_COLUMNS_MAX;
    look->judged = look->column_count < most ? look->column_count : most;
    enum error_code rc = memory_new(&look->column, look->judged, "the columns of a table", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&run->tally, look->judged, "the columns of a table", err);
    if (rc == ERROR_NONE)
        split_first(run);
    return rc;
}

/* Recognises a repeated header, as in files that were concatenated: a row equal to the first one
 * with two known names. */
static bool is_header_again(const struct look_run *run, const struct text_line *line,
                            const struct field *field, size_t count)
{
    const struct table_look *look = run->look;
    size_t words = 0;
    if (look->header_size != line->size || !run->request->is_known ||
        memcmp(look->header, line->text, line->size) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        words += field[i].size > 1 && run->request->is_known(&field[i]);
    return words > 1;
}

/* Returns a name without the number at its end, or without its last letter. */
static struct field stem_of(const struct field *field)
{
    size_t size = field->size;
    while (size && isdigit((unsigned char)field->text[size - 1]))
        size--;
    return (struct field){field->text, size && size == field->size ? size - 1 : size};
}

/* Returns whether two cells share a stem: n17 has the stem of n1, and is as likely an id as n1
 * is. */
static bool have_one_stem(const struct field *a, const struct field *b)
{
    const struct field stem = stem_of(a), other = stem_of(b);
    return stem.size && fields_are_equal(&stem, &other);
}

static enum error_code take_row(struct look_run *run, const struct text_line *line,
                                struct error *err)
{
    struct table_look *look = run->look;
    struct field field[TABLE_COLUMNS_MAX];
    const size_t count = delimited_split_line(line, look->delimiter, field, TABLE_COLUMNS_MAX);
    enum error_code rc = look->column ? ERROR_NONE : make_columns(run, line, count, err);
    if (rc == ERROR_NONE && count != look->column_count && !run->request->is_uneven)
        rc = refuse_count(run, line, count, err);
    if (rc == ERROR_NONE && is_header_again(run, line, field, look->judged))
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": expected a row, found the header again: " ADVICE
                       "remove the line",
                       run->request->path, line->number);
    for (size_t i = 0; rc == ERROR_NONE && i < count && i < look->judged; i++) {
        run->has_stem[i] |= have_one_stem(&run->first[i], &field[i]);
        rc = column_tally_take(&run->tally[i], &field[i], err);
    }
    look->first_line = look->rows == 0 ? line->number : look->first_line;
    look->last_line = line->number;
    look->rows++;
    return rc;
}

static enum error_code check_width(const struct look_run *run, struct error *err)
{
    const struct table_request *request = run->request;
    const size_t least = request->least_columns ? request->least_columns : 1;
    const bool is_too_wide = run->first_count > TABLE_COLUMNS_MAX && !request->is_wide;
    if (run->first_count >= least && !is_too_wide)
        return ERROR_NONE;
    if (is_too_wide)
        return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected at most %d columns, found %zu",
                         request->path, run->first_row, TABLE_COLUMNS_MAX, run->first_count);
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64
                     ": expected %zu columns or more, separated by commas, tabs, semicolons, "
                     "vertical bars, two colons or blanks, found %zu",
                     request->path, run->first_row, least, run->first_count);
}

static enum error_code read_rows(struct look_run *run, struct error *err)
{
    const struct table_request *request = run->request;
    struct line_reader *reader = NULL;
    struct text_line line;
    struct table_look *look = run->look;
    bool found = true;
    enum error_code rc =
        line_reader_open_input(request->path, request->data, request->size, &reader, err);
    while (rc == ERROR_NONE && look->rows + 1 < TABLE_LOOK_ROWS) {
        rc = delimited_read(reader, &look->delimiter, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (text_line_is_skipped(&line))
            continue;
        if (look->header) {
            rc = take_row(run, &line, err);
            continue;
        }
        rc = keep_first(run, &line, err);
        if (rc == ERROR_NONE)
            rc = check_width(run, err);
    }
    line_reader_close(reader);
    look->is_whole = !found;
    return rc;
}

/* ---- header ---------------------------------------------------------------------------------- */

static bool occurs_below(const struct look_run *run, const struct field *field)
{
    for (size_t i = 0; i < run->look->judged; i++)
        if (column_tally_has(&run->tally[i], field))
            return true;
    return false;
}

/* Returns whether two cells are a pair of names such as txId1,txId2. n1,n2 are ids if a row below
 * has n3, or if there is no row below. */
static bool is_named_pair(const struct look_run *run, size_t i)
{
    const struct table_request *request = run->request;
    return request->are_pair && run->look->rows > 0 && !run->has_stem[i] && !run->has_stem[i + 1] &&
           request->are_pair(&run->first[i], &run->first[i + 1]);
}

/* Returns whether the first row has a name that the caller knows, and no cell that occurs again
 * below. A single letter may be an id, so one alone does not count as a name. */
static bool has_names(const struct look_run *run)
{
    const struct field *field = run->first;
    size_t words = 0, letters = 0;
    for (size_t i = 0; i < run->look->judged; i++) {
        if (field[i].size && occurs_below(run, &field[i]))
            return false;
        words += i > 0 && is_named_pair(run, i - 1);
        if (!field[i].size || !run->request->is_known || !run->request->is_known(&field[i]))
            continue;
        words += field[i].size > 1;
        letters += field[i].size == 1;
    }
    return words > 0 || letters > 1;
}

static bool differs_from_column(const struct look_run *run, size_t i, const struct field *field)
{
    const struct table_column column = column_tally_view(&run->tally[i]);
    const struct table_column own = table_column_of(field);
    if (!field->size || !column.values || occurs_below(run, field))
        return false;
    return (column.are_numbers && !own.are_numbers) || (column.are_dates && !own.are_dates);
}

/* Returns whether all cells are words above words, no cell occurs again in the two columns with
 * most words, and nine of ten other words do. */
static bool looks_like_names(const struct look_run *run)
{
    const struct field *field = run->first;
    uint64_t once = 0, distinct = 0;
    const size_t count = run->look->judged < 2 ? run->look->judged : 2;
    for (size_t i = 0; i < count; i++) {
        const struct table_column column = column_tally_view(&run->tally[i]);
        if (!field[i].size || column.are_numbers || column.are_dates)
            return false;
        if (occurs_below(run, &field[i]))
            return false;
        uint64_t own = 0;
        distinct +=
            column_tally_distinct(&run->tally[i], count > 1 ? &run->tally[1 - i] : NULL, &own);
        once += own;
    }
    return run->look->rows >= 4 && once * 10 <= distinct;
}

static bool is_header(const struct look_run *run)
{
    bool any =
        run->request->has_header || run->first_count < run->look->column_count || has_names(run);
    for (size_t i = 0; !any && i < run->look->judged; i++)
        any = differs_from_column(run, i, &run->first[i]);
    return any && !run->request->has_no_header;
}

/* Counts the first row as a row, before the others. */
static enum error_code count_first(struct look_run *run, struct error *err)
{
    struct table_look *look = run->look;
    enum error_code rc = ERROR_NONE;
    look->header_is_weak = !run->request->has_no_header && looks_like_names(run);
    for (size_t i = 0; rc == ERROR_NONE && i < look->judged; i++)
        rc = column_tally_put_first(&run->tally[i], &run->first[i], err);
    look->rows++;
    look->first_line = run->first_row;
    look->last_line = look->last_line ? look->last_line : run->first_row;
    return rc;
}

static enum error_code settle_header(struct look_run *run, struct error *err)
{
    struct table_look *look = run->look;
    enum error_code rc = ERROR_NONE;
    if (!look->column) { /* the first row is the only one */
        const struct text_line line = {.number = run->first_row};
        rc = make_columns(run, &line, run->first_count, err);
    }
    if (rc != ERROR_NONE)
        return rc;
    const bool has_header = is_header(run);
    look->header_line = has_header ? run->first_row : 0;
    if (!has_header)
        rc = count_first(run, err);
    for (size_t i = 0; rc == ERROR_NONE && i < look->judged; i++) {
        column_tally_finish(&run->tally[i], &look->column[i]);
        if (has_header)
            look->column[i].name = run->first[i];
        look->decimal_comma |= look->column[i].has_decimal_comma;
    }
    return rc;
}

enum error_code table_look_read(const struct table_request *request, struct table_look *out,
                                struct error *err)
{
    *out = (struct table_look){0};
    struct look_run run = {.request = request, .look = out};
    enum error_code rc = file_kind_check_table(request->path, request->data, request->size,
                                               request->noun ? request->noun : "rows", err);
    if (rc == ERROR_NONE)
        rc = find_delimiter(request, &out->delimiter, err);
    if (rc == ERROR_NONE)
        rc = read_rows(&run, err);
    if (rc == ERROR_NONE && !out->header && request->may_be_empty)
        return ERROR_NONE;
    if (rc == ERROR_NONE && !out->header)
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected %s, found none; lines that begin with # or %% are comments",
                       request->path, request->noun ? request->noun : "rows");
    if (rc == ERROR_NONE)
        rc = settle_header(&run, err);
    for (size_t i = 0; run.tally && i < out->judged; i++)
        column_tally_release(&run.tally[i]);
    memory_free(run.tally);
    return rc;
}

/* ---- questions ------------------------------------------------------------------------------- */

int table_look_find(const struct table_look *look, const struct field *name, bool *twice)
{
    int found = -1;
    *twice = false;
    for (size_t i = 0; i < look->judged; i++) {
        const struct field *own = &look->column[i].name;
        if (!fields_are_equal(own, name))
            continue;
        *twice |= found >= 0;
        found = found >= 0 ? found : (int)i;
    }
    return found;
}

uint64_t table_look_shared(const struct table_look *look, size_t a, size_t b)
{
    return table_column_shared(&look->column[a], &look->column[b]);
}

const char *table_look_column(const struct table_look *look, size_t column,
                              char text[TABLE_COLUMN_TEXT_SIZE])
{
    const struct field *name = &look->column[column].name;
    if (name->size)
        (void)snprintf(text, TABLE_COLUMN_TEXT_SIZE, "%.*s", name->size < 60 ? (int)name->size : 60,
                       name->text);
    else
        (void)snprintf(text, TABLE_COLUMN_TEXT_SIZE, "column %zu", column + 1);
    return text;
}
